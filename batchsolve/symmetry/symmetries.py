"""Symmetries of a problem: permutations of its options that map covers to covers.

A symmetry permutes items, primary ones among themselves, and perhaps colours, so that it maps every
option to an option. Rotations and reflections of boards are found by the names of items: ``r2c5``
and ``l3r2c5`` are cells, ``r2`` and ``c5`` rows and columns, and ``s4`` is a place on a line.
Covers that symmetries map to one another are an *orbit*; its canonical cover is the one whose
options, ascending, come first.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product
from typing import Any

import numpy as np

from batchsolve.core import native
from batchsolve.core.arrays import Bools, UInts
from batchsolve.errors import InputError, ProblemError, prefixed, quoted
from batchsolve.formats.json_records import loads
from batchsolve.problems.exact_cover import ExactCover, check_kind
from batchsolve.problems.stacks import Stacks
from batchsolve.problems.sudoku import Sudoku

MOST_ENTRIES = 1 << 28  # symmetries times options: 1 GB
_AXES = "lrcs"  # layers, rows and columns of a board; places of a line
_PLACE = re.compile(
    r"(?:s(?P<s>[0-9]+)|(?:l(?P<l>[0-9]+))?(?:r(?P<r>[0-9]+))?(?:c(?P<c>[0-9]+))?)(?P<rest>#.*)?"
)


@dataclass(frozen=True, eq=False)
class Symmetries:
    """A group of symmetries of one problem.

    Attributes
    ----------
    images : ndarray of uint32, shape (n_symmetries, n_options)
        The image of each option under each symmetry; the first symmetry is the identity.

    Examples
    --------
    >>> from batchsolve.problems.families import queens
    >>> found = symmetries(queens(6))
    >>> found
    Symmetries(8 of 36 options)
    """

    images: UInts

    def __post_init__(self) -> None:
        if self.images.size and self.images.max() >= self.images.shape[1]:
            raise ProblemError(
                f"an image is option {self.images.max()}; there are {self.images.shape[1]}"
            )

    @classmethod
    def generated(cls, problem: ExactCover, generators: Sequence[Mapping[str, str]]) -> Symmetries:
        """Return the group that some symmetries generate.

        Parameters
        ----------
        problem : ExactCover
        generators : sequence of mappings of str to str
            The images of items under each, by name, and of colours, by their names behind a colon;
            items and colours that are not named stay as they are.

        Raises
        ------
        ProblemError
            If one of them is not a symmetry, or the group is too large.

        Examples
        --------
        >>> problem = ExactCover.from_options([["a"], ["b"], ["a", "b"]])
        >>> Symmetries.generated(problem, [{"a": "b", "b": "a"}]).images.tolist()
        [[0, 1, 2], [1, 0, 2]]
        >>> problem = ExactCover.from_options(
        ...     [["a", "x"], ["a", "x"]], ["a"], ["x"], colors=[{"x": "red"}, {"x": "blue"}]
        ... )
        >>> Symmetries.generated(problem, [{":red": ":blue", ":blue": ":red"}]).images.tolist()
        [[0, 1], [1, 0]]
        """
        n_items, names = problem.n_items, dict[str, int]()
        for i in range(n_items):
            names.setdefault(problem.item_name(i), i)
        used = [] if problem.colors is None else np.setdiff1d(problem.colors, [0]).tolist()
        for c in used:  # numbers of colours follow those of items
            names.setdefault(f":{problem.color_name(c)}", n_items + c)
        every = [*range(n_items), *(n_items + c for c in used)]
        images = []
        for k, generator in enumerate(generators, 1):
            moved = dict(zip(every, every, strict=True))
            for name, other in generator.items():
                for each in (name, other):
                    if each not in names:
                        what = "colour" if each.startswith(":") else "item"
                        raise ProblemError(f"symmetry {k}: unknown {what} {quoted(each)}")
                if (names[name] < n_items) != (names[other] < n_items):
                    raise ProblemError(f"symmetry {k} maps an item to a colour, or the reverse")
                moved[names[name]] = names[other]
            if sorted(moved.values()) != every:
                raise ProblemError(
                    f"symmetry {k} maps two items, or two colours, to one; give the image of each "
                    f"whose place another takes"
                )
            colors = {c: moved[n_items + c] - n_items for c in used}
            image = _image(problem, [moved[i] for i in range(n_items)], colors)
            if image is None:
                raise ProblemError(f"symmetry {k} does not map every option to an option")
            images.append(image)
        return _generated_by(images, problem.n_options)

    def __len__(self) -> int:
        return len(self.images)

    def __repr__(self) -> str:
        return f"Symmetries({len(self)} of {self.images.shape[1]} options)"

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the group, whatever generated it."""
        rows = np.ascontiguousarray(np.unique(self.images, axis=0).astype("<u4"))
        return hashlib.sha256(rows.tobytes()).hexdigest()

    def joined(self, others: Symmetries) -> Symmetries:
        """Return the group that these and other symmetries generate."""
        return _generated_by([*self.images, *others.images], self.images.shape[1])

    def stabiliser(self, stack: Sequence[int] | UInts) -> Symmetries:
        """Return the stabiliser of a set of options: the symmetries that map it to itself.

        Examples
        --------
        >>> from batchsolve.problems.families import queens
        >>> symmetries(queens(6)).stabiliser([2])
        Symmetries(1 of 36 options)
        """
        options = np.sort(np.asarray(stack, np.int64))
        keeps = (np.sort(self.images[:, options], axis=1) == options).all(axis=1)
        return Symmetries(self.images[keeps])

    def are_least(self, covers: Stacks) -> Bools:
        """Return True for each cover that is the canonical one of its orbit, shape (n,).

        Raises
        ------
        ValueError
            If the symmetries are of another problem with fewer options.
        """
        least: Bools = native.least_covers((covers.offsets, covers.options), self.images)
        return least.view(np.bool_)


