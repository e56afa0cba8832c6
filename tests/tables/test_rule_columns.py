"""Rows with own rules, against brute force; the formats people use."""

import json
import re
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from conftest import rows_of_csv, write_table
from fuzzing import variants
from hypothesis import given, strategies as st
from oracles import grids_by_rules

import batchsolve as bs
from batchsolve.formats import other_programs
from batchsolve.formats.rule_texts import STRICT
from batchsolve.problems.rules import NAMED, Cage, Rules, named, plain, regions_of
from batchsolve.problems.sudoku import Variant
from batchsolve.tables.rule_columns import COLUMNS

BLANK, JIGSAW = "." * 16, "AAABACBBCCBDCDDD"
PLAIN = plain(2, 2)
# a solved grid and cages drawn at random; that it is the only one is checked here
KILLER = {
    "puzzle": ".................................................................................",
    "cages": "AABCCDDEFGGBHCIIEFGJHHKLIMFNJOOKLPMMNQQOKLPPRNQSTUVVRRWWSTUXVYRZaSTbXXYYZZccbddee",
    "sums": "A=10 B=12 C=12 D=12 E=14 F=12 G=8 H=23 I=9 J=16 K=19 L=11 M=14 N=18 O=14 P=18 Q=15 "
    "R=20 S=11 T=8 U=10 V=11 W=7 X=21 Y=19 Z=17 a=3 b=11 c=11 d=11 e=8",
}
SUMS = {word[0]: int(word[2:]) for word in KILLER["sums"].split()}
KILLED = "285713964317946285496825173173694852964582731852371649528137496731469528649258317"


def table(**columns):
    return pa.table({"puzzle": [BLANK] * max(map(len, columns.values())), **columns})


def solved(rows, **how):
    """The answers to a table: rows as dicts."""
    return bs.solve_table(rows, jobs=1, **how).to_pylist()


def all_of(rules):
    """Return all grids with these rules, found cell by cell."""
    return grids_by_rules(rules, [0] * 16)


def agree(row, grids):
    """Check the answer to a row against all its grids."""
    assert row["n_solutions"] == len(grids)
    assert row["status"] == {0: "unsolvable", 1: "unique"}.get(len(grids), "multiple"), row
    if grids:
        assert tuple(map(int, row["solution"])) in grids


def drawn_row(seed):
    """Draw rows until one has a solution, as few have; sometimes return one that has none."""
    rng = Random(seed)
    while True:
        columns, grids = variants.row(rng)
        if grids or rng.random() < 0.05:
            return columns, grids


@given(st.lists(st.integers(0, 2**32), min_size=1, max_size=4), st.sampled_from(["auto", "dlx"]))
def test_random_rows(seeds, engine):
    drawn = list(map(drawn_row, seeds))
    given = pa.Table.from_pylist([columns for columns, _ in drawn])
    for found, (_, grids) in zip(solved(given, limit=300, engine=engine), drawn, strict=True):
        if found["status"] == "invalid":  # clues that clash, and regions of a wrong size
            assert not grids
        else:
            agree(found, grids)


def with_pairs(*pairs):
    return rules_with(pairs=pairs)


def rules_with(**fields):
    return PLAIN + Rules(4, PLAIN.places, fields.pop("houses", ()), **fields)


