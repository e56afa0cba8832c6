"""Forms in which people write grids: each is read as the 81 characters are, by every way in."""

import bz2
import csv
import gzip
import io
import json
import re
import zipfile
from math import isqrt

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import EASY as PUZZLE, PUZZLE as FOUR, answers_to, npy, rows_of_csv, write_table
from invoking import invoke
from oracles import solved as square

import batchsolve as bs
from batchsolve.problems.rules import plain

SOLUTION = bs.solve(PUZZLE).solution
ROWS = [PUZZLE[k : k + 9] for k in range(0, 81, 9)]
GROUPS = [[row[k : k + 3] for k in range(0, 9, 3)] for row in ROWS]


def drawn(left, between, right, rule):
    """Return the grid with bars beside its boxes, and a rule before and after every third row."""
    gap = " " if len(between) > 1 else ""
    lines = [left + between.join(gap.join(g) for g in groups) + right for groups in GROUPS]
    bands = ["\n".join(lines[k : k + 3]) for k in (0, 3, 6)]
    return f"\n{rule}\n".join(["", *bands, ""]).strip("\n")


def lines_of(rows, mark=" "):
    return "\n".join(mark.join(map(str, row)) for row in rows)


BARS_WITH_GAPS, PLAIN_BARS = ("| ", " | ", " |"), ("|", "|", "|")
FRAMED = drawn(*BARS_WITH_GAPS, "+-------+-------+-------+")
BARS = "\n".join("|".join(row) + "\n-----------" * (k in (2, 5)) for k, row in enumerate(GROUPS))
LINES = "\n".join(ROWS)
CELLS = [[0 if c == "." else int(c) for c in row] for row in ROWS]
EMPTY = [[c.strip(".") for c in row] for row in ROWS]
NUMBERS = PUZZLE.replace(".", "0")
FLOATS = [[c and f"{c}.0" for c in row] for row in EMPTY]

ONE = {
    "lines.sdk": LINES,
    "lines.txt": LINES,
    "blanks.sud": lines_of(ROWS),
    "groups.txt": lines_of(GROUPS),
    "frame.txt": FRAMED,
    "bars.ss": BARS,
    "sections.sdk": f"[Puzzle]\n{LINES}\n[State]\n{LINES.replace('.', '1')}\n",
    "dashes.txt": LINES.replace(".", "-"),
    "empty.csv": lines_of(EMPTY, ","),
    "zeros.csv": lines_of(CELLS, ","),
    "semicolons.csv": lines_of(EMPTY, ";"),
    "columns.csv": ",".join(c for row in EMPTY for c in row),
    "floats.csv": lines_of(FLOATS, ","),
    "nan.csv": ",".join(c or "NaN" for row in FLOATS for c in row),
    "nan.txt": "\n".join(" ".join(c or "nan" for c in row) for row in FLOATS),
    "line of floats.txt": " ".join(c or "nan" for row in FLOATS for c in row),
    "tabs.tsv": "\t".join(c for row in EMPTY for c in row),
    "rows.tsv": lines_of(EMPTY, "\t"),
    "quoted.csv": "\n".join(",".join(f'"{c}"' for c in row) for row in EMPTY),
    "slashes.txt": "/".join(ROWS),
    "parted.txt": "|".join(ROWS),
    "library.txt": f":0000:x:{PUZZLE}:::",
    "solved.txt": f":0000:x:{PUZZLE[:2]}+4{PUZZLE[3:]}:::",
    "more.txt": f"{PUZZLE} easy 1.2",
    "more.csv": f"{PUZZLE}  easy 1.2",
    "commas.txt": f"{PUZZLE},easy,1.2",
    "bar.txt": f"{PUZZLE}|easy",
    "semicolon.txt": f"7;{PUZZLE};easy",
    "tab.txt": f"{PUZZLE}\teasy",
    "space.txt": f"{PUZZLE}\u00a0",
    "rows.json": json.dumps(CELLS),
    "nulls.json": json.dumps([[c or None for c in row] for row in CELLS]),
    "texts.json": json.dumps(ROWS),
    "empties.json": json.dumps(EMPTY),
    "python.txt": repr([[c or None for c in row] for row in CELLS]),
    "numpy.txt": str(np.array(CELLS)),
    "objects.json": json.dumps([{"val": c} for row in CELLS for c in row]),
}


STARS = "*-----------*"
FRAMES = {
    "points.txt": drawn(*BARS_WITH_GAPS, ".-------.-------.-------."),
    "quotes.txt": drawn(*BARS_WITH_GAPS, "'-------'-------'-------'"),
    "colons.txt": drawn(*BARS_WITH_GAPS, ":-------+-------+-------:"),
    "zeros.txt": FRAMED.replace(".", "0"),
    "asterisks.txt": FRAMED.replace(".", "*"),
    "rules.txt": drawn("", " | ", "", "------+-------+------"),
    "parted.csv": drawn("", " | ", "", "- - - + - - - + - - -"),
    "equals.txt": drawn("! ", " ! ", " !", "+=======+=======+=======+"),
    "double bars.csv": drawn("|| ", " || ", " ||", "++=======++=======++=======++"),
    "boxes.txt": drawn("│ ", " │ ", " │", "├───────┼───────┼───────┤"),
    "heavy.csv": drawn("┃", "┃", "┃", "┣━━━╋━━━╋━━━┫"),
    "narrow.csv": drawn(*PLAIN_BARS, "+---+---+---+"),
    "simple.ss": drawn(*PLAIN_BARS, STARS).replace(f"{STARS}\n|8", "|---+---+---|\n|8"),
    "gaps.txt": drawn("", " ", "", ""),
    "squares.txt": LINES.replace(".", "□"),
    "lines of stars.txt": LINES.replace(".", "*"),
    "mark.txt": f"\ufeff{LINES}",
    "comments.txt": f"# hard\n{LINES}  # the end\n",
    "authors.sdk": f"#A an author\n#D a date\n[Puzzle]\n{LINES}\n\n[State]\n{LINES}",
    "section in a comment.sdk": f"# [Puzzle]\n{PUZZLE}\n",
    "characters.txt": NUMBERS,
    "a line of numbers.txt": " ".join(NUMBERS),
}
OTHERS = {f"{mark!r}.txt": lines_of(ROWS, mark).replace(".", "-1") for mark in (" ", "\t", ", ")}
OTHERS["frame.txt"] = FRAMED.replace(".", "-1")
OTHERS["a row.csv"] = f'id,puzzle\n1,"{ONE["columns.csv"]}"\n'
OTHERS["a row.tsv"] = f"a\tpuzzle\n1\t{CELLS}"
OTHERS["an object.json"] = json.dumps({"puzzle": CELLS}, indent=1)
HEADED = {
    "pandas.txt": lines_of([range(81), NUMBERS], ","),
    "from 1.tsv": lines_of([range(1, 82), NUMBERS], "\t"),
    "names.txt": lines_of([map("cell_{}".format, range(81)), NUMBERS], ";"),
    "letters.csv": lines_of([[f"{r}{c}" for r in "ABCDEFGHI" for c in range(9)], PUZZLE], ","),
}
LINES_WITH_MORE = ("more.txt", "more.csv", "commas.txt", "bar.txt")
TEXTS = {
    **ONE,
    "a title": f"Grid 01\n{FRAMED}",
    "stops between rows": ".".join(row.replace(".", "0") for row in ROWS),
    "blanks between rows": " ".join(ROWS),
    "raised dots in a line": PUZZLE.replace(".", "·"),
    "dashes in a line": PUZZLE.replace(".", "-"),
    "numbers in a line": " ".join(PUZZLE),
    "texts of Python": str(ROWS),
    "underscores": PUZZLE.replace(".", "_"),
    "fractions": json.dumps([[float(c) for c in row] for row in CELLS]),
}


