"""Dancing links over arrays: Knuth's Algorithms X and C, for batches of stacks.

The data structure is the one of *The Art of Computer Programming* 7.2.2.1, Algorithm X: every
node of an option has an item (TOP) and its neighbours in the item's list (ULINK, DLINK); nodes of
one option are adjacent and options are parted by spacers, so that an option is walked without
links of its own; item headers 1..n_items carry LLINK and RLINK. Three things differ from the book:

* indices are unsigned, because signed ones make the compiler test every access for wrap-around;
* a *stack* (a partial cover: a puzzle's clues, or a subproblem) is selected before the search, and
  what the next stack does not share is undone after it: one set of links serves a whole batch;
* the search stops when its node budget is spent or it has found as many covers as it may, and then
  writes the *frontier*: the stacks of every branch that it did not explore.

Where there are colours, every node has one (COLOR), as in Algorithm C. To *commit* to a node
without a colour is to cover its item. To commit to one with a colour is to *purify* its item:
options that give the item another colour are hidden, and the nodes of those that give it the same
one are marked as `_PURE`, so that nothing more is done to them. Kernels are compiled twice, for
links with colours and without; in the latter a node's colour is the constant 0, and the compiler
drops all that depends on it.

The branch item is the first, as the header list has them, of those with at most one option, or else
of those with the fewest. The options of an item are tried in ascending order. Both depend on the
partial cover alone, hence the tree does not depend on how it is cut into stacks, and its order is
the lexicographic order of the stacks.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import njit, types, uint32
from numba.extending import overload

from batchsolve.cover import ExactCover
from batchsolve.engines.contract import MRV_TREE, Capabilities, Outcome, Task
from batchsolve.stacks import Stacks

U = uint32


class Links(NamedTuple):
    """The dancing links of one problem.

    Nodes ``0 .. n_items`` are the root and the item headers, the others the options and spacers.
    """

    top: np.ndarray  # node -> its item; 0 for a spacer
    up: np.ndarray  # node -> the node above; spacer -> first node of the option before it
    down: np.ndarray  # node -> the node below; spacer -> last node of the option after it
    left: np.ndarray  # item -> the active primary item before it
    right: np.ndarray  # item -> the active primary item after it
    size: np.ndarray  # item -> number of options in its list
    option: np.ndarray  # node -> its option
    first: np.ndarray  # option -> its first node
    color: np.ndarray | None  # node -> its colour, 0 or `_PURE`; item -> the colour of its list


class Ragged(NamedTuple):
    """The arrays of a `Stacks`, as kernels take them."""

    offsets: np.ndarray
    options: np.ndarray
    roots: np.ndarray
    weights: np.ndarray


_PURE = U(0xFFFFFFFF)


def _color(x, links):
    """Return the colour of a node or an item."""


def _paint(x, color, links):
    """Change the colour of a node or an item."""


@overload(_color, inline="always")
def _color_of_kind(x, links):
    if _has_colors(links):
        return lambda x, links: links.color[x]
    return lambda x, links: U(0)


@overload(_paint, inline="always")
def _paint_of_kind(x, color, links):
    if _has_colors(links):

        def paint(x, color, links):
            links.color[x] = color

        return paint
    return lambda x, color, links: None


def _has_colors(links: types.NamedTuple) -> bool:
    """Return whether links of this type have colours."""
    return isinstance(links.types[links.fields.index("color")], types.Array)


@njit(cache=True)
def _build(indptr, indices, n_items, n_primary):
    """Lay out the options of a CSR matrix as linked nodes, without colours."""
    n_options = indptr.size - 1
    n_nodes = n_items + 2 + indices.size + n_options
    top = np.zeros(n_nodes, np.uint32)
    up = np.zeros(n_nodes, np.uint32)
    down = np.zeros(n_nodes, np.uint32)
    option = np.zeros(n_nodes, np.uint32)
    left = np.zeros(n_items + 1, np.uint32)
    right = np.zeros(n_items + 1, np.uint32)
    size = np.zeros(n_items + 1, np.uint32)
    first = np.zeros(n_options, np.uint32)
    for i in range(n_items + 1):
        up[i] = down[i] = left[i] = right[i] = i
    for i in range(1, n_primary + 1):
        left[i] = i - 1
        right[i - 1] = i
    right[n_primary] = 0
    left[0] = n_primary
    x = n_items + 1
    for o in range(n_options):
        spacer = x
        x += 1
        first[o] = x
        for k in range(indptr[o], indptr[o + 1]):
            i = indices[k] + 1
            top[x] = i
            option[x] = o
            up[x] = up[i]
            down[x] = i
            down[up[i]] = x
            up[i] = x
            size[i] += 1
            x += 1
        down[spacer] = x - 1
        up[x] = first[o]
    return Links(top, up, down, left, right, size, option, first, None)


@njit(inline="always")
def _hide(p, links):
    """Remove every node of p's option, p itself excepted, from its item's list."""
    top, up, down, size = links.top, links.up, links.down, links.size
    q = U(p + U(1))
    while q != p:
        x = top[q]
        if x == 0:
            q = up[q]
        else:
            if _color(q, links) != _PURE:
                u, d = up[q], down[q]
                down[u] = d
                up[d] = u
                size[x] -= U(1)
            q = U(q + U(1))


@njit(inline="always")
def _unhide(p, links):
    top, up, down, size = links.top, links.up, links.down, links.size
    q = U(p - U(1))
    while q != p:
        x = top[q]
        if x == 0:
            q = down[q]
        else:
            if _color(q, links) != _PURE:
                u, d = up[q], down[q]
                down[u] = q
                up[d] = q
                size[x] += U(1)
            q = U(q - U(1))


@njit(inline="always")
def _cover(i, links):
    down = links.down
    p = down[i]
    while p != i:
        _hide(p, links)
        p = down[p]
    ll, r = links.left[i], links.right[i]
    links.right[ll] = r
    links.left[r] = ll


@njit(inline="always")
def _uncover(i, links):
    ll, r = links.left[i], links.right[i]
    links.right[ll] = i
    links.left[r] = i
    up = links.up
    p = up[i]
    while p != i:
        _unhide(p, links)
        p = up[p]


@njit(inline="always")
def _purify(p, links):
    """Hide the options that give p's item another colour than p; mark those that give it the same.

    p itself keeps its colour: this is how `_uncommit` knows that p's item was purified for p. In
    the search p is hidden by then, but a stack may have an option whose first item has a colour.
    """
    down = links.down
    c, i = _color(p, links), links.top[p]
    _paint(i, c, links)
    q = down[i]
    while q != i:
        if _color(q, links) != c:
            _hide(q, links)
        elif q != p:
            _paint(q, _PURE, links)
        q = down[q]


@njit(inline="always")
def _unpurify(p, links):
    up = links.up
    c, i = _color(p, links), links.top[p]
    q = up[i]
    while q != i:
        if _color(q, links) == _PURE:
            _paint(q, c, links)
        elif q != p:
            _unhide(q, links)
        q = up[q]
    _paint(i, U(0), links)


@njit(inline="always")
def _commit(p, links):
    """Cover or purify the item of a node."""
    c = _color(p, links)
    if c == 0:
        _cover(links.top[p], links)
    elif c != _PURE:
        _purify(p, links)


@njit(inline="always")
def _uncommit(p, links):
    c = _color(p, links)
    if c == 0:
        _uncover(links.top[p], links)
    elif c != _PURE:
        _unpurify(p, links)


@njit(inline="always")
def _commit_others(p, links):
    """Commit to the nodes of p's option, p itself excepted."""
    top, up = links.top, links.up
    q = U(p + U(1))
    while q != p:
        if top[q] == 0:
            q = up[q]
        else:
            _commit(q, links)
            q = U(q + U(1))


