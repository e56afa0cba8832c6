"""Writing tables so that they appear whole or not at all.

What workers have encoded goes to ``OUT.partial``, in order. An interrupted run can go on from
there, and the finished file takes its place in one step. Parquet and NumPy need more than their
rows in order, so their finished file is made of ``OUT.partial``: row groups while that grows, since
all workers would wait for them after the last row.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from batchsolve.errors import InputError, JournalError, disk_errors
from batchsolve.tables.checksums import Sums, Written, written_to
from batchsolve.tables.encoders import array_header, header_for
from batchsolve.tables.sources import split_suffixes
from batchsolve.whole_files import partial_path, target_of

FORMATS = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson", ".npy")
ROW_GROUP = 65_536


@dataclass(frozen=True, eq=False)
class Encoded:
    """One encoded block, as a worker returns it.

    Attributes
    ----------
    data : pyarrow.Buffer or bytes or None
        The bytes that are still to be written; None if the worker has written them.
    written : Written
        The bytes of a file of it alone.
    n_rows : int
        Its rows.
    sums : object
        The addition of the rows to the sums of the run.
    read : Sums
        The checksums of the records that they were made of.
    """

    data: pa.Buffer | bytes | None
    written: Written
    n_rows: int = 0
    sums: Any = None
    read: Sums = ()

    @classmethod
    def of(cls, data: pa.Buffer | bytes, **more: Any) -> Encoded:
        """Return a block with the checksum of its bytes."""
        return cls(data, Written.of(data), **more)


class Behind:
    """A thread that makes calls, one after another, while this one goes on.

    The two communicate through queues written in C. Within the Python code of a `Future` or a
    `threading.Condition`, Ctrl-C can leave a lock taken, and the thread would wait for it forever.

    Attributes
    ----------
    n_open : int
        Number of calls that have not ended, as far as `settle` knows.
    is_left : bool
        True if no further calls are wanted.
    """

    def __init__(self) -> None:
        self.n_open, self.is_left = 0, False
        self._calls: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._ended: SimpleQueue[Exception | None] = SimpleQueue()
        # a daemon, so that the program ends even if an error prevents a call of `leave`
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        while (call := self._calls.get()) is not None:
            try:
                if not self.is_left:
                    call()
            except Exception as error:
                self._ended.put(error)
            else:
                self._ended.put(None)

    def do(self, call: Callable[[], object]) -> None:
        """Make a call after all others."""
        self.n_open += 1
        self._calls.put(call)

    def settle(self, wait: bool = False) -> None:
        """Raise the error of a call that has failed; perhaps wait until all calls have ended."""
        while self.n_open and (wait or not self._ended.empty()):
            error = self._ended.get()
            self.n_open -= 1
            if error is not None:
                raise error

    def leave(self) -> None:
        """Make no further calls, and wait for the end of the thread."""
        self.is_left = True
        self._calls.put(None)
        self._thread.join()


class Output:
    """The sink of the encoded rows of a run; this base class holds nothing back."""

    def take(self, block: Encoded) -> None:
        """Append the next block, unless a worker has written it."""
        raise NotImplementedError

    def written(self) -> Written:
        """Return the length and checksum of the rows taken so far, to resume from them."""
        return Written()

    def sync(self) -> None:
        """Make everything taken so far durable; other threads may go on to write."""

    def finish(self) -> None:
        """Put the finished output into its place."""

    def close(self) -> None:
        """Leave the output as it is, to be resumed."""


class _File(Output):
    """Appends to ``OUT.partial``.

    Parameters
    ----------
    path : str
    schema : pyarrow.Schema
    written : Written or None
        Its contents, unless it begins anew.
    """

    def __init__(self, path: str, schema: pa.Schema, written: Written | None) -> None:
        self._path, self._partial, self._schema = path, partial_path(path), schema
        self._whole = self._partial + ".whole"
        self._row_groups: _RowGroups | None = None
        header = header_for(path, schema)
        with disk_errors(self._partial):
            mode = "wb" if written is None else "r+b"
            self._file: IO[bytes] = open(self._partial, mode)  # noqa: SIM115
        self._written = Written()
        try:
            if written is None:
                self._append(header, Written.of(header))
            else:
                self._go_on_from(written)
            if split_suffixes(path)[0] == ".parquet":
                with disk_errors(self._whole):
                    self._row_groups = _RowGroups(self._partial, self._whole, schema)
        except BaseException:
            self._file.close()
            raise

    def _go_on_from(self, written: Written) -> None:
        with disk_errors(self._partial):
            self._written = written_to(self._file, written.n_bytes)
            if self._written.n_bytes < written.n_bytes:
                raise OSError(f"it is shorter than its journal says ({written.n_bytes} bytes)")
            if self._written != written:
                raise JournalError(
                    f"{self._partial}: is damaged: its first {written.n_bytes:,} bytes are not "
                    f"those that were written; delete it and its journal to begin again"
                )
            self._file.truncate()

    def take(self, block: Encoded) -> None:
        assert block.data is not None
        self._append(block.data, block.written)
        if self._row_groups is not None:
            end = self.written().n_bytes
            with disk_errors(self._whole):
                self._row_groups.grow_to(end)

    def _append(self, data: pa.Buffer | bytes, written: Written) -> None:
        with disk_errors(self._partial):
            self._file.write(data)
        self._written = self._written.plus(written)

    def written(self) -> Written:
        with disk_errors(self._partial):
            self._file.flush()
        return self._written

    def sync(self) -> None:
        with disk_errors(self._partial):
            _sync(self._file)

    def finish(self) -> None:
        self.sync()
        whole = self._partial
        if self._row_groups is not None:
            whole = self._whole
            with disk_errors(whole):
                self._row_groups.finish(self._written.n_bytes)
        elif self._path.lower().endswith(".npy"):
            whole = self._whole
            with disk_errors(whole):
                _count_rows(self._partial, whole, self._schema.field("solution").type.list_size)
        with disk_errors(self._path):
            self._file.close()
            os.replace(whole, self._path)
            if whole != self._partial:
                os.remove(self._partial)

    def close(self) -> None:
        if self._row_groups is not None:
            self._row_groups.leave()
        with suppress(OSError):  # it is finished; otherwise the next run replaces it
            os.remove(self._whole)
        with disk_errors(self._partial):
            self._file.close()


class _RowGroups:
    """A Parquet file with row groups of one size, made in a thread of streams of Arrow.

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
        self._behind = Behind()

    def grow_to(self, end: int) -> None:
        """Go on up to an offset of the source; raise the error of the thread, if any."""
        self._behind.settle()
        self._behind.do(partial(self._read_to, end))

    def finish(self, end: int) -> None:
        """Write all rows and sync the file; raise the error of the thread, if any."""
        self.grow_to(end)
        self._behind.do(self._end)
        self._behind.settle(wait=True)

    def leave(self) -> None:
        """Stop the thread."""
        self._behind.leave()
        with suppress(OSError, pa.ArrowException):  # of a file that is not wanted any more
            self._writer.close()
            self._target.close()
        self._source.close()

    def _read_to(self, end: int) -> None:
        while self._source.tell() < end and not self._behind.is_left:
            with pa.ipc.open_stream(self._source) as stream:
                self._waiting.append(stream.read_all())
            if sum(map(len, self._waiting)) >= ROW_GROUP:
                rest = pa.concat_tables(self._waiting)
                while len(rest) >= ROW_GROUP:
                    self._write(rest.slice(0, ROW_GROUP))
                    rest = rest.slice(ROW_GROUP)
                self._waiting = [rest]

    def _write(self, table: pa.Table) -> None:
        """Write a row group; each column is one chunk, because pages end where chunks end."""
        self._writer.write_table(table.combine_chunks(), row_group_size=ROW_GROUP)

    def _end(self) -> None:
        if any(map(len, self._waiting)):
            self._write(pa.concat_tables(self._waiting))
        self._writer.close()
        _sync(self._target)
        self._target.close()


