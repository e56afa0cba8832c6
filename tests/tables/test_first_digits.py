"""Digits from 0, and whole numbers as floating-point ones, in every form of tables."""

import json
from math import isqrt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import answers_to
from cutting import small_blocks
from oracles import solved as square

import batchsolve as bs
from batchsolve.settings import FileSettings
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.sources import TableSource

PUZZLE = [0, *[None] * 5, 1, None, None, 2, *[None] * 5, 3]
SOLUTION = [0, 1, 3, 2, 2, 3, 1, 0, 3, 2, 0, 1, 1, 0, 2, 3]
FROM_ONE = [None if digit is None else digit + 1 for digit in PUZZLE]
WHY = (
    "0 and blanks, but no 4: do the digits begin at 0? then name the alphabet 0-3; or, if 0 is a "
    "blank cell, too, name both as `blank`, such as .0 (null is .)"
)
ALPHABETS = "1234 ABCD ABCDEFGHI 123456789ABCDEFG 0123456789ABCDEF ABCDEFGHIJKLMNOP"
LIBRARIES = {"arrow": pa.table, "polars": pl.DataFrame, "pandas": pd.DataFrame}


def rows_of(grid):
    return [grid[k : k + 4] for k in range(0, 16, 4)]


def floats(grid):
    return [float("nan") if digit is None else float(digit) for digit in grid]


FORMS = {
    "null": lambda grid: grid,
    "nan": floats,
    "-1": lambda grid: [-1 if digit is None else digit for digit in grid],
    "-1.0": lambda grid: [-1.0 if digit is None else float(digit) for digit in grid],
    "rows": rows_of,
    "texts": lambda grid: ["." if digit is None else str(digit) for digit in grid],
    "characters": lambda grid: "".join("." if digit is None else str(digit) for digit in grid),
    "numbers": lambda grid: " ".join("-1" if digit is None else str(digit) for digit in grid),
    "floats": lambda grid: " ".join(map(str, floats(grid))),
    "json": json.dumps,
    "python": str,
    "numpy": lambda grid: str(np.array(floats(grid))),
}


PAIRS = [(form, "arrow") for form in FORMS]
PAIRS += [(form, library) for form in ("nan", "rows") for library in ("polars", "pandas")]


def answered(table, **how):
    """Return the columns of the answers to a table of any library."""
    found = bs.solve_table(table, limit=99, **how)
    found = found.to_pydict() if isinstance(found, pa.Table) else found
    return [[found[name][row] for name in ("status", "n_solutions")] for row in range(len(table))]


@pytest.mark.parametrize(("form", "library"), PAIRS)
def test_digits_may_begin_at_0(form, library):
    write, made = FORMS[form], LIBRARIES[library]
    table = made({"puzzle": [write(PUZZLE)], "solution": [write(SOLUTION)]})
    assert answered(table) == [["unique", 1]]
    found = bs.solve_table(table)
    assert bool(found["agrees"][0])
    digits = found["solution"][0]
    digits = digits.as_py() if library == "arrow" else digits
    text = digits if isinstance(digits, str) else str(np.array(digits, object).tolist())
    assert [int(c) for c in text.replace(".0", "") if c.isdigit()] == SOLUTION
    # the largest digit is there, so that 0 beside another blank cannot be a digit
    assert answered(made({"puzzle": [write(FROM_ONE)]})) == [["unique", 1]]


@pytest.mark.parametrize("form", ["null", "nan", "-1", "characters", "numbers"])
def test_a_grid_is_never_read_with_two_kinds_of_blanks(form):
    write = FORMS[form]
    table = pa.table({"puzzle": [write(PUZZLE), write(FROM_ONE)]})
    for alphabet in (None, "1-4"):
        found = answers_to(table, alphabet=alphabet)
        assert [row["status"] for row in found] == ["invalid", "unique"]
        assert found[0]["message"] == WHY
        # both are blanks because the user says so
        assert answered(table, alphabet=alphabet, blank=".0") == [["multiple", 3], ["unique", 1]]


@pytest.mark.parametrize(("form", "library"), PAIRS)
def test_an_alphabet_does_not_make_0_a_second_blank(form, library):
    table = LIBRARIES[library]({"puzzle": [FORMS[form](PUZZLE)]})
    for alphabet in ("1-4", "01-4"):
        assert answered(table, alphabet=alphabet)[0][0] == "invalid"
    assert answered(table, alphabet="0-3") == [["unique", 1]]
    assert answered(table, blank=".0") == [["multiple", 3]]