@njit(inline="always")
def _uncommit_others(p, links):
    top, down = links.top, links.down
    q = U(p - U(1))
    while q != p:
        if top[q] == 0:
            q = down[q]
        else:
            _uncommit(q, links)
            q = U(q - U(1))


@njit(inline="always")
def _shared(stack, other):
    """Return how many options two stacks share at their beginnings."""
    s = 0
    while s < stack.size and s < other.size and stack[s] == other[s]:
        s += 1
    return s


@njit(cache=True, nogil=True)
def _deselect(stack, begin, links, covered):
    """Undo the selection of the options of a stack from place `begin` on, last first."""
    for s in range(stack.size - 1, begin - 1, -1):
        p = links.first[stack[s]]
        _uncommit_others(p, links)
        _uncommit(p, links)
        q = p
        while links.top[q] != 0:
            covered[links.top[q]] -= U(1)
            q = U(q + U(1))


@njit(inline="always")
def _is_in(option, stack):
    found = False
    for other in stack:
        found |= other == option
    return found


@njit(cache=True, nogil=True)
def _select(stack, begin, links, covered):
    """Select the options of a stack from place `begin` on, up to the first that clashes.

    Returns -1, or where in the stack that is. `covered` counts the options that cover or purify an
    item.
    """
    for s in range(begin, stack.size):
        clashes = stack[s] >= links.first.size
        if not clashes:
            all_pure = True
            q = links.first[stack[s]]
            while links.top[q] != 0:
                if _color(q, links) != _PURE:
                    all_pure = False
                    clashes |= covered[links.top[q]] != 0
                q = U(q + U(1))
            if all_pure:
                clashes = _is_in(stack[s], stack[:s])
        if clashes:
            return s
        p = links.first[stack[s]]
        q = p
        while links.top[q] != 0:
            covered[links.top[q]] += U(1)
            q = U(q + U(1))
        _commit(p, links)
        _commit_others(p, links)
    return -1


