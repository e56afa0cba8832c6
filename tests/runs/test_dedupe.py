"""Repeated puzzles: against a set in Python, for all forms of files, backends and workers."""

import json
import subprocess
import sys
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from conftest import LIBRARIES, PUZZLE, SOLUTION, dataset, frame_of, rows_of_csv, write_table
from cutting import content_of
from hypothesis import given, settings, strategies as st
from invoking import invoke, invoke_on, refused
from oracles import canonical_form

import batchsolve as bs
from batchsolve.problems import grid_symmetries as symmetric_grids
from batchsolve.runs.repeats import Seen, grid_keys

SAME_BUT_FOR_SYMMETRY = "4.....3..1.....2"
CLASHING, SHORT = "11" + "." * 14, "12"


def written(path, rows):
    path.write_text("id,puzzle\n" + "".join(f"{k},{row}\n" for k, row in enumerate(rows)))
    return str(path)


SHARED = [(False, " ".join, "note"), (True, str, "note"), (False, str, "rules")]


@pytest.mark.parametrize(("symmetry", "form", "more"), SHARED)
def test_rows_that_share_only_the_solution_are_kept_and_counted(symmetry, form, more, tmp_path):
    clues = ["12....2..3.....4", "124...2..3.....4"]
    rows = [f"{PUZZLE},{SOLUTION}", *(f"{form(some)},{form(SOLUTION)}" for some in clues)]
    rows = [f"{row},antiknight\n" for row in (*rows, f"{'.' * 16},1234341223414123")]
    (tmp_path / "train.csv").write_text("".join([f"puzzle,solution,{more}\n", *rows]))
    labels = str.maketrans("1234", "4321" if symmetry else "1234")
    test, moved = PUZZLE.translate(labels), SOLUTION.translate(labels)
    (tmp_path / "test.csv").write_text(f"puzzle,answer,{more}\n{test},{moved},antiknight\n")
    files = tmp_path / "train.csv", tmp_path / "out.csv"
    how = {"against": [tmp_path / "test.csv"], "up_to_symmetry": symmetry}
    summary = bs.dedupe(*files, **how)
    assert (summary.known, summary.kept, summary.same_solution) == (1, 3, 2)
    options = "--column solution" + " --rule-columns none" * (more == "rules")
    assert f"; same solution, other clues: 2 ({options} finds them)" in str(summary)
    assert bs.dedupe(*files).same_solution == 0
    (tmp_path / "test.csv").write_text(f"solution\n{moved}\n")
    how["rule_columns"] = None if more == "note" else "none"
    summary = bs.dedupe(*files, **how, column="solution")
    assert (summary.known, summary.kept, summary.same_solution) == (3, 1, 0)


@pytest.mark.parametrize("begin", [0, 5])
def test_rows_of_fixed_size_lists_keep_their_values(begin):
    """pyarrow takes wrong values of a slice, such as a block is, from lists in lists."""
    cells = np.zeros((2000, 16), np.int64)
    cells[:, 0] = np.arange(2000) % 3
    cells[:, 10] = np.arange(2000) % 4 + 1
    puzzles = pa.array(cells.reshape(-1, 4, 4).tolist(), pa.list_(pa.list_(pa.int64(), 4), 4))
    table = pa.table({"puzzle": puzzles, "n": range(2000)})[begin:]
    kept = bs.dedupe(table, jobs=2)
    rows = list(dict.fromkeys(map(tuple, cells[begin:].tolist())))
    assert np.array(kept["puzzle"].to_pylist()).reshape(-1, 16).tolist() == list(map(list, rows))
    parts = bs.partition(table, seed=1).values()
    for part in parts:
        found = np.array(part["puzzle"].to_pylist()).reshape(-1, 16)
        assert np.array_equal(found, cells[part["n"].to_numpy()])
    assert sum(map(len, parts)) == len(table)


def ids(path):
    return [int(row["id"]) for row in rows_of_csv(path)]


