"""Augmentation: random images of puzzles and their solutions, from table to table.

Two passes over the blocks: the first counts the rows of each, so that the second knows the number
of every row, from which its random numbers come.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Unpack

import pyarrow as pa

from batchsolve.errors import counted
from batchsolve.runs.corpora import blocks_for
from batchsolve.runs.destinations import RowTable
from batchsolve.runs.progress import Progress, columns_taken
from batchsolve.runs.solve_file import FileRun, run_files
from batchsolve.search.in_order import in_two_passes
from batchsolve.search.rows import Read
from batchsolve.settings import (
    MOST_SEED,
    AugmentFields,
    AugmentFileFields,
    FileSettings,
    SearchSettings,
    settings_of,
    whole_number,
)
from batchsolve.tables.blocks import TASKS, Block, numbered
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.frames import arrow_table, images_like, without_views
from batchsolve.tables.images import SOURCE, ImageSums, ImageTable
from batchsolve.tables.in_place import Encoded
from batchsolve.tables.inputs import open_all
from batchsolve.tables.sources import TableSource
from batchsolve.workers.base import LOG
from batchsolve.workers.pool import Pool

MOST_IMAGES = 100_000
"""The upper bound of the images of a row."""


@dataclass
class AugmentSummary:
    """The result of `augment_file`: its ``--json`` line.

    Attributes
    ----------
    rows : int
        Rows of the input.
    images : int
        Rows of the output.
    short : int
        Rows that have fewer different images than were asked for; all of these are written.
    invalid : int
        Malformed rows; they have no images.
    first_invalid : str
        The first of them, and its fault.
    column, solution_column, rule_columns
        The columns of puzzles, of solutions that are moved with them, and of rules.
    unread_columns : list of str
        Other columns that hold grids, which are not moved.

    Examples
    --------
    >>> summary = AugmentSummary(rows=3, images=9, invalid=1, first_invalid="row 2: no grid")
    >>> print(summary)
    3 rows: 9 images, 1 invalid (row 2: no grid); 0.0 s, 0 rows/s
    """

    rows: int = 0
    images: int = 0
    short: int = 0
    invalid: int = 0
    first_invalid: str = ""
    seconds: float = 0.0
    rows_per_second: float = 0.0
    backend: str = "threading"
    jobs: int = 1
    column: str | None = ""
    solution_column: str | None = None
    rule_columns: list[str] = field(default_factory=list)
    unread_columns: list[str] = field(default_factory=list)
    in_bar: ClassVar[tuple[str, ...]] = ("images", "invalid")

    @property
    def complete(self) -> bool:
        """True if every row has images."""
        return not self.invalid

    @property
    def columns(self) -> str:
        """The columns of the input that were read, in words."""
        return columns_taken(self, "copied as they are")

    def __str__(self) -> str:
        parts = [counted(self.images, "image")]
        if self.short:
            parts.append(f"{counted(self.short, 'row')} with fewer, all of them written")
        if self.invalid:
            parts.append(f"{self.invalid:,} invalid ({self.first_invalid})")
        return (
            f"{counted(self.rows, 'row')}: {', '.join(parts)}; {self.seconds:.1f} s, "
            f"{self.rows_per_second:,.0f} rows/s"
        )


def augment(
    table: Any,
    n: int = 1,
    *,
    seed: int = 0,
    original: bool = False,
    **settings: Unpack[AugmentFields],
) -> Any:
    """Return a table with random images of each row: the same puzzle, written otherwise.

    Digits are relabelled; bands, rows within a band, stacks and columns within a stack permuted;
    and the grid is transposed if its boxes are square. Every image of a puzzle is equally likely,
    and none comes twice. A given solution is moved as its puzzle is. Grids with other rules are
    turned, reflected and relabelled as far as that keeps their rules.

    Parameters
    ----------
    table : pyarrow.Table, pandas or polars data frame, or anything with ``__arrow_c_stream__``
    n : int
        Images of each row. A row with fewer different ones has all of them.
    seed : int
        From 0 to 2¹²⁸ - 1. The images of row i depend on the seed, i and the row alone.
    original : bool
        Write each row itself before its images, which then differ from it, too.
    **settings
        ``jobs``, ``backend`` and ``address`` as in `solve_file`; and the settings of reading, whole
        as ``files``, or field by field: ``column``, ``solution_column``, ``alphabet``, ``blank``,
        ``box``, ``rules``, ``regions``, ``rule_columns``.

    Returns
    -------
    pandas.DataFrame, polars.DataFrame or pyarrow.Table
        A table of the same library, or else of Arrow, with the columns of `table` and then
        ``source_row``, the number of the source row, counted from 1. Malformed rows have no images;
        a warning is logged.

    Raises
    ------
    ProblemError
        If no symmetry but the identity keeps the rules of all rows.

    Examples
    --------
    >>> table = pa.table({"puzzle": ["1.....2..3.....4"], "id": ["a"]})
    >>> images = augment(table, 3, seed=7)
    >>> images["id"].to_pylist(), images["source_row"].to_pylist()
    (['a', 'a', 'a'], [1, 1, 1])
    >>> from batchsolve import canonical
    >>> {canonical(text) for text in images["puzzle"].to_pylist()}
    {'...1.2....3.4...'}
    """
    drawing = _drawing(n, seed, original)
    workers, how = settings_of(augment, settings, FileSettings)
    size = TASKS.divided_by(drawing["n"] + drawing["original"])
    sources = [TableSource(without_views(arrow_table(table)))]
    corpus = Corpus(sources, how, size=size)
    images, summary = ImageTable(corpus.reader, **drawing), AugmentSummary()
    parts = [images.schema.empty_table()]
    with Pool(**workers) as pool:
        made = _images_of_blocks(corpus.blocks(), pool, corpus.reader.read, images.rows, 1)
        for _, (part, sums) in made:
            parts.append(part)
            _add(summary, sums)
            summary.rows += sums.rows
    if summary.invalid:
        LOG.warning("%s without images: %s", counted(summary.invalid, "row"), summary.first_invalid)
    made = pa.concat_tables(parts)
    return images_like(made, table, made[SOURCE].to_numpy() - 1, images.places)


def augment_file(
    inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    n: int = 1,
    *,
    seed: int = 0,
    original: bool = False,
    on_progress: Callable[[Progress], None] | bool | None = None,
    **settings: Unpack[AugmentFileFields],
) -> AugmentSummary:
    r"""Write a table with random images of each row of a corpus; see `augment`.

    Parameters
    ----------
    inputs : str or path, or a sequence of them
        As in `solve_file`.
    output : str or path
        As in `solve_file`. It holds the columns of the input, then ``source_row``: the number of
        the source row, counted from 1 through all inputs. The same seed gives the same bytes for
        every number of workers, and after a resume.
    n : int
        As in `augment`.
    seed : int
        As in `augment`.
    original : bool
        As in `augment`.
    on_progress : callable or True, optional
        As in `solve_file`.
    **settings
        As in `augment`; and ``chunk``, ``filename``, ``stop_on_invalid`` and ``resume``.

    Returns
    -------
    AugmentSummary

    Raises
    ------
    InputError, OutputError, JournalError
        As in `solve_file`.
    ProblemError
        As in `augment`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "in.txt").write_text("1.....2..3.....4\n................\n")
    >>> summary = augment_file(folder / "in.txt", folder / "out.csv", 5, seed=1)
    >>> summary.rows, summary.images, summary.short  # all images of a blank grid are the same
    (2, 6, 1)
    """
    drawing = _drawing(n, seed, original)
    workers, files = settings_of(augment_file, settings, FileSettings)
    how = SearchSettings(), files, Pool(**workers)
    own = {**drawing, "seed": str(drawing["seed"])}
    return run_files(AugmentRun, inputs, output, *how, on_progress=on_progress, own=own)


def _drawing(n: int, seed: int, original: bool) -> dict[str, Any]:
    """Return the arguments of `ImageTable`, checked."""
    n = whole_number("the number of images", n, 1, MOST_IMAGES)
    seed = whole_number("a seed", seed, most=MOST_SEED)
    return {"n": n, "seed": seed, "original": bool(original)}


def _made(read: Read, make: Callable[[Any, int], Any], block: Block, first: int) -> Any:
    return make(read(block), first)


def _images_of_blocks(
    blocks: Iterator[Block], pool: Pool, read: Read, make: Callable[[Any, int], Any], first: int
) -> Generator[tuple[Block, Any]]:
    """Yield each block with what `make` returns of its rows and the number of the first."""

    def count(block: Block, n_rows: int) -> int:
        nonlocal first
        first += n_rows
        return first - n_rows

    yield from in_two_passes(blocks, pool, Block.n_rows, count, partial(_made, read, make))


def _add(summary: AugmentSummary, sums: ImageSums) -> None:
    """Add the sums of a block, whose rows are counted later."""
    summary.images += sums.images
    summary.short += sums.short
    summary.invalid += sums.invalid
    if sums.first_invalid and not summary.first_invalid:
        row, why = sums.first_invalid
        summary.first_invalid = f"row {summary.rows + row + 1}: {why}"


@dataclass
class AugmentRun(FileRun):
    """One run of `augment_file`; see `FileRun`."""

    totals: AugmentSummary = field(default_factory=AugmentSummary)
    kind: ClassVar[str] = "augment"

    def begun(self) -> tuple[Corpus, None]:
        """See `FileRun`."""
        return self.corpus(open_all(self.paths), self.own["n"] + self.own["original"]), None

    def table(self, corpus: Any, pool: Pool) -> ImageTable:
        """See `FileRun`."""
        how = {**self.own, "seed": int(self.own["seed"])}  # JSON has no integers as large
        return ImageTable(self.reader(corpus, pool), **how)

    def rows(
        self, corpus: Any, table: RowTable, choice: Any, write: Any, n_parts: int
    ) -> Generator[tuple[Block, Encoded]]:
        """See `FileRun`."""
        blocks = numbered(blocks_for(self.pool, corpus, self.begin, self.settings.chunk), n_parts)
        first = self.totals.rows + 1
        return _images_of_blocks(blocks, self.pool, table.reader.read, write, first)

    def add(self, sums: ImageSums) -> None:
        """See `FileRun`."""
        _add(self.totals, sums)