@pytest.mark.parametrize("form", ["null", "nan", "-1", "characters", "numbers"])
def test_a_named_alphabet_says_where_digits_begin(form):
    few = [None if digit == 0 else digit for digit in PUZZLE]  # which do not tell
    table = pa.table({"puzzle": [FORMS[form](few)]})
    given = table.append_column("solution", pa.array([FORMS[form](SOLUTION)]))
    for alphabet in ("0-3", None):
        assert answers_to(given, "agrees", alphabet=alphabet) == [True]
    assert answers_to(given, "agrees", alphabet="1-4") == [False]


def test_an_alphabet_of_letters_does_not_fit_numbers():
    with pytest.raises(bs.InputError, match=r"grids of numbers, and the alphabet 'A-D' .* 0-3 or"):
        bs.solve_table(pa.table({"puzzle": [PUZZLE]}), alphabet="A-D")


@pytest.mark.parametrize("alphabet", [None, "0-15", "numbers", "0-9A-F"])
def test_numbers_from_0_to_15(alphabet):
    solution = bs.solve_batch(np.zeros((1, 256), np.int64)).solutions[0].astype(int) - 1
    clues = [d if k % 2 or d == 0 else None for k, d in enumerate(solution.tolist())]
    clues = [None if d == 15 else d for d in clues]
    table = pa.table({"puzzle": [clues], "solution": [solution]})
    corpus = Corpus([TableSource(table)], FileSettings(alphabet=alphabet))
    [batch] = corpus.batches()
    [grids] = batch.grids
    assert not batch.faults
    assert grids.puzzles[0].tolist() == [0 if d is None else d + 1 for d in clues]
    assert grids.given[0].tolist() == (solution + 1).tolist()
    assert corpus.notation.name == "0-15"


def test_a_small_integer_column_gets_null_for_blanks():
    puzzle = pa.array([PUZZLE], pa.list_(pa.uint8()))
    found = bs.solve_table(pa.table({"puzzle": puzzle}), canonical=True)
    blank = found["canonical"][0].as_py().count(None)
    assert (found["canonical"].type, blank) == (puzzle.type, 12)


@pytest.mark.parametrize("form", ["null", "nan", "-1"])
def test_files_of_lists(form, tmp_path):
    write = FORMS[form]
    table = pa.table({"puzzle": [write(PUZZLE)], "solution": [write(SOLUTION)]})
    pq.write_table(table, tmp_path / "in.parquet")
    lines = [json.dumps(row) for row in table.to_pylist()]
    (tmp_path / "in.jsonl").write_text("\n".join(lines * 2))
    (tmp_path / "in.json").write_text(f"[{', '.join(lines)}]")
    array = np.array([[-1 if d is None else d for d in PUZZLE]])
    np.save(tmp_path / "in.npy", np.where(array < 0, np.nan, array) if form == "nan" else array)
    for name in ("in.parquet", "in.jsonl", "in.json", "in.npy"):
        summary = bs.solve_file(tmp_path / name, tmp_path / "out.csv", limit=99)
        assert (summary.unique, summary.disagree) == (summary.rows, 0)
        bs.solve_file(tmp_path / name, tmp_path / "out.npy")
        assert np.load(tmp_path / "out.npy")[0].tolist() == SOLUTION


ONE_GRID = [
    "0.....1..2.....3",
    FORMS["numbers"](PUZZLE),
    "0...\n..1.\n.2..\n...3\n",
    "0 . . .\n. . 1 .\n. 2 . .\n. . . 3",
]


@pytest.mark.parametrize("text", ONE_GRID)
def test_one_grid(text, tmp_path):
    grid = bs.solve(text, limit=99)
    assert grid.solution.startswith("0")
    assert grid.alphabet == "0-3"
    assert "<svg" in grid._repr_html_()
    with pytest.raises(bs.InputError, match=r"^0 and blanks, but no 4"):
        bs.solve(text, alphabet="1-4")
    assert bs.solve(text, alphabet="1-4", blank=".0-").status == "multiple"
    (tmp_path / "grid.txt").write_text(text)
    assert bs.read_problem(tmp_path / "grid.txt").notation.begins_at_zero


