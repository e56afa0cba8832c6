"""Audit two tables that a model is trained and tested on, such as those of sudoku-extreme.

    python scripts/audit_corpus.py train.csv test.csv

Counts in each table the puzzles that do not have exactly one solution, the given solutions that are
wrong, and the puzzles that an earlier row has, as they are written and up to symmetry; and the rows
of the test table whose puzzle the training table has. If the tables are of 9×9 grids and have a
column ``rating``, its ranks are compared with those of our ratings. The checksums name the files.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import batchsolve as bs
from batchsolve.tables.sources import Tables

GIVEN, OURS = "given_rating", ("rating", "backtracks")  # columns of a rated table
N_GIVEN, MEAN = f"{GIVEN}_count", f"{GIVEN}_mean"  # and of the table of its techniques
FAULTS = {
    "rows": "rows",
    "invalid": "malformed, or with clues that clash",
    "unsolvable": "without a solution",
    "multiple": "with several solutions",
    "disagree": "given solution wrong",
    "repeated": "puzzle of an earlier row",
    "repeated_up_to_symmetry": "puzzle of an earlier row, up to symmetry",
    "known": "puzzle of the training table",
    "known_up_to_symmetry": "puzzle of the training table, up to symmetry",
}


def faults_of(table: str, folder: Path, against: str | None = None) -> dict[str, int]:
    """Return the number of rows of a table with each fault.

    Parameters
    ----------
    table : str
        A file.
    folder : Path
        A place for tables that are not kept.
    against : str, optional
        The training table of a test table.
    """
    solved = bs.solve_file(table, folder / "solved.csv")
    found = {name: getattr(solved, name) for name in list(FAULTS)[:5]}
    for suffix, up_to_symmetry in (("", False), ("_up_to_symmetry", True)):
        how: dict[str, Any] = {"up_to_symmetry": up_to_symmetry}
        found[f"repeated{suffix}"] = bs.dedupe(table, folder / "kept.csv", **how).repeated
        if against is not None:
            known = bs.dedupe(table, folder / "kept.csv", against=[against], **how).known
            found[f"known{suffix}"] = known
    return found


def ranks(values: pa.ChunkedArray) -> npt.NDArray[np.float64]:
    """Return the ranks of numbers; equal ones share the mean of theirs."""
    _, places, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    means: npt.NDArray[np.float64] = (ends - (counts - 1) / 2)[places]
    return means


def rank_correlation(one: pa.ChunkedArray, two: pa.ChunkedArray) -> float | None:
    """Return Spearman's coefficient, or None if all values of a column are equal."""
    each = ranks(one), ranks(two)
    if min(np.ptp(values) for values in each) == 0:
        return None
    return float(np.corrcoef(*each)[0, 1])


def ratings_of(table: str, folder: Path) -> dict[str, Any] | None:
    """Compare the column ``rating`` of 9×9 puzzles that are unique with our ratings."""
    if "rating" not in Tables([table]).columns:
        return None
    try:
        bs.rate_file(table, folder / "rated.parquet")
    except bs.ProblemError:  # other grids than 9×9
        return None
    rated = pq.read_table(folder / "rated.parquet", columns=[GIVEN, *OURS, "technique", "status"])
    rated = rated.filter(pc.equal(rated["status"], "unique"))
    rated = rated.set_column(0, GIVEN, rated[GIVEN].cast(pa.float64()))
    groups = rated.group_by("technique").aggregate(
        [(GIVEN, "count"), (GIVEN, "mean"), ("rating", "max")]
    )
    return {
        "rank_correlation": {name: rank_correlation(rated[GIVEN], rated[name]) for name in OURS},
        "techniques": [
            {"technique": row["technique"], "rows": row[N_GIVEN], "mean": row[MEAN]}
            for row in groups.sort_by("rating_max").to_pylist()
        ],
    }


def audit(train: str, test: str) -> dict[str, Any]:
    """Return the checksums, the faults and the ratings of two tables."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        for role, table, against in (("train", train, None), ("test", test, train)):
            with open(table, "rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            found[role] = {"file": table, "sha256": digest}
            found[role]["faults"] = faults_of(table, Path(name), against)
            found[role]["ratings"] = ratings_of(table, Path(name))
    return found


def shown(found: dict[str, Any]) -> str:
    """Return an audit as text."""
    tables = found.values()
    lines = [f"{each['sha256']}  {each['file']}" for each in tables]
    lines += ["", f"{'':48}{'train':>12}{'test':>12}"]
    for name, words in FAULTS.items():
        numbers = (each["faults"].get(name) for each in tables)
        cells = (f"{'' if number is None else f'{number:,}':>12}" for number in numbers)
        lines.append(f"{words:48}{''.join(cells)}".rstrip())
    for role, each in found.items():
        if each["ratings"] is None:
            continue
        lines += ["", f"{role}: the column rating, and ours"]
        for name, value in each["ratings"]["rank_correlation"].items():
            text = "none" if value is None else f"{value:.3f}"
            lines.append(f"  rank correlation with our {name:12}{text:>8}")
        lines.append(f"  {'technique':24}{'rows':>10}{'mean of rating':>18}")
        for row in each["ratings"]["techniques"]:
            lines.append(f"  {row['technique']:24}{row['rows']:10,}{row['mean']:18.2f}")
    return "\n".join(lines)


def main() -> None:
    """Print the audit."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("train", metavar="TRAIN", help="the training table")
    parser.add_argument("test", metavar="TEST", help="the test table")
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args()
    found = audit(arguments.train, arguments.test)
    print(json.dumps(found, indent=1) if arguments.json else shown(found))


if __name__ == "__main__":
    main()
