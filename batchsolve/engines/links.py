"""The arrays of dancing links, and the operations on them.

The data structure is the one of *The Art of Computer Programming* 7.2.2.1, Algorithm X: every
node of an option has an item (TOP) and its neighbours in the item's list (ULINK, DLINK); nodes of
one option are adjacent and spacers separate options, so that an option is walked without links of
its own; item headers 1..n_items carry LLINK and RLINK. Two things differ from the book:

* indices are unsigned, because signed ones make the compiler test every access for wrap-around;
* a *stack* (a partial cover: a puzzle's clues, or a subproblem) is selected before the search, and
  afterwards undone as far as the next stack does not share it: one set of links serves a batch.

In a problem with colours, every node has one (COLOR), as in Algorithm C. To *commit* to a node
without a colour is to cover its item. To commit to one with a colour is to *purify* its item:
options that give the item another colour are hidden, and the nodes of those that give it the same
one are marked as `PURE`, so that nothing more is done to them. Kernels are compiled twice, for
links with colours and without; in the latter a node's colour is the constant 0, and the compiler
drops all that depends on it. Likewise for links with the handicaps of a branching rule
(`batchsolve.engines.branching`) and without.

The set of items that are not yet covered determines the subtree below a partial cover. Its *key* is
this whole set, a bit per item, and is compared as a whole. A secondary item without options left
counts as covered, because it rules nothing out. One that was purified counts as uncovered, and the
key has its colour too.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import types, uint32, uint64
from numba.extending import overload

from batchsolve.engines.branching import ENOUGH, handicaps_of
from batchsolve.engines.frame import append, prepared
from batchsolve.kernels import helper, inlined, kernel
from batchsolve.problems.exact_cover import ExactCover

U, W = uint32, uint64


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
    color: np.ndarray | None  # node -> its colour, 0 or `PURE`; item -> the colour of its list
    handicap: np.ndarray | None  # item -> its handicap


class Starts(NamedTuple):
    """The places where each of several problems begins in its `Links`; the last one ends them."""

    nodes: np.ndarray
    items: np.ndarray
    options: np.ndarray


PURE = U(0xFFFFFFFF)


def color(x, links):
    """Return the colour of a node or an item."""


def _paint(x, color, links):
    """Change the colour of a node or an item."""


def with_handicap(n, i, links):
    """Return a number of options of an item, and its handicap added if they are two or more."""


def enough(links):
    """Return the number of options at which the choice of an item ends."""


def _part(array, begin, end):
    """Return a part of an array, or None of None."""


@overload(color, inline="always")
def _color_of_kind(x, links):
    if _has(links, "color"):
        return lambda x, links: links.color[x]
    return lambda x, links: U(0)


@overload(_paint, inline="always")
def _paint_of_kind(x, color, links):
    if _has(links, "color"):

        def paint(x, color, links):
            links.color[x] = color

        return paint
    return lambda x, color, links: None


@overload(with_handicap, inline="always")
def _with_handicap_of_kind(n, i, links):
    if _has(links, "handicap"):
        return lambda n, i, links: U(n + links.handicap[i]) if n > 1 else n
    return lambda n, i, links: n


@overload(enough, inline="always")
def _enough_of_kind(links):
    if _has(links, "handicap"):
        return lambda links: links.handicap[ENOUGH]
    return lambda links: U(1)


def _has(links: types.NamedTuple, name: str) -> bool:
    """Return whether links of this type have an array of that name."""
    return isinstance(links.types[links.fields.index(name)], types.Array)


@overload(_part, inline="always")
def _part_of_kind(array, begin, end):
    if isinstance(array, types.Array):
        return lambda array, begin, end: array[begin:end]
    return lambda array, begin, end: None


@helper
def links_at(links, starts, k):
    """Return the links of problem `k` of several."""
    x, y = starts.nodes[k], starts.nodes[k + 1]
    i, j = starts.items[k], starts.items[k + 1]
    return Links(
        links.top[x:y],
        links.up[x:y],
        links.down[x:y],
        links.left[i:j],
        links.right[i:j],
        links.size[i:j],
        links.option[x:y],
        links.first[starts.options[k] : starts.options[k + 1]],
        _part(links.color, x, y),
        _part(links.handicap, i, j),
    )


@kernel
def _lay_out(links, starts, n_primary, indptr, items):
    """Lay out the options of problems, whose arrays stand one behind the other, as linked nodes."""
    entry = np.uintp(0)
    for k in range(n_primary.size):
        own = links_at(links, starts, k)
        top, up, down, option, size = own.top, own.up, own.down, own.option, own.size
        for i in range(size.size):
            top[i], up[i], down[i], option[i], size[i] = U(0), U(i), U(i), U(0), U(0)
            own.left[i] = own.right[i] = U(i)
        for i in range(n_primary[k]):
            own.right[i], own.left[i + 1] = U(i + 1), U(i)
        own.left[0], own.right[n_primary[k]] = U(n_primary[k]), U(0)
        q = U(size.size)  # the first spacer
        top[q], up[q], option[q] = U(0), U(0), U(0)
        bounds = indptr[starts.options[k] + k :]
        for o in range(own.first.size):
            spacer = q
            own.first[o] = spacer + U(1)
            for _ in range(bounds[o + 1] - bounds[o]):
                q = U(q + U(1))
                i = U(items[entry] + U(1))
                entry += np.uintp(1)
                above = up[i]
                top[q], up[q], down[q], option[q] = i, above, i, U(o)
                down[above] = up[i] = q
                size[i] += U(1)
            down[spacer] = q
            q = U(q + U(1))
            top[q], up[q], option[q] = U(0), own.first[o], U(0)
        down[q] = U(0)


def _starts_of_each(problems: Sequence[ExactCover]) -> Starts:
    """Return where the links of each of several problems begin."""
    sizes = np.zeros((3, len(problems) + 1), np.int64)
    for k, problem in enumerate(problems, 1):
        n_headers, n_options = problem.n_items + 1, problem.n_options
        sizes[:, k] = n_headers + problem.n_entries + n_options + 1, n_headers, n_options
    return Starts(*np.cumsum(sizes, axis=1))


def links_of_each(problems: Sequence[ExactCover], rule: str = "") -> tuple[Links, Starts]:
    """Lay out the options of problems; all of them have colours, or none has."""
    starts = _starts_of_each(problems)
    top, up, down, option = (np.empty(starts.nodes[-1], np.uint32) for _ in range(4))
    left, right, size = (np.empty(starts.items[-1], np.uint32) for _ in range(3))
    first = np.empty(starts.options[-1], np.uint32)
    links = Links(top, up, down, left, right, size, option, first, None, None)
    n_primary = np.array([problem.n_primary for problem in problems])
    indptr, items = (
        np.concatenate([getattr(problem, name) for problem in problems])
        for name in ("indptr", "indices")
    )
    _lay_out(links, starts, n_primary, indptr, items)
    if problems[0].colors is not None:
        color = np.zeros(top.size, np.uint32)  # headers and spacers have none
        color[top != 0] = np.concatenate([problem.colors for problem in problems])
        links = links._replace(color=color)
    if rule:
        handicaps = [handicaps_of(problem, rule) for problem in problems]
        links = links._replace(handicap=np.concatenate(handicaps))
    return links, starts


@inlined
def hide(p, links):
    """Remove every node of p's option, p itself excepted, from its item's list."""
    top, up, down, size = links.top, links.up, links.down, links.size
    q = U(p + U(1))
    while q != p:
        x = top[q]
        if x == 0:
            q = up[q]
        else:
            if color(q, links) != PURE:
                u, d = up[q], down[q]
                down[u] = d
                up[d] = u
                size[x] -= U(1)
            q = U(q + U(1))


@inlined
def unhide(p, links):
    """Undo `hide`."""
    top, up, down, size = links.top, links.up, links.down, links.size
    q = U(p - U(1))
    while q != p:
        x = top[q]
        if x == 0:
            q = down[q]
        else:
            if color(q, links) != PURE:
                u, d = up[q], down[q]
                down[u] = q
                up[d] = q
                size[x] += U(1)
            q = U(q - U(1))


@inlined
def cover(i, links):
    """Hide every option of an item, and take a primary item out of the header list."""
    down = links.down
    p = down[i]
    while p != i:
        hide(p, links)
        p = down[p]
    ll, r = links.left[i], links.right[i]
    links.right[ll] = r
    links.left[r] = ll


@inlined
def uncover(i, links):
    """Undo `cover`."""
    ll, r = links.left[i], links.right[i]
    links.right[ll] = i
    links.left[r] = i
    up = links.up
    p = up[i]
    while p != i:
        unhide(p, links)
        p = up[p]


@inlined
def purify(p, links):
    """Hide the options that give p's item another colour than p; mark those that give it the same.

    p itself keeps its colour: this is how `_uncommit` knows that p's item was purified for p. In
    the search p is hidden by then, but a stack may have an option whose first item has a colour.
    """
    down = links.down
    c, i = color(p, links), links.top[p]
    _paint(i, c, links)
    q = down[i]
    while q != i:
        if color(q, links) != c:
            hide(q, links)
        elif q != p:
            _paint(q, PURE, links)
        q = down[q]


@inlined
def unpurify(p, links):
    """Undo `purify`."""
    up = links.up
    c, i = color(p, links), links.top[p]
    q = up[i]
    while q != i:
        if color(q, links) == PURE:
            _paint(q, c, links)
        elif q != p:
            unhide(q, links)
        q = up[q]
    _paint(i, U(0), links)


@inlined
def _commit(p, links):
    """Cover or purify the item of a node."""
    c = color(p, links)
    if c == 0:
        cover(links.top[p], links)
    elif c != PURE:
        purify(p, links)


@inlined
def _uncommit(p, links):
    c = color(p, links)
    if c == 0:
        uncover(links.top[p], links)
    elif c != PURE:
        unpurify(p, links)


@inlined
def commit_others(p, links):
    """Commit to the nodes of p's option, p itself excepted."""
    top, up = links.top, links.up
    q = U(p + U(1))
    while q != p:
        if top[q] == 0:
            q = up[q]
        else:
            _commit(q, links)
            q = U(q + U(1))