WRITTEN = {
    ".Shape~4x4.~R1C1_2~R2C2_1_3": rules_with(marks=((0, 2), (5, 5))),
    ".Shape~4x4.Cage~6~R1C1~R2C1~R2C2": rules_with(cages=(Cage((0, 4, 5), 6),)),
    ".Shape~4x4~4.Cage~0~R1C1~R2C1~R3C2": rules_with(groups=((0, 4, 9),)),
    ".Shape~4x4.Sum~3~R1C1~R1C2": rules_with(cages=(Cage((0, 1), 3),)),
    ".Shape~4x4.AllDifferent~R1C1~R2C3~R3C1": rules_with(groups=((0, 6, 8),)),
    ".Shape~4x4.Thermo~R1C1~R1C2~R2C2": with_pairs((0, 1, "less"), (1, 5, "less")),
    ".Shape~4x4.Whisper~2~R1C1~R1C2~R2C2": with_pairs((0, 1, "gap2"), (1, 5, "gap2")),
    ".Shape~4x4.Renban~R1C1~R1C2~R2C2": rules_with(
        groups=((0, 1, 5),), pairs=((0, 1, "within3"), (1, 5, "within3"), (0, 5, "within3"))
    ),
    ".Shape~4x4.Palindrome~R1C2~R2C2~R3C3~R4C1": with_pairs((1, 12, "equal"), (5, 10, "equal")),
    ".Shape~4x4.WhiteDot~R1C1~R1C2.V~R4C4~R3C4": with_pairs((0, 1, "consecutive"), (11, 15, "v")),
    ".Shape~4x4.BlackDot~R1C1~R1C2~R2C2": with_pairs((0, 1, "double"), (1, 5, "double")),
    ".Shape~4x4.GreaterThan~R1C2~R1C1~R2C2": with_pairs((0, 1, "less"), (5, 1, "less")),
    ".Shape~4x4.Diagonal~1.Diagonal~-1": PLAIN + named("x", 2, 2),
    ".Shape~4x4.AntiKnight.AntiKing": PLAIN + named("antiknight+antiking", 2, 2),
    ".Shape~4x4.DisjointSets.AntiConsecutive": PLAIN + named("disjoint+nonconsecutive", 2, 2),
    f".Shape~4x4.Jigsaw~{JIGSAW}.NoBoxes": Rules.square(4, regions_of(JIGSAW, 4)),
    ".Shape~4x4.NoBoxes.~R1C1_1~R2C2_1~R3C3_1~R1C2_2~R2C1_2": Rules.square(4, ())
    + Rules(4, PLAIN.places, (), marks=((0, 1), (5, 1), (10, 1), (1, 2), (4, 2))),
    '{"size": 4, "grid": GRID, "antiknight": true}': PLAIN + named("antiknight", 2, 2),
    '{"size": 4, "title": "none", "grid": GRID, "killercage": [{"cells": ["R1C1", "R2C1"], '
    '"value": "3"}], "thermometer": [{"lines": [["R3C3", "R3C4"]]}], "antiknight": false}': (
        rules_with(cages=(Cage((0, 4), 3),), pairs=((10, 11, "less"),))
    ),
    '{"size": 4, "grid": GRID, "diagonal-": true, "even": [{"cell": "R1C2"}], '
    '"xv": [{"cells": ["R3C3", "R4C3"], "value": "V"}], '
    '"palindrome": [{"lines": [["R1C1", "R2C2", "R3C4"]]}]}': rules_with(
        houses=((0, 5, 10, 15),), marks=((1, 10),), pairs=((10, 14, "v"), (0, 11, "equal"))
    ),
}


def test_formats_of_others():
    """Constraint strings, and the JSON of f-puzzles, mean the rules that they should."""
    grid = json.dumps([[{}] * 4] * 4)
    found = solved(table(constraints=[text.replace("GRID", grid) for text in WRITTEN]), limit=600)
    for answer, (text, rules) in zip(found, WRITTEN.items(), strict=True):
        assert answer["message"] is None, text
        agree(answer, all_of(rules))


SIDES = [(a, b) for a in range(16) for b in (a + 1, a + 4) if b < 16 and (b - a == 4 or b % 4)]


UNMARKED = [
    ("all-dots r1c1-r1c2", ".WhiteDot~R1C1~R1C2.StrictKropki", "undotted", "consecutive"),
    ("r1c1vr1c2 all-xv", ".StrictXV.V~R1C1~R1C2", "unlettered", "v"),
]


@pytest.mark.parametrize(("pairs", "constraints", "hidden", "shown"), UNMARKED)
def test_pairs_that_are_not_marked(pairs, constraints, hidden, shown):
    rules = with_pairs((0, 1, shown), *[(a, b, hidden) for a, b in SIDES if (a, b) != (0, 1)])
    given = table(pairs=[pairs, ""], constraints=["", f".Shape~4x4{constraints}"])
    for answer in solved(given, limit=300):
        agree(answer, all_of(rules))


