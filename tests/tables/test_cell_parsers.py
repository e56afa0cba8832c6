"""Cells that are wrong in any way: only their own row is invalid, and a sentence says why."""

import json
import random
import re

import pyarrow as pa
import pytest
from fuzzing import damage

import batchsolve as bs

NINE = "123456789456789123789123456214365897365897214897214365531642978642978531978531642"
SOLVED = {4: "1243342143122134", 9: NINE}
REGIONS = json.dumps([[{"region": 2 * (r // 2) + c // 2} for c in range(4)] for r in range(4)])
GIVEN = '[{"value": 1, "given": true}, {"givenPencilMarks": [2, 3]}, {}, {}]'
F_PUZZLES = [
    f'{{"size": 4, "grid": {REGIONS}, "killercage": [{{"cells": ["R1C1", "R1C2"], "value": "3"}}], '
    '"even": [{"cell": "R1C2"}], "clone": [{"cells": ["R1C1"], "cloneCells": ["R4C2"]}], '
    '"difference": [{"cells": ["R1C1", "R1C2"]}], "thermometer": [{"lines": [["R1C1", "R1C2"]]}]}',
    f'{{"size": 4, "grid": [{GIVEN}{3 * ", [{}, {}, {}, {}]"}], "antiknight": false, "ratio": '
    '[{"cells": ["R1C1", "R1C2"], "value": "2"}], "whispers": [{"lines": [["R1C2", "R1C3"]], '
    '"value": 2}], "renban": [{"lines": [["R1C1", "R1C2"]]}], "negative": ["xv"], "odd": '
    '[{"cell": "R1C1"}], "extraregion": [{"cells": ["R1C1", "R1C2"]}], "title": "t"}',
]
STRINGS = [
    ".Shape~4x4.Cage~3~R1C1~R1C2.Sum~3~R1C1~R1C2.~R1C1_1_2.Jigsaw~AABBAABBCCDDCCDD"
    ".Thermo~R1C1~R1C2.Whisper~2~R1C2~R1C3.WhiteDot~R1C1~R1C2.GreaterThan~R1C2~R1C1",
    ".Shape~4x4~4.Renban~R1C1~R1C2.Palindrome~R1C1~R4C2.BlackDot~R1C1~R1C2.StrictXV"
    ".AllDifferent~R1C1~R1C2.SearchPriority~1",
]
SUMOCUE = "3x3::k:" + ":".join(str(256 * 45 + k // 9) for k in range(81))
CELLS = {  # by column: cells that are right, with those of the column that goes with them
    "rules": [{"rules": "windoku"}, {"rules": " Windoku + windoku"}],
    "regions": [{"regions": "AABBAABBCCDDCCDD"}, {"regions": "1 1 2 2\n1 1 2 2 3 3 4 4 3 3 4 4"}],
    "cages": [
        {"cages": "AABB............", "sums": "A=3 B=7"},
        {"cages": "10,10,2,2" + ",." * 12, "sums": "10=3 2=?"},
    ],
    "sums": [
        {"sums": "A=3 B=7", "cages": "AABB............"},
        {"sums": '{"A": 3, "B": null}', "cages": "AABB............"},
    ],
    "marks": [{"marks": "oeeo............"}, {"marks": "1.3." + "1234" * 15}],
    "pairs": [{"pairs": "r1c1<r1c2, r1c3=r2c2 all-xv"}, {"pairs": "r1c1:r1c2 r4c1 : r4c2"}],
    "constraints": [{"constraints": text} for text in (*STRINGS, *F_PUZZLES)],
    "box": [{"box": "2x2"}, {"box": "2 × 2"}],
    "puzzle": [{"puzzle": "124334214312213."}, {"puzzle": "1 2 4 3 3 4 2 1 4 3 1 2 2 1 3 ."}],
    "solution": [{"solution": SOLVED[4]}, {"solution": " ".join(SOLVED[4])}],
}
RIGHT = {(4, name): cells for name, cells in CELLS.items()}
RIGHT[9, "constraints"] = [{"constraints": SUMOCUE}]
PIECES = [
    *("_", "=", "?", "<", "-", ",", ";", "+", ".", ":", "::", "~", "~~", '"', '{"', "{}", "[null]"),
    *("r0c0", "R5C5", "3000", "1.5", "true", "\\ud800", '{"a":' * 3000, "\U0001f4a9"),
]
VALUES = [
    *(None, True, False, 0, -1, 1.5, 5, 10**30, float("nan"), "", "x", "R9C9", "R1C1", [], {}),
    *([None], [[]], [1], ["R1C1"], {"cells": None}, {"cells": ["R1C1"]}, {"lines": [[]]}),
]
OF_PYTHON = re.compile(
    r"NoneType|object is|objects|argument|unpack|invalid literal|out of range|iterable|recursion"
    r"|attribute|too large to convert|subscript|class|codec|^column '[a-z]*': '[a-z]*'$"
)


def mutated_text(text, chance):
    if chance.random() < 0.5:
        begin = chance.randrange(len(text) + 1)
        end = begin + chance.choice([0, 1, 1, 2, 5, 40])
        return text[:begin] + chance.choice(PIECES) + text[end:]
    change = chance.choice([damage.cut_off, damage.cut_out, damage.repeat, damage.insert])
    return change(text.encode(), chance).decode(errors="replace")


def mutated_value(value, chance):
    """Return a value of JSON in which one value, at any depth, is another."""
    if not value or not isinstance(value, dict | list) or chance.random() < 0.2:
        return chance.choice(VALUES)
    changed = value.copy()
    place = chance.choice(list(value) if isinstance(value, dict) else range(len(value)))
    changed[place] = mutated_value(value[place], chance)
    return changed


def mutant(cell, chance):
    """Return a cell with one change, or a few."""
    for _ in range(chance.choice([1, 1, 1, 2, 4])):
        if cell.startswith("{") and chance.random() < 0.7:
            try:
                cell = json.dumps(mutated_value(json.loads(cell), chance))
                continue
            except (ValueError, RecursionError):
                pass
        cell = mutated_text(cell, chance)
    return cell


def rows_of(n, name):
    """Return good rows in turn with mutated ones; the good ones have all forms of the cell."""
    chance = random.Random(f"{n} {name}")
    right = [{"puzzle": SOLVED[n][:-1] + ".", **cells} for cells in RIGHT[n, name]]
    rows = []
    for k in range(400):
        one = chance.choice(right)
        rows += [right[k % len(right)], {**one, name: mutant(one[name], chance)}]
    return rows


@pytest.mark.parametrize(("n", "name"), RIGHT)
def test_mutated_cells_between_good_rows(n, name):
    rows = rows_of(n, name)
    found = bs.solve_table(pa.Table.from_pylist(rows), jobs=1).to_pylist()
    assert len(found) == len(rows)
    answers = {(row["status"], row["solution"].replace(" ", "")) for row in found[::2]}
    assert answers == {("unique", SOLVED[n])}
    told = [row["message"] for row in found if row["status"] == "invalid"]
    assert all(told)
    assert not [message for message in told if OF_PYTHON.search(message)]
