"""Blocks of one file, each written where it belongs by the worker that made it.

A block begins where all blocks before it end. So each worker writes the size of its block into
numbers that all workers share. A worker that knows the size of every block before its own writes it
into its place. Nearly always it does, because blocks are begun in order and take about as long. Any
other hands its block to the main process, which takes blocks in order and knows where each begins.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

import pyarrow as pa

from batchsolve.tables.checksums import Sums, Written
from batchsolve.tables.places import facts_of

if TYPE_CHECKING:
    from batchsolve.workers.base import Numbers

MOST_BLOCKS = 1 << 16  # of 1.75 MB, usually; the main process writes those behind them
NUMBERS = MOST_BLOCKS + 2


@dataclass(frozen=True, eq=False)
class Encoded:
    """One encoded block, as a worker returns it.

    Attributes
    ----------
    data : pyarrow.Buffer or bytes or None
        The bytes that are still to be written; None if the worker has written them.
    written : Written
        The bytes of a file of it alone.
    begin : int
        The place where the worker has written it, if it has.
    n_rows : int
        Its rows.
    sums : object
        The addition of the rows to the sums of the run.
    read : Sums
        The checksums of the records that they were made of.
    """

    data: pa.Buffer | bytes | None
    written: Written
    begin: int = 0
    n_rows: int = 0
    sums: Any = None
    read: Sums = ()

    @classmethod
    def of(
        cls, data: pa.Buffer | bytes, number: int = 0, in_place: InPlace | None = None, **more: Any
    ) -> Encoded:
        """Write a block into its place if that is known; otherwise keep its bytes."""
        begin = None if in_place is None else in_place.write(number, data)
        if begin is None:
            return cls(data, Written.of(data), **more)
        return cls(None, Written.of(data), begin, **more)


@dataclass(frozen=True, eq=False)
class InPlace:
    """A file that workers write to; it can be sent to them.

    Parameters
    ----------
    path : str
    known : Numbers
        `NUMBERS` of them, which workers and the main process set. Number ``k`` says where block
        ``k`` begins, as the place plus 1; or while that is not known, how large block ``k - 1`` is,
        as -1 less its bytes; or 0. The last one says whether the file is closed. What is set twice
        is the same, or says less and misleads nobody, so there is nothing to lock.
    file : tuple of int
        Device and number of the file: another one may come to be at its path.
    owner : int
        The main process. Workers that outlive it must not write, for the run may go on already.
    """

    path: str
    known: Numbers
    file: tuple[int, ...]
    owner: int = field(default_factory=os.getpid)

    @classmethod
    def of(cls, file: IO[bytes], path: str, known: Numbers) -> InPlace:
        """Return how workers can write to a file that is open here."""
        return cls(os.path.abspath(path), known, facts_of(path, file).place)

    def begins(self, number: int, place: int) -> None:
        """Note where a block begins: the first, or one whose predecessor was taken."""
        if number <= MOST_BLOCKS:
            self.known[number] = place + 1

    def close(self) -> None:
        """Stop all writing, because the file may soon belong to another run."""
        self.known[NUMBERS - 1] = 1

    def write(self, number: int, data: pa.Buffer | bytes) -> int | None:
        """Write a block if its place is known; return that, or None if it was not written."""
        try:
            begin = self._place_of(number, len(data))
            if begin is None or self.known[NUMBERS - 1]:
                return None
            with open(self.path, "r+b", buffering=0) as file:
                is_mine = self.owner in (os.getpid(), os.getppid())
                if not is_mine or facts_of(self.path, file).place != self.file:
                    return None
                _write_at(file.fileno(), data, begin)
        except OSError:  # the main process writes it instead, or says why that is not possible
            return None
        return begin

    def _place_of(self, number: int, n_bytes: int) -> int | None:
        """Return the offset of a block if it is known; record the size, or the next offset."""
        if number >= MOST_BLOCKS:
            return None
        known, k, between = self.known, number, 0
        if known[number + 1] <= 0:
            known[number + 1] = -1 - n_bytes
        while (found := known[k]) < 0:
            between -= found + 1
            k -= 1
        if found == 0:
            return None
        begin = found - 1 + between
        self.begins(number + 1, begin + n_bytes)
        return begin


def _write_at(file: int, data: pa.Buffer | bytes, begin: int) -> None:
    left = memoryview(data)
    while left:
        n = os.pwrite(file, left, begin)
        left, begin = left[n:], begin + n