def expected_ids(rows, others=(), symmetry=False):
    """Return the ids of the rows to keep, found with a set."""

    def key(row):
        grid = [0 if c in ".0" else int(c) for c in row]
        return canonical_form(grid, 2, 2)[0] if symmetry else tuple(grid)

    seen, kept = set(map(key, [row for row in others if row not in (CLASHING, SHORT)])), []
    for k, row in enumerate(rows):
        if row in (CLASHING, SHORT):
            kept.append(k)
        elif key(row) not in seen:
            seen.add(key(row))
            kept.append(k)
    return kept


@st.composite
def rows(draw):
    """Draw puzzles of few clues, many equal, some with other blanks, and invalid rows."""
    cells = st.dictionaries(st.integers(0, 15), st.integers(1, 4), max_size=2)
    found = []
    for clues in draw(st.lists(cells, max_size=8)):
        blank = draw(st.sampled_from(".0"))
        text = "".join(str(clues.get(cell, blank)) for cell in range(16))
        digits = [0 if c == blank else int(c) for c in text]
        clashes = bs.Sudoku(2, 2).first_clashes(np.array([digits], np.uint8))[0] >= 0
        found.append(CLASHING if clashes else text)
    return found + draw(st.lists(st.sampled_from([PUZZLE, CLASHING, SHORT]), max_size=2))


@settings(max_examples=15)
@given(rows(), rows(), st.booleans(), st.sampled_from([1, 3, None]), st.sampled_from([1, 2]))
def test_the_first_of_each_puzzle_is_kept(tmp_path_factory, ours, others, symmetry, chunk, jobs):
    folder = tmp_path_factory.mktemp("dedupe")
    given_, out = written(folder / "in.csv", [PUZZLE, *ours]), folder / "out.csv"
    known = [written(folder / "known.csv", [*others, "." * 16])]
    how = {"up_to_symmetry": symmetry, "jobs": jobs, "chunk": chunk}
    alone = bs.dedupe(given_, out, **how)
    assert ids(out) == expected_ids([PUZZLE, *ours], symmetry=symmetry)
    assert alone.kept + alone.repeated == alone.rows == 1 + len(ours)
    both = bs.dedupe(given_, out, against=known, **how)
    assert ids(out) == expected_ids([PUZZLE, *ours], [*others, "." * 16], symmetry)
    assert both.kept + both.repeated + both.known == both.rows
    assert both.known_rows == 1 + len(others)
    assert both.invalid == sum(row in (CLASHING, SHORT) for row in ours)
    marked = bs.dedupe(given_, out, against=known, mark=True, **how)
    assert (marked.rows, marked.kept, marked.known) == (both.rows, both.kept, both.known)
    table = rows_of_csv(out)
    assert [int(row["id"]) for row in table] == list(range(len(table)))
    firsts = [k for k, row in enumerate(table) if not row["first"]]
    assert firsts == expected_ids([PUZZLE, *ours], [*others, "." * 16], symmetry)


def test_a_mark_says_where_the_same_puzzle_stands(here):
    empty = "." * 16
    written(here / "a.csv", [empty, PUZZLE])
    written(here / "b.csv", [PUZZLE.replace(".", "0"), SHORT, SAME_BUT_FOR_SYMMETRY])
    written(here / "test.csv", [SHORT, "1" + empty[1:], empty])
    bs.dedupe(["a.csv", "b.csv"], "out.csv", against=["test.csv"], mark=True)
    assert [row["first"] for row in rows_of_csv("out.csv")] == ["test.csv#3", "", "a.csv#2", "", ""]
    bs.dedupe(["a.csv", "b.csv"], "out.csv", mark=True, up_to_symmetry=True, chunk=1, jobs=2)
    assert [row["first"] for row in rows_of_csv("out.csv")] == ["", "", "a.csv#2", "", "a.csv#2"]
    assert "clues: 4" in invoke("show", "a.csv#2").output


