"""Augmentation: random images of puzzles and their solutions, from table to table.

Two passes over the blocks: the first counts the rows of each, so that the second knows the number
of every row, from which its random numbers come.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Unpack, overload

import numpy as np
import pyarrow as pa

from batchsolve.core.arrays import Bools, Ints
from batchsolve.errors import counted
from batchsolve.problems.grid_symmetries import Images, check_symmetric, group_of, images_of
from batchsolve.runs.outputs import Output
from batchsolve.runs.progress import Sums
from batchsolve.runs.specs import Spec, run_files, table_of
from batchsolve.settings import FileSettings, ImageSettings
from batchsolve.settings.arguments import FileName, FileNames, whole_number
from batchsolve.settings.keywords import AugmentFields, AugmentFileFields, settings_of
from batchsolve.tables.answers import Found, RowSums, RowTable, grid_column, grid_type
from batchsolve.tables.columns import JSON_TEXT, as_text, is_text, pencil_marks, without_views
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.frames import Frame, arrow_table, with_columns_of
from batchsolve.tables.reader import Batch, Grids, Reader
from batchsolve.tables.rule_columns import MARKS
from batchsolve.tables.sources import Block, TableSource
from batchsolve.workers import LOG

MOST_IMAGES = 100_000
"""The upper bound of the images of a row."""

SOURCE = "source_row"
"""The column of the numbers of source rows."""

NO_SOLUTION = "the given solution is not a grid of the puzzle's size"


@dataclass(repr=False)
class AugmentSummary(Sums):
    """The result of `augment_file`; see `Sums`. Invalid rows have no images.

    Attributes
    ----------
    images : int
        Rows of the output.
    short : int
        Rows that have fewer different images than were asked for; all of these are written.
    unmoved : int
        Rows whose rules no symmetry but the identity keeps: each is its only image.
    first_invalid : str
        The first malformed row, and its fault.
    seed : int
        The seed of the random numbers, given or drawn.

    Examples
    --------
    >>> summary = AugmentSummary(rows=3, images=9, invalid=1, first_invalid="row 2: no grid")
    >>> print(summary)
    3 rows: 9 images, 1 invalid (row 2: no grid), seed 0; 0.0 s, 0 rows/s
    """

    images: int = 0
    short: int = 0
    unmoved: int = 0
    first_invalid: str = ""
    seed: int = 0
    in_bar: ClassVar[tuple[str, ...]] = ("images", "invalid")
    unread: ClassVar[str] = "copied as they are"

    def add(self, sums: RowSums) -> None:
        """See `Sums`."""
        if sums.first_invalid and not self.first_invalid:
            row, fault = sums.first_invalid
            self.first_invalid = f"row {self.rows + row + 1}: {fault}"
        super().add(sums)

    def __str__(self) -> str:
        parts = [counted(self.images, "image")]
        if self.short:
            parts.append(f"{counted(self.short, 'row')} with fewer, all of them written")
        if self.unmoved:
            parts.append(f"{counted(self.unmoved, 'row')} whose rules no symmetry keeps")
        if self.invalid:
            parts.append(f"{self.invalid:,} invalid ({self.first_invalid})")
        return self.said([*parts, f"seed {self.seed}"])


@overload
def augment(table: Frame, n: int = 1, **settings: Unpack[AugmentFields]) -> Frame: ...


@overload
def augment(table: Any, n: int = 1, **settings: Unpack[AugmentFields]) -> pa.Table: ...


def augment(table: Any, n: int = 1, **settings: Unpack[AugmentFields]) -> Any:
    """Return a table with random images of each row: the same puzzle, written otherwise.

    Digits are relabelled; bands, rows within a band, stacks and columns within a stack permuted;
    and the grid is transposed if its boxes are square. Every image of a puzzle is equally likely,
    and none comes twice. A given solution is moved as its puzzle is. Grids with other rules are
    turned, reflected and relabelled as far as that keeps their rules; a row whose own rules no
    symmetry keeps is its only image.

    Parameters
    ----------
    table : pyarrow.Table, pandas or polars data frame, or anything with ``__arrow_c_stream__``
    n : int
        Images of each row. A row with fewer different ones has all of them.
    on_progress : callable or True, optional
        See `Progress`.
    **settings
        ``seed``, from 0 to 2¹²⁸ - 1: the images of row i depend on the seed, i and the row alone;
        by default each call draws a new one, and logs it. ``original=True`` writes each row itself
        before its images, which then differ from it, too.
        ``jobs``, ``backend`` and ``address`` as in `solve_file`; and the settings of reading, whole
        as ``files``, or field by field: ``column``, ``solution_column``, ``alphabet``, ``blank``,
        ``box``, ``rules``, ``regions``, ``rule_columns``.

    Returns
    -------
    pandas.DataFrame, polars.DataFrame or pyarrow.Table
        A table of the same library, or else of Arrow, with the columns of `table` and then
        ``source_row``, the number of the source row, counted from 1. Invalid rows have no images;
        a warning is logged, and another if no symmetry keeps the rules of some rows.

    Raises
    ------
    ProblemError
        If all rows have the same rules, and no symmetry but the identity keeps them.

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
    n = whole_number("the number of images", n, 1, MOST_IMAGES)
    settings = {"seed": None, **settings}
    pool_settings, wanted, files = settings_of(augment, settings, ImageSettings, FileSettings)
    spec = _augmenting(n, wanted, files, [TableSource(without_views(arrow_table(table)))], Output())
    images = table_of(spec, pool_settings)
    if spec.totals.invalid:
        without = counted(spec.totals.invalid, "row")
        LOG.warning("%s without images: %s", without, spec.totals.first_invalid)
    if spec.totals.unmoved:
        alone = counted(spec.totals.unmoved, "row")
        LOG.warning("%s whose rules no symmetry keeps: each is its only image", alone)
    return with_columns_of(images, table, images[SOURCE].to_numpy() - 1, places_of(spec.reader))