@inlined
def uncommit_others(p, links):
    """Undo `commit_others`."""
    top, down = links.top, links.down
    q = U(p - U(1))
    while q != p:
        if top[q] == 0:
            q = down[q]
        else:
            _uncommit(q, links)
            q = U(q - U(1))


@inlined
def choose(links):
    """Return the fewest options of an active item, its handicap included, and the branch item.

    One item must be active.
    """
    right, size = links.right, links.size
    best, i, p = U(0xFFFFFFFF), U(0), right[0]
    while p != 0:
        n = with_handicap(size[p], p, links)
        if n < best:
            best = n
            i = p
            if best <= enough(links):
                break
        p = right[p]
    return best, i


@helper
def _commit_option(p, links):
    """Commit to all nodes of p's option, p first."""
    _commit(p, links)
    commit_others(p, links)


@helper
def _uncommit_option(p, links):
    """Undo `_commit_option`."""
    uncommit_others(p, links)
    _uncommit(p, links)


@helper
def _deselect(stack, begin, links, covered):
    """Undo the selection of the options of a stack from place `begin` on, last first."""
    for s in range(stack.size - 1, begin - 1, -1):
        p = links.first[stack[s]]
        _uncommit_option(p, links)
        q = p
        while links.top[q] != 0:
            covered[links.top[q]] -= U(1)
            q = U(q + U(1))


