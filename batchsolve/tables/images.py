"""The output table of augmented puzzles: the input columns of their images."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from batchsolve.arrays import Bools
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.variants import Variants
from batchsolve.symmetry.images import Images, check_symmetric, group_of, images_of
from batchsolve.tables.answers import grid_column, grid_type, with_new_columns
from batchsolve.tables.layouts import JSON_TEXT
from batchsolve.tables.reader import Batch, Reader
from batchsolve.tables.shapes import Grids

SOURCE = "source_row"
"""The column of the numbers of source rows."""

NO_SOLUTION = "the given solution is not a grid of the puzzle's size"


class ImageSums(NamedTuple):
    """The sums of some consecutive rows of an input.

    Attributes
    ----------
    rows : int
    images : int
        Images drawn, with the puzzles themselves if those are written.
    short : int
        Valid rows that have fewer different images than were asked for.
    invalid : int
        Malformed rows, which have no images.
    first_invalid : (int, str) or None
        The first of these, counted from 0, and its fault.
    """

    rows: int
    images: int
    short: int
    invalid: int
    first_invalid: tuple[int, str] | None


class ImageTable:
    """The output table: the input columns of each image, then `SOURCE`.

    Parameters
    ----------
    reader : Reader
    n : int
        Images of each row.
    seed : int
    original : bool
        Write each row itself before its images.

    Attributes
    ----------
    reader : Reader
    schema : pyarrow.Schema
    places : list of int
        The places of the columns of puzzles and of solutions, which are drawn.

    Raises
    ------
    ProblemError
        If all rows have rules that no symmetry keeps.
    """

    def __init__(self, reader: Reader, n: int, seed: int, original: bool) -> None:
        if not reader.main.rules.names:
            check_symmetric(reader.main.problem)
        self.reader, self._n, self._seed, self._original = reader, n, seed, original
        self.places = [reader.schema.names.index(reader.column)]
        if reader.solution_column is not None:
            self.places.append(reader.schema.names.index(reader.solution_column))
        schema = reader.schema
        for place in self.places:
            field = schema.field(place)
            kind = grid_type(field.type, reader.main.notation.n_digits)
            if field.metadata == JSON_TEXT:  # images are grids
                field = field.remove_metadata()
            schema = schema.set(place, field.with_type(kind))
        self.schema = with_new_columns(schema, [(SOURCE, pa.int64())])

    def rows(self, batch: Batch, first: int) -> tuple[pa.Table, ImageSums]:
        """Return the images of the rows of a batch, and their sums.

        Parameters
        ----------
        batch : Batch
        first : int
            The number of its first row, counted from 1.
        """
        faults = batch.faults | _faults_of_solutions(batch)
        good = np.ones(len(batch), np.bool_)
        good[list(faults)] = False
        drawn = [self._images(grids, first, good) for grids in batch.grids]
        sources = np.concatenate([images.sources for images in drawn])
        columns = [self._columns(*each) for each in zip(batch.grids, drawn, strict=True)]
        grids = [pa.concat_arrays(parts) for parts in zip(*columns, strict=True)]
        if len(drawn) > 1:
            order = np.argsort(sources, kind="stable")
            sources, grids = sources[order], [column.take(pa.array(order)) for column in grids]
        given = batch.table.select(
            [k for k in range(batch.table.num_columns) if k not in self.places]
        )
        each = given.take(pa.array(sources)).columns
        for place, column in sorted(zip(self.places, grids, strict=True), key=lambda one: one[0]):
            each.insert(place, column)
        table = pa.Table.from_arrays([*each, pa.array(first + sources)], schema=self.schema)
        counts = np.bincount(sources, minlength=len(batch))
        short = np.count_nonzero(counts[good] < self._n + self._original)
        named = min(faults.items(), default=None)
        return table, ImageSums(len(batch), len(sources), int(short), len(faults), named)

    def _images(self, grids: Grids, first: int, good: Bools) -> Images:
        """Return the images of the good rows of a shape; the sources are rows of the block."""
        how, found = (self._n, self._seed), []
        solved = grids.puzzles[:, :0] if grids.given is None else grids.given
        for problem, rows in one_by_one(grids):
            some = rows[good[rows]]
            places = grids.places(some)
            pairs = grids.puzzles[places], solved[places]
            images = images_of(group_of(problem), *pairs, first + some, *how, self._original)
            found.append(images._replace(sources=some[images.sources]))
        if len(found) == 1:
            return found[0]
        found.append(Images(np.empty(0, np.int64), grids.puzzles[:0], solved[:0]))
        sources, drawn, moved = map(np.concatenate, zip(*found, strict=True))
        order = np.argsort(sources, kind="stable")
        return Images(sources[order], drawn[order], moved[order])

    def _columns(self, grids: Grids, images: Images) -> list[pa.Array]:
        """Return the columns of puzzles and solutions of images, in the form of the input."""
        shape, every = grids.shape, np.ones(len(images.sources), np.bool_)
        n = shape.notation.n_digits
        kinds = [grid_type(self.schema.field(place).type, n) for place in self.places]
        columns = [grid_column(kinds[0], shape.notation, images.puzzles, every)]
        if grids.has_given is not None:
            has = grids.has_given[grids.places(images.sources)]
            columns.append(
                grid_column(kinds[1], shape.solution_notation, images.solutions[has], has)
            )
        return columns


def _faults_of_solutions(batch: Batch) -> dict[int, str]:
    """Return the faults of rows whose given solution cannot be moved."""
    faults: dict[int, str] = {}
    for grids in batch.grids:
        if grids.given is not None and grids.has_given is not None:
            wrong = grids.rows[grids.has_given & ~grids.given.any(axis=1)]
            faults |= dict.fromkeys(wrong.tolist(), NO_SOLUTION)
    return faults


def one_by_one(grids: Grids) -> Iterator[tuple[GridProblem, Any]]:
    """Yield the problems of rows that have rules of their own, and the rows."""
    for problem, rows in grids.parts:
        if isinstance(problem, Variants):
            yield from ((problem.of_row(row), np.array([row])) for row in rows.tolist())
        else:
            yield problem, rows