TEXT, RAW = pa.string_view(), pa.binary_view()  # as polars writes them
VIEWS = {
    "text": pa.array(["a", None], TEXT),
    "bytes": pa.array([b"a", None], RAW),
    "lists": pa.array([["a", None], None], pa.list_(TEXT)),
    "large": pa.array([[b"a"], None], pa.large_list(RAW)),
    "fixed": pa.array([["a"], None], pa.list_(TEXT, 1)),
    "maps": pa.array([[("a", "b")], None], pa.map_(TEXT, TEXT)),
    "records": pa.array([{"a": ["b"]}, None], pa.struct({"a": pa.list_(TEXT)})),
    "categories": pa.DictionaryArray.from_arrays(pa.array([0, None]), pa.array(["a"], TEXT)),
}


@pytest.mark.parametrize("kind", VIEWS)
def test_rows_with_views_can_be_taken_and_solved(kind, tmp_path):
    table = pa.table({"puzzle": pa.array([PUZZLE, PUZZLE], TEXT), "note": VIEWS[kind]})
    wanted = [{"puzzle": PUZZLE, "note": VIEWS[kind][0].as_py()}]
    assert bs.dedupe(table).to_pylist() == wanted
    feather.write_feather(table, tmp_path / "in.arrow")
    if kind != "categories":  # which Arrow cannot write as Parquet
        pq.write_table(table, tmp_path / "in.parquet")
    for path in list(tmp_path.iterdir()):
        bs.dedupe(path, tmp_path / "out.parquet")
        assert pq.read_table(tmp_path / "out.parquet").to_pylist() == wanted
        assert bs.solve_file(path, tmp_path / "out.jsonl").unique == 2


def test_an_empty_puzzle_is_a_row_of_a_table_of_one_column(tmp_path):
    (tmp_path / "in.csv").write_text(f'puzzle\n""\n{PUZZLE}\n')
    bs.dedupe(tmp_path / "in.csv", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "in.csv").read_bytes()


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet", ".csv.gz"])
def test_all_columns_are_kept_in_every_format_whoever_works(tmp_path, suffix):
    rows = np.random.default_rng(1).integers(0, 60, 200)
    some = dataset("sudoku9.csv", "puzzle", "solution").take(rows)
    write_table(some, tmp_path / "in.csv")
    outputs = []
    for k, how in enumerate([{"jobs": 1}, {"jobs": 2, "chunk": 7}, {"jobs": 2, "backend": "loky"}]):
        out = tmp_path / f"{k}{suffix}"
        bs.dedupe(tmp_path / "in.csv", out, up_to_symmetry=True, filename=True, **how)
        outputs.append(content_of(out))
    assert outputs[0] == outputs[1] == outputs[2]
    bs.dedupe(out, tmp_path / "again.parquet")
    firsts = some.take(np.sort(np.unique(rows, return_index=True)[1]))
    names = pa.array([str(tmp_path / "in.csv")] * len(firsts))
    assert pq.read_table(tmp_path / "again.parquet") == firsts.append_column("filename", names)


def test_standard_input_and_output(tmp_path):
    text = f"{PUZZLE}\n{SAME_BUT_FOR_SYMMETRY}\n{PUZZLE}\n"
    run = invoke_on(tmp_path / "in", text + SHORT, "dedupe", "-")
    assert run.stdout == f"puzzle\n{PUZZLE}\n{SAME_BUT_FOR_SYMMETRY}\n{SHORT}\n"
    assert run.exit_code == 1
    assert "4 rows: 3 kept (1 of them invalid), 1 repeated" in run.stderr
    assert run.stderr.endswith(" (a grid a line), no solution column\n")
    run = invoke_on(tmp_path / "in", text, "dedupe", "-", "--up-to-symmetry", "--json")
    assert (run.exit_code, run.stdout) == (0, f"puzzle\n{PUZZLE}\n")
    assert json.loads(run.stderr.splitlines()[-1])["repeated"] == 2


