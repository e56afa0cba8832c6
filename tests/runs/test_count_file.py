"""Counts of many problems: of files, of names, of tables; hard ones among easy ones."""

import json
from decimal import Decimal
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import PUZZLE, typed_rows, write_table
from invoking import invoke

import batchsolve as bs
from batchsolve.formats.exact_cover_files import write_dlx, write_ec
from batchsolve.runs import instances
from batchsolve.runs.convert import converted
from batchsolve.search import rows as row_search
from batchsolve.tables.sources import BlockSize

FAMILIES = ["queens:4", "queens:8", "langford:3", "langford:5", "langford:6", "pentominoes:3x20"]
FAMILIES += ["dominoes:4x4", "dominoes:8x8", "edgecovers:4", "partitions:5", "sudoku:2x2"]
LARGE = 2_444_888_770_250_892_795_802_079_170_816  # P. W. Kasteleyn, 1961; OEIS A004003
EASY = [f"{family}:{n}" for n in range(4, 8) for family in ("queens", "langford", "matchings")]


def counts_in(path):
    """Return the rows of a table of counts, each as a dict, with counts as text."""
    return typed_rows(path, "count", "message", "engine", "name")


def test_families_are_counted_as_alone(tmp_path):
    """That count is right, as test_families shows."""
    summary = bs.count_file(FAMILIES, tmp_path / "out.csv", jobs=2)
    for name, row in zip(FAMILIES, counts_in(tmp_path / "out.csv"), strict=True):
        problem, alone = bs.family(name), bs.count(name, jobs=1)
        assert (row["name"], row["count"]) == (name, str(alone.count))
        assert (row["items"], row["options"]) == (problem.n_items, problem.n_options)
        assert (row["complete"], row["engine"], row["message"]) == (True, alone.engine, None)
    numbers = summary.rows, summary.unsolvable, summary.multiple, summary.complete
    assert numbers == (11, 2, 9, True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Write instances of every format; some are broken."""
    folder = tmp_path_factory.mktemp("instances")
    (folder / "sub").mkdir()
    (folder / "a.dlx").write_text(write_dlx(bs.family("queens:6")))
    (folder / "b.ec").write_text(write_ec(bs.family("dominoes:4x4")))
    (folder / "c.json").write_text('{\n "options": [["a"], ["b"], ["a", "b"]]\n}')
    (folder / "d.dlx").write_text("a b\na x\n")
    (folder / "e.json").write_bytes(b"")
    (folder / "f.txt").write_text("1.....2..3......\n")
    (folder / "g.csv").write_text("id,note\n1,hello\n")
    (folder / "h.npz").write_bytes(b"PK\3\4 and then nothing")
    (folder / "sub" / "i.npz").write_bytes(converted("langford:3", "npz"))
    (folder / "sub" / "j.tiling").write_text("board: 1x2\npieces: dominoes\n")
    return folder


def test_every_file_of_a_folder_is_a_row(folder, tmp_path):
    out = tmp_path / "counts.csv"
    done = invoke("count", folder, "-o", out, "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["invalid"] == 4
    rows = counts_in(out)
    names = ["a.dlx", "b.ec", "c.json", "d.dlx", "e.json", "f.txt", "g.csv", "h.npz"]
    paths = [str(folder / name) for name in [*names, "sub/i.npz", "sub/j.tiling"]]
    assert [row["name"] for row in rows] == paths
    counts = [row["count"] for row in rows]
    grid = str(bs.count(str(folder / "f.txt")).count)
    assert counts == ["4", "36", "2", None, None, grid, None, None, "2", "1"]
    assert rows[3]["message"].startswith(f"{paths[3]}: line 2: ")
    assert rows[4]["message"].endswith("is empty; expected a grid or an exact cover problem")
    assert "if it is a table, name a row" in rows[6]["message"]
    assert "not an .npz file of arrays" in rows[7]["message"]
    for row in (rows[k] for k in (3, 4, 6, 7)):
        assert {row[name] for name in ("items", "options", "complete", "engine")} == {None}
    with pytest.raises(bs.InputError, match=r"lies in .*, all of which is input"):
        bs.count_file(folder, folder / "counts.csv")
    done = invoke("solve", folder, "-o", tmp_path / "covers.jsonl")
    assert (done.exit_code, done.stderr[:9], "column" in done.stderr) == (1, "10 rows: ", False)
    solved = typed_rows(tmp_path / "covers.jsonl")
    statuses = ["invalid" if n is None else "unique" if n == "1" else "multiple" for n in counts]
    assert [row["status"] for row in solved] == statuses
    covers = [["a", "b"], [bs.solve("1.....2..3......").solution], ["I2 r1c1 r1c2"]]
    assert [solved[k]["cover"] for k in (2, 5, 9)] == covers
    bs.solve_file(folder / "c.json", tmp_path / "alone.jsonl")
    assert typed_rows(tmp_path / "alone.jsonl")[0]["cover"] == ["a", "b"]


def test_patterns_and_several_problems_print_a_table(folder, monkeypatch):
    monkeypatch.chdir(folder)
    two = invoke("count", "[bc].*", "--quiet", "-j", "1")
    rows = ["b.ec,16,24,36,true,dlx,", "c.json,2,3,2,true,dlx,"]
    assert (two.exit_code, two.stdout.splitlines()[1:]) == (0, rows)
    mixed = invoke("count", "c.json", "queens:5", "no.dlx", "--quiet")
    *right, wrong = mixed.stdout.splitlines()[1:]
    assert (mixed.exit_code, right) == (1, [rows[1], "queens:5,28,25,10,true,cells,"])
    assert wrong.startswith('no.dlx,,,,,,"no.dlx: no such file')


def test_a_hard_problem_among_easy_ones_is_split(tmp_path):
    problems = [*EASY, "queens:11", *EASY]
    out, again = tmp_path / "out.csv", tmp_path / "again.csv"
    bs.count_file(problems, out, jobs=1)
    goal = row_search.RowGoal
    with patch.object(goal, "accept", autospec=True, side_effect=goal.accept) as accept:
        bs.count_file(problems, again, jobs=2, budget=1000)
    assert out.read_bytes() == again.read_bytes()
    assert counts_in(out)[len(EASY)]["count"] == "2680"
    pieces = [call.args[1] for call in accept.call_args_list]
    assert sum(isinstance(piece, row_search.Piece) for piece in pieces) > 20  # of 51,944 nodes


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".jsonl", "/"])
def test_counts_of_any_size_are_written_in_full(suffix, tmp_path):
    out = tmp_path / f"out{suffix}"
    engine, used = ("auto", "memo:256") if suffix == ".csv" else ("memo:16", "memo:16")
    problems = ["dominoes:16x16", "queens:6", "queens:x"]
    bs.count_file(problems, f"{tmp_path}/out{suffix}", engine=engine)
    rows = counts_in(out)
    number = int if suffix == ".jsonl" else str
    assert [row["count"] for row in rows] == [number(LARGE), number(4), None]
    assert [row["engine"] for row in rows] == [used, used if engine != "auto" else "cells", None]
    assert [row["message"] is None for row in rows] == [True, True, False]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_counts_of_more_digits_than_python_prints_are_written(suffix, tmp_path, monkeypatch):
    huge = 10**5000 + 7
    monkeypatch.setattr(instances, "counts_of", lambda *_: [(huge, None)])
    out = tmp_path / f"out{suffix}"
    bs.count_file(["queens:6"], out)
    is_json = suffix == ".jsonl"
    row = json.loads(out.read_text(), parse_int=Decimal) if is_json else counts_in(out)[0]
    assert int(Decimal(row["count"])) == huge


def test_counts_of_a_parquet_file_are_numbers_in_json_but_texts_marked_so_are_not(tmp_path):
    bs.count_file(["dominoes:16x16", "queens:x"], tmp_path / "counts.parquet")
    table = pq.read_table(tmp_path / "counts.parquet")
    table = table.append_column("puzzle", pa.array([PUZZLE] * 2))
    for counts, right in (([str(LARGE), None], [LARGE, None]), (["0x1", "}{"], ["0x1", "}{"])):
        place = table.schema.get_field_index("count")
        changed = table.set_column(place, table.schema.field(place), pa.array([counts]).flatten())
        pq.write_table(changed, tmp_path / "in.parquet")
        bs.solve_file(tmp_path / "in.parquet", tmp_path / "out.jsonl", column="puzzle")
        rows = (tmp_path / "out.jsonl").read_text().splitlines()
        assert [json.loads(row)["count"] for row in rows] == right


def test_a_count_of_many_digits_is_printed(tmp_path):
    pairs = tmp_path / "pairs.json"
    pairs.write_text(json.dumps({"options": [[f"i{k}"] for k in range(7_300) for _ in "abcd"]}))
    for words in ([], ["--json"]):
        done = invoke("count", pairs, "--by", "options", *words)
        assert done.exit_code == 0
        assert str(Decimal(4**7_300)) in done.stdout.replace(",", "")


def test_the_option_memo_counts_every_row_with_it():
    done = invoke("count", "dominoes:16x16", "langford:4", "--memo", "--memo-size", 16, "--quiet")
    rows = [f"dominoes:16x16,256,480,{LARGE},true,memo:16,", "langford:4,12,18,2,true,memo:16,"]
    assert done.stdout.splitlines()[1:] == rows


def test_limits_are_those_of_a_row(tmp_path):
    problems = ["queens:8", "queens:11", "queens:5"]

    def rows_with(**limits):
        one, two = tmp_path / "one.csv", tmp_path / "two.csv"
        bs.count_file(problems, one, jobs=1, **limits)
        bs.count_file(problems, two, jobs=2, budget=700, **limits)
        assert one.read_bytes() == two.read_bytes()
        return [(int(r["count"]), r["complete"], r["message"]) for r in counts_in(one)]

    whole, full = (10, True, None), (93, False, "has 93 solutions or more")
    assert rows_with(limit=93) == [(92, True, None), full, whole]
    *few, last = rows_with(node_limit=1000)
    assert last == whole
    for count, complete, message in few:
        assert (0 < count < 92, complete, message) == (True, False, "stopped after 1,000 nodes")
    with pytest.raises(bs.InputError, match="'memo:256' only counts, and counts everything"):
        bs.count_file(problems, tmp_path / "out.csv", engine="memo:256", limit=10)


def test_a_row_has_a_time_limit(tmp_path):
    out = tmp_path / "out.csv"
    bs.count_file(["queens:5", "queens:18", "queens:6"], out, time_limit=0.2, stats=True, jobs=2)
    first, second, third = counts_in(out)
    assert (first["count"], third["count"]) == ("10", "4")
    assert (second["complete"], second["message"]) == (False, "stopped after 0.2 s")
    assert second["seconds"] >= 0.2
    assert second["nodes"] > 1000


def test_what_does_not_suit_an_engine_is_a_row_with_a_message(tmp_path):
    out = tmp_path / "out.csv"
    bs.count_file(["edgecovers:4", "queens:4"], out, engine="cells")
    first, second = counts_in(out)
    assert first["message"].startswith("the engine 'cells' takes no bounds of items")
    assert (first["count"], second["count"], second["engine"]) == (None, "2", "cells")


TEXTS = ["queens:6", write_dlx(bs.family("langford:3")), "queens", "a b\na x\n", ""]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl"])
def test_tables_have_a_column_of_problems(suffix, tmp_path):
    path, out = tmp_path / f"in{suffix}", tmp_path / "out.parquet"
    table = pa.table({"id": list("vwxyz"), "problem": TEXTS, "count": list("12345")})
    write_table(table, path)
    summary = bs.count_file(path, out, chunk=2)
    found = pq.read_table(out)
    assert found["id"].to_pylist() == list("vwxyz")
    assert found["given_count"].to_pylist() == list("12345")
    assert [text or "" for text in found["problem"].to_pylist()] == TEXTS
    assert found["count"].to_pylist() == ["4", "2", None, None, None]
    whys = found["message"].to_pylist()[2:]
    assert "size" in whys[0]
    assert whys[1].startswith("problem: line 2: ")
    assert whys[2].startswith("problem: is empty, and fields beside it are not read; expected the")
    assert (summary.rows, summary.invalid) == (5, 3)
    write_table(table.rename_columns(["id", "p", "count"]), path)
    with pytest.raises(bs.InputError, match="unknown column 'problem'; choose from 'id', 'p', 'co"):
        bs.count_file(path, out)
    bs.count_file(path, out, column="p")
    assert pq.read_table(out)["count"].equals(found["count"])


def test_json_lines_may_have_the_fields_of_problems(tmp_path):
    path, out = tmp_path / "in.jsonl", tmp_path / "out.csv"
    problems = [
        {"id": 1, "options": [["a"], ["b"], ["a", "b"]]},
        {"id": 2, "options": [["a", "x"], ["b", "x"]], "secondary": ["x"], "colors": [{}, {}]},
        {"id": 3, "options": [["a", "x"], ["b", "x"]], "secondary": ["x"],
         "colors": [{"x": "red"}, {"x": "red"}]},
        {"id": 4, "options": [["a"], ["a"]], "bounds": {"a": [1, 2]}, "items": ["a"]},
        {"id": 5, "items": ["a"]},
        {"id": 6, "options": [["a"]], "items": []},
    ]  # fmt: skip
    path.write_text("".join(json.dumps(problem) + "\n" for problem in problems[1:]))
    (tmp_path / "first.jsonl").write_text(json.dumps(problems[0]))  # without fields of the others
    bs.count_file([tmp_path / "first.jsonl", path], out)
    rows = counts_in(out)
    assert list(rows[0]) == ["id", "items", "options", "count", "complete", "engine", "message"]
    assert [row["count"] for row in rows] == ["2", "0", "1", "3", None, None]
    assert rows[4]["message"].startswith("the problem: expected an object with a list of lists")
    assert rows[5]["message"].startswith("the problem: ")


def test_lists_of_problems_are_counted_in_python():
    problems = [bs.family("queens:6"), "langford:4", bs.read_problem("dominoes:4x4")] * 7
    found = bs.count(problems, jobs=2)
    assert [each.count for each in found] == [4, 2, 36] * 7
    assert all(each.complete and not each.failures for each in found)
    assert [each.nodes for each in found[:3]] == [bs.count(each).nodes for each in problems[:3]]
    assert bs.count(()) == []
    with pytest.raises(bs.InputError, match="problem 17 of the list: queens:x: 'x' is not a size"):
        bs.count([*problems[:17], "queens:x"])
    with pytest.raises(bs.InputError, match="leave out the stack and up_to_symmetry"):
        bs.count(problems, up_to_symmetry=True)
    assert [(each.count, each.complete) for each in bs.count(["queens:8"], limit=5)] == [(5, False)]


def test_a_folder_of_parts_holds_the_same_rows(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(instances, "PARTS", BlockSize(100, 100, 3))
    bs.count_file(folder, tmp_path / "whole.parquet")
    bs.count_file(folder, f"{tmp_path}/out/")
    parts = sorted((tmp_path / "out").iterdir())
    assert len(parts) > 2
    rows = [row for part in parts for row in counts_in(part)]
    assert rows == counts_in(tmp_path / "whole.parquet")
