import gzip
import io
import json
import tempfile
from contextlib import suppress
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from conftest import EASY, coloured_problems, npy, problems, problems_with_costs, rows_of_csv
from hypothesis import assume, given, strategies as st
from invoking import refused
from oracles import covers, solved
from scipy import sparse

from batchsolve import ExactCover, InputError, Sudoku, count, solve_file
from batchsolve.formats import exact_cover_files as files, whole_files
from batchsolve.formats.drawings import draw_grid, read_grid
from batchsolve.problems.families import family
from batchsolve.problems.notation import Notation, default_box, notations, numbers
from batchsolve.problems.sudoku import sudoku
from batchsolve.runs.reading import describe, picture, read_problem

DIGITS = [0 if c == "." else int(c) for c in EASY]
ROWS = [EASY[k : k + 9] for k in range(0, 81, 9)]
NINE = "\n".join(["", *ROWS, ""])


def numbered(separator, blank):
    return "\n".join(separator.join(row).replace(".", blank) for row in ROWS)


@pytest.fixture
def save(tmp_path):
    def write(name, content):
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return str(tmp_path / name)

    return write


def test_a_grid_is_described(save):  # test_forms has more ways to write it
    path = save("grid.txt", NINE)
    reading = read_problem(path)
    assert (reading.problem, reading.name) == (sudoku(3, 3), path)
    assert (reading.stack.dtype, reading.notation.name) == (np.uint32, "1-9")
    assert reading.stack.tolist() == sudoku(3, 3).stack(DIGITS).tolist()
    facts = {"kind": "sudoku 3x3", "items": 324, "options": 729, "entries": 2916, "clues": 30}
    assert facts.items() <= describe(reading).items()


def test_a_blank_row_is_no_rule():
    rows = ["* * * | * * *", ". . . | . . .", "_ _ _ | _ _ _", "0 0 0 | 0 0 0", "1 2 3 | 4 5 6"]
    text = "\n".join([*rows[:2], "------+------", *rows[2:], "-1 -1 -1 | -1 -1 -1"])
    _, notation, grid = read_grid(text)
    assert notation.name == "numbers"
    assert grid.reshape(6, 6)[4].tolist() == [1, 2, 3, 4, 5, 6]
    assert np.count_nonzero(grid) == 6


