"""Tables of rules and solutions without puzzles have blank grids."""

import pandas as pd
import pyarrow as pa
import pytest
from conftest import answers_to

import batchsolve as bs

CAGES = {"cages": "AABBCCDDEEFFGGHH", "sums": "A=3 B=7 C=7 D=3 E=3 F=7 G=7 H=3"}
SOLUTION = "1234341221434321"
RULES = {
    "cages": (CAGES, 16),
    "regions": ({"regions": "AABBAABBCCDDCCDD"}, 288),
    "constraints": ({"constraints": ".Shape~4x4.Cage~3~R1C1~R1C2"}, 48),
    "pairs": ({"pairs": "r1c1<r1c2"}, 144),
    "marks": ({"marks": "o" + "." * 15}, 144),
}


def solved(*rows, **how):
    return bs.solve_table(pa.Table.from_pylist(rows), limit=999, **how).to_pylist()


NAMES = ["solution", "answer", "solved", "Solutions", "target"]


@pytest.mark.parametrize(("kind", "name"), [*zip(RULES, NAMES, strict=True)])
def test_a_solution_is_not_solved_as_the_puzzle(kind, name):
    rules, count = RULES[kind]
    solutions = SOLUTION, SOLUTION[::-1][:14] + "12"
    for solution, agrees in zip(solutions, (True, False), strict=True):
        [found] = solved({**rules, name: solution})
        assert (found["puzzle"], found["n_solutions"]) == ("." * 16, count)
        assert (found["status"], found["agrees"]) == ("multiple", agrees)


LISTED = " ".join(f"10;{r},0;{r},1;{r},2;{r},3" for r in range(4))
TELLING = {kind: RULES[kind] for kind in ("cages", "regions", "constraints")} | {
    "lists of all cells": ({"cages": LISTED}, 288),
    "lists from 1": ({"cages": "3;1,1;1,2\n7;1,3;1,4"}, 48),
    "objects": ({"cages": '[{"sum": 3, "cells": [[1, 1], [1, 2]]}, {"cells": [[4, 4]]}]'}, 48),
}


@pytest.mark.parametrize("kind", TELLING)
def test_rules_that_tell_the_size_need_no_solution(kind):
    rules, count = TELLING[kind]
    [found] = solved(rules)
    assert (found["puzzle"], found["n_solutions"]) == ("." * 16, count)


def test_lists_of_some_cells_from_0_leave_the_size_open():
    cages = {"cages": "3;0,0;0,1\n7;0,2;0,3"}
    with pytest.raises(bs.InputError, match=r"blank grids of an unknown size.* name the `box`"):
        solved(cages)
    with pytest.raises(bs.InputError, match=r"each row is a cage, not a grid; .*\"cages\": "):
        solved({"sum": 3, "cells": [[0, 0], [0, 1]]})
    for found in (*solved(cages, box=(2, 2)), *solved({**cages, "box": "2x2"})):
        assert (found["puzzle"], found["n_solutions"]) == ("." * 16, 48)
    assert solved({"cages": "3;0,0;0,1\n7;0,8;8,8"})[0]["puzzle"] == "." * 81
    assert [row["n_solutions"] for row in solved({"cages": LISTED}, cages)] == [288, 48]


@pytest.mark.parametrize("cages", ["3;1,1;1,99999", "3;1,1;1," + "9" * 5000])
def test_cells_far_away_make_no_large_grid(cages):
    with pytest.raises(bs.InputError, match="blank grids of an unknown size"):
        solved({"cages": cages})


@pytest.mark.parametrize("kind", ["pairs", "marks"])
def test_others_need_a_box(kind):
    rules, count = RULES[kind]
    with pytest.raises(bs.InputError, match=r"blank grids of an unknown size.* name the `box`"):
        solved(rules)
    assert solved(rules, box=(2, 2))[0]["n_solutions"] == count


@pytest.mark.parametrize("solution", ["ABCDCDABBADCDCBA", " ".join(SOLUTION), list(SOLUTION)])
def test_the_alphabet_is_that_of_the_solutions(solution):
    [found] = solved({**CAGES, "solution": solution})
    text = solution if isinstance(solution, str) else " ".join(map(str, solution))
    assert (found["agrees"], found["solution"]) == (True, text)


def test_rows_have_the_size_that_they_tell():
    large = {"cages": "AB" + "." * 34, "sums": "A=1 B=?", "solution": None}
    found = solved({**CAGES, "solution": SOLUTION}, large)
    assert [len(row["puzzle"]) for row in found] == [16, 36]
    assert [row["status"] for row in found] == ["multiple", "multiple"]
    assert found[1]["solution"].startswith("1")


