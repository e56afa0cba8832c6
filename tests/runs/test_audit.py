"""The audit of a training and a test table finds what was put into them."""

import hashlib
import json
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
import pytest
from conftest import PUZZLE, SOLUTION, dataset, with_a_clue_more
from invoking import invoke

import batchsolve as bs


def made_up(n, n_leaks, n_wrong, n_more):
    """Return a training and a test table.

    Some rows of the test table are images of rows of the other, two are copies, some have their
    solution and a clue more (half of them moved), and some have a wrong solution.
    """
    table = dataset("sudoku9.csv", "puzzle", "solution").slice(10_000 - n)
    train, test = table.slice(n // 5), table.slice(0, n // 5)
    leaks = bs.augment(train.slice(0, n_leaks), seed=1).drop_columns("source_row")
    more = with_a_clue_more(train.slice(n_leaks + 2, n_more))
    moved = bs.augment(more.slice(n_more // 2), seed=2).drop_columns("source_row")
    solutions = pc.replace_substring(test["solution"].slice(0, n_wrong), "1", "2")
    wrong = test.slice(0, n_wrong).set_column(1, "solution", solutions)
    rows = [leaks, train.slice(n_leaks, 2), more.slice(0, n_more // 2), moved, wrong]
    return train, pa.concat_tables([*rows, test.slice(n_wrong)])


TRAIN, TEST = made_up(200, 7, 3, 10)


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audit")
    paths = [str(folder / name) for name in ("train.csv", "test.csv")]
    for path, table in zip(paths, (TRAIN, TEST), strict=True):
        pacsv.write_csv(table, path)
    return paths


NONE = dict.fromkeys(("invalid", "unsolvable", "multiple", "disagree", "undecided"), 0)
REPEATED = {"repeated": 0, "repeated_up_to_symmetry": 0}
LEAKS = {"puzzle": 2, "puzzle_up_to_symmetry": 9, "solution": 5, "solution_up_to_symmetry": 10}


def test_faults_and_leaks_of_both_kinds_are_counted(paths):
    frames = [pd.read_csv(path, dtype=str) for path in paths]
    for given, how in ((paths, {}), ([TRAIN, TEST], {"jobs": 2, "chunk": 7}), (frames, {})):
        found = bs.audit(*given, **how)
        facts = found.facts
        assert facts["train"] == {"rows": 160, **NONE, **REPEATED, **dict.fromkeys(LEAKS, 0)}
        assert facts["test"] == {"rows": 59, **NONE, **REPEATED, **LEAKS, "disagree": 3}
        assert facts["leaks"] == found.test.leaks == 19
        assert not found.complete
    assert bs.audit(TRAIN, TEST.slice(22)).complete


def test_texts_of_grids_have_no_checksum():
    found = bs.audit(PUZZLE, PUZZLE)
    assert (found.test.leaks, found.checksums) == (1, {})


def test_rows_that_cannot_be_compared_are_counted():
    rows = [PUZZLE, "11..............", "12", "." * 16, "." * 16]
    found = bs.audit(pa.table({"puzzle": rows[:1]}), pa.table({"puzzle": rows}))
    test = found.test
    assert (test.invalid, test.multiple, test.repeated, test.puzzle) == (2, 2, 1, 1)
    ruled = pa.table({"puzzle": rows[:1], "rules": ["x"]})
    found = bs.audit(ruled, ruled)
    assert (found.test.undecided, found.test.puzzle_up_to_symmetry) == (1, 1)
    assert "without a canonical form, compared as written      1     1" in str(found)
    with pytest.raises(bs.InputError, match="test: the columns of rules are none, and those of"):
        bs.audit(ruled, pa.table({"puzzle": rows}))


def test_the_command_prints_every_number(paths):
    done = invoke("audit", *paths)
    assert done.exit_code == 1
    first, _, *lines = done.stdout.splitlines()
    assert first == f"{hashlib.sha256(Path(paths[0]).read_bytes()).hexdigest()}  {paths[0]}"
    shown = {" ".join(line.split()) for line in lines}
    assert "puzzle of a training row, up to symmetry 9" in shown
    assert "solution of a training row, up to symmetry 10" in shown
    assert "rows 160 59" in shown
    facts = json.loads(invoke("audit", *paths, "--json").stdout)
    assert facts.pop("seconds") > 0
    assert facts == bs.audit(*paths).facts
    assert invoke("audit", paths[0], "gone.csv").exit_code == 2
    page = bs.audit(TRAIN, TEST)._repr_html_()
    assert "<td>given solution wrong</td><td>0</td><td>3</td>" in page


def test_malformed_rows_with_a_solution_have_nothing_in_common_with_others(caplog):
    """Their puzzles are unknown, so that nothing can be said of their clues."""
    right = pa.table({"puzzle": [PUZZLE], "solution": [SOLUTION]})
    wrong = pa.table({"puzzle": ["12", "ab", "11" + "." * 14], "solution": [SOLUTION] * 3})
    for train, test in ((right, wrong), (wrong, right), (wrong, wrong)):
        found = bs.audit(train, test)
        assert found.test.leaks == found.test.solution == found.test.repeated == 0
        assert found.train.invalid + found.test.invalid in (3, 6)
        with caplog.at_level("INFO"):
            assert len(bs.dedupe(test, against=train)) == len(test)
    assert "3 invalid in the files of --against" in caplog.text
    assert "same solution" not in caplog.text
    parts = bs.partition(pa.concat_tables([right, wrong[:2]]), parts="a=0.34,b=0.33,c=0.33")
    assert [len(part) for part in parts.values()] == [1, 1, 1]


def test_which_lines_include_which():
    other, image = "1243..2..3.....4", PUZZLE.translate(str.maketrans("1234", "4321"))
    test = pa.table({"puzzle": [image, image, PUZZLE, other, other]})
    found = bs.audit(pa.table({"puzzle": [PUZZLE]}), test).test
    assert (found.puzzle, found.puzzle_up_to_symmetry) == (1, 3)
    assert (found.repeated, found.repeated_up_to_symmetry) == (2, 1)  # an image, other; and other
    assert (found.solution, found.solution_up_to_symmetry) == (2, 2)


RULES = {  # solution -> rules of its rows
    SOLUTION: {"marks": ["", "o" + "." * 15]},
    "1234234134124123": {"regions": ["AAAABBBBCCCCDDDD"] * 2},  # clashes in the boxes
}


@pytest.mark.parametrize(("solution", "rules"), RULES.items())
def test_solutions_leak_whatever_the_rules_of_their_rows(solution, rules):
    puzzles = [solution[:4] + "." * 12, "." * 12 + solution[12:]]
    table = pa.table({"puzzle": puzzles, "solution": [solution] * 2, **rules})
    found = bs.audit(table.slice(0, 1), table.slice(1)).test
    assert (found.solution, found.solution_up_to_symmetry) == (1, 1)
