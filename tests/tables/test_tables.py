"""Tables in and out, against oracles that read and write everything with the standard library."""

import bz2
import csv
import gzip
import io
import json
import os
import pickle
import re
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import cycle, pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cutting import small_blocks
from fuzzing.grids import solutions, text_of
from hypothesis import example, given, strategies as st

from batchsolve import InputError, solve_file
from batchsolve.search.rows import STATUS_NAMES, Answers
from batchsolve.settings import FileSettings
from batchsolve.tables import sources as tables
from batchsolve.tables.answers import encoder_for, header_for, joined_sums, sums_of
from batchsolve.tables.columns import JSON_TEXT, RowsError, arrow_stream
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.detection import open_source
from batchsolve.tables.sources import Boundary, TableSource

P, S = "1.....2..3.....4", "1243342143122134"
NAMED = {"column": "puzzle", "box": (2, 2), "alphabet": "1-4"}
GOOD = re.compile(r"[1234.0*_]{16}")


PACKED = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress}
PACKED[".zst"] = partial(pa.compress, codec="zstd", asbytes=True)


# oracles: (suffix, content, rows as tuples of values, indices of rows that break the format)

grids = st.sampled_from([P, S, f" {P} ", P[:-1], "x" + P[1:], "é" + P[1:], "", P.replace(".", "0")])
fields = st.text('ab ,;\n\r"é|\t#1', max_size=6)


@st.composite
def csv_files(draw):
    delimiter = draw(st.sampled_from(",;\t|"))
    end = draw(st.sampled_from(["\n", "\r\n"]))

    def written(field):
        plain = not field.startswith('"') and not set(field) & {delimiter, "\n", "\r"}
        if plain and draw(st.booleans()):
            return field
        return '"' + field.replace('"', '""') + '"'

    records = draw(st.lists(st.tuples(grids, fields, fields) | st.lists(fields, max_size=5)))
    lines = [delimiter.join(map(written, record)) for record in records]
    text = f"puzzle{delimiter}a{delimiter}b{end}" + "".join(line + end for line in lines)
    text = text if draw(st.booleans()) else text.removesuffix(end)
    rows, faults = [], set()
    for record in list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))[1:]:
        if record:
            if len(record) != 3:
                faults.add(len(rows))
            rows.append(tuple([*record, "", "", ""][:3]))
    suffix = ".tsv" if delimiter == "\t" else ".csv"
    return suffix, text.encode(draw(st.sampled_from(["utf-8", "utf-8-sig"]))), rows, faults


@st.composite
def text_files(draw):
    lines = draw(st.lists(st.sampled_from(
        [P, S, f"  {P}\t", "", " ", "# note", f"{P} # note", f"{P}#x", f"#{P}", "x", "é", "\t#"]
    )))  # fmt: skip
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    text = end.join([P, *lines, ""]) if draw(st.booleans()) else end.join([P, *lines])
    values = [re.sub(r"(^|\s+)#.*", "", line.strip()) for line in text.split(end)]
    return ".txt", text.encode(), [(value,) for value in values if value], set()


ODD_LINES = [
    "", " ", "[1]", "{", "null", "{}", '{"x": 1} ', '{"x": 1}\r', '{"x": 1} {"x": 2}', '{"x": 1}{',
    '{"x": 1}\r{"x": 2}', '{"x": 1,', '"x": 1}', '{"puzzle": "a", "puzzle": "b"}', '\v{"x": 1}',
    '{"puzzle": "\t"}', r'{"puzzle": "\ud800"}', r'{"puzzle": "\u0000\ud83d\ude00"}', '{"x": 01}',
    '{"x": -0}', '{"x": 1}}', r'{"puzzle": "}\n{"}', '{"puzzle": "} {"}',
]  # fmt: skip