def f_puzzle(**fields):
    return {"constraints": json.dumps({"size": 4, **fields})}


CAGES = "AABB" + "." * 12
WRONG = [
    ({"cages": "AAB", "sums": "A=3 B=4"}, "column 'cages': 16 cells have 16 labels, not 3"),
    ({"cages": CAGES, "sums": "A=3"}, "column 'cages': cage 'B' has no sum; write B=10, or B=?"),
    ({"cages": CAGES}, "column 'cages': cage 'A' has no sum"),
    ({"cages": None, "sums": "A=3"}, "column 'cages': 16 cells have 16 labels, not 0"),
    ({"cages": CAGES, "sums": "A=3 B=4 C=5"}, "a sum for 'C', but no such cage"),
    ({"cages": CAGES, "sums": "A=3 A=4 B=4"}, "cage 'A' has two sums"),
    ({"cages": CAGES, "sums": '{"A":3, "B": 7, "A": 4}'}, "a JSON object: an object has two field"),
    ({"cages": CAGES, "sums": '{"A":' * 3000}, "sums are not a JSON object: "),
    ({"cages": "AAAAA" + "." * 11, "sums": "A=9"}, "cage 'A': 5 cells with different digits"),
    ({"marks": "e" * 15}, "column 'marks': 15 characters; 16 cells have 16 marks e, o or ., or 64"),
    ({"marks": "q" + "." * 15}, "column 'marks': 'q' is not a mark of a cell"),
    ({"pairs": "r1c1<r1c5"}, "column 'pairs': the grid has no cell 'r1c5'"),
    ({"pairs": "r1c1?r1c2"}, "column 'pairs': 'r1c1?r1c2' is not a pair of cells; write r1c1<r1c2"),
    ({"pairs": "r1c1<r1c1"}, "column 'pairs': 'r1c1<r1c1' names a cell and itself"),
    ({"constraints": ".Cage~3~R1C1~R1C2"}, "no Shape, which means 9x9, for a grid of 4x4"),
    ({"constraints": ".Shape~9x9"}, "constraint 'Shape~9x9': the grids of the table are 4x4"),
    ({"constraints": ".Shape~4x4.Or.Thermo~R1C1~R1C2.End"}, "constraint 'Or' is not supported"),
    ({"constraints": f".Shape~4x4.Cage~{-(2**60)}~R1C1"}, "is not a whole number of 1 to 9 digits"),
    ({"constraints": ".Shape~4x4.Cage~~R1C1~R1C2"}, "a cage has no sum; 0 means any sum"),
    ({"constraints": ".Shape~4x4.Cage"}, "constraint 'Cage' is malformed"),
    ({"constraints": f".Shape~4x4.Jigsaw~{'A' * 17}"}, "have 16 labels, not 17"),
    ({"constraints": ".Shape~4x4.Diagonal~1~-1"}, "a diagonal is 1 or -1"),
    ({"constraints": ".Shape~4x4.AntiKnight~2"}, "nothing follows its name, but '2' does"),
    ({"constraints": ".Shape~4x4.StrictXV~R1C1"}, "nothing follows its name, but 'R1C1' does"),
    ({"constraints": ".Shape~4x4.NoBoxes~R1C1"}, "nothing follows its name, but 'R1C1' does"),
    ({"constraints": ".Shape~4x4.~R1C1_5"}, "'R1C1_5' names no digit of 1 to 4"),
    ({"constraints": ".Shape~4x4.~R1C1"}, "'R1C1' names no digit of 1 to 4"),
    ({"constraints": ".Shape~4x4.X~R1C1~R3C3"}, "none of the cells share an edge"),
    ({"constraints": ".Shape~4x4.Sum~4~R1C2~R2C3"}, "a sum of cells that are in no house"),
    *(
        ({"constraints": f"3x3:{text}"}, "is not a killer of 9×9")
        for text in ("", ":", ":::::", "d", "k:", ":k:1:2:")
    ),
    ({"constraints": "[]"}, "column 'constraints': '[]' is not a constraint string"),
    ({"constraints": '{"id": "", "cells": [], "lines": []}'}, "the JSON of SudokuPad, whose"),
    ({"constraints": '{"size": 9}'}, "a puzzle of size 9; the grids of the table have 4"),
    ({"constraints": '{"size": 4, "arrow": [1]}'}, "constraint 'arrow' is not supported"),
    (f_puzzle(xv=[1]), "constraint 'xv' is malformed"),
    (f_puzzle(xv=[{"cells": ["R1C1", "R1C2"], "value": "q"}]), "constraint 'xv'"),
    ({"constraints": '{"size": 4, "antiknight": "no"}'}, "constraint 'antiknight' is malformed"),
    *(
        (f_puzzle(killercage=[{"cells": ["R1C1"], "value": value}]), "not a whole number of 1 to")
        for value in ([], False, 1.0, -1, "٤", 10**9)
    ),
    (f_puzzle(clone=[{"cells": ["R1C1"], "cloneCells": []}]), "'clone': 0 cells, where 1 or more"),
    (f_puzzle(clone=[{"cells": ["R1C1"], "cloneCells": ["R1C2", "R1C3"]}]), "'clone' is malformed"),
    *(
        (f_puzzle(grid=[[{}] * n for n in sizes]), "'grid': it is not 4 rows of 4 cells")
        for sizes in ([9] * 9, [8] * 2, [4] * 3, [4, 4, 4, 5], [0])
    ),
    ({"constraints": '{"size": 4, "size": 9, "even": []}'}, "not JSON: an object has two field"),
    ({"constraints": f'{{"size": 4, "even": {"[" * 3000 + "]" * 3000}}}'}, "nested more than 100"),
    ({"pairs": f"r{'1' * 5000}c1<r1c2"}, "column 'pairs'"),
    ({"rules": "Normal rules apply."}, "column 'rules': unknown rule 'normal'"),
    ({"regions": "AAAAAAAABBBBBBBB"}, "column 'regions': region 'A' has 8 cells; each region"),
    ({"regions": "AAABBBBCCCCDDDDE"}, "column 'regions': region 'A' has 3 cells; each region"),
    ({"regions": "ééééAAAABBBB"}, "column 'regions': 16 cells have 16 labels, not 12"),
    *(
        ({"cages": cages, "sums": ""}, f"column 'cages': {why}")
        for cages, why in {
            '[{"sum": 5, "cells": [[0, 0], [0]]}]': "cage 1 is not an object such as",
            '[{"sum": 5, "cells": [[0, 0]]}, 7]': "cage 2 is not an object such as",
            '[{"total": 5, "cells": [[0, 0]]}]': "cage 1 is not an object such as",
            '[{"sum": 5, "cells": [[0, 0.9]]}]': "cage 1 is not an object such as",
            "[1, 2": "is not JSON",
            "5;2,2;2,3": "rows and columns may begin at 0 or 1; none is 0 or 4",
            "5;0,0;0,4": "cage 1: the grid has no cell 'R1C5'",
            "5;0,0;0,0": "cage 1: a cell is named twice",
        }.items()
    ),
    ({"cages": "5;0,0;0,1", "sums": "A=5"}, "lists of cells have their sums; leave out"),
    ({"cages": CAGES, "sums": "5"}, "column 'cages': 1 sums for 2 cages"),
    # numbers are written with the digits 0 to 9
    ({"cages": "AA" + "." * 14, "sums": "A=٣"}, "'A=٣' is not a sum; write A=10 B=7"),
    ({"marks": "١٢٣٤" * 16}, "'١' at the place of digit 1 of cell r1c1; write 1, or . to"),
    ({"pairs": "r١c١<r١c٢"}, "'r١c١<r١c٢' is not a pair of cells"),
    ({"constraints": ".Shape~4x4.Cage~3~R١C١~R١C٢"}, "'R١C١' is not a cell; write R1C2"),
    ({"constraints": ".Shape~4x4.Cage~٣~R1C1"}, "'Cage~٣~R1C1': '٣' is not a whole number of 1"),
    ({"constraints": ".Shape~4x4.~R1C1_٢"}, "'٢' is not a whole number"),
    ({"constraints": ".Shape~4x4.Whisper~٢~R1C1~R1C2"}, "'٢' is not a whole number"),
    (f_puzzle(killercage=[{"cells": ["R١C١"], "value": 3}]), "'R١C١' is not a cell"),
]


