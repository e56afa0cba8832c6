"""Symmetries of a problem: permutations of its options that map covers to covers.

A symmetry permutes items, primary ones among themselves, and perhaps colours, so that it maps every
option to an option. Rotations and reflections of boards are found by the names of items: ``r2c5``
and ``l3r2c5`` are cells, ``r2`` and ``c5`` rows and columns, and ``s4`` is a place on a line.
Covers that symmetries map to one another are an *orbit*; its canonical cover is the one whose
options, ascending, come first.

The whole symmetry group is found from the structure of a problem, not from the names of its items.
The items, the colours of each item and the options are the vertices of a graph; an option is
adjacent to its items, or to the colours that it gives them. Automorphisms of the graph are
symmetries of the problem; they may permute colours. Items that are in the same options are one
vertex, and so are options with the same items in the same colours: otherwise each would double the
group.

The search is that of McKay (*Practical graph isomorphism*, 1981): classes of vertices are refined
until vertices of a class have equally many neighbours in every class; then one vertex is
individualised, and so on until each class is one vertex. Two such leaves with equal classes on the
way may give an automorphism, which is checked. On the first path, the automorphisms that keep the
vertices chosen so far map the next vertex to an orbit; the order of the group is the product of the
sizes of these orbits.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product
from typing import Any

import numpy as np

from batchsolve.core import native
from batchsolve.core.arrays import Bools, Ints, UInts, Words, begins_of
from batchsolve.core.interrupts import check_interrupt
from batchsolve.errors import InputError, ProblemError, prefixed, quoted
from batchsolve.formats.whole_files import loads
from batchsolve.problems.exact_cover import ExactCover, check_kind, named_place, option_numbers
from batchsolve.problems.stacks import Stacks
from batchsolve.problems.sudoku import Sudoku

MOST_ENTRIES = 1 << 28  # symmetries times options: 1 GB
_AXES = "lrcs"  # of `named_place`


@dataclass(frozen=True, eq=False)
class Symmetries:
    """A group of symmetries of one problem.

    Attributes
    ----------
    images : ndarray of uint32, shape (n_symmetries, n_options)
        The image of each option under each symmetry; the first symmetry is the identity. That they
        are a group is not checked; `generated` makes one of some symmetries.

    Examples
    --------
    >>> from batchsolve.problems.families import queens
    >>> group = symmetries(queens(6))
    >>> group
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
                for label in (name, other):
                    if label not in names:
                        kind = "colour" if label.startswith(":") else "item"
                        raise ProblemError(f"symmetry {k}: unknown {kind} {quoted(label)}")
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
        _, n, m = *self.images.shape, others.images.shape[1]
        if n != m:
            raise ProblemError(
                f"symmetries of problems with {n:,} and {m:,} options; join those of one"
            )
        ours, theirs = ({image.tobytes() for image in group.images} for group in (self, others))
        if ours <= theirs or theirs <= ours:  # those of the structure have those of the board
            return others if ours <= theirs else self
        return _generated_by([*self.images, *others.images], self.images.shape[1])

    def stabiliser(self, stack: Sequence[int] | UInts) -> Symmetries:
        """Return the stabiliser of a set of options: the symmetries that map it to itself.

        Examples
        --------
        >>> from batchsolve.problems.families import queens
        >>> symmetries(queens(6)).stabiliser([2])
        Symmetries(1 of 36 options)
        """
        options = np.sort(np.asarray(option_numbers(stack), np.int64))
        n = self.images.shape[1]
        if wrong := [o for o in options.tolist() if not 0 <= o < n]:
            raise ProblemError(f"unknown option {wrong[0]}; the last one is {n - 1}")
        keeps = (np.sort(self.images[:, options], axis=1) == options).all(axis=1)
        return Symmetries(self.images[keeps])

    def are_least(self, covers: Stacks) -> Bools:
        """Return True for each cover that is the canonical one of its orbit, shape (n,).

        Raises
        ------
        ProblemError
            If the symmetries are of another problem with fewer options.
        """
        with prefixed("symmetries of another problem", ProblemError, ValueError):
            return native.least_covers((covers.offsets, covers.options), self.images).view(np.bool_)


