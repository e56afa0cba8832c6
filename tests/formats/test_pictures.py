import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings, strategies as st

import batchsolve as bs
from batchsolve.formats.exact_cover_files import write_dlx
from batchsolve.formats.pictures import boards
from batchsolve.formats.pictures.boards import CELLS, PLACES, SQUARES, Board, outline, parts
from batchsolve.formats.pictures.svg import as_svg, drawn, page, sheet

SVG = "{http://www.w3.org/2000/svg}"
cells = st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1)


def elements(text, how=""):
    """Return the elements of a drawing that have a class, in order; malformed text raises."""
    root = ElementTree.fromstring(text)
    return [each for each in root.iter() if how in each.get("class", "").split() or not how]


def shapes(problem, cover=(), clues=(), how=""):
    return elements(as_svg(drawn(problem, cover, clues), "it"), how)


def steps(path, unit=10):
    """Return the lines of a path, cut into pieces of one unit, as pairs of points."""
    found = []
    for x, y, rest in re.findall(r"M(\d+) (\d+)([^M]*)", path):
        start = x, y = int(x) // unit, int(y) // unit
        moves = [(kind, int(by) // unit) for kind, by in re.findall(r"([hv])(-?\d+)", rest)]
        for kind, by in moves:
            for _ in range(abs(by)):
                to = (x + by // abs(by), y) if kind == "h" else (x, y + by // abs(by))
                found.append(((x, y), to))
                x, y = to
        while rest.endswith("z") and (x, y) != start:  # straight back to the start
            to = (x + (start[0] > x) - (start[0] < x), y + (start[1] > y) - (start[1] < y))
            found.append(((x, y), to))
            x, y = to
    return found


@given(cells)
def test_an_outline_is_where_a_cell_has_no_neighbour_and_inner_lines_where_it_has_one(some):
    sides = [frozenset([(c, r), (c + 1, r)]) for r, c in some for r in (r, r + 1)] + [
        frozenset([(c, r), (c, r + 1)]) for r, c in some for c in (c, c + 1)
    ]
    once = {side for side in sides if sides.count(side) == 1}
    found = [frozenset(step) for step in steps(outline(some, 10))]
    assert len(found) == len(once)
    assert set(found) == once
    inside = [frozenset(step) for step in steps(boards.inner_lines(some, 10))]
    assert len(inside) == len(set(sides) - once)
    assert set(inside) == set(sides) - once


@given(cells)
def test_parts_are_connected_and_do_not_touch(some):
    found = parts(some)
    assert sorted(cell for part in found for cell in part) == sorted(some)
    for part in found:
        beside = {(r + a, c + b) for r, c in part for a, b in ((0, 1), (0, -1), (1, 0), (-1, 0))}
        assert beside & some <= set(part)


@settings(deadline=None)
@given(st.sampled_from(["", "A"]), st.integers(2, 6), st.integers(2, 6))
def test_pieces_of_one_label_that_meet_have_different_colours(label, rows, columns):
    pieces = [
        boards.BoardPiece(((0, r, c),), label, "") for r in range(rows) for c in range(columns)
    ]
    found = boards.colored(pieces, {"A": 0})
    for k, piece in enumerate(pieces):
        for other, color_of in zip(pieces, found, strict=True):
            (_, r, c), (_, s, d) = piece.places[0], other.places[0]
            if abs(r - s) + abs(c - d) == 1:
                assert found[k] != color_of


def test_colours_are_all_different_and_light_enough_for_black_letters():
    every = {each for shade in boards.COLORS for each in shade}
    assert len(every) == 6 * 12
    for each in every:
        parts_of = [int(each[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [((c + 0.055) / 1.055) ** 2.4 if c > 0.04 else c / 12.92 for c in parts_of]
        luminance = sum(k * c for k, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
        assert (luminance + 0.05) / 0.0555 > 4.5  # WCAG 2: contrast with #111


PLACED = [
    ("dominoes:3x5", CELLS, 3, 5),
    ("pentominoes:4x15", CELLS, 4, 15),
    ("latin:4", CELLS, 4, 4),
    ("langford:4", PLACES, 1, 8),
    ("queens:5", SQUARES, 5, 5),
]


@pytest.mark.parametrize(("name", "kind", "rows", "columns"), PLACED)
def test_names_of_items_say_where_families_lie(name, kind, rows, columns):
    board = Board.of(bs.family(name))
    assert (board.kind, board.rows, board.columns) == (kind, rows, columns)
    assert len(board.places) == rows * columns


def test_a_problem_from_a_file_is_drawn_as_its_family(tmp_path):
    problem = bs.family("pentominoes:5x12")
    (tmp_path / "p.dlx").write_text(write_dlx(problem))
    cover = next(bs.solutions(problem, limit=1, jobs=1))
    of_file = bs.draw(bs.read_problem(str(tmp_path / "p.dlx")), cover, title="p").svg
    assert of_file == bs.draw(problem, cover, title="p").svg


def test_only_crossings_that_an_option_marks_are_squares():
    options = [["r1", "c2"], ["x", "c1", "r2"], ["r1", "r2", "c1"]]
    board = Board.of(bs.ExactCover.from_options(options))
    assert board.places == {(0, 1, 2), (0, 2, 1)}
    assert [piece.places for piece in board.filled([0, 1])[0]] == [((0, 1, 2),), ((0, 2, 1),)]
    with pytest.raises(bs.ProblemError):
        Board.of(bs.ExactCover([0], [], 2, item_names=["r1", "c1"]))


def test_pieces_are_called_by_what_is_no_cell():
    board = Board.of(bs.family("latin:2"))
    assert [piece.label for piece in board.filled([0, 3, 5, 6])[0]] == ["1", "2", "2", "1"]
    board = Board.of(bs.family("langford:3"))
    assert board.labels == {"1": 0, "2": 1, "3": 2}
    board = Board.of(bs.tiling("1x3", "I1, I2", use="any number"))
    assert {piece.label for piece in board.filled([0, 4])[0]} == {"I1", "I2"}
    assert list(board.labels) == ["I1", "I2"]
    board = Board.of(bs.family("dominoes:1x2"))
    assert [piece.label for piece in board.filled([0])[0]] == [""]
    wide = drawn(bs.tiling("1x2", {"WWWW": "X", "幸運": "X"}), [0, 3]).shapes
    assert re.findall('font-size="(.*?)"', wide) == ["10", "18.4"]  # of cells of 40


def test_cells_that_have_colours_show_them():
    options, colors = [["r1c1", "word"], ["r1c1", "r1c2"]], [{"r1c1": "A"}, {"r1c1": "A"}]
    problem = bs.ExactCover.from_options(options, ["word", "r1c2"], ["r1c1"], colors=colors)
    pieces, letters = Board.of(problem).filled([0, 1])
    assert letters == {(0, 1, 1): "A"}
    assert [piece.places for piece in pieces] == [((0, 1, 2),)]
    assert [text.text for text in shapes(problem, [0, 1], how="bs-clue")] == ["A"]


UNDRAWN = [
    ([["a", "b"]], "it has no items called r1c1, r1c2, … "),
    ([["r1", "a"], ["c1", "b"]], "the problem cannot be drawn"),
    ([["r1", "r2", "c1"]], "the problem cannot be drawn"),
    ([["r1c1", "r1c99999"]], "too large to be drawn: 2 cells, 1 x 99,999"),
    ([["r999999999c1", "r1c1"]], "too large to be drawn: 2 cells, 999,999,999 x 1"),
]


@pytest.mark.parametrize(("options", "message"), UNDRAWN)
def test_what_cannot_be_drawn_is_refused(options, message):
    with pytest.raises(bs.ProblemError) as caught:
        bs.draw(bs.ExactCover.from_options(options))
    assert message in str(caught.value)
    with pytest.raises(bs.ProblemError):
        bs.draw(bs.ExactCover([0, 1], [0], 1))


def test_boards_of_many_cells_are_refused():
    names = [f"r{r}c{c}" for r in range(1, 401) for c in range(1, 401)]
    problem = bs.ExactCover([0, 1], [0], len(names), item_names=names)
    with pytest.raises(bs.ProblemError, match="160,000 cells, 400 x 400; 100,000 cells and"):
        Board.of(problem)


def test_queens_are_marks():
    """Digits, clues, pieces and layers: test_docs.py."""
    queens = bs.family("queens:4")
    cover = [1, 7, 8, 14]
    queens.verify(cover)
    assert len(shapes(queens, cover, how="bs-mark")) == 4


def test_drawings_are_described_and_fit_their_place():
    text = as_svg(drawn(bs.family("dominoes:2x40"), range(0)), "a<b & c")
    root = ElementTree.fromstring(text)
    assert root.get("role") == "img"
    assert root[0].tag == f"{SVG}title"
    assert root[0].text == "a<b & c: 0 pieces on 80 cells"
    assert (root.get("width"), root.get("viewBox")) == ("720", "0 0 1606 86")
    assert "max-width:100%" in root.get("style")
    assert "prefers-color-scheme:dark" in text


def test_names_of_any_characters_make_well_formed_drawings():
    names = ["\0<&>", "\ud800", "]]>", "'\"", "🂡"]
    problem = bs.ExactCover.from_options([[name, f"r1c{k}"] for k, name in enumerate(names)])
    drawing = drawn(problem, range(len(names)))
    root = ElementTree.fromstring(as_svg(drawing, "\x08\udfff").encode())
    titles = [each.text for each in root.iter(f"{SVG}title")]
    assert titles[1:] == ["\ufffd<&> r1c0", "\ufffd r1c1", "]]> r1c2", "'\" r1c3", "🂡 r1c4"]
    page([drawing] * 2, "\ud800", "\0").encode()


def test_a_sheet_numbers_its_drawings_and_a_page_shows_all_of_them():
    problem = bs.family("dominoes:2x3")
    drawings = [drawn(problem, cover) for cover in bs.solutions(problem, jobs=1)]
    text = as_svg(sheet(drawings), "three")
    assert [note.text for note in elements(text, "bs-note")] == ["1", "2", "3"]
    shown = page(drawings, "a<b", "a note")
    assert shown.count("<figure>") == 3
    assert "a&lt;b" in shown
    assert "<script" in shown
    assert not re.search(r"(src|href|url|@import)[=( ]", shown)  # nothing to be fetched
    assert "<script" not in page(drawings[:1], "one", "a note")
