"""The journal of a run: JSON lines that record finished and outstanding work.

A journal belongs to one run of one kind with one set of settings, and to one process at a time,
which holds a lock on the file. The first line says what run it is. Every checkpoint appends a line
with its changes, so to read all lines is to have the last state of the run. A last line without its
end was being written when the process or the machine stopped; its checkpoint is not kept.

Every line has a seal, which covers the seal of the line before, too. So damage is noticed wherever
it is: in a line, or by a line that is missing. A journal that mostly records what is over is
written anew, as its first line and one checkpoint.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from io import FileIO
from itertools import zip_longest
from typing import Any, NamedTuple

from batchsolve.errors import (
    BatchsolveError,
    JournalError,
    OutputError,
    disk_errors,
    first_line,
    quoted,
    shortened,
)
from batchsolve.formats.json_records import SEAL, is_whole, sealed
from batchsolve.formats.whole_files import check_is_no_link
from batchsolve.tables.places import sync_directory

VERSION = 9
LEAST_REWRITTEN, REWRITTEN_AT = 1 << 20, 3  # bytes, and times as many as when last written anew
_NAME = re.compile(r"[\w-]+\.parquet", re.ASCII)
_LOOKS, _LOOK_SECONDS = 5, 0.05  # at a locked journal, at which another process may only look

OpenStack = tuple[int, str, str, float]
"""An outstanding stack: its number, its options and its branch, both as little-endian uint32 in
hexadecimal, and its weight."""


class Part(NamedTuple):
    """A file of solutions.

    Attributes
    ----------
    name : str
    rows : int
    checksum : int
        See `batchsolve.tables.encoders.Written`.
    """

    name: str
    rows: int
    checksum: int


class _SealedLines:
    """A file of JSON lines, each with a seal that also covers the one before."""

    def __init__(self, file: FileIO) -> None:
        self.file, self.size, self._seal = file, 0, ""

    def read(self) -> Iterator[dict[str, Any]]:
        """Yield the records of all lines that have an end."""
        for line in self.file.readall().split(b"\n")[:-1]:
            record = json.loads(line)
            if not is_whole(record, self._seal):
                raise ValueError("its seal does not match its contents")
            self.size, self._seal = self.size + len(line) + 1, record.pop(SEAL)
            yield record

    def append(self, record: Mapping[str, Any]) -> None:
        """Write a line behind the others, all of which the disk has then."""
        whole = sealed(record, self._seal)
        line = memoryview(f"{json.dumps(whole)}\n".encode())
        self.file.truncate(self.size)  # of a line that could not be written
        self.file.seek(self.size)
        rest = line
        while rest:
            rest = rest[self.file.write(rest) :]
        os.fsync(self.file.fileno())
        self.size, self._seal = self.size + len(line), whole[SEAL]


class Journal:
    """The journal of one run: its settings, its state, its outstanding stacks and its parts.

    Parameters
    ----------
    path : str
        Its file; created if it does not exist.
    kind : str
        The kind of the run, such as ``count``.
    settings : mapping
        The settings that the result of the run depends on, in JSON types. A journal with other
        settings raises an error.
    notes : mapping
        Other facts about the run, in JSON types. A resumed run keeps those of its beginning.

    Raises
    ------
    JournalError
        If the journal is damaged, belongs to another run or version, or is in use by another
        process.

    Attributes
    ----------
    about : dict
        Kind, version, settings and notes of the run.
    state : mapping or None
        The last recorded state; None if none is recorded yet.
    stacks : dict of int to OpenStack
        The outstanding stacks by their numbers.
    parts : list of Part
        The files of solutions.
    """

    about: dict[str, Any]

    def __init__(
        self,
        path: str,
        kind: str,
        settings: Mapping[str, Any],
        notes: Mapping[str, Any] | None = None,
    ) -> None:
        mine = {"kind": kind, "version": VERSION, "settings": dict(settings)}
        if notes:
            mine["notes"] = dict(notes)
        check_is_no_link(path)
        with disk_errors(path):
            file = _locked(path)
        with suppress(FileNotFoundError):
            os.remove(_anew(path))  # of a run that was killed while it wrote that
        try:
            if self._read(path, file):
                self._compare(mine)
            else:
                self._begin(mine)
        except BaseException:
            file.close()
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @staticmethod
    def is_begun(path: str) -> bool:
        """Return True if a run has a journal there: one that was not interrupted at its first line.

        A disk that became full leaves an empty file.
        """
        try:
            with open(path, "rb") as file:
                return file.readline().endswith(b"\n")
        except FileNotFoundError:
            return False
        except OSError:  # not a file, or not readable: opening it raises that error
            return True

    @classmethod
    def read(cls, path: str, in_progress: bool = False) -> Journal:
        """Read the journal of any run to inspect it.

        Parameters
        ----------
        path : str
        in_progress : bool
            Take the last checkpoint of a run that is going on.

        Raises
        ------
        JournalError
            As `Journal` does; if there is no journal, or it cannot be read.
        """
        journal = cls.__new__(cls)
        check_is_no_link(path)
        try:
            with FileIO(path) as file:
                if not (in_progress or _lock(file, fcntl.LOCK_SH)):
                    raise _in_use(path)
                if not journal._read(path, file):
                    raise JournalError(f"{path}: is empty; its run was stopped at once")
        except OSError as error:
            why = f"cannot be read: {error.strerror or first_line(error)}"
            if isinstance(error, FileNotFoundError):
                why = "there is no journal"
            raise JournalError(f"{path}: {why}") from error
        return journal

    def close(self) -> None:
        """Close the journal, so that another process may open it."""
        self._lines.file.close()

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
            New files of solutions.

        Raises
        ------
        OutputError
            If the file cannot be written, or was moved or deleted: the records could not be found
            again.
        """
        self.check_open()
        if not _is_at(path := self.path, self._lines.file):
            raise OutputError(
                f"{path}: was moved or deleted while the run was going on; put it back where "
                f"it was, with the files beside it, or begin again"
            )
        changes = {"state": state, "done": [*done], "new": [*new], "parts": [*parts]}
        with disk_errors(self.path):
            self._lines.append(changes)
            self._take(changes)
            if self._lines.size > self._rewritten_at:
                self._write_anew()

    def check_open(self) -> None:
        """Raise `JournalError` if the journal is closed."""
        if self._lines.file.closed:
            raise JournalError(
                f"{self.path}: the run is closed; open it again, and go on with `resume`"
            )

    def remove(self) -> None:
        """Close the journal and delete its file."""
        self.close()
        os.remove(self.path)

    def _begin(self, about: dict[str, Any]) -> None:
        self.about = about
        with disk_errors(self.path):
            self._lines.append(about)
            sync_directory(os.path.dirname(self.path) or ".")

    def _read(self, path: str, file: FileIO) -> bool:
        """Read all records; return False if there is none."""
        self.path, self._lines = path, _SealedLines(file)
        self.state: Mapping[str, Any] | None = None
        self.stacks: dict[int, OpenStack] = {}
        self.parts: list[Part] = []
        self._rewritten_at = LEAST_REWRITTEN
        try:
            records = self._lines.read()
            for self.about in records:
                self._check_version()
                for changes in records:
                    self._take(changes)
                self._rewritten_at = max(LEAST_REWRITTEN, REWRITTEN_AT * self._lines.size)
                return True
        except (BatchsolveError, OSError):
            raise
        except Exception as error:
            raise self.damaged(first_line(error)) from error
        return False

    def _take(self, changes: Mapping[str, Any]) -> None:
        """Make the changes of a checkpoint."""
        for name, *_ in changes["parts"]:  # a seal can be made anew; the rest is not touched
            if not _NAME.fullmatch(name):
                raise ValueError(f"{quoted(name)} is not the name of a file of a run")
        self.stacks.update((stack[0], stack) for stack in changes["new"])
        for number in changes["done"]:
            del self.stacks[number]
        self.parts += [Part(*part) for part in changes["parts"]]
        self.state = changes["state"]

    def _write_anew(self) -> None:
        """Write a journal of the same run without what is over, and put it in its place."""
        name = _anew(self.path)
        lines, old = _SealedLines(_locked(name)), self._lines
        lines.append(self.about)
        stacks = list(self.stacks.values())
        lines.append({"state": self.state, "done": [], "new": stacks, "parts": self.parts})
        os.replace(name, self.path)
        sync_directory(os.path.dirname(self.path) or ".")
        self._lines = lines
        old.file.close()
        self._rewritten_at = max(LEAST_REWRITTEN, REWRITTEN_AT * lines.size)

    def _check_version(self) -> None:
        if self.about["version"] != VERSION:
            raise JournalError(
                f"{self.path}: was begun by another version of batchsolve (its journal has the "
                f"format {shortened(str(self.about['version']))}, this version writes {VERSION}); "
                f"end it with that version, or delete it to begin again"
            )

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
                names = [about.get("notes", {}).get("name") for about in (theirs, mine)]
                if name == "problem" or (name == "stack" and names[0] != names[1]):
                    name, (then, now) = "problem", names  # clearer than hashes and numbers
                changed = " with other contents" if then == now else ""
                raise JournalError(
                    f"{self.path}: the interrupted run had {name} = {then!r}{changed}, this one "
                    f"has {now!r}; resume with the same input and options, or delete the journal "
                    f"and the output of the run to begin again"
                )

    def damaged(self, why: object) -> JournalError:
        """Return the error to raise if the contents of the journal make no sense."""
        return JournalError(
            f"{self.path}: the journal is damaged ({why}), and the run cannot go on; what it has "
            f"written stays where it is; move both away to begin again"
        )


