"""Malformed inputs: one clear message, the right exit code, and every other row answered."""

import gzip
import json
import os
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import PUZZLE as SMALL, SOLUTION as SMALL_S, SOLVED as S, rows_of_csv, typed_rows
from cutting import small_blocks
from invoking import invoke, invoke_on

from batchsolve.tables import columns, detection

P = "".join("." if (k * k // 5 + k) % 2 else digit for k, digit in enumerate(S))
SWAP = str.maketrans("12", "21")
P2, S2 = P.translate(SWAP), S.translate(SWAP)


class Done:
    """The outcome of a command: exit code, standard error, and the rows of its output."""

    def __init__(self, code, err, out):
        self.code, self.err, self.out = code, err, out
        self.rows = []
        if out.is_file():
            self.rows = rows_of_csv(out) if out.suffix == ".csv" else typed_rows(out)

    def column(self, name):
        return [row[name] for row in self.rows]

    def assert_refused(self, *words):
        """Check for exit code 2, a message with these words, and no output."""
        assert self.code == 2
        assert self.err.startswith(("batchsolve: ", "Usage: "))
        assert all(word in self.err for word in words), self.err
        assert not self.out.is_file()


@pytest.fixture
def solve(here):
    """Return a function that runs ``batchsolve solve``, and fails unless it exits by itself."""

    def run(data, *options, name="in.csv", out="out.csv"):
        names = [name] if isinstance(name, str) else name
        if data is not None:
            (here / names[0]).write_bytes(data.encode() if isinstance(data, str) else data)
        result = invoke("solve", *names, "-o", out, "-j", "1", *options)
        return Done(result.exit_code, result.stderr, here / out)

    return run


def truncated(text):
    return gzip.compress(text.encode())[:-6]


LONG = "x" * 5000
USELESS = [
    ("in.csv", b"", ["is empty", "expected"]),
    ("in.csv", b"\n  \n\n", ["is empty", "expected"]),
    ("in.csv", b"\xef\xbb\xbf\n", ["empty"]),
    ("in.txt", b"# nothing\n\n# here\n", ["no puzzles", "comments"]),
    ("in.csv", b"a,b\n1,2\n", ["'a', 'b'", "--column"]),
    ("in.csv", f"puzzle,id,id\n{P},1,2\n".encode(), ["'id' twice"]),
    ("in.csv", f"{LONG},b\n1,2\n", ["no column is known", "…"]),
    ("in.csv", f"{LONG},{LONG}\n1,2\n", ["twice", "…"]),
    ("in.csv", ",".join(map(str, range(1000))) + "\n", ["no column is known", "'11', …"]),
    ("in.csv", f"puzzle,note\n{P},caf\xe9\n".encode("latin-1"), ["not UTF-8", "0xe9", "iconv"]),
    ("in.txt", f"{P}\n# caf\xe9\n".encode("latin-1"), ["not UTF-8", "0xe9", "iconv"]),
    ("in.csv", bytes(range(250, 0, -1)), ["not UTF-8", "0xfa"]),
    ("in.csv.gz", gzip.compress(b"puzzle\n") + bytes(512), ["has more bytes than gzip data: zcat"]),
    ("in.csv.gz", truncated(f"puzzle\n{P}\n"), ["in.csv.gz", "runcated"]),
    ("in.parquet", b"PAR1 and nothing more", ["in.parquet", "arquet"]),
    ("in.jsonl", b"[1]\n[2]\n", ["JSON object"]),
    ("in.json", f'{{\n"puzzle": "{P}"\n}}\n'.encode(), ["write each object on one line, or all"]),
    ("in.csv", f"sep=;\r\nid;puzzle\r\n1;{P}\r\n".encode(), ["'sep=;'", "take this line away"]),
    ("in.tsv", f"SEP=\t\nid\tpuzzle\n1\t{P}\n".encode(), ["take this line away"]),
    ("in.json", 2 * json.dumps([{"puzzle": P}]).encode(), ["is not JSON", "an object a line"]),
    ("in.txt", f"# LF\n{P}\r{P}\r".encode(), ["carriage return", "end all lines alike"]),
    ("in.tsv", f"puzzle,solution\n{P},{S}\n".encode(), ["tab"]),
    ("in.csv", b"puzzle\n4.0807e+79\n1.2e+80\n", ["'4.0807e+79'", "81 characters"]),
    ("in.csv", f"puzzle\n{P.lstrip('1')}\n".encode(), ["'puzzle' holds no grids", "81"]),
    ("in.json", '[{"puzzle": "1"}, {"other": 1}]', ["column 'puzzle' holds no grids"]),
    ("in.json", '[[{"r": 1, "c": 2, "v": 3}]]', ["column 'puzzle' holds lists of objects"]),
    ("in.csv", f"pu\rzzle,id\n{P},1\n", ["in.csv: the header cannot be read", "; end all lines"]),
    ("in.csv", f"puzzle,grid\n{P},{P2}\n".encode(), ["puzzle, grid", "--column"]),
    ("in.csv", ("puzzle\nA" + "." * 255).encode(), ["1-9A-G or 0-9A-F or A-P", "--alphabet"]),
    (".", None, ["is a folder without files"]),
    ("no.csv", None, ["no.csv: No such file"]),
    (["in.csv", "no.csv"], f"puzzle\n{P}\n".encode(), ["no.csv: No such file"]),
]


@pytest.mark.parametrize(("name", "data", "words"), USELESS, ids=range(len(USELESS)))
def test_an_input_of_no_use_is_refused_and_leaves_nothing(solve, tmp_path, name, data, words):
    done = solve(data, name=name)
    done.assert_refused(*words)
    assert "--resume" not in done.err
    assert (done.err.count("\n"), len(done.err) < 1000) == (1, True)
    assert len(os.listdir(tmp_path)) == (data is not None)


@pytest.mark.parametrize("box", [[], ["--box", "2x3"]])
def test_a_table_without_rows_is_solved_whatever_its_boxes(solve, tmp_path, box):
    done = solve("puzzle\n", *box)
    assert (done.code, done.rows) == (0, [])
    assert done.out.read_text() == "puzzle,solution,status,n_solutions,message\n"


UNFIT = {  # options -> words of the message
    "--column x": ["'x'", "'puzzle'"],
    "--box 2x3": ["81", "36"],
    f"--limit {10**30}": ["limit"],
}


@pytest.mark.parametrize("options", UNFIT)
def test_options_that_do_not_fit_are_refused(solve, options):
    solve(f"puzzle\n{P}\n", *options.split()).assert_refused(*UNFIT[options])


HARMLESS = [
    ("in.csv", f"\ufeffpuzzle,solution\n{P},{S}\n{P2},{S2}\n"),
    ("in.csv", f"puzzle,solution\r\n{P},{S}\r\n{P2},{S2}\r\n"),
    ("in.csv", f"puzzle,solution\r{P},{S}\r{P2},{S2}\r"),
    ("in.csv", f"puzzle,solution\r\n{P},{S}\n{P2},{S2}"),
    ("in.csv", f"puzzle;solution\n{P};{S}\n{P2};{S2}\n"),
    ("in.csv", f"puzzle|solution\n{P}|{S}\n\n\n{P2}|{S2}\n"),
    ("in.dat", f"quizzes,solutions\n{P},{S}\n{P2},{S2}\n"),
    ("in.csv", f"{P},{S}\n{P2},{S2}\n"),
    ("in.csv", f"\n\npuzzle;solution\n{P};{S}\n{P2};{S2}\n"),
    ("in.csv", f"puzzle,Puzzle,solution\n{P},1,{S}\n{P2},2,{S2}\n"),
    ("in.csv", f"PUZZLE,puzzle,solution\n1,{P},{S}\n2,{P2},{S2}\n"),
    ("in.csv", f" puzzle ,Solution\n{P}  , {S}\n {P2},{S2} \n"),
    ("in.csv", f'puzzle,note,answer\n{P},"a\nb, ""c""",{S}\n{P2},"5"" x",{S2}\n'),
    ("in.csv", f'puzzle,note,answer\n{P},5" disk,{S}\n{P2},x,{S2}\n'),
    ("in.csv", f"puzzle;solution\n{P};{' '.join(S)}\n{P2};{' '.join(S2)}\n"),
    ("in.csv", f"puzzle,solution,solved\n{P},{S},True\n{P2},{S2},True\n"),
    ("in.jsonl", f'{{"puzzle": "{P}", "answer": "{S}", "n": "a\u2028b"}}\n'
                 f'{{"puzzle": "{P2}", "answer": "{S2}", "n": "\x85"}}\n'),
    ("in.jsonl", f'{{"puzzle": "{P}", "answer": "{S}", "n": {2**70}}}\n'
                 f'{{"puzzle": "{P2}", "answer": "{S2}", "n": 1}}\n'),
]  # fmt: skip


@pytest.mark.parametrize(("name", "data"), HARMLESS, ids=range(len(HARMLESS)))
def test_unusual_but_clear_tables_are_read(solve, name, data):
    done = solve(data, name=name)
    assert (done.code, done.column("solution")) == (0, [S, S2])
    assert done.column("agrees") == ["true", "true"]


BROKEN_ROWS = [
    (P, ["1 field", "2"]),
    (f"\n{P},2,3", ["3 fields", "2"]),
    (f'{P},"2\ny",3', ["3 fields", "2"]),
    (f"{P},2,{'x' * 200_000}", ["3 fields", "2"]),
    (f"{P[:80]},2", ["80 characters", "81"]),
    (f"{P}{P},2", ["162 characters", "81"]),
    (",2", ["no grid", "81"]),
    (f"{SMALL[:-1]}x,2", ["as a 4×4 grid", "row 4, column 4", "'x'", "1-4"]),
    (f"{P[:80]}x,2", ["row 9, column 9", "'x'", "1-9"]),
    (f"{P[:80]}\u00e9,2", ["row 9, column 9", "'\u00e9'", "1-9"]),
    (f"\u00e9{P[1:]},2", ["row 1, column 1", "'\u00e9'", "1-9"]),
    (f"55{P[2:]},2", ["digit 5 twice in a row", "row 1, column 2"]),
]


@pytest.mark.parametrize("end", ["\n", "\r"])
@pytest.mark.parametrize(("row", "words"), BROKEN_ROWS, ids=range(len(BROKEN_ROWS)))
def test_a_broken_row_is_reported_in_its_place(solve, row, words, end):
    done = solve(f"puzzle,id\n{P},1\n{row}\n{P2},3\n".replace("\n", end))
    assert (done.code, done.column("solution")) == (1, [S, "", S2])
    assert done.column("status") == ["unique", "invalid", "unique"]
    message = done.rows[1]["message"]
    assert all(word in message for word in words), message
    assert done.column("message")[::2] == ["", ""]


NEVER_CLOSED = [
    f'puzzle,note\n{P},x\n{P2},"never closed\n{P},x\n{P2},x\n',
    f'puzzle,"note\n{P},x\n{P2},y\n',
    f'puzzle,note\n"{P},x\n{P2},x\n{P},x\n',
]


@pytest.mark.parametrize("data", NEVER_CLOSED)
def test_a_quotation_mark_never_closed_swallows_no_rows_in_silence(solve, data):
    done = solve(data)
    assert done.code in (1, 2)
    assert "quot" in done.err + " ".join(row.get("message") or "" for row in done.rows)


def test_stray_quotation_marks_cut_no_record_at_the_end_of_a_block(solve):
    with small_blocks(4096):
        done = solve(f'puzzle,note\n{SMALL},5" disk\n' + f'{SMALL},"x\ny"\n' * 200)
    assert (done.code, done.column("solution")) == (0, [SMALL_S] * 201)
    assert done.column("note") == ['5" disk'] + ["x\ny"] * 200


def test_a_line_longer_than_a_csv_field_may_be(solve):
    done = solve("1" * 200_000 + f"\n{P}\n{P2}\n", name="in.txt", out="out.jsonl")
    assert (done.code, done.column("solution")) == (1, [None, S, S2])
    assert "200000 characters" in done.rows[0]["message"]


TWICE = f'{{"puzzle": "{P}", "puzzle": "{P2}"}}'
DEEP = "[" * 5000 + "]" * 5000
NO_OBJECTS = ['{"puzzle": ', "[1]", "null", "x", '{"puzzle": "\\ud800"}', DEEP, TWICE]


@pytest.mark.parametrize("line", NO_OBJECTS, ids=range(len(NO_OBJECTS)))
def test_lines_that_are_no_json_objects_keep_their_place(solve, line):
    data = f'{{"puzzle": "{P}"}}\n{line}\n{{"puzzle": "{P2}"}}\n'
    done = solve(data, name="in.jsonl", out="out.jsonl")
    assert (done.code, done.column("solution")) == (1, [S, None, S2])
    message, why = done.rows[1]["message"], "an object has two fields 'puzzle'; name each once"
    assert message
    assert (why in message) == (line == TWICE)


def test_a_field_that_stands_twice_in_the_first_line_is_refused(solve):
    for data, name in ((f"{TWICE}\n", "in.jsonl"), (f"[{TWICE}]", "in.json")):
        solve(data, name=name, out="other.csv").assert_refused("two fields 'puzzle'")


@pytest.mark.parametrize("begin", ["", "\n"])
def test_a_first_line_of_json_may_be_longer_than_the_sample(solve, monkeypatch, begin):
    monkeypatch.setattr(detection, "HEAD_BYTES", 4096)
    monkeypatch.setattr(detection, "SKIP_BYTES", 512)
    records = [{"note": "x" * 20_000, "puzzle": P}, {"note": "y" * 9000, "puzzle": P2}]
    data = begin + "".join(json.dumps(record) + "\n" for record in records)
    for text in (data, data.rstrip("\n")):
        done = solve(text, name="in.jsonl", out="out.jsonl")
        assert (done.code, done.column("solution")) == (0, [S, S2])
        assert done.column("note") == [record["note"] for record in records]
    monkeypatch.setattr(columns, "MOST_RECORD_BYTES", 1 << 14)
    solve(data, name="in.jsonl", out="other.csv").assert_refused("its first line has more than")


@pytest.mark.parametrize(("early", "late"), [(1, 1.5), ({"a": 1}, {"b": 7}), ("x", 1)])
def test_late_fields_of_another_type_are_kept_or_refused(solve, early, late):
    records = [{"puzzle": SMALL, "x": early}] * 300 + [{"puzzle": SMALL, "x": late}]
    data = "".join(json.dumps(record) + "\n" for record in records)
    with small_blocks(4096):
        done = solve(data, name="in.jsonl", out="out.jsonl")
    if done.code != 0:
        done.assert_refused("'x'", "type")
        return
    last = done.rows[-1]["x"]
    kept = {k: v for k, v in last.items() if v is not None} if isinstance(last, dict) else last
    assert kept == late


NUMBERS = [[int(c) if c != "." else 0 for c in grid] for grid in (P, P2)]
TABLES = [
    {"puzzle": pa.array([P, P2], pa.large_string())},
    {"puzzle": pa.array([P, P2]).dictionary_encode()},
    {"puzzle": pa.array([P, P2], pa.string_view())},
    {"puzzle": [[n or -1 for n in grid] for grid in NUMBERS]},
    {"puzzle": [[n or None for n in grid] for grid in NUMBERS]},
    {"puzzle": pa.ExtensionArray.from_storage(pa.json_(), pa.array(map(json.dumps, NUMBERS)))},
    {"puzzle": [P, P2], "raw": [b"\xff\x00", b"\x80"]},
    {"puzzle": [P, P2], "more": [{"a": [1]}, {"a": None}]},
]


@pytest.mark.parametrize("k", range(len(TABLES)))
def test_parquet_types(solve, k):
    columns, out = TABLES[k], ["out.csv", "out.jsonl"][k % 2]
    pq.write_table(pa.table(columns), "in.parquet")
    done = solve(None, name="in.parquet", out=out)
    assert done.code == 0
    assert ["".join(re.findall(r"\d", str(grid))) for grid in done.column("solution")] == [S, S2]


@pytest.mark.parametrize("last", ["", "\n"])
def test_a_byte_order_mark_amid_a_file_is_text_wherever_blocks_begin(solve, last):
    """As in concatenated files; Arrow drops the mark at the beginning of a block."""
    data = f"\ufeffpuzzle\n{P}\n\ufeff{P2}\n{P2}\n\ufeff{last}"
    rows = [solve(data, "--chunk", chunk).rows for chunk in ("1", "2", "1000")]
    assert rows[0] == rows[1] == rows[2]
    assert [row["status"] for row in rows[0]] == ["unique", "invalid", "unique", "invalid"]


def test_parquet_text_must_be_utf8(solve):
    note = pa.Array.from_buffers(pa.string(), 2, pa.array([b"fine", b"\xc0"]).buffers())
    pq.write_table(pa.table({"puzzle": [P, P2], "note": note}), "in.parquet")
    done = solve(None, name="in.parquet")
    assert done.code == 2
    assert all(word in done.err for word in ["in.parquet: rows 1 to 2", "not UTF-8", "again"])


def test_given_solutions_that_are_missing_malformed_or_wrong(solve):
    given = [S, "", " ", "x", S2, S[:80] + "."]
    done = solve("puzzle,solution\n" + "".join(f"{P},{text}\n" for text in given))
    assert (done.code, done.column("solution")) == (1, [S] * 6)
    assert done.column("agrees") == ["true", "", "", "false", "false", "false"]
    assert done.column("given_solution") == given


def test_files_of_other_columns_are_refused(solve, tmp_path):
    (tmp_path / "other.csv").write_text(f"id,puzzle\n1,{P}\n")
    solve(f"puzzle\n{P}\n", name=["in.csv", "other.csv"]).assert_refused("other.csv", "in.csv")


def test_rows_before_a_damaged_file_are_kept(solve, tmp_path):
    (tmp_path / "bad.csv").write_bytes(f"puzzle\n{SMALL}\n\xff\n".encode("latin-1"))
    done = solve("puzzle\n" + f"{SMALL}\n" * 12_000, name=["in.csv", "bad.csv"])
    done.assert_refused("bad.csv")
    kept = (tmp_path / "out.csv.partial").read_text().splitlines()
    assert kept[1:12_001] == [f"{SMALL},{SMALL_S},unique,1,"] * 12_000


def test_an_input_is_not_overwritten_as_partial_output(solve, tmp_path):
    data = f"puzzle\n{P}\n"
    solve(data, name="out.csv.partial").assert_refused("out.csv.partial")
    assert (tmp_path / "out.csv.partial").read_text() == data


def test_standard_input_of_every_kind(tmp_path):
    pq.write_table(pa.table({"puzzle": [SMALL]}), tmp_path / "in.parquet")
    solve = tmp_path / "in", "solve", "-", "--quiet"
    for data in (
        f"puzzle\n{SMALL}\n".encode(),
        gzip.compress(f"{SMALL}\n".encode()),
        json.dumps({"puzzle": SMALL}).encode(),
        (tmp_path / "in.parquet").read_bytes(),
    ):
        done = invoke_on(solve[0], data, *solve[1:])
        assert (done.exit_code, done.stderr) == (0, "")
        assert done.stdout.splitlines()[1:] == [f"{SMALL},{SMALL_S},unique,1,"]
    done = invoke_on(solve[0], b"", *solve[1:])
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "standard input: is empty" in done.stderr