def in_csv(text, folder):
    write_table(pa.table({"id": [1, 2, 3], "puzzle": [PUZZLE, text, PUZZLE]}), folder / "in.csv")
    return solved(folder / "in.csv")[1]["solution"]


def of_cover(cover):
    digits = np.zeros(81, int)
    digits[cover // 9] = cover % 9 + 1
    return "".join(map(str, digits))


WAYS = {
    "solve": lambda text, _: bs.solve(text).solution,
    "solve_batch": lambda text, _: bs.solve_batch([PUZZLE, text]).text()[1],
    "solve_table": lambda text, _: bs.solve_table(pa.table({"puzzle": [text]}))["solution"][0],
    "cell": in_csv,
    "parse": lambda text, _: bs.solve_batch([bs.Sudoku(3, 3).parse(text)]).text()[0],
    "solutions": lambda text, _: of_cover(*bs.solutions(text)),
    "read_problem": lambda text, _: of_cover(*bs.solutions(bs.read_problem(text))),
}


# a text is read as a whole or as a row of a column: each form in one way of each of these kinds
WHOLE, ROW = ("solve", "parse", "solutions", "read_problem"), ("solve_batch", "solve_table", "cell")
PAIRS = [(form, ways[k % len(ways)]) for ways in (WHOLE, ROW) for k, form in enumerate(TEXTS)]
PAIRS += [(form, [*WAYS][k % len(WAYS)]) for k, form in enumerate(FRAMES) if form != "mark.txt"]


@pytest.mark.parametrize(("form", "way"), PAIRS)
def test_a_text_is_a_grid_by_every_way_in(form, way, tmp_path):
    assert re.sub(r"\D", "", str(WAYS[way]((TEXTS | FRAMES)[form], tmp_path))) == SOLUTION


@pytest.mark.parametrize("form", TEXTS)
def test_canonical_forms_take_every_text(form):
    text = TEXTS[form].replace("+4", ".")
    assert (bs.canonical_forms([text]).grids == bs.canonical_forms([PUZZLE]).grids).all()
    assert re.sub("[0_-]", ".", re.sub(r"\s", "", bs.canonical(text))) == bs.canonical(PUZZLE)


WRONG = {
    "characters": PUZZLE.replace("34..8", "34..a"),
    "lines": LINES.replace("4..8", "4.a8"),
    "a frame": FRAMED.replace("| 4 . . | 8", "| 4 . a | 8"),
    "slashes": "/".join(ROWS).replace("4..8", "4.a8"),
    "texts": json.dumps(ROWS).replace("4..8", "4.a8"),
}


@pytest.mark.parametrize("form", WRONG)
def test_a_wrong_cell_is_named_alike_and_moves_no_row(form):
    text = WRONG[form]
    with pytest.raises(bs.InputError) as error:
        bs.solve(text)
    rows = answers_to({"puzzle": [PUZZLE, text, PUZZLE]})
    assert [row["status"] for row in rows] == ["unique", "invalid", "unique"]
    assert re.sub(r"^line \d+: ", "", str(error.value)) == rows[1]["message"]
    assert re.match(r"row 5, column [34]: 'a' is not in the alphabet 1-9", rows[1]["message"])


def answers(path, *options):
    done = invoke("solve", path, "-o", "-", "--quiet", *options)
    assert done.exit_code == 0, done.stderr
    rows = csv.DictReader(io.StringIO(done.stdout))
    return [re.sub(r"\D", "", row["solution"]) == SOLUTION for row in rows]


def solved(path, text=None, **how):
    """Return the rows of the answer to a file, which may have to be written."""
    if text is not None:
        path.write_text(text)
    bs.solve_file(path, path.with_name("out.jsonl"), **how)
    return [json.loads(line) for line in path.with_name("out.jsonl").read_text().splitlines()]


def outputs(path, chunks):
    """Yield the answers to a file of rows that are handed out in blocks of these sizes."""
    for chunk in chunks:
        bs.solve_file(path, path.with_name("out.csv"), chunk=chunk, jobs=2)
        yield path.with_name("out.csv").read_bytes()


def column_of(*values):
    """Return the statuses of the rows of a table."""
    return answers_to({"puzzle": values}, "status")


def statuses(*arguments, **how):
    return [row["status"] for row in solved(*arguments, **how)]


@pytest.mark.parametrize("name", [*(ONE | FRAMES | OTHERS | HEADED), "square.npy"])
def test_a_file_of_one_grid_is_a_table_and_a_problem(tmp_path, name):
    content = (ONE | FRAMES | OTHERS | HEADED | {"square.npy": npy(CELLS)})[name]
    (tmp_path / name).write_bytes(content if name == "square.npy" else content.encode())
    if name not in OTHERS:
        assert answers(tmp_path / name) == [True]
    assert of_cover(*bs.solutions(tmp_path / name)) == SOLUTION


MANY = {
    "titles.txt": "Grid 01\n{0}\nGrid 02\n{0}\n",
    "blank_lines.txt": "{0}\n\n{0}\n",
    "on_end.txt": "{0}\n{0}\n",
    "names.sdk": "# by hand\nEasy one\n{0}\n\nHard one\n{0}",
}


@pytest.mark.parametrize("form", MANY)
@pytest.mark.parametrize("grid", [LINES, FRAMED, BARS], ids=["lines", "frames", "bars"])
def test_a_file_may_have_several_drawings(tmp_path, form, grid):
    newline = "\r\n" if form == "titles.txt" else None
    (tmp_path / form).write_text(MANY[form].format(grid), newline=newline)
    assert answers(tmp_path / form) == [True, True]


BROKEN = {
    "a wrong cell": LINES.replace("4..8.3..1", "4..8a3..1"),
    "a row too short": LINES.replace("4..8.3..1", "4..8.3.."),
    "a row of seven": LINES.replace("4..8.3..1", "4..8.3."),
}


def test_small_grids_in_one_line_may_stand_above_a_drawing(tmp_path):
    four = "1.....2..3.....4\n"
    drawing = "\n".join(four[k : k + 4] for k in (0, 4, 8, 12))
    assert statuses(tmp_path / "a.txt", f"{four}{four}\n{drawing}\n") == ["unique"] * 3


@pytest.mark.parametrize("fault", BROKEN)
@pytest.mark.parametrize("between", ["", "\n", "\nGrid 2\n"], ids=["nothing", "a gap", "a title"])
def test_a_broken_drawing_leaves_the_next_ones_whole(tmp_path, fault, between):
    text = f"\n{between}".join([LINES, BROKEN[fault], LINES])
    assert statuses(tmp_path / "a.txt", text) == ["unique", "invalid", "unique"]


SIX = "1.......2............3.............4"


def rows_of(puzzle, gap=""):
    n = isqrt(len(puzzle))
    return [gap.join(puzzle[k : k + n]) for k in range(0, n * n, n)]


def boxed(puzzle):
    n, rows = isqrt(len(puzzle)), rows_of(puzzle)
    height = {4: 2, 6: 2, 9: 3}[n]
    return "\n\n".join("\n".join(rows[k : k + height]) for k in range(0, n, height))


def grouped(puzzle):
    """Write the rows of boxes with blanks between them, and blank cells as zeros."""
    n = isqrt(len(puzzle))
    width = {4: 2, 6: 3, 9: 3}[n]
    rows = rows_of(puzzle.replace(".", "0"))
    return "\n".join(" ".join(row[k : k + width] for k in range(0, n, width)) for row in rows)


WRITTEN = {
    "lines": lambda puzzle: "\n".join(rows_of(puzzle)),
    "blanks": lambda puzzle: "\n".join(rows_of(puzzle, " ")),
    "commas": lambda puzzle: "\n".join(rows_of(puzzle, ",")).replace(".", ""),
    "frames": lambda puzzle: "\n".join(["+---+", *map("|{}|".format, rows_of(puzzle)), "+---+"]),
    "rules": lambda puzzle: "\n".join(["-" * 9, *rows_of(puzzle), "-" * 9]),
    "boxes": boxed,
    "groups": grouped,
    "one line": str,
    "slashes": lambda puzzle: "/".join(rows_of(puzzle)),
    "cells": " ".join,
    "fields": lambda puzzle: f"{puzzle},easy,1.2",
}


@pytest.mark.parametrize("form", WRITTEN)
@pytest.mark.parametrize(
    ("puzzle", "between"), [(FOUR, "\n\n"), (SIX, "\nGrid 2 - hard\n"), (PUZZLE, "\n[second]\n")]
)
def test_no_drawing_hides_a_grid_of_another_size_or_form(tmp_path, puzzle, form, between):
    others = [each for each in (FOUR, SIX, PUZZLE) if each != puzzle]
    for other, order in zip(others, (slice(None), slice(None, None, -1)), strict=True):
        text = between.join(["Grid 1", *[WRITTEN[form](puzzle), WRITTEN["lines"](other)][order]])
        puzzles = [row["puzzle"].replace("0", ".") for row in solved(tmp_path / "a.txt", text)]
        assert puzzles == [puzzle, other][order]
        with pytest.raises(bs.InputError, match="2 grids"):
            bs.count(tmp_path / "a.txt")
        with pytest.raises(bs.InputError, match="2 grids"):
            bs.solve(text)
        assert column_of(PUZZLE, text) == ["unique", "invalid"]


SQUARE = "\n".join(rows_of(FOUR))
TITLED = {
    f"Grid 01\n{LINES}\nGrid 02\n{LINES}\n": ["Grid 01", "Grid 02"],
    f"[easy]\n{SQUARE}\n": ["easy"],
    f"[1]\n{SQUARE}\n[2]\n{SQUARE}\n": ["1", "2"],
    f"Look at this\n[code]\n{SQUARE}\n[/code]\n": ["code"],
    f"A\n[Puzzle] # by hand\n{SQUARE}\n[State]\n{SQUARE}\n": ["A"],
    f"A\n[Puzzle1]\n{SQUARE}\n[State]\n{SQUARE}\n[Puzzle2]\n{LINES}\n": ["A", None],
}


@pytest.mark.parametrize("text", TITLED)
def test_titles_are_a_column_and_sections_are_titles_but_those_of_puzzles(tmp_path, text):
    rows = solved(tmp_path / "a.txt", text)
    assert [list(row)[:2] for row in rows] == [["id", "puzzle"]] * len(rows)
    assert [row["id"] for row in rows] == TITLED[text]
    assert {row["status"] for row in rows} == {"unique"}
    if len(rows) == 1:
        assert bs.count(tmp_path / "a.txt").count == 1
    else:
        with pytest.raises(bs.InputError, match="2 grids"):
            bs.count(tmp_path / "a.txt")


EMPTY_ROW = ["" for _ in range(9)]
PARTED = [*EMPTY[:3], EMPTY_ROW, *EMPTY[3:6], EMPTY_ROW, *EMPTY[6:]]
SHEETS = {
    "between boxes": (PARTED, 1),
    "between boxes and grids": ([*PARTED, EMPTY_ROW, *PARTED], 2),
    "between boxes alone": ([*PARTED, *PARTED], 2),
    "between grids": ([*EMPTY, EMPTY_ROW, *EMPTY, EMPTY_ROW], 2),
    "above": ([EMPTY_ROW, *EMPTY], 1),
    "between ten and grids": ([*EMPTY, *[EMPTY_ROW, *EMPTY] * 9], 10),
    "below numbers and grids": ([[*"123456789"], *EMPTY, EMPTY_ROW, *EMPTY], 2),
}


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("sheet", SHEETS)
def test_empty_rows_of_a_spreadsheet_may_part_boxes_and_grids(tmp_path, sheet, mark):
    rows, n_grids = SHEETS[sheet]
    (tmp_path / "a.csv").write_text(lines_of(rows, mark) + "\n")
    assert answers(tmp_path / "a.csv") == [True] * n_grids
    if n_grids == 1:
        assert bs.count(tmp_path / "a.csv").count == 1
    between = [EMPTY_ROW] if sheet.endswith("and grids") else []
    long = lines_of([*rows, *between] * 150, mark) + "\n"
    assert statuses(tmp_path / "a.csv", long) == ["unique"] * 150 * n_grids


@pytest.mark.parametrize("mark", [",", "\t"])
def test_empty_rows_of_whole_grids_are_rows(tmp_path, mark):
    rows = [EMPTY_ROW if k in (3, 7) else row for k, row in enumerate(EMPTY)]
    puzzle = "".join(cell or "." for row in rows for cell in row)
    numbered, parted = [[*"123456789"], *rows], [*rows, EMPTY_ROW, *EMPTY, EMPTY_ROW, *rows]
    for each, n_grids in ((rows, 1), (numbered, 1), (parted, 3)):
        found = solved(tmp_path / "a.csv", "\n".join(map(mark.join, each)) + "\n")
        assert (found[0]["puzzle"], len(found)) == (puzzle, n_grids)
    [row] = solved(tmp_path / "a.csv", ",,,,,,,,\n" * 9)
    assert row["puzzle"] == "." * 81


@pytest.mark.parametrize("cut", ["5,3,,,7,,,,,", "5,3,,,7"])
def test_rows_of_cells_that_are_too_long_or_short_are_refused(tmp_path, cut):
    rows = [",".join(row) for row in EMPTY[1:]]
    rows = [f"{row}," if cut.endswith(",") else row.rstrip(",") for row in rows]
    (tmp_path / "a.csv").write_text("\n".join([cut, *rows]))
    with pytest.raises(bs.InputError, match="cells of a grid, give each of its N rows N of them"):
        bs.solve_file(tmp_path / "a.csv", tmp_path / "out.csv")


NINE_LETTERS = PUZZLE.translate(str.maketrans("123456789", "abcdefghi"))
LETTERS = {4: "a.....b..c.....d", 9: NINE_LETTERS, 16: ".".join("0123456789abcdef" * 8)}


@pytest.mark.parametrize("form", ["lines", "blanks", "commas", "one line"])
@pytest.mark.parametrize("n", LETTERS)
def test_small_letters_are_cells_as_capital_ones_are(tmp_path, n, form):
    text = WRITTEN[form](f"{LETTERS[n]}.."[: n * n])
    path = tmp_path / "a.txt"
    small, capital = (solved(path, each, node_limit=1) for each in (text, text.upper()))
    assert [row | {"puzzle": row["puzzle"].upper()} for row in small] == capital
    if form != "one line":
        text = f"{text}\n\n{LINES}\n\n{text}\n"
        assert len(solved(path, text, node_limit=1)) == 3


OF_OTHER_COLUMNS = ("bars.ss", "parted.txt", "semicolons.csv", "tabs.tsv", "rows.tsv")


@pytest.mark.parametrize("more", [[], ["hard"]])
@pytest.mark.parametrize("form", [form for form in TEXTS if form not in OF_OTHER_COLUMNS])
def test_a_first_row_in_any_form_is_no_header(form, more, tmp_path):
    with open(tmp_path / "a.csv", "w", newline="") as file:
        csv.writer(file).writerows([[TEXTS[form], *more]] * 3)
    assert statuses(tmp_path / "a.csv") == ["unique"] * 3


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("before", ["", "# made by pandas\n\n"])
def test_numbers_of_the_columns_of_cells_are_a_header(before, end, tmp_path):
    for grid, n in ([c for row in FLOATS for c in row], 3), (FOUR, 20):
        rows = [range(len(grid)), *[grid] * n]
        text = end.join(",".join(map(str, row)) for row in rows)
        (tmp_path / "a.csv").write_bytes(f"{before}{text}{end}".encode())
        assert statuses(tmp_path / "a.csv") == ["unique"] * n
        assert bs.read_problem(f"{tmp_path / 'a.csv'}#3").stack.size == {81: 30, 16: 4}[len(grid)]


@pytest.mark.parametrize("names", [range(9), range(1, 10), "abcdefghi", "ABCDEFGHI"])
@pytest.mark.parametrize("mark", [",", "\t", " "])
@pytest.mark.parametrize("cells", [CELLS, EMPTY, FLOATS, ROWS])
def test_numbers_and_letters_above_the_columns_of_a_grid_are_a_header(tmp_path, cells, mark, names):
    if mark == " ":
        cells = [[cell or "." for cell in row] for row in cells]
    lines = [mark.join(map(str, row)) for row in [names, *cells]]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "b.csv").write_text("\n".join([*lines, *lines[1:], "", *lines]) + "\n")
    assert answers(tmp_path / "a.csv") == [True]
    assert answers(tmp_path / "b.csv") == [True] * 3
    assert bs.count(tmp_path / "a.csv").count == 1


