"""Common formats of puzzle collections: each gives the same answers as a plain file."""

import gzip
import json

import numpy as np
import pytest
from conftest import SOLUTION, interrupted_after, npy

import batchsolve as bs
from batchsolve.core.interrupts import TimeIsUp
from batchsolve.errors import named_errors
from batchsolve.tables.corpus import Corpus

PUZZLES = ["1.....2..3.....4", "." * 16, "12.............."]


@pytest.fixture
def read(tmp_path):
    """Return a function that writes a file, and returns its columns, puzzles' digits and faults."""

    def read(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        corpus = Corpus([str(path)])
        batches = list(corpus.batches())
        grids = np.concatenate([batch.grids[0].puzzles for batch in batches])
        return corpus.columns, grids.tolist(), [fault for b in batches for fault in b.faults]

    return read


def digits(puzzles):
    return [[0 if symbol == "." else int(symbol) for symbol in puzzle] for puzzle in puzzles]


def test_sudoku_exchange(read, tmp_path):
    lines = [f"{k:012x} {puzzle.replace('.', '0')}  {k}.5" for k, puzzle in enumerate(PUZZLES)]
    columns, grids, faults = read("bank.txt", "\n".join(lines) + "\n")
    assert columns == ["hash", "puzzle", "rating"]
    assert (grids, faults) == (digits(PUZZLES), [])
    bs.solve_file(tmp_path / "bank.txt", tmp_path / "out.csv")
    first = (tmp_path / "out.csv").read_text().splitlines()[1]
    assert first == f"000000000000,1000002003000004,0.5,{SOLUTION},unique,1,"
    assert bs.count(f"{tmp_path / 'bank.txt'}#hash=000000000000").count == 1


def test_fields_parted_by_blanks(read):
    columns, grids, faults = read("pairs.txt", f"# two\n{PUZZLES[0]}  {SOLUTION}\n")
    assert columns == ["puzzle", "solution"]
    assert (grids, faults) == (digits(PUZZLES[:1]), [])
    columns, grids, faults = read("named.txt", f"a {PUZZLES[0]} # easy\nb\nc {PUZZLES[2]} x\n")
    assert columns == ["column_1", "puzzle"]
    assert grids[0] == digits(PUZZLES)[0]
    assert faults == [1, 2]


@pytest.mark.parametrize("shape", [(3, 16), (3, 4, 4)])
@pytest.mark.parametrize("kind", ["u1", "<i8", ">i4"])
def test_an_array_of_numpy(read, shape, kind):
    for values in (np.array(digits(PUZZLES), kind).reshape(shape), np.array(PUZZLES)):
        assert read("in.npy", npy(values)) == (["puzzle"], digits(PUZZLES), [])


WRONG_DIGITS = [
    (4, 5, "row 1, column 3: '5' is not in the alphabet 1-4"),
    (4, -2, "row 1, column 3: '?' is not in the alphabet 1-4"),
    (16, 300, "row 1, column 3: '300' is not a number from 1 to 16"),
]


@pytest.mark.parametrize(("n", "wrong", "said"), WRONG_DIGITS)
def test_minus_one_is_a_blank_and_a_wrong_digit_makes_one_row_invalid(n, wrong, said, tmp_path):
    grids = np.full((3, n * n), -1)
    grids[:, 1] = n
    grids[1, 2] = wrong
    np.save(tmp_path / "in.npy", grids)
    batch = next(Corpus([str(tmp_path / "in.npy")]).batches())
    right = np.where(grids == -1, 0, grids)
    right[1] = 0
    assert batch.grids[0].puzzles.tolist() == right.tolist()
    assert list(batch.faults) == [1]
    assert batch.faults[1].startswith(said)


def header(text):
    data = text.encode() + b"\n"
    return b"\x93NUMPY\1\0" + len(data).to_bytes(2, "little") + data


HUGE = "{'descr': '|u1', 'fortran_order': False, 'shape': (1000000000000000, 81)}"


USELESS = [
    ("in.npy", npy(np.zeros((2, 15), int)), r".* of the shape \(2, 15\) holds no puzzles"),
    ("in.npy", npy(np.full((2, 16), 0.5)), "an array of float64"),
    ("in.npy", npy(np.array(3)), "an array of int64 of the shape"),
    ("in.npy", npy(np.full((2, 16), 300)), "row 1 has 300 in cell 1; digits are 1 to 4, 0"),
    ("in.npy", npy(np.array([{}])), "cannot be read as an array of NumPy: Object arrays"),
    ("in.npy", header("{'descr': '|u1', 'shape': ("), ""),
    ("in.npy", header(HUGE), ""),
    ("in.npy", header("{'descr': [" * 300), ""),
    ("in.json", b"[1, 2", r".*is not JSON \(Expecting"),
    ("in.json", b"[]", "is an empty array"),
    ("in.json", b'["\\ud800"]', ".*surrogate"),
    ("in.json", b"[" * 200_000, ""),
]


@pytest.mark.parametrize(("name", "content", "why"), USELESS)
def test_arrays_of_no_use_are_one_error_that_names_them(name, content, why, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(bs.InputError, match=rf"^{tmp_path}/{name}: {why}[^\n]*$"):
        bs.solve_file(tmp_path / name, tmp_path / "out.csv")


def test_a_value_of_another_kind_changes_no_other_row(tmp_path):
    mixed, alike = tmp_path / "mixed.jsonl", tmp_path / "alike.jsonl"
    texts = {"puzzle": PUZZLES[0], "solution": SOLUTION, "box": "2x2", "level": " easy "}
    rows = [texts, {**texts, "solution": "", "box": ""}]
    other = {"puzzle": 7, "solution": 0, "box": [2], "level": 5}
    alike.write_text("\n".join(map(json.dumps, rows)))
    mixed.write_text("\n".join(map(json.dumps, [*rows, other])))
    for call in (bs.solve_file, bs.augment_file):
        found = []
        for name in (mixed, alike):
            call(name, tmp_path / "out.csv")
            found.append((tmp_path / "out.csv").read_text().splitlines()[:3])
        assert found[0] == found[1]
    strata = bs.evaluate(mixed, prediction="solution", truth="none", by="level").strata
    assert {*strata} == {"easy", "5"}


@pytest.mark.parametrize("line", [r'{"puzzle": "\ud800"}', r'{"puzzle": "1...", "\udfff": 1}'])
def test_half_of_a_surrogate_pair_is_one_error(line, tmp_path):
    path = tmp_path / "in.jsonl"
    path.write_text(line)
    calls = (lambda: bs.solve_file(path, tmp_path / "x.csv"), lambda: bs.read_problem(f"{path}#1"))
    for call in calls:
        with pytest.raises(bs.InputError, match=rf"^{path}: .*\(half of a surrogate pair\)"):
            call()


def test_half_of_a_surrogate_pair_in_a_problem_is_the_fault_of_its_row(tmp_path):
    (tmp_path / "in.json").write_text('{"options": [["\\ud800"]]}')
    summary = bs.solve_file(tmp_path / "in.json", tmp_path / "out.csv")
    assert (summary.rows, summary.invalid) == (1, 1)
    assert "half of a surrogate pair" in (tmp_path / "out.csv").read_text()
    with pytest.raises(bs.InputError, match="not JSON that can be read: half of a surrogate pair"):
        bs.read_problem(tmp_path / "in.json")


@pytest.mark.parametrize("name", ["in.json", "in.npy", "in.txt"])
def test_a_file_that_is_read_as_a_whole_can_be_resumed_and_compressed(name, tmp_path):
    grids = [PUZZLES[0]] * 2000
    contents = {
        "in.json": json.dumps(grids).encode(),
        "in.npy": npy(np.array(grids)),
        "in.txt": "".join(f"{k:x} {grid}\n" for k, grid in enumerate(grids)).encode(),
    }
    (tmp_path / name).write_bytes(contents[name])
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(contents[name]))
    bs.solve_file(tmp_path / f"{name}.gz", tmp_path / "right.csv")

    task = tmp_path / name, tmp_path / "out.csv"
    with pytest.raises(KeyboardInterrupt):
        bs.solve_file(*task, chunk=100, on_progress=interrupted_after(999))
    assert bs.solve_file(*task, resume=True).unique == 2000
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "right.csv").read_bytes()


