"""Measure the house: lines, modules, classes, ways, and parameters that ride along.

A *way* is the list of modules whose functions run for every task between a command and its answer:
a row's way is that of a corpus solved from file to file, a tree's way that of ``count queens:12``.
Modules that run only at the beginning or at the end are counted apart.

    python scripts/house.py                 # this checkout
    python scripts/house.py --at main~40    # a commit, measured in its own worktree
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter
from pathlib import Path

NOT_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
WAYS = {
    "row": ["solve", "datasets/sudoku9.csv", "-o", "{folder}/out.csv", "--chunk", "100", "-j2"],
    "tree": ["count", "queens:12", "--jobs", "2"],
}
RIDERS = ("check", "as_json", "quiet", "jobs", "backend", "address", "on_progress", "box", "blank")
# Runs in a separate process: a profile of all threads, with the calls of each function counted.
# Those before the first task, such as of the detection of a format, are none for every task.
TRACER = """
import sys, threading
from collections import Counter
calls, most, attempt = Counter(), Counter(), ("batchsolve.workers", "_attempt")
def is_import(frame):
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name == "importlib._bootstrap" or frame.f_code.co_name == "<module>" != name:
            return name != "__main__"
        frame = frame.f_back
def note(frame, event, argument):
    module = frame.f_globals.get("__name__", "")
    if event == "call" and module.startswith("batchsolve") and not is_import(frame):
        function = module, frame.f_code.co_qualname
        calls[function] += calls[attempt] > 0 or function == attempt
threading.setprofile(note)
sys.setprofile(note)
from batchsolve.__main__ import main
sys.argv = ["batchsolve", *sys.argv[1:]]
try:
    main()
except SystemExit:
    pass
sys.setprofile(None)
for (module, _), n in calls.items():
    most[module] = max(most[module], n)
tasks = calls[attempt] * 9 // 10  # the first ones are drawn before any is done
for module, n in most.items():
    print("way" if n >= tasks else "once", module, file=sys.stderr)
"""


def code_lines(source: str) -> int:
    """Count lines that hold code: no blanks, comments or docstrings."""
    documented: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node, clean=False
        ):
            text = node.body[0]
            documented.update(range(text.lineno, (text.end_lineno or text.lineno) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NOT_CODE and token.type != tokenize.ENDMARKER:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - documented)


def way(root: Path, arguments: list[str]) -> dict[str, list[str]]:
    """Run a command; return the modules that run for every task, and those that run at times."""
    with tempfile.TemporaryDirectory() as folder:
        command = [argument.format(folder=folder) for argument in arguments]
        done = subprocess.run(
            [sys.executable, "-c", TRACER, *command],
            cwd=root,
            env={"PYTHONPATH": str(root), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=True,
        )
    lines = [line.split() for line in done.stderr.splitlines()]
    return {
        kind: [line[1] for line in lines if len(line) == 2 and line[0] == kind]
        for kind in ("way", "once")
    }


def measure(root: Path) -> dict[str, object]:
    """Measure a checkout."""
    sources = [path.read_text() for path in sorted((root / "batchsolve").rglob("*.py"))]
    trees = [ast.parse(source) for source in sources]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    riders = Counter(
        argument.arg
        for node in nodes
        if isinstance(node, ast.FunctionDef)
        for argument in (*node.args.args, *node.args.kwonlyargs)
        if argument.arg not in ("self", "cls")
    )
    ways = {name: way(root, arguments) for name, arguments in WAYS.items()}
    return {
        "lines of code": sum(map(code_lines, sources)),
        "modules": len(sources),
        "classes": sum(isinstance(node, ast.ClassDef) for node in nodes),
        **{f"modules on a {name}'s way": len(modules["way"]) for name, modules in ways.items()},
        **{f"other modules that a {name} runs": len(each["once"]) for name, each in ways.items()},
        **{f"parameter {name}": riders[name] for name in RIDERS},
        **{f"a {name}'s way": modules["way"] for name, modules in ways.items()},
    }


def main() -> None:
    """Print the measures of a checkout as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--at", metavar="COMMIT", help="measure a commit instead of this checkout")
    commit = parser.parse_args().at
    root = Path(__file__).resolve().parent.parent
    if commit is None:
        print(json.dumps(measure(root), indent=2))
        return
    with tempfile.TemporaryDirectory() as folder:
        there = Path(folder) / "house"
        subprocess.run(["git", "worktree", "add", "-q", there, commit], cwd=root, check=True)
        try:
            print(json.dumps(measure(there), indent=2))
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", there], cwd=root, check=True)


if __name__ == "__main__":
    main()
