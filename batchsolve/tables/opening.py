"""Opening several tables at a time, because remote files are slow to answer."""

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
        Paths, and tables that are already open.

    Returns
    -------
    list of Source

    Raises
    ------
    InputError
        If tables cannot be opened; the error is that of the first one.

    Notes
    -----
    Ctrl-C ends the wait at any moment. An executor would not do: within the code of a `Future`,
    Ctrl-C can leave a lock taken; a thread would wait for it forever, and the executor for the
    thread.
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
                waiting.clear()  # tables after the first error are not opened
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