def test_what_cannot_be_done_is_one_message(here):
    four, out = written(here / "four.csv", [PUZZLE]), "out.csv"
    six = written(here / "six.csv", ["." * 36])
    (here / "x.csv").write_text(f"puzzle,rules\n{PUZZLE},x\n")
    (here / "marked.csv").write_text(f"first,puzzle\n1,{PUZZLE}\n")
    large = here / "large.txt"
    large.write_text(" ".join(["."] * 625) + "\n")
    cases = [
        ((four, "folder/"), {}, "folder/: name one file to write to"),
        ((four, "out.xls"), {}, "the name must say the format"),
        ((four, four), {}, "is both input and output"),
        ((four, out), {"against": ["x.csv"]}, "x.csv: .*rules are 'rules', .* line 'puzzle,rules'"),
        ((six, six[:-4] + "2.csv"), {"against": ["gone.csv"]}, "gone.csv: No such file"),
        ((str(large), out), {"up_to_symmetry": True}, "grids of 25×25 with boxes of 5×5 have too"),
        (("-", out), {"against": ["-"]}, "standard input can be read once"),
        ((four, out), {"against": [out]}, "out.csv: No such file"),
        (("marked.csv", out), {"mark": True}, "has a column first already"),
    ]
    for files, how, message in cases:
        with pytest.raises(bs.BatchsolveError, match=message):
            bs.dedupe(*files, **how)
    assert sorted(path.suffix for path in here.iterdir()) == [".csv"] * 4 + [".txt"]


