"""The techniques of ratings, in the order and with the ratings of Sudoku Explainer 1.2.1.

Sudoku Explainer (N. Juillerat, 2006) takes the easiest technique that helps at each step, and rates
a puzzle by the hardest that it took. Every technique here still helps, or is no longer needed, when
there are fewer candidates. So the rating is the least level up to which techniques solve the
puzzle: it does not depend on the order of steps, and equivalent puzzles have the same.

A *direct* technique fills a cell and keeps no eliminations. Direct claiming (1.9) is left out: it
is never needed, because the cell that it fills is a hidden single of its box, or direct pointing
(1.7) fills it. Aligned exclusion (6.2, 7.5) is left out, and the ladder ends before dynamic chains
(8.5). Patterns that assume a unique solution (4.5 to 6.0) are used if asked for; the argument above
does not hold for them, see ``core/rate/uniqueness.h``.

The table is that of the native core, ``core/rate/techniques.h``. A *level* is a place in it.
"""

from __future__ import annotations

import numpy as np

from batchsolve.core import native

_LEVELS = native.levels_of_ratings()

NAMES: tuple[str, ...] = tuple(name for name, _ in _LEVELS)
"""The names of levels, the easiest first: those of techniques, ``guess`` and ``none``.

Chains and patterns come once for each rating.
"""

RATINGS = np.array([rating for _, rating in _LEVELS])
"""The ratings of levels; for a guess, a lower bound."""

GUESS = NAMES.index("guess")
"""The level of puzzles that the ladder does not solve."""

NONE = NAMES.index("none")
"""The level of grids without blank cells."""
