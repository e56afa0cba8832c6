"""Opening several tables at a time, for a remote one takes a while to answer."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from queue import SimpleQueue

from batchsolve.tables.sources import Source, open_source

OPENED_AT_ONCE = 8


def open_all(inputs: Sequence[str | Source]) -> list[Source]:
    """Open tables.

    Parameters
    ----------
    inputs : sequence of str or Source
        Paths, and tables that are open already.

    Returns
    -------
    list of Source

    Raises
    ------
    InputError
        If one cannot be opened: about the first of these.

    Notes
    -----
    Ctrl-C ends the wait at any moment. In the middle of the `Future` of an executor it can leave a
    lock taken, for which a thread would wait for ever, and the executor for the thread.
    """
    if len(inputs) == 1:
        return [_opened(inputs[0])]
    waiting = deque(range(len(inputs)))
    opened: SimpleQueue[tuple[int, Source | Exception] | None] = SimpleQueue()

    def open_some() -> None:
        while waiting:
            try:
                k = waiting.popleft()
            except IndexError:  # another thread was faster
                break
            try:
                opened.put((k, _opened(inputs[k])))
            except Exception as error:
                waiting.clear()  # what comes after the first error is not looked at
                opened.put((k, error))
        opened.put(None)

    n_threads = min(OPENED_AT_ONCE, len(inputs))
    found: dict[int, Source | Exception] = {}
    try:
        for _ in range(n_threads):
            threading.Thread(target=open_some, daemon=True).start()
        for _ in range(n_threads):
            found.update(iter(opened.get, None))
    finally:
        waiting.clear()
    sources = []
    for _, source in sorted(found.items()):
        if isinstance(source, Exception):
            raise source
        sources.append(source)
    return sources


def _opened(one: str | Source) -> Source:
    return open_source(one) if isinstance(one, str) else one
