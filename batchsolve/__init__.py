"""batchsolve: exact cover problems, Sudoku of every size first among them, solved in parallel.

The public names are loaded when they are first used, so that importing the package is cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from batchsolve.counting import Count, count, solutions
    from batchsolve.cover import ExactCover
    from batchsolve.errors import (
        BatchsolveError,
        InputError,
        JournalError,
        OutputError,
        ProblemError,
    )
    from batchsolve.estimator import Estimate, estimate
    from batchsolve.families import family
    from batchsolve.filerun import Summary, solve_file
    from batchsolve.formats import read_problem
    from batchsolve.rounds import SearchSettings
    from batchsolve.runs import Run
    from batchsolve.solve import Answer, BatchResult, solve_batch
    from batchsolve.splitter import Split, split
    from batchsolve.stacks import Stacks
    from batchsolve.sudoku import Sudoku

_HOMES = {
    "Answer": "solve",
    "Count": "counting",
    "Estimate": "estimator",
    "Run": "runs",
    "count": "counting",
    "estimate": "estimator",
    "family": "families",
    "read_problem": "formats",
    "solutions": "counting",
    "BatchResult": "solve",
    "BatchsolveError": "errors",
    "ExactCover": "cover",
    "InputError": "errors",
    "JournalError": "errors",
    "OutputError": "errors",
    "ProblemError": "errors",
    "SearchSettings": "rounds",
    "Split": "splitter",
    "Stacks": "stacks",
    "Sudoku": "sudoku",
    "Summary": "filerun",
    "solve_batch": "solve",
    "solve_file": "filerun",
    "split": "splitter",
}

__all__ = [
    "Answer",
    "BatchResult",
    "BatchsolveError",
    "Count",
    "Estimate",
    "ExactCover",
    "InputError",
    "JournalError",
    "OutputError",
    "ProblemError",
    "Run",
    "SearchSettings",
    "Split",
    "Stacks",
    "Sudoku",
    "Summary",
    "count",
    "estimate",
    "family",
    "read_problem",
    "solutions",
    "solve_batch",
    "solve_file",
    "split",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
