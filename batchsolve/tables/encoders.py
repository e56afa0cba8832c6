"""Tables to bytes: what a worker makes of its rows, so that the main process only appends it.

Whatever the rows are cut into, the bytes of the parts one behind the other are the same for text
formats. Parquet is not made of parts that could be joined; see `ArrowStreams`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from batchsolve.tables.layouts import JSON_TEXT
from batchsolve.tables.sources import split_suffixes


class Encoder(Protocol):
    """Turns tables into bytes; small, and can be sent to workers."""

    def header(self, schema: pa.Schema) -> bytes:
        """Return what stands before the first row."""
        ...

    def rows(self, table: pa.Table) -> pa.Buffer | bytes:
        """Return the bytes of some rows."""
        ...


def encoder_for(path: str) -> Encoder:
    """Return the encoder of an output, by its name; ``-`` is CSV."""
    suffix, _ = split_suffixes(path)
    if suffix == ".parquet":
        return ArrowStreams()
    if suffix in (".jsonl", ".ndjson"):
        return JsonObjects()
    return Separated("\t" if suffix == ".tsv" else ",")


@dataclass(frozen=True)
class Separated:
    """CSV and TSV with a line feed at the end of lines, quoting values only where needed."""

    delimiter: str

    def header(self, schema: pa.Schema) -> bytes:
        """See `Encoder`."""
        names = self._quoted(pa.array(schema.names, pa.string())).to_pylist()
        return (self.delimiter.join(names) + "\n").encode()

    def rows(self, table: pa.Table) -> pa.Buffer:
        """See `Encoder`."""
        sink = pa.BufferOutputStream()
        options = pacsv.WriteOptions(
            include_header=False, delimiter=self.delimiter, quoting_style="none"
        )
        try:
            if any(pa.types.is_binary(kind) for kind in table.schema.types):
                raise pa.ArrowInvalid("binary values")
            pacsv.write_csv(table, sink, options)
            return sink.getvalue()
        except pa.ArrowInvalid:
            columns = [self._quoted(_flat_text(column)) for column in table.columns]
            lines = pc.binary_join_element_wise(*columns, self.delimiter)
            whole = pc.binary_join_element_wise(lines, "", "\n").combine_chunks()
            return whole.buffers()[2].slice(0, sum(pc.binary_length(whole).to_pylist()))

    def _quoted(self, column: Any) -> Any:
        text = pc.fill_null(column, "")
        inner = pc.replace_substring(text, '"', '""')
        quoted = pc.binary_join_element_wise('"', inner, '"', "")
        return pc.if_else(pc.match_substring_regex(text, f'["\r\n{self.delimiter}]'), quoted, text)


def _flat_text(column: pa.ChunkedArray) -> Any:
    """Return a column as text; lists and the like as JSON."""
    if pa.types.is_nested(column.type):
        values = (None if v is None else json.dumps(v, default=_plain) for v in column.to_pylist())
        return pa.chunked_array([pa.array(values, pa.string())])
    if pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        values = (None if v is None else _plain(v) for v in column.to_pylist())
        return pa.chunked_array([pa.array(values, pa.string())])
    return column.cast(pa.string())


class JsonObjects:
    """JSON objects, one a line."""

    def header(self, schema: pa.Schema) -> bytes:
        """See `Encoder`."""
        return b""

    def rows(self, table: pa.Table) -> bytes:
        """See `Encoder`."""
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


class ArrowStreams:
    """One compressed Arrow stream a table, for what becomes Parquet at the end."""

    def header(self, schema: pa.Schema) -> bytes:
        """See `Encoder`."""
        return b""

    def rows(self, table: pa.Table) -> pa.Buffer:
        """See `Encoder`."""
        sink = pa.BufferOutputStream()
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
            writer.write_table(table)
        return sink.getvalue()
