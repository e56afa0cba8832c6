"""The public names: `__init__.py` loads them from here when they are first used."""

from batchsolve.errors import (
    BatchsolveError as BatchsolveError,
    InputError as InputError,
    JournalError as JournalError,
    OutputError as OutputError,
    ProblemError as ProblemError,
    WorkersError as WorkersError,
)
from batchsolve.problems.exact_cover import ExactCover as ExactCover
from batchsolve.problems.families import family as family
from batchsolve.problems.grid_symmetries import CanonicalForms as CanonicalForms
from batchsolve.problems.rules import Cage as Cage, Rules as Rules
from batchsolve.problems.stacks import Stacks as Stacks
from batchsolve.problems.sudoku import (
    Sudoku as Sudoku,
    Variant as Variant,
    grid_problem as grid_problem,
)
from batchsolve.problems.symmetries import (
    Symmetries as Symmetries,
    structure_symmetries as structure_symmetries,
    symmetries as symmetries,
)
from batchsolve.problems.tilings import tiling as tiling
from batchsolve.runs.augment import (
    AugmentSummary as AugmentSummary,
    augment as augment,
    augment_file as augment_file,
)
from batchsolve.runs.count import (
    CheapestCovers as CheapestCovers,
    Count as Count,
    cheapest as cheapest,
    count as count,
    solutions as solutions,
)
from batchsolve.runs.draw import Picture as Picture, draw as draw
from batchsolve.runs.estimate import Estimate as Estimate, estimate as estimate
from batchsolve.runs.evaluate import Evaluation as Evaluation, evaluate as evaluate
from batchsolve.runs.generate import (
    GenerateSummary as GenerateSummary,
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
from batchsolve.runs.partition import PartitionSummary as PartitionSummary, partition as partition
from batchsolve.runs.progress import Progress as Progress, Summary as Summary
from batchsolve.runs.projections import count_projections as count_projections
from batchsolve.runs.rate import RateSummary as RateSummary, rate as rate, rate_file as rate_file
from batchsolve.runs.reading import Reading as Reading, read_problem as read_problem
from batchsolve.runs.repeats import (
    Audit as Audit,
    AuditedTable as AuditedTable,
    DedupeSummary as DedupeSummary,
    audit as audit,
    dedupe as dedupe,
)
from batchsolve.runs.run import Run as Run
from batchsolve.runs.solve import (
    Answer as Answer,
    BatchResult as BatchResult,
    canonical as canonical,
    canonical_forms as canonical_forms,
    solve as solve,
    solve_batch as solve_batch,
)
from batchsolve.runs.solve_tables import (
    count_file as count_file,
    solve_file as solve_file,
    solve_stream as solve_stream,
    solve_table as solve_table,
)
from batchsolve.runs.split import Split as Split, split as split
from batchsolve.search.cheapest import PricedCover as PricedCover
from batchsolve.search.graphs import SolutionGraph as SolutionGraph
from batchsolve.settings import (
    FileSettings as FileSettings,
    PuzzleSettings as PuzzleSettings,
    SearchSettings as SearchSettings,
)

__version__: str
