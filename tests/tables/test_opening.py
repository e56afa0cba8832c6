"""Opening several tables at a time."""

import sys
import threading
import time
from queue import SimpleQueue

import pytest
from conftest import interrupted_at_each_moment

from batchsolve import InputError
from batchsolve.tables import detection


def test_tables_come_in_their_order_however_long_each_takes(monkeypatch):
    def open_slowly(path):
        time.sleep(0.02 if int(path) % 3 == 0 else 0)
        return path

    monkeypatch.setattr(detection, "open_source", open_slowly)
    for n in (1, 2, 30):
        paths = list(map(str, range(n)))
        assert detection.open_all(paths) == paths


def test_the_first_of_several_errors_is_told(monkeypatch):
    asked = []

    def open_some(path):
        asked.append(path)
        if int(path) in (5, 6, 7):
            time.sleep(0.05 if path == "5" else 0)
            raise InputError(f"{path}: cannot be opened")
        time.sleep(0.2 if int(path) > 7 else 0)
        return path

    monkeypatch.setattr(detection, "open_source", open_some)
    with pytest.raises(InputError, match=r"^5: cannot be opened"):
        detection.open_all(list(map(str, range(1000))))
    assert len(asked) < 100


@pytest.mark.usefixtures("_garbage_stays")
def test_ctrl_c_at_any_moment_ends_the_wait(monkeypatch):
    """An interrupt while a lock was held once made an executor wait for its threads for ever."""
    monkeypatch.setattr(detection, "OPENED_AT_ONCE", 2)

    def go(interrupted):
        let_go = SimpleQueue()
        monkeypatch.setattr(detection, "open_source", lambda path: let_go.get())
        threading.Timer(0.002, lambda: [let_go.put(path) for path in "ab"]).start()
        try:
            sys.settrace(interrupted)
            return sorted(detection.open_all(["a", "b"]))
        finally:
            sys.settrace(None)

    assert interrupted_at_each_moment(go) == ["a", "b"]
