"""Grids that overlap: layouts found from drawings, counts by hand and by brute force."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from conftest import EASY, answers_to
from make_pictures import SAMURAI
from oracles import grids_by_rules

import batchsolve as bs
from batchsolve.problems import sudoku
from batchsolve.problems.rules import Cage, named, plain
from batchsolve.runs.export import export_run, found_covers
from batchsolve.runs.reading import picture

TWO = "....##\n....##\n......\n......\n##....\n##...."
LINE = TWO.replace("\n", "")
TWO_CLUES, CLUES = "1...##..1.##" + LINE[12:], [1, 0, 0, 0, 0, 0, 1] + [0] * 21


def drawn(corners, n=9):
    """Draw squares of N × N cells."""
    side = max(max(corner) for corner in corners) + n
    cells = np.full((side, side), "#")
    for r, c in corners:
        cells[r : r + n, c : c + n] = "."
    return "\n".join(map("".join, cells.tolist()))


def test_one_grid_is_a_plain_one():
    assert sudoku.overlapping(drawn([(0, 0)])) == plain(3, 3)
    assert sudoku.overlapping(" ...... \n" * 6, (2, 3)) == plain(2, 3)


def test_two_grids_of_four():
    """Each of the 288 grids leaves the other its box, and 12 ways to fill the rest."""
    problem = bs.Variant(sudoku.overlapping(TWO, (2, 2)))
    assert sudoku.overlapping(TWO.replace("\n", ""), (2, 2)) == problem.rules
    assert bs.count(problem).count == 288 * 12
    clues = [1, 2, 3, 4] + [0] * 24
    found = grids_by_rules(problem.rules, clues)
    assert len(found) == 12 * 12
    for engine in ("lanes", "dlx"):
        covers = bs.solutions(problem, problem.stack(clues), engine=engine, jobs=1)
        each = problem.grids(bs.Stacks.from_lists([cover.tolist() for cover in covers]))
        assert set(map(tuple, each.tolist())) == found


GATTAI_8 = [(0, 0), (0, 12), (0, 24), (6, 6), (6, 18), (12, 0), (12, 12), (12, 24)]


KNOWN = [
    ([(0, 0), (0, 12), (6, 6), (12, 0), (12, 12)], 41, 5 * 18),  # Samurai
    ([(0, 0), (0, 3), (3, 0), (3, 3)], 16, 4 * 12),  # Butterfly: lines of 9 in 12, shared
    ([(0, 6), (6, 0), (6, 12), (12, 6)], 32, 4 * 18),  # Sohei
    (GATTAI_8, 64, 8 * 18),
]


@pytest.mark.parametrize(("corners", "n_boxes", "n_lines"), KNOWN)
def test_known_layouts(corners, n_boxes, n_lines):
    rules = sudoku.overlapping(drawn(corners))
    assert sudoku.overlapping(drawn(corners), corners=corners) == rules
    assert len(rules.regions) == n_boxes
    assert len(rules.houses) == n_lines + n_boxes
    assert rules.n_cells == 9 * n_boxes


def test_a_samurai_has_one_solution():
    problem = bs.Variant(sudoku.overlapping(SAMURAI))
    lines = SAMURAI.splitlines()
    grid = [int(lines[r][c].replace(".", "0")) for r, c in sudoku.drawn_places(SAMURAI)]
    square = [[int(c) if c.isdigit() else 0 for c in line] for line in lines]
    result = bs.solve_batch([grid, [*grid[:2], 4, *grid[3:]]], problem, jobs=1)
    assert result.status.tolist() == ["unique", "invalid"]
    assert result.messages[1] == "digit 4 twice in a row: row 1, column 3 and row 1, column 4"
    [solution] = bs.solve_batch(np.array([square]), problem, jobs=1).solutions
    assert solution.tolist() == result.solutions[0].tolist()
    assert problem.check(np.array([grid]), solution[None]).all()
    digits = dict(zip(problem.rules.places, solution.tolist(), strict=True))
    for top, left in ((0, 0), (0, 12), (6, 6), (12, 0), (12, 12)):
        cells = [digits[top + r, left + c] for r in range(9) for c in range(9)]
        assert bs.Sudoku(3, 3).check(np.zeros((1, 81), np.uint8), np.array([cells], np.uint8))[0]


def test_squares_that_need_not_be_grids_are_told_by_their_corners():
    windmill = [(0, 3), (3, 12), (6, 6), (9, 0), (12, 9)]
    with pytest.raises(bs.ProblemError, match=r"can be a grid or not, .*; name the corners"):
        sudoku.overlapping(drawn(windmill))
    with pytest.raises(bs.ProblemError, match="no square of 4×4 cells begins at row 0, column 1"):
        sudoku.overlapping(TWO, (2, 2), [(0, 1)])
    assert len(sudoku.overlapping(drawn(windmill), corners=windmill).houses) == 5 * 18 + 37


# ---- puzzles as text ------------------------------------------------------------------------


def test_a_table_of_drawings(tmp_path):
    """Rows are drawings in one line or in lines; solutions have the form of the puzzles."""
    rows = ["1234" + LINE[4:], "12" + TWO[2:], LINE[1:], "." * 36, "11" + LINE[2:]]
    found = answers_to({"puzzle": rows}, box=(2, 2), limit=1000, jobs=1)
    states = [(row["status"], row["n_solutions"]) for row in found]
    assert states == [("multiple", 144), ("multiple", 288), *[("invalid", None)] * 3]
    assert [row["message"] for row in found[2:]] == [
        "35 characters; a 6×6 grid has 36",
        "row 1, column 5: '.' where the layout of the table has outside",
        "digit 1 twice in a row: row 1, column 1 and row 1, column 2",
    ]
    solution = found[0]["solution"]
    assert [k for k, c in enumerate(solution) if c == "#"] == [4, 5, 10, 11, 24, 25, 30, 31]
    given = {"puzzle": rows[:1], "solution": [solution]}
    assert answers_to(given, "agrees", box=(2, 2), jobs=1) == [True]
    texts = bs.solve_batch([SAMURAI.replace("\n", "")], jobs=1)
    assert texts.status.tolist() == ["unique"]
    assert len(texts.text()[0]) == 441


def test_answers_of_a_drawing_that_is_not_a_square_can_be_read_again():
    drawing = "\n".join([f"{'.' * 6}###"] * 2 + ["." * 9] * 4 + [f"###{'.' * 6}"] * 2)
    images = bs.augment(pa.table({"puzzle": ["1" + drawing[1:]]}), 2, box=(2, 3), jobs=1)
    for column in ("puzzle", "solution"):
        solved = bs.solve_table(images, box=(2, 3), column=column, limit=1, jobs=1)
        assert solved["status"].to_pylist() == ["solved"] * 2
        images = solved.select([column, "solution"])


CELLS = {place: cell for cell, place in enumerate(sudoku.drawn_places(TWO))}
FIRST, SECOND = ([CELLS[r + k, c + k] for r in range(4) for c in range(4)] for k in (0, 2))


def in_both(rules):
    """The rules of a grid of 4x4, in both grids of `TWO`."""
    base = sudoku.overlapping(TWO, (2, 2))
    moved = {
        name: tuple(dict.fromkeys(tuple(g[c] for c in some) for g in (FIRST, SECOND) for some in x))
        for name, x in (("houses", rules.houses), ("groups", rules.groups))
    }
    pairs = tuple((g[a], g[b], how) for g in (FIRST, SECOND) for a, b, how in rules.pairs)
    return base + replace(base, **moved, pairs=pairs)


def own(**fields):
    """The rules of `TWO` with some more."""
    base = sudoku.overlapping(TWO, (2, 2))
    return base + replace(base, houses=(), **fields)


def all_consecutive():
    """The pairs of neighbours of `TWO`, of which one is consecutive."""
    beside = [(a, b) for a in CELLS for b in ((a[0] + 1, a[1]), (a[0], a[1] + 1)) if b in CELLS]
    pairs = [(CELLS[a], CELLS[b]) for a, b in beside]
    return tuple((*pair, "consecutive" if pair == (11, 12) else "apart") for pair in pairs)


DRAWN = [
    ({"rules": "x"}, in_both(named("x", 2, 2))),
    ({"rules": "antiking+nonconsecutive"}, in_both(named("antiking+nonconsecutive", 2, 2))),
    (
        {"cages": "AA..##A...##..B.....BC..##.C..##....", "sums": "A=6 B=5 C=?"},
        own(cages=(Cage((0, 1, 4), 6), Cage((10, 16), 5)), groups=((17, 21),)),
    ),
    (
        {"marks": "e...##o...##........ee..##....##...o"},
        own(marks=((0, 10), (4, 5), (16, 10), (17, 10), (27, 5))),
    ),
    (
        {"pairs": "r1c1<r2c1 r3c4-r3c5 r5c6:r6c6"},
        own(pairs=((0, 4, "less"), (11, 12, "consecutive"), (23, 27, "double"))),
    ),
    ({"pairs": "r3c4-r3c5 all-consecutive"}, own(pairs=all_consecutive())),
    ({"constraints": ".Thermo~R1C1~R2C1"}, own(pairs=((0, 4, "less"),))),
    ({"constraints": ".Shape~4x4.Thermo~R3C4~R3C5"}, "for one square grid, and the grids of the"),
    ({"pairs": "r1c5<r1c6"}, "the grid has no cell 'r1c5'"),
    ({"cages": "AA", "sums": "A=3"}, "28 cells have 28 labels (or 36, with those outside), not 2"),
    ({"rules": "samurai"}, "the layout 'samurai' has grids of 9×9 with boxes of 3×3"),
]


@pytest.mark.parametrize("engine", ["lanes", "dlx"])
def test_rules_of_rows_of_drawings(engine):
    """Named rules hold in each grid; cells, cages, marks and pairs are those of the drawing."""
    names = ("puzzle", "rules", "cages", "sums", "marks", "pairs", "constraints")
    rows = [{**dict.fromkeys(names, ""), "puzzle": TWO_CLUES, **row} for row, _ in DRAWN]
    found = answers_to(pa.Table.from_pylist(rows), box=(2, 2), limit=3000, jobs=1, engine=engine)
    for answer, row, (_, rules) in zip(found, rows, DRAWN, strict=True):
        if isinstance(rules, str):
            assert answer["status"] == "invalid"
            assert rules in answer["message"]
            continue
        grids = grids_by_rules(rules, CLUES)
        assert answer["n_solutions"] == len(grids), row
        if grids:
            assert tuple(int(c) for c in answer["solution"] if c != "#") in grids


def test_regions_of_drawings():
    """Regions in place of boxes: lines of the two grids, and regions of any shape."""
    regions = "AABB##ABBD##ACDDEECCDEFF##CEGF##GGGF"
    labels = regions.replace("#", "")
    base = sudoku.overlapping(TWO, (2, 2))
    boxes = {house for house in base.houses if base.step(house) is None}
    houses = [house for house in base.houses if house not in boxes]
    houses += [tuple(k for k, a in enumerate(labels) if a == label) for label in "ABCDEFG"]
    puzzle = "12..##34..##"
    table = {"puzzle": [puzzle + LINE[12:]] * 2, "regions": [regions, labels]}
    grids = grids_by_rules(replace(base, houses=tuple(houses)), [1, 2, 0, 0, 3, 4, 0, 0] + [0] * 20)
    assert answers_to(table, "n_solutions", box=(2, 2), limit=3000, jobs=1) == [len(grids)] * 2


def test_a_rule_for_all_drawings_and_for_one(tmp_path):
    n = len(grids_by_rules(in_both(named("x", 2, 2)), CLUES))
    how = {"box": (2, 2), "rules": "x", "limit": 999}
    assert answers_to({"puzzle": [TWO_CLUES]}, "n_solutions", **how) == [n]
    (tmp_path / "two.txt").write_text("\n".join(TWO_CLUES[k : k + 6] for k in range(0, 36, 6)))
    assert bs.count(bs.read_problem(tmp_path / "two.txt", box=(2, 2), rules="x")).count == n
    path = tmp_path / "in.csv"
    path.write_text(f"puzzle,rules\n{LINE},\n{TWO_CLUES},x\n12{LINE[2:]},\n{LINE},\n")
    readings = [bs.read_problem(f"{path}#{k}", box=(2, 2)) for k in (2, 3)]
    assert [bs.count(each).count for each in readings] == [n, 288]
    assert readings[1].stack.tolist() == [0, 5]
    bs.dedupe(path, tmp_path / "out.csv", box=(2, 2))
    assert (tmp_path / "out.csv").read_text().split() == path.read_text().split()[:4]
    bs.solve_file(path, tmp_path / "out.npy", box=(2, 2))
    assert np.load(tmp_path / "out.npy").shape == (4, 28)


@pytest.mark.parametrize("name", sorted(sudoku.LAYOUTS))
def test_layouts_with_a_name(name):
    """The drawing of most of them gives the same rules."""
    problem = bs.Variant(sudoku.grid_rules(9, rules=name))
    assert {len(house) for house in problem.rules.houses} == {9}
    if name in ("windmill", "clueless1", "clueless2"):
        with pytest.raises(bs.ProblemError, match=f"name the corners of the grids, or .*{name}"):
            sudoku.overlapping(problem.rules.drawing)
    else:
        assert set(sudoku.overlapping(problem.rules.drawing).houses) == set(problem.rules.houses)
    [solution] = bs.solutions(problem, jobs=1, limit=1)
    text = problem.format(problem.grids(bs.Stacks.from_lists([solution.tolist()]))[0])
    rows = {"puzzle": [text, text], "rules": [name, f"{name}+x"], "solution": [text] * 2}
    answers = answers_to(rows, jobs=1)
    assert [row["status"] for row in answers] == ["unique", "invalid"]
    assert answers[0]["agrees"]
    assert bs.solve(text, rules=name).status == "unique"


def test_layouts_that_do_not_fit():
    with pytest.raises(bs.ProblemError, match="laid out as samurai or sohei, not both"):
        bs.solve(SAMURAI, rules="samurai+sohei")
    with pytest.raises(bs.ProblemError, match="the grids of the table are not laid out as 'sohei'"):
        bs.solve(SAMURAI, rules="sohei")
    rules = ["samurai", "windmill", ""]
    answers = answers_to({"puzzle": [SAMURAI] * 3, "rules": rules}, jobs=1)
    assert [row["status"] for row in answers] == ["unique", "invalid", "unique"]
    assert "laid out as samurai or windmill, not both" in answers[1]["message"]
    rules = ["", "", "samurai", "x+samurai"]
    answers = answers_to({"puzzle": [EASY] * 4, "rules": rules})
    assert [row["status"] for row in answers] == ["unique", "unique", "invalid", "invalid"]
    why = "the grids of the table are not laid out as 'samurai'"
    assert all(why in row["message"] for row in answers[2:])


def test_a_puzzle_in_a_file_is_solved_shown_listed_and_drawn(tmp_path):
    (tmp_path / "two.txt").write_text("12" + TWO[2:] + "\n")
    reading = bs.read_problem(tmp_path / "two.txt", box=(2, 2))
    lines = ["+-----+-----+", "| 1 2 | . . |", "| . . | . . |"]
    assert picture(reading).splitlines()[:3] == [f"{line}      " for line in lines]
    answer = bs.solve((tmp_path / "two.txt").read_text(), box=(2, 2))
    assert (answer.status, len(answer.solution)) == ("multiple", 36)
    assert answer._repr_html_().count("bs-digit") == 2 + 28  # two in the style
    assert reading.problem.format(reading.problem.parse(answer.solution)) == answer.solution
    with bs.Run(tmp_path / "run", reading, collect=True) as run:
        run.search(jobs=1)
    export_run(str(tmp_path / "run"), str(tmp_path / "out.csv"))
    grids = (tmp_path / "out.csv").read_text().split()[1:]
    assert len(set(grids)) == 288
    assert {grid[4:6] for grid in grids} == {"##"}
    assert len(found_covers(reading, str(tmp_path / "out.csv"), 1000)) == 288


def test_wrong_cells_of_a_drawing_are_told_by_their_place():
    with pytest.raises(bs.InputError, match=r"row 1, column 2: '7' is not in the alphabet 1-4"):
        bs.solve(".7" + TWO[2:], box=(2, 2))
    with pytest.raises(bs.InputError, match="grids of 40 digits that overlap have no alphabet"):
        bs.solve(drawn([(0, 0), (5, 8)], 40), box=(5, 8))


DRAWINGS = ["12#.", "....\n..#.\n"]
OTHERS = ["12#", "12 #.", "#abc\n....", "...#\n....\n.."]


@pytest.mark.parametrize("text", [*DRAWINGS, *OTHERS])
def test_drawings_have_the_mark_behind_a_cell(text):
    assert (sudoku.drawing_of(text) is not None) == (text in DRAWINGS)