WITH_ZEROS = [
    ("in.csv", ["id,puzzle", "1,1.....2..3.....4", "2,1.....2\0.3.....4"]),
    ("in.csv", ["id,puzzle", "1,1.....2..3.....4", "2,\x001.....2..3.....4"]),
    ("in.txt", ["1.....2..3.....4", "1.....2\0.3.....4"]),
    ("in.txt", ["1.....2..3.....4", "1.....2..3.....4\0"]),
    ("in.jsonl", ['{"puzzle": "1.....2..3.....4"}', '{"puzzle": "1.....2\0.3.....4"}']),
]


@pytest.mark.parametrize(("name", "lines"), WITH_ZEROS)
def test_a_zero_byte_makes_one_row_invalid(read, tmp_path, name, lines):
    _, grids, faults = read(name, "\n".join(lines))
    assert (len(grids), len(faults)) == (2, 1)
    for encoding in ("utf-16", "utf-16-le", "utf-16-be"):
        (tmp_path / name).write_bytes("\n".join([*lines[:-1], lines[0]]).encode(encoding))
        with pytest.raises(bs.InputError, match="not UTF-8 text"):
            bs.solve_file(tmp_path / name, tmp_path / "out.csv")


@pytest.mark.parametrize("error", [RuntimeError, MemoryError, RecursionError, AssertionError])
def test_errors_of_any_kind_name_the_file_that_was_read(error):
    said = r"^a\.csv: cannot be read \(why\)$"
    with pytest.raises(bs.InputError, match=said), named_errors("a.csv"):
        raise error("why\nand more")
    for passes in (KeyboardInterrupt, TimeIsUp):
        with pytest.raises(passes), named_errors("a.csv"):
            raise passes