def test_a_column_of_solutions_can_be_named_as_that_of_puzzles():
    table = pa.table({"id": ["a"], "solution": [SOLUTION]})
    assert bs.solve_table(table, column="solution")["status"].to_pylist() == ["unique"]
    for wrong in ({}, {"rule_columns": "none"}):
        with pytest.raises(bs.InputError, match="no column is known as a puzzle column"):
            bs.solve_table(table, **wrong)


def test_a_column_that_may_hold_the_puzzles_is_named():
    with pytest.raises(bs.InputError, match="'clues' may be one; say so with `column`"):
        solved({**CAGES, "solution": SOLUTION, "clues": "?" * 16})


def test_files_and_commands(tmp_path):
    frame = pd.DataFrame([{**CAGES, "solution": SOLUTION}])
    frame.to_csv(tmp_path / "in.csv", index=False)
    files = tmp_path / "in.csv", tmp_path / "out.csv"
    summary = bs.solve_file(*files, limit=99)
    assert (summary.multiple, summary.disagree, summary.column) == (1, 0, None)
    assert summary.columns.startswith("no puzzle column: blank grids, solution column 'solution', ")
    assert pd.read_csv(tmp_path / "out.csv").puzzle.tolist() == ["." * 16]
    assert bs.dedupe(*files).kept == 1
    assert bs.augment_file(*files, 3).invalid == 0
    assert bs.read_problem(f"{tmp_path / 'in.csv'}#1").stack.size == 0
    judged = bs.evaluate(frame.assign(pred=SOLUTION))
    assert (judged.all.right, judged.all.cells, judged.column) == (1, 16, None)
    assert bs.solve_table(frame)["n_solutions"].tolist() == [2]


@pytest.mark.parametrize("kind", ["cages", "regions", "constraints"])
@pytest.mark.parametrize("empty", [None, ""])
def test_an_empty_puzzle_beside_rules_is_the_matter_of_its_row(kind, empty):
    rules, count = RULES[kind]
    why = "no grid; a 4×4 grid has 16 characters"
    for puzzles in ([empty], [empty] * 2, [empty, "." * 16], ["." * 16, empty]):
        columns = {name: [text] * len(puzzles) for name, text in rules.items()}
        found = answers_to({**columns, "puzzle": pa.array(puzzles, pa.string())}, limit=999)
        assert [(row["status"], row["n_solutions"], row["message"]) for row in found] == [
            ("multiple", count, None) if puzzle else ("invalid", None, why) for puzzle in puzzles
        ]


@pytest.mark.parametrize("kind", ["cages", "regions", "constraints"])
@pytest.mark.parametrize("solutions", [[None, SOLUTION], [SOLUTION, None]])
def test_rows_with_and_without_a_solution_are_blank_grids(kind, solutions):
    rules, count = RULES[kind]
    found = solved(*({**rules, "solution": solution} for solution in solutions))
    assert [(row["n_solutions"], row["agrees"]) for row in found] == [
        (count, solution and True) for solution in solutions
    ]


@pytest.mark.parametrize("lists", [[[None] * 16], [[None] * 16, None], [None, [None] * 16]])
@pytest.mark.parametrize("kind", RULES)
def test_lists_of_nulls_alone_are_blank_grids(kind, lists):
    rules, count = RULES[kind]
    found = [row["n_solutions"] for row in solved(*({**rules, "puzzle": each} for each in lists))]
    assert found == [count if puzzle else None for puzzle in lists]


@pytest.mark.parametrize("kind", RULES)
def test_full_grids_of_an_unknown_name_beside_rules_need_a_name(kind):
    rules, count = RULES[kind]
    from_0 = SOLUTION.translate(str.maketrans("1234", "0123"))
    for label in (SOLUTION, from_0, [int(c) - 1 for c in SOLUTION]):
        row = {**rules, "label": label}
        with pytest.raises(bs.InputError, match="'label' holds full grids beside rules: if they"):
            solved(row)
        [found] = solved(row, solution_column="label")
        if kind == "regions" or label == SOLUTION:
            assert (found["n_solutions"], found["agrees"]) == (count, True)
        else:
            assert "need digits from 1" in found["message"]
    assert solved({**rules, "label": SOLUTION}, column="label")[0]["status"] == "unique"
    assert solved({**rules, "label": SOLUTION[:15] + "0"})[0]["status"] == "unique"
