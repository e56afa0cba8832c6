"""Tables whose rows have different shapes, against each row solved alone."""

import csv
import random

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from conftest import PUZZLE, SOLUTION, answers_to, rows_of_csv
from cutting import small_blocks
from hypothesis import given, strategies as st
from oracles import solved as square

import batchsolve as bs
from batchsolve.problems.notation import Notation
from batchsolve.tables import corpus as corpora
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.sources import TableSource

ALPHABETS = {4: "1-4", 6: "1-6", 8: "1-8", 9: "1-9", 10: "1-9A", 12: "1-9A-C", 15: "1-9A-F"}
ALPHABETS |= {16: "1-9A-G", 25: "numbers"}
BOXES = [(2, 2), (2, 3), (3, 2), (2, 4), (3, 3), (2, 5), (3, 4), (3, 5), (4, 4), (5, 5)]
USUAL = [box for box in BOXES if box != (3, 2)]


def grid(box, seed, n_blanks=None):
    """A puzzle of this shape and a solution, as text; its digits all occur."""
    rng = random.Random(f"{box} {seed}")
    n = box[0] * box[1]
    digits = rng.sample(range(1, n + 1), n)
    solution = [digits[digit - 1] for digit in square(*box).flat]
    blanks = set(rng.sample(range(n * n), rng.randrange(n) if n_blanks is None else n_blanks))
    puzzle = [0 if k in blanks else digit for k, digit in enumerate(solution)]
    notation = Notation.from_name(ALPHABETS[n], n)
    return notation.decode(np.array([puzzle, solution], np.uint8), np.ones(2, bool)).to_pylist()


def alone(text, box, **how):
    """The answer to a puzzle alone in a table, of the shape that is named."""
    return answers_to({"puzzle": [text]}, box=box, alphabet=ALPHABETS[box[0] * box[1]], **how)[0]


@st.composite
def mixed_rows(draw):
    """Rows of many shapes with malformed ones among them, and the shape of each or None."""
    shapes = draw(st.lists(st.sampled_from([*BOXES, None]), min_size=1, max_size=12))
    rows = []
    for k, box in enumerate(shapes):
        if box is None:
            bad = ["", "12", "x" * 81, "." * 80, "9" + "." * 15, "1 2 3", "é" * 81, "1" * 7000]
            rows.append((draw(st.sampled_from(bad)), "", None))
            continue
        text, _ = grid(box, k)
        named = box == (3, 2) or draw(st.booleans())
        rows.append((text, f"{box[0]}x{box[1]}" if named else "", box))
    return rows