def test_a_file_that_is_damaged_leaves_nothing_behind(tmp_path, monkeypatch):
    lines = [f'{{"puzzle": "{PUZZLE}"}}'] * 20_000
    lines[15_000] = '{"puzzle": "....", "new": 1}'
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    monkeypatch.setattr("batchsolve.tables.detection.HEAD_BYTES", 1000)
    with pytest.raises(bs.InputError, match=r"row 15001: the field 'new' is new"):
        bs.dedupe(tmp_path / "in.jsonl", tmp_path / "out.csv", chunk=700, jobs=2)
    stop = Mock(side_effect=KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        bs.dedupe("datasets/sudoku4.csv", tmp_path / "out.csv", on_progress=stop)
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


def test_a_puzzle_without_a_form_says_so_and_is_only_like_itself(tmp_path, monkeypatch):
    monkeypatch.setattr(symmetric_grids, "MOST_STATES", 8)
    grid, other, blank = "1234341221434321", "2134342112434312", "." * 16
    given_ = written(tmp_path / "in.csv", [grid, other, grid, blank])
    summary = bs.dedupe(given_, tmp_path / "out.csv", up_to_symmetry=True, jobs=1)
    assert (summary.kept, summary.repeated, summary.undecided) == (3, 1, 3)
    assert "3 of them without a canonical form" in str(summary)
    assert not summary.complete
    solved = bs.solve_table(pa.table({"puzzle": [grid, blank]}), canonical=True, jobs=1)
    assert solved["canonical"].to_pylist() == [None, blank]
    assert solved["status"].to_pylist() == ["unique", "multiple"]
    assert solved["message"][0].as_py().startswith("no canonical form: more than")


@pytest.mark.parametrize("column", ["rules", "regions", "pairs"])
def test_rows_without_own_rules_have_forms_beside_others(column):
    rules = {"rules": "x", "regions": "AAABABBBCCCDCDDD", "pairs": "r1c2<r1c3"}[column]
    rows = [PUZZLE, SAME_BUT_FOR_SYMMETRY, PUZZLE, SAME_BUT_FOR_SYMMETRY]
    table = pa.table({"puzzle": rows, column: ["", None, rules, rules]})
    forms = bs.solve_table(table, canonical=True)["canonical"].to_pylist()
    assert forms == [bs.canonical(PUZZLE)] * 2 + [None] * 2
    assert bs.dedupe(table, up_to_symmetry=True)[column].to_pylist() == ["", rules, rules]
    leaks = bs.audit(table.slice(0, 1), table.slice(1)).test
    assert (leaks.puzzle_up_to_symmetry, leaks.undecided) == (1, 2)


BOXES = ["AABBAABBCCDDCCDD", "1 1 2 2 1 1 2 2 3 3 4 4 3 3 4 4"]
USUAL = [("rules", " "), *(("regions", boxes) for boxes in BOXES)]


@pytest.mark.parametrize(("column", "usual"), USUAL)
def test_the_usual_rules_are_none_however_they_are_said(column, usual):
    puzzles = [PUZZLE, PUZZLE, SAME_BUT_FOR_SYMMETRY]
    table = pa.table({"puzzle": puzzles, column: ["", usual, usual]})
    found = bs.solve_table(table, canonical=True)
    assert found["canonical"].to_pylist() == [bs.canonical(PUZZLE)] * 3
    assert bs.dedupe(table)[column].to_pylist() == ["", usual]
    assert bs.dedupe(table, up_to_symmetry=True)[column].to_pylist() == [""]
    alone = table.select(["puzzle"])
    assert bs.dedupe(alone, up_to_symmetry=True, **{column: usual}).num_rows == 1
    assert isinstance(bs.solve(PUZZLE, **{column: usual}).problem, bs.Sudoku)


BOTH = ".Shape~4x4.AntiKing.Windoku", ".Shape~4x4.Windoku.AntiKing"
CAGES = [{"sum": 3, "cells": [[0, 0], [0, 1]]}, {"sum": 7, "cells": [[0, 3], [0, 2]]}]
CAGES_AGAIN = [{"sum": 7, "cells": [[0, 2], [0, 3]]}, {"sum": 3, "cells": [[0, 1], [0, 0]]}]


SAME_RULES = [  # the column, rules that are the same, and others
    ("rules", ["x+antiking", "antiking+x", "X, antiking+x"], "x"),
    ("pairs", ["r1c1-r1c2", "r1c2-r1c1", "r1c2-r1c1 r1c1-r1c2"], "r1c1-r1c3"),
    ("pairs", ["r1c1<r1c2 r2c1<r2c2", "r2c2>r2c1 r1c1<r1c2"], "r1c2<r1c1 r2c1<r2c2"),
    ("cages", [json.dumps(CAGES), json.dumps(CAGES_AGAIN)], json.dumps(CAGES[:1])),
    ("constraints", BOTH, ".Shape~4x4.Windoku"),
]


@pytest.mark.parametrize(("column", "same", "other"), SAME_RULES)
def test_rules_are_equal_in_whatever_order_they_are_written(column, same, other):
    table = pa.table({"puzzle": ["." * 16] * (len(same) + 1), column: [*same, other]})
    assert bs.dedupe(table)[column].to_pylist() == [same[0], other]


def test_a_table_of_keys_grows():
    grids = np.random.default_rng(2).integers(0, 3, (150_000, 11)).astype(np.uint8)
    seen, found = Seen(), []
    for part in np.split(grids, 5):
        keys = grid_keys(b"secret", "any", part), np.ones(len(part), bool)
        found.append(seen.first_rows({"any": keys})["any"])
    first = np.concatenate(found)
    places = {}
    wanted = [places.setdefault(grid.tobytes(), k) for k, grid in enumerate(grids)]
    assert (np.where(first < 0, np.arange(len(grids)), first) == wanted).all()
    assert (np.count_nonzero(first < 0), seen.n_rows) == (len(places), len(grids))


KILLED = """
import os, signal, sys
from batchsolve.formats.whole_files import folder_beside

with folder_beside(sys.argv[1]) as folder:
    open(folder + "/half", "w").close()
    if sys.argv[2] == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    print(flush=True)
    sys.stdin.read()
"""


def test_folders_of_runs_that_were_killed_are_removed_by_the_next(tmp_path):
    (tmp_path / "in.txt").write_text("1.....2..3.....4\n")
    output, of_a_user = tmp_path / "out.csv", tmp_path / ".out.csv.batchsolve-mine"
    of_a_user.mkdir()
    command = [sys.executable, "-c", KILLED, output]
    subprocess.run([*command, "kill"], check=False)
    assert len(list(tmp_path.glob(".out.csv.batchsolve/*/half"))) == 1
    pipes = dict.fromkeys(("stdin", "stdout"), subprocess.PIPE)
    with subprocess.Popen([*command, "hold"], **pipes) as other:
        other.stdout.readline()
        assert len(list(tmp_path.glob(".out.csv.batchsolve/*/half"))) == 1  # its own
        with pytest.raises(bs.OutputError, match=r"out\.csv: is being written by another run"):
            bs.dedupe(tmp_path / "in.txt", output)
        other.stdin.close()
    bs.dedupe(tmp_path / "in.txt", output)
    assert set(tmp_path.iterdir()) == {tmp_path / "in.txt", output, of_a_user}


@pytest.mark.parametrize("mark", [False, True])
def test_numbers_of_a_csv_are_numbers_in_parquet(tmp_path, mark):
    (tmp_path / "in.csv").write_text("id,zip,puzzle\n1,007,1.....2..3.....4\n,8,1.....2..3.....4\n")
    bs.dedupe(tmp_path / "in.csv", tmp_path / "out.parquet", mark=mark)
    kept = pq.read_table(tmp_path / "out.parquet")
    assert kept["id"].to_pylist() == [1, None][: 1 + mark]
    assert kept["zip"].to_pylist() == ["007", "8"][: 1 + mark]


@pytest.mark.parametrize("library", LIBRARIES)
def test_tables_of_the_kind_that_came(library, tmp_path):
    other, shown = "12....2..3.....4", "..............21"
    rows = [PUZZLE, SAME_BUT_FOR_SYMMETRY, other, PUZZLE, shown]
    table = frame_of(library, pa.table({"id": [1, 2, 3, 4, 5], "puzzle": rows}))
    if library == "pandas":
        table.index = list("uvwxy")
        assert bs.dedupe(table).index.tolist() == ["u", "v", "w", "y"]
    kept = bs.dedupe(table)
    assert type(kept) is type(table)
    assert pa.table(kept)["id"].to_pylist() == [1, 2, 3, 5]
    known = written(tmp_path / "known.csv", [other])
    against = [known, pa.table({"puzzle": [SAME_BUT_FOR_SYMMETRY]})]
    kept = bs.dedupe(table, against=against, up_to_symmetry=True, chunk=2, jobs=2)
    assert pa.table(kept)["id"].to_pylist() == [5]
    marked = pa.table(bs.dedupe(table, against=against, mark=True))
    places = [None, "against[1]#1", f"{known}#1", "the table#1", None]
    assert marked["first"].to_pylist() == places
    assert bs.dedupe(known, against=table).num_rows == 0
    summary = bs.dedupe(table, tmp_path / "out.csv", against=against, up_to_symmetry=True)
    assert (summary.rows, summary.kept, summary.known) == (5, 1, 4)
    assert (tmp_path / "out.csv").read_text() == f"id,puzzle\n5,{shown}\n"
    bs.dedupe([table, table], tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet")["puzzle"].to_pylist() == [*rows[:3], shown]


def test_nothing_is_written_if_the_known_rows_cannot_be_read(here):
    (here / "in.csv").write_text(f"puzzle\n{PUZZLE}\n")
    generate = "generate", "-n", 2, "--unlike", "nofile"
    dedupe = "dedupe", "in.csv", "--against", "nofile"
    for words in (dedupe, generate, (*generate, "-o", "out.csv")):
        assert refused(*words).startswith("batchsolve: nofile: ")
    assert [path.name for path in here.iterdir()] == ["in.csv"]