@inlined
def _is_in(option, stack):
    found = False
    for other in stack:
        found |= other == option
    return found


@helper
def _select(stack, begin, links, covered):
    """Select the options of a stack from place `begin` on, up to the first that clashes.

    Returns -1, or the position of that option. `covered` counts the options that cover or purify an
    item.
    """
    for s in range(begin, stack.size):
        clashes = stack[s] >= links.first.size
        if not clashes:
            all_pure = True
            q = links.first[stack[s]]
            while links.top[q] != 0:
                if color(q, links) != PURE:
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
        _commit_option(p, links)
    return -1


@inlined
def shared(stack, other):
    """Return how many options two stacks share at their beginnings."""
    s = 0
    while s < stack.size and s < other.size and stack[s] == other[s]:
        s += 1
    return s


@helper
def reselect(selected, stack, links, covered):
    """Select a stack instead of the one that is selected.

    The options that both share stay selected, because adjacent stacks of a frontier are alike.
    Returns -1, or the position of a clash, and the part of the stack that is selected now.
    """
    begin = shared(stack, selected)
    _deselect(selected, begin, links, covered)
    clash = _select(stack, begin, links, covered)
    return clash, stack if clash < 0 else stack[:clash]


@helper
def name_choices(links, choice, level, choices):
    """Write the options of the nodes chosen above `level`, and how many children there were.

    A covered item's list keeps the size that it had when it was covered.
    """
    for s in range(level):
        choices.options[s] = links.option[choice[s]]
        choices.children[s] = links.size[links.top[choice[s]]]


