"""Destinations of the rows of a corpus: one file, or a folder of Parquet files, the *parts*.

A single file appears when it is complete; until then it grows as ``OUT.partial``. In a folder, a
worker writes each block as one part, whose name is the same in all runs; a part appears when it is
complete, and belongs to the run once the journal records it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from batchsolve.errors import InputError, JournalError, OutputError
from batchsolve.runs.journal import Part
from batchsolve.search.rows import Write
from batchsolve.tables.answers import RowTable
from batchsolve.tables.blocks import PARTS, TASKS
from batchsolve.tables.checksums import Written, checksum_at, sums_of
from batchsolve.tables.encoders import Encode, encoder_for
from batchsolve.tables.outputs import (
    FORMATS,
    ROW_GROUP,
    Encoded,
    Output,
    check_output,
    open_output,
)
from batchsolve.tables.places import UNFINISHED, Folder, child, folder_at, is_address, local_path
from batchsolve.tables.sources import suffix_of
from batchsolve.whole_files import check_is_no_link, followed, only_writer, partial_path
from batchsolve.workers.pool import Pool

_PART = re.compile(r"part-[0-9]{6,}\.parquet")


def destination_of(path: str) -> OneFile | Parts:
    """Return the destination that a path names; addresses and folders get parts."""
    if is_address(path):
        return Parts(path)
    target = followed(path.rstrip("/"))  # what a run keeps lies beside that
    if path.endswith("/") or os.path.isdir(path):
        return Parts(path if target == path.rstrip("/") else target + "/")
    return OneFile(target)


@dataclass(frozen=True)
class OneFile:
    """One file, or standard output.

    Attributes
    ----------
    path : str
        The file; the target of a link, not the link.
    kept : str
        The path of the rows of an unfinished run.
    journal : str
        The path of its journal.
    block_size : BlockSize
        The size of blocks of the input.
    n_tasks : int
        The same, in usual tasks.
    """

    path: str
    block_size = TASKS
    n_tasks = 1

    @property
    def kept(self) -> str:
        """The path of the rows of an unfinished run."""
        return partial_path(self.path)

    @property
    def journal(self) -> str:
        """The path of its journal."""
        return self.kept + ".journal"

    def check(self) -> None:
        """Raise `InputError` or `OutputError` if nothing can be written there."""
        check_output(self.path)

    def check_unused(self, resume: bool) -> None:
        """Raise `OutputError` if files exist that no journal records.

        The input they came from is unknown, so a run must not delete them. A run that is to be
        resumed may delete unfinished files of killed workers.
        """
        if os.path.exists(self.kept):
            raise OutputError(
                f"{self.kept}: is in the way, and has no journal ({self.journal}) to be resumed "
                f"with; move it or delete it"
            )

    def held(self) -> AbstractContextManager[Any]:
        """Be the only run that writes there; raises `OutputError` if another does."""
        return nullcontext() if self.path == "-" else only_writer(self.path)

    def is_finished(self) -> bool:
        """Return True if nothing is left to do once the last row is recorded."""
        return not os.path.exists(self.kept)

    def parts_of(self, number: int, block: Encoded) -> list[Part]:
        """Return the part that holds a block, for the journal; none in a single file."""
        return []

    def open(
        self, table: RowTable, written: Written | None, parts: Sequence[Part], pool: Pool
    ) -> tuple[Write, Output]:
        """Open the output: anew, or with the recorded rows; all others are discarded.

        Parameters
        ----------
        table : RowTable
        written : Written or None
            The last result of `Output.written`.
        parts : sequence of Part
            The recorded parts.
        pool : Pool
            The workers, which may write rows themselves.

        Returns
        -------
        write : callable
            The function that workers call with a batch and its answers; it returns `Encoded` rows.
        output : Output
            The output that takes encoded rows.

        Raises
        ------
        JournalError
            If the rows written before have changed.
        """
        if written is not None and not os.path.exists(self.kept):
            raise JournalError(f"{self.kept}: is gone; delete {self.journal} to begin again")
        check_is_no_link(self.kept)
        output = open_output(self.path, table.schema, written)
        return partial(_encoded, table, encoder_for(self.path)), output


def _encoded(table: RowTable, encode: Encode, batch: Any, answers: Any) -> Encoded:
    """Encode the rows of a block."""
    rows, sums = table.rows(batch, answers)
    return Encoded.of(encode(rows), **_about(batch, sums))


def _about(batch: Any, sums: Any) -> dict[str, Any]:
    """Return the facts about the rows of a block that a run adds up."""
    return {"n_rows": len(batch), "sums": sums, "read": sums_of(batch.records)}


@dataclass(eq=False)
class Parts(Output):
    """A folder of parts, by its path or address, which is its own output; see `OneFile`.

    The journal lies beside a folder of this machine; for an address, in the working directory.
    """

    path: str
    block_size = PARTS
    n_tasks = PARTS.most // TASKS.most

    def __post_init__(self) -> None:
        self.folder = folder_at(self.path)

    @property
    def kept(self) -> str:
        """See `OneFile`."""
        return self.path

    @property
    def journal(self) -> str:
        """See `OneFile`."""
        head = self.path.partition("?")[0].rstrip("/")
        beside = os.path.basename(head) if is_address(self.path) else head
        return partial_path(beside or ".") + ".journal"

    def check(self) -> None:
        """See `OneFile`."""
        suffix = suffix_of(self.path)
        if suffix in FORMATS and is_address(self.path):
            raise InputError(
                f"{self.path}: what is written to an address is a folder of Parquet files; leave "
                f"out {suffix}"
            )
        if suffix in FORMATS:
            raise OutputError(
                f"{self.path}: is a directory; name a file in it, or end it with / for a folder of "
                f"Parquet files"
            )
        local = local_path(self.path)
        if local is not None:
            parent = os.path.dirname(local.rstrip("/")) or "."
            if not os.path.isdir(parent):
                raise OutputError(f"{self.path}: the directory {parent} does not exist")
            if os.path.exists(local.rstrip("/")) and not os.path.isdir(local):
                raise OutputError(f"{self.path}: is a file; name a folder")
        self.folder.names()

    def check_unused(self, resume: bool) -> None:
        """See `OneFile`."""
        for name in self.folder.names():
            if not resume:
                raise OutputError(f"{self.path}: is not empty; name another folder")
            if not name.startswith(UNFINISHED):
                raise OutputError(
                    f"{self.path}: is not empty, and has no journal ({self.journal}) to be resumed "
                    f"with: its run has ended, or was begun elsewhere; delete {self.path} to begin "
                    f"again, or name another folder"
                )

    def held(self) -> AbstractContextManager[Any]:
        """See `OneFile`; the journal is the lock."""
        return nullcontext()

    def is_finished(self) -> bool:
        """See `OneFile`."""
        return True

    def parts_of(self, number: int, block: Encoded) -> list[Part]:
        """See `OneFile`."""
        return [Part(part_name(number), block.n_rows, block.written.checksum)]

    def open(
        self, table: RowTable, written: Written | None, parts: Sequence[Part], pool: Pool
    ) -> tuple[Write, Output]:
        """See `OneFile`."""
        self.folder.make()
        for part in parts:
            self._check(part)
        self._schema, self._n_parts = table.schema, len(parts)
        self._remove_others()
        write = partial(_part, table, self.folder, pool.sees_files or is_address(self.path))
        return write, self

    def _check(self, part: Part) -> None:
        place = child(self.path, part.name)
        found = checksum_at(place)
        if found is None:
            raise JournalError(f"{place}: is gone; delete {self.journal} to begin again")
        if found != part.checksum:
            raise JournalError(
                f"{place}: is damaged: it does not hold what was written; delete {self.path} and "
                f"{self.journal} to begin again"
            )

    def take(self, block: Encoded) -> None:
        """See `Output`."""
        if block.data is not None:  # blocks come in order, so the number of the part is known
            self.folder.put(part_name(self._n_parts), block.data)
        self._n_parts += 1

    def sync(self) -> None:
        """See `Output`."""
        self.folder.sync()

    def finish(self) -> None:
        """See `Output`."""
        if not self._n_parts:  # a table without rows still has columns
            self.folder.put(part_name(0), _parquet(self._schema.empty_table()))
            self._n_parts = 1
        self._remove_others()

    def _remove_others(self) -> None:
        """Remove unrecorded parts, which killed workers or an earlier run left."""
        for name in set(self.folder.names()) - {part_name(k) for k in range(self._n_parts)}:
            if name.startswith(UNFINISHED) or _PART.fullmatch(name):
                self.folder.remove(name)


def part_name(number: int) -> str:
    """Return the name of a part; names ascend as the rows of the input do.

    Examples
    --------
    >>> part_name(12)
    'part-000012.parquet'
    """
    return f"part-{number:06d}.parquet"


def _part(table: RowTable, folder: Folder, puts: bool, batch: Any, answers: Any) -> Encoded:
    """Make a part of the rows of a block, and store it if this process can."""
    rows, sums = table.rows(batch, answers)
    data = _parquet(rows)
    encoded = Encoded.of(data, **_about(batch, sums))
    if not puts:
        return encoded
    folder.put(part_name(batch.number), data)
    return replace(encoded, data=None)


def _parquet(table: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    pq.write_table(table.combine_chunks(), sink, ROW_GROUP, compression="zstd")
    return sink.getvalue()