@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("cells", [CELLS, EMPTY, FLOATS, PARTED])
def test_an_index_before_the_rows_of_a_grid_is_left_out(tmp_path, cells, mark):
    rows = [["", *range(9)], *([k, *row] for k, row in enumerate(cells))]
    (tmp_path / "a.csv").write_text(lines_of(rows, mark) + "\n")
    assert answers(tmp_path / "a.csv") == [True]
    assert bs.count(tmp_path / "a.csv").count == 1


@pytest.mark.parametrize("header", ["0,1,2,3", "1,2,3,4", ",0,1,2,3", '"","0","1","2","3"'])
def test_small_grids_may_have_a_header_and_an_index(tmp_path, header):
    rows = [row if header[0] in "01" else f"{k},{row}" for k, row in enumerate(rows_of(FOUR, ","))]
    rows = [",".join(f'"{c}"' for c in row.split(",")) if '"' in header else row for row in rows]
    [row] = solved(tmp_path / "a.csv", "\n".join([header, *rows]) + "\n")
    assert row["puzzle"] == FOUR


@pytest.mark.parametrize("between", ["", "\n", "\nGrid 2\n"])
@pytest.mark.parametrize("mark", [",", " "])
@pytest.mark.parametrize("first", [0, 1])
def test_rows_of_digits_in_their_order_are_no_header(tmp_path, first, mark, between):
    text = f"\n{between}".join([lines_of(square(3, 3) - 1 + first, mark)] * 3)
    assert statuses(tmp_path / "a.csv", text) == ["unique"] * 3


