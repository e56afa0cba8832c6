"""Writing tables so that they appear whole or not at all.

What workers have encoded goes to ``OUT.partial``, which they write themselves where they can;
this process takes it in order. An interrupted run can go on from there, and the finished file takes
its place in one step. What that holds does not depend on where a run was interrupted, or how rows
were cut up: compression and row groups are made of ``OUT.partial``, beside it, while it grows.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from typing import IO, TYPE_CHECKING

import pyarrow as pa

from batchsolve.errors import InputError, JournalError, OutputError, disk_errors
from batchsolve.tables.checksums import Written, written_to
from batchsolve.tables.encoders import header_for
from batchsolve.tables.in_place import Encoded, InPlace
from batchsolve.tables.packing import Companion, GrowingFile, compress, count_rows, regroup
from batchsolve.tables.sources import split_suffixes
from batchsolve.whole_files import partial_path, target_of

if TYPE_CHECKING:
    from batchsolve.workers.base import Numbers

FORMATS = (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson", ".npy")
WHOLE = {".parquet": regroup, ".npy": count_rows}  # what makes the finished file
Finished = tuple[str, Callable[[GrowingFile, str], None]]  # a suffix, and what makes the file


class Output:
    """The sink of the encoded rows of a run; this base class holds nothing back.

    Attributes
    ----------
    in_place : InPlace or None
        The way for workers to write blocks themselves, if there is one.
    """

    in_place: InPlace | None = None

    def take(self, block: Encoded) -> None:
        """Append the next block, or go on behind it if a worker has written it."""
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
    """Appends to ``OUT.partial``, as workers may do before.

    Parameters
    ----------
    path : str
    header : bytes
        The first bytes of an output that begins anew.
    written : Written or None
        Its contents, unless it begins anew.
    finished : (suffix, function) or None
        Makes the finished file ``OUT.partial`` + suffix of ``OUT.partial``, if they differ.
    known : Numbers, optional
        What workers share, for them to write blocks; see `InPlace`.
    """

    def __init__(
        self,
        path: str,
        header: bytes,
        written: Written | None,
        finished: Finished | None,
        known: Numbers | None = None,
    ) -> None:
        self._path = path
        self._partial = partial_path(path)
        mode = "wb" if written is None else "r+b"
        with disk_errors(self._partial):
            self._file: IO[bytes] = open(self._partial, mode)  # noqa: SIM115
        self._written = Written()
        try:
            if written is None:
                self._append(header, Written.of(header))
            else:
                self._go_on_from(written)
        except BaseException:
            self._file.close()
            raise
        self._n_blocks = 0
        self.in_place = None if known is None else InPlace.of(self._file, self._partial, known)
        self._companion: Companion | None = None
        if finished:
            suffix, make = finished
            end = self.written().n_bytes
            with disk_errors(self._partial):
                self._companion = Companion(make, self._partial, self._partial + suffix, end)
        self._note_place()

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
        if block.data is not None:
            self._append(block.data, block.written)
        elif block.begin == self._written.n_bytes:
            self._written = self._written.plus(block.written)
        else:
            raise OutputError(
                f"{self._partial}: two workers made different rows of the same block; "
                f"all rows before it are whole"
            )
        self._n_blocks += 1
        self._note_place()
        if self._companion is not None:
            end = self.written().n_bytes
            with disk_errors(self._companion.target):
                self._companion.grown_to(end)

    def _append(self, data: pa.Buffer | bytes, written: Written) -> None:
        with disk_errors(self._partial):
            self._file.seek(self._written.n_bytes)
            self._file.write(data)
        self._written = self._written.plus(written)

    def _note_place(self) -> None:
        if self.in_place is not None:
            self.in_place.begins(self._n_blocks, self._written.n_bytes)

    def written(self) -> Written:
        with disk_errors(self._partial):
            self._file.flush()
        return self._written

    def sync(self) -> None:
        with disk_errors(self._partial):
            _sync(self._file)

    def finish(self) -> None:
        companion, whole = self._companion, self._partial
        with disk_errors(self._partial):
            _sync(self._file)
            self._file.close()
        if companion is not None:
            whole = companion.target
            with disk_errors(whole):
                companion.finish()
        with disk_errors(self._path):
            os.replace(whole, self._path)
            if companion is not None:
                os.remove(self._partial)

    def close(self) -> None:
        if self.in_place is not None:
            self.in_place.close()
        if self._companion is not None:
            self._companion.give_up()
        with suppress(OSError, ValueError):  # unless it is finished: what workers wrote beyond
            self._file.truncate(self._written.n_bytes)
        with disk_errors(self._partial):
            self._file.close()


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


def open_output(
    path: str,
    schema: pa.Schema,
    written: Written | None = None,
    known: Numbers | None = None,
    threads: int = 1,
) -> Output:
    """Open an output for encoded rows.

    Parameters
    ----------
    path : str
        The output, checked by `check_output`; ``-`` is standard output.
    schema : pyarrow.Schema
        Its columns.
    written : Written, optional
        What `Output.written` returned; what was written after that is discarded.
    known : Numbers, optional
        What workers share, for them to write blocks themselves; see `InPlace`.
    threads : int
        The number of threads that compress the finished file, if it is compressed.

    Raises
    ------
    JournalError
        If what was written before has changed.
    """
    header = header_for(path, schema)
    if path == "-":
        return _StandardOutput(header)
    suffix, compression = split_suffixes(path)
    finished: Finished | None = None
    if make := WHOLE.get(suffix):
        finished = ".whole", partial(make, schema=schema)
    elif compression:
        finished = compression, partial(compress, suffix=compression, threads=threads)
    return _File(path, header, written, finished, known)


@contextmanager
def whole_output(
    path: str, folder: str, schema: pa.Schema, known: Numbers | None = None, threads: int = 1
) -> Iterator[Output]:
    """Open an output that takes its place when all is written; see `open_output`.

    Parameters
    ----------
    path : str
    folder : str
        Its place until then; see `batchsolve.whole_files.folder_beside`.
    """
    unfinished = os.path.join(folder, os.path.basename(path))
    with closing(open_output(unfinished, schema, None, known, threads)) as output:
        yield output
        output.finish()
    with disk_errors(path):
        os.replace(unfinished, path)


def _sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())