@pytest.mark.parametrize(("columns", "message"), WRONG)
def test_malformed_rows_are_invalid(columns, message):
    """The other rows of the table are answered."""
    given = table(**{name: [text, ""] for name, text in {"rules": "", **columns}.items()})
    wrong, right = solved(given)
    assert (wrong["status"], wrong["solution"]) == ("invalid", None)
    assert message in wrong["message"]
    assert right["status"] == "multiple"


def test_a_cage_with_too_many_sets_of_digits_is_a_fault_of_its_row():
    cages = ["A" * n + "." * (625 - n) for n in (2, 8)]
    rows = solved(pa.table({"puzzle": ["." * 625] * 2, "cages": cages, "sums": ["A=3", "A=36"]}))
    assert [row["status"] for row in rows] == ["multiple", "invalid"]
    assert rows[1]["message"].startswith("column 'cages': cage 'A': a cage of 8 of 25 digits has")


def test_rows_without_boxes_may_stand_beside_columns_of_cages():
    said, none = ".Shape~5x5.NoBoxes", "no usual boxes for 5 digits; name them with `box` or"
    own = {"cages": ["", "AA" + "." * 23, ""], "sums": ["", "A=3", ""]}
    grids = ["12345" + "." * 20] * 3
    *rows, other = solved(pa.table({"puzzle": grids, **own, "constraints": [said, said, ""]}))
    assert [row["status"] for row in rows] == ["multiple"] * 2
    assert other["message"].startswith(none)  # without a column, because there is none of regions


