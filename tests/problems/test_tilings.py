import numpy as np
import pytest
from conftest import n_covers
from hypothesis import given, strategies as st
from oracles import tilings as count_tilings

import batchsolve as bs
from batchsolve.formats.pictures.boards import Board
from batchsolve.problems import tilings

CHESSBOARD = "\n".join(["." * 8] * 3 + ["...##..."] * 2 + ["." * 8] * 3)
SOMA = """| seven pieces of three and four cubes
board: 3x3x3
pieces: V3, L4, T4, S4
piece A: XX/X.//X.
piece B: XX/X.//.X
piece P:
XX
X.

..
X.
"""


# Golomb, Polyominoes; OEIS A000105, A000988, A001168, A038119, A000162, A001931
NUMBERS = [
    (tilings.FREE, False, [1, 1, 2, 5, 12, 35, 108]),
    (tilings.ONE_SIDED, False, [1, 1, 2, 7, 18, 60]),
    (tilings.FIXED, False, [1, 2, 6, 19, 63, 216]),
    (tilings.FREE, True, [1, 1, 2, 7, 23]),
    (tilings.ONE_SIDED, True, [1, 1, 2, 8, 29]),
    (tilings.FIXED, True, [1, 3, 15, 86, 534]),
]


@pytest.mark.parametrize(("kind", "cubes", "counts"), NUMBERS)
def test_there_are_as_many_pieces_as_is_known(kind, cubes, counts):
    found = [len(tilings.pieces(size, kind, cubes=cubes)) for size in range(1, len(counts) + 1)]
    assert found == counts


def test_pentominoes_are_twelve_different_pieces_with_63_orientations():
    drawn = {name: tilings.piece_shape(drawing) for name, drawing in tilings.PENTOMINOES.items()}
    turned = {name: tilings.orientations(each, tilings.FREE, False) for name, each in drawn.items()}
    every = [shape for shapes in turned.values() for shape in shapes]
    assert len(every) == len(set(every)) == 63
    known = dict(zip("FILNPTUVWXYZ", [8, 2, 8, 8, 8, 4, 4, 4, 4, 1, 8, 4], strict=True))
    assert {name: len(shapes) for name, shapes in turned.items()} == known


@pytest.mark.parametrize("kind", tilings.KINDS)
@pytest.mark.parametrize("name", [name for name, each in tilings.SETS.items() if each[0] < 6])
def test_a_named_set_has_every_piece_once_and_each_its_own_name(name, kind):
    size, cubes = tilings.SETS[name]
    found = tilings.named_set(name, kind, cubes)
    assert len(found) == len(tilings.pieces(size, kind, cubes=cubes))
    of_each = [tilings.orientations(shape, kind, cubes)[0] for shape in found.values()]
    assert len(set(of_each)) == len(found)


KNOWN = [
    (CHESSBOARD, "pentominoes", {}, 8 * 65),  # D. S. Scott, 1958
    ("4x5", "tetrominoes", {}, 0),  # a T covers three cells of one colour
    ("4x4", "I4.1", {"use": "any number", "kind": "fixed"}, 1),
    ("4x4", "I4.1, I4.2", {"use": "any number", "kind": "fixed"}, 2),
    ("2x2x2", "I2", {"use": "any number"}, 9),
]


@pytest.mark.parametrize(("board", "named", "how", "count"), KNOWN)
def test_known_counts(board, named, how, count):
    """Rectangles of pentominoes and dominoes are families; see test_families.py."""
    assert n_covers(bs.tiling(board, named, **how)) == count


def test_the_soma_cube_has_240_solutions_but_for_rotations_and_reflections():
    problem = tilings.read_tiling(SOMA)
    assert (problem.n_primary, problem.n_items) == (7 + 27, 34)
    assert n_covers(problem) == 240 * 48


squares = st.tuples(st.just(0), st.integers(0, 1), st.integers(0, 2))
shapes = st.sets(squares, min_size=1, max_size=4).map(tilings.moved_to_corner)
ALL_USES = [*tilings.USES, "2", "0..2", "2..3 times", "1.."]
cubes = st.tuples(st.integers(1, 2), st.integers(1, 3), st.integers(1, 3))
boards = st.sets(cubes, min_size=2, max_size=11)


