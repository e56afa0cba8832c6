"""A file that is read while it grows, and what is made of it meanwhile.

Compression and row groups need all rows in their order. They are made from the first row on, beside
those who write the rows; begun after the last row, they would keep all workers waiting.
"""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any


class GrowingFile(io.RawIOBase):
    """A file as it will be: whoever reads waits for what is not written yet.

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
        """Note how many bytes are written."""
        with self._changed:
            self._end = end
            self._changed.notify()

    def end_here(self) -> None:
        """Note that all is written."""
        with self._changed:
            self._is_whole = True
            self._changed.notify()

    def give_up(self) -> None:
        """Have whoever reads get an error."""
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
        """Return whether there is something behind what was read; wait until that is known."""
        return self._available(1) > 0

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer; only at the end it may not become full."""
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
        """Wait until so many bytes can be read, or all there are; return how many."""

        def is_known() -> bool:
            enough = self._end - self._place >= wanted
            return enough or self._is_whole or self._is_given_up

        with self._changed:
            self._changed.wait_for(is_known)
            if self._is_given_up:
                raise OSError("it is not wanted any more")
            return min(wanted, self._end - self._place)


class Companion:
    """Makes another file of one that grows, in a thread.

    Parameters
    ----------
    make : callable
        Takes a `GrowingFile` and the path of what is made of it.
    source, target : str
    end : int
        How many bytes are written already.
    """

    def __init__(
        self, make: Callable[[GrowingFile, str], None], source: str, target: str, end: int
    ) -> None:
        self.target = target
        self._make = make
        self._source = GrowingFile(source)
        self._source.grown_to(end)
        self._error: BaseException | None = None
        # a daemon, for the program must end even if something is raised before anyone can give up
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            with self._source:
                self._make(self._source, self.target)
        except BaseException as error:  # raised in the thread that waits for the file
            self._error = error

    def grown_to(self, end: int) -> None:
        """Go on up to there; raises what was raised meanwhile."""
        self._source.grown_to(end)
        if self._error is not None:
            raise self._error

    def finish(self) -> None:
        """Wait for the file to be whole, and make it durable; raises what was raised meanwhile."""
        self._source.end_here()
        self._thread.join()
        if self._error is not None:
            raise self._error
        with open(self.target, "r+b") as file:
            os.fsync(file.fileno())

    def give_up(self) -> None:
        """Stop, and remove what was made."""
        self._source.give_up()
        self._thread.join()
        with suppress(OSError):  # it may have its name already; and it is replaced by the next run
            os.remove(self.target)