def each_once(pairs):
    """Return the fields of an object; two with one name are a fault."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError(pairs)
    return dict(pairs)


@st.composite
def json_files(draw):
    whole = {"puzzle": grids | st.none(), "x": st.integers(-(2**63), 2**63 - 1) | st.none()}
    record = st.fixed_dictionaries(whole, optional={"f": st.floats(allow_nan=False)})
    record = st.builds(json.dumps, record, ensure_ascii=st.booleans())
    odd = st.sampled_from(ODD_LINES) if draw(st.booleans()) else record
    lines = [json.dumps({"puzzle": P, "x": 1, "f": 0.5}), *draw(st.lists(record | odd))]
    rows, faults = [], set()
    for line in filter(str.strip, lines):
        try:
            value = json.loads(line, object_pairs_hook=each_once)
            json.dumps(value, ensure_ascii=False).encode()
            rows.append((value.get("puzzle"), value.get("x"), value.get("f")))
        except (ValueError, AttributeError):
            faults.add(len(rows))
            rows.append((None, None, None))
    return ".jsonl", "\n".join(lines).encode(), rows, faults


@st.composite
def parquet_files(draw):
    rows = draw(st.lists(st.tuples(grids | st.none(), st.integers(0, 9)), max_size=40))
    columns = [pa.array([r[0] for r in rows], pa.string()), pa.array([r[1] for r in rows], "i8")]
    sink = pa.BufferOutputStream()
    size = draw(st.integers(1, 20))
    pq.write_table(pa.table(columns, ["puzzle", "x"]), sink, row_group_size=size)
    return ".parquet", sink.getvalue().to_pybytes(), rows, set()


def rows_of(batches):
    """Return the rows of batches, and the indices of those that have a fault."""
    rows, faults = [], set()
    for batch in batches:
        faults |= {len(rows) + k for k in batch.faults}
        rows += zip(*(column.to_pylist() for column in batch.table.columns), strict=True)
    return rows, faults


def digits(text):
    return [0 if c in ".0*_" else int(c) for c in text.strip()]


def assert_read(batches, rows, faults):
    """Check that batches hold these rows, with faults where the format or the grid is wrong."""
    bad_grids = {k for k, row in enumerate(rows) if not GOOD.fullmatch((row[0] or "").strip())}
    assert rows_of(batches) == (rows, faults | bad_grids)
    puzzles = [puzzle.tolist() for batch in batches for puzzle in batch.grids[0].puzzles]
    for k, row in enumerate(rows):
        assert k in bad_grids or puzzles[k] == digits(row[0])


files = csv_files() | text_files() | json_files() | parquet_files()
RAGGED = f"puzzle,a,b\n{P}\n{P},x,y,z\n{P},x,y\n".encode()
ONE_BLOCK = {"packing": "", "size": 200, "most_rows": None}


@given(
    parts=st.lists(files, min_size=1, max_size=1) | st.lists(text_files(), min_size=2, max_size=3),
    packing=st.sampled_from([*PACKED]),
    size=st.integers(1, 200),
    most_rows=st.none() | st.integers(1, 5),
)
@example(parts=[(".csv", RAGGED, [(P, "", ""), *[(P, "x", "y")] * 2], {0, 1})], **ONE_BLOCK)
def test_however_an_input_is_cut_its_rows_are_the_same(parts, packing, size, most_rows):
    rows, faults = [], set()
    with tempfile.TemporaryDirectory() as folder, small_blocks(size):
        paths = []
        for k, (suffix, content, its_rows, its_faults) in enumerate(parts):
            packing = "" if suffix == ".parquet" else packing
            paths.append(os.path.join(folder, f"{k}{suffix}{packing}"))
            with open(paths[-1], "wb") as file:
                file.write(PACKED[packing](content))
            faults |= {len(rows) + place for place in its_faults}
            rows += its_rows
        corpus = Corpus(paths, FileSettings(**NAMED))
        reader = pickle.loads(pickle.dumps(corpus.reader))
        blocks = [pickle.loads(pickle.dumps(b)) for b in corpus.blocks(most_rows=most_rows)]
        batches = [reader.read(block) for block in blocks]
        assert_read(batches, rows, faults)
        assert most_rows is None or all(len(batch) <= most_rows for batch in batches)
        n_rows = 0
        for batch, block in zip(batches, blocks, strict=True):
            n_rows += len(batch)
            end = Boundary(*json.loads(json.dumps(block.end)))
            rest = list(map(reader.read, corpus.blocks(begin=end)))
            assert_read(rest, rows[n_rows:], {k - n_rows for k in faults if k >= n_rows})


class Portions(io.BytesIO):
    """Bytes that arrive a few at a time, every other time after a pause."""

    def __init__(self, content, portions):
        super().__init__(content)
        self._sizes, self._pauses = cycle(portions), cycle([True, False])

    def read(self, size):
        return super().read(min(size, next(self._sizes)))

    def has_more(self, deadline):
        return next(self._pauses)


texts, sizes = st.text(alphabet='a,"\n', max_size=80), st.lists(st.integers(1, 9), min_size=1)


@given(texts, st.integers(0, 20), st.sampled_from(["", ","]), st.integers(1, 64), sizes)
def test_a_file_is_cut_where_a_stream_is(text, begin, delimiter, size, portions):
    content = text.encode()
    begin = min(begin, len(content))

    def pieces(source):
        found = []
        try:
            for data, end in tables.cut(source, begin, delimiter):
                found.append((data if isinstance(data, bytes) else data.read(), end))
        except InputError as error:
            found.append(str(error))
        return found

    with tempfile.NamedTemporaryFile() as file, small_blocks(size):
        file.write(content)
        file.flush()
        of_file = pieces(tables.PlainFile(file.name, file))
        of_stream = pieces(tables.Stream(io.BytesIO(content[begin:]), begin))
        slow = Portions(content[begin:], portions)
        by_and_by = pieces(tables.Stream(slow, begin, has_more=slow.has_more))
    for found in (of_file, of_stream, by_and_by):
        errors, of_the_file = ([p for p in each if isinstance(p, str)] for each in (found, of_file))
        assert errors == of_the_file
        whole = b"".join(piece[0] for piece in found if isinstance(piece, tuple))
        assert content[begin:].startswith(whole)
        assert len(whole) == len(content) - begin or isinstance(found[-1], str)
        assert all(piece[0].endswith(b"\n") for piece in found[:-2])


@pytest.mark.parametrize("change", ["shorter", "longer", "replaced", "removed"])
def test_a_file_that_is_changed_while_it_is_read_is_an_error(tmp_path, change):
    path, other = tmp_path / "in.txt", tmp_path / "other.txt"
    path.write_text(f"{P}\n" * 10_000)
    other.write_text(f"{S}\n" * 10_000)
    corpus = Corpus([str(path)])
    first, last = corpus.blocks()  # which double, so that a small file is shared
    assert [len(corpus.reader.read(block)) for block in (first, last)] == [3855, 6145]
    if change == "replaced":
        os.replace(other, path)
    elif change == "removed":
        path.unlink()
    else:
        os.truncate(path, 17 * (9_000 if change == "shorter" else 11_000))
    why = "No such file" if change == "removed" else "was changed while it was read"
    with pytest.raises(InputError, match=rf"^{re.escape(str(path))}: {why}"):
        corpus.reader.read(last)


def test_a_file_without_a_name_is_read_all_the_same(tmp_path):
    path = tmp_path / "in.txt"
    path.write_text(f"{P}\n" * 10_000)
    with open(path, "rb") as file:
        path.unlink()
        blocks = list(Corpus([f"/dev/fd/{file.fileno()}"]).blocks())
    assert all(isinstance(block.data, bytes) for block in blocks)
    assert sum(len(block.rows()[0]) for block in blocks) == 10_000


def test_a_pipe_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match=r"pipe: is not a file that can be read twice; .* input -"):
        Corpus([str(tmp_path / "pipe")])


def test_a_part_of_a_table_is_sent_to_workers_without_the_rest(tmp_path):
    table = pa.table({"puzzle": [P] * 10_000})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=2_000)
    corpus = Corpus([str(tmp_path / "in.parquet")])
    parts = list(corpus.blocks(most_rows=100))
    assert max(len(pickle.dumps(part)) for part in parts) < 5_000
    *_, rest = corpus.blocks(begin=Boundary(0, 9_990))
    assert len(pickle.dumps(rest)) < 3_000
    assert len(corpus.reader.read(rest)) == 10
    corpus = Corpus([TableSource(table)])
    parts = [pickle.dumps(part) for part in corpus.blocks(most_rows=100)]
    assert max(map(len, parts)) < 5_000
    assert pickle.loads(parts[1]).rows()[0]["puzzle"].to_pylist() == [P] * 100


def test_standard_input_is_given_again_from_its_beginning(typed):
    typed(f"{P}\n" * 30_000)
    corpus = Corpus(["-"])
    assert sum(len(corpus.reader.read(b)) for b in corpus.blocks(most_rows=7_000)) == 30_000


@pytest.fixture
def by_and_by(monkeypatch):
    """Write texts to standard input, with a pause before each but the first."""
    reading, writing = os.pipe()

    def give(*texts):
        with open(writing, "w") as file:
            for k, text in enumerate(texts):
                time.sleep(4 * tables.GATHER_SECONDS if k else 0)
                print(text, end="", file=file, flush=True)

    with open(reading) as file, ThreadPoolExecutor(1) as thread:
        monkeypatch.setattr("sys.stdin", file)
        yield partial(thread.submit, give)


BY_AND_BY = [
    (["id,puz", "zle\n", "1,\n2,", f"{P}\n"], ["id", "puzzle"], 2),
    (["# a comment\n", P[:7], P[7:]], ["puzzle"], 1),
    (["# a, b\n\n# c\nid,puzzle\n", f"1,{P}\n"], ["id", "puzzle"], 1),
    (["# c\n#,puzzle\n", f"1,{P}\n"], ["#", "puzzle"], 1),
    (["Grid\n", f"{P}\n"], ["Grid"], 1),
    (['{"puzzle": null}\n', f'{{"puzzle": "{P}", "id": 1}}\n', "{}"], ["puzzle", "id"], 3),
    (["", f"puzzle,b\n{P},", f"x\n{P},x\n"], ["puzzle", "b"], 2),
]


@pytest.mark.parametrize(("texts", "columns", "n_rows"), BY_AND_BY)
def test_an_input_that_comes_by_and_by_is_waited_for(by_and_by, texts, columns, n_rows):
    by_and_by(*texts)
    corpus = Corpus(["-"])
    assert corpus.columns == columns
    assert sum(map(len, corpus.batches())) == n_rows
    assert corpus.problem.n_digits == 4


@pytest.mark.parametrize("line", [P, "ab..cd" + "." * 30, "1" * 81, "7|5,3,0"])
def test_nothing_is_waited_for_behind_a_first_line_that_is_no_name(line, monkeypatch):
    reading, writing = os.pipe()
    with open(reading) as file, open(writing, "w") as client:
        monkeypatch.setattr("sys.stdin", file)
        print(line, file=client, flush=True)
        assert open_source("-").layout.schema.names == ["puzzle"]


@pytest.mark.parametrize(("size", "n_blocks"), [(tables.TASKS, 3), (tables.PARTS, 1)])
def test_tasks_are_cut_where_input_pauses_and_parts_are_not(by_and_by, size, n_blocks):
    by_and_by(*[f"{P}\n"] * 3)
    assert len(list(Corpus(["-"], size=size).blocks())) == n_blocks


def test_a_header_may_be_longer_than_what_is_read_of_a_file_at_first(tmp_path, monkeypatch):
    monkeypatch.setattr("batchsolve.tables.detection.HEAD_BYTES", 1 << 20)
    path, long = tmp_path / "in.csv", "x" * (3 << 20)
    path.write_text(f"puzzle,{long}\n{P},1\n")
    assert Corpus([str(path)]).columns == ["puzzle", long]
    monkeypatch.setattr("batchsolve.tables.columns.MOST_RECORD_BYTES", 1 << 20)
    with pytest.raises(InputError, match=r"in\.csv: its first line has more than 1 MB"):
        Corpus([str(path)])
    path.write_text(f'"puzzle\n",{long}\n{P},1\n')
    with pytest.raises(InputError, match=r"in\.csv: the header has more than 1 MB"):
        Corpus([str(path)])


NOISE = "".join(f"{P},{k:020}\n" for k in np.random.default_rng(1).integers(1 << 60, size=1000))
CUT_OFF = gzip.compress(f"puzzle,id\n{NOISE}".encode())[:-1000]
LATIN = f"{P}\n".encode() * 40 + b"caf\xe9\n"
NEW, FLOAT = (
    "\n".join([*[json.dumps({"puzzle": P, "x": 1})] * 40, json.dumps({"puzzle": P, **last})])
    for last in ({"x": 1, "y": 1}, {"x": 1.5})
)
DAMAGED = {  # the content of a file, the rows that are read before an error, and the error
    "cut off.csv.gz": (CUT_OFF, range(501, 1000), "runcated"),
    "a mark.csv": (f'puzzle,id\n{NOISE}{P},"never closed\n{NOISE}', [1000], "never closed in the"),
    "no UTF-8.txt": (LATIN, range(21, 41), r"not UTF-8 text \(byte 0xe9\); convert it"),
    "a new field.jsonl": (NEW, range(31, 41), "row 41: the field 'y' is new; give all"),
    "another type.jsonl": (FLOAT, range(31, 41), r"rows? (\d+ to )?41: the field 'x' has value"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_what_was_read_before_damage_is_given(tmp_path, name, monkeypatch):
    content, n_rows, message = DAMAGED[name]
    (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    monkeypatch.setattr("batchsolve.tables.detection.HEAD_BYTES", 1000)
    monkeypatch.setattr("batchsolve.tables.corpus.SAMPLE_ROWS", 10)
    with small_blocks(256):
        corpus, seen = Corpus([str(tmp_path / name)], FileSettings(**NAMED)), []
        with pytest.raises(InputError) as caught:
            seen.extend(len(batch) for batch in map(corpus.reader.read, corpus.blocks()))
    error = pickle.loads(pickle.dumps(caught.value))
    told = error.after(sum(seen)) if isinstance(error, RowsError) else error
    assert re.match(f"{tmp_path / name}: .*{message}", str(told))
    assert sum(seen) in n_rows


# answers

FAULTS = {
    f"x{P[1:]}": "row 1, column 1: 'x' is not ",
    f"11{'.' * 14}": "digit 1 twice in a row: row 1, column 1 and row 1, column 2",
}
PUZZLES = [P, f"12{'.' * 14}", "123...4.........", *FAULTS]
GIVEN = ["", "1234341221434321", "1234341243212143", "2143432112343412", S, P]


@given(
    rows=st.lists(st.tuples(st.sampled_from(PUZZLES), st.sampled_from(GIVEN))),
    limit=st.integers(1, 3),
    stats=st.booleans(),
    separator=st.sampled_from(["", " "]),
)
def test_answers_stand_beside_their_rows(rows, limit, stats, separator):
    rows = [(P, S), *rows]
    records = [(separator.join(puzzle), "old", separator.join(known)) for puzzle, known in rows]
    table = pa.table([*zip(*records, strict=True)], ["puzzle", "status", "solution"])
    with tempfile.TemporaryDirectory() as folder:
        pq.write_table(table, f"{folder}/in.parquet")
        files = f"{folder}/in.parquet", f"{folder}/out.parquet"
        how = {"column": "puzzle", "box": (2, 2), "limit": limit, "stats": stats}
        summary = solve_file(*files, jobs=1, **how)
        found = pq.read_table(files[1])
    names = ["puzzle", "given_status", "given_solution", "solution", "status", "n_solutions"]
    assert found.column_names == [*names, "agrees", "message", *["nodes", "seconds"] * stats]
    for record, (puzzle, known), row in zip(records, rows, found.to_pylist(), strict=True):
        covers = [] if puzzle in FAULTS else list(map(text_of, solutions(digits(puzzle))))
        status = "solved" if limit == 1 else "unique" if len(covers) == 1 else "multiple"
        if not covers:
            status = "invalid" if puzzle in FAULTS else "unsolvable"
        n = None if puzzle in FAULTS else min(limit, len(covers))
        agrees = known in covers if known and puzzle not in FAULTS else None
        assert [*row.values()][:3] == list(record)
        assert (row["solution"] or "").replace(" ", "") in (covers or [""])
        assert (separator in (row["solution"] or separator), row["status"]) == (True, status)
        assert (row["n_solutions"], row["agrees"]) == (n, agrees)
        assert (row["message"] or "").startswith(FAULTS.get(puzzle, ""))
        assert (row["message"] is None) == (puzzle not in FAULTS)
    of_rows = Counter(found["status"].to_pylist())
    assert {status: getattr(summary, status) for status in of_rows} == of_rows
    assert (summary.rows, summary.disagree) == (len(rows), found["agrees"].to_pylist().count(False))
    assert not stats or summary.nodes == sum(filter(None, found["nodes"].to_pylist()))


def test_a_row_whose_search_failed_after_its_limit_is_answered():
    none, lost = np.zeros(2, np.int64), dict.fromkeys([0, 1], "worker lost")
    answers = Answers(np.array([2, 1]), none, none, none - 1, [], lost)
    assert STATUS_NAMES[answers.status(2)].tolist() == ["multiple", "unfinished"]


# outputs

values = st.text('ab ,\n"é\t\\\x01', max_size=5)
records = st.tuples(
    st.none() | values, st.none() | values, st.none() | st.integers(-(2**63), 2**63 - 1), st.none(),
    st.none() | st.booleans(), st.floats(allow_nan=False, allow_infinity=False) | st.none(),
)  # fmt: skip
SCHEMA = pa.schema(
    [("a", "string"), ("b", "large_string"), ("c", "int64"), ("d", "string"), ("e", "bool"),
     ("f", "float64")]
)  # fmt: skip


def table_of(rows, schema=SCHEMA):
    columns = zip(*rows, strict=True) if rows else [[]] * len(schema)
    arrays = [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def by_csv_module(rows, delimiter):
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    for row in rows:
        writer.writerow([str(v).lower() if isinstance(v, bool) else v for v in row])
    return out.getvalue().encode()


@given(rows=st.lists(records, max_size=8), cuts=st.lists(st.integers(0, 8), max_size=3))
def test_encoders_write_what_the_standard_library_writes(rows, cuts):
    pairs = list(pairwise([0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]))
    schema = SCHEMA.remove(5)  # other formats write floats differently
    without = [row[:5] for row in rows]
    for path, delimiter in (("x.csv", ","), ("-", ","), ("x.tsv", "\t")):
        encoder = pickle.loads(pickle.dumps(encoder_for(path)))
        parts = [encoder(table_of(without[b:e], schema)) for b, e in pairs]
        parts = [bytes(pickle.loads(pickle.dumps(part))) for part in parts]
        assert header_for(path, schema) == (delimiter.join("abcde") + "\n").encode()
        assert b"".join(parts) == by_csv_module(without, delimiter)
        alone = bytes(encoder(table_of(without, schema).select(["a"])))
        assert alone == by_csv_module([row[:1] for row in without], delimiter)
    encoder = pickle.loads(pickle.dumps(encoder_for("x.jsonl")))
    lines = [json.dumps(dict(zip("abcdef", row, strict=True)), ensure_ascii=False) for row in rows]
    whole = table_of(rows)
    parts = [bytes(encoder(whole.slice(b, e - b))) for b, e in pairs]
    assert b"".join(parts) == "".join(line + "\n" for line in lines).encode()
    assert header_for("x.jsonl", SCHEMA) == b""


lists_of_texts = st.lists(st.none() | st.lists(st.none() | values, max_size=3), max_size=6)


@given(lists_of_texts, st.integers(0, 6))
def test_lists_of_texts_are_written_as_json(lists, begin):
    column = pa.array(lists, pa.list_(pa.string()))
    table = pa.table({"names": column, "n": range(len(lists))}).slice(begin)
    rows = list(enumerate(lists))[begin:]
    lines = [json.dumps({"names": names, "n": k}, ensure_ascii=False) + "\n" for k, names in rows]
    assert bytes(encoder_for("x.jsonl")(table)) == "".join(lines).encode()
    texts = [("" if names is None else json.dumps(names), k) for k, names in rows]
    assert bytes(encoder_for("x.csv")(table)) == by_csv_module(texts, ",")


@pytest.mark.parametrize(
    ("column", "text"),
    [
        (pa.array([b"\xff" + b"a" * 15, None], pa.uuid()), "ff616161-6161-6161-6161-616161616161"),
        (pa.array([b"a" * 16, None], pa.uuid()), "61616161-6161-6161-6161-616161616161"),
        (pa.array([b"a\xff", None], pa.binary(2)), r"a\xff"),
        (pa.array([b"a\xff", None]).dictionary_encode(), r"a\xff"),
        (pa.array(["[1]", None], pa.json_()), "[1]"),
        (pa.array([(1, 2, 3), None], pa.month_day_nano_interval()), "[1, 2, 3]"),
        (pa.DictionaryArray.from_arrays(pa.array([0, None]), pa.array([[1]])), "[1]"),
    ],
    ids=lambda each: str(each.type) if isinstance(each, pa.Array) else each,
)
def test_values_that_arrow_does_not_write_as_text(column, text):
    table = pa.table({"a": column, "b": [1, 2]})
    assert bytes(encoder_for("x.csv")(table)) == by_csv_module([(text, 1), (None, 2)], ",")


def test_json_lines_hold_dates_and_times_of_day_that_python_lacks():
    days = pa.array([10**7, 0, -1, None], pa.date32())
    times = pa.array([5, 10**9, 10**9 + 5000, None], pa.time64("ns"))
    table = pa.table({"d": days, "t": times})
    rows = map(json.loads, bytes(encoder_for("x.jsonl")(table)).splitlines())
    dates = ["29349-01-26", "1970-01-01", "1969-12-31", None]
    times = ["00:00:00.000000005", "00:00:01", "00:00:01.000005", None]
    assert [(row["d"], row["t"]) for row in rows] == list(zip(dates, times, strict=True))


@pytest.mark.parametrize("path", ["x.jsonl", "x.csv"])
def test_values_that_a_format_lacks_are_one_error(path):
    seconds = pa.array([0, 10**12], pa.timestamp("s"))
    lists = pa.ListArray.from_arrays([0, 2], seconds)
    structs = pa.StructArray.from_arrays([pa.array([1])] * 2, ["of one name"] * 2)
    for values in (seconds, lists, structs):
        with pytest.raises(InputError, match=r"column 'when' has a value that this format cannot"):
            encoder_for(path)(pa.table({"when": values}))


@pytest.mark.parametrize("missing", ["nan", "inf", "-inf"])
def test_numbers_that_json_does_not_have_are_null(missing):
    number = float(missing)
    structs = [{"x": [number, 1.5]}, {"x": None}]
    raw = pa.field("raw", pa.string(), metadata=JSON_TEXT)
    table = pa.table({"f": [0.5, number], "n": [[number], [2.5]], "s": structs})
    table = table.append_column(raw, pa.array(['{"y": [1, NaN]}', "-Infinity"]))
    lines = bytes(encoder_for("x.jsonl")(table)).decode().splitlines()
    assert [json.loads(line, parse_constant=pytest.fail) for line in lines] == [
        {"f": 0.5, "n": [None], "s": {"x": [None, 1.5]}, "raw": {"y": [1, None]}},
        {"f": None, "n": [2.5], "s": {"x": None}, "raw": None},
    ]
    assert bytes(encoder_for("x.csv")(table.select(["n"]))).decode() == "[null]\n[2.5]\n"


def test_floats_are_written_the_same_with_and_without_quotation_marks():
    values = [0.1, 1e300, -0.0, 1.0, 1e-7, None, 123456789.0, 5e-324]
    floats = pa.array(values, pa.float64())
    plain, quoted = (pa.table({"f": floats, "a": [text] * len(values)}) for text in ("x", '"'))
    encoder = encoder_for("x.csv")
    assert bytes(encoder(quoted)) == bytes(encoder(plain)).replace(b"x", b'""""')