def test_rows_are_repeats_if_their_rules_are_the_same(tmp_path):
    """Other labels of the cages, other blanks, another order of named rules."""
    rows = [
        "1...............,AABB............,A=3 B=7,x+antiking,",
        "1000000000000000,CCDD............,D=7 C=3,antiking+x,",
        "1...............,AABB............,A=4 B=7,x+antiking,",
        "1...............,,,x+antiking,.Shape~4x4.Cage~3~R1C1~R1C2.Cage~7~R1C3~R1C4",
        "1...............,AAB,A=3 B=7,x,",
        "1...............,AAB,A=3 B=7,x,",
    ]
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_text("\n".join(["puzzle,cages,sums,rules,constraints", *rows]) + "\n")
    bs.dedupe(str(path), str(out))
    assert out.read_text().splitlines()[1:] == [rows[k] for k in (0, 2, 4, 5)]


def test_lists_in_columns_of_rules_may_be_texts(tmp_path):
    """A CSV file has the lists of a JSON file as texts."""
    labels = ["A", "A", "B", "B"] * 2 + ["C", "C", "D", "D"] * 2
    rows = [
        {"puzzle": "." * 16, "regions": labels, "pairs": ["r1c1<r1c2", "r1c3<r1c4"]},
        {"puzzle": "." * 16, "regions": [], "marks": ["o", "e", *"." * 14]},
        {"puzzle": "." * 16, "cages": ["A", "A", *"." * 14], "sums": [3]},
        {"puzzle": "." * 16, "rules": ["x", "disjoint"]},
    ]
    alone = table(regions=[json.dumps(labels)]).drop_columns("puzzle")
    assert solved(alone)[0]["puzzle"] == "." * 16
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, rows)))
    bs.solve_file(tmp_path / "in.jsonl", tmp_path / "out.csv", limit=500)
    bs.solve_file(tmp_path / "out.csv", tmp_path / "again.csv", limit=500)
    first, again = (rows_of_csv(tmp_path / name) for name in ("out.csv", "again.csv"))
    for name in ("status", "n_solutions", "solution", "message"):
        assert [row[name] for row in first] == [row[name] for row in again]
    assert {row["status"] for row in first} == {"multiple"}
    both = bs.solve("." * 16, rules="x+disjoint", limit=500)
    assert first[3]["n_solutions"] == str(both.n_solutions)


