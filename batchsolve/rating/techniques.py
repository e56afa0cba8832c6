"""The techniques of ratings, in the order and with the ratings of Sudoku Explainer 1.2.1.

Sudoku Explainer (N. Juillerat, 2006) takes the easiest technique that helps at each step, and rates
a puzzle by the hardest that it took. Every technique here still helps, or is no longer needed, when
there are fewer candidates. So the rating is the least level up to which techniques solve the
puzzle: it does not depend on the order of steps, and equivalent puzzles have the same.

A *direct* technique fills a cell and keeps no eliminations. Direct claiming (1.9) is left out: it
is never needed, because the cell that it fills is a hidden single of its box, or direct pointing
(1.7) fills it. Aligned exclusion (6.2, 7.5) is left out, and the ladder ends before dynamic chains
(8.5). Patterns that assume a unique solution (4.5 to 6.0) are used if asked for; the argument above
does not hold for them, see `batchsolve.rating.uniqueness`.
"""

from __future__ import annotations

import numpy as np

from batchsolve.rating.board import BOXES

LAST, HIDDEN, NAKED, LOCKED, NAKED_SET, HIDDEN_SET, FISH, WING = range(8)
"""The kinds of techniques without chains."""

X_CYCLE, Y_CYCLE, X_CHAIN, CYCLE, CHAIN, NISHIO, CELL_CHAINS, REGION_CHAINS = range(8, 16)
"""The kinds of chains."""

UNIQUE_RECTANGLE, UNIQUE_LOOP, BUG = range(16, 19)
"""The kinds of patterns that assume a unique solution."""

IN_BOX, IN_LINE = BOXES, 0
"""The houses that a technique looks at: the boxes, or the rows and columns."""

WITHOUT_CHAINS = (
    ("last cell", 1.0, LAST, 0, False),
    ("hidden single in box", 1.2, HIDDEN, IN_BOX, False),
    ("hidden single in line", 1.5, HIDDEN, IN_LINE, False),
    ("direct pointing", 1.7, LOCKED, IN_BOX, True),
    ("direct hidden pair", 2.0, HIDDEN_SET, 2, True),
    ("naked single", 2.3, NAKED, 0, False),
    ("direct hidden triplet", 2.5, HIDDEN_SET, 3, True),
    ("pointing", 2.6, LOCKED, IN_BOX, False),
    ("claiming", 2.8, LOCKED, IN_LINE, False),
    ("naked pair", 3.0, NAKED_SET, 2, False),
    ("x-wing", 3.2, FISH, 2, False),
    ("hidden pair", 3.4, HIDDEN_SET, 2, False),
    ("naked triplet", 3.6, NAKED_SET, 3, False),
    ("swordfish", 3.8, FISH, 3, False),
    ("hidden triplet", 4.0, HIDDEN_SET, 3, False),
    ("xy-wing", 4.2, WING, 2, False),
    ("xyz-wing", 4.4, WING, 3, False),
    ("naked quad", 5.0, NAKED_SET, 4, False),
    ("jellyfish", 5.2, FISH, 4, False),
    ("hidden quad", 5.4, HIDDEN_SET, 4, False),
)
"""The techniques without chains, the easiest first.

Each has a name, a rating, a kind, houses or a size, and if it is direct.
"""

CHAINS = (
    ("x-cycle", 6.5, X_CYCLE),
    ("y-cycle", 6.5, Y_CYCLE),
    ("forcing x-chain", 6.6, X_CHAIN),
    ("xy-cycle", 7.0, CYCLE),
    ("forcing chain", 7.0, CHAIN),
    ("nishio", 7.5, NISHIO),
    ("cell forcing chains", 8.0, CELL_CHAINS),
    ("region forcing chains", 8.0, REGION_CHAINS),
)
"""The chains: name, rating without what its length adds, and kind."""

PATTERNS = (
    ("unique rectangle", 4.5, UNIQUE_RECTANGLE, 3),
    ("unique loop", 4.6, UNIQUE_LOOP, 7),
    ("bug", 5.6, BUG, 4),
)
"""The patterns that assume a unique solution.

Each has a name, the least rating, a kind, and the tenths that can be added.
"""

MOST_NODES = 98
"""The upper bound of the nodes of chains, behind which its length adds more than 0.9."""

_LENGTHS = np.array([4, 6, 8, 12, 16, 24, 32, 48, 64])
"""A chain of n nodes is rated 0.1 higher for each of these that is less than n - 2."""

_END = 8.5

LADDER = sorted(
    (
        *WITHOUT_CHAINS,
        *(
            (name, round(rating + added / 10, 1), kind, 0, False)
            for name, rating, kind, most in PATTERNS
            for added in range(most + 1)
        ),
        *(
            (
                "turbot fish" if kind == X_CHAIN and not added else name,
                round(rating + added / 10, 1),
                kind,
                0,
                False,
            )
            for name, rating, kind in CHAINS
            for added in range(len(_LENGTHS) + 1)
            if rating + added / 10 <= _END
        ),
    ),
    key=lambda level: level[1:3],
)
"""All techniques, the easiest first; chains and patterns come once for each rating.

A place in this table is a *level*.
"""

GUESS = len(LADDER)
"""The level of puzzles that the ladder does not solve."""

NONE, UNRATED, INVALID = GUESS + 1, 254, 255
"""The levels of grids without blank cells, of grids before, and of grids whose clues clash."""

NAMES = (*(level[0] for level in LADDER), "guess", "none")
"""The names of levels."""

RATINGS = np.array([*(level[1] for level in LADDER), round(_END + 0.1, 1), 0.0])
"""The ratings of levels; for a guess, a lower bound."""

KINDS = np.array([level[2:] for level in LADDER])
"""The kind, the houses or size, and the directness of levels."""

FIRST_CHAIN = next(level for level, each in enumerate(LADDER) if each[2] in range(X_CYCLE, 16))
"""The level of the easiest chain."""

LEVELS = np.full((BUG + 1, MOST_NODES + 1), GUESS)
"""The levels of chains, by kind and number of nodes; of patterns, by kind and added tenths."""
_longer = (_LENGTHS[:, None] < np.arange(MOST_NODES + 1) - 2).sum(axis=0)
for _added, _kinds in ((_longer, CHAINS), (np.arange(MOST_NODES + 1), PATTERNS)):
    for _name, _rating, _kind, *_rest in _kinds:
        for _level, _each in enumerate(LADDER):
            if _each[2] == _kind:
                LEVELS[_kind, np.round(10 * _rating + _added) == round(10 * _each[1])] = _level
