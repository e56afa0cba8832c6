"""Ratings of puzzles, from table to table: workers solve each row, and rate it if it is unique."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Unpack

from batchsolve.engines.choice import Choice
from batchsolve.rating.techniques import NAMES
from batchsolve.runs.in_memory import GridRows
from batchsolve.runs.progress import Progress, Summary
from batchsolve.runs.solve import answered_table
from batchsolve.runs.solve_file import FileRun, run_files
from batchsolve.settings import (
    AUTO,
    PROVES_UNIQUENESS,
    FileSettings,
    GridFields,
    RateFileFields,
    SearchSettings,
    settings_of,
)
from batchsolve.tables.answers import RowSums
from batchsolve.tables.blocks import TASKS
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.frames import arrow_table, with_columns_of
from batchsolve.tables.inputs import open_all
from batchsolve.tables.rated import RatedTable
from batchsolve.tables.sources import TableSource
from batchsolve.workers.pool import Pool

SHARE = 16  # of a usual block, because rating a row takes some 16 times as long as solving it


@dataclass
class RateSummary(Summary):
    """The result of `rate_file`; see `Summary`.

    Attributes
    ----------
    techniques : dict of str to int
        The rows whose hardest technique each is, the easiest first.

    Examples
    --------
    >>> summary = RateSummary(rows=3, unique=3, techniques={"x-wing": 2, "guess": 1})
    >>> print(summary.hardest)
    hardest techniques: 2 x-wing, 1 guess
    """

    techniques: dict[str, int] = field(default_factory=dict)

    @property
    def hardest(self) -> str:
        """The rows of each hardest technique, in words."""
        counts = ", ".join(f"{n:,} {name}" for name, n in self.techniques.items() if n)
        return f"hardest techniques: {counts or 'none'}"


def rate(
    table: Any,
    *,
    backdoor: bool = False,
    steps: bool = False,
    uniqueness: bool = False,
    **settings: Unpack[GridFields],
) -> Any:
    """Return a table of 9×9 puzzles with their ratings.

    Each puzzle is solved first. Those with one solution are rated; others have their status alone.

    Parameters
    ----------
    table : pyarrow.Table, pandas or polars data frame, or anything with ``__arrow_c_stream__``
    backdoor : bool
        Add a column ``backdoor``: the least number of cells to fill so that singles solve the rest,
        null if that is more than 3.
    steps : bool
        Add a column ``steps``: the steps that solve the puzzle, as JSON.
    uniqueness : bool
        Use patterns that assume a unique solution, too: unique rectangles and loops, and BUG.
    **settings
        ``jobs``, ``backend`` and ``address`` as in `solve_file`; and the settings of reading, whole
        as ``files``, or field by field: ``column``, ``alphabet``, ``blank``, ``box``,
        ``rule_columns``.

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
        If no puzzle is a 9×9 grid of rows, columns and boxes. Where sizes differ, those of other
        grids have no ratings.

    Notes
    -----
    The ladder is that of Sudoku Explainer 1.2.1, up to static chains, and by default without
    techniques that assume a unique solution: see `batchsolve.rating.techniques`. Backtracks are the
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
    workers, how = settings_of(rate, settings, FileSettings)
    corpus = Corpus([TableSource(arrow_table(table))], how, size=TASKS.divided_by(SHARE))
    rated = RatedTable(corpus.reader, bool(backdoor), bool(steps), bool(uniqueness))
    with Pool(**workers) as pool:
        rows = GridRows(corpus.problem, corpus.notation, corpus.blocks(), corpus.reader.read)
        search = SearchSettings(limit=PROVES_UNIQUENESS)
        return with_columns_of(answered_table(rows, rated, search, pool), table)


def rate_file(
    inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    backdoor: bool = False,
    steps: bool = False,
    uniqueness: bool = False,
    on_progress: Callable[[Progress], None] | bool | None = None,
    **settings: Unpack[RateFileFields],
) -> RateSummary:
    r"""Rate a corpus of 9×9 puzzles from table to table; see `rate`.

    Parameters
    ----------
    inputs : str or path, or a sequence of them
        As in `solve_file`.
    output : str or path
        As in `solve_file`; a table, with the columns of `rate`.
    backdoor : bool
        As in `rate`.
    steps : bool
        As in `rate`.
    uniqueness : bool
        As in `rate`.
    on_progress : callable or True, optional
        As in `solve_file`.
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
    workers, files = settings_of(rate_file, settings, FileSettings)
    how = SearchSettings(limit=PROVES_UNIQUENESS), files, Pool(**workers)
    own = {"backdoor": bool(backdoor), "steps": bool(steps), "uniqueness": bool(uniqueness)}
    return run_files(RateRun, inputs, output, *how, on_progress=on_progress, own=own)


@dataclass
class RateRun(FileRun):
    """One run of `rate_file`; see `FileRun`."""

    totals: RateSummary = field(default_factory=RateSummary)
    kind: ClassVar[str] = "rate"

    def begun(self) -> tuple[Corpus, Choice]:
        """See `FileRun`."""
        corpus = self.corpus(open_all(self.paths), SHARE)
        return corpus, Choice.for_grids(AUTO, corpus.problem, PROVES_UNIQUENESS)

    def table(self, corpus: Any, pool: Pool) -> RatedTable:
        """See `FileRun`."""
        return RatedTable(self.reader(corpus, pool), **self.own)

    def add(self, sums: RowSums) -> None:
        """See `FileRun`."""
        super().add(sums)
        counts = self.totals.techniques
        assert sums.levels is not None
        for name, n in zip(NAMES, sums.levels.tolist(), strict=True):
            counts[name] = counts.get(name, 0) + n
