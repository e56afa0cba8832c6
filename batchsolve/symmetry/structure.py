"""The symmetry group of a problem, found from its structure, not from the names of its items.

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

from collections.abc import Iterable, Iterator

import numpy as np

from batchsolve.core.arrays import Ints, UInts, Words
from batchsolve.core.interrupts import check_interrupt
from batchsolve.problems.exact_cover import ExactCover, check_kind, option_numbers
from batchsolve.symmetry.symmetries import Symmetries, kind_of, most_symmetries, too_many

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
    order, most = 1, most_symmetries(problem.n_options)
    for transversal in _transversals(kinds, edges):
        transversals.append(transversal)
        if (order := order * len(transversal)) > most:
            raise too_many(most)
    images = np.arange(problem.n_options, dtype=np.uint32)[None]
    for transversal in transversals:
        products = np.empty((len(transversal), *images.shape), np.uint32)
        for one, into in zip(transversal, products, strict=True):
            np.take(_image_of_options(one, twins), images, out=into)
        images = products.reshape(-1, problem.n_options)
    return Symmetries(images)


def _image_of_options(vertices: Ints, twins: list[list[int]]) -> UInts:
    """Return the image of each option, given that of each vertex."""
    image = np.empty(sum(map(len, twins)), np.uint32)
    for k, some in enumerate(twins):
        image[some] = twins[vertices[k]]
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
        kinds.append(("option", [each[:2] for each in sorted(equal)]))
        for i, color in coloring:
            held[i].setdefault(color, []).append(k)
    edges: list[tuple[int, int]] = []
    known = set()
    for i, by_color in enumerate(held):
        plain = by_color.pop(0, [])
        key = kind_of(problem, i), tuple(plain), frozenset(map(tuple, by_color.values()))
        if key not in known and (plain or by_color):
            known.add(key)
            item = len(kinds)
            kinds.append(("item", kind_of(problem, i)))
            edges += [(k, item) for k in plain]
            for some in by_color.values():
                edges += [(other, len(kinds)) for other in (item, *some)]
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
        degrees = np.bincount(edges.ravel(), minlength=n_vertices)
        self._starts = np.concatenate([[0], np.cumsum(degrees)[:-1]])
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
    while (some := _smallest_class(path[-1])).size:
        check_interrupt()
        choices.append(some)
        path.append(by.chosen(path[-1], int(some[0])))
    found: list[Ints] = []
    for level in reversed(range(len(choices))):
        first, *others = choices[level].tolist()
        orbit, excluded = _orbit(first, found, kinds.size), set[int]()
        for vertex in others:
            if vertex in orbit or vertex in excluded:
                continue
            start = by.chosen(path[level], vertex)
            one = next(_automorphisms(by, path[level + 1 :], choices[level + 1 :], start), None)
            if one is None:
                excluded |= _orbit(vertex, found, kinds.size).keys()
            else:
                found.append(one)
                orbit = _orbit(first, found, kinds.size)
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
    for one in waiting:
        for generator in generators:
            if (other := int(generator[one])) not in orbit:
                orbit[other] = generator[orbit[one]]
                waiting.append(other)
    return orbit
