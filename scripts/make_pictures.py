"""Draw the pictures of the documentation: ``python scripts/make_pictures.py``.

The pictures of the engines page are plain SVG with large letters, readable on a phone; their
colours show on a light and on a dark page.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

import batchsolve as bs
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.rules import Cage, Rules
from batchsolve.problems.sudoku import Variant, grid_problem, overlapping
from batchsolve.runs.count import first_covers

FOLDER = Path(__file__).parent.parent / "docs" / "pictures"
OPTIONS = ["ce", "adg", "bcf", "adf", "bg", "deg"]  # Knuth's example, TAOCP 7.2.2.1 (6)
COVER = ["ce", "adf", "bg"]
SAMURAI = """\
..34.....###..12...8.
.......2.###.7....13.
789..34..###.84.3...6
.3..7...5###.....2.6.
8..91....###....6....
.94.....7###.9.4.3...
....6.....23......4..
5..8...........3.5...
....4.....6...9...82.
######.2.7....3######
######...9...1.######
######.....67..######
....8..1.........35..
...1.3..........7....
...4.68....5...4..2.9
26...4...###.2.......
.........###....1..8.
.9...73.6###86.2..4..
........7###.4..8..7.
7.8.6....###...79....
..45..6.1###........1
"""
BLUE, ORANGE, GREY = "#3f6fd8", "#d9731a", "#8a8f98"


def svg(width: int, height: int, title: str, shapes: Iterable[str]) -> str:
    """Return a picture as wide as the page."""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
            f'font-family="sans-serif" font-size="20" text-anchor="middle">',
            f"<title>{title}</title>",
            *shapes,
            "</svg>\n",
        ]
    )


def text(x: float, y: float, what: str, colour: str = GREY, more: str = "") -> str:
    """Return text centred on a point."""
    return f'<text x="{x}" y="{y}" fill="{colour}" {more}>{what}</text>'


def box(x: float, y: float, colour: str, size: int = 30) -> str:
    """Return a filled square."""
    return f'<rect x="{x}" y="{y}" width="{size}" height="{size}" rx="4" fill="{colour}"/>'


def matrix() -> str:
    """Return the options of a problem as rows of squares, with the cover in another colour."""
    shapes = [text(105 + 40 * k, 30, item) for k, item in enumerate("abcdefg")]
    for row, option in enumerate(OPTIONS):
        y, colour = 45 + 40 * row, ORANGE if option in COVER else BLUE
        shapes.append(text(45, y + 22, " ".join(option), colour))
        shapes += [box(90 + 40 * "abcdefg".index(item), y, colour) for item in option]
    return svg(380, 295, "Six options over the items a to g; three of them cover each once", shapes)


def tree() -> str:
    """Return a search tree whose subtrees go to two workers."""
    spots = {"": (200, 30), "1": (90, 110), "2": (200, 110), "3": (310, 110)}
    spots |= {"11": (50, 190), "12": (130, 190), "21": (200, 190), "31": (270, 190)}
    spots |= {"32": (350, 190)}
    hue = {"": GREY, "1": BLUE, "11": BLUE, "12": BLUE, "2": ORANGE, "21": ORANGE}
    hue |= {"3": GREY, "31": BLUE, "32": ORANGE}
    shapes = []
    for name, (x, y) in spots.items():
        if name:
            up, left = spots[name[:-1]]
            line = f'x1="{up}" y1="{left}" x2="{x}" y2="{y}"'
            shapes.append(f'<line {line} stroke="{GREY}" stroke-width="3"/>')
    shapes += [f'<circle cx="{x}" cy="{y}" r="15" fill="{hue[n]}"/>' for n, (x, y) in spots.items()]
    shapes += [text(120, 240, "worker 1", BLUE), text(290, 240, "worker 2", ORANGE)]
    return svg(400, 260, "A tree whose subtrees are searched by two workers", shapes)


def lanes() -> str:
    """Return grids that are propagated side by side, one per lane of a register."""
    shapes = []
    for k in range(4):
        x = 20 + 95 * k
        for row in range(4):
            for column in range(4):
                filled = (row * 3 + column * 5 + k) % 4 == 0
                shapes.append(box(x + 20 * column, 20 + 20 * row, ORANGE if filled else GREY, 17))
        shapes.append(box(x + 22, 150, BLUE, 34))
        shapes.append(
            f'<line x1="{x + 39}" y1="105" x2="{x + 39}" y2="146" stroke="{GREY}" '
            f'stroke-width="3"/>'
        )
    shapes.append(text(200, 215, "one register, a grid in each lane", BLUE))
    return svg(400, 230, "Four grids, one in each lane of a vector register", shapes)


def tiling() -> str:
    """Return the first tiling of a chessboard without its middle by pentominoes."""
    rows = ["." * 8] * 3
    board = "\n".join([*rows, "...##...", "...##...", *rows])
    return _first(bs.tiling(board, "pentominoes"), "Pentominoes on a chessboard")


def soma() -> str:
    """Return the first solution of the Soma cube."""
    drawn = {"A": "XX/X.//X.", "B": "XX/X.//.X", "P": "XX/X.//../X."}
    return _first(bs.tiling("3x3x3", ["V3, L4, T4, S4", drawn]), "The Soma cube")


def jigsaw() -> str:
    """Return the solution of a grid with regions."""
    problem = grid_problem(6, regions="AABBCCAADBBCAADBBCEEDFFCEDDDFCEEEFFF")
    return _first(problem, "A jigsaw", ".........14....6..3.5...........65..")


def windoku() -> str:
    """Return the solution of a grid with windows."""
    grid = "...........51.....7.9..6..........5....874.2.3.....4.85.......7....1........67..."
    return _first(grid_problem(9, rules="windoku"), "Windoku", grid)


def samurai() -> str:
    """Return the solution of five grids that overlap."""
    cells = SAMURAI.replace("#", "").replace("\n", "")
    return _first(Variant(overlapping(SAMURAI)), "Samurai", cells)


def _encoding(rules: Rules, items: str, title: str) -> str:
    """Return the options of a grid as rows of squares; letters are the colours of items.

    `items` names the columns; a bar stands before the first that is secondary.
    """
    problem = Variant(rules)
    primary, secondary = (part.split() for part in items.split("|"))
    assert [len(primary), len(secondary)] == [
        problem.n_primary,
        problem.n_items - problem.n_primary,
    ]
    columns = [125 + 54 * i + 20 * (i >= len(primary)) for i in range(problem.n_items)]
    small, bottom = 'font-size="16"', 45 + 34 * problem.n_options
    names = zip(columns, [*primary, *secondary], strict=True)
    shapes = [text(x + 13, 30, name, more=small) for x, name in names]
    for o in range(problem.n_options):
        y = 45 + 34 * o
        hue = BLUE if o < rules.n_cells * rules.n_digits else ORANGE
        shapes.append(text(55, y + 19, problem.option_name(o), hue, small))
        for item, color in sorted(problem.coloring(o).items()):
            shapes.append(box(columns[item], y, hue, 26))
            name = ("", "in", "out")[color]
            shapes.append(text(columns[item] + 13, y + 18, name, "#ffffff", 'font-size="13"'))
    if secondary:
        edge = columns[len(primary)] - 24
        line = f'x1="{edge}" y1="15" x2="{edge}" y2="{bottom}"'
        shapes.append(f'<line {line} stroke="{GREY}" stroke-dasharray="4"/>')
    return svg(columns[-1] + 45, bottom + 10, title, shapes)


def _first(problem: bs.ExactCover, title: str, clues: str = "") -> str:
    stack = np.empty(0, np.uint32)
    if isinstance(problem, GridProblem):
        stack = problem.stack([int(c) if c.isdigit() else 0 for c in clues])
    [cover], _ = first_covers(problem, stack, limit=1)
    return bs.draw(bs.Reading(problem, stack, title), cover.tolist()).svg


CELLS, TWO = ((0, 0), (0, 1)), (0, 1)
ENCODINGS = {  # name -> rules of two cells, the items of their problem, and a title
    "house": (
        Rules(2, CELLS, houses=(TWO,)),
        "r1c1 r1c2 1 2 |",
        "A house of two cells and two digits",
    ),
    "group": (Rules(3, CELLS, (), groups=(TWO,)), "r1c1 r1c2 | 1 2 3", "Two cells that differ"),
    "pair": (
        Rules(3, CELLS, (), pairs=((*TWO, "less"),)),
        "r1c1 r1c2 | 1,1 2,1 2,2 3,1 3,2 3,3",
        "The first of two cells is less",
    ),
    "cage": (
        Rules(3, CELLS, (), cages=(Cage(TWO, 4),)),
        "r1c1 r1c2 cage | 1 2 3 1? 2? 3?",
        "A cage of two cells with the sum 4",
    ),
    "mark": (
        Rules(3, CELLS, (), marks=((0, 0b101),)),
        "r1c1 r1c2 marks | r1c1≠2",
        "A cell that may not hold 2",
    ),
}
PICTURES = (matrix, tree, lanes, tiling, soma, jigsaw, windoku, samurai)


def main() -> None:
    """Write the pictures."""
    FOLDER.mkdir(exist_ok=True)
    drawn = {draw.__name__: draw() for draw in PICTURES}
    drawn |= {name: _encoding(*parts) for name, parts in ENCODINGS.items()}
    for name, picture in drawn.items():
        (FOLDER / f"{name}.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
