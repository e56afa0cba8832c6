"""Named families of exact cover problems, built from a few numbers.

`family` reads a name with its sizes, ``queens:12`` or ``pentominoes:6x10``; every family is also a
function. Items and options have names, so that a cover can be read.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from itertools import combinations

import numpy as np

from batchsolve.errors import InputError, ProblemError, prefixed
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.sudoku import sudoku
from batchsolve.problems.tilings import MOST_OPTIONS, tiling
from batchsolve.settings.arguments import text_of

_MOST_SHOWN = 10**12  # options in a message: Python refuses to write numbers of 4,300 digits


def queens(n: int) -> ExactCover:
    """Return the problem of n queens that do not attack each other on an n × n board.

    Rows ``r1`` … and columns ``c1`` … are primary; the diagonals ``a`` (row + column) and ``b``
    (row - column) are secondary. Rows and columns alternate in organ-pipe order, from the middle of
    the board outwards, as Knuth advises (TAOCP 7.2.2.1): the search takes the first of the items
    with the fewest options, and a queen in the middle leaves the others the least room. Options
    have the names of squares, the letter of the column before the number of the row.

    Examples
    --------
    >>> problem = queens(8)
    >>> problem
    ExactCover(n_items=46, n_primary=16, n_options=64)
    >>> problem.item_names[:6], problem.option_names[:2], problem.option_name(63)
    (('r5', 'c5', 'r4', 'c4', 'r6', 'c6'), ('a1', 'b1'), 'h8')
    """
    _check_order(n, lambda k: k * k)
    # the first row is n // 2, counted from 0; of two rows equally far from the middle, the lower
    middle_first = sorted(range(1, n + 1), key=lambda k: (abs(2 * k - 2 - n), k))
    primary = [f"{kind}{k}" for k in middle_first for kind in "rc"]
    secondary = [f"a{k}" for k in range(2, 2 * n + 1)] + [f"b{k}" for k in range(1 - n, n)]
    rank = np.argsort(middle_first)  # of each row and column in that order
    row, column = np.divmod(np.arange(n * n), n)
    sums, differences = 2 * n + row + column, 5 * n - 2 + row - column
    items = np.stack([2 * rank[row], 2 * rank[column] + 1, sums, differences], axis=1)
    letters = list(map(_letters, range(1, n + 1)))
    return ExactCover(
        np.arange(0, items.size + 1, 4),
        items.reshape(-1),
        len(primary) + len(secondary),
        len(primary),
        [*primary, *secondary],
        [f"{letter}{k}" for k in range(1, n + 1) for letter in letters],
    )


def langford(n: int) -> ExactCover:
    """Return Langford's problem: 1, 1, 2, 2, …, n, n in a row, k numbers between the two k.

    The items are the numbers ``1`` … ``n``, then the places ``s1`` … ``s2n``. An arrangement and
    its mirror image are two covers.

    Examples
    --------
    >>> problem = langford(3)
    >>> problem.item_names
    ('1', '2', '3', 's1', 's2', 's3', 's4', 's5', 's6')
    >>> problem.option_names  # the number, and its two places
    ('1@1,3', '1@2,4', '1@3,5', '1@4,6', '2@1,4', '2@2,5', '2@3,6', '3@1,5', '3@2,6')
    """
    _check_order(n, lambda k: k * (2 * k - 1))
    pairs = [(k, a, a + k + 1) for k in range(1, n + 1) for a in range(1, 2 * n - k)]
    return ExactCover.from_options(
        [[str(k), f"s{a}", f"s{b}"] for k, a, b in pairs],
        [*map(str, range(1, n + 1)), *(f"s{a}" for a in range(1, 2 * n + 1))],
        option_names=[f"{k}@{a},{b}" for k, a, b in pairs],
    )


def dominoes(rows: int, columns: int) -> ExactCover:
    """Return the problem of tiling a rectangle with dominoes.

    The items are the cells ``r1c1``, ``r1c2``, …; an option has the name of its two cells.

    Examples
    --------
    >>> problem = dominoes(2, 2)
    >>> [problem.option_name(o) for o in range(problem.n_options)]
    ['r1c1 r1c2', 'r1c1 r2c1', 'r1c2 r2c2', 'r2c1 r2c2']
    """
    _check_least(rows, columns)
    _check_order(rows * columns, lambda k: 2 * k, "R x C")
    cells = {(r, c): f"r{r}c{c}" for r in range(1, rows + 1) for c in range(1, columns + 1)}
    options = [
        [cells[r, c], cells[beside]]
        for r, c in cells
        for beside in ((r, c + 1), (r + 1, c))
        if beside in cells
    ]
    return ExactCover.from_options(options, list(cells.values()))


def pentominoes(rows: int, columns: int) -> ExactCover:
    """Return the problem of tiling a rectangle of 60 cells with the twelve pentominoes.

    The items are the pieces ``F I L N P T U V W X Y Z``, each used once in any rotation or
    reflection, then the cells ``r1c1``, ``r1c2``, …; the name of an option has its piece and cells.
    Rotations and reflections of a tiling are different covers.

    Raises
    ------
    ProblemError
        If the rectangle does not have 60 cells.

    Examples
    --------
    >>> problem = pentominoes(6, 10)
    >>> problem, problem.option_name(0)
    (ExactCover(n_items=72, n_primary=72, n_options=2056), 'F r1c1 r1c2 r2c2 r2c3 r3c2')
    """
    if rows < 1 or rows * columns != 60:
        raise ProblemError(
            f"twelve pentominoes tile 60 cells, not {rows}×{columns}; "
            f"rectangles of 60 cells are 3×20, 4×15, 5×12 and 6×10"
        )
    return tiling(f"{rows}x{columns}", "pentominoes")


def latin(n: int) -> ExactCover:
    """Return the problem of Latin squares of order n.

    The items are the cells ``r1c1`` …, the digits in rows ``r1#1`` … and the digits in columns
    ``c1#1`` …; the option ``r1c2#3`` puts digit 3 into row 1, column 2.

    Examples
    --------
    >>> problem = latin(2)
    >>> problem, problem.option_name(1)
    (ExactCover(n_items=12, n_primary=12, n_options=8), 'r1c1#2')
    """
    _check_order(n, lambda k: k**3)
    numbers = range(1, n + 1)
    cells = [f"r{r}c{c}" for r in numbers for c in numbers]
    units = [f"{unit}{k}#{digit}" for unit in "rc" for k in numbers for digit in numbers]
    choices = [(r, c, digit) for r in numbers for c in numbers for digit in numbers]
    return ExactCover.from_options(
        [[f"r{r}c{c}", f"r{r}#{digit}", f"c{c}#{digit}"] for r, c, digit in choices],
        cells + units,
        option_names=[f"r{r}c{c}#{digit}" for r, c, digit in choices],
    )


def matchings(n: int) -> ExactCover:
    """Return the problem of perfect matchings of the complete graph on 2n points.

    The items are the points ``1`` … ``2n``; an option is a pair of them. There are
    (2n - 1)!! = 1 · 3 · 5 · … · (2n - 1) covers.

    Examples
    --------
    >>> problem = matchings(2)
    >>> [problem.option_name(o) for o in range(problem.n_options)]
    ['1 2', '1 3', '1 4', '2 3', '2 4', '3 4']
    """
    _check_order(n, lambda k: k * (2 * k - 1))
    return _sets(2 * n, [2])


def edgecovers(n: int) -> ExactCover:
    """Return the problem of edge covers of the complete graph on n points.

    The items are the points ``1`` … ``n``, each in one option or more (they have bounds); an option
    is a pair of them. So the covers are the graphs on n points without isolated points (OEIS
    A006129).

    Examples
    --------
    >>> edgecovers(4)
    ExactCover(n_items=4, n_primary=4, n_options=6, n_bounded=4)
    """
    _check_order(n, lambda k: k * (k - 1) // 2)
    points = list(map(str, range(1, n + 1)))
    bounds = dict.fromkeys(points, (1, max(1, n - 1)))
    return ExactCover.from_options(combinations(points, 2), points, bounds=bounds)


def partitions(n: int) -> ExactCover:
    """Return the problem of partitions of a set of n elements.

    The items are the elements ``1`` … ``n``; the options are all their nonempty sets. The number of
    covers is the n-th Bell number.

    Examples
    --------
    >>> problem = partitions(3)
    >>> [problem.option_name(o) for o in range(problem.n_options)]
    ['1', '2', '3', '1 2', '1 3', '2 3', '1 2 3']
    """
    _check_order(n, lambda k: 2 ** min(k, 64) - 1)
    return _sets(n, range(1, n + 1))


def _sets(n: int, sizes: Iterable[int]) -> ExactCover:
    """Return the problem whose options are the sets of the given sizes of the points 1 … n."""
    points = list(map(str, range(1, n + 1)))
    return ExactCover.from_options([s for k in sizes for s in combinations(points, k)], points)


def steiner(v: int) -> ExactCover:
    """Return the problem of Steiner triple systems on v points: triples that cover each pair once.

    The items are the pairs of points, ``1-2`` …, and an option is a triple, ``1 2 3``, which covers
    its three pairs. Points are labelled: isomorphic systems are different covers. Systems exist if
    v mod 6 is 1 or 3 (T. P. Kirkman, 1847).

    Examples
    --------
    >>> problem = steiner(7)
    >>> problem, problem.option_name(0), problem.item_names[:3]
    (ExactCover(n_items=21, n_primary=21, n_options=35), '1 2 3', ('1-2', '1-3', '1-4'))
    """
    _check_order(v, lambda k: k * (k - 1) * (k - 2) // 6)
    pairs = [f"{a}-{b}" for a, b in combinations(range(1, v + 1), 2)]
    triples = list(combinations(range(1, v + 1), 3))
    return ExactCover.from_options(
        [[f"{a}-{b}", f"{a}-{c}", f"{b}-{c}"] for a, b, c in triples],
        pairs,
        option_names=[f"{a} {b} {c}" for a, b, c in triples],
    )


def _empty_grid(box_rows: int, box_columns: int) -> ExactCover:
    """Return the problem of the empty grid; raise if it is too large to be searched."""
    _check_least(box_rows, box_columns)
    _check_order(box_rows * box_columns, lambda k: k**3, "R x C")
    return sudoku(box_rows, box_columns)


FAMILIES: dict[str, tuple[Callable[..., ExactCover], str, str]] = {
    "queens": (queens, "queens:N", "queens:8"),
    "langford": (langford, "langford:N", "langford:8"),
    "dominoes": (dominoes, "dominoes:RxC", "dominoes:8x8"),
    "pentominoes": (pentominoes, "pentominoes:RxC", "pentominoes:6x10"),
    "latin": (latin, "latin:N", "latin:5"),
    "matchings": (matchings, "matchings:N", "matchings:8"),
    "edgecovers": (edgecovers, "edgecovers:N", "edgecovers:6"),
    "partitions": (partitions, "partitions:N", "partitions:8"),
    "steiner": (steiner, "steiner:N", "steiner:9"),
    "sudoku": (_empty_grid, "sudoku:RxC", "sudoku:3x3"),
}
"""The builder of the problems of each family, the form of their names, and an example."""


def known_families() -> str:
    """Return the forms of the names of all families, for messages and help.

    Examples
    --------
    >>> known_families()
    'queens:N, langford:N, ..., steiner:N, sudoku:RxC'
    """
    return ", ".join(form for _, form, _ in FAMILIES.values())


def family(text: str) -> ExactCover:
    """Return the problem with a name and sizes.

    Parameters
    ----------
    text : str
        ``queens:12``, ``langford:11``, ``dominoes:8x8``, ``pentominoes:6x10``, ``latin:5``,
        ``matchings:8``, ``edgecovers:6``, ``partitions:8``, ``steiner:9``, or ``sudoku:2x3``, the
        empty grid with boxes of 2 rows and 3 columns.

    Raises
    ------
    InputError
        If the family is unknown, or does not have this size.

    Examples
    --------
    >>> family("dominoes:2x3")
    ExactCover(n_items=6, n_primary=6, n_options=7)
    >>> family("sudoku:2x3")
    Sudoku(2, 3)
    """
    name, _, sizes = text_of("a family", text).partition(":")
    if name not in FAMILIES:
        raise InputError(f"unknown family {name[:60]!r}; choose from {known_families()}")
    build, form, example = FAMILIES[name]
    numbers = sizes.lower().split("x")
    whole = all(number.isascii() and number.isdecimal() and len(number) < 10 for number in numbers)
    if not whole or len(numbers) != len(form.split("x")):
        raise InputError(
            f"{text[:60]}: {sizes[:50]!r} is not a size; write {form}, such as {example}"
        )
    with prefixed(text, InputError, ProblemError):
        return build(*map(int, numbers))


def _check_order(n: int, n_options: Callable[[int], int], name: str = "N") -> None:
    """Raise `ProblemError` if an order is less than 1, or has too many options."""
    _check_least(n)
    if (many := n_options(n)) > MOST_OPTIONS:
        largest = bisect_right(range(MOST_OPTIONS), MOST_OPTIONS, key=n_options) - 1
        shown = f"{many:,}" if many < _MOST_SHOWN else f"more than {_MOST_SHOWN:,}"
        raise ProblemError(
            f"{shown} options; {MOST_OPTIONS:,} are possible: {name} is at most {largest:,}"
        )


def _check_least(*sizes: int) -> None:
    if min(sizes) < 1:
        raise ProblemError(f"sizes are at least 1, not {min(sizes)}")


def _letters(k: int) -> str:
    """Return the name of the k-th column of a board, from 1: a, b, …, z, aa, ab, …."""
    letters = ""
    while k > 0:
        k, letter = divmod(k - 1, 26)
        letters = chr(ord("a") + letter) + letters
    return letters