def most_symmetries(n_options: int) -> int:
    """Return the upper bound of the order of a group that is tried on each cover."""
    return max(1, MOST_ENTRIES // max(1, n_options))


def too_many(most: int) -> ProblemError:
    """Return the error of a group whose order exceeds the upper bound."""
    return ProblemError(
        f"more than {most:,} symmetries, which is too many to try on each solution; name "
        f"generators of a smaller group"
    )


def _generated_by(images: Sequence[UInts], n_options: int) -> Symmetries:
    """Return all products of some permutations of options, the identity first."""
    identity = np.arange(n_options, dtype=np.uint32)
    most = most_symmetries(n_options)
    known = {identity.tobytes()}
    found = [identity]
    for one in found:  # which grows
        for generator in images:
            product_ = generator[one]
            if (key := product_.tobytes()) not in known:
                known.add(key)
                found.append(product_)
        if len(found) > most:
            raise too_many(most)
    return Symmetries(np.array(found))


def _image(
    problem: ExactCover, items: Sequence[int], colors: Mapping[int, int] = {}
) -> UInts | None:
    """Return the image of each option, given those of items; None if an option has no image.

    Colours without an image stay as they are.

    Options with the same items in the same colours keep their order.
    """
    if any(kind_of(problem, i) != kind_of(problem, j) for i, j in enumerate(items)):
        return None
    alike: dict[frozenset[tuple[int, int]], list[int]] = {}
    place = []
    for o in range(problem.n_options):
        same = alike.setdefault(frozenset(problem.coloring(o).items()), [])
        place.append(len(same))
        same.append(o)
    image = np.empty(problem.n_options, np.uint32)
    for o in range(problem.n_options):
        moved = ((items[i], colors.get(c, c)) for i, c in problem.coloring(o).items())
        others = alike.get(frozenset(moved), [])
        if place[o] >= len(others):
            return None
        image[o] = others[place[o]]
    return image if np.unique(image).size == image.size else None


def kind_of(problem: ExactCover, i: int) -> tuple[int, ...]:
    """Return a key that an item shares with its image."""
    return problem.bounds_of(i) if i < problem.n_primary else ()


# ---- symmetries of boards -------------------------------------------------------------------


def symmetries(problem: ExactCover) -> Symmetries:
    """Return the rotations and reflections of the board of a problem.

    Parameters
    ----------
    problem : ExactCover
        The names of its items say where they are: ``r2c5`` and ``l3r2c5`` are cells, ``r2`` and
        ``c5`` a row and a column, ``r2#7`` something in a row, and ``s4`` is a place on a line.

    Returns
    -------
    Symmetries
        Up to 8 of a board, 48 of one with layers, and 2 of a line; only the identity if no item
        has such a name.

    Raises
    ------
    ProblemError
        If the problem is a grid of Sudoku, which has too many symmetries to try.

    Examples
    --------
    >>> from batchsolve.problems.families import family
    >>> [len(symmetries(family(name))) for name in ("pentominoes:6x10", "queens:8", "langford:4")]
    [4, 8, 2]
    """
    check_kind(problem, ExactCover)
    if isinstance(problem, Sudoku):
        raise ProblemError(
            "a Sudoku has more symmetries than can be tried; compare canonical forms instead "
            "(canonical_forms; dedupe with `up_to_symmetry`), or try those that keep its clues "
            "(structure_symmetries, --symmetries structure)"
        )
    images = []
    for known in _board_moves(problem):
        image = _image(problem, [known.get(i, i) for i in range(problem.n_items)])
        if image is None and (derived := _derived(problem, known)) is not None:
            image = _image(problem, derived)
        if image is not None:
            images.append(image)
    return _generated_by(images, problem.n_options)


def _derived(problem: ExactCover, known: Mapping[int, int]) -> list[int] | None:
    """Extend the images of some items to all; return None if they do not determine the rest."""
    parts = [
        [i for i in problem.option(o).tolist() if i in known] for o in range(problem.n_options)
    ]
    of_items = {frozenset(part): o for o, part in enumerate(parts)}
    if len(of_items) < len(parts):
        return None
    image = [of_items.get(frozenset(known[i] for i in part), -1) for part in parts]
    holders: list[list[int]] = [[] for _ in range(problem.n_items)]
    for o in range(problem.n_options):
        for i in problem.option(o).tolist():
            holders[i].append(o)
    full, rest = dict(known), [i for i in range(problem.n_items) if i not in known]
    items_of: dict[tuple[object, ...], list[int]] = {}
    for i in rest:
        items_of.setdefault((kind_of(problem, i), *holders[i]), []).append(i)
    for i in rest:
        others = items_of.get((kind_of(problem, i), *sorted(image[o] for o in holders[i])), [])
        if not others:
            return None
        full[i] = others.pop(0)
    return [full[i] for i in range(problem.n_items)]


def _board_moves(problem: ExactCover) -> Iterator[dict[int, int]]:
    """Yield the images of items with a place under each rotation and reflection of the board."""
    places: dict[int, tuple[dict[str, int], str]] = {}
    for i in range(problem.n_items):
        if match := _PLACE.fullmatch(problem.item_name(i)):
            at = {axis: int(n) for axis, n in match.groupdict().items() if n and axis in _AXES}
            if at:
                places[i] = at, match["rest"] or ""
    axes = [axis for axis in _AXES if any(axis in at for at, _ in places.values())]
    spans = {axis: [at[axis] for at, _ in places.values() if axis in at] for axis in axes}
    least = {axis: min(span) for axis, span in spans.items()}
    length = {axis: max(span) - least[axis] for axis, span in spans.items()}
    item_at = {_place_key(at, rest): i for i, (at, rest) in places.items()}
    for to in permutations(axes):
        if any(length[a] != length[b] for a, b in zip(axes, to, strict=True)):
            continue
        for flips in product((False, True), repeat=len(axes)):
            moves = list(zip(axes, to, flips, strict=True))
            known = {}
            for i, (at, rest) in places.items():
                steps = ((b, flip, at[a] - least[a]) for a, b, flip in moves if a in at)
                moved = {b: least[b] + (length[b] - n if flip else n) for b, flip, n in steps}
                known[i] = item_at.get(_place_key(moved, rest), -1)
            if known and -1 not in known.values():
                yield known


def _place_key(at: Mapping[str, int], rest: str) -> tuple[object, ...]:
    return (*sorted(at.items()), rest)


def read_generators(text: str) -> list[dict[str, str]]:
    """Read symmetries from JSON: a list of objects that map items to their images, by name.

    Examples
    --------
    >>> read_generators('[{"a": "b", "b": "a"}]')
    [{'a': 'b', 'b': 'a'}]
    """
    with prefixed("not JSON that can be read", InputError, ValueError):
        values: Any = loads(text)
    if not isinstance(values, list):
        raise InputError('expected a list of objects such as [{"a": "b", "b": "a"}]')
    for k, value in enumerate(values, 1):
        if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
            raise InputError(
                f"symmetry {k}: expected an object that says which item becomes which, such as "
                f'{{"a": "b", "b": "a"}}'
            )
    return values
