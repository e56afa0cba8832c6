"""The record of a run on disk: an SQLite file that says what is done and what is left.

A journal belongs to one run of one kind with one set of settings, and to one process at a time.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from batchsolve.errors import JournalError, OutputError

VERSION = 2


class Journal:
    """The journal of one run: its settings, its state, and perhaps outstanding stacks and parts.

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

    Attributes
    ----------
    about : dict
        Kind, version and settings of the run.
    """

    def __init__(self, path: str, kind: str, settings: Mapping[str, Any]) -> None:
        self.path = path
        self.about: dict[str, Any] = {"kind": kind, "version": VERSION, "settings": dict(settings)}
        try:
            self._db = sqlite3.connect(path, timeout=0.2, isolation_level=None)
        except sqlite3.OperationalError as error:
            raise OutputError(f"{path}: {error}") from error
        try:
            with self._errors():
                self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
                self._db.execute("PRAGMA journal_mode = WAL")
                self._db.execute("PRAGMA synchronous = FULL")
                self._db.execute("BEGIN EXCLUSIVE")
                if not self._db.execute("SELECT 1 FROM sqlite_master").fetchone():
                    self._db.execute("CREATE TABLE run (about TEXT NOT NULL)")
                    self._db.execute("CREATE TABLE progress (state TEXT NOT NULL)")
                    self._db.execute(
                        "CREATE TABLE stacks "
                        "(number INTEGER PRIMARY KEY, options BLOB, weight REAL)"
                    )
                    self._db.execute("CREATE TABLE parts (name TEXT PRIMARY KEY, rows INTEGER)")
                    self._db.execute("INSERT INTO run VALUES (?)", [json.dumps(self.about)])
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

    @classmethod
    def read(cls, path: str) -> Journal:
        """Open the journal of any run, to look at it."""
        if not os.path.exists(path):
            raise JournalError(f"{path}: there is no journal")
        journal = cls.__new__(cls)
        journal.path = path
        journal._db = sqlite3.connect(path, timeout=0.2, isolation_level=None)
        try:
            with journal._errors():
                (about,) = journal._db.execute("SELECT about FROM run").fetchone()
                journal.about = json.loads(about)
        except BaseException:
            journal._db.close()
            raise
        return journal

    def close(self) -> None:
        """Close the journal; another process may open it then."""
        self._db.close()

    def record(
        self,
        state: Mapping[str, Any],
        done: Iterable[int] = (),
        new: Iterable[tuple[int, bytes, float]] = (),
        parts: Iterable[tuple[str, int]] = (),
    ) -> None:
        """Take a step, all of it or nothing.

        Parameters
        ----------
        state : mapping
            Replaces the state of the run.
        done : iterable of int
            Numbers of stacks that are not outstanding any more.
        new : iterable of (int, bytes, float)
            Number, options (little-endian uint32) and weight of stacks that now are.
        parts : iterable of (str, int)
            Name and number of rows of files of solutions.
        """
        with self._errors():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                self._db.execute("DELETE FROM progress")
                self._db.execute("INSERT INTO progress VALUES (?)", [json.dumps(state)])
                self._db.executemany("DELETE FROM stacks WHERE number = ?", ((k,) for k in done))
                self._db.executemany("INSERT INTO stacks VALUES (?, ?, ?)", new)
                self._db.executemany("INSERT INTO parts VALUES (?, ?)", parts)
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise

    def stacks(self) -> list[tuple[int, bytes, float]]:
        """Return number, options and weight of every outstanding stack."""
        with self._errors():
            return self._db.execute("SELECT number, options, weight FROM stacks").fetchall()

    def parts(self) -> dict[str, int]:
        """Return the name and the number of rows of every file of solutions."""
        with self._errors():
            return dict(self._db.execute("SELECT name, rows FROM parts ORDER BY name"))

    def state(self) -> dict[str, Any] | None:
        """Return the state recorded last, or None if there is none yet."""
        with self._errors():
            row = self._db.execute("SELECT state FROM progress").fetchone()
            state = None if row is None else json.loads(row[0])
            if not isinstance(state, dict | None):
                raise TypeError("its state is no object")
        return state

    def remove(self) -> None:
        """Close the journal and delete its file."""
        self._db.close()
        os.remove(self.path)

    def _check(self) -> None:
        damage = self._db.execute("PRAGMA quick_check").fetchone()[0]
        if damage != "ok":
            raise sqlite3.DatabaseError(damage)
        (about,) = self._db.execute("SELECT about FROM run").fetchone()
        theirs = json.loads(about)
        if theirs["version"] != VERSION:
            raise JournalError(
                f"{self.path}: was begun by another version of batchsolve (its journal has the "
                f"format {theirs['version']}, this version writes {VERSION}); end it with that "
                f"version, or delete it to begin again"
            )
        if theirs["kind"] != self.about["kind"]:
            raise JournalError(
                f"{self.path}: the journal of a {theirs['kind']} run, not of a "
                f"{self.about['kind']} run"
            )
        mine = json.loads(json.dumps(self.about["settings"]))
        for name in mine.keys() | theirs["settings"].keys():
            now, then = mine.get(name), theirs["settings"].get(name)
            if now != then:
                raise JournalError(
                    f"{self.path}: the interrupted run had {name} = {then!r}, this one has "
                    f"{now!r}; resume with the same input and options, or delete the journal to "
                    f"begin again"
                )

    def damaged(self, why: object) -> JournalError:
        """Return the error to raise where the contents of the journal make no sense."""
        return JournalError(
            f"{self.path}: the journal is damaged ({why}); delete it to begin again"
        )

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise JournalError(f"{self.path}: in use by another process") from error
            raise OutputError(
                f"{self.path}: cannot be written ({error}); make room, and go on with --resume"
            ) from error
        except (sqlite3.DatabaseError, TypeError, ValueError, KeyError) as error:
            raise self.damaged(error) from error