SIXTEEN = list(map(str, square(4, 4).flat))


def test_numbers_in_columns_are_read_alike_wherever_a_block_ends(tmp_path):
    low = ["0" if int(cell) > 9 else cell for cell in SIXTEEN]
    lines = [",".join(SIXTEEN)] + [",".join(low)] * 3
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    assert len(set(outputs(tmp_path / "a.csv", (1, 4)))) == 1


def numbers_of(puzzle):
    return [int(c) for c in puzzle.replace(".", "0")]


IN_JSON = {
    "numbers": numbers_of,
    "texts": lambda puzzle: list(puzzle.replace(".", "0")),
    "one text": str,
    "square": lambda puzzle: np.reshape(numbers_of(puzzle), (isqrt(len(puzzle)), -1)).tolist(),
}


@pytest.mark.parametrize("form", IN_JSON)
@pytest.mark.parametrize("puzzle", [FOUR, PUZZLE], ids=len)
def test_as_many_grids_as_one_has_cells_are_not_one(tmp_path, form, puzzle):
    found = statuses(tmp_path / "a.json", json.dumps([IN_JSON[form](puzzle)] * len(puzzle)))
    assert found == ["unique"] * len(puzzle)


@pytest.mark.parametrize("puzzle", [FOUR, PUZZLE], ids=len)
def test_as_many_grids_as_one_has_rows_are_not_one(tmp_path, puzzle):
    for rows in (IN_JSON["square"](puzzle), rows_of(puzzle)):
        n = len(rows)
        assert statuses(tmp_path / "a.json", json.dumps([rows] * n)) == ["unique"] * n


