"""The shape of a search tree, sampled by random walks from its root.

A walk moves to a child with a probability in proportion to the child's size, like the place where a
budget runs out. Small children are counted; the sizes of large ones are estimated by Knuth's
probes, and the noise of the estimates makes the tree look less even than it is.
"""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from random import Random

import numpy as np
import numpy.typing as npt

from batchsolve.core.arrays import Floats
from batchsolve.engines import Engine, Task
from batchsolve.errors import InputError
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Stacks
from batchsolve.runs.estimate import probe

GRAIN = 64.0  # nodes; a smaller subtree is not cut in a simulation
CLASSES = 64  # subtrees of 2^c to 2^(c+1) nodes are one class
WALKS = 8  # in a batch
PROBES = 32  # of each large child
ENOUGH = 2_000  # samples; more hardly change a forecast
COUNTED = 2_000  # nodes up to which a child is counted, which takes about as long as its probes


@dataclass(frozen=True, eq=False)
class Shape:
    """The shape of a tree: samples of how a subtree's nodes are shared among its children.

    Attributes
    ----------
    classes : list of list of list of float
        The samples of subtrees of 2^c to 2^(c+1) nodes, for each c: the shares of a node's
        children, in tree order; they add to 1. A class in which no sample branches has the samples
        of the nearest class in which one does; otherwise it would never split a subtree.
    """

    classes: list[list[list[float]]]

    @classmethod
    def of(cls, samples: list[tuple[float, Floats]]) -> Shape:
        """Build a shape from samples: the size of a subtree, and the sizes of its children.

        Raises
        ------
        InputError
            If no sample has two children.
        """
        if not any(len(children) > 1 for _, children in samples):
            raise InputError(
                "the tree hardly branches where it was sampled, so it has no shape to simulate"
            )
        by_class = defaultdict[int, list[list[float]]](list)
        for nodes, children in samples:
            by_class[_class_of(nodes)].append((children / children.sum()).tolist())
        present = [k for k, shares in by_class.items() if any(len(of) > 1 for of in shares)]
        near = (min(present, key=lambda k: (abs(k - c), k)) for c in range(CLASSES))
        return cls([by_class[k] for k in near])


def _class_of(nodes: float) -> int:
    return min(CLASSES - 1, max(1, int(nodes)).bit_length() - 1)


class Subtrees:
    """Random subtrees of a shape, which are known by their sizes.

    Stacks, in tree order, are arrays of shape (n, 2): sizes and weights. Subtrees of `GRAIN` nodes
    or fewer stay whole. Several children of a node are a range, which is cut like a subtree of
    their size.
    """

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._random = Random(0)

    def expand(self, stacks: Floats, most: float) -> Floats:
        """Replace every subtree by its children, as at most so many ranges."""
        expanded: list[tuple[float, float]] = []
        for size, weight in stacks.tolist():
            shares = self._children_of(size) if size > GRAIN else [1.0]
            expanded += _ranges(shares, size, weight, most)
        return np.array(expanded)

    def search(self, stacks: Floats, budget: float, fineness: Floats) -> tuple[float, Floats]:
        """Search stacks in tree order; return the nodes visited, and the stacks left.

        The fineness of each stack is that of `Task`.
        """
        ends = np.cumsum(stacks[:, 0])
        n = int(np.searchsorted(ends, budget, "right"))  # those that are searched to their ends
        visited = float(ends[n - 1]) if n else 0.0
        if n == len(stacks) or visited == budget:
            return visited, stacks[n:]
        size, weight = stacks[n].tolist()
        left = self._cut(size, budget - visited, float(fineness[n]))
        left = [(nodes, share * weight) for nodes, share in left]
        return budget, np.concatenate([left, stacks[n + 1 :]])

    def _cut(self, size: float, visited: float, fineness: float) -> list[tuple[float, float]]:
        """Return what is left of a subtree after some of its nodes, in tree order.

        It consists of sizes, and shares of the weight of the subtree.
        """
        left: list[tuple[float, float]] = []
        weight = 1.0
        while size > GRAIN:
            shares = self._children_of(size)
            x, passed = 0, 0.0
            while x + 1 < len(shares) and passed + shares[x] * size <= visited:
                passed += shares[x] * size
                x += 1
            after = shares[x + 1 :]
            of_after = weight * len(after) / len(shares)
            left = _ranges(after, size, of_after, ceil(of_after * fineness)) + left
            visited -= passed
            size *= shares[x]
            weight /= len(shares)
        return [(max(0.0, size - visited), weight), *left]

    def _children_of(self, size: float) -> list[float]:
        """Draw the children of a subtree; return their shares, in tree order."""
        samples = self._shape.classes[_class_of(size)]
        return samples[int(self._random.random() * len(samples))]


