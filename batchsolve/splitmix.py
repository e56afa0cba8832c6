"""SplitMix64, for random numbers and hashes of arrays (Steele, Lea and Flood 2014).

The words of a stream are ``mix(seed + GOLDEN)``, ``mix(seed + 2 · GOLDEN)`` and so on. Its
counterpart in the core is `random.h`.
"""

from __future__ import annotations

import numpy as np

from batchsolve.arrays import Words

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""The step between the states of a stream."""


def mix(x: Words) -> Words:
    """Return the word that SplitMix64 makes of each state; all differ."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
