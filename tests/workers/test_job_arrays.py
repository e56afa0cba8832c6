"""The job array of docs/clusters.md, as it is written, in processes and on hosts.

A command in place of Slurm's `sbatch` runs the script as Slurm would.
"""

import json

import pytest
from recipes import blocks, lines, run_alone

HEADING = "Job arrays: Slurm, SGE, PBS"
N_FILES = 6
MERGED = """\
count: 365,596
nodes: 6,237,041
complete: True
of: 6
missing: []
doubled: []
unfinished: []
"""
SBATCH = """#!/usr/bin/env python3
import os, re, subprocess, sys
from concurrent.futures import ThreadPoolExecutor

*options, script = sys.argv[1:]
array = re.search(r"--array=([0-9-]+)", " ".join(options) + open(script).read())[1]
first, _, last = array.partition("-")

def job(number):
    own = os.environ | {"SLURM_ARRAY_TASK_ID": str(number)}
    return subprocess.run(["sh", script], env=own).returncode

with ThreadPoolExecutor(3) as three:
    sys.exit(max(three.map(job, range(int(first), int(last or first) + 1))))
"""


def of_the_page():
    """Return the commands of the page: those that split, the script, and those that run it."""
    split, script, run, *_ = blocks(HEADING)
    return split, script, run


def test_the_job_array_of_the_page_counts(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "sbatch").write_text(SBATCH)
    split, script, run = of_the_page()
    (home / "job.sh").write_text(script)
    submit, merge = lines(run)
    run_alone(
        tmp_path,
        "chmod +x sbatch; PATH=$PWD:$PATH",
        split,
        submit,
        f"{merge} > merged",
        "rm results/0005.json",
        f"{merge} > missing 2>&1 || echo exit code $? >> missing",
        "head -c 20 results/0001.json > half; mv half results/0001.json",
        f"{merge} > half 2>&1 || echo exit code $? >> half",
        "sbatch --wait --array=1 job.sh",
        "sbatch --wait --array=5 job.sh",
        f"{merge} > repaired",
    )
    assert "missing: [5]" in (home / "missing").read_text()
    assert (home / "missing").read_text().endswith("exit code 1\n")
    assert "results/0001.json: " in (home / "half").read_text()
    assert (home / "half").read_text().endswith("exit code 2\n")
    assert (home / "repaired").read_text() == (home / "merged").read_text() == MERGED


def test_the_job_array_counts_on_hosts_that_share_nothing():
    """The files are copied to the hosts, and the results back."""
    module = pytest.importorskip("hosts")
    if why := module.missing():
        pytest.skip(why)
    split, script, run = of_the_page()
    _, merge = lines(run)
    with module.Hosts("arrays") as hosts:

        def sh(host, command, given="", **how):
            with hosts.popen(
                host, "sh", "-ec", command, stdin=-1, stdout=-1, text=True, **how
            ) as p:
                printed, _ = p.communicate(given)
            assert p.returncode == 0, command
            return printed

        head, *_ = module.NAMES
        sh(head, split)
        for number in range(N_FILES):
            host = module.NAMES[number % 3]
            if number < 3:
                sh(host, "cat > job.sh; mkdir -p parts results", script)
            part = f"parts/{number:04d}.jsonl"
            sh(host, f"cat > {part}", sh(head, f"cat {part}"))
            sh(host, "sh job.sh", env={"SLURM_ARRAY_TASK_ID": str(number)})
            result = sh(host, f"cat results/{number:04d}.json")
            assert json.loads(result)["part"] == number
            sh(head, f"cat > results/{number:04d}.json", result)
        assert sh(head, merge) == MERGED
