"""Commands that are called in the process of a test, and without the rights of root."""

import os
import shutil
import subprocess
import sys

import pytest
from click.testing import CliRunner

from batchsolve.cli import app


def invoke(*arguments, **how):
    """Call a command, whose words may be paths and numbers; fail unless it ends by itself."""
    done = CliRunner().invoke(app, list(map(str, arguments)), **how)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def invoke_as_user(*arguments):
    """Call a command in a process that may only do what the modes of files allow."""
    words = [sys.executable, "-m", "batchsolve", *map(str, arguments)]
    if os.geteuid() == 0:
        if not shutil.which("setpriv"):
            pytest.skip("setpriv is not installed, and root may read everything")
        lost = "-dac_override,-dac_read_search"
        words[:0] = ["setpriv", f"--bounding-set={lost}", f"--inh-caps={lost}"]
    return subprocess.run(words, capture_output=True, text=True)


def refused(*arguments, **how):
    """Call a command that must be refused; return what it says, as one line."""
    done = invoke(*arguments, **how)
    assert done.exit_code == 2, done.output
    return " ".join(done.stderr.replace("│", " ").split())


def invoke_on(path, data, *arguments):
    """Call a command with a file of this content as its standard input."""
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    with open(path, "rb") as file:
        return invoke(*arguments, input=file)
