"""SplitMix64, for random numbers in kernels and for hashes (Steele, Lea and Flood 2014).

The words of a stream are ``mixed(seed + GOLDEN)``, ``mixed(seed + 2 · GOLDEN)`` and so on.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False, disallow-untyped-decorators=False

from __future__ import annotations

import numpy as np
from numba import uint64

from batchsolve.kernels import helper, inlined

GOLDEN = uint64(0x9E3779B97F4A7C15)
"""The step between the states of a stream."""

_LOW = uint64(2**32 - 1)


def mix(x):
    """Return the word that SplitMix64 makes of a state, or of each of an array; all differ."""
    x = (x ^ (x >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> uint64(27))) * uint64(0x94D049BB133111EB)
    return x ^ (x >> uint64(31))


mixed = inlined(mix)
"""`mix` in kernels."""


@inlined
def stream_of(keys, row, attempt):
    """Return the state at which the random numbers of an attempt at a row begin."""
    state = mixed(keys[0] + uint64(row) * GOLDEN)
    return mixed(state ^ (keys[1] + uint64(attempt) * GOLDEN))


@inlined
def below(states, place, n):
    """Return a random number below n, which is less than 2³¹, from the stream at a place.

    Each is equally likely: a word that would favour some of them is drawn again (Lemire 2019).
    """
    while True:
        states[place] += GOLDEN
        product = (mixed(states[place]) >> uint64(32)) * uint64(n)
        rest = product & _LOW
        if rest >= uint64(n) or rest >= (_LOW + uint64(1)) % uint64(n):
            return np.int64(product >> uint64(32))


@helper
def shuffle(states, place, values):
    """Put values into a random order, each equally likely, by the stream at a place."""
    for k in range(values.size - 1, 0, -1):
        other = below(states, place, k + 1)
        values[k], values[other] = values[other], values[k]
