"""Tables of puzzles, for ``solve``: no row may be lost, and no answer may be wrong."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from fuzzing import damage
from fuzzing.cases import FINE, REFUSED, Case, Change, Draft, Files, Outcome
from fuzzing.commands import STDIN
from fuzzing.grids import Known, digits_of, judge, known_by_text, known_puzzles, solves

PACKERS = {
    "": bytes,
    ".gz": lambda data: gzip.compress(data, mtime=0),
    ".bz2": bz2.compress,
    ".zst": lambda data: pa.compress(data, "zstd", asbytes=True),
}
MORE_COLUMNS = (
    *("id", "note", "status", "message", "nodes", "given_status", "given_solution", "n_solutions"),
    *("Puzzle ", "grid2", "agrees", "x" * 200, "é", "a b", ""),
)
JUNK = (
    *("", " ", "x", "....", "1" * 15, "1" * 17, "1" * 16, "11" + "." * 14, "." * 15 + "5"),
    *("." * 15 + "é", "1 2 3 4", "." * 15 + "\0", "0" * 16 + "\t", "." * 81, "." * 36, "." * 256),
    *("." * 15 + "A", "." * 15 + "?", "1.23e+15", "NaN", "null", "#" + "." * 16, "7" * 5000),
)
STATUSES = ("unique", "multiple", "solved", "unsolvable", "unfinished", "invalid")


@dataclass(frozen=True)
class Table:
    """A table, and those of its lines that hold a puzzle.

    Attributes
    ----------
    name : str
        Its file, not packed.
    lines : dict of bytes to Known
        The right answer for a line of the file.
    header : bytes
        Its first line with the column names; empty for formats without a header.
    words : sequence of str
        The command that solves the table.
    """

    name: str
    lines: dict[bytes, Known]
    header: bytes = b""
    words: Sequence[str] = ()


def begin(rng: Random) -> Case:
    """Make a case of a table of puzzles of one size, and a command that solves it."""
    known = rng.choices(known_puzzles(rng.choice([16, 16, 16, 36, 81])), k=rng.randrange(1, 20))
    form = rng.choice(
        ["csv", "csv", "csv", "tsv", "semicolons", "txt", "jsonl", "jsonl", "parquet"]
    )
    more = rng.sample(MORE_COLUMNS, rng.choice([0, 0, 1, 1, 2, 3]))
    given = rng.random() < 0.3 and all(each.solution for each in known)
    packing = rng.choice(["", "", "", ".gz", ".bz2", ".zst"]) if form != "parquet" else ""
    out = rng.choice(["out.csv", "out.csv", "out.jsonl", "out.parquet", "out.csv.gz", "-"])
    # the name of standard input shows no format
    typed = rng.random() < 0.1 and (form in ("parquet", "jsonl", "txt") or not more)
    records = [
        {"puzzle": one.puzzle}
        | ({"solution": one.solution} if given else {})
        | dict.fromkeys(more, f"{k}")
        for k, one in enumerate(known)
    ]
    if rng.random() < 0.3:  # the puzzle is not in the first column
        records = [dict(reversed(record.items())) for record in records]
    table, data = written(form, records, known, rng)
    path = STDIN if typed else table.name + packing
    command = ["solve", path, "-o", out, "-j", "1", "--json"]
    table = replace(table, words=command)
    changes = (*PACKED, *BYTE_CHANGES, *OPTIONS) if form == "parquet" else CHANGES
    return Case(
        Draft({table.name: data}, [command]),
        changes,
        lambda draft, outcome: wrong(table, draft, outcome),
        lambda files: {path: PACKERS[packing](files[table.name])},
    )


def written(
    form: str, records: list[dict[str, str]], known: list[Known], rng: Random
) -> tuple[Table, bytes]:
    """Write records in one of the formats."""
    if form == "parquet":
        return Table("in.parquet", {}), _parquet(records, rng)
    header: list[str] = []
    if form == "jsonl":
        lines = [json.dumps(record, ensure_ascii=False) for record in records]
    elif form == "txt":
        lines = [record["puzzle"] for record in records]
    else:
        delimiter = {"csv": ",", "tsv": "\t", "semicolons": ";"}[form]
        header = [delimiter.join(records[0])]
        lines = [delimiter.join(record.values()) for record in records]
    data = "".join(f"{line}\n" for line in [*header, *lines]).encode()
    name = "in.csv" if form == "semicolons" else f"in.{form}"
    right = dict(zip((line.encode() for line in lines), known, strict=True))
    return Table(name, right, "".join(header).encode()), data


def _parquet(records: list[dict[str, str]], rng: Random) -> bytes:
    """Write Parquet, with the puzzles in one of the types that can hold them."""
    columns: dict[str, Any] = {name: [r[name] for r in records] for name in records[0]}
    texts = columns["puzzle"]
    how = rng.randrange(5)
    if how == 1:
        columns["puzzle"] = pa.array(texts).dictionary_encode()
    elif how == 2:
        columns["puzzle"] = [[int(c) if c != "." else 0 for c in text] for text in texts]
    elif how == 3:
        columns["puzzle"] = pa.array(texts, pa.large_string())
    elif how == 4:
        columns["puzzle"] = [text if rng.random() < 0.9 else None for text in texts]
    if rng.random() < 0.3:
        value: Any = rng.choice([{"a": [1]}, b"\xff", 1.5, None, True])
        columns["more"] = [value] * len(texts)
    sink = io.BytesIO()
    compression = rng.choice(["none", "snappy", "zstd"])
    pq.write_table(pa.table(columns), sink, compression=compression, row_group_size=7)
    return sink.getvalue()


# ---- changes --------------------------------------------------------------------------------


def _spoil_a_row(data: bytes, rng: Random) -> bytes:
    """Replace a puzzle with something else, or change the fields around it."""
    lines = data.split(b"\n")
    k = rng.randrange(len(lines))
    how, junk = rng.randrange(5), rng.choice(JUNK).encode()
    puzzles = [known.puzzle.encode() for known in known_by_text().values()]
    inside = next((p for p in puzzles if p in lines[k]), b"")
    if how == 0:
        lines[k] = lines[k].replace(inside, junk) if inside else lines[k]
    elif how == 1:
        lines[k] += rng.choice([b",", b",,,x", b"\t", b" ", b";", b"  # why"])
    elif how == 2:
        lines[k] = lines[k][: rng.randrange(len(lines[k]) + 1)]
    elif how == 3:
        lines.insert(k, rng.choice([b"", b" ", b",", b"# a comment", b"\t\t", junk]))
    elif how == 4 and inside:  # another digit
        digits = bytearray(inside)
        digits[rng.randrange(len(digits))] = ord(rng.choice("123456789.0"))
        lines[k] = lines[k].replace(inside, bytes(digits))
    return b"\n".join(lines)


def _name_columns_otherwise(data: bytes, rng: Random) -> bytes:
    """Rename a column: to the name of another, to a known name, or to nothing."""
    header, _, rest = data.partition(b"\n")
    words = header.split(b",")
    words[rng.randrange(len(words))] = rng.choice(
        [*words, b"", b" ", b"quizzes", b"grid", b"PUZZLE", b"status", b"solution", b"1", b"x\ry"]
    )
    if rng.random() < 0.2:
        rng.shuffle(words)
    return b",".join(words) + b"\n" + rest


def _pack_again(data: bytes, rng: Random) -> bytes:
    """Compress once more, or in another format, or append a second stream."""
    packed = PACKERS[rng.choice([".gz", ".bz2", ".zst"])](data)
    return rng.choice([packed, data + packed, packed + data])


def _set_an_option(draft: Draft, rng: Random) -> None:
    """Set an option that keeps the answers; one that takes a value is given once."""
    option, *value = rng.choice(
        [
            *(["--chunk", "1"], ["--chunk", "3"], ["--budget", "1"], ["--budget", "50"]),
            *(["--split-depth", "2"], ["--stats"], ["--column", "puzzle"], ["-j", "2"], ["-q"]),
            *(["--engine", "dlx"], ["--engine", "cells"], ["--engine", "lanes"]),
        ]
    )
    words = draft.commands[0]
    if value and option in words:
        words[words.index(option) + 1] = value[0]
    else:
        words += [option, *value]


def _set_another_option(draft: Draft, rng: Random) -> None:
    """Add an option that may change answers or be refused."""
    draft.commands[0] += rng.choice(
        [
            *(["--limit", "1"], ["--limit", "3"], ["--node-limit", "1"], ["--stop-on-invalid"]),
            *(["--box", "2x2"], ["--box", "4x4"], ["--box", "1x4"], ["--alphabet", "1-4"]),
            *(["--alphabet", "0-3"], ["--alphabet", "numbers"], ["--column", "note"]),
            *(["--resume"], ["-o", "in.csv"], ["-o", "no/out.csv"], ["-o", "out.xlsx"]),
        ]
    )


OPTIONS = (Change(_set_an_option, harmless=True), Change(_set_another_option))
BYTE_CHANGES = tuple(damage.of_files(change) for change in damage.BYTES)
PACKED = tuple(damage.of_files(change, packed=True) for change in (*damage.BYTES[:6], _pack_again))
CHANGES = (
    *(damage.of_files(_spoil_a_row),) * 8,
    *(damage.of_files(_name_columns_otherwise),) * 2,
    *BYTE_CHANGES,
    *(damage.of_files(change) for change in (*damage.TEXT, *damage.TEXT, damage.change_json)),
    *OPTIONS * 2,
    *PACKED,
)


# ---- what must hold -------------------------------------------------------------------------


def wrong(
    table: Table,
    draft: Draft,
    outcome: Outcome,
    wrong_row: Callable[[dict[str, Any]], str] | None = None,
) -> str:
    """Return the fault of the output of a table."""
    [done] = outcome.done
    words = draft.commands[0]
    if done.code == REFUSED:
        good = not draft.spoiled or (words == table.words and _is_mostly_good(table, draft))
        return f"a good table is refused: {done.err}" if good else ""
    out = [words[k + 1] for k in range(len(words) - 1) if words[k] == "-o"][-1]
    lines = (done.err if out == "-" else done.out).splitlines()
    summary = json.loads(next(line for line in lines if line.startswith("{")))
    rows = _rows(out, outcome.files, done.out)
    if isinstance(rows, str):
        return rows
    tally = {status: sum(row["status"] == status for row in rows) for status in STATUSES}
    if len(rows) != summary["rows"] or any(tally[s] != summary[s] for s in STATUSES):
        return f"the output has {len(rows)} rows, {tally}; the summary says {summary}"
    answered = not (tally["invalid"] or tally["unfinished"] or summary["disagree"])
    if (done.code == FINE) != answered:
        return f"exit code {done.code} with {tally}, {summary['disagree']} disagree"
    fault = next(filter(None, map(wrong_row or _wrong_row, rows)), "")
    limited = {"--limit", "--node-limit", "--alphabet", "--box", "--column"} & set(words)
    unknown = limited or draft.damaged or not table.lines
    return fault or ("" if unknown else _lost(table, draft.files[table.name], rows))


def _is_mostly_good(table: Table, draft: Draft) -> bool:
    """Return True if the wrong lines do not affect the others."""
    data = draft.files[table.name]
    lines = [line for line in data.removesuffix(b"\n").split(b"\n") if line]
    if draft.damaged or set(data) & set(b'\0\r"') or not _is_utf8(data):
        return False
    if table.header:
        first, *lines = lines or [b""]
        if first != table.header:
            return False
    elif not table.name.endswith(".txt") or lines[:1] == [b"solution"]:
        return False  # a field of one object is a column of all; solutions are no puzzles
    good = sum(line in table.lines for line in lines)
    return good >= 3 and 3 * good >= 2 * len(lines)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _rows(out: str, files: Files, printed: str) -> list[dict[str, Any]] | str:
    """Read the output; return the fault if that is impossible."""
    if out == STDIN:
        data = printed.encode()
    elif out not in files:
        return f"there is no {out}"
    else:
        data = files[out]
    if out.endswith(".parquet"):
        return list(pq.read_table(io.BytesIO(data)).to_pylist())
    if out.endswith(".jsonl"):
        return [json.loads(line) for line in data.decode().split("\n") if line]
    text = gzip.decompress(data).decode() if out.endswith(".gz") else data.decode()
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    if len(set(header)) != len(header):
        return f"the output names a column twice: {header}"
    if ragged := [row for row in rows if len(row) != len(header)]:
        return f"a row of the output has {len(ragged[0])} fields where the header has {len(header)}"
    return [dict(zip(header, row, strict=True)) for row in rows]


def _wrong_row(row: dict[str, Any]) -> str:
    """Return the fault of an answer, judged by its row alone."""
    puzzle = row.get("puzzle")
    digits = digits_of(puzzle) if isinstance(puzzle, str) else None
    status, solution = row["status"], row["solution"] or ""
    if digits is None or "0" in solution:  # zeros of an alphabet such as 0-3
        return ""
    if status in ("unique", "multiple", "solved") and not solves(solution, digits):
        return f"{puzzle} has the status {status} and the solution {solution}"
    if status in ("invalid", "unfinished") or (len(digits) > 16 and puzzle not in known_by_text()):
        return ""
    known = known_by_text().get(str(puzzle)) or judge(digits)
    if known.status != status and status != "solved":
        return f"{puzzle} has the status {status}, and is {known.status}"
    return ""


def _lost(table: Table, data: bytes, rows: list[dict[str, Any]]) -> str:
    """Return the first untouched line whose row is missing or has another answer."""
    lines = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").split(b"\n")
    if b'"' in table.header or (b'"' in data and not table.name.endswith(".jsonl")):
        return ""  # within quotes, lines may not be rows
    if table.header and next((line for line in lines if line), b"") != table.header:
        return ""
    if rows and "puzzle" not in rows[0]:  # the first line gives other column names now
        return ""
    right = [table.lines[line] for line in lines if line in table.lines]
    if 3 * len(right) < 2 * len(rows):  # most rows of a column decide its type
        return ""
    found = iter([(r.get("puzzle"), r["status"], r["solution"] or "") for r in rows])
    for known in right:
        if not any(_agrees(known, row) for row in found):
            return f"the row of {known.puzzle} is lost, or wrong, or not in its place"
    return ""


def _agrees(known: Known, row: tuple[Any, str, str]) -> bool:
    puzzle, status, solution = row
    return (
        str(puzzle).strip() == known.puzzle
        and status in known.status.split(" or ")
        and (not known.solution or solution == known.solution)
    )
