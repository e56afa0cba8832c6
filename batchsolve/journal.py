"""The record of a run on disk: an SQLite file that says what is done and what is left.

A journal belongs to one run of one kind with one set of settings, and to one process at a time.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from batchsolve.errors import JournalError, OutputError

VERSION = 1


class Journal:
    """The journal of one run.

    Parameters
    ----------
    path : str
        Its file; made if it does not exist.
    kind : str
        What sort of run it records.
    settings : mapping
        What the result of the run depends on, in JSON types. A journal with other settings is
        refused.

    Raises
    ------
    JournalError
        If the journal is damaged, of another run or version, or used by another process.
    """

    def __init__(self, path: str, kind: str, settings: Mapping[str, Any]) -> None:
        self.path = path
        self._mine = {"kind": kind, "version": VERSION, "settings": dict(settings)}
        is_new = not os.path.exists(path)
        try:
            self._db = sqlite3.connect(path, timeout=0.2, isolation_level=None)
        except sqlite3.OperationalError as error:
            raise OutputError(f"{path}: {error}") from error
        try:
            with self._errors():
                self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
                self._db.execute("BEGIN EXCLUSIVE")
                if is_new:
                    self._db.execute("CREATE TABLE run (about TEXT NOT NULL)")
                    self._db.execute("CREATE TABLE progress (state TEXT NOT NULL)")
                    self._db.execute("INSERT INTO run VALUES (?)", [json.dumps(self._mine)])
                else:
                    self._check()
                self._db.execute("COMMIT")
        except BaseException:
            self._db.close()
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def record(self, state: Mapping[str, Any]) -> None:
        """Replace the state of the run, all of it or nothing."""
        with self._errors():
            self._db.execute("BEGIN IMMEDIATE")
            self._db.execute("DELETE FROM progress")
            self._db.execute("INSERT INTO progress VALUES (?)", [json.dumps(state)])
            self._db.execute("COMMIT")

    def state(self) -> dict[str, Any] | None:
        """Return the state recorded last, or None if there is none yet."""
        with self._errors():
            row = self._db.execute("SELECT state FROM progress").fetchone()
        return None if row is None else json.loads(row[0])

    def remove(self) -> None:
        """Close the journal and delete its file."""
        self._db.close()
        os.remove(self.path)

    def _check(self) -> None:
        (about,) = self._db.execute("SELECT about FROM run").fetchone()
        theirs = json.loads(about)
        if theirs["kind"] != self._mine["kind"] or theirs["version"] != VERSION:
            raise JournalError(
                f"{self.path}: the journal of a {theirs['kind']} run, version {theirs['version']}, "
                f"not of a {self._mine['kind']} run, version {VERSION}"
            )
        mine = json.loads(json.dumps(self._mine["settings"]))
        for name in mine.keys() | theirs["settings"].keys():
            now, then = mine.get(name), theirs["settings"].get(name)
            if now != then:
                raise JournalError(
                    f"{self.path}: the interrupted run had {name} = {then!r}, this one has "
                    f"{now!r}; resume with the same input and options, or delete the journal to "
                    f"begin again"
                )

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise JournalError(f"{self.path}: in use by another process") from error
            raise OutputError(f"{self.path}: {error}") from error
        except (sqlite3.DatabaseError, TypeError, ValueError, KeyError) as error:
            raise JournalError(
                f"{self.path}: the journal is damaged ({error}); delete it to begin again"
            ) from error