SHORT, TWO_BANDS = "\n".join(rows_of(FOUR)[:3]), "\n".join(ROWS[:6])
FEW_DIGITS = "\n".join(["1........", ".2.......", "..3......", *["." * 9] * 6])
TWO = "....##\n....##\n......\n......\n##....\n##....\n"
U, X, M = "unique", "invalid", "multiple"
FILES = {  # the content of a file, the statuses of its rows, and messages
    "gaps between boxes.txt": (f"{boxed(PUZZLE)}\n\n{boxed(PUZZLE)}", [U] * 2),
    "digits of few kinds.txt": (FEW_DIGITS, [M]),
    "a row is missing.txt": (f"One\n{LINES}\nTwo\n{LINES[:-10]}\nThree\n{LINES}\n", [U, X, U]),
    "a band of the first is missing.txt": (f"{TWO_BANDS}\n\n{LINES}\n\n{LINES}", [X, U, U]),
    "a band of the second is missing.txt": (f"{LINES}\n\n{TWO_BANDS}\n\n{LINES}", [U, X, U]),
    "rows of small ones are missing.txt": ("\n\n".join([LINES, SHORT] * 2), [U, X] * 2),
    "large ones of numbers.txt": ("\n".join(rows_of([".", *SIXTEEN[1:]], " ")), [U]),
    "other blanks.txt": (f"1{15 * '?'}\n" * 16, [M] * 16, {"blank": "?"}),
    "regions.txt": (f"1{24 * '.'}\n" * 25, [M] * 25, {"regions": "AABBBAABBCADCCCEDDDCEEEED"}),
    "cells.csv": (f'id,puzzle\n1,"{FRAMED}"\n2,"{LINES[:-10]}"\n3,"{LINES}"\n', [U, X, U]),
    "lines of small grids.txt": (f"{FOUR}\n" * 16, [U] * 16),
    "lines of blank grids.txt": (f"{'.' * 16}\n" * 16, [M] * 16),
    "grids that overlap.txt": (TWO, [M], {"box": (2, 2)}),
    "two of them.txt": (f"{TWO}\n{TWO}", [M] * 2, {"box": (2, 2)}),
    "lines of them.txt": ((TWO.replace("\n", "") + "\n") * 3, [M] * 3, {"box": (2, 2)}),
    "a cell of the first is missing.csv": (f"{PUZZLE[1:]}\n{PUZZLE}\n", [X, U]),
    "the first has no puzzle.csv": (f",{SOLUTION}\n{PUZZLE},{SOLUTION}\n", [X, U]),
    "a sign of the first is wrong.csv": (f"a,!{PUZZLE[1:]}\na,{PUZZLE}\n", [X, U]),
    "a first row like numbers.csv": ("1,2,3,4\n3,4,,\n,,4,3\n4,,,1\n,,,\n", [U]),
    "blank sheets.csv": (",,,\n" * 20, [M] * 5),
    "names are no row.csv": (f"grid,name,rate,date\n{FOUR},a,2,3\n", [U]),
    "names with # are no drawing.csv": (f"a#1,{PUZZLE}\na#2,{PUZZLE}\n", [U] * 2),
    **{
        f"{name} is a header.csv": (f"{name},grid\nx,{PUZZLE}\n", [U])
        for name in ("puzzle_and_rules", "SUDOKU-PUZZLE-ID", "a b c d e f g h")
    },
    **{
        f"{title!r} is a title.txt": (f"One\n{LINES}" + f"\n{title}\n{LINES}" * 2, [U] * 3)
        for title in ("HARD", "0001\nHARD", "HARD\n0001", "sudoku_01", "nightmare", "Nr12\n2024")
    },
}


@pytest.mark.parametrize("name", FILES)
def test_grids_of_a_file_begin_and_end_where_a_reader_sees_them_do(tmp_path, name):
    text, wanted, *how = FILES[name]
    assert statuses(tmp_path / name, text, **dict(*how)) == wanted


@pytest.mark.parametrize("command", ["rate", "dedupe", "augment", "show"])
def test_other_commands_read_drawings(tmp_path, command):
    (tmp_path / "a.sdk").write_text(FRAMED)
    done = invoke(command, tmp_path / "a.sdk")
    assert done.exit_code == 0, done.stderr


def test_drawings_are_read_in_folders(tmp_path):
    (tmp_path / "in").mkdir()
    for k in range(2):
        (tmp_path / "in" / f"{k}.txt").write_text(FRAMED)
    assert bs.solve_file(f"{tmp_path}/in/*.txt", tmp_path / "out.csv").unique == 2


def test_bits_for_digits_are_read(tmp_path):
    bits = (np.array(CELLS)[None, :, :, None] == np.arange(1, 10)).astype(np.float32)
    np.save(tmp_path / "bits.npy", bits)
    assert bs.solve_file(tmp_path / "bits.npy", tmp_path / "out.csv").unique == 1
    for kind in (bool, np.uint64, np.float32):
        solutions = bs.solve_batch(bits.astype(kind)).solutions
        assert (solutions.shape, solutions.dtype) == ((1, 9, 9), np.uint8)
        assert (solutions == bs.solve_batch([CELLS]).solutions.reshape(1, 9, 9)).all()
    bits = np.repeat(bits, 2, axis=0)
    bits[0, 0, 0, 0] = 1  # beside 5
    with pytest.raises(bs.InputError, match="grid 0 has several bits in row 1, column 1"):
        bs.canonical_forms(bits)
    np.save(tmp_path / "two.npy", bits)
    assert statuses(tmp_path / "two.npy") == [X, U]
    np.save(tmp_path / "one.npy", bits[:1])
    with pytest.raises(bs.InputError, match="row 1 has several bits in cell 1"):
        statuses(tmp_path / "one.npy")


@pytest.mark.parametrize("sign", ["?", "x", "!", "o", "Z"])
def test_other_blanks_are_named_with_the_option_that_accepts_them(tmp_path, sign):
    for grid in (LINES, PUZZLE)[sign == "!" :]:  # which is a bar of lines
        (tmp_path / "a.txt").write_text(grid.replace(".", sign))
        assert "--blank" in invoke("solve", tmp_path / "a.txt", "-o", "-").stderr
        assert answers(tmp_path / "a.txt", "--blank", sign) == [True]
    if sign != "!":  # which may be part of a name
        assert answers(PUZZLE.replace(".", sign), "--blank", sign) == [True]


def arrow(form):
    """Return the bytes of a file of Arrow with three grids."""
    with form(data := io.BytesIO(), (table := pa.table({"puzzle": [PUZZLE] * 3})).schema) as out:
        out.write_table(table)
    return data.getvalue()