def _count_rows(source: str, target: str, n_cells: int) -> None:
    """Copy a NumPy file, with the number of rows in its header."""
    with open(source, "rb") as plain, open(target, "wb") as file:
        shutil.copyfileobj(plain, file)
        n_bytes = file.tell() - len(array_header(0, n_cells))
        file.seek(0)
        file.write(array_header(n_bytes // n_cells, n_cells))
        _sync(file)


class _StandardOutput(Output):
    """The sink that writes blocks to standard output as they arrive."""

    def __init__(self, header: bytes) -> None:
        self._file = sys.stdout.buffer
        self.take(Encoded.of(header))

    def take(self, block: Encoded) -> None:
        assert block.data is not None
        with disk_errors("standard output"):
            self._file.write(block.data)
            self._file.flush()  # who gives rows by and by waits for each answer


def check_output(path: str) -> str:
    """Refuse an output path that cannot be written, before any work is done; return its target.

    Raises
    ------
    InputError
        If its format is unknown.
    OutputError
        If `target_of` raises it.
    """
    if path == "-":
        return path
    suffix, compression = split_suffixes(path)
    if suffix not in FORMATS:
        raise InputError(
            f"{path}: the name must say the format: .csv, .tsv, .jsonl (each perhaps with .gz, "
            f".bz2 or .zst), .parquet or, of solutions alone, .npy; a folder of Parquet files ends "
            f"with /"
        )
    if suffix == ".parquet" and compression:
        raise InputError(f"{path}: Parquet is compressed by itself; leave out {compression}")
    if suffix == ".npy" and compression:
        raise InputError(f"{path}: an array is not compressed; leave out {compression}")
    return target_of(path)


def open_output(path: str, schema: pa.Schema, written: Written | None = None) -> Output:
    """Open an output for encoded rows.

    Parameters
    ----------
    path : str
        The output, checked by `check_output`; ``-`` is standard output.
    schema : pyarrow.Schema
        Its columns.
    written : Written, optional
        What `Output.written` returned; what was written after that is discarded.

    Raises
    ------
    JournalError
        If what was written before has changed.
    """
    if path == "-":
        return _StandardOutput(header_for(path, schema))
    return _File(path, schema, written)


@contextmanager
def whole_output(path: str, folder: str, schema: pa.Schema) -> Iterator[Output]:
    """Open an output that takes its place when all is written; see `open_output`.

    Parameters
    ----------
    path : str
    folder : str
        Its place until then; see `batchsolve.whole_files.folder_beside`.
    """
    unfinished = os.path.join(folder, os.path.basename(path))
    with closing(open_output(unfinished, schema)) as output:
        yield output
        output.finish()
    with disk_errors(path):
        os.replace(unfinished, path)


def _sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())
