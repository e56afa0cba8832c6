"""Exact cover problems: options as the rows of a sparse 0/1 matrix, items as its columns.

A *cover* is a set of options in which every primary item occurs exactly once and every secondary
item at most once (Knuth, *The Art of Computer Programming* 7.2.2.1). An option may give its
secondary items *colours*; any number of options may share a secondary item if all of them give it
the same colour. A primary item may have *bounds*: a lower and an upper bound of the number of
options that have it, instead of exactly one. Options may have *costs*.

As in Knuth's programs, a search never chooses an option with secondary items only. Options without
items, such as rows of zeros in a matrix, get the secondary item `NOTHING`, so that no cover has
them and all options keep their numbers.
"""

from __future__ import annotations

import hashlib
import operator
import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache
from itertools import chain, pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from batchsolve.core import native
from batchsolve.core.arrays import Bools, Ints, UInts, begins_of, lists_at
from batchsolve.errors import InputError, ProblemError, counted, quoted, repeated, warn_once
from batchsolve.problems.attributes import (
    MOST_COLORS,
    array_of,
    bounds_by_name,
    checked_bounds,
    checked_costs,
    in_order_of_use,
    number_colors,
    whole_numbers,
)
from batchsolve.settings.arguments import Unfit, argument_errors, texts_in, whole_number

MOST_ITEMS = 2**32 - 1  # numbers of items have 32 bits
NOTHING = "(none)"
"""The name of the item of options without items."""

MOST_PREPARED = 8  # problems whose prepared data are kept

_NUMBER = "[0-9]{1,4000}"  # of more digits, Python makes no integer
_PLACE = re.compile(
    rf"(?:s(?P<s>{_NUMBER})|(?:l(?P<l>{_NUMBER}))?(?:r(?P<r>{_NUMBER}))?(?:c(?P<c>{_NUMBER}))?)"
    "(?P<rest>#.*)?"
)
_MANY = 8  # options of a stack that NumPy checks faster than Python

Data = TypeVar("Data")


