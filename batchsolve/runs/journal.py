"""The journal of a run: an SQLite file that records finished and outstanding work.

A journal belongs to one run of one kind with one set of settings. One run writes to it, which
holds a lock (`batchsolve.formats.whole_files.only_writer`); others may read the last checkpoint.

SQLite notices a damaged page only if its structure breaks. So every checkpoint also records a
*seal*: a checksum of the settings, the state, all stacks, and the sums of all parts.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from hashlib import blake2b
from itertools import zip_longest
from typing import Any, NamedTuple

from batchsolve import errors
from batchsolve.errors import BatchsolveError, JournalError, OutputError, quoted, shortened

VERSION = 15  # also raised when an answer to a row changes: no output is of two versions
_NAME = re.compile(r"[\w-]+\.parquet", re.ASCII)
_TABLES = """
CREATE TABLE run (about TEXT NOT NULL, state TEXT, seal TEXT NOT NULL);
CREATE TABLE stacks (number INTEGER PRIMARY KEY, options BLOB, branch BLOB, weight REAL);
CREATE TABLE parts (name TEXT PRIMARY KEY, rows INTEGER, checksum INTEGER);
"""
_WAIT_SECONDS = 60.0  # for a process that reads a journal, or writes a checkpoint
_ROOM = "make room, and go on with `resume`"
_RIGHTS = (  # all reasons that SQLite may have not to open a file
    "make room if the disk is full; copy an interrupted run to where you may write; a path may "
    "have 504 bytes"
)
_UNWRITABLE = {  # errors of the disk, not of the contents of the file, and what to do
    **dict.fromkeys((sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM), _ROOM),
    **dict.fromkeys(
        (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM), _RIGHTS
    ),
    sqlite3.SQLITE_BUSY: "end the process that holds it, and go on with `resume`",
}


OpenStack = tuple[int, bytes, bytes, float]
"""An outstanding stack: its number, its options and its branch, both as little-endian uint32, and
its weight."""


class Part(NamedTuple):
    """A file of solutions, or a part of a folder of rows.

    Attributes
    ----------
    name : str
    rows : int
    checksum : int
        See `batchsolve.tables.answers.Written`.
    """

    name: str
    rows: int
    checksum: int


class Journal(AbstractContextManager["Journal"]):
    """The journal of one run: its settings, its state, its outstanding stacks and its parts.

    Parameters
    ----------
    path : str
        Its file; created if it does not exist. The caller is the only one that writes to it.
    kind : str
        The kind of the run, such as ``count``.
    settings : mapping, optional
        The settings that the result of the run depends on, in JSON types. A journal with other
        settings raises an error. Without settings, the last checkpoint of any run is only read.
    name : str
        The name of the problem, if there is one. A resumed run keeps that of its beginning.

    Raises
    ------
    JournalError
        If the journal is damaged, or belongs to another run or version; if one that is only read
        is missing, or cannot be read.

    Attributes
    ----------
    about : dict
        Kind, version, settings and name of the run.
    """

    about: dict[str, Any]

    def __init__(
        self, path: str, kind: str = "", settings: Mapping[str, Any] | None = None, name: str = ""
    ) -> None:
        self.path, is_read = path, settings is None
        check_is_no_link(path)
        if os.path.exists(path) and not os.path.isfile(path):
            raise JournalError(f"{path}: is not a file; move it away, and begin the run again")
        if not is_read:
            with errors.disk_errors(path):  # names the cause, which SQLite's error does not
                open(path, "ab").close()
        with self._errors(), ExitStack() as failed:
            self._file = os.stat(path)  # because SQLite makes files that do not exist
            try:
                self._db = failed.enter_context(closing(_connected(path)))
                self._db.execute("SELECT 1 FROM sqlite_master")
            except sqlite3.OperationalError:
                open(path, "rb").close()  # names the cause, which SQLite's error does not
                raise
            # a reader sees one checkpoint from here on
            self._db.execute("BEGIN" if is_read else "BEGIN IMMEDIATE")
            is_begun = self._db.execute("SELECT 1 FROM sqlite_master").fetchone()
            if is_read and not is_begun:
                raise JournalError(
                    f"{path}: is empty; the run has just begun, so look again, or it was stopped "
                    f"at once: begin it again with `resume`"
                )
            if is_begun:
                self._check()
            if settings is not None:
                about = {"kind": kind, "version": VERSION, "settings": {**settings}, "name": name}
                (self._compare if is_begun else self._begin)(about)
                self._db.commit()
            failed.pop_all()

    def __exit__(self, *_: object) -> None:
        self.close()

    @staticmethod
    def is_begun(path: str) -> bool:
        """Return True if a run has a journal there: not one that was interrupted while it was made.

        A full disk or an interrupt leaves an empty file.
        """
        if not os.path.isfile(path):
            return os.path.exists(path)
        try:
            with closing(_connected(path)) as db:
                return db.execute("SELECT 1 FROM sqlite_master").fetchone() is not None
        # damaged, which opening it reports; SQLite's message may quote bytes that are not UTF-8
        except (sqlite3.Error, UnicodeDecodeError):
            return True

    def close(self) -> None:
        """Close the journal."""
        self._db.close()

    def record(
        self,
        state: Mapping[str, Any],
        done: Iterable[int] = (),
        new: Iterable[OpenStack] = (),
        parts: Iterable[Part] = (),
    ) -> None:
        """Record a checkpoint, completely or not at all.

        Parameters
        ----------
        state : mapping
            The new state of the run.
        done : iterable of int
            Numbers of stacks that are not outstanding any more.
        new : iterable of OpenStack
            New outstanding stacks.
        parts : iterable of Part
            New files.

        Raises
        ------
        OutputError
            If the file cannot be written, or was moved or deleted. SQLite would still write to it,
            but the records could not be found again.
        """
        if not os.path.exists(self.path) or not os.path.samestat(os.stat(self.path), self._file):
            raise OutputError(
                f"{self.path}: was moved or deleted while the run was going on; put it back where "
                f"it was, with the files beside it, or begin again"
            )
        with self._errors(), self._db:  # which commits the transaction, or rolls it back
            self._db.execute("BEGIN IMMEDIATE")
            self._db.executemany("DELETE FROM stacks WHERE number = ?", ((k,) for k in done))
            self._db.executemany("INSERT INTO stacks VALUES (?, ?, ?, ?)", new)
            self._db.executemany("INSERT INTO parts VALUES (?, ?, ?)", parts)
            self._db.execute("UPDATE run SET state = ?", [json.dumps(state)])
            self._db.execute("UPDATE run SET seal = ?", [self._seal()])

    def stacks(self) -> list[OpenStack]:
        """Return every outstanding stack."""
        with self._errors():
            columns = "number, options, branch, weight"
            return self._db.execute(f"SELECT {columns} FROM stacks ORDER BY number").fetchall()

    def parts(self) -> list[Part]:
        """Return every file."""
        with self._errors():
            rows = self._db.execute("SELECT name, rows, checksum FROM parts ORDER BY name")
            return [Part(*row) for row in rows]

    def state(self) -> dict[str, Any] | None:
        """Return the last recorded state, or None if none is recorded yet."""
        with self._errors():
            (state,) = self._db.execute("SELECT state FROM run").fetchone()
            return None if state is None else dict(json.loads(state))

    def remove(self) -> None:
        """Close the journal and delete its file."""
        self.close()
        os.remove(self.path)

    def _begin(self, about: dict[str, Any]) -> None:
        self.about = about
        for table in _TABLES.strip().splitlines():
            self._db.execute(table)
        self._db.execute("INSERT INTO run VALUES (?, NULL, '')", [json.dumps(about)])
        self._db.execute("UPDATE run SET seal = ?", [self._seal()])

    def _seal(self) -> str:
        """Return the checksum of all that is recorded; of parts, whose files have one, of sums."""
        run = self._db.execute("SELECT about, state FROM run").fetchall()
        sums = self._db.execute("SELECT count(*), total(rows), total(checksum) FROM parts")
        content = repr((run, self.stacks(), sums.fetchall()))
        return blake2b(content.encode(), digest_size=8).hexdigest()

    def _check(self) -> None:
        """Read `about`; raise unless the seal matches all rows."""
        damage = self._db.execute("PRAGMA quick_check").fetchone()[0]
        if damage != "ok":
            raise sqlite3.DatabaseError(damage)
        [(about, seal)] = self._db.execute("SELECT about, seal FROM run").fetchall()
        self.about = json.loads(about)
        if self.about["version"] != VERSION:
            raise JournalError(
                f"{self.path}: was begun by another version of batchsolve (its journal has the "
                f"format {shortened(str(self.about['version']))}, this version writes {VERSION}); "
                f"go on with that version, or delete it to begin again"
            )
        if seal != self._seal():
            raise ValueError("its seal does not match its contents")
        for name, *_ in self.parts():  # a seal can be made anew; the rest is not touched
            if not isinstance(name, str) or not _NAME.fullmatch(name):
                raise ValueError(f"{quoted(name)} is not the name of a file of a run")

    def _compare(self, mine: Mapping[str, Any]) -> None:
        """Raise `JournalError` unless the journal is of the same run."""
        theirs = self.about
        if theirs["kind"] != mine["kind"]:
            raise JournalError(
                f"{self.path}: the journal of a run of another kind, {theirs['kind']}, and not "
                f"{mine['kind']}"
            )
        settings = json.loads(json.dumps(mine["settings"]))
        for name in {**theirs["settings"], **settings}:
            now, then = settings.get(name), theirs["settings"].get(name)
            if now != then:
                then, now = _difference(then, now)
                if name == "problem" or (name == "stack" and theirs["name"] != mine["name"]):
                    # clearer than hashes and numbers
                    name, then, now = "problem", theirs["name"], mine["name"]
                changed = " with other contents" if then == now else ""
                raise JournalError(
                    f"{self.path}: the interrupted run had {name} = {then!r}{changed}, this one "
                    f"has {now!r}; resume with the same input and options, or delete the journal "
                    f"and the output of the run to begin again"
                )

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.ProgrammingError as error:  # a mistake of the caller; nothing was done
            raise JournalError(
                f"{self.path}: the run is closed; open it again, and go on with `resume`"
            ) from error
        except (BatchsolveError, MemoryError, Warning):
            raise
        except OSError as error:
            fault = f"cannot be read: {error.strerror or errors.first_line(error)}"
            if isinstance(error, FileNotFoundError):
                fault = "there is no journal; name the directory of a run"
            raise JournalError(f"{self.path}: {fault}") from error
        except Exception as error:
            if advice := _UNWRITABLE.get(getattr(error, "sqlite_errorcode", 0) & 0xFF):
                raise OutputError(f"{self.path}: cannot be written ({error}); {advice}") from error
            fault = shortened(errors.first_line(error))
            raise JournalError(
                f"{self.path}: the journal is damaged ({fault}), and the run cannot go on; what it "
                f"has written stays where it is; move both away to begin again"
            ) from error


def _connected(path: str) -> sqlite3.Connection:
    """Open a database that other threads may use, too; its name may be file:x, like an address."""
    keywords: dict[str, Any] = {"isolation_level": None, "check_same_thread": False}
    return sqlite3.connect(os.path.join(".", path), timeout=_WAIT_SECONDS, **keywords)


def _difference(then: Any, now: Any) -> tuple[Any, Any]:
    """Return two values of a setting as messages show them; of lists, the first pair to differ."""
    if isinstance(then, list) and isinstance(now, list):
        pairs = zip_longest(then, now, fillvalue="nothing more")
        first = next(pair for pair in pairs if pair[0] != pair[1])
        if all(isinstance(value, str) for value in first):
            return first
    return then, now


def check_is_no_link(path: str) -> None:
    """Raise `JournalError` if a file or folder of a run is a link, behind which is another's."""
    if os.path.islink(path):
        raise JournalError(
            f"{path}: is a link to {os.readlink(path)}; a run writes and removes only what is its "
            f"own: put the file or folder there itself"
        )
