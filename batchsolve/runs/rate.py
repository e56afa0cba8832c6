"""Ratings of 9×9 puzzles, and the steps that solve one.

From table to table, workers solve each row, and rate it if it is unique.

Techniques are in the order and have the ratings of Sudoku Explainer 1.2.1.
Sudoku Explainer (N. Juillerat, 2006) takes the easiest technique that helps at each step, and rates
a puzzle by the hardest that it took. Techniques here still help, or are no longer needed, when
there are fewer candidates. So the rating is the least level up to which they solve the puzzle: it
does not depend on the order of steps, and equivalent puzzles have the same. An exception are X- and
Y-cycles, of which only the shortest are sought. All chains up to the hardest level so far are used
at once; single steps lead to another rating, by 0.1 to 0.3, for 5 of 10,818 puzzles from 6.5 on.

A *direct* technique fills a cell and keeps no eliminations. Direct claiming (1.9) is left out: it
is never needed, because the cell that it fills is a hidden single of its box, or direct pointing
(1.7) fills it. Aligned exclusion (6.2, 7.5) is left out, and the ladder ends before dynamic chains
(8.5). Patterns that assume a unique solution (4.5 to 6.0) are used if asked for; the argument above
does not hold for them, see ``core/rate/uniqueness.h``.

The table is that of the native core, ``core/rate/techniques.h``. A *level* is a place in it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import groupby
from typing import Any, Unpack, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from batchsolve.core import native
from batchsolve.core.arrays import Bytes, Ints
from batchsolve.core.interrupts import check_interrupt
from batchsolve.errors import InputError, ProblemError
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.sudoku import Sudoku
from batchsolve.runs.outputs import Output
from batchsolve.runs.progress import Summary
from batchsolve.runs.specs import Spec, run_files, table_of
from batchsolve.search.rows import Answers, Status
from batchsolve.settings import PROVES_UNIQUENESS, FileSettings, RateSettings
from batchsolve.settings.arguments import FileName, FileNames
from batchsolve.settings.keywords import RateFields, RateFileFields, settings_of
from batchsolve.tables.answers import Found, RowSums, RowTable, RowValues
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.frames import Frame, arrow_table, with_columns_of
from batchsolve.tables.reader import Batch, Reader
from batchsolve.tables.sources import TableSource

NOT_RATED = "only 9×9 grids of rows, columns and boxes, without other rules, are rated"
RATED_DIGITS = 9
SHARE = 16  # of a usual block, because rating a row takes some 16 times as long as solving it

_LEVELS = native.levels_of_ratings()

NAMES: tuple[str, ...] = tuple(name for name, *_ in _LEVELS)
"""The names of levels, the easiest first: those of techniques, ``guess`` and ``none``.

