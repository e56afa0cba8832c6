"""Writing tables so that they appear whole or not at all.

Rows go to ``OUT.partial``, from which an interrupted run can go on; the finished file takes its
place in one step. What the finished file holds does not depend on where it was interrupted, or
how rows were batched: compression and row groups are made at the end.
"""

from __future__ import annotations

import bz2
import gzip
import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from batchsolve.errors import InputError, OutputError
from batchsolve.tables.sources import JSON_TEXT, split_suffixes

ROW_GROUP = 65_536
COPY_BYTES = 1 << 20


class Encoder(Protocol):
    """Turns tables into the bytes of a text format."""

    def header(self, schema: pa.Schema) -> bytes:
        """Return what stands before the first row."""
        ...

    def rows(self, table: pa.Table) -> pa.Buffer | bytes:
        """Return the bytes of some rows."""
        ...


class _Delimited:
    """CSV and TSV with a line feed at the end of lines, quoting values only where needed."""

    def __init__(self, delimiter: str) -> None:
        self._delimiter = delimiter
        self._special = f'["\r\n{delimiter}]'
        self._options = pacsv.WriteOptions(
            include_header=False, delimiter=delimiter, quoting_style="none"
        )

    def header(self, schema: pa.Schema) -> bytes:
        names = self._quoted(pa.array(schema.names, pa.string())).to_pylist()
        return (self._delimiter.join(names) + "\n").encode()

    def rows(self, table: pa.Table) -> pa.Buffer:
        sink = pa.BufferOutputStream()
        try:
            if any(pa.types.is_binary(kind) for kind in table.schema.types):
                raise pa.ArrowInvalid("binary values")
            pacsv.write_csv(table, sink, self._options)
            return sink.getvalue()
        except pa.ArrowInvalid:
            columns = [self._quoted(_flat_text(column)) for column in table.columns]
            lines = pc.binary_join_element_wise(*columns, self._delimiter)
            whole = pc.binary_join_element_wise(lines, "", "\n").combine_chunks()
            return whole.buffers()[2].slice(0, sum(pc.binary_length(whole).to_pylist()))

    def _quoted(self, column: Any) -> Any:
        text = pc.fill_null(column, "")
        inner = pc.replace_substring(text, '"', '""')
        quoted = pc.binary_join_element_wise('"', inner, '"', "")
        return pc.if_else(pc.match_substring_regex(text, self._special), quoted, text)


def _flat_text(column: pa.ChunkedArray) -> Any:
    """Return a column as text; lists and the like as JSON."""
    if pa.types.is_nested(column.type):
        values = (None if v is None else json.dumps(v, default=_plain) for v in column.to_pylist())
        return pa.chunked_array([pa.array(values, pa.string())])
    if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        values = (None if v is None else _plain(v) for v in column.to_pylist())
        return pa.chunked_array([pa.array(values, pa.string())])
    return column.cast(pa.string())


class _JsonLines:
    def header(self, schema: pa.Schema) -> bytes:
        return b""

    def rows(self, table: pa.Table) -> bytes:
        coded = [field.name for field in table.schema if field.metadata == JSON_TEXT]
        lines = []
        for row in table.to_pylist():
            for name in coded:
                row[name] = None if row[name] is None else json.loads(row[name])
            lines.append(json.dumps(row, ensure_ascii=False, default=_plain) + "\n")
        return "".join(lines).encode()


def _plain(value: object) -> str:
    """Write as text what JSON has no form for; bytes that are no UTF-8 as escapes."""
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)


class Sink(Protocol):
    """Where the rows of a run go."""

    def write(self, table: pa.Table) -> None:
        """Take the next rows."""
        ...

    def flush(self) -> int:
        """Make everything taken so far durable; return a position for `open_sink`."""
        ...

    def finish(self) -> None:
        """Put the finished output into its place."""
        ...

    def close(self) -> None:
        """Leave the output as it is, to be resumed."""
        ...


class _TextSink:
    def __init__(
        self, path: str, encoder: Encoder, compression: str, schema: pa.Schema, position: int | None
    ) -> None:
        self._path = path
        self._partial = partial_path(path)
        self._encoder = encoder
        self._compression = compression
        mode = "wb" if position is None else "r+b"
        with _disk_errors(self._partial):
            self._file: IO[bytes] = open(self._partial, mode)  # noqa: SIM115
            if position is None:
                self._file.write(encoder.header(schema))
            elif os.path.getsize(self._partial) < position:
                raise OSError(f"it is shorter than its journal says ({position} bytes)")
            else:
                self._file.seek(position)
                self._file.truncate()

    def write(self, table: pa.Table) -> None:
        with _disk_errors(self._partial):
            self._file.write(self._encoder.rows(table))

    def flush(self) -> int:
        with _disk_errors(self._partial):
            _sync(self._file)
            return self._file.tell()

    def finish(self) -> None:
        with _disk_errors(self._partial):
            _sync(self._file)
            self._file.close()
            whole = self._partial
            if self._compression:
                whole = self._partial + self._compression
                _compress(self._partial, whole, self._compression)
            os.replace(whole, self._path)
            if self._compression:
                os.remove(self._partial)

    def close(self) -> None:
        with _disk_errors(self._partial):
            self._file.close()


