"""Exact cover problems with a name: families, tilings, odd shapes, and random ones.

Random problems come from Python's own generator, which gives the same numbers on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from itertools import combinations
from random import Random
from typing import Any

import kinds

from batchsolve import ExactCover, family, tiling

SMALL = (
    *("queens:1", "queens:2", "queens:4", "queens:5", "queens:6", "queens:7"),
    *("langford:3", "langford:4", "langford:7", "dominoes:1x1", "dominoes:2x3", "dominoes:4x4"),
    *("dominoes:3x6", "latin:1", "latin:3", "latin:4", "matchings:1", "matchings:4", "matchings:5"),
    *("partitions:1", "partitions:5", "partitions:6", "steiner:6", "steiner:7"),
    *("tetrominoes 4x5 fixed", "trominoes 3x4 any", "L3 4x4 holes"),
)
"""Problems that an engine in Python searches, too."""

LARGER = (
    *("queens:8", "queens:9", "langford:8", "langford:9", "dominoes:6x6", "dominoes:5x8"),
    *("latin:5", "matchings:7", "partitions:8", "steiner:9", "pentominoes:3x20", "pentominoes 5x5"),
)
"""Problems of ten thousand nodes or more."""

BOUNDED = (
    *("edgecovers:2", "edgecovers:3", "edgecovers:4", "edgecovers:5", "dominating 4 3"),
    *("dominating 5 3", "graphs 5 2 2", "graphs 6 2 3", "graphs 7 2 2", "trominoes 3x4 2.."),
)

RANDOM_KINDS: dict[str, dict[str, int]] = {
    "plain": {"n_plans": 5, "noise": 12},
    "wide": {"n_primary": 20, "n_plans": 4, "noise": 12},
    "secondary": {"n_secondary": 6},
    "colours": {"n_secondary": 6, "n_colors": 3, "noise": 12},
    "many colours": {"n_primary": 8, "n_secondary": 20, "n_colors": 40, "noise": 24},
    "costs": {"most_cost": 9},
    "costs secondary": {"n_secondary": 5, "n_colors": 2, "most_cost": 99},
    "bounds": {"n_primary": 8, "bounded": 3, "n_plans": 3, "noise": 8},
    "bounds colours": {"n_primary": 7, "n_secondary": 4, "n_colors": 2, "bounded": 4, "noise": 6},
    "bounds costs": {"n_primary": 7, "bounded": 3, "n_plans": 3, "noise": 6, "most_cost": 20},
}
"""The arguments of `random_problem` for each kind, other than the seed."""


def random_names(kind: str, n: int) -> list[str]:
    """Return the names of some random problems of a kind."""
    return [f"random {kind} {seed}" for seed in range(n)]


@cache
def problem(name: str) -> ExactCover:
    """Return the problem of a name."""
    if name in ODD:
        return ODD[name]()
    if name in _TILINGS:
        return _TILINGS[name]()
    if name.startswith("random "):
        kind, _, seed = name.removeprefix("random ").rpartition(" ")
        return random_problem(int(seed), **RANDOM_KINDS[kind])
    word, *sizes = name.split(" ")
    if word in _KINDS:
        return _KINDS[word](*map(int, sizes))
    if word == "shuffled":
        return kinds.shuffled(family(*sizes))
    if word == "priced":
        return kinds.with_costs(*sizes)
    return family(name)


def random_problem(
    seed: int,
    *,
    n_primary: int = 12,
    n_secondary: int = 0,
    n_colors: int = 0,
    n_plans: int = 6,
    noise: int = 20,
    bounded: int = 0,
    most_cost: int = 0,
) -> ExactCover:
    """Return a random problem with several covers.

    Parameters
    ----------
    seed : int
    n_primary, n_secondary, n_colors : int
        Secondary items have colours if there are any.
    n_plans : int
        Partitions of the primary items whose parts are options.
    noise : int
        Further options of one to four primary items.
    bounded : int
        Primary items with bounds.
    most_cost : int
        The upper bound of costs; 0 if options have none.
    """
    rng = Random(seed)
    options = [part for _ in range(n_plans) for part in _partition(rng, n_primary)]
    options += [rng.sample(range(n_primary), rng.randint(1, 4)) for _ in range(noise)]
    rng.shuffle(options)
    colors: list[dict[Any, Any]] = []
    for option in options:
        further = rng.sample(range(n_primary, n_primary + n_secondary), min(n_secondary, 2))
        further = [item for item in further if rng.random() < 0.5]
        option += further
        painted = (item for item in further if n_colors and rng.random() < 0.8)
        colors.append({item: rng.randint(1, n_colors) for item in painted})
    bounds = {item: _bounds(rng) for item in rng.sample(range(n_primary), bounded)}
    return ExactCover.from_options(
        options,
        list(range(n_primary)),
        list(range(n_primary, n_primary + n_secondary)),
        colors=colors if n_colors else None,
        bounds=bounds or None,
        costs=[rng.randint(0, most_cost) for _ in options] if most_cost else None,
    )


def _partition(rng: Random, n: int) -> list[list[int]]:
    """Return the numbers below n in random parts of one to four."""
    numbers = rng.sample(range(n), n)
    parts = []
    while numbers:
        size = rng.randint(1, 4)
        parts.append(numbers[:size])
        del numbers[:size]
    return parts


def _bounds(rng: Random) -> tuple[int, int]:
    least = rng.randint(0, 2)
    return least, max(1, least + rng.randint(0, 2))


def _chain(n: int) -> ExactCover:
    """Return the problem of a path of n items: options are neighbours, and every ninth item."""
    options = [[k] for k in range(0, n, 9)] + [[k, k + 1] for k in range(n - 1)]
    return ExactCover.from_options(options, list(range(n)))


def _pairs(n_options: int) -> ExactCover:
    """Return a problem with this many options: pairs with the first item, and single items."""
    options = [[0, 1 + k % 7] for k in range(n_options - 7)] + [[k] for k in range(1, 8)]
    return ExactCover.from_options(options, list(range(8)))


def _sharp() -> ExactCover:
    """Return a problem in which the names of some items begin with #."""
    points = ["#a", "b", "#c", "d", "e", "#f", "g", "h"]
    return ExactCover.from_options(combinations(points, 2), points)


