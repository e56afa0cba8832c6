"""Memoised counting: dancing links with a table of what was counted before.

The search counts paths through a graph of sets of items instead of the leaves of a tree. That is
little work where many partial covers leave the same set, as in tilings and matchings, and only
overhead where hardly any two do. The table is that of `batchsolve.engines.subtrees`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from batchsolve.engines.contract import UNLIMITED, Capabilities, Outcome, Task
from batchsolve.engines.dlx import search
from batchsolve.engines.links import links_of
from batchsolve.engines.subtrees import row_length, subtrees_of
from batchsolve.engines.task_state import search_task
from batchsolve.errors import InputError
from batchsolve.problems.exact_cover import ExactCover

MEGABYTE = 2**20
MOST_MEGABYTES = 2**30


@dataclass(frozen=True)
class MemoisedCounting:
    """The engine that counts like subtrees once.

    Parameters
    ----------
    megabytes : int
        The size of the table of each worker.
    """

    megabytes: int = 256

    capabilities: ClassVar[Capabilities] = Capabilities(
        description="dancing links that count like subtrees once; memo:64 has tables of 64 MB",
        colors=True,
        counts_only=True,
        reproducible_nodes=False,
    )

    def __post_init__(self) -> None:
        if not 1 <= self.megabytes <= MOST_MEGABYTES:
            raise InputError(
                f"the size of a table is 1 to {MOST_MEGABYTES} megabytes, not {self.megabytes}"
            )

    @property
    def name(self) -> str:
        """What `get_engine` calls it."""
        return f"memo:{self.megabytes}"

    def search(self, problem: ExactCover, task: Task) -> Outcome:
        """Search the stacks of a task; see `batchsolve.engines.contract`."""
        least = min(task.room, int(task.limits.min(initial=UNLIMITED)))
        if task.keep or least < UNLIMITED:
            raise InputError(
                f"the engine {self.name!r} only counts, and counts everything: for covers, or a "
                f"limit on their number, leave it out"
            )
        totals = np.zeros((len(task.stacks), 3), np.uint64)
        with _borrowed_table(problem, self.megabytes) as table:
            arrays = links_of(problem), subtrees_of(problem, table, totals)
            outcome = search_task(search, arrays, task)
        counts = [low + (middle << 64) + (high << 128) for low, middle, high in totals.tolist()]
        fits = max(counts, default=0) < 2**63
        return replace(outcome, counts=np.array(counts, np.int64 if fits else object))


_FREE: list[tuple[tuple[str, int], npt.NDArray[np.uint64]]] = []
_FREE_LOCK = threading.Lock()


@contextmanager
def _borrowed_table(problem: ExactCover, megabytes: int) -> Iterator[npt.NDArray[np.uint64]]:
    """Lend a table to one search; those that are given back keep what they hold.

    There are never more tables than searches at one time, and none outlives the next problem.
    """
    length = row_length(problem)
    n_rows = max(1, megabytes * MEGABYTE // (8 * length))
    kind = (problem.fingerprint, n_rows)
    with _FREE_LOCK:
        _FREE[:] = [entry for entry in _FREE if entry[0] == kind]
        table = _FREE.pop()[1] if _FREE else None
    if table is None:
        try:
            table = np.zeros((n_rows, length), np.uint64)
        except MemoryError as error:
            raise InputError(f"no memory for a table of {megabytes} MB; name a size") from error
    try:
        yield table
    finally:
        with _FREE_LOCK:
            _FREE.append((kind, table))