@given(
    boards,
    st.lists(st.tuples(shapes, st.sampled_from(ALL_USES)), max_size=3),
    st.sampled_from(tilings.KINDS),
    st.booleans(),
)
def test_tilings_agree_with_the_slow_solver(board, chosen, kind, fill):
    cells = sorted(board)
    solid = any(layer > 1 for layer, _, _ in cells)
    named = [(f"p{k}", shape, tilings.use_of(use)) for k, (shape, use) in enumerate(chosen)]
    slow = [(tilings.orientations(shape, kind, solid), *use) for _, shape, use in named]
    try:
        problem = tilings.placements(cells, named, kind, fill=fill)
    except bs.ProblemError:  # the sizes prove that no tiling exists
        assert not chosen or count_tilings(cells, slow, fill) == 0
        return
    assert n_covers(problem) == count_tilings(cells, slow, fill)


def test_a_file_and_the_function_mean_the_same():
    text = f"board:\n{CHESSBOARD}\npieces: pentominoes\n"
    assert tilings.read_tiling(text).fingerprint == bs.tiling(CHESSBOARD, "pentominoes").fingerprint
    text = "board: XXX/XXX\nkind: fixed\npiece a: X/X\npiece b at most once: XX\n"
    text += "pieces any number: I1\n"
    pieces = [{"a": "X/X", "b": [[True, True]]}, "I1"]
    use = {"b": "at most once", "I1": "any number"}
    same = bs.tiling([[1, 1, 1], [1, 1, 1]], pieces, kind="fixed", use=use)
    assert tilings.read_tiling(text).fingerprint == same.fingerprint
    assert same.option_name(same.n_options - 1) == "I1 r2c3"
    assert (same.n_primary, same.n_items) == (7, 8)
    loose = bs.tiling("2x3", {"a": "X/X", "b": "XX"}, fill=False)
    read = tilings.read_tiling("fill: no\nboard: 2x3\npiece a: X/X\npiece b: XX")
    assert read.fingerprint == loose.fingerprint
    assert (loose.n_primary, loose.n_items) == (2, 8)
    twice = tilings.read_tiling("board: 2x2\npieces 2 times: I2")
    for use in ("2", 2, {"I2": np.int64(2)}):
        assert bs.tiling("2x2", "I2", use=use).fingerprint == twice.fingerprint


def test_drawings_of_boards_and_pieces():
    assert tilings.board_cells("#..\n ..\n") == [(1, 1, 1), (1, 1, 2), (1, 2, 1), (1, 2, 2)]
    assert tilings.board_cells("XX\n") == tilings.board_cells("..") == tilings.board_cells("1X2")
    assert tilings.board_cells("..\n\n\n.#") == [(1, 1, 1), (1, 1, 2), (2, 1, 1)]
    assert tilings.piece_shape(".xX\n") == tilings.piece_shape(" XX") == ((0, 0, 0), (0, 0, 1))
    assert tilings.piece_shape([[[1]], [[1]]]) == ((0, 0, 0), (1, 0, 0))


