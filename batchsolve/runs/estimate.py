"""Estimates of the size of a search tree by sampling probes that search a little at every stop.

A probe begins at a stack and searches some nodes below it, in tree order. If stacks are left, the
probe draws one of them by their shares of the tree and goes on there; everything it finds from
there on is weighted by the reciprocal of the probability of the draw. So the sums of a probe are
unbiased estimates. With one node per stop these are the probes of D. E. Knuth (*Estimating the
efficiency of backtrack programs*, CS-TR-74-442, 1974). With more nodes, a probe searches a small
subtree completely, and finds solutions where single walks hardly ever reach one.

The top of the tree is expanded once for all probes. They begin at stacks far from each other: each
in another part of the tree, and parts have equal shares (stratified sampling). One offset for all
parts would meet the period of a regular tree.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from batchsolve.core.arrays import Floats, Ints, UInts
from batchsolve.core.interrupts import check_interrupt
from batchsolve.engines import Engine, Task, engine_for
from batchsolve.errors import InputError, InWords, counted
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Stacks
from batchsolve.runs.progress import PROBE_BAR, OnProgress, shown, sums_told
from batchsolve.runs.reading import Puzzle, problem_and_stacks
from batchsolve.search.scheduler import FIRST_BUDGET, Piece, first_budget
from batchsolve.search.tree import TreeSearch
from batchsolve.settings import SearchSettings
from batchsolve.settings.arguments import MOST_SEED, UNLIMITED, whole_number
from batchsolve.workers import Pool

MOST_PROBES = 1_000_000  # a thousandth of the error of a single probe
CONFIDENCE = 1.96  # standard errors on either side: 95 % if means of probes were normal
TOP_NODES = 20_000  # upper bound of the expanded top of the tree
SEARCHED_NODES = 2_000_000  # by all probes; a second or two
FIRST_PROBES = 20  # to measure how many nodes a probe visits
MOST_AT_A_STOP = 100_000
STOPS_AT_ONCE = 10_000  # between two checks; fewer where options are many:
OPTIONS_AT_ONCE = 1_000_000  # at all stops, because what is left at each has as many stacks
PROBES_AT_ONCE = 1000  # for weighted covers
FRUITLESS_PROBES = 100_000
ROUNDING = 1e-9  # relative, of products of shares
LEAST_PROBES = 50  # that a trusted interval needs, however even they are


@dataclass(frozen=True, repr=False)
class Estimate(InWords):
    """The estimated size of a search tree.

    Attributes
    ----------
    nodes, solutions : float
        Means over the probes.
    nodes_low, nodes_high, solutions_low, solutions_high : float
        Confidence intervals of about 95 %, if `doubt` is empty.
    probes : int
        Number of probes; 0 if the tree was small and searched completely.
    depth : float
        Mean level at which probes ended.
    searched : int
        Nodes visited for the estimate.
    doubt : str
        The reason not to trust the intervals; empty if there is none.

    Examples
    --------
    >>> guess = estimate("queens:14", probes=200)
    >>> guess.probes, guess.doubt
    (200, '')
    >>> print(estimate("queens:8"))  # exact numbers
    nodes: 1178
    solutions: 92
    probes: none needed; nodes searched: 1,178
    """

    nodes: float
    nodes_low: float
    nodes_high: float
    solutions: float
    solutions_low: float
    solutions_high: float
    probes: int
    depth: float
    searched: int
    doubt: str

    @property
    def in_short(self) -> str:
        """See `InWords`."""
        return ", ".join(str(self).splitlines()[:2])

    def __str__(self) -> str:
        lines = []
        for name in ("nodes", "solutions"):
            mean, low, high = (getattr(self, name + end) for end in ("", "_low", "_high"))
            interval = f"{mean:.4g} ({low:.4g} to {high:.4g})" if self.probes else f"{mean:.0f}"
            lines.append(f"{name}: {interval}")
        probes = f"{self.probes:,}, mean depth {self.depth:.1f}" if self.probes else "none needed"
        return "\n".join([*lines, f"probes: {probes}; nodes searched: {self.searched:,}"])


def estimate(
    problem: Puzzle,
    stack: Sequence[int] | UInts | Stacks = (),
    *,
    probes: int = 1000,
    seed: int = 0,
    engine: str = "dlx",
    on_progress: OnProgress = None,
) -> Estimate:
    """Estimate the size of the search tree below a stack.

    Parameters
    ----------
    problem : ExactCover, Reading or str
        As for `count`.
    stack : sequence of int
        The stack to begin at; by default the clues that were read, or the whole problem.
    probes : int
        Number of probes, 2 to `MOST_PROBES`, because all are made at once.
    seed : int
        Seed of the random numbers, 0 or more.
    engine : str
        The engine whose tree is estimated.
    on_progress : callable or True, optional
        See `Progress`; its rows are the probes that have ended. A tree that is searched completely
        may need none.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> guess = estimate("queens:14", probes=200)
    >>> guess.solutions_low < 365_596 < guess.solutions_high
    True
    >>> estimate("queens:12").solutions  # as small a tree is searched whole
    14200.0
    """
    told = shown(on_progress, PROBE_BAR)  # checked also where no probe is needed
    probes = whole_number("the number of probes", probes, 2, MOST_PROBES)
    seed = whole_number("a seed", seed, most=MOST_SEED)
    problem, begin = problem_and_stacks(problem, stack, is_one=True)
    kernel = engine_for(engine, problem)
    if not kernel.reproducible_nodes:
        raise InputError(f"the engine {engine!r} has no tree to estimate; take that of 'dlx'")
    speed = first_budget(problem.n_entries) / FIRST_BUDGET  # less where nodes are slow
    nodes, count, depth, stacks, shares = _top(kernel, problem, begin, int(speed * TOP_NODES))
    if not len(stacks):
        return _exact(nodes, count, nodes)
    rng = np.random.default_rng(seed)
    drawn, stands_for = _stratified(shares, probes, rng)
    sample = stacks.take(drawn)
    quiet = np.errstate(over="ignore", invalid="ignore")  # estimates that overflow raise below
    with told as show, quiet:
        max_nodes = _nodes_at_a_stop(kernel, problem, sample, speed)
        tell = sums_told(show, probes)
        below, covers, levels, searched, _ = probe(kernel, problem, sample, rng, max_nodes, tell)
        below, covers = stands_for * below, stands_for * covers
        intervals = *_interval(nodes, below), *_interval(count, covers)
    if not np.isfinite(intervals).all():
        raise InputError(
            f"the tree has more than {sys.float_info.max:.0e} nodes, too many to be estimated; "
            f"the engine memo counts what has many equal subtrees"
        )
    doubt = _doubt(below, covers)
    if intervals[0] <= speed * SEARCHED_NODES:  # nodes; cheap enough to search completely
        visited, n_covers, is_whole = _searched(kernel, problem, stacks, speed)
        if is_whole:
            return _exact(nodes + visited, count + n_covers, nodes + visited + searched)
        doubt = f"the probes missed most of the tree: a search of {visited:,} nodes did not end"
        searched += visited
    return Estimate(*intervals, probes, depth + float(levels.mean()), nodes + searched, doubt)


def _searched(
    engine: Engine, problem: ExactCover, stacks: Stacks, speed: float
) -> tuple[int, int, bool]:
    """Search a tree that seems to be small; return its nodes and covers, and True at its end."""
    settings = SearchSettings(node_limit=max(1, int(2 * speed * SEARCHED_NODES)))
    with Pool(jobs=1) as pool:
        search = TreeSearch(problem, settings, Piece.whole(stacks), pool, engine=engine)
        deque(search.run(), maxlen=0)
    return search.totals.nodes, search.totals.count, search.complete


def _exact(nodes: float, count: float, searched: int) -> Estimate:
    """Return the size of a completely searched tree."""
    nodes, count = float(nodes), float(count)
    return Estimate(nodes, nodes, nodes, count, count, count, 0, 0.0, searched, "")


def _nodes_at_a_stop(engine: Engine, problem: ExactCover, stacks: Stacks, speed: float) -> int:
    """Return how many nodes a probe may visit at a stop to visit its share of the total.

    A few trial probes measure it, with separate random numbers. A remaining stack costs a tenth of
    a node, and an option of the stack that is loaded at each stop a hundredth.
    """
    share = speed * SEARCHED_NODES / len(stacks)
    trial = stacks.take(np.linspace(0, len(stacks) - 1, min(FIRST_PROBES, len(stacks)), dtype=int))
    limit = max(1, int(np.diff(stacks.offsets).max()) // 100)
    while True:
        *_, visited, remaining = probe(engine, problem, trial, np.random.default_rng(limit), limit)
        if 2 * (visited + remaining // 10) >= share * len(trial) or 4 * limit > MOST_AT_A_STOP:
            return limit
        limit *= 4


def _top(
    engine: Engine, problem: ExactCover, stacks: Stacks, max_nodes: int
) -> tuple[int, int, int, Stacks, Floats]:
    """Expand level after level of a tree while that visits at most `max_nodes` nodes.

    Returns
    -------
    nodes, count, levels : int
        Nodes visited, covers found, and levels expanded.
    stacks : Stacks
        The stacks below.
    shares : ndarray of float64
        Their shares of the tree.
    """
    nodes = count = levels = 0
    shares = np.ones(1)
    while len(stacks) and nodes + len(stacks) <= max(1, max_nodes):
        outcome = engine.search(problem, Task.of(stacks, depth=1))
        nodes += int(outcome.nodes.sum())
        count += int(outcome.counts.sum())
        shares = shares[outcome.parents] * outcome.weights
        stacks = outcome.frontier
        levels += 1
    return nodes, count, levels, stacks, shares


def _stratified(shares: Floats, n: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Draw n stacks by their shares, one in each n-th; return their indices and their weights."""
    ends = np.cumsum(shares)
    places = (rng.random(n) + np.arange(n)) / n * ends[-1]
    drawn = np.minimum(np.searchsorted(ends, places, side="right"), ends.size - 1)
    return drawn, ends[-1] / shares[drawn]