def _ranges(
    shares: list[float], size: float, weight: float, most: float
) -> list[tuple[float, float]]:
    """Return children of a subtree as at most so many ranges; `weight` is that of all of them."""
    n = len(shares)
    n_ranges = int(min(max(most, 1), n))
    bounds = [part * n // n_ranges for part in range(n_ranges)] + [n] if n else []
    each = ((sum(shares[begin:end]), end - begin) for begin, end in pairwise(bounds))
    return [(share * size, weight * width / n) for share, width in each if share > 0]


def sample_shape(
    problem: ExactCover,
    stack: npt.ArrayLike,
    engine: Engine,
    nodes: float,
    *,
    seconds: float = 10.0,
) -> Shape:
    """Sample the shape of the tree below a stack.

    Parameters
    ----------
    problem : ExactCover
    stack : array_like of int
    engine : Engine
        One with reproducible nodes.
    nodes : float
        The size of the whole tree, counted or estimated.
    seconds : float
        Time after which no batch of walks starts; sampling ends sooner after `ENOUGH` samples.

    Returns
    -------
    Shape

    Raises
    ------
    InputError
        If the tree is too small to have a shape.

    Examples
    --------
    >>> from batchsolve.engines import get_engine
    >>> from batchsolve.problems.sudoku import Sudoku
    >>> shape = sample_shape(Sudoku(2, 2), [], get_engine("dlx"), 1000, seconds=0.01)
    >>> shape.classes[-1][0]
    [0.25, 0.25, 0.25, 0.25]
    """
    rng = np.random.default_rng(0)
    root = Stacks.from_lists([np.asarray(stack).tolist()])
    samples: list[tuple[float, Floats]] = []
    begin = time.monotonic()
    while True:
        found = _walk(problem, root.take(np.zeros(WALKS, np.int64)), engine, nodes, rng)
        samples += found
        if not found or len(samples) > ENOUGH or time.monotonic() - begin > seconds:
            break
    return Shape.of(samples)


def _walk(
    problem: ExactCover, walkers: Stacks, engine: Engine, nodes: float, rng: np.random.Generator
) -> list[tuple[float, Floats]]:
    """Walk from the root to small subtrees; return the samples seen on the way."""
    samples = []
    sizes = np.full(len(walkers), nodes)
    while len(walkers):
        walkers = walkers.with_roots(np.arange(len(walkers)))
        children = engine.search(problem, Task.of(walkers, depth=1)).frontier
        below = _sizes(problem, children, engine, rng)
        begins = np.searchsorted(children.roots, np.arange(len(walkers) + 1))
        picked, picked_sizes = [], []
        for k, size in enumerate(sizes.tolist()):
            mine = below[begins[k] : begins[k + 1]]
            if mine.size == 0:
                continue
            shares = mine / mine.sum()
            samples.append((size, shares))
            child = int(rng.choice(mine.size, p=shares))
            if shares[child] * size > GRAIN:
                picked.append(begins[k] + child)
                picked_sizes.append(shares[child] * size)
        walkers = children.take(np.array(picked, np.int64))
        sizes = np.array(picked_sizes)
    return samples


def _sizes(problem: ExactCover, stacks: Stacks, engine: Engine, rng: np.random.Generator) -> Floats:
    """Return the number of nodes below each stack, counted if small and estimated otherwise."""
    n = len(stacks)
    if n == 0:
        return np.empty(0)
    counted = engine.search(problem, Task.of(stacks.with_roots(np.arange(n)), allowance=COUNTED))
    sizes = counted.nodes.astype(np.float64)
    large = np.unique(counted.frontier.roots)
    if large.size:
        walks = stacks.take(np.repeat(large, PROBES))
        nodes = probe(engine, problem, walks, rng)[0]
        sizes[large] = np.maximum(nodes.reshape(-1, PROBES).mean(axis=1), COUNTED)
    return sizes