REFUSED = [
    ("pieces: I2\n", "no line is 'board:'; a tiling has a board and pieces"),
    ("hello\nboard: 2x2\n", "line 1: 'hello' stands before any of board, pieces"),
    ("board: 2x2\n", "a tiling needs pieces"),
    ("board: 0x2\npieces: I2", "line 1: a board of 0 cells; 1 to 1,000,000 are possible"),
    ("board: 99999x99999\npieces: I2", "line 1: a board of 9,999,800,001 cells"),
    ("board:\n..\n.?\npieces: I2", "line 1: '?' cannot be in a board: cells are . or X"),
    ("board:\n.X\npieces: I2", "line 1: the board has both . and X"),
    ("board:\n\n##\npieces: I2", "line 1: the board is empty"),
    ("board: 2x2\n..\npieces: I2", "line 2: '..' follows 'board', which line 1 has said"),
    ("board:\n\t..\npieces: I2", "line 2: a tab"),
    ("board: 1x2\nboard: 1x2\n", "line 2: a second board; say it once"),
    ("board: 1x2\nkind of: free\n", "line 2: unknown keyword 'kind of'; choose from board"),
    ("board: 1x2\npieces: quadrominoes", "line 2: no piece or set of pieces is called"),
    ("board: 1x2\npieces: tricubes", "line 2: tricubes do not fit a board of one layer"),
    ("board: 1x2\npieces: ", "line 2: no pieces are named"),
    ("board: 1x2\npieces twice: I2", "line 2: unknown use of a piece 'twice'; choose from"),
    ("board: 1x2\npieces 3..2 times: I2", "line 2: '3..2 times': the upper bound is 1 to"),
    (f"board: 1x2\npieces 2..{10**30} times: I2", "the upper bound is 1 to 1,000,000, and not"),
    (f"board: 1x2\npieces {'9' * 5000} times: I2", "line 2: unknown use of a piece '999"),
    ("board: 1x2\npieces 2: I2", "pieces of 4 squares do not fill a board of 2 cells"),
    ("board: 1x2\npieces: I2, I2", "line 2: two pieces are called 'I2'"),
    ("board: 1x2\npiece: XX", "line 2: '' cannot name a piece"),
    ("board: 1x2\npiece r1c1: XX", "line 2: 'r1c1' cannot name a piece"),
    ("board: 1x2\npiece r1#a: XX", "line 2: 'r1#a' cannot name a piece"),
    ("board: 1x2\npiece A:\n##\n", "line 2: '#' cannot be in a piece: squares are X"),
    ("board: 1x2\nkind: loose\npieces: I2", "line 2: unknown kind of pieces 'loose'"),
    ("board: 1x2\nfill: maybe\npieces: I2", "line 2: fill is yes or no, not 'maybe'"),
    ("board: 5x12\npieces: pentominoes I1", "pieces of 61 squares do not fill a board of 60"),
    ("board: 8x8\npieces: pentominoes", "add pieces, or let cells stay empty"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_what_is_no_tiling_is_refused_with_its_line(text, message, tmp_path):
    path = tmp_path / "my.tiling"
    path.write_text(text)
    with pytest.raises(bs.InputError) as caught:
        bs.read_problem(str(path))
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


def test_so_many_options_are_refused(monkeypatch):
    monkeypatch.setattr("batchsolve.problems.tilings.MOST_OPTIONS", 100)
    with pytest.raises(bs.ProblemError, match="more than 100 options; take fewer pieces"):
        bs.tiling("8x8", "dominoes", use="any number")


def test_a_tiling_comes_from_any_file_and_from_standard_input(tmp_path, typed):
    text = "board: 2x3\npieces any number: I2\n"
    (tmp_path / "board.txt").write_text(text)
    assert bs.count(str(tmp_path / "board.txt"), jobs=1).count == 3
    typed(text)
    assert bs.read_problem("-").problem.n_options == 7


def test_cells_that_stay_empty_are_filled_where_the_sizes_tell_their_number():
    problem = tilings.read_tiling("board: 9x9\nfill: no\npieces: pentominoes trominoes I4 O4 L4")
    assert (problem.n_primary, problem.n_items, problem.n_bounded) == (17 + 81 + 1, 99, 1)
    found = bs.count(problem, limit=1, node_limit=10_000, jobs=1)
    assert (found.count, found.nodes < 1000) == (1, True)


LOOSE = [
    ("2x3", "V3 I2 I1", 0),
    ("2x4", "I3 V3 I1", 1),
    ("3x3", "I3 V3 I1", 2),
    ("3x4", "I3 V3 I2", 4),
]


@pytest.mark.parametrize(("board", "pieces", "empty"), LOOSE)
def test_fillers_change_no_count_and_no_drawing(board, pieces, empty):
    problem = bs.tiling(board, pieces, fill=False)
    cells = tilings.board_cells(board)
    named = tilings.named_pieces(pieces, "free", False).values()
    slow = [(tilings.orientations(shape, "free", False), 1, 1) for shape in named]
    assert bs.count(problem).count == count_tilings(cells, slow, False)
    cover = next(bs.solutions(problem))
    pieces, _ = Board.of(problem).filled(cover)
    assert sum(len(piece.places) for piece in pieces) == len(cells) - empty
    assert "(empty)" not in bs.draw(problem, cover).svg
