"""Evaluation of predictions: against counts made row by row in Python."""

import json
import re
from collections import Counter
from functools import cache
from math import sqrt

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from conftest import LIBRARIES, SOLUTION, frame_of
from hypothesis import given, strategies as st
from invoking import invoke, refused
from oracles import grids_by_rules

import batchsolve as bs

UNIQUE, SEVERAL, NONE = "1.....2..3.....4", "1.....2........4", "12..34....1...2."
PROBLEM = bs.Sudoku(2, 2)


@cache
def solutions_of(puzzle):
    """Return the solutions of a puzzle that can be read, else nothing."""
    if puzzle not in (UNIQUE, SEVERAL, NONE):
        return []
    found = sorted(grids_by_rules(PROBLEM.rules, PROBLEM.parse(puzzle)))
    return ["".join(map(str, grid)) for grid in found]


HOUSES = PROBLEM.rules.houses


def judged(puzzle, prediction, truth):
    """Return the counts of one row, or None if it cannot be judged."""
    solutions = solutions_of(puzzle)
    if not solutions or (truth is not None and truth not in solutions):
        return None
    text = prediction.strip()
    is_grid = len(text) == 16 and set(text) <= set("01234.")
    is_grid &= not ({"0", "."} <= set(text) and "4" not in text)  # 0 may be a digit
    right = text in solutions if truth is None else text == truth
    one = truth or (solutions[0] if len(solutions) == 1 else None)
    cells = [k for k in range(16) if puzzle[k] == "." and one]
    clues = [k for k in range(16) if puzzle[k] != "."]
    kept = [k for k in clues if is_grid and text[k] == puzzle[k]]
    good = [h for h in HOUSES if is_grid and {text[k] for k in h} == set("1234")]
    return {
        "right": right,
        "missing": not text,
        "malformed": bool(text) and not is_grid,
        "other": truth is not None and not right and text in solutions,
        "several": one is None,
        "cells": len(cells),
        "cells_right": sum(is_grid and text[k] == one[k] for k in cells),
        "clues": len(clues),
        "clues_kept": len(kept),
        "keeping": is_grid and len(kept) == len(clues),
        "houses": len(HOUSES),
        "violated": len(HOUSES) - len(good),
        "unviolated": len(good) == len(HOUSES),
    }


def expected(rows):
    total = Counter(dict.fromkeys(vars(bs.evaluate(table_of([])).all), 0), rows=len(rows))
    for puzzle, prediction, truth, _ in rows:
        total.update(judged(puzzle, prediction, truth) or {"unjudged": 1})
    return total


def table_of(rows):
    names = ("puzzle", "prediction", "solution", "level")
    columns = zip(*rows, strict=True) if rows else [[]] * 4
    return pa.table([pa.array(column, pa.string()) for column in columns], names)


@st.composite
def tables(draw):
    """Draw rows of puzzles, predictions of all kinds, truths and levels."""
    has_truth, rows = draw(st.booleans()), []
    digits = st.text("01234.", min_size=16, max_size=16)
    odd = st.sampled_from(["", " ", "12", "1234x" * 4, "1" * 17, "x" * 16])
    for _ in range(draw(st.integers(0, 12))):
        puzzle = draw(st.sampled_from([UNIQUE, UNIQUE, SEVERAL, NONE, "11" + "." * 14, "12"]))
        right = st.sampled_from(solutions_of(puzzle) or solutions_of(UNIQUE))
        wrong = right.map(lambda text: text[:3] + "1" + text[4:])
        prediction = draw(st.one_of(right, wrong, digits, odd))
        truth = draw(st.one_of(right, wrong, st.just(""))) if has_truth else None
        rows.append((puzzle, prediction, truth, draw(st.sampled_from(["1", "10", "2", ""]))))
    return has_truth, rows


@given(tables(), st.sampled_from([1, 3, None]), st.sampled_from([1, 2]))
def test_counts_are_those_of_single_rows(case, chunk, jobs):
    has_truth, rows = case
    rows = [(UNIQUE, "12", SOLUTION if has_truth else None, "1"), *rows]
    how = {"chunk": chunk, "jobs": jobs, "truth": None if has_truth else "none"}
    found = bs.evaluate(table_of(rows), by="level", **how)
    assert vars(found.all) == expected(rows)
    levels = [level for level in ("1", "2", "10", "") if any(row[3] == level for row in rows)]
    assert list(found.strata) == [level or "(none)" for level in levels]
    for level in levels:
        some = [row for row in rows if row[3] == level]
        assert vars(found.strata[level or "(none)"]) == expected(some)
    ranges = bs.evaluate(table_of(rows), by="level", bins=[2, 10], **how).strata
    names = {"below 2": "1", "2 to below 10": "2", "10 and above": "10", "(none)": ""}
    assert list(ranges) == [name for name, level in names.items() if level in levels]
    for name, stratum in ranges.items():
        assert vars(stratum) == expected([row for row in rows if row[3] == names[name]])
    assert found.facts["all"]["rows"] == len(rows)
    assert json.loads(json.dumps(found.facts)) == found.facts
    assert found.html.count("<figure>") == min(12, found.all.judged - found.all.right)


