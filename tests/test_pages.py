"""The examples of tutorials and guides print what the pages say; times differ, of course."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from invoking import invoke

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = """
    tutorials/tables.md tutorials/variants-in-a-table.md tutorials/counting.md guides/generate.md
    guides/large-grids.md guides/many-files.md guides/python.md guides/solution-graphs.md
    guides/symmetry.md guides/tilings.md
"""
VARIES = r"[\d.]+ s\b|[\d,]+ (rows/s|subproblems?|rounds?|nodes(?=.* by memo))"  # from run to run
LONG = "--run counting"  # a block that takes ten seconds, and ends at a time limit


def page_of(name):
    return (DOCS / name).read_text(encoding="utf-8")


def shown_files(text):
    """Return the files that a page has its reader write, or shows by ``cat``."""
    written = r"[Ww]rite\s+(?:this|these \d+ lines)\s+to\s+`([\w.]+)`.*?```\w*\n(.*?)^```"
    shown = re.findall(r"^\$ cat (\w+\.(?:dlx|json))\n(.*?)(?=^\$|^```)", text, re.M | re.S)
    return dict(re.findall(written, text, re.M | re.S) + shown)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Go to a folder with the data sets, and with the program on the path."""
    program = tmp_path / "bin" / "batchsolve"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m batchsolve "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join([str(program.parent), os.environ["PATH"]]))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "datasets").symlink_to(ROOT / "datasets")
    monkeypatch.chdir(folder)
    Path("instances").mkdir()
    invoke("convert", "queens:6", "-o", "instances/a.dlx")
    Path("instances/b.dlx").write_text("a b\na x\n")
    return folder


def without_times(text):
    return re.sub(VARIES, "…", text).strip()


def ended(command, code):
    """Run a command after one that ended with a code; return its code, and its output.

    The shell is asked only where its characters mean something.
    """
    if re.fullmatch(r"batchsolve [^|&;<>$*?(]+", command):
        done = invoke(*shlex.split(command)[1:])
        return done.exit_code, done.output
    how = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    shell = ["bash", "-c", f"(exit {code}); {command}"]  # what `echo $?` prints
    done = subprocess.run(shell, text=True, timeout=100, **how)
    return done.returncode, done.stdout


@pytest.mark.parametrize("name", PAGES.split())
def test_examples_print_what_the_page_says(name, home):
    text = page_of(name)
    files = shown_files(page_of("tutorials/counting.md")) | shown_files(text)
    for file, content in files.items():
        Path(file).write_text(content)
    blocks = re.findall(r"^```console\n(.*?)^```$", text, re.M | re.S)
    for block in (each for each in blocks if LONG not in each):
        code = 0
        for command, said in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
            code, printed = ended(command, code)
            assert without_times(printed) == without_times(said), command
    examples = "".join(re.findall(r"^```pycon\n(.*?)^```$", text, re.M | re.S))
    parsed = doctest.DocTestParser().get_doctest(examples, {}, name, None, None)
    assert not doctest.DocTestRunner().run(parsed).failed
