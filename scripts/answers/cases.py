"""A case, and the short texts that stand for its answer."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from batchsolve import Stacks

COLUMNS = (
    *("counts", "nodes", "clash", "covers", "frontier", "weights", "parents", "tree_nodes"),
    *("exit", "bytes"),
)
"""The parts that an answer may have: the arrays of an `Outcome`, or the bytes of an output."""

Answer = dict[str, str]

FEW = 3  # numbers that are written, not digested


@dataclass(frozen=True)
class Case:
    """A call whose answer is recorded.

    Attributes
    ----------
    engine : str
        The engine that is called, or the command or the part of the library.
    name : str
        The problem and the task, or the words of the command; unique for each engine.
    answer : callable
        Makes the call, and returns the parts of `COLUMNS` that the case has.
    """

    engine: str
    name: str
    answer: Callable[[], Answer]


def of_numbers(values: Any) -> str:
    """Return a few numbers as they are, and more of them as their sum and a digest.

    Examples
    --------
    >>> of_numbers([4, 0]), of_numbers([1, 2, 3, 4])
    ('4 0', '10~3b3b1a')
    """
    numbers = [int(value) for value in values]
    if len(numbers) <= FEW and all(abs(number) < 10**12 for number in numbers):
        return " ".join(map(str, numbers))
    return f"{sum(numbers)}~{digest(' '.join(map(str, numbers)))}"


def of_floats(values: Any) -> str:
    """Return the number of floats and a digest of their first ten decimal places."""
    return f"{len(values)}~{digest(' '.join(f'{value:.10g}' for value in values))}"


def of_stacks(stacks: Stacks, *, by_root: bool = False, as_sets: bool = False) -> str:
    """Return the number of stacks, and a digest of them and their roots.

    Parameters
    ----------
    stacks : Stacks
    by_root : bool
        True if the order of the roots does not count.
    as_sets : bool
        True if no order of stacks or of their options counts.
    """
    rows = [
        (root, sorted(stack.tolist()) if as_sets else stack.tolist())
        for root, stack in zip(stacks.roots.tolist(), stacks, strict=True)
    ]
    if by_root:
        rows.sort(key=lambda row: row[0])
    if as_sets:
        rows.sort()
    return f"{len(rows)}~{digest(repr(rows))}"


def digest(data: str | bytes) -> str:
    """Return the first six hexadecimal digits of a sha256."""
    raw = data.encode() if isinstance(data, str) else data
    return hashlib.sha256(raw).hexdigest()[:6]