def test_faults_are_named_with_their_rows():
    rows = [(UNIQUE, SOLUTION, None, "1")] * 5
    rows[2], rows[4] = (UNIQUE, "123", None, "1"), (NONE, SOLUTION, None, "1")
    found = bs.evaluate(table_of(rows), truth="none", chunk=2)
    assert found.named == {
        "malformed": ["row 3: 3 characters; a 4×4 grid has 16"],
        "unjudged": ["row 5: the puzzle is unsolvable"],
    }
    assert not found.complete
    assert [example.row for example in found.examples] == [3]


@pytest.mark.parametrize(("k", "n"), [(0, 10), (7, 10), (10, 10), (500, 1000)])
def test_intervals_hold_the_shares_that_are_not_rejected(k, n):
    """The bounds are the shares whose score test is just at its limit (Wilson 1927)."""
    stratum = bs.evaluate(table_of([])).all
    stratum.rows, stratum.right = n, k
    for bound in stratum.interval("right"):
        if 0 < bound < 1:
            score = abs(k / n - bound) / sqrt(bound * (1 - bound) / n)
            assert score == pytest.approx(1.96, abs=1e-3)


def test_predictions_may_be_numbers_where_puzzles_are_text():
    digits = [[int(c) for c in SOLUTION]]
    table = pa.table({"puzzle": [UNIQUE], "guess": digits})
    assert bs.evaluate(table, prediction="guess").all.right == 1
    assert bs.evaluate(pa.table({"puzzle": digits, "pred": [SOLUTION]})).all.right == 1


def test_rules_of_rows_count():
    regions = "AAABABBBCCCDCDDD"
    problem = bs.grid_problem(4, regions=regions)
    grid = problem.grids(bs.Stacks.from_lists([next(bs.solutions(problem)).tolist()]))
    assert not PROBLEM.follow_rules(grid)[0]
    columns = dict.fromkeys(("prediction", "truth"), [problem.format(grid[0])] * 2)
    table = pa.table({"puzzle": ["." * 16] * 2, **columns, "regions": [regions, ""]})
    found = bs.evaluate(table, truth="truth")
    assert (found.all.right, found.all.unviolated, found.all.houses) == (1, 1, 12)
    assert found.named["unjudged"] == ["row 2: the truth does not solve the puzzle"]


@pytest.mark.parametrize("chunk", [1, 2])
def test_a_region_that_is_a_row_is_one_house_whatever_the_block(chunk):
    regions = ["AAAABBCCBBCCDDDD", "AAABACBBCCBDCDDD"]  # two of four are rows; none is
    table = {"puzzle": ["1234............"] * 2, "prediction": ["1234341221434321"] * 2}
    assert bs.evaluate(pa.table(table | {"regions": regions}), chunk=chunk).all.houses == 10 + 12


def test_the_command_prints_a_table_json_and_a_page(tmp_path):
    path, page = tmp_path / "in.csv", tmp_path / "page.html"
    rows = [(UNIQUE, SOLUTION, SOLUTION, "1"), (UNIQUE, SOLUTION[:-1] + "1", SOLUTION, "2")]
    pacsv.write_csv(table_of(rows), path)
    command = ["evaluate", path, "--by", "level"]
    said = invoke(*command, "--html", page)
    first_three = [" ".join(line.split()[:3]) for line in said.stdout.splitlines()]
    assert first_three == ["level rows right", "1 1 1", "2 1 0", "all 2 1"]
    assert "truth: column 'solution', strata in 'level'" in said.stderr
    assert "row 2, level 2: 1 wrong cell" in page.read_text()
    facts = json.loads(invoke(*command, "--json").stdout)
    assert (facts["all"]["right"], facts["strata"]["2"]["clues_kept"]) == (1, 3)