def _check_order(order: int, n_options: int) -> None:
    """Raise `ProblemError` if the order of a group is too large to try it on each cover."""
    most = max(1, MOST_ENTRIES // max(1, n_options))
    if order > most:
        raise ProblemError(
            f"more than {most:,} symmetries, which is too many to try on each solution; name "
            f"generators of a smaller group"
        )


def _generated_by(images: Sequence[UInts], n_options: int) -> Symmetries:
    """Return all products of some permutations of options, the identity first."""
    identity = np.arange(n_options, dtype=np.uint32)
    known = {identity.tobytes()}
    group = [identity]
    for member in group:  # which grows
        for generator in images:
            image = generator[member]
            if (key := image.tobytes()) not in known:
                known.add(key)
                group.append(image)
        _check_order(len(group), n_options)
    return Symmetries(np.array(group))


def _image(
    problem: ExactCover, items: Sequence[int], colors: Mapping[int, int] = {}
) -> UInts | None:
    """Return the image of each option, given those of items; None if an option has no image.

    Colours without an image stay as they are.

    Options with the same items in the same colours keep their order.
    """
    if any(_kind_of(problem, i) != _kind_of(problem, j) for i, j in enumerate(items)):
        return None
    colorings = [problem.coloring(o).items() for o in range(problem.n_options)]
    moved = [[(items[i], colors.get(c, c)) for i, c in coloring] for coloring in colorings]
    return _matched(map(frozenset, colorings), map(frozenset, moved))


def _matched(keys: Iterable[Hashable], images: Iterable[Hashable]) -> UInts | None:
    """Return the option whose key is the image of each option's; None if there is none for one.

    Options with the same key keep their order.
    """
    alike: dict[Hashable, list[int]] = {}
    place = []
    for o, key in enumerate(keys):
        same = alike.setdefault(key, [])
        place.append(len(same))
        same.append(o)
    matches = np.empty(len(place), np.uint32)
    for o, key in enumerate(images):
        others = alike.get(key, [])
        if place[o] >= len(others):
            return None
        matches[o] = others[place[o]]
    return matches if np.unique(matches).size == matches.size else None


def _kind_of(problem: ExactCover, i: int) -> tuple[int, ...]:
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
        Beside cells, names such as ``r2`` and ``s4`` may be those of pieces, too.

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
    options = [problem.option(o).tolist() for o in range(problem.n_options)]
    kind = [_kind_of(problem, i) for i in range(problem.n_items)]
    full = dict(known)
    while rest := [i for i in range(problem.n_items) if i not in full]:
        parts = [[i for i in option if i in full] for option in options]
        # what is not known yet of an option is at least of the same kinds in its image
        kinds = [tuple(sorted(kind[i] for i in option if i not in full)) for option in options]
        keys = zip(map(frozenset, parts), kinds, strict=True)
        images = zip((frozenset(full[i] for i in part) for part in parts), kinds, strict=True)
        if (image := _matched(keys, images)) is None:
            return None
        holders: list[list[int]] = [[] for _ in range(problem.n_items)]
        for o, option in enumerate(options):
            for i in option if parts[o] else ():  # without such an item, an option says nothing
                holders[i].append(o)
        items_of: dict[tuple[object, ...], list[int]] = {}
        for i in rest:
            items_of.setdefault((kind[i], *holders[i]), []).append(i)
        items = [i for i in rest if holders[i]] or rest
        for i in items:
            key = kind[i], *sorted(image[o] for o in holders[i])
            if not (others := items_of.get(key, [])):
                return None
            full[i] = others.pop(0)
    return [full[i] for i in range(problem.n_items)]


def _board_moves(problem: ExactCover) -> Iterator[dict[int, int]]:
    """Yield the images of items with a place under each rotation and reflection of the board.

    Names such as r2 and s4 may be those of places, or beside cells those of pieces.
    """
    named = ((i, named_place(problem.item_name(i))) for i in range(problem.n_items))
    places = {i: place for i, place in named if place[0]}
    yield from _moves_of(places)
    clear = {i: (at, rest) for i, (at, rest) in places.items() if rest or {"r", "c"} <= at.keys()}
    if 0 < len(clear) < len(places):
        yield from _moves_of(clear)


def _moves_of(places: Mapping[int, tuple[dict[str, int], str]]) -> Iterator[dict[int, int]]:
    """Yield the images of items with these places."""
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


# ---- symmetries of the structure --------------------------------------------------------------


GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""The step between the states of SplitMix64 (Steele, Lea and Flood 2014; ``core/random.h``)."""


def mix(x: Words) -> Words:
    """Return the word that SplitMix64 makes of each state; all differ. It hashes arrays here."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def structure_symmetries(problem: ExactCover, stack: Iterable[int] = ()) -> Symmetries:
    """Return all symmetries of the structure of a problem, whatever its items are called.

    Parameters
    ----------
    problem : ExactCover
        Symmetries keep primary and secondary items, bounds and costs. They may permute the colours
        of items. Of options with the same items in the same colours and the same cost, they keep
        the order.
    stack : iterable of int
        A partial cover, such as the clues; symmetries map its options among themselves.

    Raises
    ------
    ProblemError
        If there are too many symmetries to try on each solution.

    Examples
    --------
    >>> from batchsolve.problems.families import family
    >>> structure_symmetries(family("queens:6"))
    Symmetries(8 of 36 options)
    >>> structure_symmetries(family("latin:5"))
    Traceback (most recent call last):
        ...
    batchsolve.errors.ProblemError: more than 2,147,483 symmetries, ...
    """
    check_kind(problem, ExactCover)
    problem.check_stack(kept := option_numbers(stack))
    twins, kinds, edges = _graph(problem, frozenset(kept))
    transversals: list[list[Ints]] = []
    order = 1
    for transversal in _transversals(kinds, edges):
        transversals.append(transversal)
        order *= len(transversal)
        _check_order(order, problem.n_options)
    images = np.arange(problem.n_options, dtype=np.uint32)[None]
    for transversal in transversals:
        products = np.empty((len(transversal), *images.shape), np.uint32)
        for vertices, out in zip(transversal, products, strict=True):
            np.take(_image_of_options(vertices, twins), images, out=out)
        images = products.reshape(-1, problem.n_options)
    return Symmetries(images)


def _image_of_options(vertices: Ints, twins: list[list[int]]) -> UInts:
    """Return the image of each option, given that of each vertex."""
    image = np.empty(sum(map(len, twins)), np.uint32)
    for k, options in enumerate(twins):
        image[options] = twins[vertices[k]]
    return image


def _graph(problem: ExactCover, stack: frozenset[int]) -> tuple[list[list[int]], Ints, Ints]:
    """Return the classes of equal options, which are the first vertices, and the graph.

    Returns
    -------
    list of list of int
        The options of each class, by their cost and number.
    ndarray of int64, shape (n_vertices,)
        The kinds of the vertices; automorphisms keep them.
    ndarray of int64, shape (n_edges, 2)
    """
    classes: dict[frozenset[tuple[int, int]], list[tuple[int, tuple[bool, bool], int]]] = {}
    costs = [0] * problem.n_options if problem.costs is None else problem.costs.tolist()
    for o, cost in enumerate(costs):
        same = frozenset(problem.coloring(o).items())
        state = o in stack, problem.n_options + o in stack
        classes.setdefault(same, []).append((cost, state, o))
    kinds: list[object] = []
    held: list[dict[int, list[int]]] = [{} for _ in range(problem.n_items)]
    for k, (coloring, equal) in enumerate(classes.items()):
        kinds.append(("option", [(cost, state) for cost, state, _ in sorted(equal)]))
        for i, color in coloring:
            held[i].setdefault(color, []).append(k)
    edges: list[tuple[int, int]] = []
    known = set()
    for i, by_color in enumerate(held):
        plain = by_color.pop(0, [])
        key = _kind_of(problem, i), tuple(plain), frozenset(map(tuple, by_color.values()))
        if key not in known and (plain or by_color):
            known.add(key)
            item = len(kinds)
            kinds.append(("item", _kind_of(problem, i)))
            edges += [(k, item) for k in plain]
            for members in by_color.values():
                edges += [(other, len(kinds)) for other in (item, *members)]
                kinds.append(("color",))
    number = {kind: k for k, kind in enumerate(sorted(set(map(repr, kinds))))}
    return (
        [[o for *_, o in sorted(equal)] for equal in classes.values()],
        np.array([number[repr(kind)] for kind in kinds], np.int64),
        np.array(edges, np.int64).reshape(-1, 2),
    )


class _Refinement:
    """The refinement of the classes of a graph.

    A class is a number, and the vertices of a refined class come in the order of the classes that
    they were in: classes of two refinements are comparable if the vertices chosen were.
    """

    def __init__(self, n_vertices: int, edges: Ints) -> None:
        order = np.argsort(np.concatenate([edges[:, 0], edges[:, 1]]), kind="stable")
        self._tails = np.concatenate([edges[:, 1], edges[:, 0]])[order]
        self._starts = begins_of(np.bincount(edges.ravel(), minlength=n_vertices))[:-1]
        self._edges, self._pairs = edges, _sorted_pairs(edges)

    def refined(self, classes: Ints) -> Ints:
        """Split classes until vertices of a class have equally many neighbours in every class.

        Numbers of neighbours are compared by sums of hashes. Should two of them collide, classes
        are larger, and the search takes longer.
        """
        n_classes = 0
        while True:
            words = mix((classes + 1).astype(np.uint64) * GOLDEN)
            sums = np.add.reduceat(words[self._tails], self._starts)
            order = np.lexsort((sums, classes))
            is_next = (np.diff(classes[order]) != 0) | (np.diff(sums[order]) != 0)
            classes = np.empty_like(classes)
            classes[order] = np.concatenate([[0], np.cumsum(is_next)])
            if (n := int(is_next.sum()) + 1) in (n_classes, classes.size):
                return classes
            n_classes = n

    def chosen(self, classes: Ints, vertex: int) -> Ints:
        """Individualise a vertex, and refine."""
        classes = 2 * classes
        classes[vertex] -= 1
        return self.refined(classes)

    def is_automorphism(self, image: Ints) -> bool:
        """Return True if a permutation of the vertices maps edges to edges."""
        return np.array_equal(_sorted_pairs(image[self._edges]), self._pairs)


def _sorted_pairs(edges: Ints) -> Ints:
    ends = np.sort(edges, axis=1)
    return ends[np.lexsort(ends.T)]


def _transversals(kinds: Ints, edges: Ints) -> Iterator[list[Ints]]:
    """Yield the automorphism group of a graph, from the end of the first path to its beginning.

    Yields
    ------
    list of ndarray of int64
        For a vertex of the path, a permutation of all vertices for each vertex of its orbit under
        the automorphisms that keep the vertices before it, the identity first. Every automorphism
        is one product of one of each list; of the first list yielded comes the one applied first.
    """
    if not kinds.size:
        return
    by = _Refinement(kinds.size, edges)
    path = [by.refined(kinds)]
    choices: list[Ints] = []
    while (members := _smallest_class(path[-1])).size:
        check_interrupt()
        choices.append(members)
        path.append(by.chosen(path[-1], int(members[0])))
    generators: list[Ints] = []
    for level in reversed(range(len(choices))):
        first, *others = choices[level].tolist()
        orbit, excluded = _orbit(first, generators, kinds.size), set[int]()
        for vertex in others:
            if vertex in orbit or vertex in excluded:
                continue
            start = by.chosen(path[level], vertex)
            image = next(_automorphisms(by, path[level + 1 :], choices[level + 1 :], start), None)
            if image is None:
                excluded |= _orbit(vertex, generators, kinds.size).keys()
            else:
                generators.append(image)
                orbit = _orbit(first, generators, kinds.size)
        yield list(orbit.values())


def _automorphisms(
    by: _Refinement, path: list[Ints], choices: list[Ints], classes: Ints
) -> Iterator[Ints]:
    """Yield the automorphisms that map the classes at the beginning of a path to others."""
    check_interrupt()
    if not np.array_equal(np.bincount(classes), np.bincount(path[0])):
        return
    if choices:
        for vertex in np.flatnonzero(classes == path[0][choices[0][0]]).tolist():
            yield from _automorphisms(by, path[1:], choices[1:], by.chosen(classes, vertex))
    elif by.is_automorphism(image := np.argsort(classes)[path[0]]):
        yield image


def _smallest_class(classes: Ints) -> Ints:
    """Return the vertices of the smallest class of several; none if all classes are single."""
    sizes = np.bincount(classes)
    if sizes.max(initial=1) == 1:
        return np.empty(0, np.int64)
    return np.flatnonzero(classes == np.argmin(np.where(sizes > 1, sizes, classes.size + 1)))


def _orbit(vertex: int, generators: list[Ints], n_vertices: int) -> dict[int, Ints]:
    """Return the orbit of a vertex, with a product of generators that maps the vertex to each."""
    orbit = {vertex: np.arange(n_vertices)}
    waiting = [vertex]
    for member in waiting:
        for generator in generators:
            if (other := int(generator[member])) not in orbit:
                orbit[other] = generator[orbit[member]]
                waiting.append(other)
    return orbit