def test_other_commands_read_them_so(tmp_path):
    table = pa.table({"puzzle": [PUZZLE], "solution": [SOLUTION], "prediction": [SOLUTION]})
    for truth in (table, table.drop(["solution"])):
        assert bs.evaluate(truth).all.right == 1
    images = bs.augment(table.drop(["prediction"]), 5, original=True)
    assert images["puzzle"][0].as_py() == PUZZLE
    assert answers_to(images, "agrees") == [True] * 6
    pq.write_table(table, tmp_path / "zero.parquet")
    pq.write_table(pa.table({"puzzle": [FROM_ONE]}), tmp_path / "one.parquet")
    files = tmp_path / "zero.parquet", tmp_path / "out.csv"
    assert bs.dedupe(*files, against=[tmp_path / "one.parquet"]).known == 1
    nine = bs.generate_table(1, seed=1)["puzzle"].to_pylist()
    lists = [[None if c == "." else int(c) - 1 for c in puzzle] for puzzle in nine]
    rated = [bs.rate(pa.table({"puzzle": each})) for each in (nine, lists)]
    assert rated[0]["rating"] == rated[1]["rating"]


@pytest.mark.parametrize("made", [lambda x: x, np.array, lambda x: [x[0]]])
def test_arrays_hold_whole_numbers_and_blanks_in_any_type(made):
    right = bs.solve_batch([[0 if d is None else d for d in FROM_ONE]]).solutions.tolist()
    for form in ("null", "nan", "-1", "-1.0"):
        assert bs.solve_batch(made([FORMS[form](FROM_ONE)])).solutions.tolist() == right
        with pytest.raises(bs.InputError, match="0 and blanks, but no 4"):
            bs.solve_batch(made([FORMS[form](PUZZLE)]))


def test_each_grid_of_an_array_tells_its_kinds_of_blanks():
    """The 4 of another grid does not make 0 a blank beside -1, or beside a masked cell."""
    grids = np.array([FORMS["-1"](grid) for grid in (FROM_ONE, PUZZLE)])
    for each in (grids, np.ma.masked_less(grids, 0)):
        assert bs.solve_batch(each[:1]).status.tolist() == ["unique"]
        with pytest.raises(bs.InputError, match=r"0 and blanks, but no 4: .* 0 for all blanks"):
            bs.solve_batch(each)


@pytest.mark.parametrize("form", ["-1", "characters"])
def test_a_largest_digit_that_comes_later_names_the_alphabet(form, monkeypatch):
    monkeypatch.setattr("batchsolve.tables.corpus.SAMPLE_ROWS", 100)
    zero, one = [FORMS[form](PUZZLE)] * 400, [FORMS[form](FROM_ONE)]
    with small_blocks(500):
        late, soon = (bs.solve_table(pa.table({"puzzle": p})) for p in (zero + one, one + zero))
    assert late["status"].to_pylist()[-2:] == ["unique", "invalid"]
    assert late["message"][-1].as_py().endswith("if at 1, name the alphabet 1-4")
    assert soon["message"][1].as_py() == WHY


@pytest.mark.parametrize("form", ["null", "-1", "rows", "texts", "characters", "numbers", "json"])
def test_predictions_tell_where_digits_begin(form):
    """Neither 0 nor the largest digit is among the clues, and no truth is given."""
    few = [2 if k == 3 else digit or None for k, digit in enumerate(PUZZLE)]
    write = FORMS[form]
    for name in ("prediction", "Mine"):
        table = pa.table({"puzzle": [write(few)], name: [write(SOLUTION)]})
        assert bs.evaluate(table, prediction=name).all.right == 1
        mixed = table.append_column("other", pa.array([write(SOLUTION)]))
        assert bs.evaluate(mixed, prediction=name).all.right == 1
    from_one = [None if digit is None else digit + 1 for digit in few]
    solved = [digit + 1 for digit in SOLUTION]
    table = pa.table({"puzzle": [write(from_one)], "prediction": [write(solved)]})
    assert bs.evaluate(table).all.right == 1


