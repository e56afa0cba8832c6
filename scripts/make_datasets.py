"""Make the puzzles in ``datasets/``: the same bytes on every machine, with any number of workers.

`puzzles.catalogue` lists the contents of the files, and `puzzles.rows` makes their rows.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from joblib import Parallel, delayed
from puzzles.catalogue import DATASETS, Dataset
from tqdm import tqdm

HOME = Path(__file__).resolve().parent.parent / "datasets"

README = """\
# Datasets

Puzzles for trying and testing batchsolve. All were made here; none is copied from elsewhere.

| File | Rows | What | Known answers | Bytes | SHA-256 |
|---|---:|---|---|---:|---|
{table}

Blank cells are dots. "Nodes" are those that the engine `dlx` visits to prove a puzzle unique.
Levels depend on the number of clues, not on the difficulty for people.

A puzzle starts as a random solved grid; clues are removed in random order while it stays unique.
The puzzles in `hard9.csv` come from there by local beam search: each step gives up one clue, adds
another that makes the puzzle unique, and keeps the hardest results. A second, independent search
counts the solutions in `several.csv`. The puzzles in `deep16.csv` come from swapping clues for
others of the same solution; a swap is kept if the tree of `cells` grows while `lanes` needs at most
20,000 nodes.

Every row has its own seed. To make the files and this page again, byte for byte, or to check them
against the table:

    python scripts/make_datasets.py
    python scripts/make_datasets.py --check
"""


def write_dataset(dataset: Dataset, folder: Path, jobs: int) -> None:
    """Make all rows of a dataset and write its file."""
    with Parallel(n_jobs=jobs, return_as="generator") as parallel:
        rows = parallel(delayed(dataset.row)(index) for index in range(dataset.rows))
        # disable=None shows the bar only on a terminal
        lines = [dataset.header, *tqdm(rows, dataset.name, dataset.rows, disable=None)]
    (folder / dataset.name).write_bytes("".join(f"{line}\n" for line in lines).encode())


def write_readme(folder: Path) -> None:
    """Write the page that describes the files of a folder."""
    table = []
    for dataset in DATASETS:
        path = folder / dataset.name
        if path.exists():
            data = path.read_bytes()
            facts = f"{dataset.rows:,} | {dataset.what} | {dataset.answers} | {len(data):,}"
            table.append(f"| `{dataset.name}` | {facts} | {hashlib.sha256(data).hexdigest()} |")
    page = README.format(table="\n".join(table))
    (folder / "README.md").write_bytes(page.encode())


def read_checksums(folder: Path) -> dict[str, str]:
    """Return the checksums in the table of a folder's ``README.md``, by file."""
    page = (folder / "README.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^\| `([^`]+)` \|.*\| ([0-9a-f]{64}) \|$", page, re.MULTILINE))


def damaged(folder: Path) -> list[str]:
    """Return the files that are missing or differ from the table of ``README.md``."""
    return [
        name
        for name, checksum in read_checksums(folder).items()
        if not (folder / name).exists()
        or hashlib.sha256((folder / name).read_bytes()).hexdigest() != checksum
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    parser = argparse.ArgumentParser(description="Make the puzzles in datasets/.")
    names = [dataset.name for dataset in DATASETS]
    parser.add_argument("--out", type=Path, default=HOME, metavar="DIR", help="where to write")
    parser.add_argument("--only", choices=names, metavar="NAME", help="make one file: %(choices)s")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="workers; 1 by default")
    parser.add_argument(
        "--check", action="store_true", help="make nothing; compare the files with README.md"
    )
    options = parser.parse_args(arguments)
    if options.jobs < 1:
        parser.error(f"--jobs is 1 or more, not {options.jobs}")
    if options.check:
        if not (options.out / "README.md").exists():
            parser.error(f"{options.out} has no README.md to check against")
        wrong = damaged(options.out)
        print(f"differ from README.md: {', '.join(wrong)}" if wrong else "all files are as made")
        return 1 if wrong else 0
    options.out.mkdir(parents=True, exist_ok=True)
    for dataset in DATASETS:
        if options.only in (None, dataset.name):
            write_dataset(dataset, options.out, options.jobs)
    write_readme(options.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
