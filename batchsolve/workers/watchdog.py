"""A watchdog: it notices that nobody is left who could answer, and ends the wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

LOOK_SECONDS = 1.0


class Watchdog:
    """Looks at workers again and again, in a thread of its own.

    Parameters
    ----------
    stuck : callable
        Returns what waits for workers that are gone, or None.
    end : callable
        Takes what has been stuck for so long, and ends the wait, for instance by an exception where
        results are waited for.
    grace : float
        Seconds that the workers, or others, have to come again.
    """

    def __init__(self, stuck: Callable[[], Any], end: Callable[[Any], None], grace: float) -> None:
        self._stuck, self._end, self._grace = stuck, end, grace
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        before, since = None, 0.0  # what was stuck at the last look, and when that began
        while not self._over.wait(LOOK_SECONDS):
            stuck = self._stuck()
            if stuck is None or stuck is not before:
                before, since = stuck, time.monotonic()
            elif time.monotonic() - since >= self._grace:
                self._end(stuck)
                before = None
