"""Documents of puzzles: each kind as rules, against brute force; documents that do not fit."""

import json
import re

import pyarrow.parquet as pq
import pytest
from conftest import answers_to
from oracles import grids_by_rules, solved as square

import batchsolve as bs
from batchsolve.formats.other_programs import is_grid_document, read_grid_document
from batchsolve.problems.rules import Cage, Rules, plain, regions_of
from batchsolve.problems.sudoku import LAYOUTS

PLAIN, LATIN = plain(2, 2), Rules.square(4, ())
BLANK, ZEROS = "- - - -", "0 0 0 0"


def lines(*rows):
    return "\n".join(rows)


def document(name, problem, solution=""):
    puzzles = {"a": {"problem": problem, "solution": solution, "source": "", "info": ""}}
    return json.dumps({"count": 1, "count_sol": 1, "name": name, "data": puzzles}).encode()


def with_own(base, **own):
    return base + Rules(4, base.places, (), **own)


SIDES = [(a, b) for a in range(16) for b in (a + 1, a + 4) if b < 16 and (b - a == 4 or b % 4)]
CAGES = (Cage((0, 1), 3), Cage((2, 6), 5), Cage((10, 11, 14, 15), 7))
BARS = dict.fromkeys([(0, 1), (6, 10)], "consecutive")
KINDS = {
    "Sudoku": (lines("1 - - -", "- - 3 -", BLANK, "- 2 - -"), PLAIN, "1.....3......2.."),
    "JigsawSudoku": (
        lines("1 - - -", *[BLANK] * 3, "a a a b", "a c b b", "c c b d", "c d d d"),
        Rules.square(4, regions_of("aaabacbbccbdcddd", 4)),
        "1" + "." * 15,
    ),
    "KillerSudoku": (
        lines("3 - 5 -", *[BLANK] * 2, "- - 7 -", "1 1 2 3", "- - 2 3", *["- - 4 4"] * 2),
        with_own(PLAIN, cages=CAGES, groups=((3, 7),)),
        "." * 16,
    ),
    "EvenOddSudoku": (
        lines("E O - -", "- 2 O -", BLANK, "- - - E"),
        with_own(PLAIN, marks=((0, 10), (1, 5), (6, 5), (15, 10))),
        ".....2..........",
    ),
    "ConsecutiveSudoku": (
        lines("- - - 4", *[BLANK] * 3, "1 4 0 0", "0 0 2 0", "0 0 8 0", "0 0 0 0"),
        with_own(LATIN, pairs=tuple((*side, BARS.get(side, "apart")) for side in SIDES)),
        "...4............",
    ),
    "Renban": (
        lines("2 - - -", *[BLANK] * 3, "1 1 - 2", "3 1 - 2", "- - 4 4", "- - 4 -"),
        with_own(
            LATIN,
            groups=((0, 1, 5), (3, 7), (10, 11, 14)),
            pairs=(
                *((0, 1, "within3"), (0, 5, "within3"), (1, 5, "within3"), (3, 7, "within2")),
                *((10, 11, "within3"), (10, 14, "within3"), (11, 14, "within3")),
            ),
        ),
        "2" + "." * 15,
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_against_brute_force(tmp_path, kind):
    text, rules, puzzle = KINDS[kind]
    grids = grids_by_rules(rules, [0 if c == "." else int(c) for c in puzzle])
    printed = min(grids, default=(0,) * 16)
    solution = lines("4 4", *(" ".join(map(str, printed[k : k + 4])) for k in range(0, 16, 4)))
    (tmp_path / "puzzles.json").write_bytes(document(kind, f"4 4\n{text}", solution))
    bs.solve_file(tmp_path / "puzzles.json", tmp_path / "out.parquet", jobs=1, limit=600)
    [row] = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert (row["id"], row["puzzle"], row["n_solutions"]) == ("a", puzzle, len(grids))
    assert len(grids) < 600
    if grids:
        assert tuple(map(int, row["solution"])) in grids
        assert row["agrees"]


def test_numbers_of_large_grids():
    """Digits of 16x16 are numbers."""
    grid = square(4, 4).tolist()
    solution = lines("16 16", *(" ".join(map(str, row)) for row in grid))
    problem = lines("16 16", *(" ".join(["-", *map(str, row[1:])]) for row in grid))
    [row] = answers_to(read_grid_document(document("Sudoku", problem, solution)), jobs=1)
    assert (row["status"], row["agrees"]) == ("unique", True)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout):
    """A blank puzzle has solutions, which are those of the layout; `-` is outside or blank."""
    places = {place for grid in LAYOUTS[layout] for place in grid}
    n_rows, n_columns = (max(place[k] for place in places) + 1 for k in range(2))
    problem = lines(f"{n_rows} {n_columns}", *[" ".join("-" * n_columns)] * n_rows)
    columns = read_grid_document(document(f"{layout.capitalize()}Sudoku", problem))
    assert columns["puzzle"][0].count(".") == len(places)
    assert len(columns["puzzle"][0]) == n_rows * n_columns
    [row] = answers_to(columns, jobs=1)
    assert row["status"] == "multiple"
    text = row["solution"]
    solved = [" ".join(text[k : k + n_columns]) for k in range(0, len(text), n_columns)]
    solution = lines(f"{n_rows} {n_columns}", *solved).replace("#", "-")
    for clues, status in ((solution, "unique"), (problem, "multiple")):
        data = document(f"{layout.capitalize()}Sudoku", clues, solution)
        [row] = answers_to(read_grid_document(data), jobs=1)
        assert (row["status"], row["agrees"]) == (status, True)


def with_another(kind, puzzle):
    """Return the columns of a document that has this puzzle beside one of its kind."""
    whole = json.loads(document(kind, "4 4\n" + KINDS[kind][0]))
    whole["data"]["b"] = puzzle
    return read_grid_document(json.dumps(whole).encode())


UNFIT = [
    ("Sudoku", lines("- - - 12", "- - -", BLANK, BLANK), "characters; a 4×4 grid has 16"),
    ("Sudoku", lines(*[BLANK] * 5), "characters; a 4×4 grid has 16"),
    ("JigsawSudoku", lines(*[BLANK] * 4, *["1 1 2 2"] * 2), "16 cells have 16 labels"),
    ("JigsawSudoku", lines(*[BLANK] * 4, *["1 1 2 2"] * 4), "region '1' has 8 cells"),
    ("KillerSudoku", lines("3 4 - -", *[BLANK] * 3, *["1 1 - -"] * 4), "cage '1' has two sums"),
    ("KillerSudoku", lines("3 - - -", *[BLANK] * 3, *["1 1 - -"] * 3), "16 cells have 16 lab"),
    ("KillerSudoku", lines("x - - -", *[BLANK] * 3, *["1 1 - -"] * 4), "'1=x' is not a sum"),
    ("EvenOddSudoku", lines("X - - -", *[BLANK] * 3), "'X' is not in the alphabet"),
    ("ConsecutiveSudoku", lines(*[BLANK] * 4, "1 0 0 0", *[ZEROS] * 3), "not a pair of cells"),
    ("ConsecutiveSudoku", lines(*[BLANK] * 4, "x 0 0 0", *[ZEROS] * 3), "not a pair of cells"),
    ("ConsecutiveSudoku", lines(*[BLANK] * 4, *[ZEROS] * 3), "is not a pair of cells"),
    ("Renban", lines(*[BLANK] * 4, *["1 1 2 2"] * 3), "is not a constraint string"),
    ("Renban", lines(*[BLANK] * 4, *["1 1 2 2"] * 4), "8 cells with different digits"),
]


@pytest.mark.parametrize(("kind", "text", "message"), UNFIT)
def test_lines_that_do_not_fit_make_their_row_invalid(kind, text, message):
    """The other puzzles of the document are answered."""
    other = json.loads(document(kind, f"4 4\n{text}"))["data"]["a"]
    right, wrong = answers_to(with_another(kind, other), jobs=1)
    assert right["status"] in ("unique", "multiple", "unsolvable")
    assert wrong["status"] == "invalid"
    assert re.search(message, wrong["message"]), wrong["message"]


@pytest.mark.parametrize("wrong", [5, None, "4 4", {}, {"problem": None}, {"problem": [[]]}])
def test_an_entry_that_is_no_puzzle_is_an_invalid_row(wrong):
    right, status = answers_to(with_another("Sudoku", wrong), "status", jobs=1)
    assert right in ("unique", "multiple")
    assert status == "invalid"


WRONG = [
    (document("SkyscraperSudoku", "1 1\n1"), "of the kind 'SkyscraperSudoku', which is not su"),
    (document(7, "1 1\n1"), "of the kind 7, which is not supported"),
    (b'{"data": {"a": {"problem": "1 1", "solution": ""}}}', "of the kind None, which is not"),
    (b'{"name": "Sudoku", "data": {"a": {"problem": "1 1"', "is not JSON"),
    (b'{"name": "Sudoku", "data": {"a": {"problem": "1 1"}}, "data": []}', "two fields 'data'"),
]


@pytest.mark.parametrize(("data", "message"), WRONG)
def test_wrong_documents_are_one_error(tmp_path, data, message):
    (tmp_path / "puzzles.json").write_bytes(data)
    with pytest.raises(bs.InputError, match=f"puzzles.json: .*{message}"):
        bs.solve_file(tmp_path / "puzzles.json", tmp_path / "out.csv")


HEADS = [
    (document("Sudoku", "1 1\n1"), True),
    (b'{"puzzle": "1...", "data": {"a": 1}}\n', False),
    (b'{"name": "x", "puzzle": "1..."}\n{"name": "y", "puzzle": "..1."}\n', False),
    (b'[{"puzzle": "1..."}]', False),
]


@pytest.mark.parametrize(("head", "is_one"), HEADS)
def test_other_json_is_no_such_document(head, is_one):
    assert is_grid_document(head) is is_one
