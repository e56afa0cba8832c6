import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from batchsolve import InputError, Stacks, Sudoku
from batchsolve.problems import survey
from batchsolve.problems.notation import Notation, default_box, from_zero, notations, numbers

SIZES = [4, 6, 8, 9, 10, 12, 16, 20, 25, 30, 36, 49, 144]
FOUR, NUMBERS = notations(4)[0], numbers(4)
known = st.sampled_from([n for size in SIZES for n in [*notations(size), numbers(size)]])


@given(notation=known, data=st.data())
def test_what_is_written_is_read_back(notation, data):
    n = notation.n_digits
    seed = data.draw(st.integers(0, 2**32))
    grids = np.random.default_rng(seed).integers(0, n + 1, (3, n * n)).astype(np.uint8)
    where = np.array([True, False, True, True])
    column = notation.decode(grids, where)
    assert [value is None for value in column.to_pylist()] == [False, True, False, False]
    back, faults = notation.encode(column)
    assert (faults == [-1, -2, -1, -1]).all()
    assert (back[where] == grids).all()
    sliced, _ = notation.encode(column.slice(2, 2))
    assert (sliced == grids[1:]).all()


@given(st.data())
def test_any_alphabet_is_written_symbol_by_symbol(data):
    n = data.draw(st.sampled_from([4, 9, 16, 25]))
    alphabet = data.draw(st.permutations(list(map(chr, range(33, 127)))))[: n + 1]
    notation = Notation(n, "any", "".join(alphabet[1:]), blank=alphabet[0])
    grids = np.random.default_rng(n).integers(0, n + 1, (40, n * n)).astype(np.uint8)
    texts = ["".join(alphabet[digit] for digit in grid) for grid in grids.tolist()]
    assert notation.decode(grids, np.ones(40, np.bool_)).to_pylist() == texts


def notation_of(values, size):
    codes = survey.forms(column := pa.array(values))
    assert survey.most_frequent_size(codes) == size
    form = survey.most_frequent_form(codes, size)
    return survey.Signs().notation(survey.shown(column.filter(pa.array(codes == form.code)), form))


def grid16(symbols, blank=".", filled=1.0):
    cells = (symbols * 16)[: round(256 * filled)]
    return cells + blank * (256 - len(cells))


SIXTEENS = [
    ([grid16("123456789ABCDEFG", "0", 0.4)], "1-9A-G"),
    ([grid16("123456789ABCDEFG", ".", 0.4)], "1-9A-G"),
    ([grid16("0123456789ABCDEF", ".", 0.4)], "0-9A-F"),
    ([grid16("0123456789abcdef", ".", 0.4)], "0-9A-F"),
    ([grid16("ABCDEFGHIJKLMNOP", ".", 0.4)], "A-P"),
    ([grid16("123", "."), grid16("G", ".", 0.1)], "1-9A-G"),
    ([grid16("ABC"), grid16("P", ".", 0.1), "x" * 256], "A-P"),
    ([grid16("0123456789ABCDEF", ".", 0.4)] * 4 + [grid16("0123456789ABCDEG")], "0-9A-F"),
    ([grid16("123456789ABCDEFG", ".", 0.4)] * 4 + [grid16("123456789ABCDEHG")], "1-9A-G"),
    ([grid16("ABCDEFGHIJKLMNOP", ".", 0.4)] * 4 + [grid16("1BCDEFGHIJKLMNOP")], "A-P"),
    (["." * 256], "1-9A-G"),
]


@pytest.mark.parametrize(("values", "name"), SIXTEENS)
def test_alphabets_of_16_are_told_apart_by_the_whole_column(values, name):
    assert notation_of(values, 16).name == name


DOUBTFUL = [
    ([grid16("123456789ABCDEF", ".", 0.4)], ["1-9A-G", "0-9A-F"]),
    ([grid16("ABC", ".", 0.4)], ["1-9A-G", "0-9A-F", "A-P"]),
    ([grid16("0123456789ABCDEF")], ["1-9A-G", "0-9A-F"]),
]


@pytest.mark.parametrize(("values", "choices"), DOUBTFUL)
def test_doubtful_columns_are_refused_with_the_choices(values, choices):
    with pytest.raises(survey.AmbiguousNotationError, match=f"can be {' or '.join(choices)};"):
        notation_of(values, 16)


