"""batchsolve: exact cover problems, Sudoku of every size first among them, solved in parallel.

The public names are loaded when they are first used, so that importing the package is cheap.
"""

from __future__ import annotations

__version__ = "0.2.0"

_homes: dict[str, str] = {}  # public name -> its module


def _read_stub() -> dict[str, str]:
    """Return the module of each public name, which the stub beside this file imports."""
    if not _homes:
        import ast  # only now: until this file is read, Ctrl-C in a command is a traceback
        from pathlib import Path

        stub = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
        for line in ast.parse(stub).body:
            if isinstance(line, ast.ImportFrom):
                _homes.update((name.name, str(line.module)) for name in line.names)
    return _homes


def __getattr__(name: str) -> object:
    if name == "__all__":
        return sorted(_read_stub())
    if name.startswith("__") or name not in _read_stub():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return globals().setdefault(name, getattr(import_module(_homes[name]), name))


def __dir__() -> list[str]:
    return [*sorted(_read_stub()), "__version__"]
