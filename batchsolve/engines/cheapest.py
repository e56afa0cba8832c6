"""The cheapest covers: dancing links with costs, after Knuth's Algorithm C$, for batches of stacks.

The search is that of `batchsolve.engines.bounded`, over links whose options are numbered by what
they cost for each of their items (`batchsolve.problems.costs.Pricing`), so that the cheapest are
tried first. A branch is cut off when what is spent and the least that the items left must cost come
to more than the *ceiling*. As soon as as many covers are found as are wanted, the ceiling is below
the dearest of them, for of equal ones those that come first in tree order are wanted.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from batchsolve.engines.borrowing import borrowed
from batchsolve.engines.bounded import (
    REFUSE,
    Path,
    branch,
    branch_again,
    deselect,
    hand_back,
    name_choices,
    select,
    undo,
    usage_of,
)
from batchsolve.engines.contract import Outcome, Task
from batchsolve.engines.links import U, links_of, shared
from batchsolve.engines.stack_arrays import (
    COVERS,
    FULL,
    Choices,
    append,
    has_room,
    no_covers,
    no_stacks,
    stack_at,
)
from batchsolve.engines.task_state import (
    COVER,
    DEEP,
    DONE,
    SPENT,
    Position,
    at_the_top,
    begin_stack,
    end_stack,
    is_cut_short,
    may_begin,
    search_task,
    with_room,
)
from batchsolve.problems.costs import Pricing
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.kernels import helper, inlined, kernel
from batchsolve.problems.stacks import Stacks

CEILING, FOUND = range(2)
"""What `Prices.state` holds: the most that a cover may cost; how many of `Prices.best` count."""


class Prices(NamedTuple):
    """What options cost, scaled, and what covers may cost."""

    net: np.ndarray  # option -> as in `Pricing`
    share: np.ndarray
    ceilings: np.ndarray  # stack -> the most that a cover below it may cost
    best: np.ndarray  # the costs of the cheapest covers found in this task, ascending
    state: np.ndarray
    spent: np.ndarray  # level -> the cost of the options above it


@inlined
def _choose(links, usage, prices):
    """Return what `bounded.choose` does, and the least that the active items cost together."""
    best, least_slack, most_size = U(0xFFFFFFFF), U(0xFFFFFFFF), U(0)
    i, p, cost = U(0), links.right[0], 0
    while p != 0:
        need, size = U(0), links.size[p]
        if usage.used[p] < usage.least[p]:
            need = U(usage.least[p] - usage.used[p])
        if size < need:
            return U(0), p, 0
        if need > 0:
            cost += np.int64(need) * prices.share[links.option[links.down[p]]]
        if size > 0:
            branches = U(size - need + U(1))
            slack = U(usage.most[p] - usage.used[p] - need)
            if branches < best or (
                branches == best
                and (slack < least_slack or (slack == least_slack and size > most_size))
            ):
                best, least_slack, most_size, i = branches, slack, size, p
        p = links.right[p]
    return best, i, cost


@helper
def _note(cost, prices):
    """Note the cost of a cover; lower the ceiling once there are as many as are wanted."""
    best, state = prices.best, prices.state
    at = min(state[FOUND], best.size - 1)
    if state[FOUND] == best.size and cost >= best[at]:
        return
    while at > 0 and best[at - 1] > cost:
        best[at] = best[at - 1]
        at -= 1
    best[at] = cost
    state[FOUND] = min(state[FOUND] + 1, best.size)
    if state[FOUND] == best.size:
        state[CEILING] = min(state[CEILING], best[best.size - 1] - 1)


@inlined
def _spend(path, level, links, prices):
    """Enter what is spent below a level; tell whether that may be."""
    cost = prices.spent[level]
    if path.kind[level] != REFUSE:
        cost += prices.net[links.option[path.node[level]]]
    prices.spent[level + 1] = cost
    return cost <= prices.state[CEILING]


@helper
def _walk(links, usage, prices, path, position, bounds, stack, k, found):
    """Search on from where the links stand; as `batchsolve.engines.dlx` does."""
    level, entered, visited, count = position
    depth, allowed, most, _ = bounds
    while True:
        if entered:
            # C2. [Enter level l.]
            if visited == allowed:
                return SPENT, Position(level, False, visited, count)
            # C3. [Choose i.]
            branches, i, cost = _choose(links, usage, prices)
            if branches == 0 or prices.spent[level] + cost > prices.state[CEILING]:
                visited += 1
            elif i == 0:
                visited += 1
                count += 1
                is_full = count == most
                if has_room(found):
                    is_full |= _append_path(found, stack, k, path, level, links)
                _note(prices.spent[level], prices)
                if is_full:
                    return COVER, Position(level, False, visited, count)
            elif level == depth:
                return DEEP, Position(level, False, visited, count)
            else:
                # C4, C5. [Cover i. Try x_l.]
                visited += 1
                branch(i, branches, path, level, links, usage)
                may_enter = _spend(path, level, links, prices)
                level += 1
                if may_enter:
                    continue
        # C8, C6. [Leave level l. Try again.]
        entered = False
        while not entered:
            if level == 0:
                return DONE, Position(level, False, visited, count)
            level -= 1
            if branch_again(path, level, links, usage):
                entered = _spend(path, level, links, prices)
                level += 1


@helper
def _append_path(covers, stack, k, path, level, links):
    """Append stack `k` and the decisions on the levels above `level`.

    Returns whether there is no room for another cover.
    """
    offsets, options, parents, state = covers
    n = state[COVERS]
    at = offsets[n]
    for o in stack:
        options[at] = o
        at += 1
    for s in range(level):
        o = links.option[path.node[s]]
        options[at] = o if path.kind[s] != REFUSE else U(o + U(links.first.size))
        at += 1
    offsets[n + 1] = at
    parents[n] = k
    state[COVERS] = n + 1
    return n + 1 == state[FULL]


@helper
def _cost(stack, prices):
    """Return what the options that a stack takes cost."""
    cost = 0
    for o in stack:
        if o < prices.net.size:
            cost += prices.net[o]
    return cost


@kernel
def _search(links, usage, prices, task):
    """Search below every stack of a task; return covers and the frontier."""
    links, usage, task = borrowed(links), borrowed(usage), borrowed(task)
    prices = borrowed(prices)
    stacks, clash = task.stacks, task.clash
    found, front = no_covers(), no_stacks()
    n_options = links.first.size
    selected = stacks.options[:0]
    path = Path(
        np.zeros(n_options + 1, np.uint8),
        np.zeros(n_options + 1, np.uint32),
        np.zeros(n_options + 1, np.uint32),
    )
    choices = Choices(np.zeros(n_options + 1, np.uint32), np.ones(n_options + 1, np.float64))
    for k in range(stacks.n):
        bounds, front = begin_stack(task, k, found, front)
        if not may_begin(bounds):
            continue
        # C1. [Initialize.]
        stack = stack_at(stacks, k)
        begin = shared(stack, selected)
        deselect(selected, begin, links, usage)
        clash[k] = select(stack, begin, links, usage)
        selected = stack if clash[k] < 0 else stack[: clash[k]]
        if clash[k] >= 0:
            continue
        prices.spent[0] = _cost(stack, prices)
        prices.state[CEILING] = prices.ceilings[k]
        if prices.state[FOUND] == prices.best.size:
            dearest = prices.best[prices.best.size - 1]
            prices.state[CEILING] = min(prices.state[CEILING], dearest - 1)
        event, position = COVER, at_the_top()
        while event in (COVER, DEEP) and position.covers < bounds.most:
            if event == COVER:
                found = with_room(task, k, n_options, found)
            lent, written = borrowed((path, found))
            event, position = _walk(links, usage, prices, lent, position, bounds, stack, k, written)
            if event in (DEEP, SPENT):
                name_choices(path, position.level, links, choices)
                front = append(front, stacks, k, choices, position.level)
        if is_cut_short(event, bounds):
            name_choices(path, position.level, links, choices)
            front = hand_back(path, position.level, links, stacks, k, choices, front)
        undo(path, position.level, links, usage)
        end_stack(task, k, position)
    return found, front


class _Ranked(NamedTuple):
    """A problem whose options are numbered by what they cost."""

    problem: ExactCover
    pricing: Pricing
    total: int  # what no cover costs more than


_PREPARED: OrderedDict[str, _Ranked] = OrderedDict()
_PREPARED_MOST = 8
_PREPARED_LOCK = threading.Lock()


def _ranked(problem: ExactCover) -> _Ranked:
    """Return a problem with its options in the order in which they are tried."""
    with _PREPARED_LOCK:
        ranked = _PREPARED.get(problem.fingerprint)
        if ranked is None:
            assert problem.costs is not None
            pricing = Pricing.of(problem)
            sizes = np.diff(problem.indptr)[pricing.order]
            indptr = np.concatenate([[0], np.cumsum(sizes)])
            # entry of the new problem -> entry of the old one
            entries = np.arange(indptr[-1]) + np.repeat(
                problem.indptr[pricing.order] - indptr[:-1], sizes
            )
            again = ExactCover(
                indptr,
                problem.indices[entries],
                problem.n_items,
                problem.n_primary,
                colors=None if problem.colors is None else problem.colors[entries],
                bounds=problem.bounds,
            )
            ranked = _Ranked(again, pricing, int(problem.costs.sum()))
            _PREPARED[problem.fingerprint] = ranked
        _PREPARED.move_to_end(problem.fingerprint)
        while len(_PREPARED) > _PREPARED_MOST:
            _PREPARED.popitem(last=False)
        return ranked


def search_cheapest(problem: ExactCover, task: Task) -> Outcome:
    """Search a task for the cheapest covers."""
    assert task.ceilings is not None
    ranked, pricing, total = _ranked(problem)
    ceilings = (np.minimum(task.ceilings, total) - pricing.base) * pricing.scale
    prices = Prices(
        pricing.net[pricing.order],
        pricing.share[pricing.order],
        ceilings,
        np.zeros(task.cheapest, np.int64),
        np.zeros(2, np.int64),
        np.zeros(problem.n_options + 2, np.int64),
    )
    arrays = links_of(ranked), usage_of(ranked), prices
    outcome = search_task(
        _search, arrays, replace(task, stacks=_renumbered(task.stacks, pricing.rank))
    )
    return replace(
        outcome,
        solutions=_renumbered(outcome.solutions, pricing.order),
        frontier=_renumbered(outcome.frontier, pricing.order),
    )


def _renumbered(stacks: Stacks, number: npt.NDArray[np.uint32]) -> Stacks:
    """Return stacks with other numbers of their options, also of those refused."""
    n = number.size
    table = np.concatenate([number, number + np.uint32(n)])
    # an option that does not exist is for the kernel to find
    known = stacks.options < 2 * n
    options = np.where(known, table[np.where(known, stacks.options, 0)], stacks.options)
    return replace(stacks, options=options.astype(np.uint32))