@njit(cache=True, nogil=True)
def _append(ragged, n, root, stack, choice, level, last, links):
    """Write a stack as row n of a growing batch.

    The stack is the given one, then the options of the nodes chosen on levels 0 .. level - 1, then
    that of the node `last` unless it is 0. Its weight is the product of 1 / (options of the branch
    item); a covered item's list keeps the size that it had when it was covered.
    """
    offsets, options, roots, weights = ragged
    option, top, size = links.option, links.top, links.size
    begin = offsets[n]
    end = begin + stack.size + level + (0 if last == 0 else 1)
    if n == roots.size:
        offsets, roots = np.append(offsets, np.zeros(n, np.int64)), np.append(roots, roots)
        weights = np.append(weights, weights)
    if end > options.size:
        options = np.append(options, np.zeros(end, np.uint32))
    options[begin : begin + stack.size] = stack
    weight = 1.0
    for s in range(level):
        options[begin + stack.size + s] = option[choice[s]]
        weight /= size[top[choice[s]]]
    if last != 0:
        options[end - 1] = option[last]
        weight /= size[top[last]]
    offsets[n + 1] = end
    roots[n] = root
    weights[n] = weight
    return Ragged(offsets, options, roots, weights)


@njit(cache=True, nogil=True)
def _empty():
    return Ragged(
        np.zeros(17, np.int64), np.zeros(256, np.uint32), np.zeros(16, np.int64), np.ones(16)
    )


_DONE, _SPENT, _COVER, _DEEP = 0, 1, 2, 3


@njit(cache=True, nogil=True)
def _walk(links, choice, level, entered, depth, visited, allowed, count, most, pause):
    """Search on from where the links stand until something must be written down.

    Either the node at `level` has just been entered, or that level is to be left. The walk ends

    * `_DONE` when the tree is exhausted,
    * `_SPENT` at a node that it may not visit because `visited` is `allowed`,
    * `_COVER` after a cover, if `pause` is set or `count` is `most`,
    * `_DEEP` at a node at the depth limit that is neither a cover nor a dead end.

    Nothing is stored here but the choices, which keeps the loop in registers.
    """
    down, right, size = links.down, links.right, links.size
    n_items = U(links.left.size - 1)
    while True:
        if entered:
            # X2. [Enter level l.]
            if visited == allowed:
                return _SPENT, level, visited, count
            if right[0] == 0:
                visited += 1
                count += 1
                if pause or count == most:
                    return _COVER, level, visited, count
                entered = False
            else:
                # X3. [Choose i.]
                best, i, p = U(0xFFFFFFFF), U(0), right[0]
                while p != 0:
                    if size[p] < best:
                        best = size[p]
                        i = p
                        if best <= 1:
                            break
                    p = right[p]
                if best == 0:
                    visited += 1
                    entered = False
                elif level == depth:
                    return _DEEP, level, visited, count
                else:
                    # X4. [Cover i.]
                    visited += 1
                    _cover(i, links)
                    choice[level] = down[i]
        while True:
            if not entered:
                # X8. [Leave level l.]
                if level == 0:
                    return _DONE, level, visited, count
                level -= 1
                # X6. [Try again.]
                _uncommit_others(choice[level], links)
                choice[level] = down[choice[level]]
            # X5. [Try x_l.]
            if choice[level] > n_items:
                _commit_others(choice[level], links)
                level += 1
                entered = True
                break
            # X7. [Backtrack.]
            _uncover(choice[level], links)
            entered = False