def test_the_command_writes_verdicts_of_rows(tmp_path):
    rows = [(UNIQUE, SOLUTION, SOLUTION, "1"), (UNIQUE, "12", SOLUTION, "2")] * 3
    pacsv.write_csv(table_of(rows), tmp_path / "in.csv")
    table = tmp_path / "rows.csv"
    done = invoke("evaluate", tmp_path / "in.csv", "--by", "level", "--rows", table, "--chunk", 2)
    assert done.stdout == str(bs.evaluate(tmp_path / "in.csv", by="level").table) + "\n"
    header, *lines = table.read_text().splitlines()
    assert header == "puzzle,prediction,solution,level,right,wrong_cells"
    right = f"{UNIQUE},{SOLUTION},{SOLUTION},1,true,0"
    assert lines == [right, f"{UNIQUE},12,{SOLUTION},2,false,16"] * 3
    words, why = ("evaluate", tmp_path / "in.csv", "--rows"), "name one file of a table to write to"
    assert all(why in refused(*words, target) for target in ("-", "rows.npy", "rows/"))
    assert "the name must say the format" in refused(*words, "rows.xyz")
    assert "is both input and output" in refused(*words, tmp_path / "in.csv")
    many = table_of([(UNIQUE, SOLUTION, SOLUTION, str(k)) for k in range(1001)])
    with pytest.raises(bs.InputError, match="more than 1,000 values"):
        bs.evaluate(many, by="level", rows=tmp_path / "none.csv")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "rows.csv"]


def test_two_columns_give_a_stratum_for_each_combination(tmp_path):
    rows = [(UNIQUE, SOLUTION, SOLUTION, each) for each in "ab"] * 2
    table = table_of([*rows, (UNIQUE, "12", SOLUTION, "b")])
    table = table.append_column("band", pa.array(["easy", "hard", "hard", "hard", "easy"]))
    result = bs.evaluate(table, by=["band", "level"])
    assert list(result.strata) == [("easy", "a"), ("easy", "b"), ("hard", "a"), ("hard", "b")]
    counts = [(one.rows, one.right) for one in result.strata.values()]
    assert counts == [(1, 1), (1, 0), (1, 1), (2, 2)]
    assert result.table.splitlines()[1].split()[:4] == ["easy", "a", "1", "1"]
    assert list(result.facts["strata"]) == ["easy, a", "easy, b", "hard, a", "hard, b"]
    assert result.columns.endswith("strata in 'band', 'level'")
    assert "row 5, band easy, level b: no grid" in result.html
    pq.write_table(table, tmp_path / "in.parquet")
    done = invoke("evaluate", tmp_path / "in.parquet", "--by", "band", "--by", "level")
    assert done.stdout == result.table + "\n"
    assert bs.evaluate(table, by=["level"]).by == "level"


@pytest.mark.parametrize("library", LIBRARIES[:2])
def test_categories_keep_their_order(library):
    module, names = pytest.importorskip(library), ["low", "high", "average"]
    columns = {"puzzle": [UNIQUE] * 3, "prediction": [SOLUTION] * 3}
    bands = {"text": ["high", "low", "low"]}
    if library == "pandas":
        bands["cut"] = module.cut([3, 1, 10], [0, 2, 6, 12])
        bands["kind"] = module.Categorical(bands["text"], names)
    else:
        bands["kind"] = module.Series(bands["text"], dtype=module.Enum(names))
    frame = module.DataFrame(columns | bands)
    strata = {band: list(bs.evaluate(frame, by=band).strata) for band in bands}
    assert strata.pop("cut", None) in (None, ["(0, 2]", "(2, 6]", "(6, 12]"])
    assert strata == {"text": ["high", "low"], "kind": ["low", "high"]}


def test_strata_are_a_data_frame_and_notes_are_told(tmp_path):
    rows = [(UNIQUE, SOLUTION, SOLUTION, "9"), (UNIQUE, "12", SOLUTION, "10")]
    result = bs.evaluate(table_of(rows), by="level")
    frame = result.to_pandas()
    assert frame["level"].tolist() == ["9", "10"]
    assert frame["right_share"].tolist() == [1, 0]
    low, high = result.strata["9"].interval("right")
    assert frame.loc[0, ["rows", "right_low", "right_high"]].tolist() == [1, low, high]
    assert bs.evaluate(table_of(rows)).to_pandas()["rows"].tolist() == [2]
    empty = bs.evaluate(table_of([]), by="level").to_pandas()
    assert (len(empty), list(empty)[:2]) == (0, ["level", "rows"])
    note = "malformed predictions: 1 (wrong in every cell); the first is row 2: 2 characters"
    assert note in str(result)
    assert note in result._repr_html_()
    assert "<td>9</td><td>1</td>" in result._repr_html_()


