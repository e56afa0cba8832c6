"""Attributes of the package that tests and scripts set exist: otherwise they would change nothing.

`monkeypatch.setattr` checks that by itself; this finds plain assignments, also in the programs
that tests give to other processes.
"""

import ast
from importlib import import_module
from pathlib import Path

import pytest

HOME = Path(__file__).resolve().parent.parent
FILES = sorted({*HOME.glob("tests/**/*.py"), *HOME.glob("scripts/**/*.py")} - {Path(__file__)})


def programs_in(tree):
    """Yield a module, and the texts in it that are modules of Python themselves."""
    yield tree
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and "\nimport " in f"\n{node.value}":
            try:
                program = ast.parse(node.value)
            except (SyntaxError, ValueError):
                continue
            yield program


def imported_in(program):
    """Return what a program imports of the package: name -> object."""
    found = {}
    for node in ast.walk(program):
        if isinstance(node, ast.Import):
            for each in node.names:
                is_command = each.name.endswith("__main__")  # which sets handlers of signals
                if each.name.split(".")[0] == "batchsolve" and not is_command:
                    module = import_module(each.name)
                    package = import_module("batchsolve")
                    found[each.asname or "batchsolve"] = module if each.asname else package
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("batchsolve"):
            if node.module.endswith("__main__"):
                continue
            module = import_module(node.module)
            for each in node.names:
                if not hasattr(module, each.name):
                    import_module(f"{node.module}.{each.name}")
                found[each.asname or each.name] = getattr(module, each.name)
    return found


def missing_in(text):
    """Return the attributes of the package that programs set although they do not exist."""
    return [name for program in programs_in(ast.parse(text)) for name in _missing_in(program)]


def _missing_in(program):
    names = imported_in(program)
    for node in ast.walk(program):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            if isinstance(target, ast.Attribute):
                first, *path, last = ast.unparse(target).split(".")
                owner = names.get(first)
                for name in path:
                    owner = getattr(owner, name, None)
                if first in names and not hasattr(owner, last):
                    yield ast.unparse(target)


def test_attributes_that_are_set_exist():
    missing = {str(path): missing_in(path.read_text()) for path in FILES}
    assert {path: names for path, names in missing.items() if names} == {}


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("from batchsolve.search import tree\ntree.AWAITED_AFTER = 0", ["tree.AWAITED_AFTER"]),
        ("from batchsolve.search import tree\ntree.WEIGH_AFTER = 0", []),
        ("import batchsolve.core\nbatchsolve.core.LEVEL.no = 1", ["batchsolve.core.LEVEL.no"]),
        ("PROGRAM = '''\nimport batchsolve.settings as k\nk.NONE += 1'''", ["k.NONE"]),
    ],
)
def test_one_that_is_gone_is_noticed(text, missing):
    assert missing_in(text) == missing