def test_numbers_with_every_separator_and_blank():
    for separator in " ,;":
        notation = notation_of([f"{separator} ".join("1234" * 4)], 4)
        assert (notation.name, notation.separator) == ("numbers", separator)
    rows = [["1", ".", blank, "*", "_", "2,", ",3;", "4"] + ["1"] * 8 for blank in ("0", "-1")]
    grids, faults = numbers(4).encode(pa.array(map(" ".join, rows)))
    assert faults.tolist() == [-1, -1]
    assert grids[:, :8].tolist() == [[1, 0, 0, 0, 0, 2, 3, 4]] * 2


FAULTS = [
    (FOUR, "1" * 15 + "5", "row 4, column 4: '5' is not in the alphabet 1-4, nor a blank"),
    (FOUR, "1" * 9 + "é" + "1" * 5, "row 3, column 2: 'é' is not in the alphabet"),
    (NUMBERS, "1 2 3", "3 numbers; a 4×4 grid has 16"),
    (NUMBERS, "1 " * 15 + "9" * 20, f"row 4, column 4: '{'9' * 20}' is not"),
]


@pytest.mark.parametrize(("notation", "text", "message"), FAULTS)
def test_faults_are_explained(notation, text, message):
    grids, faults = notation.encode(pa.array([text]))
    assert not grids.any()
    assert message in notation.explain(text, int(faults[0]))


def test_named_alphabets():
    notation = Notation.from_name("a-dX", 5)
    assert notation.symbols == "abcdX"
    assert notation.table[[ord("a"), ord("X"), ord("."), ord("5")]].tolist() == [1, 5, 0, 255]
    for name in ("1-8", "1-99", "1-8é", "1-8,"):
        with pytest.raises(InputError, match="9 different ones are needed, such as 1-9, A-I"):
            Notation.from_name(name, 9)
    zero = Notation.from_name("0-8", 9)
    assert zero.table[[ord("0"), ord("8"), ord(".")]].tolist() == [1, 9, 0]
    assert [from_zero(n).name for n in (10, 11, 36)] == ["0-9", "0-9A", "0-9A-Z"]


def test_usual_boxes():
    assert [default_box(n) for n in (6, 7, 8, 12)] == [(2, 3), None, (2, 4), (3, 4)]
    assert all(default_box(n * n) == (n, n) for n in range(2, 7))


@given(st.sampled_from([(1, 5), (2, 2), (2, 3), (3, 3), (3, 4), (5, 5), (6, 6)]), st.data())
def test_grids_and_stacks_are_the_same_thing(box, data):
    problem = Sudoku(*box)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    grids = rng.integers(0, problem.n_digits + 1, (3, problem.n_cells)).astype(np.uint8)
    stacks = problem.stacks(grids)
    assert (problem.grids(stacks) == grids).all()
    for stack, grid in zip(stacks, grids, strict=True):
        cells, digits = np.divmod(stack, problem.n_digits)
        assert (grid[cells] == digits + 1).all()
        assert len(stack) == np.count_nonzero(grid)
    full = problem.stacks(np.maximum(grids, 1))
    shuffled = Stacks.from_lists([rng.permutation(stack) for stack in full])
    assert (problem.grids(full) == np.maximum(grids, 1)).all()
    assert (problem.grids(shuffled) == np.maximum(grids, 1)).all()


SIGNS = st.text(st.sampled_from(" ,;\t\n.019?Az~\x7f\x00é€"), max_size=90)


def facts_of(text):
    """Return the facts of a value."""
    value = text.encode().strip(bytes(range(1, 33)))
    tokens = [token for token in re.split(rb"[ ,;\t]", value) if token]
    used = sum(1 << byte for byte in {min(byte, 127) for byte in b"".join(tokens)})
    is_separated = b"".join(tokens) != value
    has_long = any(len(token) > 3 for token in tokens)
    return len(value), len(tokens) * is_separated, used % 2**64, used >> 64, has_long


@given(st.lists(SIGNS | st.none(), max_size=9), st.integers(0, 3))
def test_facts_are_those_of_each_value(texts, first):
    column = pa.array(texts, pa.string())[first:]
    found = zip(*(each.tolist() for each in survey.survey(column)), strict=True)
    assert list(found) == [facts_of(text or "") for text in texts[first:]]