SEVERAL = {
    "file.arrow": arrow(pa.ipc.new_file),
    "stream.arrow": arrow(pa.ipc.new_stream),
    "array.npy": npy([CELLS] * 3),
    "lists.json": json.dumps([ROWS] * 3),
    "drawings.txt": f"{FRAMED}\n\n{LINES}\n\n{BARS}",
    "lines.jsonl": f"{json.dumps({'puzzle': LINES})}\n" * 3,
    "objects.jsonl": f"{json.dumps({'puzzle': [{'val': c} for row in CELLS for c in row]})}\n" * 3,
    "library.txt": f":0000:x:{PUZZLE}:::\n" * 3,
    "lines.txt": f"{PUZZLE}\n" * 3,
    "columns.csv": "id,puzzle\n" + f"1,{PUZZLE}\n" * 3,
}


@pytest.mark.parametrize("name", SEVERAL)
def test_of_several_grids_in_a_file_a_problem_is_one_row(tmp_path, name):
    path = tmp_path / name
    content = SEVERAL[name]
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    assert statuses(path) == ["unique"] * 3
    with pytest.raises(bs.InputError, match=f"3 grids.* name .*row, as in {path}#1"):
        bs.count(path)
    assert bs.count(f"{path}#2").count == 1


def test_cells_in_quotes_and_empty_ones_at_the_ends_are_read(tmp_path):
    turned = PUZZLE[::-1].replace("9", ".", 1)  # begins with empty cells, and ends with one
    cells = [c.strip(".") for c in f"..{turned[2:]}"]
    (tmp_path / "a.tsv").write_text("\t".join(cells) + "\n")
    (tmp_path / "b.csv").write_text(",".join(f'"{cell}"' for cell in cells) + "\n")
    for name in ("a.tsv", "b.csv"):
        [row] = solved(tmp_path / name, limit=1)
        assert row["puzzle"] == "".join(cell or "." for cell in cells)


@pytest.mark.parametrize("header", ["Puzzle", "id,n,Grid", "No\tStart grid", '"ID";"Grid (9x9)"'])
def test_a_name_above_a_grid_makes_a_header_whatever_the_file_is_called(tmp_path, header):
    mark = next((mark for mark in ",;\t" if mark in header), ",")
    row = mark.join(["1"] * header.count(mark) + [PUZZLE])
    assert statuses(tmp_path / "rows", f"{header}\n{row}\n{row}\n") == ["unique"] * 2


NO_NAMES = [PUZZLE[:80], PUZZLE[:9], "?", "no grid, whatever this is", "N/A", "Grid 01"]


@pytest.mark.parametrize("first", NO_NAMES)
def test_what_is_above_a_grid_without_being_its_name_is_a_row(tmp_path, first):
    assert statuses(tmp_path / "rows", f"{first}\n{PUZZLE}\n") == ["invalid", "unique"]


def test_a_row_with_a_number_is_no_header(tmp_path):
    text = f"x1,Too hard!,5\nx2,{PUZZLE},6\n"
    assert statuses(tmp_path / "rows", text) == ["invalid", "unique"]


@pytest.mark.parametrize("line", [f"{PUZZLE} # a, b", f"# by, Joe\n{PUZZLE}", ",".join(NUMBERS)])
def test_lines_below_a_title_are_those_of_plain_text(tmp_path, line):
    text = f"# my file\nHard ones\n{PUZZLE}\n{line}\n"
    rows = solved(tmp_path / "rows", text)
    assert [(row["Hard ones"][0], row["status"]) for row in rows] == [("5", "unique")] * 2


