"""Numbers are written with the digits 0 to 9, in every column and every file."""

import json

import pyarrow as pa
import pytest
from invoking import refused

import batchsolve as bs

ARABIC = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
BLANK = "." * 16
PUZZLE = {"size": 4, "grid": [[{}] * 4] * 4}
COLUMNS = {
    "sums": "A=3",
    "cages": BLANK,
    "marks": "1234" * 16,
    "pairs": "r1c1<r1c2",
    "constraints": ".Shape~4x4.Cage~3~R1C1~R1C2",
    "given": ".Shape~4x4.~R1C1_2",
    "whisper": ".Shape~4x4.Whisper~2~R1C1~R1C2",
    "f-puzzles cage": {"killercage": [{"cells": ["R1C1", "R1C2"], "value": "3"}]},
    "f-puzzles cells": {"killercage": [{"cells": ["R1C1", "R1C2"], "value": 3}]},
}


def row_of(name, said):
    if name == "sums":
        return {"cages": "AA" + BLANK[2:], "sums": said}
    if isinstance(said, dict):
        return {"constraints": json.dumps({**PUZZLE, **said}, ensure_ascii=False)}
    return {name if name in ("cages", "marks", "pairs") else "constraints": said}


def translated(said):
    if isinstance(said, dict):
        [cage] = said["killercage"]
        cells = [cell.translate(ARABIC) for cell in cage["cells"]]
        changed = {"cells": cells} if isinstance(cage["value"], int) else {}
        return {"killercage": [{**cage, "value": str(cage["value"]).translate(ARABIC), **changed}]}
    shape, dot, rest = said.partition(".Shape~4x4")
    return dot + (rest or shape).translate(ARABIC)


@pytest.mark.parametrize("name", sorted(COLUMNS.keys() - {"cages"}))
def test_other_digits_make_a_row_invalid(name):
    for said, status in ((COLUMNS[name], "multiple"), (translated(COLUMNS[name]), "invalid")):
        table = pa.Table.from_pylist([{"puzzle": BLANK, **row_of(name, said)}])
        assert bs.solve_table(table)["status"].to_pylist() == [status]


@pytest.mark.parametrize(
    ("text", "option"),
    [("٢x٢", "--box"), ("٢٢..٢٦", "--clues"), ("²x2", "--box")],
)
def test_other_digits_are_no_numbers_of_options(text, option):
    command = "generate" if option == "--clues" else "solve"
    given = ["-n", "1"] if command == "generate" else ["queens:6"]
    assert text in refused(command, *given, option, text)