def test_cages_and_sums_may_be_lists_and_objects():
    """Objects of Arrow have null where they lack a field, and so has the JSON made of them."""
    cages, sums = ["AA" + "." * 14, "..BB" + "." * 12], [{"A": 3, "B": None}, {"A": None, "B": 3}]
    lists, texts = list(map(list, cages)), list(map(json.dumps, sums))
    for rows in (table(cages=lists, sums=sums), table(cages=cages, sums=texts)):
        for row, cells in zip(solved(rows, limit=300), [(0, 1), (2, 3)], strict=True):
            agree(row, all_of(rules_with(cages=(Cage(cells, 3),))))


MIXED = [  # columns of JSON, whose values are of several kinds
    {"rules": ["x", ["x"]]},
    {"cages": ["AA" + "." * 14, [{"sum": 3, "cells": [[0, 0], [0, 1]]}]], "sums": ["A=3", None]},
    {"cages": ["AA" + "." * 14] * 3, "sums": [{"A": 3}, "A=3", [3]]},
    {"constraints": [".Shape~4x4.AntiKnight", {"size": 4, "antiknight": True}]},
]


@pytest.mark.parametrize("columns", MIXED, ids=range(len(MIXED)))
def test_texts_may_stand_beside_lists_and_objects_of_json(columns, tmp_path):
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    lines = (json.dumps({"puzzle": BLANK, **row}) for row in rows)
    (tmp_path / "in.jsonl").write_text("\n".join(lines))
    bs.solve_file(tmp_path / "in.jsonl", tmp_path / "out.csv", limit=500)
    counts = [row["n_solutions"] for row in rows_of_csv(tmp_path / "out.csv")]
    assert counts == [counts[0]] * len(rows)
    assert counts[0] in ("24", "48")


def test_objects_of_f_puzzles_may_differ_in_their_fields():
    """Within objects, too, Arrow has null for the fields of other rows."""
    lines = [[{"region": r} for _ in range(4)] for r in range(4)]
    digit = [[{}] * 4] * 3 + [[{}, {}, {}, {"value": 1, "given": True}]]
    puzzles = [{"size": 4, "grid": lines}, {"size": 4, "grid": digit, "antiknight": True}]
    objects = table(constraints=puzzles)
    nulls = map(json.dumps, objects["constraints"].to_pylist())
    for rows in (objects, table(constraints=list(nulls))):
        assert [row["n_solutions"] for row in solved(rows, limit=999)] == [576, 6]


def json_column(value):
    return pa.ExtensionArray.from_storage(pa.json_(), pa.array([json.dumps(value)]))


LABELS = np.arange(1, 5, dtype=np.uint8).repeat(4).reshape(1, 4, 4)
TYPED = [  # columns of rules, and the number of grids or the error
    ({"regions": pa.FixedShapeTensorArray.from_numpy_ndarray(LABELS)}, 576),
    ({"cages": json_column([{"sum": 3, "cells": [[0, 0], [0, 1]]}])}, 48),
    *(({"cages": ["AA" + "." * 14], "sums": sums}, 48) for sums in ([3], [3.0])),
    ({"regions": [" "]}, 288),
    ({"marks": [3], "pairs": [0.5]}, 288),  # numbers are no rules
    ({"regions": pa.array([[1]], pa.list_view(pa.int8()))}, "'regions' holds values of list_v"),
    ({"rules": pa.array([b"x"]).dictionary_encode()}, "'rules' holds values of binary"),
]