def _anew(path: str) -> str:
    """Return the name of a journal while it is written anew."""
    return f"{path}.new"


def _locked(path: str) -> FileIO:
    """Open a file, made if there is none, that this process alone writes."""
    for _ in range(_LOOKS):
        file = FileIO(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+b")
        if not _lock(file, fcntl.LOCK_EX):
            time.sleep(_LOOK_SECONDS)
        elif _is_at(path, file):  # neither written anew nor removed just now
            return file
        file.close()
    raise _in_use(path)


def _lock(file: FileIO, kind: int) -> bool:
    """Lock a file; return False if another process has locked it."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except OSError as error:  # there are file systems without locks
        return not isinstance(error, BlockingIOError)
    return True


def _is_at(path: str, file: FileIO) -> bool:
    """Return True if an open file is the one of this name."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except OSError:
        return False


def _in_use(path: str) -> JournalError:
    return JournalError(
        f"{path}: in use by another process; wait until that process ends, or name another output"
    )


def _difference(then: Any, now: Any) -> tuple[Any, Any]:
    """Return two values of a setting as messages show them; of lists, the first pair to differ."""
    if isinstance(then, list) and isinstance(now, list):
        pairs = zip_longest(then, now, fillvalue="nothing more")
        first = next(pair for pair in pairs if pair[0] != pair[1])
        if all(isinstance(each, str) for each in first):
            return first
    return then, now