ODD: dict[str, Callable[[], ExactCover]] = {
    "no items": lambda: ExactCover([0], [], 0),
    "no options": lambda: ExactCover([0], [], 3),
    "no primary items": lambda: ExactCover([0, 1, 2], [0, 1], 2, 0),
    "an item without options": lambda: ExactCover([0, 1, 2], [0, 1], 3),
    "only secondary options": lambda: ExactCover([0, 1, 2, 3], [0, 1, 1], 2, 1),
    "equal options": lambda: ExactCover([0, 2, 4, 6, 7], [0, 1, 0, 1, 0, 1, 0], 2),
    "one option": lambda: ExactCover([0, 4], [0, 1, 2, 3], 4),
    "same colours": lambda: ExactCover(
        [0, 2, 4, 6], [0, 3, 1, 3, 2, 3], 4, 3, colors=[0, 1, 0, 1, 0, 1]
    ),
    "a colour and none": lambda: ExactCover(
        [0, 2, 4, 6, 7], [0, 2, 1, 2, 1, 2, 0], 3, 2, colors=[0, 1, 0, 0, 0, 1, 0]
    ),
    "sharp items": _sharp,
    **{f"{n} options": partial(_pairs, n) for n in (63, 64, 65, 127, 128, 129, 300)},
    **{f"a chain of {n}": partial(_chain, n) for n in (8, 63, 64, 65)},
}
"""Problems with odd shapes, and those where a set begins another word."""

_KINDS: dict[str, Callable[..., ExactCover]] = {
    "dominating": kinds.dominating_queens,
    "graphs": kinds.graphs,
}

_TILINGS = {
    "tetrominoes 4x5 fixed": lambda: tiling("4x5", "tetrominoes", kind="fixed", use="at most once"),
    "trominoes 3x4 any": lambda: tiling("3x4", "trominoes", use="any number"),
    "trominoes 3x4 2..": lambda: tiling("3x4", "trominoes", use="2.."),
    "L3 4x4 holes": lambda: tiling("4x4", {"L": "XX/X."}, use="any number", fill=False),
    "pentominoes 5x5": lambda: tiling("5x5", "pentominoes", use="at most once"),
}