@given(rows=mixed_rows(), jobs=st.sampled_from([1, 2]), size=st.integers(100, 5000))
def test_rows_of_any_shape_are_answered_as_if_each_were_alone(tmp_path_factory, rows, jobs, size):
    if not any(box for _, _, box in rows):
        return
    folder = tmp_path_factory.mktemp("mixed")
    with open(folder / "in.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("puzzle", "box"), *(row[:2] for row in rows)])
    with small_blocks(size):
        bs.solve_file(folder / "in.csv", folder / "out.csv", engine="dlx", jobs=jobs, stats=True)
    found = rows_of_csv(folder / "out.csv")
    assert [row["puzzle"] for row in found] == [text for text, _, _ in rows]
    for (text, _, box), row in zip(rows, found, strict=True):
        if box is None:
            assert row["status"] == "invalid"
            assert row["message"]
            continue
        wanted = alone(text, box, engine="dlx", stats=True)
        for name in ("solution", "status", "n_solutions", "nodes"):
            assert row[name] == str(wanted[name]), (name, row, wanted)


def mixture(n_rows, boxes=USUAL):
    """A table of rows of these shapes in turn."""
    return pa.table({"puzzle": [grid(boxes[k % len(boxes)], k, 3)[0] for k in range(n_rows)]})


def test_searches_that_leave_frontiers_answer_rows_of_their_shape():
    """Blank grids of several shapes with tiny budgets: covers of many problems are joined."""
    puzzles = ["." * 16, "1" + "." * 35, "." * 81, "..1" + "." * 13, "." * 256] * 2
    for node_limit in (None, 40):
        how = {"limit": 5, "engine": "dlx", "node_limit": node_limit}
        each = [answers_to({"puzzle": [puzzle]}, **how)[0] for puzzle in puzzles]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("batchsolve.search.rows.FIRST_BLOCK_NODES", 10)
            for jobs in (1, 2):
                assert answers_to({"puzzle": puzzles}, jobs=jobs, **how) == each


@pytest.fixture
def short_sample(monkeypatch):
    """Choose from the first rows of two blocks only."""
    monkeypatch.setattr(corpora, "SAMPLE_ROWS", 1)


def test_a_shape_that_comes_late_is_read_by_each_row_alone(tmp_path, short_sample):
    nines = [grid((3, 3), k)[0] for k in range(30)]
    clear, _ = grid((4, 4), 0, 2)
    unclear = clear.replace("G", ".").replace("0", ".")
    fours = [PUZZLE, "AB..............", " ".join(PUZZLE)]
    path = tmp_path / "in.txt"
    path.write_text("\n".join([*nines, clear, unclear, *fours]))
    with small_blocks(500):
        bs.solve_file(path, tmp_path / "out.csv", engine="dlx")
        rows = rows_of_csv(tmp_path / "out.csv")[30:]
        bs.solve_file(path, tmp_path / "named.csv", engine="dlx", alphabet="1-9A-G")
        named = [row["solution"] for row in rows_of_csv(tmp_path / "named.csv")[30:]]
    solutions = [SOLUTION, bs.solve(fours[1]).solution, " ".join(SOLUTION)]
    in_16 = [alone(text, (4, 4), engine="dlx")["solution"] for text in (clear, unclear)]
    assert [row["solution"] for row in rows] == [in_16[0], "", *solutions]
    assert rows[1]["status"] == "invalid"
    assert "1-9A-G or 0-9A-F; say which with `alphabet`" in rows[1]["message"]
    assert named == [*in_16, *solutions]


def test_first_rows_that_leave_the_alphabet_open_need_its_name(tmp_path, short_sample):
    clear, _ = grid((4, 4), 0, 2)
    path, out = tmp_path / "in.txt", tmp_path / "out.csv"
    path.write_text("\n".join([clear.replace("G", ".")] * 20 + [clear]))
    with small_blocks(500):
        with pytest.raises(bs.InputError, match="column 'puzzle': the alphabet can be 1-9A-G or 0"):
            bs.solve_file(path, out, engine="dlx")
        summary = bs.solve_file(path, out, engine="dlx", alphabet="1-9A-G")
    assert (summary.rows, summary.invalid) == (21, 0)


def test_the_alphabet_of_a_size_among_the_first_rows_is_that_of_its_rows():
    clear, _ = grid((4, 4), 0, 2)
    unclear = clear.replace("G", ".")
    nine, _ = grid((3, 3), 0)
    puzzles = [nine, nine, nine, unclear, clear]
    assert answers_to({"puzzle": puzzles}, "status", engine="dlx")[3] != "invalid"
    *rows, open_one = answers_to({"puzzle": puzzles[:4]}, engine="dlx")
    assert [row["status"] for row in rows] == ["unique"] * 3
    assert open_one["status"] == "invalid"
    assert "1-9A-G or 0-9A-F; say which with `alphabet`" in open_one["message"]
    puzzles = [nine, nine, unclear, grid((3, 4), 0, 0)[0].replace("C", ".")]
    solved = answers_to({"puzzle": puzzles}, engine="dlx", alphabet="1-9A-G")
    assert [row["status"] for row in solved] == ["unique"] * 4
    assert "C" in solved[3]["solution"]  # its alphabet begins as the one that is named


@pytest.mark.parametrize("alphabet", ["9012345678", "1234567890", "XWORDSALTE"])
def test_one_symbol_more_in_front_is_the_blank(alphabet):
    small, (nine, solution) = grid((2, 2), 0)[0], grid((3, 3), 0)
    to_alphabet = str.maketrans(".123456789", alphabet)
    nine = nine.translate(to_alphabet)
    for rows in ([nine], [small, small, nine]):
        solved = answers_to({"puzzle": rows}, alphabet=alphabet)
        assert [row["status"] for row in solved] == ["unique"] * len(rows)
        assert solved[-1]["solution"] == solution.translate(to_alphabet)


def test_an_alphabet_of_10_symbols_is_that_of_10_digits_if_a_row_has_them():
    (nine, _), (ten, solution) = grid((3, 3), 0), grid((2, 5), 0)
    to_letters = str.maketrans("123456789A", "ABCDEFGHIJ")
    solved = answers_to({"puzzle": [nine, nine, ten.translate(to_letters)]}, alphabet="A-J")
    assert [row["status"] for row in solved] == ["unique"] * 3
    assert solved[2]["solution"] == solution.translate(to_letters)


@pytest.mark.parametrize("alphabet", ["A-P", "9999999999", "ABCDEFGHI,"])
def test_an_alphabet_that_no_row_has_is_refused(alphabet, monkeypatch):
    with pytest.raises(bs.InputError, match="; 4 different ones are needed, such as 1-4, A-D"):
        answers_to({"puzzle": [PUZZLE]}, alphabet=alphabet)
    assert answers_to({"puzzle": pa.array([], pa.string())}, alphabet=alphabet) == []
    monkeypatch.setattr(corpora, "SAMPLE_ROWS", 1)
    with pytest.raises(bs.InputError, match="; 4 different ones are needed, such as 1-4, A-D"):
        bs.solve_batch([PUZZLE] * 2, alphabet=alphabet)


def test_an_alphabet_may_be_that_of_rows_in_other_tables():
    texts = [PUZZLE], [grid((4, 4), 0, 2)[0].replace("G", ".").replace("0", ".")]
    small, large = (pa.table({"puzzle": each}) for each in texts)
    how = {"alphabet": "1-9A-G", "engine": "dlx"}
    solved = [each["status"].to_pylist() for each in bs.solve_stream([small, large], **how)]
    assert solved == [["unique"], ["unique"]]
    assert bs.dedupe(small, against=[large], alphabet="1-9A-G").num_rows == 1
    assert bs.dedupe(large, against=[small], alphabet="1-9A-G").num_rows == 1
    assert bs.audit(large, small, alphabet="1-9A-G").test.leaks == 0


def test_images_of_solutions_in_later_shapes_keep_their_form(tmp_path, short_sample):
    rows = [grid((2, 2), k, 4) for k in range(30)] + [grid((2, 3), 0, 9)]
    path = tmp_path / "in.csv"
    path.write_text("puzzle,solution\n" + "\n".join(f"{p},{' '.join(s)}" for p, s in rows))
    with small_blocks(500):
        bs.augment_file(path, tmp_path / "out.csv")
    assert len(rows_of_csv(tmp_path / "out.csv")[30]["solution"]) == 71


def test_a_row_that_is_wrong_in_another_shape_says_as_what_it_was_read():
    nine = grid((3, 3), 0)[0]
    rows = ["12345678" * 7 + "1234567x", "9" + "." * 15, "5 " * 15 + "5", "." * 121]
    assert answers_to({"puzzle": [nine] * 3 + rows}, "message", engine="dlx")[3:] == [
        "as a 8×8 grid: row 8, column 8: 'x' is not in the alphabet 1-8, nor a blank; "
        "if it is one, name it as `blank`",
        "as a 4×4 grid: row 1, column 1: '9' is not in the alphabet 1-4, nor a blank",
        "as a 4×4 grid of numbers: row 1, column 1: '5' is not a number from 1 to 4, nor a blank",
        "121 characters; a 9×9 grid has 81",
    ]


THIRDS = "AAABBBCCC" * 3 + "DDDEEEFFF" * 3 + "GGGHHHIII" * 3


@pytest.mark.parametrize("how", [{"box": (3, 3)}, {"regions": THIRDS}])
def test_a_shape_that_is_given_holds_for_all_rows(how):
    puzzles = [grid((2, 2), 0)[0], grid((3, 3), 0)[0]]
    messages = answers_to({"puzzle": puzzles}, "message", engine="dlx", **how)
    assert messages == ["16 characters; a 9×9 grid has 81", None]


def test_a_column_of_boxes():
    six, other, five = grid((2, 3), 0)[0], grid((3, 2), 0)[0], "12345" + "." * 20
    boxes = {(six, ""): (2, 3), (six, "2x3"): (2, 3), (other, "3 × 2"): (3, 2)}
    boxes |= {(other, "2x3"): (2, 3), (five, "1x5"): (1, 5), (PUZZLE, " 1 X 4 "): (1, 4)}
    size = "boxes of {0}×{1} are for a {2}×{2} grid, which has {3} characters or numbers"
    wrong = {(six, "3x3"): size.format(3, 3, 9, 81), ("." * 35, "2x3"): size.format(2, 3, 6, 36)}
    no_box = "{!r} is not a box; write rows x columns, such as 2x3"
    wrong |= {(six, text): no_box.format(text) for text in ("six", "2*3", "0x3")}
    rows = [*boxes, *wrong, (five, "")]
    table = pa.table({"puzzle": [p for p, _ in rows], "box": [b for _, b in rows]})
    solved = answers_to(table, engine="dlx", limit=1000)
    *told, of_five = [row["message"] for row in solved[len(boxes) :]]
    assert told == [f"column 'box': {message}" for message in wrong.values()]
    assert "a 5×5 grid has no usual boxes" in of_five
    for k, box in enumerate(boxes.values()):
        [alone] = answers_to(table.slice(k, 1), engine="dlx", box=box, limit=1000)
        assert all(solved[k][name] == alone[name] for name in ("n_solutions", "status"))
    fixed = answers_to(table, engine="dlx", box=(2, 3))
    assert [row["status"] == "invalid" for row in fixed[:3]] == [False, False, True]
    assert "all rows have the same rules" in fixed[2]["message"]
    plain, some = {"box": ["a red one", "a blue one"]}, {"box": ["2*3", "2*3", "2x3"]}
    assert "invalid" not in answers_to({"puzzle": [six] * 2, **plain}, "status", engine="dlx")
    states = answers_to({"puzzle": [six] * 3, **some}, "status", engine="dlx")
    assert states == ["invalid", "invalid", "unique"]


@pytest.mark.parametrize("digits", ["1234", "0123"])
def test_a_given_solution_may_have_another_form_than_most(digits):
    """It stands in the form of the column in what `augment` writes."""
    written = str.maketrans("1234", digits)
    puzzle, solution = (each.translate(written) for each in (PUZZLE, SOLUTION))
    forms = [solution, solution, " ".join(solution), ",".join(solution), " ".join(solution[::-1])]
    for texts in (forms, [" ".join(forms[0]), " ".join(forms[0]), *forms]):
        n = len(texts)
        table = pa.table({"puzzle": [puzzle] * n, "solution": texts})
        assert answers_to(table, "agrees") == [True] * (n - 1) + [False]
        wrong = bs.audit(table, table).train
        assert (wrong.disagree, wrong.repeated) == (1, n - 1)
        assert answers_to(bs.augment(table.slice(0, n - 1)), "agrees") == [True] * (n - 1)


def test_a_row_without_a_box_has_the_one_that_is_named(tmp_path):
    puzzle = ".....5..5...6.........4....3........"
    one = [bs.solve(puzzle, box=box).solution for box in ((2, 3), (3, 2))]
    table = pa.table({"puzzle": [puzzle] * 4, "box": ["3x2", "3x2", "", "2x3"]})
    assert answers_to(table, "solution") == [one[1], one[1], one[0], one[0]]
    assert answers_to(table, "solution", box=(2, 3)) == [None, None, one[0], one[0]]
    pacsv.write_csv(table, tmp_path / "in.csv")
    bs.solve_file(tmp_path / "in.csv", tmp_path / "out.npy")
    kept = [row.any() for row in np.load(tmp_path / "out.npy")]
    assert kept == [True, True, False, False]  # of one box each


@pytest.mark.parametrize("first", ["", None, "red"])
def test_boxes_may_come_after_the_first_rows(first, monkeypatch):
    monkeypatch.setattr("batchsolve.tables.corpus.SAMPLE_ROWS", 100)
    columns = {"puzzle": ["." * 16] * 403, "box": [*[first] * 401, "1x4", "four"]}
    with small_blocks(500):
        found = answers_to(columns, "n_solutions", limit=999)[-3:]
    assert found == ([288] * 3 if first == "red" else [288, 576, None])


def test_boxes_of_other_sizes_are_faults_even_if_most_rows_have_them():
    nine = grid((3, 3), 0)[0]
    columns = {"puzzle": ["x", nine], "solution": [nine] * 2, "box": ["2x2"] * 2}
    why = "column 'box': boxes of 2×2 are for a 4×4 grid, which has 16 characters or numbers"
    assert answers_to(columns, "message", engine="dlx") == [why] * 2


def test_rules_of_rows_hold_for_every_shape():
    nine = grid((3, 3), 0)[0]
    rows = [
        {"puzzle": nine},
        {"puzzle": "." * 16, "rules": "x"},
        {"puzzle": "." * 16, "regions": "AAABACBBCCBDCDDD"},
        {"puzzle": "." * 36, "regions": "AABBCCAADBBCAADBBCEEDFFCEDDDFCEEEFFF", "rules": "x"},
        {"puzzle": "." * 36, "regions": "AAAAABACDBBBCCDBBECFDDEECFFDDECFFFEE"},
        {"puzzle": "." * 36, "cages": "AA" + "." * 34, "sums": "A=11"},
        {"puzzle": "." * 36, "box": "3x2", "rules": "disjoint"},
        {"puzzle": "." * 16, "regions": "AAAABBBBCCCCDDDD", "rules": "x"},
        {"puzzle": "." * 16, "pairs": "r1c1<r1c2"},
        {"puzzle": nine, "regions": "A" * 81},
        {"puzzle": "." * 16, "rules": "argyle"},
    ]
    names = ("puzzle", "box", "rules", "regions", "cages", "sums", "pairs")
    table = pa.table({name: [row.get(name, "") for row in rows] for name in names})
    how = {"engine": "dlx", "limit": 30}
    solved = answers_to(table, **how)
    for k, found in enumerate(solved):
        if found["status"] != "invalid":
            assert [found] == answers_to(table.slice(k, 1), **how)
    assert [row["status"] for row in solved[-2:]] == ["invalid", "invalid"]
    assert "argyle" in solved[-1]["message"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_rules_for_all_rows_hold_for_every_shape(jobs):
    puzzles = ["." * 16, "." * 36, "." * 81]
    solved = answers_to({"puzzle": puzzles}, rules="x", engine="dlx", jobs=jobs)
    assert [row["status"] for row in solved] == [bs.solve(p, rules="x").status for p in puzzles]
    assert solved[0]["solution"] == bs.solve(puzzles[0], rules="x").solution


def test_lists_of_numbers_of_any_length(tmp_path):
    four = [1, 0, 0, 0, 0, 0, 2, 0, 0, 3, 0, 0, 0, 0, 0, 4]
    nine = [int(c) for c in grid((3, 3), 0, 0)[0]]
    table = pa.table({"puzzle": [four, nine, four[:15], None]})
    pq.write_table(table, tmp_path / "in.parquet")
    bs.solve_file(tmp_path / "in.parquet", tmp_path / "out.parquet", engine="dlx")
    for solved in (pq.read_table(tmp_path / "out.parquet"), bs.solve_table(table, engine="dlx")):
        assert solved["solution"].to_pylist() == [[*map(int, SOLUTION)], nine, None, None]
        assert solved["status"].to_pylist() == ["unique", "unique", "invalid", "invalid"]


def test_an_array_has_one_shape(tmp_path):
    pa.csv.write_csv(mixture(3, [(2, 2), (3, 3)]), tmp_path / "in.csv")
    summary = bs.solve_file(tmp_path / "in.csv", tmp_path / "out.npy", engine="dlx")
    assert (summary.rows, summary.invalid) == (3, 1)
    assert np.load(tmp_path / "out.npy").shape == (3, 16)


def test_canonical_forms_of_every_shape_that_has_them():
    texts = [PUZZLE, "." * 36, grid((5, 5), 0, 0)[0], "4.....3..1.....2"]
    solved = answers_to({"puzzle": texts}, canonical=True, engine="dlx")
    assert solved[0]["canonical"] == solved[3]["canonical"] == bs.canonical(texts[0])
    assert solved[1]["canonical"] == bs.canonical(texts[1])
    assert solved[2]["canonical"] is None
    assert "too many symmetries" in solved[2]["message"]


def test_repeated_puzzles_of_every_shape(tmp_path):
    four, nine, six = PUZZLE, grid((3, 3), 0)[0], grid((2, 3), 0)[0]
    others = [four.replace(".", "0"), " ".join(four), nine, six, six, six, "4.....3..1.....2"]
    boxes = ["", "", "2x2", "", "3x3", "", "3x2", "2x3", ""]
    table = pa.table({"puzzle": [four, nine, *others], "box": boxes})
    rows = table.to_pylist()
    pa.csv.write_csv(table, tmp_path / "in.csv")
    pa.csv.write_csv(table.slice(5, 1), tmp_path / "known.csv")
    for how, kept in (({}, [0, 1, 5, 6, 8]), ({"up_to_symmetry": True}, [0, 1, 5, 6])):
        bs.dedupe(tmp_path / "in.csv", tmp_path / "out.csv", **how)
        assert rows_of_csv(tmp_path / "out.csv") == [rows[k] for k in kept]
    summary = bs.dedupe(tmp_path / "in.csv", tmp_path / "out.csv", against=[tmp_path / "known.csv"])
    assert (summary.kept, summary.known) == (4, 2)


def test_a_row_of_another_shape_is_a_problem_of_its_own(tmp_path):
    pa.csv.write_csv(mixture(9), tmp_path / "in.csv")
    for k, box in enumerate(USUAL):
        reading = bs.read_problem(f"{tmp_path}/in.csv#{k + 1}")
        assert reading.problem.n_digits == box[0] * box[1]
        assert reading.notation.name == ALPHABETS[box[0] * box[1]]
        assert bs.count(reading, engine="dlx").count >= 1


def test_texts_of_several_sizes_are_no_array():
    texts = [grid((3, 3), 0)[0], grid((3, 3), 1)[0], PUZZLE]
    with pytest.raises(bs.InputError, match=r"most have that of 9×9 grids, but '1.*solve_table"):
        bs.solve_batch(texts)
    found = bs.solve_batch([*texts[:2], "123", "9" + "." * 15])
    assert found.status.tolist()[2:] == ["invalid"] * 2
    as_numbers = bs.solve_batch([texts[0], texts[1], " ".join(texts[0])])
    assert as_numbers.solutions[2].tolist() == as_numbers.solutions[0].tolist()


def test_engines_that_cannot_search_a_shape_leave_its_rows_unfinished():
    puzzles = [grid((3, 3), k, 2)[0] for k in range(2)] + ["12345" + "." * 20]
    table = pa.table({"puzzle": puzzles, "box": ["", "", "1x5"]})
    solved = answers_to(table, engine="lanes")
    assert [row["status"] for row in solved] == ["unique", "unique", "unfinished"]
    assert "boxes of 2 rows" in solved[2]["message"]
    assert answers_to(table, "status") == ["unique", "unique", "multiple"]


def test_rows_of_several_shapes_are_no_workload(tmp_path):
    pa.csv.write_csv(mixture(4), tmp_path / "in.csv")
    with pytest.raises(bs.InputError, match=r"several problems, such as Sudoku.* and Sudoku"):
        Corpus([str(tmp_path / "in.csv")]).stacks()
    killers = bs.generate_table(2, box=(2, 2), cages=(1, 2))
    with pytest.raises(bs.InputError, match=r"several problems, .* Variants.* \(rule_columns says"):
        Corpus([TableSource(killers, "killers")]).stacks()


def test_rows_of_the_same_rules_are_a_workload():
    table = bs.generate_table(3, box=(2, 2), rules="x")
    problem, parts = Corpus([TableSource(table, "x")]).stacks()
    assert problem.rules == bs.grid_problem(4, rules="x").rules
    assert [stacks.roots.tolist() for stacks in parts.values()] == [[0, 1, 2]]