def packed(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_the_only_file_of_a_zip_archive_is_read(tmp_path):
    pq.write_table(pa.table({"puzzle": [PUZZLE] * 3}), parquet := io.BytesIO())
    contents = ["puzzle,n\n" + f"{PUZZLE},1\n" * 3, json.dumps([PUZZLE] * 3), parquet.getvalue()]
    for content in contents:
        path = packed(tmp_path / "a.zip", **{"in/": "", "in/a": content, "__MACOSX/in/._a": "x"})
        assert statuses(path) == ["unique"] * 3
        assert bs.count(f"{path}#2").count == 1
    path = packed(tmp_path / "d.zip", **{"a.tsv": f"1\tPUZZLE\nx\t{PUZZLE}\n"})
    assert [(row["1"], row["status"]) for row in solved(path)] == [("x", "unique")]
    assert bs.count(packed(tmp_path / "b.zip", a=FRAMED)).count == 1
    assert bs.count(packed(tmp_path / "c.zip", a="c a tiny one\np ec 1\ns 1\n")).count == 1


def test_a_compressed_file_may_have_any_name(tmp_path):
    frame = pa.compress(PUZZLE.encode(), "zstd", asbytes=True)
    of_pzstd = b"\x50\x2a\x4d\x18\4\0\0\0" + len(frame).to_bytes(4, "little") + frame
    texts = {"a.txt": gzip.compress(PUZZLE.encode()), "b.txt": bz2.compress(PUZZLE.encode())}
    for name, data in (texts | {"c.txt": of_pzstd, "plain.txt.gz": PUZZLE.encode()}).items():
        (tmp_path / name).write_bytes(data)
        assert bs.count(tmp_path / name).count == 1
        assert answers(tmp_path / name) == [True]


def test_a_table_in_parquet_may_be_compressed_as_a_whole(tmp_path):
    pq.write_table(pa.table({"puzzle": [PUZZLE] * 3}), parquet := io.BytesIO())
    (tmp_path / "a.parquet.gz").write_bytes(gzip.compress(parquet.getvalue()))
    assert statuses(tmp_path / "a.parquet.gz") == ["unique"] * 3
    bs.partition(tmp_path / "a.parquet.gz", tmp_path / "parts", parts={"all": 1})
    assert [path.name for path in (tmp_path / "parts").iterdir()] == ["all.parquet"]


def test_blocks_of_a_table_in_a_zip_archive_do_not_change_the_output(tmp_path):
    path = packed(tmp_path / "a.zip", a="puzzle,n\n" + f"{PUZZLE},1\n" * 300)
    assert len(set(outputs(path, (1, 7, 300)))) == 1


def test_zip_archives_of_several_files_and_damaged_ones_are_refused(tmp_path):
    path = packed(tmp_path / "a.zip", a=PUZZLE, b=PUZZLE)
    for read in (statuses, bs.count):
        with pytest.raises(bs.InputError, match=r"a\.zip: not UTF-8 text, but a zip archive, .*;"):
            read(path)
    path.write_bytes(b"PK\x03\x04 and no more")  # test_reading.py has this for problems
    with pytest.raises(bs.InputError, match=r"a\.zip: cannot be read as a zip archive"):
        statuses(path)


def test_the_folder_of_a_dataset_saved_to_disk_is_read(tmp_path):
    table = pa.table({"question": [PUZZLE] * 2})
    for name in ("dataset_info.json", "state.json"):
        (tmp_path / name).write_text('{"_split": "train"}')
    for k in range(2):
        with pa.ipc.new_stream(str(tmp_path / f"data-0000{k}-of-00002.arrow"), table.schema) as out:
            out.write_table(table)
    summary = bs.solve_file(tmp_path, tmp_path.with_name("out.csv"))
    assert (summary.rows, summary.unique, summary.column) == (4, 4, "question")


def pencilled(puzzle):
    """Return the digits that each cell may have, beside the clues in its houses."""
    houses = plain(3, 3).houses
    seen = [{puzzle[p] for house in houses if k in house for p in house} for k in range(81)]
    left = ["".join(digit for digit in "123456789" if digit not in each) for each in seen]
    return [cell.replace(".", digits) for cell, digits in zip(puzzle, left, strict=True)]


def barred(cells):
    return "| " + " | ".join(" ".join(cells[k : k + 3]) for k in (0, 3, 6)) + " |"


CANDIDATES = pencilled(PUZZLE)
LINES_OF_MARKS, RULE = [CANDIDATES[k : k + 9] for k in range(0, 81, 9)], ".-----.-----.-----."
PENCILLED = {
    "one line": " ".join(CANDIDATES),
    "lines": "\n".join(" ".join(line) for line in LINES_OF_MARKS),
    "a frame": "\n".join([RULE, *map(barred, LINES_OF_MARKS), RULE.replace(".", "'")]),
}


@pytest.mark.parametrize("text", [PUZZLE, PUZZLE.replace(".", "*"), LINES, json.dumps(CELLS)])
def test_a_text_may_stand_for_a_file(text):
    assert answers(text) == [True]


def test_a_text_of_a_wrong_grid_is_an_invalid_row_and_another_name_no_file(tmp_path):
    done = invoke("solve", "5" + PUZZLE[:80])
    assert done.exit_code == 1
    assert "digit 5 twice in a row" in done.stdout
    (tmp_path / PUZZLE).write_text(PUZZLE.replace("3", "."))
    assert bs.solve_file(tmp_path / PUZZLE, tmp_path / "out.csv").multiple == 1
    for name in (PUZZLE[:80], "sudoku_puzzles.csv", "puzzles*.csv"):
        with pytest.raises(bs.InputError, match=r"[Nn]o (such )?file"):
            bs.solve_file(name, tmp_path / "out.csv")


@pytest.mark.parametrize("name", ["regions.txt", "AABBAABBCCDDCCD", "AAAA", "puzzle 1.....2"])
def test_regions_are_the_text_of_a_file_and_not_its_name(name):
    for solve in (bs.solve, lambda text, **how: bs.solve_batch([text], **how)):
        with pytest.raises(bs.InputError, match=f"the regions '{name}' are not the text"):
            solve("1.....2..3.....4", regions=name)


def shaped(*lengths):
    cells = iter(c for row in CELLS for c in row)
    return [[next(cells) for _ in range(n)] for n in lengths]


RAGGED = {
    "10 and 8 cells": (shaped(10, 8, *[9] * 7), "line 1: 10 cells where most lines have 9"),
    "a cell made up for at last": (shaped(8, *[9] * 7, 10), "line 1: 8 cells where most lines"),
    "3 rows": (shaped(27, 27, 27), "no grid: 3 lines of 27 cells"),
    "sets of 81 members": (shaped(*[2, 4] * 13, 3), "no grid: 27 lines of 2 cells"),
}


@pytest.mark.parametrize("form", RAGGED)
def test_rows_of_other_lengths_are_not_joined_to_a_grid(form):
    rows, why = RAGGED[form]
    lines = lines_of(rows)
    for text in (json.dumps(rows), lines, "[" + lines.replace("\n", "]\n[") + "]"):
        with pytest.raises(bs.InputError, match=why):
            bs.solve(text)
        assert column_of(PUZZLE, text) == ["unique", "invalid"]
        with pytest.raises(bs.InputError, match=f"; {len(rows)} rows of .*cells; a 9×9 grid has 9"):
            column_of(text)
    found = answers_to({"puzzle": [CELLS, rows, CELLS]})
    assert [row["status"] for row in found] == ["unique", "invalid", "unique"]
    assert found[1]["message"].startswith(f"{len(rows)} rows of ")


CLUES_OF_25 = ",".join(cell if k < 25 else "" for k, cell in enumerate(SOLUTION))
NO_ROW = [[None] * 9, *([cell or None for cell in row] for row in CELLS[1:])]
NULLED = [json.dumps(NO_ROW), repr(NO_ROW), json.dumps([c for row in NO_ROW for c in row])]
COLUMNS = {  # the values of a column, and the statuses of its rows
    "lists of texts": ([ROWS, ROWS[:8]], ["unique", "invalid"]),
    "cells in lists of one": ([[[[c] for c in row] for row in CELLS]] * 2, ["unique"] * 2),
    "as many clues as a grid of 5 has cells": ([CLUES_OF_25] * 2, ["multiple"] * 2),
    "a row of null": (NULLED, ["multiple"] * 3),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_values_of_a_column_are_grids(name):
    values, statuses = COLUMNS[name]
    found = answers_to({"puzzle": values}, engine="dlx")
    assert [row["status"] for row in found] == statuses
    assert len({str(row["solution"]) for row in found}) == len(set(statuses))


def test_rows_of_a_grid_may_be_a_list_of_texts():
    assert bs.solve_batch([ROWS, tuple(ROWS)]).status.tolist() == ["unique"] * 2


@pytest.mark.parametrize("name", ["in.jsonl", "in.json"])
def test_texts_and_lists_may_be_mixed_in_json(tmp_path, name):
    values = [PUZZLE, CELLS, NUMBERS, LINES, PUZZLE[1:]]
    records = [{"id": k, "puzzle": value} for k, value in enumerate(values)]
    lines = "\n".join(map(json.dumps, records))
    (tmp_path / name).write_text(lines if name == "in.jsonl" else json.dumps(records, indent=2))
    bs.solve_file(tmp_path / name, tmp_path / "out.csv")
    rows = rows_of_csv(tmp_path / "out.csv")
    texts = [value if isinstance(value, str) else json.dumps(value) for value in values]
    assert [row["puzzle"] for row in rows] == texts
    assert rows[4]["message"] == "80 characters; a 9×9 grid has 81"
    rows = solved(tmp_path / name)
    assert [{"id": row["id"], "puzzle": row["puzzle"]} for row in rows] == records
    assert [row["status"] for row in rows] == ["unique"] * 4 + ["invalid"]


def test_files_with_texts_and_with_other_values_in_a_field_are_solved_apart(tmp_path):
    for name, value in (("a", "7"), ("b", [7])):
        rows = [{"puzzle": PUZZLE, "note": note} for note in ("x", value)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for inputs in (files, files[::-1]):
        with pytest.raises(bs.InputError, match=r"note \((string|JSON)\)' where .* note \("):
            bs.solve_file(inputs, tmp_path / "out.jsonl")


def test_a_field_without_a_value_in_a_file_has_the_type_of_the_others(tmp_path):
    for note in (None, 5, 2.5):
        (tmp_path / f"{note}.jsonl").write_text(json.dumps({"puzzle": PUZZLE, "note": note}))
    bs.solve_file(sorted(tmp_path.glob("*.jsonl"))[::-1], tmp_path / "out.csv")
    assert [row["note"] for row in rows_of_csv(tmp_path / "out.csv")] == ["", "5", "2.5"]


@pytest.mark.parametrize("form", PENCILLED)
def test_pencil_marks_are_marks_in_texts_files_and_cells(tmp_path, form):
    text, path = PENCILLED[form], tmp_path / "a.txt"
    reading = bs.read_problem(text)
    assert (reading.stack.size, len(reading.problem.rules.marks)) == (34, 47)
    assert bs.solve(text).solution == in_csv(text, tmp_path) == SOLUTION
    path.write_text(text)
    assert bs.count(path).count == 1
    assert answers(path) == [True]
    fewer = text.replace("124", "12", 1)
    path.write_text(f"{text}\n\n{fewer}\n\n{text}\n")
    assert answers(path) == [True, False, True]
    assert bs.count(f"{path}#2").count == 0
    assert column_of(PUZZLE, text, fewer) == ["unique", "unique", "unsolvable"]
    assert column_of(fewer) == ["unsolvable"]
    cells = [LINES_OF_MARKS] if form == "lines" else [text]
    assert bs.augment(pa.table({"puzzle": cells}), 2)["puzzle"].to_pylist() == cells


def test_pencil_marks_that_could_get_lost_are_faults():
    marked = PENCILLED["one line"]
    plain, both = answers_to({"puzzle": [PUZZLE, marked], "marks": ["e" + "." * 80] * 2})
    assert (plain["status"], both["status"]) == ("unsolvable", "invalid")
    assert "pencil marks, and marks in the column 'marks'" in both["message"]
    *_, late = bs.solve_stream(pa.table({"puzzle": [text]}) for text in (PUZZLE, marked))
    assert "which no puzzle of the first rows has" in late["message"][0].as_py()
    forms = answers_to({"puzzle": [PUZZLE, marked]}, "canonical", canonical=True)
    assert [form is None for form in forms] == [False, True]
    with pytest.raises(bs.ProblemError, match="grid 1: only grids of rows, columns and boxes, w"):
        bs.canonical_forms([PUZZLE, marked])
    mixed = pa.table({"puzzle": [marked, *[PUZZLE] * 3]})
    assert len(bs.dedupe(mixed, up_to_symmetry=True, chunk=1)) == 2


@pytest.mark.parametrize("cell", ["12", "10", "21"])
def test_a_wrong_number_is_no_pencil_mark(cell):
    numbers = [cell, *NUMBERS[1:]]
    with pytest.raises(bs.InputError, match=f"row 1, column 1: '{cell}' is not a number from 1 to"):
        bs.solve(" ".join(numbers))
    assert column_of(" ".join(numbers), PUZZLE) == ["invalid", "unique"]


SEVEN = [[0, 0, 1, 0, 1, 1, 0], [1, 0, 0, 1, 0, 0, 1], [0, 1, 1, 0, 0, 1, 0]]
SEVEN += [[1, 0, 0, 1, 0, 0, 0], [0, 1, 0, 0, 0, 0, 1], [0, 0, 0, 1, 1, 0, 1]]


def test_matrices_of_0_and_1_are_problems(tmp_path):
    (tmp_path / "a.matrix").write_text(lines_of(SEVEN, "") + "\n\n")
    (tmp_path / "b.txt").write_text(lines_of(SEVEN))
    (tmp_path / "c.txt").write_text(lines_of(SEVEN, ","))
    np.save(tmp_path / "d.npy", np.array(SEVEN, bool))
    for name in ("a.matrix", "matrix:b.txt", "matrix:c.txt", "d.npy", "matrix:d.npy"):
        form, colon, path = name.rpartition(":")
        reading = bs.read_problem(f"{form}{colon}{tmp_path / path}")
        assert (reading.problem.n_items, reading.problem.n_options) == (7, 6)
        assert bs.count(reading).count == 1
    for read, name in ((bs.count, "b.txt"), (statuses, "b.txt"), (statuses, "d.npy")):
        with pytest.raises(bs.InputError, match=f"name its form, too: matrix:.*{name}"):
            read(tmp_path / name)


@pytest.mark.parametrize("shape", [(5, 16), (1, 81), (9, 9), (16, 16)])
def test_arrays_that_can_be_grids_are_grids_unless_named(tmp_path, shape):
    array = np.zeros(shape, int)
    array[0, 0] = 1
    np.save(tmp_path / "a.npy", array)
    if len(array) in (1, 9):
        assert bs.read_problem(tmp_path / "a.npy").stack.size == 1
    else:
        with pytest.raises(bs.InputError, match=f"{len(array)} grids; .* or solve it alone$"):
            bs.read_problem(tmp_path / "a.npy")
    assert bs.read_problem(f"matrix:{tmp_path}/a.npy").problem.n_items >= shape[1]


def test_rows_have_the_items_of_options(tmp_path):
    for name in ("a.rows", "b.txt"):
        (tmp_path / name).write_text("1 3\n2, 4\n1 2\n3 4\n")
        named = str(tmp_path / name) if name == "a.rows" else f"rows:{tmp_path / name}"
        assert bs.count(named).count == 2
        assert bs.solve_file(named, tmp_path / "out.csv").multiple == 1


SIZES = [(36, json.dumps), (36, lines_of), (100, json.dumps)]


@pytest.mark.parametrize(("n", "write"), SIZES)
def test_large_grids_in_cells_are_read(n, write):
    text = write([[(r + c) % n + 1 for c in range(n)] for r in range(n)])
    how = {"box": {36: (6, 6), 100: (10, 10)}[n], "limit": 1, "node_limit": 1}
    [message] = answers_to({"puzzle": [text]}, "message", **how)
    assert message.startswith("digit")  # read, and clues clash


NO_GRID = [f"Here is the only solution of this puzzle: {SOLUTION}", f"{PUZZLE},{SOLUTION}"]


@pytest.mark.parametrize("text", [*NO_GRID, f"{'.' * 16} {PUZZLE[16:]}"])
def test_sentences_two_grids_and_parts_of_one_are_no_grid(text):
    assert column_of(PUZZLE, text) == ["unique", "invalid"]


def test_cells_between_tabs_may_be_blank_at_both_ends():
    text = "\t\t2\t\n\t1\t\t\n4\t\t\t\n\t\t\t3"
    first, _, third = answers_to({"puzzle": [text, LINES, text]}, "solution")
    assert first == third == bs.solve(text).solution
