"""The job array of docs/clusters.md, as it is written.

A command in place of Slurm's `sbatch` runs the script as Slurm would, on machines that share
nothing: a job has a folder of its own, to which its part is copied, and from which its result is.
"""

from recipes import blocks, lines, run_alone

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
import os, re, shutil, subprocess, sys
from concurrent.futures import ThreadPoolExecutor
from tempfile import TemporaryDirectory

*options, script = sys.argv[1:]
text = open(script).read()
array = re.search(r"--array=([0-9-]+)", " ".join(options) + text)[1]
first, _, last = array.partition("-")

def job(number):
    with TemporaryDirectory() as own:
        for folder in ("parts", "results"):
            os.mkdir(f"{own}/{folder}")
        shutil.copy(f"parts/{number:04}.jsonl", f"{own}/parts")
        mine = os.environ | {"SLURM_ARRAY_TASK_ID": str(number), "HOME": own}
        code = subprocess.run(["sh", "-c", text], env=mine, cwd=own).returncode
        shutil.copy(f"{own}/results/{number:04}.json", "results")
    return code

with ThreadPoolExecutor(3) as three:
    sys.exit(max(three.map(job, range(int(first), int(last or first) + 1))))
"""


def test_the_job_array_of_the_page_counts(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "sbatch").write_text(SBATCH)
    split, script, run, *_ = blocks("Job arrays: Slurm, SGE, PBS")
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
        "sbatch --wait --array=5 job.sh",
        f"{merge} > repaired",
    )
    assert "missing: [5]" in (home / "missing").read_text()
    assert (home / "missing").read_text().endswith("exit code 1\n")
    assert (home / "repaired").read_text() == (home / "merged").read_text() == MERGED
