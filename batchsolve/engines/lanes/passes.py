"""Propagation over many Sudoku grids at once, one grid a lane, emitted as vector code.

A vector holds the candidates of one cell in every grid: bit ``d`` is set while digit ``d`` is
possible. One pass deduces, for all grids at once,

* naked singles: the digit of a cell with one candidate goes from the other cells of its units;
* hidden singles: a digit with one place in a unit is the only candidate there;
* locked candidates: where a line's places for a digit lie in one box, it goes from the box's other
  lines, and where a box's places lie in one line, it goes from the line's other boxes;
* full segments: the cells in which a line meets a box are a *segment*; if there are as many
  candidates in a segment as it has cells, its line and its box have them there, and if its line
  and its box need as many digits there, it has no others.

Locked candidates depend on segments alone, too. The rows of a band, or the columns of a
stack, and their boxes are made of the same segments; such a *chute* is dealt with as a whole, so
that its vectors stay in registers. Columns are reviewed without the candidates that are locked out
in the rows.

All deductions are monotone (fewer candidates never allow fewer deductions), so passes lead to one
fixpoint, whatever they deduce first. Contradictions are found on the way or, at the latest, at
the fixpoint: there each digit of a unit has one place, in a cell that has no other candidate, or
several places, none in such a cell; anything else contradicts.

The code is written once for every shape of box. It has a loop over the bands and one over the
stacks: without them it would outgrow the processor's cache of instructions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import accumulate, product
from typing import Any

from batchsolve.engines.lanes.vectors import (
    Emitter,
    Place,
    Vector,
    VectorArray,
    forget,
    once_and_twice,
    repeat,
    single_of,
)


def _any(vectors: list[Vector]) -> Vector:
    return reduce(Vector.__or__, vectors)


def _any_other(vectors: list[Vector]) -> list[Vector]:
    """Return for every vector the bits that one or more of the others have."""
    none = vectors[0] & 0
    before = list(accumulate([none, *vectors[:-1]], Vector.__or__))
    behind = list(accumulate([none, *vectors[:0:-1]], Vector.__or__))
    return [a | b for a, b in zip(before, reversed(behind), strict=True)]


# The findings of a pass in all units: digits without a place; digits that are the only candidate of
# one cell and possible in another; digits with one place, in a cell with other candidates; digits
# with several places; candidates taken away.
MISSING, CLASH, LONE, OPEN, CHANGED = range(5)


class _Chute:
    """Lines that pass through as many boxes: the rows of a band, or the columns of a stack.

    Parameters
    ----------
    n, length : int
        Number of lines, and of cells in which one of them meets a box.
    segments : iterable of (tuple of (int, int), list of Vector)
        Line and box, and the cells where the two meet. They are asked for one by one, so that few
        vectors are in use at a time.
    gathered : VectorArray
        The findings in all units, named above.
    """

    def __init__(
        self,
        n: int,
        length: int,
        segments: Iterable[tuple[tuple[int, int], list[Vector]]],
        gathered: VectorArray,
    ) -> None:
        self._length, self._gathered = length, gathered
        self._once: dict[tuple[int, int], Vector] = {}
        self._twice: dict[tuple[int, int], Vector] = {}
        for s, cells in segments:
            self._once[s], self._twice[s] = once_and_twice(cells)
        self.lines = [[(line, box) for box in range(n)] for line in range(n)]
        self.boxes = [[(line, box) for line in range(n)] for box in range(n)]

    def review(self, unit: list[tuple[int, int]], naked: Vector) -> Vector:
        """Look at a unit with these naked singles; return the digits with several places."""
        once, in_two = once_and_twice([self._once[s] for s in unit])
        several = _any([in_two, *(self._twice[s] for s in unit)])
        self._gathered[MISSING] |= ~once
        self._gathered[CLASH] |= naked & several
        self._gathered[LONE] |= ~(naked | several)
        return several

    def locked_out(self) -> dict[tuple[int, int], Vector]:
        """Return for every segment the digits that are needed elsewhere, all units reviewed."""
        units = [*self.lines, *self.boxes]
        needed = {s: once & 0 for s, once in self._once.items()}
        for unit in units:
            _, in_two = once_and_twice([self._once[s] for s in unit])
            for s in unit:
                needed[s] |= self._once[s] & ~in_two
        must, out = {}, {}
        for s, once in self._once.items():
            is_full = once.popcount().equals(self._length)
            must[s] = is_full.select(once, needed[s])
            is_taken = needed[s].popcount().equals(self._length)
            out[s] = is_taken.select(~needed[s], once & 0)
        for unit in units:
            for s, others in zip(unit, _any_other([must[s] for s in unit]), strict=True):
                out[s] |= others
        return out


class _BoxEmitter(Emitter):
    """An emitter for one shape of box, of `rows` and `columns`."""

    def __init__(
        self, builder: Any, grid: VectorArray, other: Any, rows: int, columns: int
    ) -> None:
        super().__init__(builder, grid, other)
        self.rows, self.columns, self.n = rows, columns, rows * columns

    def segments_of_band(self, band: Place) -> Iterator[tuple[int, int, list[tuple[int, Place]]]]:
        """Yield row and box within a band, and the columns and the cells where they meet."""
        for i, k in product(range(self.rows), range(self.rows)):
            columns = range(k * self.columns, (k + 1) * self.columns)
            yield i, k, [(x, band * (self.rows * self.n) + (i * self.n + x)) for x in columns]


class BoxPass(_BoxEmitter):
    """A pass of propagation."""

    def emit(self) -> list[Any]:
        """Write the pass; return bits for the lanes that contradict, stay the same, are solved."""
        self.row, self.column, self.box = self.array(self.n), self.zeros(self.n), self.array(self.n)
        # by segment of a row: digits locked out, and digits with several places in row and box
        self.out, self.not_single = (self.array(self.n * self.rows) for _ in range(2))
        self.gathered = self.zeros(5)
        repeat(self.builder, self.columns, self._find_naked_singles)
        repeat(self.builder, self.columns, self._review_band)
        repeat(self.builder, self.rows, self._review_stack)
        all_digits = (1 << self.n) - 1
        bad = ~((self.gathered[MISSING] & all_digits) | self.gathered[CLASH]).equals(0)
        same = self.gathered[CHANGED].equals(0)
        bad |= same & ~(self.gathered[LONE] & all_digits).equals(0)
        solved = self.gathered[OPEN].equals(0) & ~bad
        return [bad.bits(), (same & ~bad & ~solved).bits(), solved.bits()]

    def _find_naked_singles(self, band: Place) -> None:
        none = self.none
        row, box = [none] * self.rows, [none] * self.rows
        for i, k, cells in self.segments_of_band(band):
            naked = [single_of(self.grid[cell]) for _, cell in cells]
            for (x, _), digit in zip(cells, naked, strict=True):
                self.column[x] |= digit
            row[i] |= (both := _any(naked))
            box[k] |= both
        for i in range(self.rows):
            self.row[band * self.rows + i], self.box[band * self.rows + i] = row[i], box[i]

    def _left_in_band(self, band: Place) -> Iterator[tuple[tuple[int, int], list[Vector]]]:
        """Yield line, box and cells of a band, without the digits of naked singles."""
        for i, k, cells in self.segments_of_band(band):
            taken = self.row[band * self.rows + i] | self.box[band * self.rows + k]
            segment = []
            for x, cell in cells:
                here = self.grid[cell]
                left = here & ~(taken | self.column[x])
                # Nothing is left in naked singles, and in cells that contradict them.
                left = left.equals(0).select(here, left)
                self.gathered[CHANGED] |= here & ~left
                self.grid[cell] = left
                segment.append(left)
            yield (i, k), segment

    def _review_band(self, band: Place) -> None:
        chute = _Chute(self.rows, self.columns, self._left_in_band(band), self.gathered)
        first = band * self.rows
        in_row = [chute.review(u, self.row[first + i]) for i, u in enumerate(chute.lines)]
        in_box = [chute.review(u, self.box[first + k]) for k, u in enumerate(chute.boxes)]
        self.gathered[OPEN] |= _any(in_row)
        for (i, k), out in chute.locked_out().items():
            segment = band * self.rows**2 + (i * self.rows + k)
            self.out[segment] = out
            self.not_single[segment] = in_row[i] & in_box[k]

    def _review_stack(self, stack: Place) -> None:
        def cell(y: int, i: int) -> Place:
            return stack * self.columns + (y * self.n + i)

        def segment(y: int) -> Place:
            return stack + y * self.rows

        lines = boxes = range(self.columns)
        rows_of_box = [range(k * self.rows, (k + 1) * self.rows) for k in boxes]
        left_in_stack = (
            ((i, k), [self.grid[cell(y, i)] & ~self.out[segment(y)] for y in rows_of_box[k]])
            for i, k in product(lines, boxes)
        )
        chute = _Chute(self.columns, self.rows, left_in_stack, self.gathered)
        first = stack * self.columns
        in_column = [chute.review(u, self.column[first + i]) for i, u in enumerate(chute.lines)]
        column_out = chute.locked_out()
        forget(self.builder)
        for i, k in product(lines, boxes):
            for y in rows_of_box[k]:
                here = self.grid[cell(y, i)]
                left = here & ~(self.out[segment(y)] | column_out[i, k])
                hidden = left & ~(self.not_single[segment(y)] & in_column[i])
                left = hidden.equals(0).select(left, hidden)
                self.gathered[CHANGED] |= here & ~left
                self.grid[cell(y, i)] = left


class BoxChoice(_BoxEmitter):
    """The choice of the branch cell of every grid.

    It is a cell with the fewest candidates, two or more. Of those, it is one whose candidates count
    most: a candidate counts once for its row and once for its column, if two or more pairs (cells
    with two candidates) there have it, and once for its box, if it has three or more places there.
    Ties go to the first.

    The largest rank wins. From the highest bit down it holds n less the number of candidates, their
    counts, and the number of columns that follow.
    """

    def emit(self) -> Any:
        """Write the choice; return bits for the lanes where a cell has no candidate.

        The branch cells go to the first vector of the other array.
        """
        self.pairs_in_row, self.places_in_box = self.array(self.n), self.array(self.n)
        self.in_a_pair, self.in_two_pairs = self.zeros(self.n), self.zeros(self.n)
        repeat(self.builder, self.columns, self._count)
        # the largest rank, the first cell of its row, and the first cell of the row at hand
        self.best, self.smallest = self.zeros(3), self.array(1)
        self.smallest[0] = self.grid[0]
        repeat(self.builder, self.columns, self._rank)
        self.other[0] = self.best[1] + (self.n - 1) - (self.best[0] & (self.column_unit - 1))
        return self.smallest[0].equals(0).bits()

    @property
    def column_unit(self) -> int:
        """The factor of the counts of candidates in a rank."""
        return int(2 ** (self.n - 1).bit_length())

    def _count(self, band: Place) -> None:
        none = self.none
        in_a_pair, in_two_pairs = [none] * self.rows, [none] * self.rows
        in_box = [[none] * 3 for _ in range(self.rows)]  # in one cell or more, in two, in three
        for i, k, cells in self.segments_of_band(band):
            for x, cell in cells:
                here = self.grid[cell]
                pair = here.popcount().equals(2).select(here, none)
                in_two_pairs[i] |= in_a_pair[i] & pair
                in_a_pair[i] |= pair
                self.in_two_pairs[x] |= self.in_a_pair[x] & pair
                self.in_a_pair[x] |= pair
                one, two, three = in_box[k]
                in_box[k] = [one | here, two | (one & here), three | (two & here)]
        for i in range(self.rows):
            self.pairs_in_row[band * self.rows + i] = in_two_pairs[i]
            self.places_in_box[band * self.rows + i] = in_box[i][2]

    def _rank(self, band: Place) -> None:
        none = self.none
        size_unit = 2 ** (self.grid.kind.element.width - self.n.bit_length())
        largest = [none] * self.rows
        for i, k, cells in self.segments_of_band(band):
            around = [
                self.pairs_in_row[band * self.rows + i],
                self.places_in_box[band * self.rows + k],
            ]
            for x, cell in cells:
                here = self.grid[cell]
                self.smallest[0] = self.smallest[0].smallest(here)
                counts = [(here & those).popcount() for those in (*around, self.in_two_pairs[x])]
                rank = reduce(Vector.__add__, counts) * self.column_unit
                rank = rank + (size_unit + self.n - 1 - x) - here.popcount() * size_unit
                largest[i] = largest[i].largest(rank)
        for rank in largest:
            is_better = rank > self.best[0]
            self.best[0] = is_better.select(rank, self.best[0])
            self.best[1] = is_better.select(self.best[2], self.best[1])
            self.best[2] += none + self.n
