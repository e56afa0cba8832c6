import json
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import changed, problems
from hypothesis import given, strategies as st
from oracles import solved

from batchsolve import ExactCover, Sudoku
from batchsolve.formats.render import GRIDS, LISTS, cover_lines, cover_parquet, cover_table
from batchsolve.problems.notation import Notation, numbers
from batchsolve.problems.stacks import Stacks

# names that are prefixes of others, need escapes, are not ASCII, or are empty; the last two
# are in the order of UTF-8, which differs from that of UTF-16
NAMES = [
    *("", "a", "a ", "a b", "ab", "b", '"', "\\", "\n\t", "\0", "a\0", "é", "日本"),
    *("\uffee", "🧩"),
]


@st.composite
def named_problems(draw):
    """Draw problems whose options have names, some of them repeated."""
    problem = draw(problems(most_colors=2))
    names = draw(st.lists(st.sampled_from(NAMES), min_size=problem.n_options, max_size=14))
    return changed(problem, option_names=draw(st.sampled_from([None, names[: problem.n_options]])))


@st.composite
def batches(draw):
    """Draw a problem, and lists of its options in any order: rendering needs no more of a cover."""
    problem = draw(named_problems())
    options = st.sets(st.integers(0, max(problem.n_options - 1, 0)), max_size=problem.n_options)
    rows = draw(st.lists(options.map(sorted).flatmap(st.permutations), max_size=40))
    return problem, Stacks.from_lists(rows)


def expected_lists(problem, covers):
    rows = [[problem.option_name(o) for o in sorted(cover.tolist())] for cover in covers]
    return sorted(rows, key=lambda row: [name.encode() for name in row])


def check(problem, covers, column, rows, notation=None):
    """Check all output forms of a batch against its rows."""
    table = cover_table(problem, notation, covers)
    schema = {"grid": GRIDS, "options": LISTS}[column]
    assert table.schema.equals(schema)
    assert table.column(0).to_pylist() == rows
    assert table.column(0).num_chunks == 1
    table.validate(full=True)
    file = pq.read_table(pa.BufferReader(cover_parquet(problem, notation, covers)))
    assert file.schema.equals(schema)
    assert file.column(0).to_pylist() == rows
    lines = "".join(json.dumps({column: row}) + "\n" for row in rows)
    assert cover_lines(problem, notation, covers).to_pybytes() == lines.encode()


@given(batches())
def test_lists_of_names(batch):
    problem, covers = batch
    check(problem, covers, "options", expected_lists(problem, covers))


def test_long_lists_and_many_names():
    rng = np.random.default_rng(1)
    problem = ExactCover(np.arange(1001), np.arange(1000), 1000)
    rows = [rng.choice(1000, size, replace=False) for size in (0, 1, 5, 6, 7, 300, 999) * 9]
    rows += [[*range(60), k] for k in rng.permutation(np.arange(60, 1000))[:50]]
    covers = Stacks.from_lists(rows)
    check(problem, covers, "options", expected_lists(problem, covers))


def test_no_covers():
    for problem, column in ((ExactCover([0], [], 0), "options"), (Sudoku(2, 2), "grid")):
        check(problem, Stacks.empty(), column, [])


def solved_grids(box_rows, box_columns, n, seed=0):
    """Return different solved grids, shape (n, N²); neighbours differ little."""
    rng, grid, grids = np.random.default_rng(seed), solved(box_rows, box_columns).ravel(), []
    for _ in range(n):
        grids.append(grid)
        a, b = rng.integers(1, box_rows * box_columns + 1, 2)
        grid = np.select([grid == a, grid == b], [b, a], grid)
    return np.array(grids)


NOTATIONS = [
    (2, 2, None),
    (2, 2, Notation.from_name("abcd", 4)),
    (2, 2, Notation(4, 'b"\\a', 'b"\\a')),  # symbols that JSON escapes
    (3, 3, None),
    (3, 3, numbers(9, ",")),
    (3, 4, numbers(12, ";")),
    (4, 4, None),
    (4, 4, Notation.from_name("0-9A-F", 16)),
    (5, 5, None),
    (5, 5, numbers(25)),
    (1, 1, None),
]


@pytest.mark.parametrize(("box_rows", "box_columns", "notation"), NOTATIONS)
@pytest.mark.parametrize(("n", "shuffled"), [(1, False), (2, True), (100, False), (100, True)])
def test_grids(box_rows, box_columns, notation, n, shuffled):
    problem = Sudoku(box_rows, box_columns)
    grids = solved_grids(box_rows, box_columns, n)
    stacks = [stack.tolist() for stack in problem.stacks(grids)]
    if shuffled:
        rng = np.random.default_rng(2)
        stacks = [rng.permutation(stack) for stack in stacks]
        rng.shuffle(stacks)
    if notation is not None and notation.symbols:
        texts = ["".join(notation.symbols[digit - 1] for digit in grid) for grid in grids]
    elif notation is not None:
        texts = [notation.separator.join(map(str, grid)) for grid in grids]
    else:
        texts = [problem.format(grid) for grid in grids]
    check(problem, Stacks.from_lists(stacks), "grid", sorted(texts), notation)


def test_grids_must_be_full():
    with pytest.raises(ValueError, match=r"covers of Sudoku\(2, 2\) have 16 options"):
        cover_table(Sudoku(2, 2), None, Stacks.from_lists([range(16), [1, 2]]))


@pytest.mark.parametrize(
    ("problem", "cover"),
    [(Sudoku(2, 2), range(16)), (ExactCover(range(18), range(17), 17), range(16))],
)
def test_covers_beyond_a_column_of_arrow_are_refused(monkeypatch, problem, cover):
    two = Stacks.from_lists([cover] * 2)
    monkeypatch.setattr("batchsolve.formats.render._MOST", 31)
    cover_table(problem, None, Stacks.from_lists([cover]))
    for render in (cover_table, cover_parquet, cover_lines):
        with pytest.raises(ValueError, match="2 covers are too many to be rendered at once"):
            render(problem, None, two)


def test_problems_that_differ_in_names_share_none():
    def problem(name, color="red"):
        names = {"item_names": ["x", name], "color_names": [color]}
        return ExactCover([0, 2], [0, 1], 2, 1, colors=[0, 1], **names)

    covers = Stacks.from_lists([[0]])
    for one, line in (
        (problem("y"), b'{"options": ["x y:red"]}\n'),
        (problem("z"), b'{"options": ["x z:red"]}\n'),
        (problem("y", "blue"), b'{"options": ["x y:blue"]}\n'),
    ):
        for each in (one, pickle.loads(pickle.dumps(one))):
            assert cover_lines(each, None, covers).to_pybytes() == line


def test_names_are_built_once(monkeypatch):
    calls = []
    name_of = ExactCover.option_name

    def option_name(problem, o):
        calls.append(o)
        return name_of(problem, o)

    monkeypatch.setattr(ExactCover, "option_name", option_name)
    problem = ExactCover([0, 1, 2], [0, 1], 2, item_names=["only", "here"])
    covers = Stacks.from_lists([[0, 1]] * 3)
    copies = [pickle.loads(pickle.dumps(problem)) for _ in range(8)]
    with ThreadPoolExecutor(4) as threads:
        tables = list(threads.map(lambda each: cover_table(each, None, covers), copies))
    assert all(table.column(0).to_pylist() == [["only", "here"]] * 3 for table in tables)
    assert sorted(calls) == [0, 1]
