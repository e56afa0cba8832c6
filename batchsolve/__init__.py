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
        BatchsolveError as BatchsolveError,
        InputError as InputError,
        JournalError as JournalError,
        OutputError as OutputError,
        ProblemError as ProblemError,
        WorkersError as WorkersError,
    )
    from batchsolve.graphs.solution_graph import SolutionGraph as SolutionGraph
    from batchsolve.problems.exact_cover import ExactCover as ExactCover
    from batchsolve.problems.families import family as family
    from batchsolve.problems.rules import Cage as Cage, Rules as Rules
    from batchsolve.problems.stacks import Stacks as Stacks
    from batchsolve.problems.sudoku import Sudoku as Sudoku
    from batchsolve.problems.tilings import tiling as tiling
    from batchsolve.problems.variant import Variant as Variant, grid_problem as grid_problem
    from batchsolve.runs.augment import (
        AugmentSummary as AugmentSummary,
        augment as augment,
        augment_file as augment_file,
    )
    from batchsolve.runs.count import (
        CheapestCovers as CheapestCovers,
        Count as Count,
        PricedCover as PricedCover,
        cheapest as cheapest,
        count as count,
        solutions as solutions,
    )
    from batchsolve.runs.count_file import count_file as count_file
    from batchsolve.runs.dedupe import DedupeSummary as DedupeSummary, dedupe as dedupe
    from batchsolve.runs.draw import Picture as Picture, draw as draw, heat_map as heat_map
    from batchsolve.runs.estimate import Estimate as Estimate, estimate as estimate
    from batchsolve.runs.evaluate import Evaluation as Evaluation, evaluate as evaluate
    from batchsolve.runs.generate import (
        Puzzle as Puzzle,
        generate as generate,
        generate_file as generate_file,
        generate_table as generate_table,
    )
    from batchsolve.runs.graphs import (
        Samples as Samples,
        distribution as distribution,
        sample as sample,
        solution_graph as solution_graph,
    )
    from batchsolve.runs.progress import Progress as Progress, Summary as Summary
    from batchsolve.runs.projections import count_projections as count_projections
    from batchsolve.runs.rate import (
        RateSummary as RateSummary,
        rate as rate,
        rate_file as rate_file,
    )
    from batchsolve.runs.reading import Reading as Reading, read_problem as read_problem
    from batchsolve.runs.run import Run as Run
    from batchsolve.runs.solve import (
        Answer as Answer,
        BatchResult as BatchResult,
        solve as solve,
        solve_batch as solve_batch,
        solve_stream as solve_stream,
        solve_table as solve_table,
    )
    from batchsolve.runs.solve_file import solve_file as solve_file
    from batchsolve.runs.split import Split as Split, split as split
    from batchsolve.settings import (
        FileSettings as FileSettings,
        PuzzleSettings as PuzzleSettings,
        SearchSettings as SearchSettings,
    )
    from batchsolve.symmetry.canonical import (
        CanonicalForms as CanonicalForms,
        canonical as canonical,
        canonical_forms as canonical_forms,
    )
    from batchsolve.symmetry.structure import structure_symmetries as structure_symmetries
    from batchsolve.symmetry.symmetries import Symmetries as Symmetries, symmetries as symmetries

_NAMES = {
    "errors": (
        "BatchsolveError",
        "InputError",
        "JournalError",
        "OutputError",
        "ProblemError",
        "WorkersError",
    ),
    "graphs.solution_graph": ("SolutionGraph",),
    "problems.exact_cover": ("ExactCover",),
    "problems.families": ("family",),
    "problems.rules": ("Cage", "Rules"),
    "problems.stacks": ("Stacks",),
    "problems.sudoku": ("Sudoku",),
    "problems.tilings": ("tiling",),
    "problems.variant": ("Variant", "grid_problem"),
    "runs.augment": ("AugmentSummary", "augment", "augment_file"),
    "runs.count": ("CheapestCovers", "Count", "PricedCover", "cheapest", "count", "solutions"),
    "runs.count_file": ("count_file",),
    "runs.dedupe": ("DedupeSummary", "dedupe"),
    "runs.draw": ("Picture", "draw", "heat_map"),
    "runs.estimate": ("Estimate", "estimate"),
    "runs.evaluate": ("Evaluation", "evaluate"),
    "runs.generate": ("Puzzle", "generate", "generate_file", "generate_table"),
    "runs.graphs": ("Samples", "distribution", "sample", "solution_graph"),
    "runs.progress": ("Progress", "Summary"),
    "runs.projections": ("count_projections",),
    "runs.rate": ("RateSummary", "rate", "rate_file"),
    "runs.reading": ("Reading", "read_problem"),
    "runs.run": ("Run",),
    "runs.solve": ("Answer", "BatchResult", "solve", "solve_batch", "solve_stream", "solve_table"),
    "runs.solve_file": ("solve_file",),
    "runs.split": ("Split", "split"),
    "settings": ("FileSettings", "PuzzleSettings", "SearchSettings"),
    "symmetry.canonical": ("CanonicalForms", "canonical", "canonical_forms"),
    "symmetry.structure": ("structure_symmetries",),
    "symmetry.symmetries": ("Symmetries", "symmetries"),
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names}

__all__ = sorted(_HOMES)


if not TYPE_CHECKING:  # which would take every name for a public one

    def __getattr__(name: str) -> object:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
