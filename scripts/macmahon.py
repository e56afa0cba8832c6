"""Count placements of the 24 MacMahon squares up to symmetries that may exchange colours.

    python scripts/macmahon.py

The squares have three colours on their edges, and each is there once up to turning. They fill 4×6
cells so that edges that meet agree, and the border has one colour.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import product

import batchsolve as bs


def macmahon(rows: int, columns: int, n_colors: int) -> bs.ExactCover:
    """Place all squares with edges of some colours on a board whose border has the first."""
    options: list[list[Hashable]] = []
    colors: list[dict[Hashable, Hashable]] = []
    for r, c, *edges in product(range(rows), range(columns), *[range(n_colors)] * 4):
        border = r == 0, c == columns - 1, r == rows - 1, c == 0
        if not any(is_border and color for is_border, color in zip(border, edges, strict=True)):
            square = min(edges[k:] + edges[:k] for k in range(4))
            places = [("h", r, c), ("v", r, c + 1), ("h", r + 1, c), ("v", r, c)]
            options.append([("square", *square), ("at", r, c), *places])
            colors.append(dict(zip(places, edges, strict=True)))
    secondary = dict.fromkeys(item for option in options for item in option[2:])
    return bs.ExactCover.from_options(options, secondary=list(secondary), colors=colors)


def main() -> None:
    """Print the number of placements under ever larger groups."""
    problem = macmahon(4, 6, 3)
    group = bs.structure_symmetries(problem)
    squares = [int(problem.option(o)[0]) for o in range(problem.n_options)]
    drawn = [sorted(problem.coloring(o).values()) for o in range(problem.n_options)]
    images = group.images.tolist()
    same_square = [all(squares[o] == squares[x] for x, o in enumerate(each)) for each in images]
    same_colors = [all(drawn[o] == drawn[x] for x, o in enumerate(each)) for each in images]
    for what, kept in {
        "turned": same_square,
        "turned and reflected": same_colors,
        "with colours exchanged": [True] * len(images),
    }.items():
        some = bs.Symmetries(group.images[kept])
        print(f"{what:23}{len(some)} symmetries: {bs.count(problem, up_to_symmetry=some)}")
    print(f"{'all':23}{bs.count(problem)}")


if __name__ == "__main__":
    main()