@njit(cache=True, nogil=True)
def _search(links, stacks, limits, allowances, budget, depth, keep, room):
    """Search below every stack of a batch; the arguments are those of `Task`."""
    n_stacks = stacks.roots.size
    counts = np.zeros(n_stacks, np.int64)
    nodes = np.zeros(n_stacks, np.int64)
    clash = np.full(n_stacks, -1, np.int32)
    found, n_found = _empty(), 0
    front, n_front = _empty(), 0
    n_items = U(links.left.size - 1)
    covered = np.zeros(n_items + 1, np.uint32)
    selected = stacks.options[:0]
    choice = np.zeros(n_items + 1, np.uint32)
    want, allowance, to_keep = np.int64(0), np.int64(0), np.int64(0)
    for k in range(n_stacks):
        root = stacks.roots[k]
        stack = stacks.options[stacks.offsets[k] : stacks.offsets[k + 1]]
        if k == 0 or root != stacks.roots[k - 1]:
            want, allowance, to_keep = limits[k], allowances[k], np.int64(keep)
        if want == 0:
            continue
        if budget == 0 or allowance == 0 or room == 0:
            front = _append(front, n_front, root, stack, choice, 0, U(0), links)
            n_front += 1
            continue
        # X1. [Initialize.]
        # Links stay where the last stack was selected, for adjacent stacks of a frontier are alike.
        shared = _shared(stack, selected)
        _deselect(selected, shared, links, covered)
        clash[k] = _select(stack, shared, links, covered)
        selected = stack if clash[k] < 0 else stack[: clash[k]]
        if clash[k] >= 0:
            continue
        allowed, most = min(budget, allowance), min(want, room)
        visited, count, level, entered = np.int64(0), np.int64(0), 0, True
        event = _DEEP
        while event >= _COVER:
            event, level, visited, count = _walk(
                links, choice, level, entered, depth, visited, allowed, count, most, to_keep > 0
            )
            entered = False
            if event == _COVER:
                if to_keep > 0:
                    found = _append(found, n_found, root, stack, choice, level, U(0), links)
                    n_found += 1
                    to_keep -= 1
                if count == most:
                    break
            elif event in (_DEEP, _SPENT):
                front = _append(front, n_front, root, stack, choice, level, U(0), links)
                n_front += 1
        is_left = event == _SPENT or (event == _COVER and most < want)
        while level > 0:
            level -= 1
            x = choice[level]
            if is_left:
                p = links.down[x]
                while p > n_items:
                    front = _append(front, n_front, root, stack, choice, level, p, links)
                    n_front += 1
                    p = links.down[p]
            _uncommit_others(x, links)
            _uncover(links.top[x], links)
        counts[k], nodes[k] = count, visited
        want -= count
        room -= count
        allowance -= visited
        budget -= visited
    return counts, nodes, clash, found, n_found, front, n_front


class DancingLinks:
    """The array-backed dancing links engine."""

    name = "dlx"
    capabilities = Capabilities(
        "dancing links over arrays (Knuth's Algorithms X and C)", colors=True, tree=MRV_TREE
    )

    def search(self, problem: ExactCover, task: Task) -> Outcome:
        """Search the stacks of a task; see `batchsolve.engines.contract`."""
        return _run(_search, (_links(problem),), task)


def _run(search: Callable[..., Any], arrays: tuple[Any, ...], task: Task) -> Outcome:
    """Call a compiled search of a task with the arrays of its problem."""
    counts, nodes, clash, found, n_found, front, n_front = search(
        *arrays,
        _ragged(task.stacks),
        task.limits,
        task.allowances,
        task.budget,
        task.depth,
        task.keep,
        task.room,
    )
    weights = front.weights[:n_front]
    return Outcome(counts, nodes, clash, _trim(found, n_found), _trim(front, n_front), weights)


def _ragged(stacks: Stacks) -> Ragged:
    return Ragged(stacks.offsets, stacks.options, stacks.roots, np.ones(0))


def _trim(ragged: Ragged, n: int) -> Stacks:
    return Stacks(ragged.offsets[: n + 1], ragged.options[: ragged.offsets[n]], ragged.roots[:n])


_PREPARED: OrderedDict[str, Links] = OrderedDict()
_PREPARED_MOST = 8
_PREPARED_LOCK = threading.Lock()
_CHANGING = ("up", "down", "left", "right", "size", "color")


def _links(problem: ExactCover) -> Links:
    """Return links for one search of a problem, copies of those built once in each process."""
    with _PREPARED_LOCK:
        links = _PREPARED.get(problem.fingerprint)
        if links is None:
            arrays = (np.array(problem.indptr), np.array(problem.indices))
            links = _build(*arrays, problem.n_items, problem.n_primary)
            if problem.colors is not None:
                color = np.zeros(links.top.size, np.uint32)  # headers and spacers have none
                color[links.top != 0] = problem.colors
                links = links._replace(color=color)
            _PREPARED[problem.fingerprint] = links
        _PREPARED.move_to_end(problem.fingerprint)
        while len(_PREPARED) > _PREPARED_MOST:
            _PREPARED.popitem(last=False)
    fields = {name: getattr(links, name) for name in _CHANGING}
    return links._replace(**{name: a.copy() for name, a in fields.items() if a is not None})