class ExactCover:
    """An exact cover problem in compressed sparse row form.

    Parameters
    ----------
    indptr : array_like of int, shape (n_options + 1,)
        Option ``o`` has the items ``indices[indptr[o]:indptr[o + 1]]``.
    indices : array_like of int, shape (n_entries,)
        Items, counted from 0. Items ``0 .. n_primary - 1`` are primary, the others secondary.
    n_items : int
        Number of items.
    n_primary : int, optional
        Number of primary items; all of them by default.
    item_names, option_names : sequence of str, optional
        Names for messages and output; numbers by default.
    colors : array_like of int, shape (n_entries,), optional
        The colour that an option gives to each of its items, parallel to `indices`: 0 for none, or
        ``1 .. MOST_COLORS``. Primary items have none.
    color_names : sequence of str, optional
        The names of the colours 1, 2, …; numbers by default.
    bounds : array_like of int, shape (n_primary, 2), optional
        The lower and the upper bound (1 or more) of the number of options that have each item.
    costs : array_like of int, shape (n_options,), optional
        The cost of each option, 0 or more; only `batchsolve.cheapest` uses it.

    Attributes
    ----------
    colors : ndarray of uint32, shape (n_entries,), or None
        The colours; None if there are none.
    bounds : ndarray of int64, shape (n_primary, 2), or None
        The bounds; None if every primary item is in exactly one option of a cover.
    costs : ndarray of int64, shape (n_options,), or None
        The costs; None if none were given.

    Raises
    ------
    ProblemError
        If an option names an item twice, an index is out of range, a primary item has
        a colour, or no number is within the bounds of an item.

    Examples
    --------
    >>> problem = ExactCover([0, 2, 3, 4], [0, 1, 0, 1], n_items=2)
    >>> problem
    ExactCover(n_items=2, n_primary=2, n_options=3)
    >>> problem.verify([1, 2])

    Two primary items, and one secondary item that both options give colour 1:

    >>> ExactCover([0, 2, 4], [0, 2, 1, 2], 3, 2, colors=[0, 1, 0, 1]).verify([0, 1])

    An item with bounds, in two or three options of a cover:

    >>> ExactCover([0, 1, 2, 3], [0, 0, 0], 1, bounds=[[2, 3]]).verify([0, 2])
    """

    _is_frozen = False

    def __init__(
        self,
        indptr: npt.ArrayLike,
        indices: npt.ArrayLike,
        n_items: int,
        n_primary: int | None = None,
        item_names: Sequence[str] | None = None,
        option_names: Sequence[str] | None = None,
        colors: npt.ArrayLike | None = None,
        color_names: Sequence[str] | None = None,
        bounds: npt.ArrayLike | None = None,
        costs: npt.ArrayLike | None = None,
    ) -> None:
        self.indptr = whole_numbers(indptr, "indptr")
        entries = whole_numbers(indices, "indices")
        self.n_items = whole_number("n_items", n_items, 0, MOST_ITEMS)
        self.n_primary = self.n_items
        if n_primary is not None:
            self.n_primary = whole_number("n_primary", n_primary, 0, self.n_items)
        self.item_names = texts_in(item_names, "item_names")
        self.option_names = texts_in(option_names, "option_names")
        sizes = self.indptr[1:] - self.indptr[:-1]
        self._check_shape(entries, sizes)
        if not sizes.all():
            entries, colors = self._without_gaps(entries, colors, np.flatnonzero(sizes == 0))
        self.indices = entries.astype(np.uint32)
        self._check_options()
        self.colors = None if colors is None else self._checked_colors(colors)
        self.color_names = texts_in(color_names, "color_names")
        self.bounds = None
        if bounds is not None:
            self.bounds = checked_bounds(bounds, self.n_primary, self.item_names)
        self.costs = None if costs is None else checked_costs(costs, self.n_options)
        if self.colors is not None and self.color_names is not None:
            highest = int(self.colors.max())
            if len(self.color_names) < highest:
                raise ProblemError(
                    f"{len(self.color_names)} colour names, but the highest colour is {highest}"
                )
        self._freeze()

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled; copies have the same token."""
        return {**self.__dict__, "token": self.token}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickled problem; pickled arrays lose the read-only flag."""
        self.__dict__.update(state)
        self._freeze()

    def _freeze(self) -> None:
        """Make the attributes and arrays read-only: the core and other threads may hold them."""
        for array in (self.indptr, self.indices, self.colors, self.bounds, self.costs):
            if array is not None:
                array.flags.writeable = False
        self._is_frozen = True

    def __setattr__(self, name: str, value: object) -> None:
        if self._is_frozen and not name.startswith("_"):
            raise AttributeError(
                f"{name} of {self!r} cannot be set: a problem stays as it was made; make another"
            )
        super().__setattr__(name, value)

    @classmethod
    def from_options(
        cls,
        options: Iterable[Sequence[Hashable]],
        primary: Sequence[Hashable] | None = None,
        secondary: Sequence[Hashable] = (),
        option_names: Sequence[str] | None = None,
        colors: Sequence[Mapping[Any, Hashable]] | None = None,
        bounds: Mapping[Any, Sequence[int]] | None = None,
        costs: Sequence[int] | None = None,
    ) -> ExactCover:
        """Build a problem from options that name their items.

        Parameters
        ----------
        options : iterable of sequences of hashable
            The items of every option.
        primary : sequence of hashable, optional
            The primary items in order; by default every item that is not secondary, in the order
            in which the options first name them.
        secondary : sequence of hashable
            The secondary items in order.
        option_names : sequence of str, optional
            A name for each option.
        colors : sequence of mappings, optional
            The colours that every option gives to some of its secondary items, or None.
        bounds : mapping of hashable to (int, int), optional
            The lower and the upper bound of the number of options of a cover that have an item;
            (1, 1) for items that are not named.
        costs : sequence of int, optional
            The cost of each option.

        Examples
        --------
        >>> ExactCover.from_options([["a", "x"], ["b"], ["b", "x"]], secondary=["x"])
        ExactCover(n_items=3, n_primary=2, n_options=3)
        >>> options, colors = [["a", "x"], ["b", "x"]], [{"x": "red"}, {"x": "red"}]
        >>> ExactCover.from_options(options, secondary=["x"], colors=colors).option_name(1)
        'b x:red'
        >>> ExactCover.from_options([["a", "b"], ["a"], ["b"]], bounds={"a": (1, 2)})
        ExactCover(n_items=2, n_primary=2, n_options=3, n_bounded=1)
        """
        with argument_errors("options are lists of items, such as [['a', 'b'], ['c']]", options):
            options = list(options)
            if [option for option in options if isinstance(option, str)]:
                raise Unfit("text is not a list of items")
            rows = [list(option) for option in options]
            named = dict.fromkeys(chain.from_iterable(rows))
        with argument_errors("primary and secondary items are lists", (primary, secondary)):
            if primary is None:
                known = set(secondary)
                primary = [item for item in named if item not in known]
            items = [*primary, *secondary]
            number = {item: k for k, item in enumerate(items)}
        if len(number) != len(items):
            name = quoted(repeated(items))
            raise ProblemError(f"item {name} is declared twice; name every item once")
        if not named.keys() <= number.keys():
            item = next(item for item in named if item not in number)
            o = next(o for o, row in enumerate(rows) if item in row)
            raise ProblemError(
                f"option {o} names the unknown item {quoted(item)}; "
                f"declare it among the primary or the secondary items"
            )
        indptr = begins_of(list(map(len, rows)))
        indices = np.array([number[item] for row in rows for item in row], np.int64)
        names = list(map(str, items))
        entries, color_names = (None, None) if colors is None else number_colors(rows, colors)
        item_bounds = None if bounds is None else bounds_by_name(bounds, primary)
        parts = indptr, indices, len(items), len(primary), names, option_names
        return cls(*parts, entries, color_names, item_bounds, costs)

    @classmethod
    def from_matrix(cls, matrix: Any, secondary: Iterable[int] = ()) -> ExactCover:
        """Build a problem from a 0/1 matrix with a row for each option and a column for each item.

        Parameters
        ----------
        matrix : array_like or scipy sparse matrix, shape (n_options, n_items)
            Entries 0 or 1.
        secondary : iterable of int
            Columns that need not be covered. They become the last items. If that changes the order
            of items, ``item_names`` are the numbers of the columns. Rows of zeros get an additional
            secondary item, the last one: no cover has them, and a warning is logged.

        Examples
        --------
        >>> ExactCover.from_matrix([[1, 0], [0, 1], [1, 1]]).n_options
        3
        """
        if hasattr(matrix, "tocsr"):
            sparse = matrix.tocsr().copy()
            sparse.sum_duplicates()
            sparse.eliminate_zeros()
            n_columns = sparse.shape[1]
            indptr, columns, values = sparse.indptr, sparse.indices, sparse.data
        else:
            dense = array_of(matrix, "the matrix")
            if dense.ndim != 2:
                raise ProblemError(f"a matrix has 2 dimensions, this one has {dense.ndim}")
            n_columns = dense.shape[1]
            rows, columns = np.nonzero(dense)
            values = dense[rows, columns]
            indptr = begins_of(np.bincount(rows, minlength=len(dense)))
        if np.any(values != 1):
            raise ProblemError("a matrix of an exact cover problem holds 0 and 1 only")
        with argument_errors("secondary columns are a list of whole numbers", secondary):
            last = sorted(set(whole_numbers(list(secondary), "secondary columns").tolist()))
        if last and not 0 <= last[0] <= last[-1] < n_columns:
            raise ProblemError(f"secondary columns must lie in 0 .. {n_columns - 1}: {last}")
        order = [c for c in range(n_columns) if c not in set(last)] + last
        rank = np.argsort(order)
        names = None if order == list(range(n_columns)) else list(map(str, order))
        return cls(indptr, rank[columns], n_columns, n_columns - len(last), names)

    @property
    def n_options(self) -> int:
        """Number of options."""
        return self.indptr.size - 1

    @property
    def n_entries(self) -> int:
        """Number of items in all options together."""
        return self.indices.size

    @property
    def entries_of_a_node(self) -> float:
        """The entries that dancing links take out for an option, on average at the root.

        They are those of all options that conflict with it, if items have equal numbers of options.
        """
        mean_size = self.n_entries / max(1, self.n_options)
        return min(mean_size * mean_size * self.n_entries / max(1, self.n_items), self.n_entries)

    @cached_property
    def n_colors(self) -> int:
        """Number of different colours."""
        return 0 if self.colors is None else int(np.unique(self.colors[self.colors > 0]).size)

    @cached_property
    def n_bounded(self) -> int:
        """Number of primary items that need not be in exactly one option."""
        return 0 if self.bounds is None else int(np.any(self.bounds != 1, axis=1).sum())

    @property
    def n_decisions(self) -> int:
        """Number of possible entries of a stack: options and, if there are bounds, exclusions.

        With bounds, a stack may also state that an option is not in the cover. The entry of this
        *exclusion* of option ``o`` is ``n_options + o``.
        """
        return self.n_options if self.bounds is None else 2 * self.n_options

    def option(self, o: int) -> UInts:
        """Return the items of option `o`, a view of shape (size of the option,)."""
        return self.indices[self.indptr[o] : self.indptr[o + 1]]

    def coloring(self, o: int) -> dict[int, int]:
        """Return the items of option `o` and their colours; 0 is none."""
        items = self.option(o).tolist()
        if self.colors is None:
            return dict.fromkeys(items, 0)
        colors = self.colors[self.indptr[o] : self.indptr[o + 1]].tolist()
        return dict(zip(items, colors, strict=True))

    def item_name(self, i: int) -> str:
        """Return the name of item `i`."""
        return str(i) if self.item_names is None else self.item_names[i]

    def option_name(self, o: int) -> str:
        """Return the name of option `o`; by default the names of its items."""
        if self.option_names is not None:
            return self.option_names[o]
        return " ".join(
            self.item_name(i) + (f":{self.color_name(c)}" if c else "")
            for i, c in self.coloring(o).items()
        )

    def color_name(self, c: int) -> str:
        """Return the name of colour `c`, which is not 0."""
        return str(c) if self.color_names is None else self.color_names[c - 1]

    @cached_property
    def token(self) -> str:
        """A name for this problem and its copies in other processes; much cheaper than a sum."""
        # one for all threads, which do not wait for one another here since Python 3.12
        return self.__dict__.setdefault("token", os.urandom(8).hex())

    @cached_property
    def fingerprint(self) -> str:
        """The sha256 of the problem's arrays, 64 hexadecimal digits.

        Names do not count. Of colours, only their equality counts.
        """
        digest = hashlib.sha256(f"exact cover 1 {self.n_items} {self.n_primary}\n".encode())
        digest.update(self.indptr.astype("<i8").tobytes())
        digest.update(self.indices.astype("<u4").tobytes())
        if self.colors is not None:
            digest.update(b"colors\n" + in_order_of_use(self.colors).astype("<u4").tobytes())
        if self.bounds is not None:
            digest.update(b"bounds\n" + self.bounds.astype("<i8").tobytes())
        if self.costs is not None:
            digest.update(b"costs\n" + self.costs.astype("<i8").tobytes())
        return digest.hexdigest()

    def verify(self, cover: Iterable[int]) -> None:
        """Check that a set of options is a cover, without any engine.

        Parameters
        ----------
        cover : iterable of int
            Option numbers, in any order.

        Raises
        ------
        ProblemError
            If an option does not exist or appears twice, two options share an item not in the same
            colour, a primary item is uncovered, or bounds are not met.

        Examples
        --------
        >>> ExactCover([0, 1, 2], [0, 1], n_items=2).verify([0])
        Traceback (most recent call last):
            ...
        batchsolve.errors.ProblemError: not a cover: item 1 is in none of the options
        """
        options = option_numbers(cover)
        for o in options:
            if not 0 <= o < self.n_options:
                raise ProblemError(f"not a cover: option {o} is not in 0 .. {self.n_options - 1}")
        if (clash := self._first_clash(options)) is not None:
            raise ProblemError(f"not a cover: {clash[1]}")
        uses = Counter(i for o in options for i in self.option(o).tolist())
        for i in range(self.n_primary):
            n, (least, _) = uses[i], self.bounds_of(i)
            if n < least:
                has = f"{counted(n, 'option')}, fewer than {least}" if n else "none of the options"
                raise ProblemError(f"not a cover: item {self.item_name(i)} is in {has}")

    def check_stack(self, stack: Iterable[int]) -> None:
        """Check that options form a partial cover, without any engine.

        Raises
        ------
        ProblemError
            If an option does not exist, two options share an item, or an item is in more
            options than its bounds allow.
        """
        options = option_numbers(stack)
        position = self.clash_position(options)
        if position >= 0:
            raise ProblemError(f"not a partial cover: {self.explain_clash(options, position)}")

    def clash_position(self, stack: Iterable[int]) -> int:
        """Return the place in a stack of an option that clashes or does not exist, or -1."""
        entries = list(map(int, stack))
        if len(entries) >= _MANY and 0 <= min(entries) <= max(entries) < self.n_options:
            places = self.entries_of(np.array(entries))[1]
            if int(np.bincount(self.indices[places]).max()) == 1:  # sooner than `_first_clash`
                return -1
        clash = self._first_clash(entries)
        return -1 if clash is None else clash[0]

    def entries_of(self, options: npt.NDArray[np.integer]) -> tuple[Ints, Ints]:
        """Return the `indptr` of some options alone, and where in `indices` their entries are."""
        return lists_at(self.indptr, options)

    def explain_clash(self, stack: Sequence[int], position: int) -> str:
        """Return the reason why the option at `position` of a stack clashes."""
        clash = self._first_clash(stack[: position + 1])
        assert clash is not None
        return clash[1]

    def _first_clash(self, stack: Iterable[int]) -> tuple[int, str] | None:
        """Return the place of the first entry that clashes or is unknown, and why; or None."""
        decided: dict[int, int] = {}
        holders: dict[int, list[int]] = {}  # item -> the options that have it
        for place, entry in enumerate(map(int, stack)):
            if not 0 <= entry < self.n_decisions:
                return place, f"option {entry} does not exist; the last one is {self.n_options - 1}"
            o = entry % self.n_options
            if o in decided:
                return place, f"option {o} is {'there' if decided[o] == entry else 'decided'} twice"
            mine = self.coloring(o)
            barred = [i for i, c in mine.items() if not self._may_share(i, c, holders.get(i, ()))]
            if barred:
                item = min(barred)
                others, most = holders[item], self.bounds_of(item)[1]
                if most > 1:
                    named = f"options {', '.join(map(str, others))} and {o}, more than {most}"
                    return place, f"item {self.item_name(item)} is in {named}"
                first = (p for p in others if not self._may_share(item, mine[item], [p]))
                return place, self._why_barred(item, next(first), o)
            decided[o] = entry
            if entry == o:
                for i in mine:
                    holders.setdefault(i, []).append(o)
        return None

    def bounds_of(self, i: int) -> tuple[int, int]:
        """Return the lower and the upper bound of the number of options that have an item."""
        if i >= self.n_primary:
            return 0, 1
        least, most = (1, 1) if self.bounds is None else self.bounds[i].tolist()
        return least, most

    def _may_share(self, i: int, color: int, others: Sequence[int]) -> bool:
        """Return True if an option that gives `i` a colour, or none, can join its holders."""
        if color:
            return all(self.coloring(other)[i] == color for other in others)
        return len(others) < self.bounds_of(i)[1]

    def _why_barred(self, i: int, other: int, o: int) -> str:
        """Return the statement that two options cannot share an item."""
        but = "" if self.colors is None else ", and not in the same colour"
        return f"options {other} and {o} both cover item {self.item_name(i)}{but}"

    def __repr__(self) -> str:
        return (
            f"ExactCover(n_items={self.n_items}, n_primary={self.n_primary}, "
            f"n_options={self.n_options}"
            f"{f', n_colors={self.n_colors}' if self.n_colors else ''}"
            f"{f', n_bounded={self.n_bounded}' if self.n_bounded else ''})"
        )

    def _check_shape(self, entries: Ints, sizes: Ints) -> None:
        starts = self.indptr
        if starts.size == 0 or starts[0] != 0 or starts[-1] != entries.size:
            raise ProblemError(
                f"indptr must begin with 0 and end with the number of entries, {entries.size}"
            )
        if sizes.min(initial=0) < 0:
            o = int(np.argmax(sizes < 0))
            raise ProblemError(f"indptr descends behind option {o}; an option ends where it begins")
        if entries.min(initial=0) < 0 or entries.max(initial=-1) >= self.n_items:
            k = int(np.argmax((entries < 0) | (entries >= self.n_items)))
            o = int(np.searchsorted(starts, k, side="right")) - 1
            raise ProblemError(
                f"option {o} has item {entries[k]}; items lie in 0 .. {self.n_items - 1}"
            )
        for names, length, kind in (
            (self.item_names, self.n_items, "item"),
            (self.option_names, self.n_options, "option"),
        ):
            if names is not None and len(names) != length:
                raise ProblemError(f"{len(names)} {kind} names for {length} {kind}s")

    def _without_gaps(
        self, entries: Ints, colors: npt.ArrayLike | None, gaps: Ints
    ) -> tuple[Ints, npt.ArrayLike | None]:
        """Give options without items the item `NOTHING`; return the items and colours of all."""
        gapped = counted(gaps.size, "option")
        warn_once(f"{gapped} without items (the first is option {gaps[0]}): in no cover")
        places = self.indptr[gaps]
        if colors is not None and np.size(colors) == entries.size:
            colors = np.insert(whole_numbers(colors, "colors"), places, 0)
        entries = np.insert(entries, places, self.n_items)
        self.indptr = self.indptr + np.searchsorted(gaps, np.arange(self.indptr.size))
        self.n_items += 1
        if self.item_names is not None:
            self.item_names = (*self.item_names, NOTHING)
        return entries, colors

    def _check_options(self) -> None:
        o = native.first_repeating((self.indptr, self.indices))
        if o >= 0:
            items = sorted(self.option(o).tolist())
            i = next(item for item, other in pairwise(items) if item == other)
            raise ProblemError(f"option {o} names item {self.item_name(i)} twice")

    def _checked_colors(self, colors: npt.ArrayLike) -> UInts | None:
        """Return colours as an array, or None if no item has one."""
        entries = whole_numbers(colors, "colors")
        if entries.shape != self.indices.shape:
            raise ProblemError(f"{entries.size} colours for {self.indices.size} entries of options")
        beyond = (entries < 0) | (entries > MOST_COLORS)
        bad = beyond | ((entries > 0) & (self.indices < self.n_primary))
        if bad.any():
            k = int(np.argmax(bad))
            o = int(np.searchsorted(self.indptr, k, side="right")) - 1
            item = self.item_name(int(self.indices[k]))
            if beyond[k]:
                raise ProblemError(
                    f"option {o} gives item {item} the colour {entries[k]}; "
                    f"colours lie in 1 .. {MOST_COLORS}, and 0 is none"
                )
            raise ProblemError(
                f"option {o} gives the primary item {item} a colour; "
                f"only secondary items may have one"
            )
        return entries.astype(np.uint32) if entries.any() else None


