"""Grids in memory, as blocks for workers: an array, or texts in a list.

Each grid may have a problem of its own if all have the same cells and digits. Equal problems are
searched together, and so are grids that share all rules but their regions, cages and marks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from batchsolve.arrays import Bytes, Ints
from batchsolve.errors import InputError, counted, is_table, not_but, quoted
from batchsolve.problems.grids import GridProblem, as_grids_array
from batchsolve.problems.notation import Notation, default_box, usual_notation
from batchsolve.problems.rules import Rules
from batchsolve.problems.sudoku import Sudoku, sudoku
from batchsolve.problems.variant import Variant
from batchsolve.problems.variants import Variants
from batchsolve.search.rows import Read
from batchsolve.settings import FileSettings
from batchsolve.tables.blocks import Block
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.frames import text_column
from batchsolve.tables.reader import Batch, Reader
from batchsolve.tables.rule_columns import Part, RuleColumns
from batchsolve.tables.shapes import Grids, Shape
from batchsolve.tables.sources import TableSource

BLOCK_CELLS = 1_000_000  # 12,000 9×9 grids
_NO_COLUMNS = pa.table({})


@dataclass(frozen=True, eq=False)
class GridRows:
    """Grids in memory, as blocks and the function that workers read them with."""

    problem: GridProblem
    notation: Notation
    blocks: Iterable[Any]
    read: Read
    sizes_vary: bool = True


def rows_of(
    grids: Any,
    problem: GridProblem | Sequence[GridProblem] | None,
    alphabet: str | None,
    blank: str | None,
) -> GridRows:
    """Return the rows of the arguments of `solve_batch`."""
    is_column = any(
        hasattr(grids, f"__{name}__") for name in ("getitem", "array", "arrow_c_stream")
    )
    if isinstance(grids, str | bytes) or is_table(grids) or not is_column:
        raise InputError(f"grids are an array, or texts in a list, {not_but(grids)}")
    texts = text_column(grids)
    if texts is not None:
        if isinstance(problem, Sequence) and not isinstance(problem, str | bytes):
            raise InputError(
                f"texts have one problem, such as Sudoku(3, 3), not {quoted(problem)}; give an "
                f"array of digits, or rules in columns to solve_table"
            )
        if problem is not None and not isinstance(problem, GridProblem):
            raise _no_problem(problem)
        table = TableSource(pa.table({"puzzle": texts}))
        corpus = Corpus(
            [table], FileSettings(column="puzzle", alphabet=alphabet, blank=blank), problem=problem
        )
        read = partial(_of_one_size, corpus.reader)
        return GridRows(corpus.problem, corpus.notation, corpus.blocks(), read)
    for name, value in (("alphabet", alphabet), ("blank", blank)):
        if value is not None:
            raise InputError(
                f"{name} {quoted(value)} is for texts; digits of an array are 1 to N, and 0 or -1 "
                f"is a blank"
            )
    array = _array_of(grids)
    problems = Problems.of(problem if problem is not None else _problem_of(array), len(array))
    main = problems.main
    digits, size = main.as_grids(array), max(64, BLOCK_CELLS // main.n_cells)
    each = (np.arange(len(digits))[begin : begin + size] for begin in range(0, len(digits), size))
    blocks = ((problems.at(rows), digits[rows]) for rows in each)
    return GridRows(main, usual_notation(main.n_digits), blocks, batch_of, sizes_vary=False)


@dataclass(frozen=True, eq=False)
class Problems:
    """The problems of the grids of an array.

    Attributes
    ----------
    kinds : list of GridProblem
        The different problems; they have the same cells and digits.
    kind_of : ndarray of int64, shape (n,)
        The number of the problem of each grid.
    """

    kinds: list[GridProblem]
    kind_of: Ints

    @classmethod
    def of(cls, given: Any, n: int) -> Problems:
        """Return one problem for all of n grids, or one for each."""
        if isinstance(given, GridProblem):
            return cls([given], np.zeros(n, np.int64))
        if not isinstance(given, Sequence) or isinstance(given, str | bytes):
            raise _no_problem(given)
        if len(given) != n or not n:
            raise InputError(f"{counted(len(given), 'problem')} for {counted(n, 'grid')}")
        numbers: dict[str, int] = {}
        kinds: list[GridProblem] = []
        for each in given:
            if not isinstance(each, GridProblem) or isinstance(each, Variants):
                raise InputError(
                    f"the problem of a grid is a Sudoku or a Variant, not {quoted(each)}"
                )
            if (each.n_cells, each.n_digits) != (given[0].n_cells, given[0].n_digits):
                raise InputError(
                    f"grids of an array have the same cells and digits, not those of {given[0]!r} "
                    f"and of {each!r}; call solve_batch for each size"
                )
            if numbers.setdefault(each.fingerprint, len(kinds)) == len(kinds):
                kinds.append(each)
        return cls(kinds, np.array([numbers[each.fingerprint] for each in given]))

    @property
    def main(self) -> GridProblem:
        """The first problem."""
        return self.kinds[0]

    def at(self, rows: Ints) -> list[Part]:
        """Return the parts of a block of these grids, which are counted anew."""
        if len(self.kinds) == 1:
            return [(self.main.at(rows), np.arange(len(rows)))]
        kinds = self.kind_of[rows]
        alike: dict[Any, list[int]] = {}
        for kind in np.unique(kinds).tolist():
            alike.setdefault(_shared(self.kinds[kind]), []).append(kind)
        return [self._part(shared, some, kinds) for shared, some in alike.items()]

    def _part(self, shared: Any, alike: list[int], kinds: Ints) -> Part:
        """Return the grids of some kinds, which share all rules but regions, cages and marks."""
        rows = np.flatnonzero(np.isin(kinds, alike))
        if len(alike) == 1:
            return self.kinds[alike[0]], rows
        labels = np.array([_labels(self.kinds[kind]) for kind in alike])
        places = np.searchsorted(alike, kinds)
        regions = labels[np.where(np.isin(kinds, alike), places, 0)]
        none = Rules(shared.n_digits, shared.places, ())
        own = [none] * len(kinds)
        for row in rows.tolist():
            rules = self.kinds[kinds[row]].rules
            own[row] = replace(none, cages=rules.cages, marks=rules.marks)
        return Variants.of(shared, own, regions), rows


def _no_problem(given: object) -> InputError:
    return InputError(f"the problem is a Sudoku, such as Sudoku(3, 3), not {quoted(given)}")


def _shared(problem: GridProblem) -> Rules | GridProblem:
    """Return the rules of a square grid without its regions, cages and marks.

    Other problems are returned as they are.
    """
    rules, n = problem.rules, problem.n_digits
    lines = Rules.square(n, ()).houses
    is_square = rules.n_cells == n * n and rules.houses[: 2 * n] == lines
    if not isinstance(problem, Variant) or not is_square or len(rules.regions) != n:
        return problem
    regions = set(rules.regions)
    if regions & set(lines):
        return problem
    houses = tuple(house for house in rules.houses if house not in regions)
    return replace(rules, houses=houses, cages=(), marks=())


def _labels(problem: GridProblem) -> Bytes:
    """Return the number of the region of each cell."""
    labels = np.zeros(problem.n_cells, np.uint8)
    for region, cells in enumerate(problem.rules.regions):
        labels[list(cells)] = region
    return labels


def _of_one_size(reader: Reader, block: Block) -> Batch:
    """Read texts; raise `InputError` if well-formed ones have another size than most."""
    batch = reader.read(block)
    size = reader.main.problem.n_digits
    for grids in batch.grids:
        n = grids.shape.problem.n_digits
        good = [] if n == size else sorted({*grids.rows.tolist()} - batch.faults.keys())
        if good:
            text = batch.table[reader.column][good[0]].as_py()
            raise InputError(
                f"texts for an array have one size, and most have that of {size}×{size} grids, but "
                f"{quoted(text)} is a grid of {n}×{n}; solve_table and solve_file take any"
            )
    return batch


def batch_of(block: tuple[list[Part], Bytes]) -> Batch:
    """Return grids of an array as rows without other columns."""
    parts, digits = block
    problem = parts[0][0]
    notation, rows = usual_notation(problem.n_digits), np.arange(len(digits))
    shape = Shape(RuleColumns(problem.n_digits, fixed=problem), notation, notation)
    return Batch(_NO_COLUMNS, [Grids(shape, rows, digits, None, None, parts)], {})


def _array_of(grids: Any) -> npt.NDArray[Any]:
    """Return grids, given as digits, as an array."""
    array = as_grids_array(grids)
    if array.ndim == 1 and array.size:
        raise InputError(
            f"grids must have shape (n, N²) or (n, N, N), or be texts (str), not {array.shape}; "
            f"the first is {quoted(array[0].item() if array.dtype != object else array[0])}"
        )
    return array


def _problem_of(grids: npt.NDArray[Any]) -> Sudoku:
    cells = grids.shape[1] if grids.ndim == 2 else grids.shape[-1] ** 2 if grids.ndim == 3 else 0
    n = round(cells**0.5)
    box = default_box(n) if n * n == cells else None
    if box is None:
        raise InputError(f"grids must have shape (n, N²) or (n, N, N), not {grids.shape}")
    return sudoku(*box)
