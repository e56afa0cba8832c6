"""batchsolve: exact cover problems, Sudoku of every size first among them, solved in parallel.

The public names are loaded when they are first used, so that importing the package is cheap.
"""

from __future__ import annotations

__version__ = "0.1.0"

# Type checkers take this name for true. The module typing is not imported: until this file is read,
# Ctrl-C in a command is a traceback.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from batchsolve.errors import (
        BatchsolveError,
        InputError,
        JournalError,
        OutputError,
        ProblemError,
        WorkersError,
    )
    from batchsolve.problems.canonical import CanonicalForms, canonical, canonical_forms
    from batchsolve.problems.exact_cover import ExactCover
    from batchsolve.problems.families import family
    from batchsolve.problems.solution_graph import SolutionGraph
    from batchsolve.problems.stacks import Stacks
    from batchsolve.problems.sudoku import Sudoku
    from batchsolve.problems.symmetry import Symmetries, symmetries
    from batchsolve.problems.tilings import tiling
    from batchsolve.runs.cheapest import CheapestCovers, PricedCover, cheapest
    from batchsolve.runs.count import Count, count, solutions
    from batchsolve.runs.dedupe import DedupeSummary, dedupe
    from batchsolve.runs.draw import Picture, draw
    from batchsolve.runs.graphs import Samples, sample, solution_graph
    from batchsolve.runs.run import Run
    from batchsolve.runs.solve import Answer, BatchResult, solve, solve_batch
    from batchsolve.runs.solve_file import Summary, solve_file
    from batchsolve.runs.solve_table import solve_table
    from batchsolve.search.estimator import Estimate, estimate
    from batchsolve.search.splitter import Split, split
    from batchsolve.settings import SearchSettings
    from batchsolve.tables.reading import Reading, read_problem

_HOMES = {
    "Answer": "runs.solve",
    "CheapestCovers": "runs.cheapest",
    "CanonicalForms": "problems.canonical",
    "Count": "runs.count",
    "DedupeSummary": "runs.dedupe",
    "Estimate": "search.estimator",
    "Reading": "tables.reading",
    "PricedCover": "runs.cheapest",
    "Run": "runs.run",
    "cheapest": "runs.cheapest",
    "count": "runs.count",
    "draw": "runs.draw",
    "canonical": "problems.canonical",
    "canonical_forms": "problems.canonical",
    "dedupe": "runs.dedupe",
    "estimate": "search.estimator",
    "family": "problems.families",
    "read_problem": "tables.reading",
    "sample": "runs.graphs",
    "solution_graph": "runs.graphs",
    "solutions": "runs.count",
    "BatchResult": "runs.solve",
    "BatchsolveError": "errors",
    "ExactCover": "problems.exact_cover",
    "InputError": "errors",
    "JournalError": "errors",
    "OutputError": "errors",
    "Picture": "runs.draw",
    "ProblemError": "errors",
    "Samples": "runs.graphs",
    "SearchSettings": "settings",
    "SolutionGraph": "problems.solution_graph",
    "Split": "search.splitter",
    "Stacks": "problems.stacks",
    "Sudoku": "problems.sudoku",
    "Summary": "runs.solve_file",
    "Symmetries": "problems.symmetry",
    "WorkersError": "errors",
    "solve": "runs.solve",
    "solve_batch": "runs.solve",
    "solve_file": "runs.solve_file",
    "solve_table": "runs.solve_table",
    "split": "search.splitter",
    "symmetries": "problems.symmetry",
    "tiling": "problems.tilings",
}

__all__ = [
    "Answer",
    "BatchResult",
    "BatchsolveError",
    "CanonicalForms",
    "CheapestCovers",
    "Count",
    "DedupeSummary",
    "Estimate",
    "ExactCover",
    "InputError",
    "JournalError",
    "OutputError",
    "Picture",
    "PricedCover",
    "ProblemError",
    "Reading",
    "Run",
    "Samples",
    "SearchSettings",
    "SolutionGraph",
    "Split",
    "Stacks",
    "Sudoku",
    "Summary",
    "Symmetries",
    "WorkersError",
    "canonical",
    "canonical_forms",
    "cheapest",
    "count",
    "dedupe",
    "draw",
    "estimate",
    "family",
    "read_problem",
    "sample",
    "solution_graph",
    "solutions",
    "solve",
    "solve_batch",
    "solve_file",
    "solve_table",
    "split",
    "symmetries",
    "tiling",
]


if not TYPE_CHECKING:  # which would take every name for a public one

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
