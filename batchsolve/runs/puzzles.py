"""Puzzles with one solution, made for the numbers of rows.

Row ``i`` depends on the seed and on ``i`` alone: see `batchsolve.engines.lanes.digging`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from batchsolve.engines.lanes.digging import KNOWN, RATED, Made, Wish, dig_rows
from batchsolve.errors import InputError, counted
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.rules import Rules
from batchsolve.problems.sudoku import Sudoku
from batchsolve.problems.variant import Variant, grid_problem
from batchsolve.rating.ratings import has_ratings, ratings_of
from batchsolve.settings import FileSettings, PuzzleSettings
from batchsolve.symmetry.canonical import NO_SYMMETRY, check_shape, forms_of
from batchsolve.tables.blocks import Block, Boundary
from batchsolve.tables.reader import Reader
from batchsolve.tables.repeats import GridHash
from batchsolve.tables.rule_columns import RuleColumns
from batchsolve.tables.shapes import forms_of_shape

N_FILLS = 8  # solved grids from which an attempt takes one; see docs/decisions/generate.md
# Nodes of a search for a second solution, after which clues stay: of minimal puzzles, whose clues
# must all be proved, and of others.
PROOF_NODES, TRIAL_NODES = 20_000, 1_000
BLOCK_CELLS = 1 << 24  # of the squares of the cells of a block: about 0.1 s
MOST_ROWS, FEWEST_ROWS = 8192, 64  # of a block
NO_CLUE = ".0_-"  # characters of a pattern


@dataclass(frozen=True)
class RowRange:
    """The numbers of consecutive rows: a block of a run that makes puzzles.

    Attributes
    ----------
    first, last : int
        The first row, counted from 0, and the row after the last one.
    number : int
        The number of the block in the output.
    """

    first: int
    last: int
    number: int = 0
    source: int = 0
    name: str = ""
    records: bytes = b""

    def __len__(self) -> int:
        return self.last - self.first

    @property
    def end(self) -> Boundary:
        """The position after the block."""
        return Boundary(0, self.last)


@dataclass(frozen=True)
class RowNumbers:
    """The numbers of the rows of a run: its source.

    Attributes
    ----------
    n : int
    size : int
        Rows of a block.
    """

    n: int
    size: int
    column: str = "puzzle"
    solution_column: str = "solution"
    rule_columns: tuple[str, ...] = ()
    unread_columns: tuple[str, ...] = ()

    def blocks(
        self, begin: Boundary | None, most_rows: int | None, number: int
    ) -> Iterator[RowRange]:
        """Yield the blocks from a position on; the first of them has this number."""
        size = most_rows or self.size
        firsts = range(begin.offset if begin else 0, self.n, size)
        for k, first in enumerate(firsts, number):
            yield RowRange(first, min(first + size, self.n), k)

    def expected_rows(self, n_rows: int, position: Boundary | None) -> int:
        """Return the number of rows."""
        return self.n


@dataclass(frozen=True, eq=False)
class Puzzles:
    """Puzzles and their solutions.

    Attributes
    ----------
    grids, solutions : ndarray of uint8, shape (n, n_cells)
    weights : ndarray of float64, shape (n,)
    n_nodes : int
        Nodes that the searches have visited.
    """

    grids: npt.NDArray[np.uint8]
    solutions: npt.NDArray[np.uint8]
    weights: npt.NDArray[np.float64]
    n_nodes: int


def problem_for(files: FileSettings) -> GridProblem:
    """Return the problem of the grids that a box, rules and regions describe.

    Raises
    ------
    InputError
        If the regions do not fit the box.
    """
    said = RuleColumns(9, files.box, files.rules, files.regions)
    return grid_problem(said.known_digits or 9, files.box, files.rules, files.regions)


def rows_of_block(n_cells: int) -> int:
    """Return the number of rows of a block.

    Examples
    --------
    >>> rows_of_block(81), rows_of_block(256)
    (2557, 256)
    """
    return min(MOST_ROWS, max(FEWEST_ROWS, BLOCK_CELLS // n_cells**2))


class Units(NamedTuple):
    """The cells whose clues are taken away together, unit by unit, and the cells without clues.

    Attributes
    ----------
    begins : ndarray of int64, shape (n_units + 1,)
    cells, outside, free : ndarray of uint16
        See `Wish`.
    """

    begins: npt.NDArray[np.int64]
    cells: npt.NDArray[np.uint16]
    outside: npt.NDArray[np.uint16]
    free: npt.NDArray[np.uint16]

    @classmethod
    def of(cls, rules: Rules, symmetry: str, pattern: str | None) -> Units:
        """Return the units of a symmetry, of the cells where a pattern allows clues."""
        allowed = _cells_of(pattern, rules)
        orbits = [o for o in _orbits(rules, symmetry) if allowed.issuperset(o)]
        inside = [cell for orbit in orbits for cell in orbit]
        outside = sorted({*range(rules.n_cells)}.difference(inside))
        begins = np.cumsum([0, *map(len, orbits)])
        kinds = (np.array(cells, np.uint16) for cells in (inside, outside, _free(rules)))
        return cls(begins, *kinds)


def _free(rules: Rules) -> list[int]:
    """Return the cells of houses that no rule joins, such as the boxes of a diagonal."""
    joined = [{*cells} for cells in (*rules.houses, *rules.groups)]
    joined += [{a, b} for a, b, _ in rules.pairs]
    free: list[int] = []
    for house in reversed(rules.houses):
        if not any(not cells.isdisjoint(free) and cells.intersection(house) for cells in joined):
            free += house
    return free


def _cells_of(pattern: str | None, rules: Rules) -> set[int]:
    """Return the cells where a pattern allows clues."""
    if pattern is None:
        return {*range(rules.n_cells)}
    marks = "".join(pattern.split())
    rows, columns = rules.extent
    if len(marks) == rows * columns:  # of grids that overlap, with the places outside
        marks = "".join(marks[r * columns + c] for r, c in rules.places)
    if len(marks) != rules.n_cells:
        raise InputError(
            f"a pattern has a character for each of {rules.n_cells} cells, {NO_CLUE[0]} where no "
            f"clue may stand, not {counted(len(marks), 'character')}"
        )
    return {cell for cell, mark in enumerate(marks) if mark not in NO_CLUE}


def _orbits(rules: Rules, symmetry: str) -> list[list[int]]:
    """Return the cells that a symmetry maps to one another, orbit by orbit."""
    if symmetry == "none":
        return [[cell] for cell in range(rules.n_cells)]
    cells = {place: cell for cell, place in enumerate(rules.places)}
    rows, columns = rules.extent
    orbits, seen = [], set()
    for place in rules.places:
        orbit = []
        while place in cells and cells[place] not in seen:
            seen.add(cells[place])
            orbit.append(cells[place])
            r, c = place
            place = {
                "rotation": (rows - 1 - r, columns - 1 - c),
                "quarter-turn": (c, rows - 1 - r),
                "mirror": (r, columns - 1 - c),
                "diagonal": (c, r),
            }[symmetry]
        if place not in cells:
            raise InputError(f"the grid does not have the symmetry {symmetry!r}")
        orbits += [orbit] if orbit else []
    return orbits


@dataclass(frozen=True, eq=False)
class Maker:
    """The function that makes the puzzles of rows; workers receive it.

    Attributes
    ----------
    problem : GridProblem
    units : Units
    fewest, most : int
        The bounds of the number of clues.
    wanted : PuzzleSettings
    known : ndarray of uint64
        The keys of puzzles that no puzzle is to be like, in ascending order.
    """

    problem: GridProblem
    units: Units
    fewest: int
    most: int
    wanted: PuzzleSettings
    known: npt.NDArray[np.uint64]

    @classmethod
    def of(cls, files: FileSettings, wanted: PuzzleSettings) -> Maker:
        """Return the maker of the puzzles that settings describe.

        Raises
        ------
        InputError
            If such puzzles cannot exist, or cannot be made here.
        """
        problem = problem_for(files)
        if problem.n_digits > 32:
            raise InputError(f"puzzles of up to 32 digits can be made, not of {problem.n_digits}")
        if isinstance(problem, Sudoku) and min(problem.box_rows, problem.box_columns) < 2:
            problem = Variant(problem.rules)
        units = Units.of(problem.rules, wanted.symmetry, wanted.pattern)
        n_allowed = len(units.cells)
        fewest, most = wanted.clues or (0, n_allowed)
        if fewest > n_allowed:
            raise InputError(
                f"`clues`: {fewest} or more are wanted, and {n_allowed} cells may have one"
            )
        needed = 0 if problem.rules.pairs else problem.n_digits - 1
        if min(most, n_allowed) < needed:
            raise InputError(
                f"a puzzle of {counted(min(most, n_allowed), 'clue')} has several solutions: two "
                f"digits without a clue can trade places; allow {needed} or more"
            )
        if wanted.unlike:
            if not isinstance(problem, Sudoku):
                raise InputError(f"`unlike`: {NO_SYMMETRY}")
            check_shape(problem)
        if wanted.rating is not None and not has_ratings(problem):
            raise InputError("`rating`: puzzles of 9×9 without other rules have one")
        return cls(problem, units, fewest, most, wanted, np.empty(0, np.uint64))

    def make(self, rows: RowRange) -> Puzzles:
        """Make the puzzles of some rows.

        Raises
        ------
        InputError
            If no attempt at a row makes a puzzle as wanted.
        """
        numbers = np.arange(rows.first, rows.last)
        made = self._dug(numbers, Made.of_rows(len(numbers), self.problem.n_cells))
        again = np.arange(len(numbers))
        while (again := again[self._are_unfit(made, again)]).size:
            made.attempts[again] += 1
            part = self._dug(numbers[again], Made(*(array[again] for array in made)))
            for whole, some in zip(made, part, strict=True):
                whole[again] = some
        return Puzzles(made.puzzles, made.solutions, made.weights, int(made.nodes.sum()))

    def _dug(self, rows: npt.NDArray[np.int64], made: Made) -> Made:
        """Make puzzles, each at the first attempt that succeeds after those made before."""
        wish = Wish(
            *self.units,
            self.fewest,
            self.most,
            self.wanted.minimal,
            self.wanted.weights,
            N_FILLS,
            self.wanted.node_limit,
            PROOF_NODES if self.wanted.minimal else TRIAL_NODES,
        )
        failed = dig_rows(self.problem, wish, self.wanted.seed, rows, made)
        if failed < len(rows):
            raise InputError(self._why(int(rows[failed]), made, failed))
        return made

    def _are_unfit(self, made: Made, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Tell which puzzles are known, or rated otherwise than wished; count the reasons."""
        puzzles, are_unfit = made.puzzles[rows], np.zeros(len(rows), np.bool_)
        if self.wanted.rating is not None:
            low, high = self.wanted.rating
            values = ratings_of(puzzles).values
            are_unfit |= (values < low) | (values > high)
            made.reasons[rows[are_unfit], RATED] += 1
        if self.known.size:
            forms = forms_of(self.problem, puzzles)
            are_known = np.isin(keys_of_forms(forms.grids), self.known) | ~forms.found
            made.reasons[rows[are_known], KNOWN] += 1
            are_unfit |= are_known
        return are_unfit

    def _why(self, row: int, made: Made, k: int) -> str:
        """Return the reason why a row has no puzzle."""
        several, number, spare, known, rated = made.reasons[k].tolist()
        fewest, most, bounds = made.fewest[k], made.most[k], f"{self.fewest} to {self.most}"
        each = (
            (several, "had several solutions with all clues that the pattern allows"),
            (number, f"had {fewest} to {most} clues, not {bounds}"),
            (spare, "had a clue too many, or none was found in time"),
            (known, "were like a puzzle of `unlike`"),
            (rated, "had another rating"),
        )
        said = "; ".join(f"{n:,} {what}" for n, what in each if n)
        attempts = f"of {counted(int(made.attempts[k]), 'attempt')}, {said}"
        return (
            f"row {row + 1}: no puzzle after {self.wanted.node_limit:,} nodes: "
            f"{attempts if said else 'no attempt was finished'}; wish for less, or allow more "
            f"nodes (`node_limit`)"
        )


def keys_of_forms(forms: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """Return keys of canonical forms, the same in every run."""
    return GridHash.of(b"unlike", "form", forms.shape[1]).keys(forms)[:, 0]


def known_keys(
    reader: Reader, n_digits: int, block: Block
) -> tuple[npt.NDArray[np.uint64], int, int | None]:
    """Return the keys of the puzzles of a block, of those with this number of digits.

    Returns
    -------
    keys : ndarray of uint64
    n_rows : int
        The number of rows of the block.
    wrong : int or None
        The first row that is invalid, or whose canonical form is not found.
    """
    batch = reader.read(block)
    wrong = np.flatnonzero(batch.first_clashes() >= 0)
    keys = [np.empty(0, np.uint64)]
    for grids in batch.grids:
        if grids.shape.problem.n_digits == n_digits:
            found, forms, _ = forms_of_shape(grids, np.setdiff1d(grids.rows, wrong))
            wrong = np.union1d(wrong, np.setdiff1d(grids.rows, found))
            keys.append(keys_of_forms(forms))
    return np.concatenate(keys), len(batch), int(wrong[0]) if wrong.size else None