@given(data=st.data())
def test_pictures_are_read_back(data):
    n = data.draw(st.sampled_from([2, 4, 6, 7, 8, 9, 10, 12, 16, 25]))
    box = data.draw(st.sampled_from([(r, n // r) for r in range(1, n + 1) if n % r == 0]))
    notation = data.draw(st.sampled_from([*notations(n), numbers(n)]))
    seed, share = data.draw(st.integers(0, 2**32)), data.draw(st.sampled_from([0, 0.1, 0.5, 1]))
    random = np.random.default_rng(seed)
    grid = random.integers(1, n + 1, n * n) * (random.random(n * n) < share)
    drawing = draw_grid(sudoku(*box), notation, grid)
    assert len(set(map(len, drawing.splitlines()))) == 1
    problem, back, digits = read_grid(drawing, box, notation.name)
    assert problem is sudoku(*box)
    assert back.symbols == notation.symbols
    assert digits.tolist() == grid.tolist()


def test_picture_of_a_file_is_a_file(save):
    reading = read_problem(save("grid.txt", NINE.replace(".", "0")))
    assert picture(reading).startswith("+-------+-------+-------+\n| 5 3 . | . 7 . | . . . |\n")
    again = read_problem(save("drawing.txt", picture(reading)))
    assert again.stack.tolist() == reading.stack.tolist()
    with pytest.raises(InputError, match="queens:4: only grids have a picture"):
        picture(read_problem("queens:4"))


def grid_of(n, symbols, separator, filled=None):
    """Return a solved grid, or its first cells, N to a line, with a separator between symbols."""
    cells = (solved(*default_box(n)).ravel() - 1).tolist()
    written = [symbols[d] if filled is None or k < filled else "." for k, d in enumerate(cells)]
    lines = [separator.join(written[r * n : (r + 1) * n]) for r in range(n)]
    return "\n".join(lines), [d + 1 if w != "." else 0 for d, w in zip(cells, written, strict=True)]


LARGE = [
    *product(["A-P", "1-9A-G", "0-9A-F"], [16], ["", " ", ","], [200]),
    *product(["numbers"], [16, 25], [" ", "\t", ", ", " | "], [9, None]),
]


@pytest.mark.parametrize(("name", "n", "separator", "filled"), LARGE)
def test_large_grids_tell_their_symbols(name, n, separator, filled):
    text, digits = grid_of(n, Notation.from_name(name, n).names, separator, filled)
    problem, notation, grid = read_grid(text)
    assert (problem, notation.name) == (sudoku(*default_box(n)), name)
    assert grid.tolist() == digits


def test_letters_that_leave_the_alphabet_open_are_refused(save):
    text, digits = grid_of(16, "ABCDEFGHIJKLMNOP", " ", filled=4)
    path = save("grid.txt", text)
    with pytest.raises(InputError, match=r"grid\.txt: the alphabet can be .* or A-P; say which"):
        read_problem(path)
    assert read_problem(path, alphabet="A-P").stack.tolist() == sudoku(4, 4).stack(digits).tolist()


def test_box_chooses_the_shape_and_the_size(save):
    path = save("grid.txt", "1....." + "......" * 5)
    assert read_problem(path).problem is sudoku(2, 3)
    assert read_problem(path, box=(3, 2)).problem is sudoku(3, 2)
    seven = save("seven.txt", "\n".join(["1234567"] * 7))
    assert read_problem(seven, box=(1, 7)).problem is sudoku(1, 7)
    lines = save("lines.txt", "\n".join(["1..............."] * 16))
    with pytest.raises(InputError, match="one grid of 16×16 cells, or 16 smaller ones, one a line"):
        read_problem(lines)
    reading = read_problem(lines, box=(4, 4), alphabet="1-9A-G")
    assert (reading.problem, reading.stack.size) == (sudoku(4, 4), 16)
    with pytest.raises(InputError, match=r"16 grids, one a line; .* as in .*lines\.txt#1"):
        read_problem(lines, box=(2, 2))


BAD_GRIDS = {
    "": "is empty",
    "\n \n": "is empty",
    "# nothing\n+---+\n": "no grid, only comments, frames or blank lines",
    EASY[:80]: "a line of 80 cells",
    f"# two\n{EASY}\n{EASY[:80]}\n{EASY}": "3 grids, one a line",
    "\n".join([" ".join(EASY)] * 3): "3 grids, one a line",
    "\n".join([EASY] * 81): "81 grids, one a line",
    NINE.replace("53..7....", "53..7..."): "line 2: 8 cells where most lines have 9",
    NINE.replace("53..7....\n", ""): "no grid: 8 lines of 9 cells",
    NINE.replace("98", "9ü"): "line 4: row 3, column 3: 'ü' is not in the alphabet 1-9",
    NINE.replace("98", "9\1"): r"line 4: row 3, column 3: '\\x01' is not in the alphabet",
    numbered(" ", "0").replace("9 8", "9 10"): "line 3: row 3, column 3: '10' is not a number",
    numbered(" ", "-1").replace("9 8", "9 -2"): "row 3, column 3: '-2' is not a number",
    grid_of(16, list("ABCDEFGHIJKLMNOP"), " ")[0].replace("B", "BB", 1): "column 2: 'BB' is not",
    "\n".join(["1234567"] * 7): "a grid of 7×7 cells has no usual boxes; name its `box`",
    "1 23 23\n4 1 23 23 4\n1 23 23 4\n1 23 23 4": "line 1: 3 cells where most lines have 4",
    "nonsense": "no grid: a line of 8 cells",
    "<html>\n<body>": "no grid",
}


def test_a_box_or_an_alphabet_that_does_not_fit_is_refused(save):
    grid, one = save("grid.txt", NINE), save("one.ec", "1 1\na\na\n")
    for name, how, why in (
        (grid, {"box": (2, 3)}, "a grid of 9×9 cells; boxes of 6 cells make 6×6"),
        (grid, {"alphabet": "1-8"}, r"grid\.txt: alphabet '1-8' has the symbols"),
        (grid, {"column": "puzzle"}, r"grid\.txt: a column needs a row"),
        ("1.....2..3.....4", {"column": "x"}, "4: is a grid, which has no columns to name"),
        ("queens:4", {"box": (2, 2)}, "queens:4: only grids in files have a box"),
        (one, {"alphabet": "1-9"}, r"one\.ec: is an exact cover problem; only grids"),
    ):
        with pytest.raises(InputError, match=why):
            read_problem(name, **how)


def test_problems_come_from_standard_input(typed):  # test_forms has compressed files
    named = [files.write_ec(family(name)) for name in ("queens:6", "steiner:7")]
    for content in (NINE, "p ec 2\ns 1 2\n", '{"options": [["a"]]}', *named):
        typed(content)
        reading = read_problem("-")
        kind = "sudoku 3x3" if content == NINE else "exact cover"
        assert (describe(reading)["kind"], reading.name) == (kind, "standard input")
    typed("")
    with pytest.raises(InputError, match=r"^standard input: is empty"):
        read_problem("-")


# rows of a corpus


@pytest.fixture
def corpus(save):
    rows = [EASY, EASY.replace("5", ".", 1), EASY[:80], EASY]
    table = "".join(f"basic{k},{row},{k % 3}\n" for k, row in enumerate(rows, 1))
    return save("corpus.csv", f"id,puzzle,level\n{table}")


@pytest.mark.parametrize("row", ["2", "id=basic2", "level=2"])
def test_a_row_is_found_by_its_number_or_a_value(corpus, row):
    reading = read_problem(f"{corpus}#{row}")
    assert reading.name == f"{corpus}#{row}"
    assert reading.problem is sudoku(3, 3)
    assert reading.stack.tolist() == sudoku(3, 3).stack([0, *DIGITS[1:]]).tolist()


NO_ROWS = [
    ("0", "rows count from 1, as in .*#1"),
    ("5", "there is no row 5; the last one is 4"),
    ("9" * 30, "no row is called"),
    ("-1", "no row is called '-1'"),
    ("", "no row is called ''"),
    ("basic2", "no row is called 'basic2'"),
    ("name=x", "unknown column 'name'; choose from 'id', 'puzzle', 'level'"),
    ("id=x", "no row has 'x' in column 'id'"),
    ("level=1", r"2 rows have '1' in column 'level' \(1, 4\); name one .*#1"),
    ("3", "#3: 80 characters; a 9×9 grid has 81"),
]


@pytest.mark.parametrize(("row", "message"), NO_ROWS)
def test_rows_that_do_not_exist_are_refused(corpus, row, message):
    with pytest.raises(InputError, match=message) as caught:
        read_problem(f"{corpus}#{row}")
    assert str(caught.value).count(f"{corpus}: ") + str(caught.value).count(f"{corpus}#3: ") == 1


def test_rows_of_other_tables(save):
    less = EASY.replace("9", ".")
    records = [{"puzzle": grid, "id": k, "tags": [k]} for k, grid in enumerate([EASY, less])]
    others = [{"puzzle": EASY, "id": "a"}, {"puzzle": 0, "id": 1}]
    tables = {
        "a.txt": f"# comment\n{EASY}\n\n{less}\n",
        "a.jsonl": "\n".join(map(json.dumps, records)),
        "with#1.tsv": f"puzzle\tid\n{EASY}\t0\n{less}\t1\n",
    }
    for name, content in tables.items():
        path = save(name, content)
        for row in ("2", "id=1")[: 1 if name.endswith("txt") else 2]:
            assert read_problem(f"{path}#{row}").stack.size == 30 - EASY.count("9")
    mixed = save("mixed.jsonl", "\n".join(map(json.dumps, others)))
    assert read_problem(f"{mixed}#id=a").stack.size == 30
    with pytest.raises(InputError, match="column 'tags' has values of list"):
        read_problem(save("a.jsonl", tables["a.jsonl"]) + "#tags=1")


def test_column_box_and_alphabet_of_a_row(save):
    text = save("two.csv", "a,b\n1234......2.....,123456" + "." * 30 + "\n")
    assert read_problem(f"{text}#1", column="a").problem is sudoku(2, 2)
    assert read_problem(f"{text}#1", column="b", box=(3, 2)).problem is sudoku(3, 2)
    with pytest.raises(InputError, match=r"two\.csv: unknown column 'c'"):
        read_problem(f"{text}#1", column="c")


def test_the_whole_column_decides_the_alphabet(save):
    first, second = "ABCD" + "." * 252, "P" + "." * 255
    path = save("corpus.txt", f"{first}\n{second}\n")
    assert read_problem(f"{path}#1").notation.name == "A-P"
    assert read_problem(f"{path}#1").stack.tolist() == [0, 17, 34, 51]


# families and files


def test_families_are_read_if_no_file_has_the_name(here):
    reading = read_problem("queens:6")
    assert reading.problem.fingerprint == family("queens:6").fingerprint
    assert (reading.stack.size, reading.stack.dtype, reading.notation) == (0, np.uint32, None)
    assert read_problem("sudoku:2x3").notation.name == "1-6"
    (here / "queens:6").write_text(EASY)
    assert isinstance(read_problem("queens:6").problem, Sudoku)


def test_missing_files_and_directories(tmp_path, save):
    for text, message in {
        "puzzles-0001.txt": r"puzzles-0001\.txt: no such file, nor one of the families queens:N",
        "data/sudoku.csv#3": r"data/sudoku\.csv: No such file",
        "no 1 name": "no such file",
        "nothing:3": "nothing:3: no such file, nor",
        "": "no such file",
        "#1": "no such file",
        "a\0b": "no such file",
        str(tmp_path): "is a directory; name a file in it",
        f"{tmp_path}#1": "is a directory",
        "queens:x": "write queens:N",
        save("latin1.txt", "ok\nüber".encode("latin-1")): "not UTF-8 text",
        save("latin1.ec", "1 1\nü\nü".encode("latin-1")): r"not UTF-8 text \(byte 0xfc in line 2\)",
        save("utf16.dlx", "a b\na b\n".encode("utf-16")): "not UTF-8 text, but UTF-16 text",
        save("latin1.csv", "id,puzzle\nü,1".encode("latin-1")) + "#1": "not UTF-8 text",
    }.items():
        with pytest.raises(InputError, match=message):
            read_problem(text)


# exact cover files

named = st.text(st.characters(exclude_categories=["Z", "C"], exclude_characters="|:"), min_size=1)


@st.composite
def named_problems(draw):
    problem = draw(problems())
    names = draw(st.lists(named, min_size=problem.n_items, max_size=problem.n_items, unique=True))
    arrays = (problem.indptr, problem.indices, problem.n_items, problem.n_primary)
    return ExactCover(*arrays, item_names=names)


def same(one, other):
    names = [[p.item_name(i) for i in range(p.n_items)] for p in (one, other)]
    return one.fingerprint == other.fingerprint and names[0] == names[1]


@given(problem=problems() | named_problems())
def test_what_is_written_as_ec_is_read_back(problem):
    assert same(files.read_ec(files.write_ec(problem)), problem)


def coloring_names(problem):
    return [problem.option_name(o) for o in range(problem.n_options)]


@given(problem=problems() | named_problems() | coloured_problems() | problems_with_costs())
def test_what_is_written_as_dlx_is_read_back(problem):
    assume(problem.n_primary and problem.n_options)
    assert coloring_names(files.read_dlx(files.write_dlx(problem))) == coloring_names(problem)
    assert same(files.read_dlx("| a comment\n\n" + files.write_dlx(problem)), problem)


@given(problem=problems() | named_problems() | coloured_problems() | problems_with_costs())
def test_json_and_matrices_hold_the_same_problem(problem):
    names = [problem.item_name(i) for i in range(problem.n_items)]
    fields = {
        "items": names[: problem.n_primary],
        "secondary": names[problem.n_primary :],
        "options": [[names[i] for i in problem.option(o)] for o in range(problem.n_options)],
    }
    if problem.colors is not None:
        rows = map(problem.coloring, range(problem.n_options))
        fields["colors"] = [{names[i]: c for i, c in row.items() if c} for row in rows]
    if problem.bounds is not None:
        fields["bounds"] = dict(zip(names, problem.bounds.tolist(), strict=False))
    if problem.costs is not None:
        fields["costs"] = problem.costs.tolist()
    assert same(files.read_json(json.dumps(fields)), problem)
    assert same(files.read_json(files.write_json(problem)), problem)
    assert files.read_npz(files.write_npz(problem)).fingerprint == problem.fingerprint
    assert same(files.read_json(json.dumps(fields | {"items": names})), problem)


@pytest.mark.parametrize("text", ["langford:4", "queens:5", "dominoes:2x3", "sudoku:2x2"])
def test_matrices_of_families_are_read(text, save, tmp_path):
    problem = family(text)
    parts = np.ones(problem.indices.size), problem.indices, problem.indptr
    matrix = sparse.csr_array(parts, (problem.n_options, problem.n_items))
    sparse.save_npz(tmp_path / "a.npz", matrix)
    assert read_problem(tmp_path / "a.npz").problem.n_primary == problem.n_items
    content = npz(**arrays_of(matrix), n_primary=problem.n_primary)
    for name, data in (("b.npz", content), ("b.npz.gz", gzip.compress(content))):
        reading = read_problem(save(name, data))
        assert reading.problem.fingerprint == problem.fingerprint
        assert covers(reading.problem) == covers(problem)


def test_dlx_has_comments_and_a_bar():
    text = "| Knuth's toy\n\n  | more\na b c | d e\n c e\n| within\na d\n\nb\n"
    problem = files.read_dlx(text)
    assert problem.item_names == ("a", "b", "c", "d", "e")
    assert (problem.n_primary, problem.n_options) == (3, 3)
    assert covers(problem) == {frozenset({0, 1, 2})}
    assert same(files.read_dlx(text.replace("| d", "|d")), problem)


def test_ec_with_numbers_names_items_as_the_file_does():
    problem = files.read_ec("c comment\np ec 3\nc more\ns 1 3\ns 2\n")
    assert problem.item_names == ("1", "2", "3")
    assert covers(problem) == {frozenset({0, 1})}
    assert files.read_ec("p ec 3 0\n").n_options == 0


def test_sets_say_how_long_they_are(save, typed):
    text = "4 3\n2 1 3\n2 2 4\n\n1 4\n"
    problem = files.read_sets(text)
    assert problem.item_names == ("1", "2", "3", "4")
    assert covers(problem) == {frozenset({0, 1})}
    for name in (save("a.sets", text), save("a.txt", text), "sets:" + save("b.dlx", text)):
        assert same(read_problem(name).problem, problem)
    typed(text)
    assert same(read_problem("-").problem, problem)
    typed("4 2\n2 1 3\n2 2 4\n")  # not a grid with a short line
    assert read_problem("-").problem.n_options == 2
    with pytest.raises(InputError, match="only grids have a box"):
        read_problem(save("a.sets", text), box=(2, 2))


def test_a_form_before_a_name_tells_how_to_read_it(save, typed):
    text = "a b | x\na x\nb\n"
    for name in ("dlx:" + save("a", text), "dlx:" + save("a.ec", text)):
        assert same(read_problem(name).problem, files.read_dlx(text))
    typed(text)
    assert same(read_problem("dlx:-").problem, files.read_dlx(text))
    with pytest.raises(InputError, match="dlx:nothing: no such file"):
        read_problem("dlx:nothing")


def test_blank_lines_of_ec_are_no_options():
    assert files.read_ec("\n2 1\n\na b\n\na b\n\n").n_options == 1
    assert files.read_ec("0 0\n\n").n_items == 0
    assert same(files.read_ec(files.write_ec(ExactCover([0], [], 0))), ExactCover([0], [], 0))


def test_json_takes_names_and_options_in_order(save):
    fields = {"options": [["b", 1], ["a"]], "secondary": [1], "option_names": ["x", "y"]}
    problem = read_problem(save("a.json", json.dumps(fields))).problem
    assert problem.item_names == ("b", "a", "1")
    assert (problem.n_primary, problem.option_names) == (2, ("x", "y"))
    reading = read_problem(save("a.txt", json.dumps({"options": []})))
    assert not any((describe(reading) | {"kind": ""}).values())


def arrays_of(matrix):
    """Return the arrays of a file of a sparse matrix."""
    names = ("indptr", "indices", "data", "shape", "format")
    return {name: getattr(matrix, name) for name in names}


CSR = arrays_of(sparse.csr_array(np.eye(2)))


def npz(**change):
    """Return a file with a matrix some of whose arrays are others, or are not there."""
    arrays = {name: array for name, array in (CSR | change).items() if array is not None}
    np.savez(file := io.BytesIO(), **arrays)
    return file.getvalue()


BAD_FILES = [
    ("a.dlx", "", "is empty"),
    ("a.dlx", "| only a comment\n", "no line names the items"),
    ("a.dlx", "a b\na c\n", "line 2: the option names the unknown item 'c'; the items are: a b"),
    ("a.dlx", "| c\na b\n\na a\n", "line 4: the option names item 'a' twice"),
    ("a.dlx", "a b a\na\n", "line 1: item 'a' is named twice"),
    ("a.dlx", "a | b | c\na\n", r"line 1: a second '\|'"),
    ("a.dlx", "a|b\na\n", r"line 1: the item 'a\|b' holds '\|'"),
    ("a.dlx", "a | x\na x:red\na:red x\n", "line 3: 'a:red' gives the primary item 'a' a colour"),
    ("a.dlx", "a | x\na x:\n", "line 2: 'x:' is not an item with a colour; write item:colour, the"),
    ("a.dlx", "a | x\na :red\n", "line 2: ':red' is not an item with a colour"),
    ("a.dlx", "a | x\na x:b:c\n", "line 2: 'x:b:c' is not an item with a colour"),
    ("a.dlx", "a | x\na x:b|\n", r"line 2: 'x:b\|' is not an item with a colour"),
    ("a.dlx", "a | x\na x:b x:c\n", "line 2: the option names item 'x' twice"),
    ("a.dlx", "a | x\na y:b\n", "line 2: the option names the unknown item 'y'; the items are: a"),
    ("a.dlx", "a | 2|b\na b\n", "line 1: bounds are given to 'b', which is not a primary item"),
    ("a.dlx", "a | x:b\na x:b\n", "line 1: the item 'x:b' has a colon; bounds are written least:m"),
    ("a.dlx", "a 1:2:3|b\na\n", r"line 1: the item '1:2:3\|b' has a colon"),
    ("a.dlx", "a 2:1|b\na\n", r"line 1: '2:1\|b' has the bounds \(2, 1\); the lower bound is"),
    ("a.dlx", "a 0|b\na\n", r"line 1: '0\|b' has the bounds \(0, 0\); the upper bound is 1 to"),
    ("a.dlx", "a 2|\na\n", r"line 1: the item '2\|' holds '\|'"),
    ("a.ec", "a b c\na b\n", "line 1: expected 'n_items n_options' or 'p ec n_items', not 'a b c'"),
    ("a.ec", "2 1\n", "line 2: 0 items where line 1 says 2"),
    ("a.ec", "2 1\na\na\n", "line 2: 1 items where line 1 says 2"),
    ("a.ec", "2 2\na b\na\n", "1 options where line 1 says 2"),
    ("a.ec", "2 1\na b\na\nb\n", "2 options where line 1 says 1"),
    ("a.ec", "2 1\na b\na:1 b\n", "line 3: 'a:1' gives item 'a' a colour; .ec has no colours, wri"),
    ("a.ec", "-2 1\na b\na b\n", "line 1: '-2' is not a whole number"),
    ("a.ec", "c only a comment\n", "line 1: expected the header, 'p ec n_items'"),
    ("a.ec", "p cnf 3 4\ns 1\n", "line 1: expected the header, 'p ec n_items'"),
    ("a.ec", "p ec x\ns 1\n", "line 1: 'x' is not a whole number"),
    ("a.ec", "p ec 99999999999\n", "99999999999 items; 0 to 10,000,000 are possible"),
    ("a.ec", "c\np ec 3\ns 1 4\n", "line 3: the option names the unknown item '4'; the items are"),
    ("a.ec", "p ec 3\ns 1 b\n", "line 2: 'b' is not a whole number"),
    ("a.ec", "p ec 3\n1 2\n", "line 2: expected an option, 's item …', not '1'"),
    ("a.ec", "c\ns 1\np ec 3\n", "line 2: expected the header, 'p ec n_items'"),
    ("a.ec", "p ec 3 2\ns 1\n", "1 options where line 1 says 2"),
    ("a.json", "{\n'a'}", "not JSON that can be read: .*: line 2"),
    ("a.json", "[" * 100_000, "not JSON"),
    ("a.json", '{"options": [["a"]], "bounds": {"a": [1, 1], "a": [2, 2]}}', "an object has two f"),
    ("a.json", "[1]", "expected an object with a list of lists of items called 'options'"),
    ("a.json", '{"options": 3}', "expected an object with a list of lists"),
    ("a.json", '{"options": [3]}', "option 0 must be a list of names, not 3"),
    ("a.json", '{"options": [["a"], [null]]}', "option 1 must hold names, not null"),
    ("a.json", '{"options": [[-1, 1]]}', "option 0 must hold names, not -1; they are texts, or"),
    ("a.json", '{"options": [["a", "a"]]}', "option 0 names item a twice"),
    ("a.json", '{"options": [["a"]], "items": ["b"]}', "option 0 names the unknown item 'a'"),
    ("a.json", '{"options": [], "items": "ab"}', 'items must be a list of names, not "ab"'),
    ("a.json", '{"options": [], "items": [1, "1"]}', "item '1' is declared twice"),
    ("a.json", '{"options": [], "secundary": []}', "unknown field 'secundary'; choose from"),
    ("a.json", '{"options": [], "option_names": ["a"]}', "1 option names for 0 options"),
    ("a.json", '{"options": [["a"]], "colors": 3}', "colors must be a list of objects .* not 3"),
    ("a.json", '{"options": [["a"]], "colors": [{"a": []}]}', "rs of option 0 must hold names"),
    ("a.json", '{"options": [["a"]], "colors": [{"b": 1}]}', "0 gives the item 'b' a colour, but"),
    ("a.json", '{"options": [["a"]], "colors": [{"a": 1}]}', "the primary item a a colour"),
    ("a.dlx", "a\na |\n", r"line 2: '\|' is not a cost; write it as \|\$25"),
    ("a.dlx", "a\na |-1\n", r"line 2: '\|-1' is not a cost; write it as"),
    ("a.dlx", "a\na |$999999999999999\n", "the costs come to more than 281,474,976,710,656"),
    ("a.json", '{"options": [["a"]], "costs": [1.5]}', "costs must hold whole numbers"),
    ("a.json", '{"options": [["a"]], "costs": null}', "the field 'costs' is null; leave it out"),
    ("a.json", '{"options": [["a"]], "costs": [1, 2]}', r"costs of shape \(2,\) for 1 options"),
    ("a.json", '{"options": [["a"]], "costs": [-1]}', "option 0 has the cost -1; a cost is 0 or"),
    ("a.json", '{"options": [["a"]], "bounds": [1]}', r"a mapping of items to pairs, not \[1\]"),
    ("a.json", '{"options": [["a"]], "bounds": {"a": [true, 1]}}', "are a least and a most, two"),
    ("a.json", '{"options": [["a"]], "bounds": {"b": [1, 1]}}', "'b', which is not a primary item"),
    ("a.json", '{"options": [["a"]], "colors": []}', "colours of 0 options for 1 options"),
    ("a", "1 2 3 4\n3 4 1 2\n2 1 4 3\n", "such as 9 or 16$"),  # which reads as .dlx, too
    ("a", "a b\na |$3\nb\n", "no grid: .* name its form, too: dlx:"),
    ("a", "2 2\na b\na b\n", "no grid: .*, ec:"),
    ("a.csv", "1,3\n2\n1,2\n3\n", "no grid: .* name its form, too: rows:"),
    ("a.sets", "2\n", "line 1: expected 'n_items n_options', not '2'"),
    ("a.sets", "2 1\n2 1\n", "line 2: 1 items where its size is 2"),
    ("a.sets", "2 2\n2 1 2\n", "1 options where line 1 says 2"),
    ("a.sets", "2 1\nx 1\n", "line 2: 'x' is not a whole number"),
    ("a.matrix", "01\n10\n1\n", "line 3: not a row of 0 and 1"),
    ("a.matrix", "01\n12\n", "line 2: not a row of 0 and 1"),
    *(
        ("a.rows", f"1 2\n{line}\n", r"line 2: '(-1|[^0-9])' cannot be in the name of")
        for line in ("{2,3}", "# sets", "A: 1 4", "2 3 -1", "[2, 3]", '"2" "3"', "2 |3")
    ),
    ("a.rows", npy(np.eye(2)), "array of NumPy; name a row of it, .* as matrix:FILE"),
    ("a.npz", b"PK\3\4 broken", "not an .npz file of arrays, or a damaged one"),
    ("a.npz", npy(np.eye(2)), "not an .npz file of arrays, or a damaged one"),
    ("a.npz", npz(indptr=None), "no array is called 'indptr'"),
    ("a.npz", npz(format="csc"), "the matrix has the form 'csc'"),
    ("a.npz", npz(data=[1, 0]), "an entry is not 1"),
    ("a.npz", npz(data=np.ones(3)), "the arrays do not fit together"),
    ("a.npz", npz(shape=[3, 2]), "the arrays do not fit together: 3 rows"),
    ("a.npz", npz(shape=[2, 1]), "option 1 has item 1"),
    ("a.npz", npz(shape=[2, 10**12]), "1000000000000 items; 0 to"),
    ("a.npz", npz(shape=2), "the array 'shape' must hold 2 whole numbers"),
    ("a.npz", npz(indices=[0, -1]), "option 1 has item -1"),
    ("a.npz", npz(indices=[0, None]), "not an .npz file of arrays"),
    ("a.npz", npz(colors=[0, 1]), "option 1 gives the primary item 1 a colour"),
    ("a.npz", npz(colors=[0]), "1 colours for 2 entries"),
    ("a.npz", npz(bounds=[1, 2]), "bounds must have 2 dimensions, not 1"),
    ("a.npz", npz(bounds=[[1, 2]]), r"bounds of shape \(1, 2\)"),
    ("a.npz", npz(n_primary=1.0), "n_primary is a whole number, not 1.0"),
    ("a.npz", npz(n_primary=[1, 2]), "the array 'n_primary' must hold one whole number"),
    ("a.txt", b"PK\3\4 broken", "cannot be read as a zip archive"),
    ("a.txt", "%PDF\nORC", "no grid"),
]


BAD_FILES += [("bad.txt", text, message) for text, message in BAD_GRIDS.items()]


@pytest.mark.parametrize(("name", "content", "message"), BAD_FILES, ids=[c for *_, c in BAD_FILES])
def test_bad_files_say_what_and_where(name, content, message, save):
    path = save(name, content)
    with pytest.raises(InputError, match=message) as caught:
        read_problem(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_matrices_and_packed_files_are_unpacked_up_to_a_bound(save, tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "a.npz", **CSR, padding=np.zeros(10_000))
    paths = [tmp_path / "a.npz", save("a.dlx.gz", gzip.compress(b"a\n" * 10_001))]
    monkeypatch.setattr(whole_files, "MOST_BYTES", 20_000)
    monkeypatch.setattr(np, "load", None)  # the directory has the sizes, so nothing is loaded
    for path in paths:
        with pytest.raises(InputError, match=rf"^{path}: unpacks to more than"):
            read_problem(path)
    assert read_problem(save("b.dlx.gz", gzip.compress(b"a\n" * 10_000))).problem.n_items == 1


def test_devices_and_pipes_without_end_are_refused(save, monkeypatch, tmp_path):
    monkeypatch.setattr(whole_files, "MOST_BYTES", 20_000)
    for name in ("/dev/zero", "dlx:/dev/zero"):
        with pytest.raises(InputError, match="/dev/zero: is a device, which may have no end"):
            read_problem(name)
    (tmp_path / "zero.dlx").symlink_to("/dev/zero")
    paths = [str(tmp_path / "zero.dlx"), save("a.dlx", "a\na\n")]
    solve_file(paths, tmp_path / "out.csv", jobs=1)
    rows = rows_of_csv(tmp_path / "out.csv")
    assert [row["status"] for row in rows] == ["invalid", "unique"]
    assert "is a device, which may have no end; name a file" in rows[0]["message"]
    for command in (
        ["count", "queens:6", "--stacks", "/dev/zero"],
        ["merge", "/dev/zero"],
        ["count", "queens:6", "--up-to-symmetry", "--symmetries", "/dev/zero"],
        ["solve", save("a.csv", "puzzle\n1...\n"), "--regions", "/dev/zero", "-o", "out.csv"],
    ):
        assert "/dev/zero: is a device" in refused(*command)
    assert "standard input: has more than" in refused("count", "dlx:-", input="a\n" * 10_001)


def with_items(*names):
    return ExactCover([0, 2], [0, 1], 2, item_names=names)


def with_colours(*names):
    return ExactCover([0, 2, 4], [0, 1, 0, 1], 2, 1, colors=[0, 1, 0, 2], color_names=names)


NOT_HELD = [
    ("ec", with_items("a b", "c"), "item 0 is called 'a b'; here names are words without"),
    ("ec", with_items("", "c"), "item 0 is called ''"),
    ("ec", with_items("a", "|"), r"item 1 is called '\|'"),
    ("ec", with_items("a", "a"), "two items are called 'a'"),
    ("dlx", with_items("a", "b:c"), "item 1 is called 'b:c'; here names are words without"),
    ("dlx", with_items("a\u2028", "b"), "item 0 is called"),
    ("dlx", with_items("\ufeffa", "b"), "item 0 is called"),
    ("dlx", with_colours("red", "red"), "two colours are called 'red'"),
    ("dlx", with_colours("red", "a:b"), "colour 1 is called 'a:b'; here names are words w"),
    ("dlx", with_colours("", "red"), "colour 0 is called ''"),
    ("dlx", ExactCover([0, 1], [0], 1, n_primary=0), "without primary items"),
    ("ec", with_colours("red", "blue"), r"an \.ec file cannot hold colours; write \.dlx"),
    ("ec", ExactCover([0, 1], [0], 1, bounds=[[0, 1]]), "hold bounds; write .dlx"),
    ("ec", ExactCover([0, 1], [0], 1, costs=[3]), "hold costs; write .dlx"),
]


@pytest.mark.parametrize(("form", "problem", "message"), NOT_HELD)
def test_what_a_form_cannot_hold_is_refused(form, problem, message):
    with pytest.raises(InputError, match=message):
        getattr(files, f"write_{form}")(problem)


def test_npz_files_have_costs_bounds_and_colours(save):
    pairs = {"indptr": [0, 2, 4], "indices": [0, 1] * 2, "data": np.ones(4), "n_primary": 1}
    given = {"costs": [3, 0], "bounds": [[1, 2]], "colors": [0, 7, 0, 7]}
    reading = read_problem(save("a.npz", npz(**pairs, **given)))
    assert {name: getattr(reading.problem, name).tolist() for name in given} == given
    assert {"costs": True, "bounded": 1, "colors": 1}.items() <= describe(reading).items()


pieces = st.sampled_from([*'0123456789 \n|-+.,;:#{}[]"ab', "p ec 3\n", "s 1 2\n", "2 1\n", EASY])
texts = st.lists(pieces, max_size=40).map("".join).map(str.encode)
suffixes = st.sampled_from([".ec", ".dlx", ".json", ".npz", ".txt", ".csv", ".sdk", ""])


rows = st.sampled_from(["", "#1"])
contents = st.tuples(texts, rows) | st.tuples(st.binary(max_size=40), st.just(""))


@given(file=contents, suffix=suffixes)
def test_whatever_a_file_holds_is_read_or_refused(file, suffix):
    content, row = file
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"a{suffix}")
        path.write_bytes(content)
        with suppress(InputError):
            assert read_problem(f"{path}{row}").problem.n_items >= 0


def test_options_without_primary_items_are_in_no_cover_and_counted_by_show(save):
    path = save("a.dlx", "a | x y\nx\na x\na\ny x\n")
    assert describe(read_problem(path))["without_primary"] == 2
    assert count(path).count == 2
