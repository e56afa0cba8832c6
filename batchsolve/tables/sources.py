"""Reading tables of puzzles: CSV, TSV, Parquet, JSON lines, plain text, and compressed forms.

Every column of a text format is read as text, for type inference would turn 81 digits into a
float. Rows that break the format (too many fields, no JSON) keep their place and come with a
fault, so that they can be reported where they stand.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from batchsolve.errors import InputError
from batchsolve.tables.blocks import (
    BLOCK_BYTES,
    BOM,
    MOST_RECORD_BYTES,
    Prefixed,
    blocks,
    open_stream,
)

PARQUET_ROWS = 16_384
COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
DELIMITERS = ",;\t|"
JSON_TEXT = {b"json": b"1"}  # marks columns whose values are JSON

csv.field_size_limit(MOST_RECORD_BYTES)  # else the module refuses fields of over 128 KiB


@dataclass(frozen=True, eq=False)
class Rows:
    """Some consecutive rows of a table.

    Attributes
    ----------
    table : pyarrow.Table
    faults : dict of int to str
        Rows (counted from 0) that break the format, and how.
    """

    table: pa.Table
    faults: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Source:
    """A table to read.

    Attributes
    ----------
    path : str
        The file, or ``-`` for standard input.
    kind : str
        ``csv``, ``parquet``, ``jsonl`` or ``text``.
    delimiter : str
        What parts the fields of a CSV table.
    """

    path: str
    kind: str
    _read: Callable[[], Iterator[Rows]]
    delimiter: str = ""

    @property
    def name(self) -> str:
        """What messages call it."""
        return "standard input" if self.path == "-" else self.path

    @property
    def rereadable(self) -> bool:
        """Whether `rows` can be called more than once."""
        return self.path != "-"

    def rows(self) -> Iterator[Rows]:
        """Read the table from its beginning.

        Raises
        ------
        InputError
            If the file cannot be read, is damaged, or is not of its format.
        """
        try:
            yield from self._read()
        except InputError as error:
            raise InputError(f"{self.name}: {error}") from error
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, EOFError) as error:
            raise InputError(f"{self.name}: {_first_line(error)}") from error
        except UnicodeDecodeError as error:
            byte = f"byte 0x{error.object[error.start]:02x}"
            raise InputError(
                f"{self.name}: not UTF-8 text ({byte}); convert it, for instance with iconv"
            ) from error
        except OSError as error:
            raise InputError(f"{self.name}: {error.strerror or _first_line(error)}") from error


def split_suffixes(path: str) -> tuple[str, str]:
    """Return the format and compression suffixes of a path, each perhaps empty.

    Examples
    --------
    >>> split_suffixes("corpus.CSV.gz")
    ('.csv', '.gz')
    """
    base, last = os.path.splitext(path.lower())
    if last in COMPRESSIONS:
        return os.path.splitext(base)[1], last
    return last, ""


def open_source(path: str) -> Source:
    """Find out how a file is to be read.

    Parameters
    ----------
    path : str
        A file, or ``-`` for standard input.

    Raises
    ------
    InputError
        If the file does not exist, cannot be read or is empty.
    """
    name = "standard input" if path == "-" else path
    try:
        stream = open_stream(path)
        head = stream.read(BLOCK_BYTES)
        if path != "-":
            stream.close()
    except IsADirectoryError as error:
        raise InputError(f"{name}: is a directory; name the files in it") from error
    except OSError as error:
        raise InputError(f"{name}: {error.strerror or _first_line(error)}") from error
    if not head.removeprefix(BOM).strip():
        raise InputError(
            f"{name}: is empty; expected puzzles, one a line, or a table with a header"
        )

    def reopen() -> Any:
        return Prefixed(head, stream) if path == "-" else open_stream(path)

    if head.startswith(b"PAR1"):
        return Source(path, "parquet", lambda: _read_parquet(path, reopen))
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in head[:4096]:
        raise InputError(
            f"{name}: not UTF-8 text (UTF-16, or a binary file); expected CSV, TSV, Parquet, JSON "
            f"lines or text"
        )
    return _text_source(path, head.removeprefix(BOM).decode(errors="replace"), reopen)


def _text_source(path: str, head: str, reopen: Callable[[], IO[bytes]]) -> Source:
    suffix, _ = split_suffixes(path)
    lines = (line.strip() for line in head.splitlines())
    first = next((line for line in lines if line and not line.startswith("#")), "")
    if suffix in (".jsonl", ".ndjson", ".json") or first.startswith("{"):
        return Source(path, "jsonl", lambda: _read_jsonl(reopen))
    if suffix in (".csv", ".tsv", ".tab") or _looks_like_header(first):
        delimiter = "\t" if suffix in (".tsv", ".tab") else _delimiter(head)
        return Source(path, "csv", lambda: _read_csv(reopen, delimiter), delimiter)
    return Source(path, "text", lambda: _read_text(reopen))


def _looks_like_header(line: str) -> bool:
    """Whether a line of an unnamed format begins a CSV table: words, not a grid."""
    fields = next(csv.reader([line], delimiter=_delimiter(line)), [])
    words = [f for f in fields if f.replace("_", "").isalpha() and f.lower() == f and len(f) > 2]
    return bool(words) and len(words) >= len(fields) / 2


def _delimiter(head: str) -> str:
    line = head.split("\n", 1)[0]
    return max(DELIMITERS, key=lambda d: (line.count(d), -DELIMITERS.index(d)))


def _read_text(reopen: Callable[[], IO[bytes]]) -> Iterator[Rows]:
    with reopen() as stream:
        for block in blocks(stream):
            block = block.removeprefix(BOM)
            block.decode()
            lines = pc.split_pattern(pa.array([block], pa.large_binary()), b"\n").values
            lines = pc.ascii_trim_whitespace(lines.cast(pa.large_string())).cast(pa.string())
            if b"#" in block:
                lines = pc.replace_substring_regex(lines, pattern=r"(^|\s+)#.*", replacement="")
            lines = lines.filter(pc.greater(pc.binary_length(lines), 0))
            if len(lines):
                yield Rows(pa.table({"puzzle": lines}))


def _read_csv(reopen: Callable[[], IO[bytes]], delimiter: str) -> Iterator[Rows]:
    columns: list[str] = []
    with reopen() as stream:
        for block in blocks(stream, delimiter):
            if not columns:
                block = block.removeprefix(BOM)
                columns, block = _header(block.lstrip(b"\r\n"), delimiter)
                yield Rows(pa.table({name: pa.array([], pa.string()) for name in columns}))
            if block.strip():
                yield _parse_csv(block, columns, delimiter)


def _header(block: bytes, delimiter: str) -> tuple[list[str], bytes]:
    """Return the names of the columns and what follows the header.

    A first record that holds a grid is no header: its columns are called ``puzzle`` and
    ``column_2``, …
    """
    end = 0
    while end < len(block):
        newline = block.find(b"\n", end)
        end = len(block) if newline < 0 else newline + 1
        if block.count(b'"', 0, end) % 2 == 0:
            break
    fields = next(csv.reader(io.StringIO(block[:end].decode()), delimiter=delimiter))
    names = [name.strip() for name in fields]
    grids = [k for k, name in enumerate(names) if looks_like_grid(name)]
    if grids:
        names = [f"column_{k + 1}" for k in range(len(names))]
        names[grids[0]] = "puzzle"
        if len(grids) == 2:
            names[grids[1]] = "solution"
        return names, block
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"the header names column {twice[0]!r} twice; rename one")
    return names, block[end:]


def looks_like_grid(text: str) -> bool:
    """Whether a field is a grid written as characters, rather than a name."""
    size = len(text)
    square = size in (16, 36, 64, 81, 100, 144, 225, 256, 400, 625)
    symbols = set(text)
    return (
        square
        and symbols <= set("0123456789.*_ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        and (len(symbols) > 2 or bool(symbols & set("0.*_")))
    )


def _parse_csv(block: bytes, columns: list[str], delimiter: str) -> Rows:
    ragged: list[tuple[int, int, str]] = []

    def keep(row: Any) -> str:
        ragged.append((row.number - 1, row.actual_columns, row.text))
        return "skip"

    block.decode()  # pyarrow would not say which byte is wrong
    table = pacsv.read_csv(
        pa.py_buffer(block),
        pacsv.ReadOptions(use_threads=False, column_names=columns, block_size=len(block) + 1),
        pacsv.ParseOptions(
            delimiter=delimiter, newlines_in_values=b'"' in block, invalid_row_handler=keep
        ),
        pacsv.ConvertOptions(column_types=dict.fromkeys(columns, pa.string())),
    ).combine_chunks()
    if not ragged:
        return Rows(table)
    faults = {
        place: f"{_fields(actual)} where the header has {len(columns)}: {text[:200]!r}"
        for place, actual, text in ragged
    }
    records = []
    for _, _, text in ragged:
        fields = next(csv.reader([text], delimiter=delimiter), [])
        records.append((fields + [""] * len(columns))[: len(columns)])
    extra = pa.table(
        [pa.array(values, pa.string()) for values in zip(*records, strict=True)], columns
    )
    places = {place: len(table) + k for k, (place, _, _) in enumerate(ragged)}
    regular = iter(range(len(table)))
    order = [places[k] if k in places else next(regular) for k in range(len(table) + len(extra))]
    return Rows(pa.concat_tables([table, extra]).combine_chunks().take(order), faults)


def _fields(n: int) -> str:
    return "1 field" if n == 1 else f"{n} fields"


def _read_jsonl(reopen: Callable[[], IO[bytes]]) -> Iterator[Rows]:
    schema: pa.Schema | None = None
    first = 0
    with reopen() as stream:
        for block in blocks(stream):
            records: list[dict[str, Any]] = []
            faults: dict[int, str] = {}
            for line in block.removeprefix(BOM).decode().split("\n"):
                if not line.strip():
                    continue
                try:
                    record = _json_object(line)
                except (ValueError, RecursionError) as error:
                    faults[len(records)] = f"not a JSON object ({error}): {line[:200]!r}"
                    record = {}
                records.append(record)
            where = f"rows {first + 1} to {first + len(records)}"
            if schema is None:
                keys = list(dict.fromkeys(key for record in records for key in record))
                if not keys:
                    raise InputError("no line is a JSON object; expected one on every line")
                schema = _json_schema(records, keys)
            for record in records:
                if extra := record.keys() - set(schema.names):
                    raise InputError(
                        f"{where}: the field {sorted(extra)[0]!r} is new; give every object of "
                        f"the file the same fields"
                    )
            columns = [_json_column(records, field, where) for field in schema]
            yield Rows(pa.table(columns, schema), faults)
            first += len(records)


def _json_object(line: str) -> dict[str, Any]:
    record = json.loads(line)
    if not isinstance(record, dict):
        raise ValueError("another kind of value")
    if "\\u" in line:
        try:
            json.dumps(record, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("half of a surrogate pair") from None
    return record


def _json_schema(records: list[dict[str, Any]], keys: list[str]) -> pa.Schema:
    """Choose types; what Arrow has no type for is kept as JSON text, marked as such."""
    fields = []
    for key in keys:
        values = [record.get(key) for record in records]
        try:
            kind = pa.array(values).type
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            kind = None
        if kind is None or pa.types.is_struct(kind):
            fields.append(pa.field(key, pa.string(), metadata=JSON_TEXT))
        else:
            fields.append(pa.field(key, pa.string() if pa.types.is_null(kind) else kind))
    return pa.schema(fields)


def _json_column(records: list[dict[str, Any]], field: pa.Field, where: str) -> pa.Array:
    values = [record.get(field.name) for record in records]
    if field.metadata == JSON_TEXT:
        texts = (None if v is None else json.dumps(v, ensure_ascii=False) for v in values)
        return pa.array(texts, pa.string())
    try:
        column = pa.array(values)
        if pa.types.is_string(field.type) and not pa.types.is_string(column.type):
            column.cast(pa.null())  # a number is not text
        return column.cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        raise InputError(
            f"{where}: the field {field.name!r} has values of another type than in the first rows "
            f"({field.type}); give it one type"
        ) from None


def _read_parquet(path: str, reopen: Callable[[], IO[bytes]]) -> Iterator[Rows]:
    place = path
    if path == "-":
        place = pa.BufferReader(reopen().read())  # a Parquet file is read from its end
    with pq.ParquetFile(place) as file:
        yield Rows(file.schema_arrow.empty_table())
        for batch in file.iter_batches(PARQUET_ROWS):
            yield Rows(pa.Table.from_batches([batch]))


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
