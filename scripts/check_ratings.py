"""Compare ratings with published ones, such as those of sudoku-exchange-puzzle-bank.

    git clone https://github.com/grantm/sudoku-exchange-puzzle-bank
    python scripts/check_ratings.py sudoku-exchange-puzzle-bank/*.txt

Each line of a file has a puzzle and its rating, perhaps among other words: ``hash puzzle rating``,
or ``puzzle,rating``. The bank's ratings are those of Sukaku Explainer, which has more techniques
from 4.0 on (two and more strong links) than Sudoku Explainer 1.2.1, whose ladder this package
climbs. Ratings up to 4.4 are compared; above, techniques that assume a unique solution can make a
puzzle easier.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter

import pyarrow as pa

import batchsolve

HIGHEST = 4.4  # of the techniques that both ladders have, without uniqueness
LINE = re.compile(r"(?:.*[\s,])?([0-9.]{81})[\s,]+([0-9]+\.[0-9])\b")


def main() -> None:
    """Print how many ratings are equal, and which others there are."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+", metavar="BANK", help="text files with ratings")
    parser.add_argument("--jobs", type=int, help="workers; the number of cores by default")
    given = parser.parse_args()
    puzzles, published = [], []
    for path in given.files:
        with open(path) as file:
            found = [line for line in map(LINE.match, file) if line]
        puzzles += [line[1] for line in found]
        published += [float(line[2]) for line in found]
    table = batchsolve.rate(pa.table({"puzzle": puzzles}), jobs=given.jobs)
    columns = (table[name].to_pylist() for name in ("rating", "status"))
    rows = list(zip(published, *columns, strict=True))
    counts = Counter((theirs, ours) for theirs, ours, status in rows if status == "unique")
    print(f"{len(rows):,} puzzles, {counts.total():,} with one solution")
    print("published  puzzles  equal  others (ours: puzzles; none is beyond the ladder)")
    for rating in sorted({theirs for theirs, _ in counts}):
        of_rating = {ours: n for (theirs, ours), n in counts.items() if theirs == rating}
        others = [(n, ours) for ours, n in of_rating.items() if ours != rating]
        others.sort(key=lambda other: -other[0])
        named = ", ".join(f"{'none' if ours is None else ours}: {n:,}" for n, ours in others)
        n, equal = sum(of_rating.values()), of_rating.get(rating, 0)
        print(f"{rating:9.1f}  {n:7,}  {equal / n:5.1%}  {named}")
    within = {pair: n for pair, n in counts.items() if pair[0] <= HIGHEST}
    equal = sum(n for (theirs, ours), n in within.items() if theirs == ours)
    print(f"up to {HIGHEST}: {equal:,} of {sum(within.values()):,} are equal")
    easier = sum(n for (theirs, ours), n in counts.items() if ours and ours < min(theirs, HIGHEST))
    print(f"rated lower than published, up to {HIGHEST}: {easier:,}")


if __name__ == "__main__":
    main()