def test_strata_named_as_counts_keep_their_values_in_a_data_frame():
    columns = {"puzzle": [UNIQUE] * 3, "prediction": [SOLUTION] * 3, "clues": [24, 25, 24]}
    frame = bs.evaluate(pa.table(columns), by="clues").to_pandas()
    assert frame["given_clues"].tolist() == ["24", "25"]
    assert frame["clues"].tolist() == [8, 4]  # of the puzzles


@pytest.mark.parametrize("do", [bs.evaluate, bs.partition])
def test_strata_are_of_single_values_and_ranges_of_numbers(do):
    """The errors come from a worker, as they are."""
    columns = {"puzzle": [UNIQUE] * 2, "prediction": [SOLUTION] * 2}
    message = "column 'level' holds no numbers, of which `bins` are ranges; leave it out"
    for level in (["low", "high"], [True, False], [None, None]):
        with pytest.raises(bs.InputError, match=message):
            do(pa.table(columns | {"level": level}), by="level", bins=[1, 2])
    with pytest.raises(bs.InputError, match=r"^column 'tags' has values of list"):
        do(pa.table(columns | {"tags": [["a"], ["b"]]}), by="tags")


def test_bounds_have_all_digits_of_the_command(tmp_path):
    rows = [(UNIQUE, SOLUTION, SOLUTION, str(1_000_000 + k)) for k in range(4)]
    pacsv.write_csv(table_of(rows), tmp_path / "in.csv")
    by = ["--by", "level", "--bins", "1000001,1000002,1000003"]
    facts = json.loads(invoke("evaluate", tmp_path / "in.csv", *by, "--json").stdout)
    assert [one["rows"] for one in facts["strata"].values()] == [1, 1, 1, 1]


BIG = [2**60, 2**60 + 1, 2**60 + 2]
TEXTS, TWO = list(map(str, BIG)), {f"below {BIG[1]}": 1, f"{BIG[1]} and above": 2}
NEAR = ["below 2.0000001", "2.0000001 to below 2.0000002", "2.0000002 and above"]
OUTER = {"below 1": 1, "1 to below 2": 1, "2 and above": 1, "(none)": 2}
STRATA = [  # the column, the bins, and the rows of each stratum
    ([float("inf"), 1.5, float("-inf"), float("nan"), None], [1, 2], OUTER),
    (["inf", "1.5", "-Infinity", "NaN", " "], [1, 2], OUTER),
    ([2.0, 2.0000001, 2.0000002], [2.0000001, 2.0000002], dict.fromkeys(NEAR, 1)),
    *((level, [bound], TWO) for level in (BIG, TEXTS) for bound in (BIG[1], TEXTS[1])),
    (["x", "1,5", "ınf", "7", ""], [6], {"6 and above": 1, "(no number)": 3, "(none)": 1}),
    ([-0.0, 0.0, 0.0], (), {"0": 3}),
    (["-0.0", "0.0", "-0.5"], (), {"-0.5": 1, "0.0": 2}),
]


@pytest.mark.parametrize(("level", "bins", "rows"), STRATA)
def test_strata_of_numbers_of_any_size_and_of_what_is_none(level, bins, rows):
    n = len(level)
    table = pa.table({"puzzle": [UNIQUE] * n, "prediction": [SOLUTION] * n, "level": level})
    result = bs.evaluate(table, by="level", bins=bins)
    assert result.all.rows == n
    assert {name: stratum.rows for name, stratum in result.strata.items()} == rows


def texts_of(path):
    """Return the texts of a plot, which an SVG of matplotlib has as comments."""
    return [text.strip() for text in re.findall(r"<!--(.*?)-->", path.read_text(), re.S)]


