"""Every call over rows tells of its progress in the same way."""

import io
import re
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from conftest import EASY
from tqdm import tqdm

import batchsolve as bs
from batchsolve.runs import solve
from batchsolve.runs.progress import TREE_BAR
from batchsolve.search.tree import Totals

PUZZLES = ["1.....2..3.....4", "12..............", "11.............."] * 3
VALID = PUZZLES[:2] * 5
TABLE = pa.table({"puzzle": PUZZLES})
MADE = {"box": "2x2", "seed": 1}
PREDICTED = TABLE.append_column("prediction", TABLE["puzzle"])

# call -> the rows that it is to tell of
CALLS = {
    "solve_batch": (lambda **how: bs.solve_batch(PUZZLES, **how), 9),
    "solve_table": (lambda **how: bs.solve_table(TABLE, **how), 9),
    "solve_stream": (lambda **how: list(bs.solve_stream([TABLE, TABLE], **how)), 18),
    "canonical_forms": (lambda **how: bs.canonical_forms(VALID, **how), 10),
    "generate": (lambda **how: list(bs.generate(5, **MADE, **how)), 5),
    "generate_table": (lambda **how: bs.generate_table(5, **MADE, **how), 5),
    "rate": (lambda **how: bs.rate(pa.table({"puzzle": [EASY] * 2}), **how), 2),
    "augment": (lambda **how: bs.augment(TABLE, 2, **how), 9),
    "dedupe": (lambda **how: bs.dedupe(TABLE, against=[TABLE], **how), 18),
    "partition": (lambda **how: bs.partition(TABLE, **how), 9),
    "audit": (lambda **how: bs.audit(TABLE, TABLE, **how), 18),
    "evaluate": (lambda **how: bs.evaluate(PREDICTED, **how), 9),
    "count": (lambda **how: bs.count(["queens:4"] * 3, **how), 3),
    "estimate": (lambda **how: bs.estimate("queens:14", probes=300, **how), 300),
    "sample": (lambda **how: bs.sample("latin:4", 50, **how), 50),
    "sample weighted": (lambda **how: bs.sample("latin:4", 50, weighted=True, **how), 50),
    "sample distinct": (lambda **how: bs.sample("latin:4", 50, distinct=True, **how), 50),
}


OF_TWO = ("dedupe", "audit")  # tables, whose totals are those of one

LOGGED = ("solve_table", "rate", "augment", "generate_table", "dedupe")  # which return tables


@pytest.mark.parametrize("call", CALLS)
def test_rows_are_told_once_and_summed_up(call, caplog):
    run, n = CALLS[call]
    told = []
    with caplog.at_level("INFO", "batchsolve"):
        run(on_progress=told.append)
    assert sum(each.new_rows for each in told) == n
    n_last = n // 2 if call in OF_TWO else n
    assert told[-1].totals.rows == n_last
    expected = {each.expected_rows for each in told} - {None}  # unknown at first
    assert expected == (set() if call == "solve_stream" else {n_last})
    assert call not in LOGGED or f"{n_last} rows: " in caplog.text
    with pytest.raises(bs.InputError, match="on_progress is a function or True, not 5"):
        run(on_progress=5)


BARS = ["solve_stream", "generate", "solve_batch", "canonical_forms", "count"]


@pytest.mark.parametrize("call", BARS)
def test_true_draws_one_bar(call, capsys):
    CALLS[call][0](on_progress=True)
    [line] = filter(None, capsys.readouterr().err.split("\n"))
    assert re.search(rf"(?<!\d){CALLS[call][1]}\.0", line.split("\r")[-1])
    assert call not in ("canonical_forms", "count") or "unique" not in line


def test_the_bar_of_a_resumed_tree_moves_at_the_rate_of_this_run():
    search = SimpleNamespace(totals=Totals(nodes=8), nodes_before=4, finished_between=(0.5, 0.5))
    show, how = TREE_BAR
    with tqdm(**how, file=io.StringIO()) as bar:
        for search.finished_share in (0.5, 0.5, 0.6):
            show(bar, search)
        assert (bar.initial, bar.n, bar.miniters) == (0.25, 0.6, 0)


def test_without_standard_error_there_is_no_bar(monkeypatch):
    monkeypatch.setattr("sys.stderr", None)
    assert bs.count("queens:6", on_progress=True).count == 4


def test_forms_are_found_some_at_a_time(monkeypatch):
    grids = np.tile(bs.canonical_forms(VALID).grids, (15, 1))
    whole = bs.canonical_forms(grids)
    monkeypatch.setattr(solve, "BLOCK_CELLS", 1)
    told = []
    forms = bs.canonical_forms(grids, on_progress=told.append)
    assert [each.new_rows for each in told] == [64, 64, 22]
    for name in ("grids", "symmetries", "transposed", "rows", "columns"):
        assert (getattr(forms, name) == getattr(whole, name)).all()


def test_solutions_tell_of_their_search():
    counts = []

    def tell(search):
        counts.append(search.totals.count)

    found = bs.solutions("queens:8", jobs=1, budget=50, on_progress=tell)
    assert (next(found).size, counts[-1] >= 1) == (8, True)
    assert len(list(found)) + 1 == counts[-1] == 92
    assert len(counts) > 3
    assert counts == sorted(counts)