class _ParquetSink:
    """Writes one small Parquet file a flush, and joins them at the end."""

    def __init__(self, path: str, schema: pa.Schema, position: int | None) -> None:
        self._path = path
        self._partial = partial_path(path)
        self._schema = schema
        self._waiting: list[pa.Table] = []
        self._n_parts = position or 0
        with _disk_errors(self._partial):
            if position is None:
                shutil.rmtree(self._partial, ignore_errors=True)
                os.makedirs(self._partial)

    def write(self, table: pa.Table) -> None:
        self._waiting.append(table)

    def flush(self) -> int:
        if self._waiting:
            with _disk_errors(self._partial):
                part = self._part(self._n_parts)
                table = pa.concat_tables(self._waiting)
                pq.write_table(table, part + ".tmp", compression="zstd")
                with open(part + ".tmp", "rb") as file:
                    os.fsync(file.fileno())
                os.replace(part + ".tmp", part)
            self._n_parts += 1
            self._waiting = []
        return self._n_parts

    def finish(self) -> None:
        self.flush()
        whole = os.path.join(self._partial, "whole.parquet")
        with (
            _disk_errors(self._partial),
            pq.ParquetWriter(whole, self._schema, compression="zstd") as writer,
        ):
            for table in self._row_groups():
                # pages are cut where chunks end, so there must be one chunk
                writer.write_table(table.combine_chunks(), row_group_size=ROW_GROUP)
        with _disk_errors(self._path):
            os.replace(whole, self._path)
            shutil.rmtree(self._partial)

    def close(self) -> None:
        self._waiting = []

    def _row_groups(self) -> Iterator[pa.Table]:
        rest = self._schema.empty_table()
        for k in range(self._n_parts):
            rest = pa.concat_tables([rest, pq.read_table(self._part(k), schema=self._schema)])
            while len(rest) >= ROW_GROUP:
                yield rest.slice(0, ROW_GROUP)
                rest = rest.slice(ROW_GROUP)
        if len(rest):
            yield rest

    def _part(self, k: int) -> str:
        return os.path.join(self._partial, f"{k:08d}.parquet")


class _StandardOutput:
    """Writes CSV to standard output as it comes."""

    def __init__(self, schema: pa.Schema) -> None:
        self._encoder = _Delimited(",")
        self._file = sys.stdout.buffer
        self._put(self._encoder.header(schema))

    def write(self, table: pa.Table) -> None:
        self._put(self._encoder.rows(table))

    def flush(self) -> int:
        with _disk_errors("standard output"):
            self._file.flush()
        return 0

    def finish(self) -> None:
        self.flush()

    def close(self) -> None:
        """Nothing is held back."""

    def _put(self, data: pa.Buffer | bytes) -> None:
        with _disk_errors("standard output"):
            self._file.write(data)


def check_output(path: str) -> None:
    """Refuse an output path that cannot be written, before any work is done.

    Raises
    ------
    InputError
        If its format is unknown.
    OutputError
        If its directory does not exist, or it is a directory.
    """
    if path == "-":
        return
    suffix, compression = split_suffixes(path)
    if suffix not in (".csv", ".tsv", ".parquet", ".jsonl", ".ndjson"):
        raise InputError(
            f"{path}: the name must say the format: .csv, .tsv, .jsonl (each perhaps with .gz, "
            f".bz2 or .zst) or .parquet"
        )
    if suffix == ".parquet" and compression:
        raise InputError(f"{path}: Parquet is compressed by itself; leave out {compression}")
    if os.path.isdir(path):
        raise OutputError(f"{path}: is a directory; name a file in it")
    parent = os.path.dirname(path) or "."
    if not os.path.isdir(parent):
        raise OutputError(f"{path}: the directory {parent} does not exist")


def open_sink(path: str, schema: pa.Schema, position: int | None = None) -> Sink:
    """Open an output for writing.

    Parameters
    ----------
    path : str
        The output, checked by `check_output`; ``-`` is standard output.
    schema : pyarrow.Schema
        Its columns.
    position : int, optional
        What `Sink.flush` returned; what was written after it is discarded.
    """
    suffix, compression = split_suffixes(path)
    if path == "-":
        return _StandardOutput(schema)
    if suffix == ".parquet":
        return _ParquetSink(path, schema, position)
    if suffix in (".jsonl", ".ndjson"):
        return _TextSink(path, _JsonLines(), compression, schema, position)
    delimiter = "\t" if suffix == ".tsv" else ","
    return _TextSink(path, _Delimited(delimiter), compression, schema, position)


def partial_path(path: str) -> str:
    """Return where the unfinished output of a path is kept."""
    return path + ".partial"


def _sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def _compress(source: str, target: str, compression: str) -> None:
    with open(source, "rb") as plain, open(target, "wb") as raw:
        packed: Any
        if compression == ".gz":
            packed = gzip.GzipFile("", "wb", 6, raw, mtime=0)
        elif compression == ".bz2":
            packed = bz2.BZ2File(raw, "wb")
        else:
            packed = pa.CompressedOutputStream(pa.PythonFile(raw), "zstd")
        with packed:
            shutil.copyfileobj(plain, packed, COPY_BYTES)
        if not raw.closed:
            _sync(raw)


@contextmanager
def _disk_errors(path: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = error.strerror or str(error).splitlines()[0]
        raise OutputError(f"{path}: cannot be written: {reason}") from error