@pytest.mark.parametrize(("columns", "found"), TYPED, ids=range(len(TYPED)))
def test_rules_of_other_types_are_read_or_refused(columns, found):
    if isinstance(found, int):
        assert solved(table(**columns), limit=999)[0]["n_solutions"] == found
        return
    with pytest.raises(bs.InputError, match=f"column {found}"):
        solved(table(**columns))


SEEMING = [
    ("sums", None, "has the sums of cages; add or name"),
    ("sums", "sums", "has the sums of cages; add or name the column 'cages'"),
    ("Regions", None, "column 'Regions' may hold rules of the rows; rename it 'regions', or"),
    (" Box", None, "column ' Box' may hold rules of the rows; rename it 'box', or"),
]


@pytest.mark.parametrize(("column", "named", "why"), SEEMING)
def test_a_column_that_seems_to_hold_rules_is_not_passed_over(column, named, why):
    given = table(**{column: ["a word"]}, solution=["1234341221434321"])
    assert solved(given, rule_columns="none")[0]["status"] == "multiple"
    with pytest.raises(bs.InputError, match=why):
        solved(given, rule_columns=named)


OTHER = {"marks": ["good", "poor"], "rules": ["x", "x"], "regions": ["Europe", "Asia"]}


NAMED_COLUMNS = {  # the statuses of rows, and the end of the message
    None: ("invalid", ", rules in rules, regions, marks"),
    "rules": ("unique", ", rules in rules"),
    "none": ("multiple", ""),
}


@pytest.mark.parametrize("rule_columns", NAMED_COLUMNS)
def test_the_columns_of_rules_can_be_named(tmp_path, rule_columns):
    """Columns that are called so for other reasons are left out."""
    status, said = NAMED_COLUMNS[rule_columns]
    given = pa.table({"puzzle": ["....3.....21...."] * 2, **OTHER})
    assert [row["status"] for row in solved(given, rule_columns=rule_columns)] == [status] * 2
    write_table(given, tmp_path / "in.csv")
    files = tmp_path / "in.csv", tmp_path / "out.csv"
    summary = bs.solve_file(*files, jobs=1, rule_columns=rule_columns)
    assert getattr(summary, status) == 2
    assert summary.columns == f"puzzle column 'puzzle', no solution column{said}"
    row = f"{tmp_path}/in.csv#1"
    if rule_columns:
        assert bs.read_problem(row, rule_columns=rule_columns).stack.size == 3
    else:
        with pytest.raises(bs.InputError, match="column 'regions': 16 cells have"):
            bs.read_problem(row)


NOT_THERE = [
    ("rule,marks", "'rule' is not a column of rules; choose from rules, regions, cages"),
    ("cages", "unknown column 'cages'; choose from 'puzzle', 'marks'"),
    (["marks"], "rule_columns"),
]


@pytest.mark.parametrize(("rule_columns", "message"), NOT_THERE)
def test_columns_of_rules_that_are_not_there(rule_columns, message):
    with pytest.raises(bs.InputError, match=message):
        solved(table(marks=[""]), rule_columns=rule_columns)


def test_given_solutions_are_checked_by_the_rules_of_their_rows():
    given = table(cages=["AA" + "." * 14] * 3, sums=["A=3", "A=4", "A=?"])
    given = given.append_column("solution", pa.array(["1234341221434321"] * 3))
    assert [row["agrees"] for row in solved(given)] == [True, False, True]


def test_named_rules_of_other_formats():
    """Names in constraint strings, beside named rules of the row and of the corpus."""
    given = table(constraints=[".Shape~4x4.AntiKing"] * 2, rules=["", "disjoint"])
    one, other = solved(given, rules="x", limit=300)
    agree(one, all_of(PLAIN + named("x+antiking", 2, 2)))
    agree(other, all_of(PLAIN + named("x+antiking+disjoint", 2, 2)))


def test_a_wrong_rule_beside_regions_is_named_once():
    given = table(regions=["AABBAABBCCDDCCDD", "AAAABBBBCCCCDDDD"], rules=["foo"] * 2)
    why = [row["message"].partition(";")[0] for row in solved(given)]
    assert why == ["column 'rules': unknown rule 'foo'"] * 2


