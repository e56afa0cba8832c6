"""The commands of docs/clusters.md, run as they are written, on a separate machine.

The machine is a set of namespaces of Linux: a network with nothing but loopback, whose ports are
all free, a process table whose processes all end with the first, and names for the hosts of the
page.
"""

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "clusters.md"
HOSTS = "127.0.0.1 localhost head node1 node2 batchsolve-scheduler"
NEW = ["unshare", "-rnmp", "--fork", "--kill-child", "--mount-proc"]


@cache
def blocks(heading):
    """Return the shell blocks below a heading of the page."""
    pattern = rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)"
    (text,) = re.findall(pattern, PAGE.read_text(), re.M | re.S)
    return re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)


def lines(block):
    """Return the commands of a block, without their comments."""
    joined = re.sub(r"(^| )#.*", "", block.replace("\\\n", " "), flags=re.M)
    return [line for line in map(str.strip, joined.splitlines()) if line]


def in_background(command, log):
    """Return a command that goes on while the next ones run."""
    return f"{{ {command}\n}} > {log} 2>&1 &"


def until(log, text):
    """Return a command that waits until a file has a text, and fails after some minutes."""
    return f"timeout 150 sh -c 'until grep -q \"{text}\" {log}; do sleep 0.1; done'"


@cache
def _why_not():
    """Return why there can be no separate machine here; None if there can."""
    for program in ("unshare", "ip", "openssl"):
        if shutil.which(program) is None:
            return f"needs {program}"
    if subprocess.run([*NEW, "true"], capture_output=True).returncode:
        return "this system grants no namespaces"
    return None


def run_alone(folder, *commands, **variables):
    """Run commands in a folder, on a separate machine; return their output.

    The first that fails ends them. The home is a folder in the folder.
    """
    if why := _why_not():
        pytest.skip(why)
    home = folder / "home"
    home.mkdir(exist_ok=True)
    (folder / "hosts").write_text(f"{HOSTS}\n")
    begin = ["set -eE", "trap 'echo failed: $BASH_COMMAND >&2' ERR"]
    begin += ["ip link set lo up", "mount --bind hosts /etc/hosts", f"cd {home}"]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    tests = str(ROOT / "tests")
    own = {"HOME": str(home), "PATH": path, "PYTHONPATH": os.pathsep.join([str(ROOT), tests])}
    environment = os.environ | own | {"TESTS": tests} | variables
    how = {"env": environment, "capture_output": True, "text": True, "timeout": 280}
    script = "\n".join([*begin, *commands, ""])
    done = subprocess.run([*NEW, "bash"], input=script, cwd=folder, **how)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done
