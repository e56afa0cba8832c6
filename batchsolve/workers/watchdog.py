"""A watchdog: it notices that no worker is left to answer, and ends the wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

LOOK_SECONDS = 1.0


class Watchdog:
    """A thread that polls for workers that are gone.

    Parameters
    ----------
    stuck : callable
        Returns the object that waits for workers that are gone, or None.
    end : callable
        Takes an object that has been stuck for `grace` seconds, and ends its wait, for instance by
        an exception in the thread that waits for results.
    grace : float
        Seconds in which the workers may come back, or others may join.
    """

    def __init__(self, stuck: Callable[[], Any], end: Callable[[Any], None], grace: float) -> None:
        self._stuck, self._end, self._grace = stuck, end, grace
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop polling."""
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        before, since = None, 0.0  # the object that was stuck at the last look, and since when
        while not self._over.wait(LOOK_SECONDS):
            stuck = self._stuck()
            if stuck is None or stuck is not before:
                before, since = stuck, time.monotonic()
            elif time.monotonic() - since >= self._grace:
                self._end(stuck)
                before = None