@helper
def hand_back(links, choice, level, stacks, k, choices, front):
    """Write the children above `level` that are still to be tried; `choices` is overwritten."""
    n_items = U(links.left.size - 1)
    while level > 0:
        level -= 1
        p = links.down[choice[level]]
        while p > n_items:
            choices.options[level] = links.option[p]
            front = append(front, stacks, k, choices, level + 1)
            p = links.down[p]
    return front


@helper
def undo(links, choice, level):
    """Undo the choices above `level`."""
    while level > 0:
        level -= 1
        _uncommit_option(choice[level], links)


_CHANGING = ("up", "down", "left", "right", "size", "color")


@prepared
def _prepared_links(problem: ExactCover) -> Links:
    """Lay out the options of a problem, to be copied."""
    return links_of_each([problem])[0]


def links_of(problem: ExactCover, rule: str = "") -> Links:
    """Return links for one search of a problem, copies of those built once in each process."""
    links = _prepared_links(problem)
    fields = {name: getattr(links, name) for name in _CHANGING}
    links = links._replace(**{name: a.copy() for name, a in fields.items() if a is not None})
    return links._replace(handicap=handicaps_of(problem, rule) if rule else None)


def starts_of(problem: ExactCover) -> Starts:
    """Return where the links of a single problem begin and end."""
    return _starts_of_each([problem])


# ---- keys of partial covers -----------------------------------------------------------------


def words_of_key(problem: ExactCover) -> int:
    """Return the number of words in a key; bit i stands for item i, counted from 1."""
    words = (problem.n_items + 64) // 64
    if problem.colors is not None:
        words += (problem.n_items - problem.n_primary + 1) // 2  # a colour is half a word
    return words


@inlined
def flip(p, links, uncovered):
    """Flip the bits of the items to which p's option gives no colour."""
    top, up = links.top, links.up
    q = p
    while True:
        j = top[q]
        if j == 0:
            q = up[q]
        else:
            if color(q, links) == 0:
                uncovered[W(j) >> W(6)] ^= W(1) << (W(j) & W(63))
            q = U(q + U(1))
        if q == p:
            break


@helper
def write_key(key, uncovered, links, n_primary):
    """Write the key of the current node: the uncovered items that still matter."""
    for w in range(key.size):
        key[w] = uncovered[w]
    n_items = links.size.size - 1
    words = W(n_items + 64) >> W(6)
    for j in range(n_primary + 1, n_items + 1):
        if links.size[j] == 0:
            key[W(j) >> W(6)] &= ~(W(1) << (W(j) & W(63)))
        elif color(j, links) != 0:
            k = W(j - n_primary - 1)
            key[words + (k >> W(1))] |= W(color(j, links)) << (W(32) * (k & W(1)))


@inlined
def hash_of(key):
    """Return a hash of a key."""
    h = W(0x9E3779B97F4A7C15)
    for w in range(key.size):
        h = (h ^ key[w]) * W(0xFF51AFD7ED558CCD)
        h ^= h >> W(32)
    return h


@helper
def list_uncovered(links, covered, uncovered):
    """Write the items that the selected stack leaves uncovered, a bit each."""
    uncovered[:] = 0
    for j in range(1, links.size.size):
        if covered[j] == 0 or color(j, links) != 0:
            uncovered[W(j) >> W(6)] |= W(1) << (W(j) & W(63))
