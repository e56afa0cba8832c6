import os
import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from conftest import PUZZLE, dataset
from invoking import invoke

import batchsolve as bs
from batchsolve.engines import Choice
from batchsolve.settings.arguments import UNLIMITED

# In 20,000 nodes `lanes` finds no solution of this puzzle; `sat` takes 300 to find two.
LONG = (
    "E.6....3..G.F...G1..F.B..C..6D9.....6E...F7.4.AG....4..........2"
    ".7..........3..59.....F2.1...7...23.D94.....1G.A..1.8B......DE.9"
    "6.....3A.E.....F4...2..5.G....D...G....B82...914F.....1........."
    ".6...3..G....F..8.5.9...EBD.....1.9..8..2..CB.ED3...BD.6..8....."
)
SHORT = dataset("sudoku16.csv", "puzzle")["puzzle"][0].as_py()
HEXADECIMAL = bs.Sudoku(4, 4)


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("\n".join(["puzzle", SHORT, LONG, "EE" + LONG[2:], SHORT, "." * 256, LONG]))
    return path


def fallback_of(name, problem, limit):
    return Choice.for_grids(name, problem, limit).fallback_of(problem)


@pytest.fixture
def without_pysat(monkeypatch):
    monkeypatch.setitem(sys.modules, "pysat", None)


def table(path):
    """Return the columns of an output, without the time that rows took."""
    return pacsv.read_csv(path).drop_columns("seconds").to_pydict()


SHAPES = [((3, 3), None), ((2, 2), None), ((3, 4), None), ((4, 4), "sat"), ((1, 25), "sat")]


@pytest.mark.parametrize(("box", "engine"), SHAPES)
def test_the_shape_decides_whether_rows_are_handed_over(box, engine):
    fallback = fallback_of("auto", bs.Sudoku(*box), 2)
    assert (fallback and fallback[0].name) == engine
    assert fallback is None or fallback[1] >= 1000
    assert fallback_of("auto", bs.Sudoku(*box), UNLIMITED) is None
    assert fallback_of("dlx", bs.Sudoku(*box), 2) is None


def test_without_its_module_no_row_is_handed_over(without_pysat):
    assert fallback_of("auto", HEXADECIMAL, 2) is None


def test_auto_hands_over_and_answers_the_same_always(corpus, tmp_path):
    out, again = tmp_path / "out.csv", tmp_path / "again.csv"
    summary = bs.solve_file(str(corpus), str(out), jobs=1, stats=True)
    found = table(out)
    assert summary.engine == "lanes, sat"
    assert found["status"] == ["unique", "multiple", "invalid", "unique", "multiple", "multiple"]
    after = fallback_of("auto", HEXADECIMAL, 2)[1]
    assert [nodes > after for nodes in found["nodes"]] == [False, True, False, False, False, True]
    parse, names = HEXADECIMAL.parse, ("puzzle", "solution")
    puzzles, solutions = (np.array([parse(found[n][k]) for k in (0, 1, 4)]) for n in names)
    assert HEXADECIMAL.check(puzzles, solutions).all()
    for settings in ({"chunk": 1}, {"budget": 1_000}, {"backend": "loky", "chunk": 2}):
        bs.solve_file(str(corpus), str(again), jobs=2, stats=True, **settings)
        assert table(again) == found
    batch = bs.solve_batch(puzzles)
    assert batch.solutions.tolist() == solutions.tolist()
    assert batch.nodes.tolist() == [found["nodes"][k] for k in (0, 1, 4)]


def test_large_grids_among_others_are_handed_over_as_alone():
    """Small grids decide the engines of most rows, not those of all."""
    fours = [PUZZLE, "." * 16]
    found = bs.solve_table(pa.table({"puzzle": [*fours, LONG, fours[0]]}), stats=True)
    [alone] = bs.solve_table(pa.table({"puzzle": [LONG]}), stats=True).to_pylist()
    row = found.to_pylist()[2]
    assert row["nodes"] > fallback_of("auto", HEXADECIMAL, 2)[1]
    assert {**row, "seconds": 0} == {**alone, "seconds": 0}
    assert found["status"].to_pylist() == ["unique", "multiple", "multiple", "unique"]


def test_rules_of_other_rows_do_not_decide_when_a_row_is_handed_over():
    digits = HEXADECIMAL.parse(bs.solve(LONG).solution)
    cages = [" ".join(["1"] * n + ["."] * (256 - n)) for n in (2, 3, 4)]
    sums = [str(digits[:n].sum()) for n in (2, 3, 4)]
    table = pa.table({"puzzle": [LONG] * 3, "cages": cages, "sums": sums})
    found = bs.solve_table(table, stats=True)["nodes"].to_pylist()
    each = [bs.solve_table(table[k : k + 1], stats=True)["nodes"] for k in range(3)]
    assert found == [nodes[0].as_py() for nodes in each]
    assert max(found) > fallback_of("auto", HEXADECIMAL, 2)[1]


def test_a_run_is_resumed_by_the_same_engines(corpus, tmp_path, monkeypatch):
    whole, out = tmp_path / "whole.csv", tmp_path / "out.csv"
    bs.solve_file(str(corpus), str(whole))
    with pytest.raises(bs.InputError, match="row 3"):
        bs.solve_file(str(corpus), str(out), chunk=1, stop_on_invalid=True)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "pysat", None)
        changed = r"had engine = 'auto \(lanes, sat\) after 4096 nodes', .* 'auto \(lanes\)'"
        with pytest.raises(bs.JournalError, match=changed):
            bs.solve_file(str(corpus), str(out), resume=True)
    bs.solve_file(str(corpus), str(out), resume=True)
    assert out.read_bytes() == whole.read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["in.csv", "out.csv", "whole.csv"]


def test_unfinished_rows_say_what_would_help(corpus, tmp_path, without_pysat):
    limited = "solve", corpus, "-o", tmp_path / "out.csv", "--node-limit", 20_000
    done, named = invoke(*limited), invoke(*limited, "--engine", "lanes")
    assert (done.exit_code, named.exit_code) == (1, 1)
    assert "2 unfinished" in done.stderr
    assert "rows of more than 4,096 nodes would go to the engine 'sat': " in done.stderr
    assert "pip install 'batchsolve[sat]'" in done.stderr
    assert "pip install" not in named.stderr


def test_a_node_limit_bounds_rows_that_are_handed_over(corpus, tmp_path):
    found = []
    for node_limit in (4_096, 4_100, 200_000):
        out = tmp_path / f"{node_limit}.csv"
        summary = bs.solve_file(str(corpus), str(out), node_limit=node_limit, stats=True)
        found.append((summary.unfinished, max(table(out)["nodes"]) <= node_limit, summary.advice))
    assert found == [(2, True, ""), (2, True, ""), (0, True, "")]