def named_place(name: str) -> tuple[dict[str, int], str]:
    """Return the place that the name of an item says, axis by axis, and what follows a ``#``.

    The axes are l, r and c, the layer, row and column of a board, and s, the place on a line; there
    are none in other names.

    Examples
    --------
    >>> named_place("l3r2c5"), named_place("r1#7"), named_place("s4"), named_place("row")
    (({'l': 3, 'r': 2, 'c': 5}, ''), ({'r': 1}, '#7'), ({'s': 4}, ''), ({}, ''))
    """
    if not (match := _PLACE.fullmatch(name)):
        return {}, ""
    return {axis: int(match[axis]) for axis in "lrcs" if match[axis]}, match["rest"] or ""


def places_like(pattern: str, names: Sequence[str]) -> list[int]:
    """Return the places of the name that a pattern is, or else of the names that it matches.

    Examples
    --------
    >>> places_like("a[1]", ["a[1]", "a1"]), places_like("a?", ["a[1]", "a1"])
    ([0], [1])
    """
    exact = [i for i, name in enumerate(names) if name == pattern]
    return exact or [i for i, name in enumerate(names) if fnmatchcase(name, pattern)]


def fitting(problem: ExactCover, stack: Sequence[int] | UInts) -> tuple[Bools, Ints]:
    """Return what a stack without bounds leaves of a problem.

    Returns
    -------
    fits : ndarray of bool, shape (n_options,)
        True for each other option whose items are uncovered, or have the colours that it gives.
    held : ndarray of int64, shape (n_items,)
        The colour that the stack gives to each item: 0 is none, -1 an uncovered item.
    """
    chosen = np.array(stack, np.int64)
    entries = problem.entries_of(chosen)[1]
    held = np.full(problem.n_items, -1)
    held[problem.indices[entries]] = 0 if problem.colors is None else problem.colors[entries]
    states = held[problem.indices]
    are_free = states < 0
    if problem.colors is not None:
        are_free |= (problem.colors > 0) & (states == problem.colors)
    fits = np.logical_and.reduceat(are_free, problem.indptr[:-1])
    fits[chosen] = False
    return fits, held


