"""Calls that cannot be answered raise one error that says why; see also test_arguments.py."""

import os

import numpy as np
import pyarrow as pa
import pytest
from conftest import DATASETS

import batchsolve as bs
from batchsolve.runs.split import write_parts

TWELVE = bs.ExactCover.from_options([[k] for k in range(12)])
PRICED = bs.ExactCover([0, 1], [0], 1, costs=[3])
FIVES = [[0] * 81, [5, 5] + [0] * 79]
SUDOKU, BLANK = bs.Sudoku(2, 2), np.zeros((2, 16), np.uint8)
PART = bs.split("queens:5", depth=1).stacks.between(0, 1)
GROUP = bs.symmetries(bs.family("queens:4"))
TABLE = pa.table({"puzzle": ["." * 16], "prediction": ["12"], "solution": ["1"], "level": ["1"]})
UNNAMED = TABLE.rename_columns(["puzzle", "a", "solution", "level"])
NO_RULE = "'{}' takes no branching rule"
WRONG_CALLS = [
    # cheapest covers
    ("cheapest covers is a whole number, not 1.5", lambda: bs.cheapest(PRICED, 1.5)),
    ("a limit and the cheapest .* do not go together", lambda: bs.cheapest(PRICED, limit=3)),
    ("'bits' does not look at costs; .* do: dlx", lambda: bs.cheapest(PRICED, engine="bits")),
    ("'dlx:first' does not look at costs", lambda: bs.cheapest(PRICED, branch="first")),
    (r"no costs; write \|\$25 behind their items", lambda: bs.cheapest("queens:5")),
    # branching rules
    ("unknown branching rule 'last'; choose from mrv", lambda: bs.count("queens:4", branch="last")),
    ("branch is text, not None", lambda: bs.count("queens:4", branch=None)),
    (f"{NO_RULE.format('bits')}; .*: dlx, algo", lambda: first("bits")),
    (NO_RULE.format("memo"), lambda: first("memo")),
    ("do not go together", lambda: first("dlx:sharp")),
    ("no primary item is one that .* prefers", lambda: bs.count("queens:4", branch="sharp")),
    # symmetries
    ("more symmetries than can be tried", lambda: up_to_symmetry("sudoku:2x2", True)),
    (r"Symmetries\(8 of 16 options\) are not of", lambda: up_to_symmetry("queens:5", GROUP)),
    ("up_to_symmetry is True or a group", lambda: up_to_symmetry("queens:5", "rotations")),
    ("a part .* cannot be counted up to symm", lambda: up_to_symmetry("queens:5", True, PART)),
    ("only counts", lambda: bs.count("queens:5", up_to_symmetry=True, engine="memo")),
    ("more than 22,369,621 symmetries", lambda: bs.structure_symmetries(TWELVE)),
    ("option 36 does not exist", lambda: bs.structure_symmetries(bs.family("queens:6"), [36])),
    # tables of counted subtrees
    ("only counts; it solves no puzzles", lambda: bs.solve_batch(BLANK, engine="memo")),
    ("has no tree to estimate", lambda: bs.estimate(SUDOKU, engine="memo")),
    ("only counts, and counts everything", lambda: bs.count(SUDOKU, engine="memo", limit=3)),
    (f"a table of {2**30:,} MB", lambda: bs.count(SUDOKU, engine=f"memo:{2**30}")),
    # samples
    ("the graph has no covers to draw", lambda: bs.sample("dominoes:3x3", 1)),
    ("4 covers in all, not 5 different", lambda: bs.sample("queens:6", 5, distinct=True)),
    ("the size of a sample is 0 to 100,000,000, not -1", lambda: bs.sample("queens:6", -1)),
    ("leave out distinct", lambda: bs.sample("queens:6", 1, weighted=True, distinct=True)),
    ("leave out `memory`", lambda: bs.sample("queens:6", 1, weighted=True, memory=9)),
    # rows that are problems
    ("no input; name a file, or - for", lambda: bs.solve_file([], "out.csv")),
    ("no input; name a file, or - for", lambda: bs.partition([], "parts")),
    ("'memo' only counts", lambda: solve_names(engine="memo")),
    ("only tables of grids have 'box'", lambda: solve_names(box=(2, 2))),
    ("only tables have a column of problems", lambda: solve_names(column="x")),
    # tables and arrays of grids
    ("nor holds grids: 'a', 'b'", lambda: bs.solve_table(pa.table({"a": ["x"], "b": ["y"]}))),
    (r"shape \(n, N²\) or \(n, N, N\), not \(2, 15\)", lambda: bs.solve_batch(BLANK[:, 1:])),
    (r"not \(16,\)", lambda: bs.solve_batch(BLANK[0])),
    ("grid 0 has 5 in row 1, column 1; digits are 1 to 4", lambda: bs.solve_batch(BLANK + 5)),
    # ratings, canonical forms and partial covers
    ("only 9×9 grids", lambda: bs.rate(TABLE, column="puzzle")),
    (r"\.npy", lambda: bs.rate_file(DATASETS / "sudoku9.csv", "out.npy")),
    ("grid 1: digit 5 twice in a row: row 1, column 1 and", lambda: bs.canonical_forms(FIVES)),
    ("digit 2 twice in a row", lambda: bs.split(SUDOKU, [1, 5])),
    ("options 0 and 1 both cover item r1c1", lambda: bs.draw("dominoes:2x2", [0, 1])),
    # letters, which are digits in either case
    ("'a' is also a digit", lambda: bs.solve("A" + "." * 15, alphabet="A-D", blank="a")),
    # a problem for each grid
    ("1 problem for 2 grids", lambda: bs.solve_batch(BLANK, [SUDOKU])),
    ("the same cells and digits", lambda: bs.solve_batch(BLANK, [SUDOKU, bs.Sudoku(3, 3)])),
    ("is a Sudoku or a Variant, not '2x2'", lambda: bs.solve_batch(BLANK, [SUDOKU, "2x2"])),
    ("texts have one problem", lambda: bs.solve_batch(["." * 16] * 2, [SUDOKU] * 2)),
    # streams of tables
    ("tables are an iterable .*, not a dict", lambda: bs.solve_stream({"a": TABLE})),
    ("takes no `time_limit`; `node_limit` does not", lambda: solve_stream(time_limit=1)),
    ("limit is 1 or more", lambda: solve_stream(limit=0)),
    # progress, at the call of an iterator and where there is nothing to tell
    ("on_progress is a function or True, not 6", lambda: bs.generate(on_progress=6)),
    ("on_progress is a function or True, not 6", lambda: solve_stream(on_progress=6)),
    # columns of predictions
    ("unknown column 'x'; choose from 'puzzle'", lambda: bs.evaluate(TABLE, prediction="x")),
    ("as that of predictions and of puzzles", lambda: bs.evaluate(TABLE, prediction="puzzle")),
    ("name it with `by`", lambda: bs.evaluate(TABLE, bins=[1])),
    ("bins ascend", lambda: bs.evaluate(TABLE, by="level", bins=[2, 1])),
    ("taken as that of predictions and of truths", lambda: bs.evaluate(TABLE, truth="prediction")),
    ("say which with `prediction`", lambda: bs.evaluate(UNNAMED)),
    # columns of solutions
    ("unknown column 'x'; choose from 'puzzle'", lambda: solve_table(solution_column="x")),
    ("as that of puzzles and of solutions", lambda: solve_table(solution_column="puzzle")),
    ("solution_column is text, not 3", lambda: solve_table(solution_column=3)),
    # parts of a table
    ("add up to 1, such as .*, not 0.9", lambda: partition(parts={"a": 0.5, "b": 0.4})),
    ("add up to 1, such as .*, not 'a=0.5,b'", lambda: partition(parts="a=0.5,b")),
    ("add up to 1, such as .*, not 1.000001", lambda: partition(parts="a=0.9,b=0.1000011")),
    ("name a part twice: 'a=0.8,a=0.2'", lambda: partition(parts="a=0.8,a=0.2")),
    ("named by a word, such as train, not '../a'", lambda: partition(parts="../a=0.5,b=0.5")),
    ("unknown column 'x'; choose from 'puzzle', 'pred", lambda: partition(by="x")),
    ("`bins` are of the values of one column", lambda: partition(bins=[1])),
    ("the rows are read twice; write them to a file", lambda: bs.partition("-", "parts")),
    # parts of a search
    ("to 1,000,000, not 1,000,001", lambda: write_parts(SUDOKU, "x", depth=1, files=1_000_001)),
    # projections and sums
    ("items are a list of names or patterns", lambda: bs.count_projections("queens:6", [])),
    ("items are a list of names or patterns", lambda: bs.count_projections("queens:6", "r1")),
    ("unknown sum 'size'", lambda: bs.distribution("latin:4", "size")),
]


def first(engine):
    return bs.count("queens:4", branch="first", engine=engine)


def up_to_symmetry(problem, group, stack=()):
    return bs.count(problem, stack, up_to_symmetry=group)


def solve_names(**how):
    return bs.solve_file(["queens:4"], "out.csv", **how)


def solve_stream(**how):
    return bs.solve_stream([TABLE], **how)


def solve_table(**how):
    return bs.solve_table(TABLE, column="puzzle", **how)


def partition(**how):
    return bs.partition(TABLE, **how)


@pytest.mark.parametrize(("message", "call"), WRONG_CALLS)
def test_calls_that_cannot_be_answered(message, call, here):
    with pytest.raises((bs.InputError, bs.ProblemError), match=message):
        call()
    assert not os.listdir(here)
