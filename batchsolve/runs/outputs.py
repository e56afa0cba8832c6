"""Outputs of runs: one file, standard output, or a folder of Parquet files, the *parts*.

The blocks of a file go to ``OUT.partial``, in order. An interrupted run can go on from there, and
the finished file takes its place in one step. Parquet and NumPy need more than their rows in order,
so their finished file is made of ``OUT.partial``. Row groups are made while that grows; otherwise
all workers would wait after the last row.

In a folder, a worker writes each block as one part, whose name is the same in all runs; a part
appears when it is complete, and belongs to the run once the journal records it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from queue import SimpleQueue
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from batchsolve import errors
from batchsolve.errors import InputError, JournalError, OutputError, WorkersError, quoted, shortened
from batchsolve.formats import whole_files
from batchsolve.runs.journal import Part, check_is_no_link
from batchsolve.search.rows import Write
from batchsolve.settings.arguments import is_address
from batchsolve.tables import answers, places
from batchsolve.tables.answers import OutputRows, RowTable, Written
from batchsolve.tables.sources import PARTS, TASKS
from batchsolve.workers import Pool

FORMATS = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson", ".npy")
ROW_GROUP = 65_536


class Behind(AbstractContextManager["Behind"]):
    """A thread that makes a call while this one goes on.

    The two communicate through queues written in C. Within the Python code of a `Future` or a
    `threading.Condition`, Ctrl-C can leave a lock taken, and the thread would wait for it forever.

    Attributes
    ----------
    is_busy : bool
        True until `settle` has found that the call has ended.
    """

    def __init__(self) -> None:
        self.is_busy = False
        self._calls: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._ended: SimpleQueue[Exception | None] = SimpleQueue()
        # a daemon, so that the program ends even if an error prevents the end of the thread
        self._thread = threading.Thread(target=self._work, daemon=True)
        try:
            self._thread.start()
        except (RuntimeError, MemoryError) as error:  # "can't start new thread"
            raise WorkersError(
                "no thread could be started to wait for the disk; raise the limit of processes"
            ) from error
        except BaseException:  # Ctrl-C after it was started
            self._calls.put(None)
            raise

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            try:
                call()
                self._ended.put(None)
            except Exception as error:
                self._ended.put(error)

    def do(self, call: Callable[[], object], then: Callable[[], object]) -> None:
        """Make a call while there is no other; once it has ended, `settle` makes the second."""
        self.is_busy, self._then = True, then
        self._calls.put(call)

    def settle(self) -> None:
        """If the call has ended, raise its error or make the second one."""
        if not self._ended.empty():
            error = self._ended.get()
            self.is_busy = False
            if error is not None:
                raise error
            self._then()

    def __exit__(self, *_: object) -> None:
        self._calls.put(None)
        self._thread.join()


class Output:
    """The output of a run: standard output, to which blocks are written as they arrive, as CSV.

    Files and folders are other kinds. A table in memory is read in blocks as for standard output.

    Attributes
    ----------
    path : str
        The file or folder, ``-`` for standard output; the target of a link, not the link.
    kept : str
        The path of the rows of an unfinished run; empty if none are kept.
    journal : str
        The path of its journal; empty if it cannot be resumed.
    form : str
        The format of a file, a folder, or the address itself; the same when a run is resumed.
    block_size : BlockSize
        The size of blocks of the input.
    """

    path = "-"
    kept = journal = ""
    form = "a file"
    block_size = TASKS

    def check(self) -> None:
        """Raise `InputError` or `OutputError` if nothing can be written there."""

    def leftovers(self, resume: bool) -> str:
        """Return the fault if files exist that no journal records, or nothing.

        The input they came from is unknown, so a run must not delete them. A resumed run may delete
        unfinished files of killed workers.
        """
        return ""

    def held(self) -> AbstractContextManager[Any]:
        """Be the only run that writes there; raises `OutputError` if another does."""
        return nullcontext()

    def writer(self, table: RowTable, pool: Pool) -> Write:
        """Return the function that workers call with a batch and its answers.

        It returns `OutputRows`.
        """
        return partial(_encoded, table, answers.encoder_for(self.path), None)

    def open(self, schema: pa.Schema, written: Written | None, parts: Sequence[Part]) -> None:
        """Begin anew, or go on behind the recorded rows; all others are discarded.

        Parameters
        ----------
        schema : pyarrow.Schema
        written : Written, optional
            The last result of `written`.
        parts : sequence of Part
            The recorded parts.

        Raises
        ------
        JournalError
            If the rows written before have changed.
        """
        self.take(OutputRows(answers.header_for(self.path, schema)))

    def take(self, block: OutputRows) -> list[Part]:
        """Append the next block, unless a worker has written it; return its parts, if any."""
        with errors.disk_errors("standard output"):
            remaining = block.data
            while len(remaining):  # under python -u, a signal may cut a write short
                remaining = remaining[sys.stdout.buffer.write(remaining) or len(remaining) :]
            sys.stdout.buffer.flush()  # who gives rows by and by waits for each answer
        return []

    def written(self) -> Written:
        """Return the length and checksum of the rows taken so far, to resume from them."""
        return Written()

    def sync(self) -> None:
        """Make everything taken so far durable; other threads may go on to write."""

    def finish(self) -> None:
        """Put the finished output into its place."""

    def discard(self) -> None:
        """Remove what a run that has written no row has left."""

    def close(self) -> None:
        """Leave the output as it is, to be resumed."""


def output_at(path: str, is_whole: bool = False) -> Output:
    """Return the output that a path names; addresses and folders get parts.

    Parameters
    ----------
    path : str
    is_whole : bool
        See `OneFile`.
    """
    if path == "-":
        return Output()
    if is_address(path):
        return Parts(path)
    target = whole_files.followed(path.rstrip("/"))  # what a run keeps lies beside that
    if path.endswith("/") or os.path.isdir(path):
        return Parts(path if target == path.rstrip("/") else target + "/")
    return OneFile(target, is_whole)


class OneFile(Output):
    """One file.

    Parameters
    ----------
    path : str
    is_whole : bool
        Remove the rows of an unfinished run.
    """

    def __init__(self, path: str, is_whole: bool = False) -> None:
        self.path, self.kept = path, whole_files.partial_path(path)
        self.form = f"a {''.join(places.split_suffixes(path))} file"
        self.journal = "" if is_whole else f"{self.kept}.journal"
        self._named = path if is_whole else self.kept  # in messages

    def check(self) -> None:
        """See `Output`."""
        suffix, compression = places.split_suffixes(self.path)
        if suffix not in FORMATS or (compression and suffix in (".parquet", ".npy")):
            more = ", .parquet or, of solutions alone, .npy; a folder of Parquet files ends with /"
            raise InputError(
                f"{self.path}: the name must say the format: .csv, .tsv, .jsonl (each perhaps with "
                f".gz, .bz2 or .zst){more if self.journal else ' or .parquet'}"
            )
        whole_files.target_of(self.path)

    def leftovers(self, resume: bool) -> str:
        """See `Output`."""
        return "is in the way" if os.path.exists(self.kept) else ""

    @contextmanager
    def held(self) -> Iterator[str]:
        """See `Output`; lend a folder beside the file."""
        hold = whole_files.only_writer if self.journal else whole_files.folder_beside
        with hold(self.path) as folder:
            if not self.journal:
                self.kept = os.path.join(folder, os.path.basename(self.kept))
            yield folder

    def open(self, schema: pa.Schema, written: Written | None, parts: Sequence[Part]) -> None:
        """See `Output`."""
        if written is not None and not os.path.exists(self.kept):
            raise JournalError(f"{self.kept}: is gone; delete {self.journal} to begin again")
        check_is_no_link(self.kept)
        self._schema, self._whole = schema, self.kept + ".whole"
        self._row_groups: _RowGroups | None = None
        header = answers.header_for(self.path, schema)
        with errors.disk_errors(self._named):
            mode = "wb" if written is None else "r+b"
            self._file: IO[bytes] = open(self.kept, mode)  # noqa: SIM115
        self._written = Written()
        try:
            if written is None:
                self._append(header, Written.of(header))
            else:
                self._go_on_from(written)
            if places.suffix_of(self.path) == ".parquet":
                with errors.disk_errors(self._named):
                    self._row_groups = _RowGroups(self.kept, self._whole, schema)
                    self._row_groups.grow_to(self._written.n_bytes)
        except BaseException:
            self._file.close()
            raise

    def _go_on_from(self, written: Written) -> None:
        with errors.disk_errors(self._named):
            self._written = answers.written_to(self._file, written.n_bytes)
            if self._written != written:
                raise JournalError(
                    f"{self.kept}: does not hold what was written; delete it and {self.journal} "
                    f"to begin again"
                )
            self._file.truncate()

    def take(self, block: OutputRows) -> list[Part]:
        """See `Output`."""
        self._append(block.data, block.written)
        if self._row_groups is not None:
            with errors.disk_errors(self._named):
                self._row_groups.grow_to(self.written().n_bytes)
        return []

    def _append(self, data: pa.Buffer | bytes, written: Written) -> None:
        with errors.disk_errors(self._named):
            self._file.write(data)
        self._written = self._written.plus(written)

    def written(self) -> Written:
        """See `Output`."""
        with errors.disk_errors(self._named):
            self._file.flush()
        return self._written

    def sync(self) -> None:
        """See `Output`."""
        with errors.disk_errors(self._named):
            _sync(self._file)

    def finish(self) -> None:
        """See `Output`."""
        self.sync()
        whole = self.kept
        with errors.disk_errors(self._named):
            if self._row_groups is not None:
                whole = self._whole
                self._row_groups.finish()
            elif places.suffix_of(self.path) == ".npy":
                whole = self._whole
                _count_rows(self.kept, whole, self._schema.field("solution").type.list_size)
        with errors.disk_errors(self.path):
            self._file.close()
            whole_files.put(whole, self.path)
            if whole != self.kept:
                os.remove(self.kept)

    def discard(self) -> None:
        """See `Output`."""
        os.remove(self.kept)

    def close(self) -> None:
        """See `Output`."""
        if self._row_groups is not None:
            self._row_groups.close()
        with suppress(OSError):  # it is finished; otherwise the next run replaces it
            os.remove(self._whole)
        with errors.disk_errors(self._named):
            self._file.close()


class _RowGroups:
    """A Parquet file with row groups of one size, made of streams of Arrow.

    Parameters
    ----------
    source : str
        The file of the streams, which grows.
    target : str
    schema : pyarrow.Schema
    """

    def __init__(self, source: str, target: str, schema: pa.Schema) -> None:
        self._source = open(source, "rb", buffering=0)  # noqa: SIM115  never reads ahead
        self._target = open(target, "wb")  # noqa: SIM115
        self._writer = pq.ParquetWriter(self._target, schema, compression="zstd")
        self._waiting: list[pa.Table] = []

    def grow_to(self, end: int) -> None:
        """Go on up to an offset of the source."""
        while self._source.tell() < end:
            with pa.ipc.open_stream(self._source) as stream:
                self._waiting.append(stream.read_all())
            n_rows = sum(map(len, self._waiting)) // ROW_GROUP * ROW_GROUP
            if n_rows:
                rows = pa.concat_tables(self._waiting)
                self._write(rows.slice(0, n_rows))
                self._waiting = [rows.slice(n_rows)]

    def finish(self) -> None:
        """Write the last rows, and sync the file."""
        if any(map(len, self._waiting)):
            self._write(pa.concat_tables(self._waiting))
        self._writer.close()
        _sync(self._target)

    def close(self) -> None:
        """Close the files."""
        with suppress(OSError, pa.ArrowException):  # of a file that is not wanted any more
            self._writer.close()
            self._target.close()
        self._source.close()

    def _write(self, table: pa.Table) -> None:
        """Write row groups; each column is one chunk, because pages end where chunks end."""
        self._writer.write_table(table.combine_chunks(), row_group_size=ROW_GROUP)


def _count_rows(source: str, target: str, n_cells: int) -> None:
    """Copy a NumPy file, with the number of rows in its header."""
    with open(source, "rb") as plain, open(target, "wb") as file:
        shutil.copyfileobj(plain, file)
        n_bytes = file.tell() - len(answers.array_header(0, n_cells))
        file.seek(0)
        file.write(answers.array_header(n_bytes // n_cells, n_cells))
        _sync(file)


def part_name(number: int) -> str:
    """Return the name of a part; names ascend as the rows of the input do.

    Examples
    --------
    >>> part_name(12)
    'part-000012.parquet'
    """
    return f"part-{number:06d}.parquet"


class Parts(Output):
    """A folder of parts, by its path or address.

    The journal lies beside a folder of this machine; for an address, in the working directory.

    Parameters
    ----------
    path : str
    name_of : callable
        Returns the name of a part, given its number.

    Attributes
    ----------
    n_parts : int
        The number of parts so far.
    """

    block_size = PARTS

    def __init__(self, path: str, name_of: Callable[[int], str] = part_name) -> None:
        self.path = self.kept = path
        self.name_of = name_of
        self.form = path if is_address(path) else "a folder"
        head = path.partition("?")[0].rstrip("/")
        beside = head
        if is_address(path):  # others may have the same last name
            digest = hashlib.blake2b(path.encode(errors="replace"), digest_size=4).hexdigest()
            beside = f"{os.path.basename(head)}-{digest}"
        self.journal = whole_files.partial_path(beside or ".") + ".journal"

    def check(self) -> None:
        """See `Output`."""
        if self.path.partition("://")[0].lower() in places.HTTP:
            raise OutputError(f"{self.path}: http takes no files; name a folder, or s3://…")
        suffix = places.suffix_of(self.path)
        if suffix in FORMATS:
            raise OutputError(
                f"{self.path}: is a directory or an address, which gets a folder of Parquet files; "
                f"leave out {suffix}, or name a file in the directory"
            )
        local = places.local_path(self.path)
        if local is not None:
            whole_files.check_directory(self.path, os.path.dirname(local.rstrip("/")) or ".")
            if os.path.exists(local.rstrip("/")) and not os.path.isdir(local):
                raise OutputError(f"{self.path}: is a file; name a folder")
        places.files_in(self.path)

    def held(self) -> AbstractContextManager[Any]:
        """See `Output`."""
        return whole_files.only_writer(self.journal)

    def leftovers(self, resume: bool) -> str:
        """See `Output`."""
        names = places.files_in(self.path)
        has_others = any(not (resume and name.startswith(places.UNFINISHED)) for name in names)
        return "is not empty" if has_others else ""

    def writer(self, table: RowTable, pool: Pool) -> Write:
        """See `Output`."""
        if whole_files.is_in_memory(self.path):
            puts = pool.workers.in_process
        else:
            puts = pool.workers.sees_files or is_address(self.path)
        return partial(_encoded, table, _parquet, self.path if puts else None)

    def open(self, schema: pa.Schema, written: Written | None, parts: Sequence[Part]) -> None:
        """See `Output`."""
        places.make_folder(self.path)
        for part in parts:
            self._check(part)
        self._schema, self.n_parts = schema, len(parts)
        self.discard()

    def _check(self, part: Part) -> None:
        place = places.child(self.path, part.name)
        if (checksum := answers.checksum_at(place)) != part.checksum:
            fault = "is gone" if checksum is None else "does not hold what was written"
            paths = f"{self.path} and {self.journal}"
            raise JournalError(f"{place}: {fault}; delete {paths} to begin again")

    def take(self, block: OutputRows) -> list[Part]:
        """See `Output`."""
        name = self.name_of(self.n_parts)  # blocks come in order
        if block.data is not None:
            places.put_file(self.path, name, block.data)
        self.n_parts += 1
        return [Part(name, block.n_rows, block.written.checksum)]

    def sync(self) -> None:
        """See `Output`."""
        places.sync_folder(self.path)

    def finish(self) -> None:
        """See `Output`."""
        if not self.n_parts:  # a table without rows still has columns
            nothing = pa.Table.from_batches([], self._schema)
            places.put_file(self.path, self.name_of(0), _parquet(nothing))
            self.n_parts = 1
        self.discard()
        if gone := self._names - {*places.files_in(self.path)}:
            place = places.child(self.path, min(gone))
            raise OutputError(f"{place}: was removed during the run; put it back if you have it")

    @property
    def _names(self) -> set[str]:
        """The names of the parts so far."""
        return {self.name_of(k) for k in range(self.n_parts)}

    def is_part(self, name: str) -> bool:
        """Return True for the name of a part, recorded or not."""
        number = re.search(r"[0-9]{6,}", name)
        return number is not None and name == self.name_of(int(number[0]))

    def discard(self) -> None:
        """Remove unrecorded parts, which killed workers or an earlier run left; see `Output`."""
        for name in {*places.files_in(self.path)} - self._names:
            # no others are ever removed
            if name.startswith(places.UNFINISHED) or self.is_part(name):
                places.remove_file(self.path, name)


def _encoded(
    table: RowTable, encode: answers.Encode, folder: str | None, batch: Any, result: Any
) -> OutputRows:
    """Encode the rows of a block; store them as a part if this process reaches the folder."""
    rows, block = table.rows(batch, result), batch.block
    encoded = replace(rows.encoded(encode(rows.data)), read=answers.sums_of(block.records()))
    if folder is None:
        return encoded
    places.put_file(folder, part_name(block.number), encoded.data)
    return replace(encoded, data=None)


def check_parquet(schema: pa.Schema) -> None:
    """Raise `InputError` if a column has a type that Parquet does not have, such as a union."""
    for field in schema:
        try:
            with suppress(pa.ArrowInvalid):  # a field of a struct that must not be null
                _parquet(pa.table({"row": pa.nulls(1, field.type)}))
        except pa.ArrowNotImplementedError as error:
            raise InputError(
                f"column {quoted(field.name)} has the type {shortened(str(field.type))}, which "
                f"Parquet cannot hold; write .jsonl or .csv, or leave the column out"
            ) from error


def _parquet(table: pa.Table) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    pq.write_table(table.combine_chunks(), sink, ROW_GROUP, compression="zstd")
    return sink.getvalue()


def _sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())
