"""Compare ratings with published ones, such as those of sudoku-exchange-puzzle-bank.

    git clone https://github.com/grantm/sudoku-exchange-puzzle-bank
    python scripts/check_ratings.py --uniqueness sudoku-exchange-puzzle-bank/*.txt

The files are tables with a column ``rating``, or the text of that bank: ``hash puzzle rating``. Its
ratings are those of Sukaku Explainer, which has more techniques from 4.0 on (strong links and large
wings) than Sudoku Explainer 1.2.1, whose ladder this package has up to 8.5. Without
``--uniqueness``, techniques that assume a unique solution can make a puzzle easier from 4.5 on.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq

import batchsolve

# before the techniques of Sukaku Explainer, those that assume a unique solution, and of the ladder
HIGHEST = (3.8, 4.4, 8.5)


def main() -> None:
    """Print how many ratings are equal, and which others there are."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+", metavar="BANK", help="tables with ratings")
    parser.add_argument("--uniqueness", action="store_true", help="use these techniques, too")
    parser.add_argument("--jobs", type=int, help="workers; the number of cores by default")
    options = vars(parser.parse_args())
    files = options.pop("files")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "rated.parquet"
        summary = batchsolve.rate_file(files, out, **options)
        columns = pq.read_table(out, columns=["given_rating", "rating", "status"]).to_pydict()
    rows = zip(*columns.values(), strict=True)
    counts = Counter((float(given), ours) for given, ours, status in rows if status == "unique")
    print(summary)
    print("published  puzzles  equal  others (ours: puzzles; 8.6 is beyond the ladder)")
    for rating in sorted({given for given, _ in counts}):
        of_rating = Counter({ours: n for (given, ours), n in counts.items() if given == rating})
        others = [(ours, n) for ours, n in of_rating.most_common() if ours != rating]
        named = ", ".join(f"{ours}: {n:,}" for ours, n in others)
        n = of_rating.total()
        print(f"{rating:9.1f}  {n:7,}  {of_rating[rating] / n:5.1%}  {named}")
    for highest in HIGHEST:
        within = {pair: n for pair, n in counts.items() if pair[0] <= highest}
        equal = sum(n for (given, ours), n in within.items() if given == ours)
        print(f"up to {highest}: {equal:,} of {sum(within.values()):,} are equal")


if __name__ == "__main__":
    main()
