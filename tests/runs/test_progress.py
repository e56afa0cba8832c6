"""Every call over rows tells of its progress in the same way."""

import io
import re
from contextlib import redirect_stderr

import numpy as np
import pyarrow as pa
import pytest
from conftest import EASY

import batchsolve as bs
from batchsolve.runs import solve

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
}


# calls that return tables -> the summary that they log
SUMMARIES = {
    "solve_table": "9 rows: 3 unique, 3 multiple, 3 invalid; ",
    "rate": "hardest techniques: 2 hidden single",
    "augment": "9 rows: 12 images, 3 invalid",
    "generate_table": "5 rows: 5 unique, seed 1; ",
    "dedupe": "9 rows: 3 kept (3 of them invalid), 6 known, ",
}


@pytest.mark.parametrize("call", CALLS)
def test_rows_are_told_once_and_summed_up(call, caplog):
    run, n = CALLS[call]
    told = []
    with caplog.at_level("INFO", "batchsolve"):
        run(on_progress=lambda progress: told.append((progress.new_rows, progress.totals.rows)))
    assert sum(new for new, _ in told) == n
    assert told[-1][1] <= n
    assert SUMMARIES.get(call, "") in caplog.text
    with pytest.raises(bs.InputError, match="on_progress is a function or True, not 5"):
        run(on_progress=5)


@pytest.mark.parametrize("call", ["solve_stream", "generate", "solve_batch", "canonical_forms"])
def test_true_draws_one_bar(call):
    with redirect_stderr(io.StringIO()) as said:
        CALLS[call][0](on_progress=True)
    lines = [line for line in said.getvalue().split("\n") if line]
    assert len(lines) == 1
    assert re.search(rf"(?<!\d){CALLS[call][1]}\.0", lines[0].split("\r")[-1])


def test_forms_are_found_some_at_a_time(monkeypatch):
    grids = np.tile(bs.canonical_forms(VALID).grids, (15, 1))
    whole = bs.canonical_forms(grids)
    monkeypatch.setattr(solve, "BLOCK_CELLS", 1)
    told = []
    forms = bs.canonical_forms(grids, on_progress=told.append)
    assert [each.new_rows for each in told] == [64, 64, 22]
    assert {each.expected_rows for each in told} == {150}
    for name in ("grids", "symmetries", "transposed", "rows", "columns"):
        assert (getattr(forms, name) == getattr(whole, name)).all()


def test_a_bar_shows_what_is_counted(capsys):
    bs.canonical_forms(VALID, on_progress=True)
    bs.count(["queens:4"] * 3, on_progress=True)
    said = capsys.readouterr().err
    assert "10/10" in said.replace(".0", "")
    assert "unique" not in said


def test_an_estimate_tells_how_many_probes_have_ended():
    told = []
    guess = bs.estimate("queens:14", probes=300, on_progress=told.append)
    assert guess.probes == 300
    assert sum(progress.new_rows for progress in told) == told[-1].totals.rows == 300
    assert {progress.expected_rows for progress in told} == {300}


@pytest.mark.parametrize("how", [{}, {"weighted": True}, {"distinct": True}])
def test_samples_tell_how_many_covers_are_drawn(how):
    told = []
    drawn = bs.sample("latin:4", 50, on_progress=told.append, **how)
    assert len(drawn) == told[-1].totals.rows == told[-1].expected_rows == 50
    assert sum(progress.new_rows for progress in told) == 50


def test_solutions_tell_of_their_search():
    counts = []
    found = bs.solutions(
        "queens:8", jobs=1, budget=50, on_progress=lambda search: counts.append(search.totals.count)
    )
    first = next(found)
    assert (first.size, counts[-1] >= 1) == (8, True)
    assert len(list(found)) + 1 == counts[-1] == 92
    assert len(counts) > 3
    assert counts == sorted(counts)