Chains and patterns come once for each rating.
"""

RATINGS = np.array([rating for _, rating, _ in _LEVELS])
"""The ratings of levels; for a guess, a lower bound."""

SCALE = np.array([rating for _, rating, is_pattern in _LEVELS if rating and not is_pattern])
"""Ratings by patterns that do not assume one solution, in ascending order."""

N_CELLS = 81

_CELLS = [f"r{cell // 9 + 1}c{cell % 9 + 1}" for cell in range(N_CELLS)]
_AT_ONCE = 256  # grids between two looks for an interrupt


@dataclass(repr=False)
class RateSummary(Summary):
    """The result of `rate_file`; see `Summary`.

    Attributes
    ----------
    techniques : dict of str to int
        The rows whose hardest technique each is, the easiest first.

    Examples
    --------
    >>> summary = RateSummary(rows=3, unique=3, techniques={"x-wing": 2, "guess": 1})
    >>> print(summary)
    3 rows: 3 unique; 0.0 s, 0 rows/s
    hardest techniques: 2 x-wing, 1 guess
    """

    techniques: dict[str, int] = field(default_factory=dict)

    def add(self, sums: RowSums) -> None:
        """See `Summary`."""
        super().add(sums)
        for name, n in (sums.techniques or {}).items():
            self.techniques[name] = self.techniques.get(name, 0) + n

    @property
    def hardest(self) -> str:
        """The rows of each hardest technique, in words."""
        counts = ", ".join(f"{n:,} {name}" for name, n in self.techniques.items() if n)
        return f"hardest techniques: {counts or 'none'}"

    def __str__(self) -> str:
        return f"{super().__str__()}\n{self.hardest}"


@overload
def rate(table: Frame, **settings: Unpack[RateFields]) -> Frame: ...


@overload
def rate(table: Any, **settings: Unpack[RateFields]) -> pa.Table: ...


def rate(table: Any, **settings: Unpack[RateFields]) -> Any:
    """Return a table of 9×9 puzzles with their ratings.

    Each puzzle is solved first. Those with one solution are rated; others have their status alone.

    Parameters
    ----------
    table : pyarrow.Table, pandas or polars data frame, or anything with ``__arrow_c_stream__``
    on_progress : callable or True, optional
        See `Progress`.
    **settings
        ``backdoor=True`` adds a column ``backdoor``: the least number of cells to fill so that
        singles solve the rest, null if that is more than 3. ``steps=True`` adds a column ``steps``:
        the steps that solve the puzzle, as JSON. ``uniqueness=True`` uses patterns that assume a
        unique solution, too: unique rectangles and loops, and BUG. ``jobs``, ``backend`` and
        ``address`` as in `solve_file`; and the settings of reading, whole as ``files``, or field by
        field: ``column``, ``alphabet``, ``blank``, ``box``, ``rule_columns``.

    Returns
    -------
    pandas.DataFrame, polars.DataFrame or pyarrow.Table
        A table of the same library, or else of Arrow: all columns of `table`, then ``technique``
        (the hardest that is needed, ``guess`` beyond the ladder, ``none`` without blank cells),
        ``rating`` (for ``guess`` a lower bound, above all ratings of the ladder), ``backtracks``,
        ``status`` and ``message``.

    Raises
    ------
    ProblemError
        If no puzzle is a 9×9 grid of rows, columns and boxes; of 10,000 rows or more, if none can
        be. Where sizes differ, those of other grids have no ratings.

    Notes
    -----
    The ladder is that of Sudoku Explainer 1.2.1, up to static chains, and by default without
    techniques that assume a unique solution: see `batchsolve.runs.rate`. Backtracks are the
    dead ends of a search that fills singles and uses locked candidates, then tries each candidate
    of the first cell with the fewest, and proves that there is one solution.

    Examples
    --------
    >>> import pyarrow as pa
    >>> easy = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
    >>> rated = rate(pa.table({"puzzle": [easy]}))
    >>> rated.drop_columns("puzzle").to_pylist()[0]["technique"]
    'hidden single in box'
    """
    pool_settings, wanted, files = settings_of(rate, settings, RateSettings, FileSettings)
    spec = _rating(wanted, files, [TableSource(arrow_table(table))], Output())
    return with_columns_of(table_of(spec, pool_settings), table)


def rate_file(
    inputs: FileNames, output: FileName, **settings: Unpack[RateFileFields]
) -> RateSummary:
    r"""Rate a corpus of 9×9 puzzles from table to table; see `rate`.

    Parameters
    ----------
    inputs : str or path, or a sequence of them
        As in `solve_file`.
    output : str or path
        As in `solve_file`; a table, with the columns of `rate`.
    on_progress : callable or True, optional
        See `Progress`.
    **settings
        As in `rate`; and ``chunk``, ``filename``, ``stop_on_invalid`` and ``resume``.

    Returns
    -------
    RateSummary

    Raises
    ------
    InputError, OutputError, JournalError
        As in `solve_file`.
    ProblemError
        As in `rate`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> out = pathlib.Path(tempfile.mkdtemp()) / "rated.csv"
    >>> summary = rate_file("datasets/sudoku9.csv", out)
    >>> summary.rows, sum(summary.techniques.values())
    (10000, 10000)
    """
    pool_settings, wanted, files = settings_of(rate_file, settings, RateSettings, FileSettings)
    return run_files(partial(_rating, wanted, files), inputs, output, files, pool_settings)


def _rating(wanted: RateSettings, files: FileSettings, inputs: list[Any], output: Output) -> Spec:
    """Return the specification of *rate*; raises `ProblemError` if no row can be rated."""
    corpus = Corpus(inputs, files, size=output.block_size.divided_by(SHARE))
    if not _may_be_rated(corpus):
        raise ProblemError(NOT_RATED)
    table, same = partial(_rated_table, wanted), asdict(wanted)
    return Spec("rate", corpus, corpus.reader, table, RateSummary(), same).searched()


def _rated_table(wanted: RateSettings, reader: Reader) -> RowTable:
    """Return the output table of ratings."""
    kinds = {"technique": pa.string(), "rating": pa.float64(), "backtracks": pa.int64()}
    kinds |= {"backdoor": pa.int64()} if wanted.backdoor else {}
    kinds |= {"steps": pa.string()} if wanted.steps else {}
    kinds |= {"status": pa.string(), "message": pa.string()}
    return RowTable(reader.schema, pa.schema(kinds), partial(_rated, wanted))


def _rated(wanted: RateSettings, batch: Batch, answers: Answers) -> Found:
    """Return the new columns of rated puzzles: those of the rows that have one solution."""
    values = RowValues(batch, answers, PROVES_UNIQUENESS)
    is_rated, puzzles = np.zeros(len(answers), np.bool_), np.zeros((len(answers), 81), np.uint8)
    notations = np.empty(len(answers), object)
    for grids in batch.grids:
        is_unique = values.status[grids.rows] == Status.UNIQUE
        may_be = grids.are_plain & has_ratings(grids.shape.problem)
        if (rows := grids.rows[is_unique & may_be]).size:
            is_rated[rows] = True
            puzzles[rows] = grids.puzzles_of(rows)
            notations[rows] = grids.shape.notation
        values.messages |= dict.fromkeys(grids.rows[is_unique & ~may_be].tolist(), NOT_RATED)
    puzzles, notations = puzzles[is_rated], notations[is_rated]
    levels, backtracks, backdoors = ratings_of(puzzles, wanted.backdoor, wanted.uniqueness)
    columns = {
        "technique": pa.array(NAMES).take(pa.array(levels)),
        "rating": pa.array(RATINGS[levels]),
        "backtracks": pa.array(backtracks),
    }
    if wanted.backdoor:
        columns["backdoor"] = pa.array(backdoors.astype(np.int64), mask=backdoors < 0)
    if wanted.steps:
        pairs = zip(puzzles, notations, strict=True)
        texts = (steps_text(grid, wanted.uniqueness, notation.names) for grid, notation in pairs)
        columns["steps"] = pa.array(texts, pa.string())
    places = pa.array(np.cumsum(is_rated) - 1, mask=~is_rated)
    columns = {name: column.take(places) for name, column in columns.items()}
    techniques = dict.fromkeys(NAMES, 0)
    for level in levels.tolist():  # several levels can have one name
        techniques[NAMES[level]] += 1
    return batch.table, values.sums._replace(techniques=techniques), columns | values.columns()


def _may_be_rated(corpus: Corpus) -> bool:
    """Return True if rows are rated, or grids of other shapes among them may be."""
    reader, main = corpus.reader, corpus.problem
    has_others = reader.has_boxes or any(form.n_digits == RATED_DIGITS for form in reader.known)
    has_others |= corpus.has_more_rows and isinstance(main, Sudoku)
    return has_ratings(main) or (not reader.is_one and has_others)


# ---- ratings of grids -----------------------------------------------------------------------


def has_ratings(problem: GridProblem) -> bool:
    """Return True for 9×9 grids of rows, columns and boxes."""
    return isinstance(problem, Sudoku) and (problem.box_rows, problem.box_columns) == (3, 3)


def ratings_of(
    grids: Bytes, backdoor: bool = False, uniqueness: bool = False
) -> tuple[Bytes, Ints, npt.NDArray[np.int8]]:
    """Return the ratings of 9×9 puzzles that have one solution each.

    Parameters
    ----------
    grids : ndarray of uint8, shape (n, 81)
        Digits, 0 for blank cells.
    backdoor : bool
        Look for backdoors, too.
    uniqueness : bool
        Use patterns that assume a unique solution, which is proved here.

    Returns
    -------
    levels : ndarray of uint8, shape (n,)
        The level of the hardest technique that each needs: a place in `NAMES` and `RATINGS`.
    backtracks : ndarray of int64, shape (n,)
        Dead ends of a search that proves that there is one solution.
    backdoors : ndarray of int8, shape (n,)
        The least number of cells to fill so that singles solve the rest; -1 if it was not looked
        for, or is more than 3.

    Raises
    ------
    InputError
        If a puzzle does not have one solution.

    Examples
    --------
    >>> grid = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
    >>> grids = np.array([[int(c) for c in grid.replace(".", "0")]], np.uint8)
    >>> [level], [backtracks], _ = ratings_of(grids)
    >>> NAMES[level], float(RATINGS[level]), int(backtracks)
    ('hidden single in box', 1.2, 0)
    """
    n = len(grids)
    levels, backtracks, backdoors = np.empty(n, np.uint8), np.empty(n, np.int64), np.empty(n, "i1")
    for begin in range(0, n, _AT_ONCE):
        check_interrupt()
        block = slice(begin, begin + _AT_ONCE)
        rated = native.rate_grids(grids[block], uniqueness, backdoor)
        levels[block], backtracks[block], backdoors[block] = rated
    if (backtracks < 0).any():
        raise InputError(
            f"grid {int(np.argmax(backtracks < 0))} does not have exactly one solution"
        )
    return levels, backtracks, backdoors


def steps_text(grid: Bytes, uniqueness: bool = False, names: Sequence[str] = "123456789") -> str:
    """Return the steps that solve a 9×9 puzzle as JSON, each by the easiest technique that helps.

    A step has a ``technique``, its ``rating``, the ``cells`` and ``digits`` of the pattern, and
    what it ``fills`` or ``removes``: digits by cell. Chains have their ``chains``, too: lists of
    nodes such as ``r1c1=5`` and ``r1c2!=5``, each of which follows from the one before, and in
    those of Nishio from all before. Steps end where a guess is needed. The digits are called as
    `names` says, and those that are numbers are numbers in JSON.

    Examples
    --------
    >>> grid = np.array([0, *range(2, 10), *[0] * 72], np.uint8)
    >>> steps = json.loads(steps_text(grid))
    >>> steps[0]["technique"], steps[0]["fills"]
    ('last cell', {'r1c1': 1})
    """
    called = [int(name) if name.isdigit() else name for name in names]
    steps = [_step(called, step) for step in native.steps_of(grid, uniqueness)]
    return json.dumps(steps, separators=(",", ":"))


def _step(called: list[int | str], step_of_core: Any) -> dict[str, Any]:
    """Return one step in words; see ``core/rate/step.h``."""
    level, cells, digits, chains, filled, removed = step_of_core
    step: dict[str, Any] = {
        "technique": NAMES[level],
        "rating": float(RATINGS[level]),
        "cells": [_CELLS[cell] for cell in cells],
        "digits": [called[digit] for digit in digits],
    }
    if chains:
        step["chains"] = [
            [f"{_CELLS[cell]}{'=' if on else '!='}{called[digit]}" for (cell, digit), on in chain]
            for chain in chains
        ]
    if filled:
        step["fills"] = {_CELLS[cell]: called[digit] for cell, digit in filled}
    else:
        by_cell = groupby(removed, key=lambda pair: pair[0])
        step["removes"] = {
            _CELLS[cell]: [called[digit] for _, digit in group] for cell, group in by_cell
        }
    return step