def options_with(problem: ExactCover, item: int, fits: Bools) -> list[int]:
    """Return the options that have an item, of those that `fitting` returned, ascending."""
    places = np.flatnonzero(problem.indices == item)
    options = np.searchsorted(problem.indptr, places, side="right") - 1
    return options[fits[options]].tolist()


def check_kind(problem: object, kind: type[ExactCover]) -> None:
    """Raise `ProblemError` if a problem is not of this class, such as a name of one."""
    if not isinstance(problem, kind):
        raise ProblemError(
            f"the problem must be of the class {kind.__name__}, not {quoted(problem)}; "
            f"that of a text is read_problem(text).problem"
        )


def check_belongs(fingerprint: str, problem: ExactCover, what: str) -> None:
    """Raise `InputError` unless a file is about this problem; `what` is its subject and verb."""
    check_kind(problem, ExactCover)
    if fingerprint != problem.fingerprint:
        raise InputError(
            f"{what} to another problem: the fingerprint there is {fingerprint[:16]}…, that of the "
            f"problem at hand {problem.fingerprint[:16]}…"
        )


def option_numbers(options: Iterable[int], what: str = "options") -> list[int]:
    """Return options, or other numbers, as integers of Python.

    Raises
    ------
    InputError
        If some are not integers.

    Examples
    --------
    >>> option_numbers(np.array([3, 1], np.uint32))
    [3, 1]
    >>> option_numbers([0.5])
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: options are a sequence of whole numbers, not [0.5]
    """
    with argument_errors(f"{what} are a sequence of whole numbers", options):
        return [*map(operator.index, options)]


def prepared(make: Callable[[ExactCover], Data]) -> Callable[[ExactCover], Data]:
    """Return a function that keeps the data prepared from the last problems, in each process.

    Threads that ask for one problem wait until it is prepared, unless `MOST_PREPARED` others are
    asked for meanwhile. Threads that ask for others do not wait.
    """

    @lru_cache(maxsize=MOST_PREPARED)
    def place_of(token: str) -> tuple[threading.Lock, list[Data]]:
        """Return where the data of a problem are, once a thread has made them under the lock."""
        return threading.Lock(), []

    lock = threading.Lock()  # so that all threads find the same place

    def of(problem: ExactCover) -> Data:
        name = problem.token
        with lock:
            guard, data = place_of(name)
        with guard:
            if not data:
                data.append(make(problem))
            return data[0]

    return of
