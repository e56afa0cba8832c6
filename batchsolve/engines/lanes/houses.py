"""Propagation over many grids with the same rules, one grid a lane, emitted as vector code.

A vector holds the candidates of one cell in every grid, as in `passes`. There the code knows how
rows, columns and boxes meet; here the rules are data, read where the code runs, so that one
compiled search serves jigsaws, diagonals, overlapping grids and whatever else is made of houses and
pairs of cells. The rules of single rows, such as cages, are in `rows`. A pass deduces, one after
another,

* in every house, naked and hidden singles;
* locked candidates: where the places for a digit in one house all lie in another one, the digit
  goes from the rest of that;
* in cells that differ, naked singles; in related cells, the digits that no digit of the other cell
  allows.

All deductions are monotone, so passes lead to one fixpoint, whatever they deduce first. There, a
contradiction shows as a cell without candidates, a digit without a place in a house, a digit alone
in two cells of a house, or two digits whose only place in a house is one cell; and if every cell
has one candidate and nothing changes, the grid is solved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

from batchsolve.engines.intrinsics import pointer_to
from batchsolve.engines.lanes.vectors import (
    Emitter,
    Place,
    Vector,
    VectorArray,
    once_and_twice,
    single_of,
)
from batchsolve.kernel_files import CHECKS_BOUNDS

_INDEX = ir.IntType(64)


class FormData:
    """The fields of a `Form`, as code under construction reads them.

    Parameters
    ----------
    context, builder
        Those of the code.
    kinds, values
        Numba's types of the two parts of the form, and these as values of LLVM.
    """

    def __init__(self, context: Any, builder: Any, kinds: Any, values: Any) -> None:
        self._context, self._builder = context, builder
        self._fields = {
            field: (part, builder.extract_value(value, place))
            for kind, value in zip(kinds, values, strict=True)
            if isinstance(kind, types.NamedTuple)  # grids with boxes have no rules
            for place, (field, part) in enumerate(zip(kind.fields, kind.types, strict=True))
        }

    def count(self, field: str) -> int:
        """Return the length of a tuple."""
        return int(self._fields[field][0].count)

    def number(self, field: str) -> Any:
        """Return a number."""
        return self._fields[field][1]

    def size(self, field: str) -> Any:
        """Return the number of elements of an array."""
        return self._array(field).nitems

    def _array(self, field: str) -> Any:
        kind, value = self._fields[field]
        return self._context.make_array(kind)(self._context, self._builder, value)

    def at(self, field: str, place: Place) -> Any:
        """Return an element of an array as it is."""
        kind, value = self._fields[field]
        return self._builder.load(
            pointer_to(self._context, self._builder, kind, value, place.value, 1)
        )

    def index_at(self, field: str, place: Place) -> Place:
        """Return an element of an array as a place."""
        element = self.at(field, place)
        if element.type.width < _INDEX.width:
            element = self._builder.zext(element, _INDEX)
        return Place(self._builder, element)

    def check(self, place: Place, end: Any) -> None:
        """Raise `IndexError`, with ``NUMBA_BOUNDSCHECK``, where a place is not below an end."""
        if CHECKS_BOUNDS:
            cgutils.do_boundscheck(self._context, self._builder, place.value, end)


class _HouseEmitter(Emitter):
    """An emitter that reads the rules from a form."""

    def __init__(self, builder: Any, grid: VectorArray, other: Any, form: FormData) -> None:
        super().__init__(builder, grid, other)
        self.form = form
        self.n = form.count("digits")
        self.all_digits = (1 << self.n) - 1

    def loop(self, begin: Any, end: Any, write: Callable[[Place], None]) -> None:
        """Write code as a loop over the places from a begin to an end."""
        with cgutils.for_range(self.builder, end, start=begin, intp=_INDEX) as loop:
            write(Place(self.builder, loop.index))

    def over(self, field: str, size: int, write: Callable[[Place], None]) -> None:
        """Write a loop over the entries of an array, of `size` elements each, a rest aside."""
        n = self.builder.udiv(self.form.size(field), ir.Constant(_INDEX, size))
        self.loop(ir.Constant(_INDEX, 0), n, write)

    def over_cells(self, write: Callable[[Place, Vector], None]) -> None:
        """Write a loop over all cells and their candidates."""
        self.loop(ir.Constant(_INDEX, 0), self.form.number("n_cells"), lambda c: write(c, self[c]))

    def __getitem__(self, cell: Place) -> Vector:
        self.form.check(cell, self.form.number("n_cells"))
        return self.grid[cell]

    def __setitem__(self, cell: Place, candidates: Vector) -> None:
        self.grid[cell] = candidates

    def broadcast(self, number: Any) -> Vector:
        """Return a vector of copies of a number of 32 bits."""
        kind = self.grid.kind
        if number.type.width > kind.element.width:
            number = self.builder.trunc(number, kind.element)
        undefined = ir.Constant(kind, ir.Undefined)
        one = self.builder.insert_element(undefined, number, ir.Constant(ir.IntType(32), 0))
        places = ir.Constant(ir.VectorType(ir.IntType(32), kind.count), [0] * kind.count)
        return Vector(self.builder, self.builder.shuffle_vector(one, undefined, places))


class HousePass(_HouseEmitter):
    """A pass of propagation."""

    def emit(self) -> list[Any]:
        """Write the pass; return bits for the lanes that contradict, stay the same, are solved."""
        self._wrong = self.zeros(1)
        self._lone = self.zeros(1)  # digits with one place, in a cell with others
        self._changed = self.zeros(1)
        self.over("houses", self.n, self._review_house)
        self.over("distinct", 2, self._review_distinct)
        self.over("related", 3, self._review_related)
        self.over("meets", 3, self._review_meet)  # three begins each, and the last end
        if self.form.count("free"):
            self._review_regions()
            for first in (0, self.n):
                self._review_lines(first)
        is_open, empty = self.zeros(1), self.zeros(1)

        def look(cell: Place, x: Vector) -> None:
            is_open[0] |= x & (x - 1)
            empty[0] |= x.equals(0).select(self.none + 1, self.none)

        self.over_cells(look)
        bad = ~(self._wrong[0] | empty[0]).equals(0)
        same = self._changed[0].equals(0)
        bad |= same & ~self._lone[0].equals(0)
        same &= ~bad
        solved = is_open[0].equals(0) & same
        return [bad.bits(), (same & ~solved).bits(), solved.bits()]

    def _leave(self, cell: Place, before: Vector, left: Vector) -> None:
        self._changed[0] |= before & ~left
        self[cell] = left

    def _review_house(self, house: Place) -> None:
        cells = [self.form.index_at("houses", house * self.n + i) for i in range(self.n)]
        here = [self[cell] for cell in cells]
        singles = [single_of(x) for x in here]
        once, twice = once_and_twice(here)
        taken, clash = once_and_twice(singles)
        self._wrong[0] |= (~once & self.all_digits) | clash
        self._lone[0] |= once & ~(twice | taken)
        for cell, x, single in zip(cells, here, singles, strict=True):
            left = x & (~taken | single)
            hidden = left & once & ~twice
            self._leave(cell, x, hidden.equals(0).select(left, hidden))

    def _two_cells(self, field: str, size: int, pair: Place) -> tuple[Place, Place]:
        first = pair * size
        return self.form.index_at(field, first), self.form.index_at(field, first + 1)

    def _review_distinct(self, pair: Place) -> None:
        one, other = self._two_cells("distinct", 2, pair)
        x, y = self[one], self[other]
        self._leave(one, x, x & ~single_of(y))
        self._leave(other, y, y & ~single_of(x))

    def _review_related(self, pair: Place) -> None:
        one, other = self._two_cells("related", 3, pair)
        first = self.form.index_at("related", pair * 3 + 2) * (2 * self.n)
        x, y = self[one], self[other]
        for cell, before, given, begin in ((other, y, x, first), (one, x, y, first + self.n)):
            allowed = self.none
            for digit in range(self.n):
                those = self.broadcast(self.form.at("relations", begin + digit))
                allowed |= (given & (1 << digit)).equals(0).select(self.none, those)
            self._leave(cell, before, before & allowed)

    # Regions that differ from lane to lane: `other` holds the region of every cell.

    def _by_region(self, value: Vector, region: Vector) -> list[Vector]:
        """Return for each region the value where it is that region, else nothing."""
        return [region.equals(r).select(value, self.none) for r in range(self.n)]

    def _of_region(self, values: Sequence[Vector], region: Vector) -> Vector:
        """Return the value of the region at hand."""
        chosen = self.none
        for r, value in enumerate(values):
            chosen |= region.equals(r).select(value, self.none)
        return chosen

    def _review_regions(self) -> None:
        """Look for naked and hidden singles in the regions."""
        once, twice, naked = (self.zeros(self.n) for _ in range(3))

        def collect(cell: Place, x: Vector) -> None:
            region = self.other[cell]
            single = single_of(x)
            parts = self._by_region(x, region), self._by_region(single, region)
            for r, (here, alone) in enumerate(zip(*parts, strict=True)):
                self._wrong[0] |= naked[r] & alone
                naked[r] |= alone
                twice[r] |= once[r] & here
                once[r] |= here

        self.over_cells(collect)
        for r in range(self.n):
            self._wrong[0] |= ~once[r] & self.all_digits
            once[r] &= ~twice[r]
            self._lone[0] |= once[r] & ~naked[r]

        def restrict(cell: Place, x: Vector) -> None:
            region = self.other[cell]
            taken = self._of_region([naked[r] for r in range(self.n)], region)
            lone = self._of_region([once[r] for r in range(self.n)], region)
            left = x & (~taken | single_of(x))
            hidden = left & lone
            self._leave(cell, x, hidden.equals(0).select(left, hidden))

        self.over_cells(restrict)

    def _review_lines(self, first: int) -> None:
        """Look for locked candidates where regions meet the n houses from the first on.

        These houses, rows or columns, have all cells between them. The part of a line in a region
        is a segment. Digits of a segment that are in no other segment of its region go from the
        rest of the line; those in no other segment of its line go from the rest of the region.
        """
        n = self.n
        segments, lone = self.array(n * n), self.array(n * n)
        once, twice, needed = (self.zeros(n) for _ in range(3))

        def cells_of(line: Place) -> list[Place]:
            return [self.form.index_at("houses", (line + first) * n + i) for i in range(n)]

        def collect(line: Place) -> None:
            parts = [self.none] * n
            for cell in cells_of(line):
                those = self._by_region(self[cell], self.other[cell])
                parts = [part | here for part, here in zip(parts, those, strict=True)]
            in_one = in_two = self.none
            for part in parts:
                in_one, in_two = in_one | part, in_two | (in_one & part)
            for r, part in enumerate(parts):
                place = line * n + r
                segments[place], lone[place] = part, part & ~in_two
                needed[r] |= part & ~in_two
                twice[r] |= once[r] & part
                once[r] |= part

        def restrict(line: Place) -> None:
            locked = [segments[line * n + r] & ~twice[r] for r in range(n)]
            here = self.none
            for digits in locked:
                here |= digits
            out = [(here & ~locked[r]) | (needed[r] & ~lone[line * n + r]) for r in range(n)]
            for cell in cells_of(line):
                x = self[cell]
                self._leave(cell, x, x & ~self._of_region(out, self.other[cell]))

        self.loop(ir.Constant(_INDEX, 0), ir.Constant(_INDEX, n), collect)
        self.loop(ir.Constant(_INDEX, 0), ir.Constant(_INDEX, n), restrict)

    def _review_meet(self, meet: Place) -> None:
        begins = [self.form.index_at("meets", meet * 3 + k).value for k in range(4)]
        unions = [self.zeros(1) for _ in range(3)]
        for k, union in enumerate(unions):

            def collect(place: Place, union: VectorArray = union) -> None:
                union[0] |= self[self.form.index_at("parts", place)]

            self.loop(begins[k], begins[k + 1], collect)
        shared, one, other = (union[0] for union in unions)
        for k, locked in ((1, shared & ~other), (2, shared & ~one)):

            def take_away(place: Place, locked: Vector = locked) -> None:
                cell = self.form.index_at("parts", place)
                x = self[cell]
                self._leave(cell, x, x & ~locked)

            self.loop(begins[k], begins[k + 1], take_away)


class HouseChoice(_HouseEmitter):
    """The choice of the branch cell of every grid: the first with the fewest candidates."""

    def emit(self) -> Any:
        """Write the choice; return bits for the lanes where a cell has no candidate.

        The branch cells go to the first vector of the other array.
        """
        least, chosen = self.zeros(1), self.zeros(1)
        number, empty = self.zeros(1), self.zeros(1)
        least[0] = self.none + 63

        def look(cell: Place, x: Vector) -> None:
            size = x.popcount()
            is_better = (least[0] > size) & (size > (self.none + 1))
            least[0] = is_better.select(size, least[0])
            chosen[0] = is_better.select(number[0], chosen[0])
            number[0] += self.none + 1
            empty[0] |= x.equals(0).select(self.none + 1, self.none)

        self.over_cells(look)
        self.other[0] = chosen[0]
        return (~empty[0].equals(0)).bits()