def probe(
    engine: Engine,
    problem: ExactCover,
    stacks: Stacks,
    rng: np.random.Generator,
    max_nodes: int = 1,
    tell: Callable[[int], None] = lambda ended: None,
) -> tuple[Floats, Floats, Floats, int, int]:
    """Make a probe below every stack.

    Parameters
    ----------
    engine : Engine
        One with reproducible nodes.
    problem : ExactCover
    stacks : Stacks
        n partial covers.
    rng : numpy.random.Generator
    max_nodes : int
        Nodes that a probe may visit at a stop.
    tell : callable
        Called with the number of probes that have ended.

    Returns
    -------
    nodes, solutions : ndarray of float64, shape (n,)
        Estimates for the tree below each stack.
    levels : ndarray of float64, shape (n,)
        Number of levels below the stack at which a probe ended.
    searched, remaining : int
        Nodes visited by all probes, and stacks that remain at all stops.
    """
    n = len(stacks)
    begun = np.diff(stacks.offsets)
    at = stacks.with_roots(np.arange(n))
    weight = np.ones(n)
    nodes, solutions, levels = np.zeros(n), np.zeros(n), np.zeros(n)
    searched = remaining = 0
    at_once = max(1, min(STOPS_AT_ONCE, OPTIONS_AT_ONCE // max(1, problem.n_options)))
    while len(at):
        parts = []
        for begin in range(0, len(at), at_once):
            block = at.between(begin, min(begin + at_once, len(at)))
            here = block.roots
            task = Task.of(block, allowance=max_nodes, fineness=UNLIMITED)
            outcome = engine.search(problem, task)
            nodes[here] += weight[here] * outcome.nodes
            solutions[here] += weight[here] * np.asarray(outcome.counts, np.float64)
            levels[here] = np.diff(block.offsets) - begun[here]
            searched += int(outcome.nodes.sum())
            remaining += len(outcome.frontier)
            goes_on, chances = _draw(outcome.parents, outcome.weights, len(block), rng)
            parts.append(outcome.frontier.take(goes_on))
            weight[parts[-1].roots] /= chances
            check_interrupt()
        at = Stacks.concatenate(parts)
        tell(n - len(at))
    return nodes, solutions, levels, searched, remaining


def weighted_covers(
    engine: Engine,
    problem: ExactCover,
    stack: Sequence[int],
    n: int,
    seed: int,
    tell: Callable[[int], None] = lambda n_covers: None,
) -> tuple[Stacks, list[int], int]:
    """Draw covers by probes that choose among the children of every node with equal chances.

    Parameters
    ----------
    engine : Engine
        One with reproducible nodes.
    problem : ExactCover
    stack : sequence of int
        A partial cover.
    n : int
        Number of covers.
    seed : int
    tell : callable
        Called with the number of covers so far.

    Returns
    -------
    Stacks, list of int, int
        The covers, in the order of their probes; the weight of each, which is the product of the
        numbers of children on its path; and the number of probes until the last cover was found.

    Raises
    ------
    InputError
        If `FRUITLESS_PROBES` probes in a row find no cover.
    """
    rng = np.random.default_rng(seed)
    parts: list[Stacks] = []
    weights: list[int] = []
    n_probes = last = 0
    while len(weights) < n:
        stacks = Stacks.from_lists([list(stack)] * PROBES_AT_ONCE)
        covers, new_weights, probes = _walks(engine, problem, stacks, rng)
        n_taken = min(n - len(weights), len(new_weights))
        parts.append(covers.between(0, n_taken))
        weights += new_weights[:n_taken]
        if n_taken:
            last = n_probes + int(probes[n_taken - 1]) + 1
        n_probes += PROBES_AT_ONCE
        tell(len(weights))
        if n_probes - last >= FRUITLESS_PROBES:
            raise InputError(
                f"{counted(FRUITLESS_PROBES, 'probe')}, one after the other, found no cover; there "
                f"were {counted(len(weights), 'cover')} before"
            )
    covers = Stacks.concatenate(parts)
    return covers.with_roots(np.arange(len(covers))), weights, last


def _walks(
    engine: Engine, problem: ExactCover, stacks: Stacks, rng: np.random.Generator
) -> tuple[Stacks, list[int], Ints]:
    """Walk down once from every stack; return the covers, their weights and their stacks."""
    at = stacks.with_roots(np.arange(len(stacks)))
    weight = np.ones(len(stacks), object)  # products of any size
    parts = []
    while len(at):
        outcome = engine.search(problem, Task.of(at, allowance=1, keep=1, fineness=UNLIMITED))
        parts.append(outcome.solutions)
        children = np.bincount(outcome.parents, minlength=len(at))
        has = children > 0
        firsts = (np.cumsum(children) - children)[has]
        weight[at.roots[has]] *= children[has].astype(object)
        at = outcome.frontier.take(firsts + rng.integers(children[has]))
        check_interrupt()
    covers = Stacks.concatenate(parts)
    order = np.argsort(covers.roots)
    roots = covers.roots[order]
    return covers.take(order), weight[roots].tolist(), roots


def _draw(parents: Ints, weights: Floats, n: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Draw one stack of every parent that has some; return their indices and probabilities."""
    sums = np.bincount(parents, weights, n)
    ends = np.cumsum(weights)
    firsts = np.searchsorted(parents, np.arange(n))
    lasts = np.searchsorted(parents, np.arange(n), side="right") - 1
    has = lasts >= firsts
    before = ends[firsts[has]] - weights[firsts[has]]
    places = before + rng.random(int(has.sum())) * sums[has]
    drawn = np.clip(np.searchsorted(ends, places, side="right"), firsts[has], lasts[has])
    return drawn, weights[drawn] / sums[has]


def _interval(known: int, below: Floats) -> tuple[float, float, float]:
    """Return the mean of samples and its interval, above a number that is known."""
    samples = known + below
    scaled, exponent = _scaled(samples)
    mean = float(scaled.mean())
    half = CONFIDENCE * float(scaled.std(ddof=1)) / samples.size**0.5 + ROUNDING * mean
    mean, low, high = np.ldexp([mean, mean - half, mean + half], exponent).tolist()
    return mean, max(low, float(known)), high


def _scaled(samples: Floats) -> tuple[Floats, int]:
    """Divide samples by a power of 2, so that sums of their squares are finite; return it, too."""
    exponent = int(np.frexp(samples.max())[1])
    return np.ldexp(samples, -exponent), exponent


def _doubt(nodes: Floats, solutions: Floats) -> str:
    """Return the reason to doubt the intervals: probes so uneven that more of them are needed."""
    if not solutions.any():
        return "no probe found a solution, which does not say that there is none"
    for name, samples in (("nodes", nodes), ("solutions", solutions)):
        deviations = _scaled(samples)[0]
        deviations -= deviations.mean()
        variance = float((deviations**2).mean())
        skewness = float((deviations**3).mean()) / variance**1.5 if variance else 0.0
        # samples whose mean is nearly normal: W. G. Cochran, Sampling Techniques, 1953
        needed = max(LEAST_PROBES, ceil(25 * skewness**2))
        if samples.size < needed:
            advice = f"{needed:,} probes or more" if needed <= MOST_PROBES else "too many probes"
            return f"the interval of {name} needs {advice}"
    return ""