def test_steps_name_the_digits_of_the_puzzle():
    [text] = bs.generate_table(1, seed=1)["puzzle"].to_pylist()
    steps = {}
    for alphabet in ("123456789", "012345678", "ABCDEFGHI"):
        puzzle = text.translate(str.maketrans("123456789", alphabet))
        rated = bs.rate(pa.table({"puzzle": [puzzle]}), steps=True)
        steps[alphabet] = json.loads(rated["steps"][0].as_py())
    for alphabet, found in steps.items():
        written = {k: int(c) if c.isdigit() else c for k, c in enumerate(alphabet, 1)}
        for step, like in zip(found, steps["123456789"], strict=True):
            assert step["digits"] == [written[digit] for digit in like["digits"]]
            fills = {cell: written[digit] for cell, digit in like.get("fills", {}).items()}
            assert step.get("fills", {}) == fills


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("form", ["null", "nan", "-1", "-1.0", "rows", "texts"])
def test_the_blank_that_came_is_kept(form, library):
    def count(grid, blank):
        cells = pd.Series([grid] if library == "arrow" else [list(grid)]).explode().explode()
        is_blank = cells.isna() if blank is None else cells == blank
        return int(is_blank.sum())

    blank = {"-1": -1, "-1.0": -1, "texts": "."}.get(form)
    for puzzle in (PUZZLE, FROM_ONE):
        table = LIBRARIES[library]({"puzzle": [FORMS[form](puzzle)]})
        images, solved = bs.augment(table), bs.solve_table(table, canonical=True)
        for grid in (images["puzzle"][0], solved["canonical"][0]):
            grid = grid.as_py() if library == "arrow" else grid
            assert count(grid, blank) == 12


def test_arrays_of_whole_numbers_hold_null_as_nan():
    frame = pd.DataFrame({"puzzle": [np.array([0 if d is None else d for d in FROM_ONE])]})
    assert bs.augment(frame)["puzzle"][0].dtype == np.int64
    assert np.isnan(bs.augment(frame, blank=".0")["puzzle"][0]).sum() == 12


WITH_VALUES = [
    ("sums", "A=1 B=5"),
    ("marks", "e" + "." * 15),
    ("pairs", "r1c1:r1c2"),
    ("constraints", "{}"),
    ("cages", "3;0,0;0,1"),
    ("cages", '[{"cells": [[0, 0], [0, 1]], "sum": 3}]'),
]


@pytest.mark.parametrize(("column", "rule"), WITH_VALUES)
def test_rules_with_values_need_digits_from_1(column, rule):
    own = {"cages": ["", "AABB" + "." * 12], column: ["", rule]}
    _, row = answers_to({"puzzle": ["0.....1..2.....3", "." * 16], **own}, limit=9)
    assert row["status"] == "invalid"
    assert f"{column} need digits from 1" in row["message"]


def test_cages_without_values_may_have_digits_from_0():
    own = {"cages": ["", '[{"cells": [[0, 0], [1, 2]]}]']}
    found = answers_to({"puzzle": ["0.....1..2.....3", "0" + "." * 15], **own}, "status")
    assert found == ["unique", "multiple"]


@pytest.mark.parametrize("wish", [{"cages": (2, 3)}, {"marks": "parity"}, {"lines": "thermo"}])
def test_puzzles_with_values_are_made_with_digits_from_1(wish):
    with pytest.raises(bs.InputError, match="need digits from 1"):
        bs.generate_table(1, box=(2, 2), alphabet="0-3", **wish)


@pytest.mark.parametrize("clues", [0, 1])
@pytest.mark.parametrize("symbols", ALPHABETS.split())
def test_solutions_tell_the_alphabet_of_puzzles_with_few_clues(symbols, clues):
    n, k = len(symbols), isqrt(len(symbols))
    solution = "".join(symbols[digit - 1] for digit in square(k, k).flat)
    place = solution.index("A") if "A" in symbols else 0
    puzzle = "." * place + solution[place : place + clues] + "." * (n * n - place - clues)
    [found] = answers_to({"puzzle": [puzzle], "solution": [solution]})
    assert found["agrees"]
    assert set(found["solution"]) == set(symbols)


def test_grids_that_are_not_full_tell_no_alphabet():
    [solution] = answers_to({"puzzle": ["." * 256], "solution": ["0" * 256]}, "solution")
    assert set(solution) == set("123456789ABCDEFG")
