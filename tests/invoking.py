"""Commands called in the process of a test, and without the rights of root; and signals."""

import json
import os
import shutil
import signal
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


AS_USER = """
import json, sys
from click.testing import CliRunner
from batchsolve.cli import app
ends = [CliRunner().invoke(app, words, catch_exceptions=False) for words in json.load(sys.stdin)]
json.dump([(end.exit_code, end.stdout, end.stderr) for end in ends], sys.__stdout__)
"""


def invoke_as_user(*commands):
    """Call commands in a process that may only do what the modes of files allow.

    Return the exit code and the streams of each.
    """
    words = [sys.executable, "-c", AS_USER]
    if os.geteuid() == 0:
        if not shutil.which("setpriv"):
            pytest.skip("setpriv is not installed, and root may read everything")
        lost = "-dac_override,-dac_read_search"
        words[:0] = ["setpriv", f"--bounding-set={lost}", f"--inh-caps={lost}"]
    how = {"stdout": subprocess.PIPE, "text": True, "check": True}
    typed = json.dumps([list(map(str, each)) for each in commands])
    return json.loads(subprocess.run(words, input=typed, **how).stdout)


def run_python(*words, **how):
    """Run Python in a new process, whose streams are texts unless they are given."""
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | how
    return subprocess.run([sys.executable, *words], **how)


def refused(*arguments, **how):
    """Call a command that must be refused, without output; return what it says, as one line."""
    done = invoke(*arguments, **how)
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    return " ".join(done.stderr.replace("│", " ").split())


def invoke_on(path, data, *arguments):
    """Call a command with a file of this content as its standard input."""
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    with open(path, "rb") as file:
        return invoke(*arguments, input=file)


def press_in(module, signum=signal.SIGINT):
    """Press Ctrl-C, or send another signal, in code of a module with this name."""
    space = {"__name__": module, "press": lambda: signal.raise_signal(signum)}
    exec("def function(): press()", space)
    space["function"]()  # outside of exec: Python ends by SIGINT once an interrupt leaves that