def test_a_killer_of_sumocue():
    """The same killer as numbers: 256 times the sum, and the cage."""
    numbers = [256 * SUMS[a] + list(SUMS).index(a) for a in KILLER["cages"]]
    other = [numbers[0] + 256, *numbers[1:]]  # a cell says another sum of its cage
    texts = [f"3x3::k:{':'.join(map(str, each))}:" for each in (numbers, other)]
    right, wrong = solved(pa.table({"puzzle": ["." * 81] * 2, "constraints": texts}))
    assert right["solution"] == KILLED
    assert "a cage has two sums" in wrong["message"]


def test_rows_are_searched_without_building_exact_covers(monkeypatch):
    """Building the arrays of one would take longer than most rows are searched."""
    given = table(cages=["AA" + "." * 14] * 3, sums=["A=3", "A=4", "A=5"], marks=["e" * 16, "", ""])
    solved(table(cages=[""]))  # the engine for plain grids is chosen once, by their arrays
    monkeypatch.delattr(Variant, "_cover")
    assert [row["n_solutions"] for row in solved(given)] == [0, 2, 2]


GUIDE = (Path(__file__).parents[2] / "docs" / "guides" / "variants.md").read_text()
EXAMPLES = re.findall(r"```csv\n(.*?)```\n\n```text\n(.*?)```", GUIDE, re.S)


def test_the_guide_has_examples():
    assert len(EXAMPLES) == GUIDE.count("```csv") == 5


@pytest.mark.parametrize(("rows", "answers"), EXAMPLES)
def test_examples_of_the_guide(tmp_path, rows, answers):
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_text(rows)
    bs.solve_file(str(path), str(out))
    assert out.read_text() == answers


def test_the_guide_names_all_that_is_read():
    names = {*other_programs._CONSTRAINTS, *other_programs._FIELDS, *NAMED, *STRICT, *COLUMNS}
    shown = set(re.findall(r"`([^`\n]+)`", GUIDE))
    assert names - shown == {"Given", "grid"}  # the guide says these in words


def listed(first, shape=list):
    """Return the cages of `KILLER` as sums and lists of cells, which count from `first`."""
    cells = {}
    for k, label in enumerate(KILLER["cages"]):
        cells.setdefault(label, []).append(shape((k // 9 + first, k % 9 + first)))
    return [{"sum": total, "cells": cells[label]} for label, total in SUMS.items()]


@pytest.mark.parametrize("first", [0, 1])
def test_cages_may_be_lists_of_cells(first, tmp_path):
    words = [[cage["sum"], *(f"{r},{c}" for r, c in cage["cells"])] for cage in listed(first)]
    lines = "\n".join(";".join(map(str, line)) for line in words)
    texts = [json.dumps(listed(first)), lines, json.dumps(listed(first, tuple))]
    rows = solved(pa.table({"puzzle": [KILLER["puzzle"]] * 3, "cages": texts}))
    assert [row["solution"] for row in rows] == [KILLED] * 3
    record = {"puzzle": KILLER["puzzle"], "cages": listed(first)}
    (tmp_path / "a.jsonl").write_text(f"{json.dumps(record)}\n")
    bs.solve_file(tmp_path / "a.jsonl", tmp_path / "out.csv")
    assert rows_of_csv(tmp_path / "out.csv")[0]["solution"] == KILLED
    assert solved(pa.table({"cages": texts[:2]}))[1]["solution"] == KILLED  # blank grids


def test_sums_may_be_in_the_order_of_cages():
    numbers = list(SUMS.values())
    texts = [" ".join(map(str, numbers)), json.dumps(numbers), ",".join(map(str, numbers))]
    each = {name: [KILLER[name]] * 3 for name in ("puzzle", "cages")}
    for sums in (texts, [numbers] * 3):
        assert [row["solution"] for row in solved(pa.table({**each, "sums": sums}))] == [KILLED] * 3