def augment_file(
    inputs: FileNames, output: FileName, n: int = 1, **settings: Unpack[AugmentFileFields]
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
    on_progress : callable or True, optional
        See `Progress`.
    **settings
        As in `augment`; but by default ``seed`` is 0, so that the file can be made again. And
        ``chunk``, ``filename``, ``stop_on_invalid`` and ``resume``.

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
    n = whole_number("the number of images", n, 1, MOST_IMAGES)
    pool_settings, wanted, files = settings_of(augment_file, settings, ImageSettings, FileSettings)
    spec = partial(_augmenting, n, wanted, files)
    return run_files(spec, inputs, output, files, pool_settings)


def _augmenting(
    n: int, wanted: ImageSettings, files: FileSettings, inputs: list[Any], output: Output
) -> Spec:
    """Return the specification of *augment*."""
    corpus = Corpus(inputs, files, size=output.block_size.divided_by(n + wanted.original))
    # JSON has no integers as large as seeds
    same = {"n": n, "seed": str(wanted.seed), "original": wanted.original}
    table = partial(_image_table, n, wanted)
    totals = AugmentSummary(seed=wanted.seed)
    return Spec("augment", corpus, corpus.reader, table, totals, same, decide=_number_of_first)


def _number_of_first(n_before: int, block: Block, n_rows: int) -> int:
    """Return the number of the first row of a block, counted from 1."""
    return n_before + 1


def _image_table(n: int, wanted: ImageSettings, reader: Reader) -> RowTable:
    """Return the output table of images: the input columns of each, then `SOURCE`.

    Raises
    ------
    ProblemError
        If all rows have the same rules, which no symmetry keeps.
    """
    if not reader.main.rules.names:
        check_symmetric(reader.main.problem)
    schema = reader.schema
    for place in places_of(reader):
        field = schema.field(place)
        kind = grid_type(field.type, reader.main.notation.n_digits)
        if field.metadata == JSON_TEXT:  # images are grids
            field = field.remove_metadata()
        schema = schema.set(place, field.with_type(kind))
    find = partial(_drawn, schema, places_of(reader), n, wanted)
    return RowTable(schema, pa.schema({SOURCE: pa.int64()}), find)


def places_of(reader: Reader) -> list[int]:
    """Return the places of the columns of puzzles and of solutions, which are drawn."""
    columns = reader.column, reader.solution_column
    return [reader.schema.names.index(name) for name in columns if name is not None]


def _drawn(
    schema: pa.Schema, places: list[int], n: int, wanted: ImageSettings, batch: Batch, first: int
) -> Found:
    """Return the images of the rows of a batch.

    Parameters
    ----------
    schema : pyarrow.Schema
        The input columns, as they are written.
    places : list of int
        See `places_of`.
    n, wanted
        As in `augment`.
    batch : Batch
    first : int
        The number of its first row, counted from 1.
    """
    faults = batch.invalid_rows() | _faults_of_solutions(batch)
    good = np.ones(len(batch), np.bool_)
    good[list(faults)] = False
    draw = partial(images_of, n=n, seed=wanted.seed, original=wanted.original)
    drawn, n_unmoved = zip(*(_images(draw, part, good, first) for part in batch.grids), strict=True)
    sources = np.concatenate([sources for sources, _, _ in drawn])
    kinds = [schema.field(place).type for place in places]
    parts = [_columns(kinds, *pair) for pair in zip(batch.grids, drawn, strict=True)]
    grids = [pa.concat_arrays(chunks) for chunks in zip(*parts, strict=True)]
    if (np.diff(sources) < 0).any():  # of several shapes, or of rows with other rules
        order = np.argsort(sources, kind="stable")
        sources, grids = sources[order], [column.take(pa.array(order)) for column in grids]
    if any(MARKS in part.own for part in batch.grids):
        grids[0] = _with_marks(batch.table, schema.names[places[0]], sources, grids[0])
    others = [k for k in range(batch.table.num_columns) if k not in places]
    columns = batch.table.select(others).take(pa.array(sources)).columns
    for place, column in sorted(zip(places, grids, strict=True), key=lambda pair: pair[0]):
        columns.insert(place, column)
    counts = np.bincount(sources, minlength=len(batch))
    short = np.count_nonzero(counts[good] < n + wanted.original)
    sums = {"rows": len(batch), "images": len(sources), "short": int(short)}
    sums |= {"unmoved": sum(n_unmoved), "invalid": len(faults)}
    table = pa.Table.from_arrays(columns, schema=schema)
    first_invalid = min(faults.items(), default=None)
    return table, RowSums(sums, first_invalid), {SOURCE: pa.array(first + sources)}


def _images(
    draw: Callable[..., Images], grids: Grids, good: Bools, first: int
) -> tuple[Images, int]:
    """Return the images of the good rows of a shape, and the number of rows that do not move.

    The sources are rows of the block, in ascending order only if all rows have the same rules.
    """
    parts: list[Images] = [(np.empty(0, np.int64), grids.puzzles[:0], grids.given[:0])]
    n_unmoved = 0
    for problem, rows in grids.one_by_one():
        good_rows, group = rows[good[rows]], group_of(problem)
        n_unmoved += len(good_rows) * group.is_trivial
        places = grids.places(good_rows)
        digits = grids.puzzles[places], grids.given[places]
        sources, puzzles, solutions = draw(group, *digits, first + good_rows)
        parts.append((good_rows[sources], puzzles, solutions))
    sources, puzzles, solutions = map(np.concatenate, zip(*parts, strict=True))
    return (sources, puzzles, solutions), n_unmoved


def _columns(kinds: list[pa.DataType], grids: Grids, images: Images) -> list[pa.Array]:
    """Return the columns of puzzles and solutions of images, in the form of the input."""
    sources, puzzles, solutions = images
    shape, every = grids.shape, np.ones(len(sources), np.bool_)
    kinds = [grid_type(kind, shape.notation.n_digits) for kind in kinds]
    columns = [grid_column(kinds[0], shape.notation, puzzles, every)]
    if len(kinds) > 1:
        has = grids.has_given[grids.places(sources)]
        columns.append(grid_column(kinds[1], shape.solution_notation, solutions[has], has))
    return columns


def _with_marks(table: pa.Table, name: str, sources: Ints, images: pa.Array) -> pa.Array:
    """Return puzzles of images, in which grids of pencil marks are as they were read.

    A symmetry that keeps the marks keeps the clues among them, so those grids have no other image.
    """
    texts, kind = as_text(table, name), images.type
    marked = np.isin(sources, list(pencil_marks(texts)))
    as_read = texts.cast(kind) if is_text(kind) else table[name].combine_chunks()
    places = np.where(marked, len(images) + sources, np.arange(len(images)))
    return pa.concat_arrays([images, as_read]).take(pa.array(places))


def _faults_of_solutions(batch: Batch) -> dict[int, str]:
    """Return the faults of rows whose given solution cannot be moved."""
    faults: dict[int, str] = {}
    for grids in batch.grids:
        wrong = grids.rows[grids.has_given & ~grids.given.any(axis=1)]
        faults |= dict.fromkeys(wrong.tolist(), NO_SOLUTION)
    return faults
