"""How large is a search tree? Knuth's estimator by random probes.

A probe walks from the root to a leaf and takes every child with the same chance. The product of the
numbers of children that it saw, summed over its levels, is an unbiased estimate of the number of
nodes (D. E. Knuth, *Estimating the efficiency of backtrack programs*, CS-TR-74-442, 1974).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from batchsolve.engines import Engine, Task, check_support, get_engine
from batchsolve.errors import InputError
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Stacks
from batchsolve.tables.reading import Puzzle, problem_and_stack

MOST_PROBES = 1_000_000  # a thousandth of the error of a single one
CONFIDENCE = 1.96  # standard errors either side: 95 % if means of probes were normal


@dataclass(frozen=True)
class Estimate:
    """The estimated size of a search tree.

    Attributes
    ----------
    nodes, solutions : float
        Means over the probes.
    nodes_low, nodes_high, solutions_low, solutions_high : float
        About 95 % of intervals made like these hold the truth. They tend to be too low where few
        branches hold most of the tree.
    probes : int
        Number of probes.
    depth : float
        Mean level at which probes ended.
    """

    nodes: float
    nodes_low: float
    nodes_high: float
    solutions: float
    solutions_low: float
    solutions_high: float
    probes: int
    depth: float


def estimate(
    problem: Puzzle,
    stack: Sequence[int] | npt.NDArray[np.uint32] = (),
    *,
    probes: int = 1000,
    seed: int = 0,
    engine: str = "dlx",
) -> Estimate:
    """Estimate the size of the search tree below a stack.

    Parameters
    ----------
    problem : ExactCover, Reading or str
        As for `count`.
    stack : sequence of int
        Where to begin; by default the clues that were read, or the whole problem.
    probes : int
        How many random walks to make, 2 to `MOST_PROBES`, for all are made at once.
    seed : int
        Seed of the random numbers, 0 or more.
    engine : str
        The engine whose tree is estimated.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> from batchsolve.problems.sudoku import Sudoku
    >>> guess = estimate(Sudoku(2, 2), probes=200)
    >>> guess.solutions_low < 288 < guess.solutions_high
    True
    """
    if not 2 <= probes <= MOST_PROBES:
        raise InputError(f"an estimate needs 2 to {MOST_PROBES:,} probes, not {probes:,}")
    if seed < 0:
        raise InputError(f"a seed is 0 or more, not {seed}")
    problem, stack = problem_and_stack(problem, stack)
    problem.check_stack(stack)
    kernel = get_engine(engine)
    check_support(kernel, problem)
    if not kernel.capabilities.reproducible_nodes:
        raise InputError(f"the engine {engine!r} has no tree of its own; estimate that of 'dlx'")
    rng = np.random.default_rng(seed)
    walkers = Stacks.from_lists([np.asarray(stack).tolist()]).take(np.zeros(probes, np.int64))
    nodes, solutions, ended = probe(kernel, problem, walkers, rng)
    node_range = _interval(nodes)
    solution_range = _interval(solutions)
    return Estimate(*node_range, *solution_range, probes, float(ended.mean()))


def probe(
    engine: Engine, problem: ExactCover, stacks: Stacks, rng: np.random.Generator
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Walk once at random below every stack.

    Parameters
    ----------
    engine : Engine
        One with reproducible nodes.
    problem : ExactCover
    stacks : Stacks
        n partial covers.
    rng : numpy.random.Generator

    Returns
    -------
    nodes, solutions, levels : ndarray of float64, shape (n,)
        Estimates for the tree below each stack, and the levels that the walk went down.
    """
    n = len(stacks)
    walkers = stacks.with_roots(np.arange(n))
    weight = np.ones(n)
    nodes, solutions, ended = np.ones(n), np.zeros(n), np.zeros(n)
    level = 0
    while len(walkers):
        here = walkers.roots
        outcome = engine.search(problem, Task.of(walkers, depth=1))
        solutions[here] += weight[here] * outcome.counts
        # a child that is a leaf has been visited; the others came back as frontier
        children = np.bincount(outcome.frontier.roots, minlength=n)[here]
        degree = children + outcome.nodes - 1
        weight[here] *= degree
        nodes[here] += weight[here]
        pick = rng.integers(0, np.maximum(degree, 1))
        goes_on = pick < children
        ended[here[~goes_on]] = level
        first = np.concatenate([[0], np.cumsum(children)[:-1]])
        walkers = outcome.frontier.take((first + pick)[goes_on])
        level += 1
    return nodes, solutions, ended


def _interval(samples: npt.NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the mean of samples and its interval."""
    mean = float(samples.mean())
    half = CONFIDENCE * float(samples.std(ddof=1)) / samples.size**0.5
    return mean, max(0.0, mean - half), mean + half
