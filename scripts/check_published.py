"""Solve published puzzles, and compare with the solutions printed beside them.

The puzzles are those of https://github.com/SmilingWayne/puzzlekit-dataset, of which a copy is read:
the folder with files such as ``JigsawSudoku_dataset.json``, anywhere below PATH. Prints for each
kind its puzzles, how many have one solution and how many solutions agree, and names the others.
The exit code is 1 if a printed solution disagrees that is not known to be wrong.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

import batchsolve as bs
from batchsolve.errors import InputError
from batchsolve.formats.other_programs import read_grid_document

KNOWN = {"JigsawSudoku": {"463_5x5": "its text holds the solution twice"}}
"""The printed solutions that disagree, by kind and puzzle, and the reason."""


def answers(table: pa.Table, rules: str | None = None) -> list[dict[str, Any]]:
    """Return the rows of a table with their answers."""
    return bs.solve_table(table, rules=rules, solution_column="solution").to_pylist()


def check(path: Path) -> bool:
    """Print a line for a file; return False if a solution disagrees for no known reason."""
    kind = path.name.removesuffix("_dataset.json")
    begin = time.perf_counter()
    try:
        table = pa.table(read_grid_document(path.read_bytes()))
        rows = answers(table)
    except InputError as error:
        print(f"{kind:20}not read: {str(error).partition(';')[0]}")
        return True
    seconds = time.perf_counter() - begin
    status = Counter(row["status"] for row in rows)
    agree = sum(row["agrees"] is True for row in rows)
    wrong = {row["id"]: row for row in rows if not row["agrees"]}
    print(
        f"{kind:20}{len(rows):5} puzzles {status['unique']:5} unique {agree:5} agree "
        f"{len(wrong):3} disagree {seconds:7.2f} s"
    )
    for key, row in wrong.items():
        reason = KNOWN.get(kind, {}).get(key, "not known")
        print(f"  {key}: {row['status']}, {row['message'] or 'not as printed'}; {reason}")
    several = [row["id"] for row in rows if row["status"] == "multiple"]
    if several:  # some are grids with diagonals, which the dataset does not say
        with_x = answers(table.filter(pc.is_in(table["id"], pa.array(several))), "x")
        n = sum(row["status"] == "unique" and row["agrees"] for row in with_x)
        print(f"  {len(several)} with several solutions; {n} of them unique and as printed with x:")
        print(f"  {', '.join(several)}")
    return wrong.keys() <= KNOWN.get(kind, {}).keys()


def main() -> int:
    """Check all files whose kind is read."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("path", type=Path, help="A copy of the dataset, or its folder of files.")
    files = sorted(parser.parse_args().path.rglob("*_dataset.json"))
    grids = [path for path in files if "Sudoku" in path.name or "Renban" in path.name]
    if not grids:
        parser.error("no files such as JigsawSudoku_dataset.json there")
    fine = [check(path) for path in grids]
    return 0 if all(fine) else 1


if __name__ == "__main__":
    sys.exit(main())