def test_a_plot_has_the_shares_of_strata_with_intervals(tmp_path):
    from batchsolve.formats.pictures.charts import strata_figure

    rows = [(UNIQUE, SOLUTION, SOLUTION, each) for each in ["9", "10", "10", "x$y$"]]
    rows += [(UNIQUE, "12", SOLUTION, "10"), (UNIQUE, "12", "1" * 16, "no truth")]
    result = bs.evaluate(table_of(rows), by="level")
    result.plot(tmp_path / "one.svg")
    texts = texts_of(tmp_path / "one.svg")
    assert texts[0] == "0%"
    assert {"9 (1)", "10 (3)", "x$y$ (1)", "no truth (0)", "level (rows)"} <= set(texts)
    assert "80.0 % of 5 rows right" in texts
    [axes] = strata_figure(result.strata, result.all, "level").axes
    drawn = [bars.lines[2][0].get_segments()[0][:, 0].tolist() for bars in axes.containers]
    judged = [one for one in result.strata.values() if one.judged]
    assert drawn == [pytest.approx(one.interval("right")) for one in judged]
    shares = [bars.lines[0].get_xdata()[0] for bars in axes.containers]
    assert shares == pytest.approx([1, 2 / 3, 1])
    before = (tmp_path / "one.svg").read_bytes()
    result.plot(tmp_path / "one.svg")
    assert (tmp_path / "one.svg").read_bytes() == before
    result.plot(tmp_path / "one.pdf")
    assert (tmp_path / "one.pdf").read_bytes()[:5] == b"%PDF-"
    bs.evaluate(table_of(rows)).plot(tmp_path / "all.svg")
    assert "all rows (5)" in texts_of(tmp_path / "all.svg")


def test_a_plot_of_two_columns_has_their_combinations_in_order(tmp_path):
    rows = [(UNIQUE, SOLUTION, SOLUTION, each) for each in ["9", "10"]]
    table = table_of([*rows, (UNIQUE, "12", SOLUTION, "10")])
    bands = pa.DictionaryArray.from_arrays(pa.array([0, 1, 1]), pa.array(["low", "high"]))
    table = table.append_column("band", bands)
    pq.write_table(table, tmp_path / "in.parquet")
    bs.evaluate(table, by=["band", "level"]).plot(tmp_path / "a.svg")
    names = [each for each in texts_of(tmp_path / "a.svg") if each.startswith(("low", "high"))]
    assert names == ["low, 9 (1)", "high, 10 (2)"]
    words = ["evaluate", tmp_path / "in.parquet", "--by", "level", "--plot"]
    assert invoke(*words, tmp_path / "c.png").exit_code == 0
    assert (tmp_path / "c.png").read_bytes()[1:4] == b"PNG"
    why = "the name of a plot ends with .svg, .png or .pdf"
    assert why in refused(*words, tmp_path / "c.jpg")
    many = table_of([(UNIQUE, SOLUTION, SOLUTION, str(k)) for k in range(101)])
    with pytest.raises(bs.InputError, match="101 strata do not fit into a plot, which holds 100"):
        bs.evaluate(many, by="level").plot(tmp_path / "d.svg")


@pytest.mark.parametrize("library", LIBRARIES)
def test_each_row_is_told_right_or_wrong(library, tmp_path):
    swapped = SOLUTION[1] + SOLUTION[0] + SOLUTION[2:]
    pairs = [(SOLUTION, SOLUTION), (swapped, SOLUTION), ("12", SOLUTION), (SOLUTION, "1" * 16)]
    table = table_of([(UNIQUE, *pair, "a") for pair in pairs])
    verdicts = {"right": [True, False, False, None], "wrong_cells": [0, 2, 16, None]}
    expected, frame = table.to_pydict() | verdicts, frame_of(library, table)
    result = bs.evaluate(frame, rows=True, chunk=2)
    assert type(result.rows) is type(frame)
    assert pa.table(result.rows).to_pydict() == expected
    assert bs.evaluate(frame).rows is None
    assert bs.evaluate(frame, rows=tmp_path / "rows.parquet", chunk=2).rows is None
    assert pq.read_table(tmp_path / "rows.parquet").to_pydict() == expected
    pq.write_table(table, tmp_path / "in.parquet")
    assert bs.evaluate(tmp_path / "in.parquet", rows=True).rows.to_pydict() == expected


@pytest.mark.parametrize("letters", ["123456789ABCDEFG", "0123456789ABCDEF", "ABCDEFGHIJKLMNOP"])
def test_predictions_may_have_the_letters_of_truths_beside_puzzles_of_numbers(letters):
    digits = [(4 * row + row // 4 + column) % 16 for row in range(16) for column in range(16)]
    text = "".join(letters[digit] for digit in digits)
    puzzle = " ".join(str(digit + 1) if k % 3 else "0" for k, digit in enumerate(digits))
    table = pa.table({"puzzle": [puzzle], "prediction": [text], "solution": [text]})
    assert bs.evaluate(table).all.right == 1
    usual = "".join("123456789ABCDEFG"[digit] for digit in digits)
    assert bs.evaluate(table.set_column(1, "prediction", [[usual]])).all.right == 1
