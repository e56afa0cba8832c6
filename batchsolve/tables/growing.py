"""Reading a file while it grows, to make another file of it meanwhile.

Compression and row groups need all rows in order. They begin with the first row, while workers
write the rest; begun after the last row, they would keep all workers waiting.
"""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any


class GrowingFile(io.RawIOBase):
    """A file that is still being written; a reader waits for the bytes that are missing.

    Parameters
    ----------
    path : str
    """

    def __init__(self, path: str) -> None:
        self._file = open(path, "rb", buffering=0)  # noqa: SIM115  never reads ahead
        self._place = self._end = 0
        self._is_whole = self._is_given_up = False
        self._changed = threading.Condition()

    def grown_to(self, end: int) -> None:
        """Set the number of bytes that are written."""
        with self._changed:
            self._end = end
            self._changed.notify()

    def end_here(self) -> None:
        """Note that the file is complete."""
        with self._changed:
            self._is_whole = True
            self._changed.notify()

    def give_up(self) -> None:
        """Raise an error in the reader."""
        with self._changed:
            self._is_given_up = True
            self._changed.notify()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()

    def readable(self) -> bool:
        """Return True."""
        return True

    def has_more(self) -> bool:
        """Return True if more bytes follow; wait until that is known."""
        return self._available(1) > 0

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer; only the end of the file can leave it partly empty."""
        n = self._available(len(buffer))
        left = memoryview(buffer)[:n]
        while left:
            n_read = self._file.readinto(left)
            if not n_read:
                raise OSError("it became shorter while it was read")
            left = left[n_read:]
        self._place += n
        return n

    def _available(self, wanted: int) -> int:
        """Wait until `wanted` bytes can be read, or the last ones; return their number."""

        def is_known() -> bool:
            enough = self._end - self._place >= wanted
            return enough or self._is_whole or self._is_given_up

        with self._changed:
            self._changed.wait_for(is_known)
            if self._is_given_up:
                raise OSError("it is not wanted any more")
            return min(wanted, self._end - self._place)


class Companion:
    """A thread that makes another file of one that grows.

    Parameters
    ----------
    make : callable
        Takes a `GrowingFile` and the path of the file to make.
    source, target : str
    end : int
        Number of bytes that are written already.
    """

    def __init__(
        self, make: Callable[[GrowingFile, str], None], source: str, target: str, end: int
    ) -> None:
        self.target = target
        self._make = make
        self._source = GrowingFile(source)
        self._source.grown_to(end)
        self._error: BaseException | None = None
        # a daemon, so that the program ends even if an error prevents a call of give_up
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            with self._source:
                self._make(self._source, self.target)
        except BaseException as error:  # raised in the thread that waits for the file
            self._error = error

    def grown_to(self, end: int) -> None:
        """Go on up to an offset; raise the error of the thread, if any."""
        self._source.grown_to(end)
        if self._error is not None:
            raise self._error

    def finish(self) -> None:
        """Wait until the file is complete, and sync it; raise the error of the thread, if any."""
        self._source.end_here()
        self._thread.join()
        if self._error is not None:
            raise self._error
        with open(self.target, "r+b") as file:
            os.fsync(file.fileno())

    def give_up(self) -> None:
        """Stop the thread, and remove the unfinished file."""
        self._source.give_up()
        self._thread.join()
        with suppress(OSError):  # the file may have been moved; otherwise the next run replaces it
            os.remove(self.target)