ARROW = {
    "text": pa.array(["a", None, "", "bc"]),
    "large": pa.array(["a", None, "", "bc"], pa.large_string()),
    "categories": pa.array(["a", None, "b", "a"]).dictionary_encode(),
    "bytes": pa.array([b"a", None, b"", b"bc"]),
    "numbers": pa.array([1, None, 0, -1], pa.int16()),
    "floats": pa.array([1.5, None, float("nan"), 0.0]),
    "flags": pa.array([True, None, False, False]),
    "times": pa.array([1, None, 0, 1_700_000_000_123_456_789], pa.timestamp("ns", "UTC")),
    "decimals": pa.array([1, None, 0, 2], pa.decimal128(9, 2)),
    "lists": pa.array([[1], None, [], [None, 2]]),
    "fixed": pa.array([[1, 2], None, [3, 4], [5, None]], pa.list_(pa.int8(), 2)),
    "records": pa.array([{"a": 1, "b": "x"}, None, {"a": None, "b": ""}, {"a": 2, "b": "y"}]),
    "maps": pa.array([[("a", 1)], None, [], [("b", 2)]], pa.map_(pa.string(), pa.int8())),
    "nothing": pa.nulls(4),
}


@pytest.mark.parametrize("name", ARROW)
def test_checksums_of_rows_do_not_depend_on_where_they_are_cut(name):
    table = pa.table({name: ARROW[name]})
    whole = sums_of(table)
    for k in range(5):
        assert joined_sums(sums_of(table[:k]), sums_of(table[k:])) == whole
        copies = (pa.ipc.open_stream(arrow_stream(part)) for part in (table[:k], table[k:]))
        assert joined_sums(*(sums_of(copy.read_all()) for copy in copies)) == whole
    if name != "nothing":
        for order in ([1, 0, 2, 3], [2, 1, 0, 3], [0, 2, 1, 3]):
            assert sums_of(pa.concat_tables([table[k : k + 1] for k in order])) != whole
