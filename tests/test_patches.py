"""Attributes of the package that tests and scripts set exist: otherwise they would change nothing.

`monkeypatch.setattr` checks that by itself; this finds plain assignments, also in the programs
that tests give to other processes.
"""

import ast
from contextlib import suppress
from pathlib import Path
from pkgutil import resolve_name

import pytest

HOME = Path(__file__).resolve().parent.parent
FILES = sorted({*HOME.glob("tests/**/*.py"), *HOME.glob("scripts/**/*.py")} - {Path(__file__)})


def programs_in(tree):
    """Yield a module, and the texts in it that are modules of Python themselves."""
    yield tree
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and "\nimport " in f"\n{node.value}":
            with suppress(SyntaxError, ValueError):
                yield ast.parse(node.value)


def imported_in(program):
    """Return what a program imports of the package: name -> path of the object."""
    found = {}
    for node in ast.walk(program):
        for each in node.names if isinstance(node, ast.Import | ast.ImportFrom) else ():
            if isinstance(node, ast.ImportFrom):
                found[each.asname or each.name] = f"{node.module}.{each.name}"
            else:
                package = each.name.partition(".")[0]
                found[each.asname or package] = each.name if each.asname else package
    return {name: path for name, path in found.items() if path.partition(".")[0] == "batchsolve"}


def exists(path):
    try:
        resolve_name(path)
    except (ImportError, AttributeError):
        return False
    return True


def missing_in(text):
    """Yield the attributes of the package that programs set although they do not exist."""
    for program in programs_in(ast.parse(text)):
        names = imported_in(program)
        for node in ast.walk(program):
            for target in (*getattr(node, "targets", ()), getattr(node, "target", None)):
                if isinstance(target, ast.Attribute):
                    first, _, rest = ast.unparse(target).partition(".")
                    if first in names and not exists(f"{names[first]}.{rest}"):
                        yield ast.unparse(target)


def test_attributes_that_are_set_exist():
    missing = {str(path): [*missing_in(path.read_text())] for path in FILES}
    assert {path: names for path, names in missing.items() if names} == {}


PROGRAMS = [
    ("from batchsolve.search import tree\ntree.AWAITED_AFTER = 0", ["tree.AWAITED_AFTER"]),
    ("from batchsolve.search import tree\ntree.WEIGH_AFTER = 0", []),
    ("import batchsolve.core\nbatchsolve.core.LEVEL.no = 1", ["batchsolve.core.LEVEL.no"]),
    ("PROGRAM = '''\nimport batchsolve.settings as k\nk.NONE += 1'''", ["k.NONE"]),
]


@pytest.mark.parametrize(("text", "missing"), PROGRAMS)
def test_one_that_is_gone_is_noticed(text, missing):
    assert [*missing_in(text)] == missing
