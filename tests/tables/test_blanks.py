"""Blank cells: the usual symbols, and those that are named."""

import json

import pyarrow as pa
import pytest
from conftest import PUZZLE, SOLUTION, answers_to

import batchsolve as bs
from batchsolve.settings import FileSettings
from batchsolve.tables.corpus import Corpus

DRAWING = "1 . | . .\n. . | 2 .\n----+----\n. 3 | . .\n. . | . 4\n"


def corpus(tmp_path, text, **how):
    path = tmp_path / "in.csv"
    path.write_text(f"puzzle\n{text}\n")
    return Corpus([str(path)], FileSettings(**how))


def digits(corpus):
    [batch] = corpus.batches()
    assert not batch.faults, batch.faults
    return batch.grids[0].puzzles.tolist()


RIGHT = [0 if symbol == "." else int(symbol) for symbol in PUZZLE]


@pytest.mark.parametrize("blank", ["?", "x", "~", "?x"])
def test_any_other_can_be_named(blank, tmp_path):
    text = PUZZLE.replace(".", blank[0], 3).replace(".", blank[-1])
    with pytest.raises(bs.InputError):
        corpus(tmp_path, text)
    for how in ({"blank": blank}, {"blank": blank, "alphabet": "1-4"}):
        found = corpus(tmp_path, text, **how)
        assert digits(found) == [RIGHT]
        assert (found.notation.name, found.notation.blank) == ("1-4", blank[0])
    assert bs.solve(text, blank=blank).solution == SOLUTION
    assert bs.solve_batch([text], blank=blank).text() == [SOLUTION]
    (tmp_path / "grid.txt").write_text(DRAWING.replace(".", blank[0]))
    assert bs.count(bs.read_problem(str(tmp_path / "grid.txt"), blank=blank)).count == 1


def test_what_is_named_is_the_only_blank(tmp_path):
    rows = PUZZLE.replace(".", "?"), PUZZLE.replace(".", "?", 1)
    [batch] = corpus(tmp_path, "\n".join(rows), blank="?").batches()
    assert list(batch.faults) == [1]
    assert "'.' is not in the alphabet 1-4, nor a blank" in batch.faults[1]
    # so that a zero can be a digit
    assert corpus(tmp_path, "0" + "." * 99, blank=".").notation.name == "0-9"
    assert corpus(tmp_path, "A" + "." * 99, alphabet=".A-J").notation.blanks == "."
    assert bs.solve("@---\n----\n--$-\n---%\n", alphabet="@%$&").status == "multiple"


@pytest.mark.parametrize(("blank", "how"), [("-", {}), ("?", {"blank": "?"})])
def test_blanks_among_numbers(blank, how, tmp_path):
    text = " ".join(PUZZLE).replace(".", blank)
    assert digits(corpus(tmp_path, text, **how)) == [RIGHT]
    with_zeros = text.replace(blank, "0", 2).replace(blank, "-1", 2)
    assert digits(corpus(tmp_path, with_zeros, **how)) == [RIGHT]


DASHED = [
    DRAWING.replace(".", "-"),
    "1---\n--2-\n-3--\n---4\n",
    "+----+----+\n|1 - | - -|\n|- - | - -|\n+----+----+\n|- 3 | - -|\n|- - | - 4|\n+----+----+",
    "1---\n----\n-3--\n---4\n",
    "1-- -\n--- -\n-3- -\n--- 4\n",
    "1-1\n-- --\n1. ..\n.. 2.\n-- --\n.3 ..\n.. .4\n",
    "│1 - │ - -│\n│- - │ - -│\n│- 3 │ - -│\n│- - │ - 4│\n",
    "Level 1 - easy\n----\n1 . . .\n. . 2 .\n----\n. 3 . .\n. . . 4\n----\n",
]


@pytest.mark.parametrize("drawing", DASHED)
def test_drawings_may_have_dashes_for_blanks_and_for_frames(drawing, tmp_path):
    (tmp_path / "grid.txt").write_text(drawing)
    reading = bs.read_problem(str(tmp_path / "grid.txt"))
    assert repr(reading.problem) == "Sudoku(2, 2)"
    clues = {cell: digit for cell, digit in enumerate(RIGHT) if digit}
    found = {int(option) // 4: int(option) % 4 + 1 for option in reading.stack}
    assert found.items() <= clues.items()
    assert len(found) == 3 + ("2" in drawing)


REFUSED = [
    ("1", "blank '1' is also a digit"),
    (" ", "blank ' ' cannot stand for a cell; name visible ASCII characters"),
    ("", "blank '' cannot stand for a cell"),
    ("?#", "blank '#' cannot stand"),
    ("□", "blank '□' cannot stand"),
]


@pytest.mark.parametrize(("blank", "why"), REFUSED)
def test_blanks_that_cannot_be_are_refused(blank, why, tmp_path):
    with pytest.raises(bs.InputError, match=why.replace("?", r"\?")):
        corpus(tmp_path, PUZZLE, blank=blank, alphabet="1-4")
    with pytest.raises(bs.InputError):
        bs.solve(PUZZLE, blank=blank)


@pytest.mark.parametrize("empty", [["", " "], ["", None], ["", 0]])
def test_empty_elements_of_lists_are_blanks(empty, tmp_path):
    cells = [c if c != "." else empty[k % 2] for k, c in enumerate(PUZZLE)]
    (tmp_path / "in.jsonl").write_text(json.dumps({"puzzle": cells}))
    assert bs.solve_file(tmp_path / "in.jsonl", tmp_path / "out.jsonl").unique == 1
    text = str(cells).replace("None", "null")
    assert bs.solve_table(pa.table({"puzzle": [text]}))["status"].to_pylist() == ["unique"]
    [row] = answers_to({"puzzle": [["1", ".", empty[0], "x", *PUZZLE[4:]]]})
    assert row["message"] == "row 1, column 4: 'x' is not a number from 1 to 4, nor a blank"


@pytest.mark.parametrize("blank", ["xy", "", ".0"])
def test_puzzles_that_are_made_have_one_blank(blank, tmp_path):
    for make in (
        lambda: next(bs.generate(blank=blank)),
        lambda: bs.generate_table(1, blank=blank),
        lambda: bs.generate_file(tmp_path / "out.csv", 1, blank=blank),
    ):
        with pytest.raises(bs.InputError, match=rf"^blank '{blank}' has [02] characters; the"):
            make()
    assert bs.generate_table(1, blank="x", seed=1)["puzzle"][0].as_py().count("x") > 50
