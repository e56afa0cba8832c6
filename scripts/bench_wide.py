"""Measure counts of problems with wide nodes: items with tens of thousands of options.

Items `p` and `q` have 2 and 3 options, so that the wide items are branched on at depth 2 and below,
not at the root. Counts are compared with arithmetic. Each is counted by whole processes. Results go
to ``benchmarks/results/wide.json``.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import measuring

TOP = 2, 3  # options of p and q
SECONDS = 30  # of a count at most


class Wide(NamedTuple):
    """A problem: the options of its wide items, and the colours of a key that they share, or 0."""

    sizes: tuple[int, ...]
    keys: int = 0

    @property
    def name(self) -> str:
        """The sizes of the wide items, and the number of keys."""
        sizes = " × ".join(f"{n:,}" for n in self.sizes)
        return f"{sizes}, {self.keys:,} keys" if self.keys else sizes

    @property
    def n_covers(self) -> int:
        """The number of covers: with keys, an option of the first item goes with n / keys."""
        found = TOP[0] * TOP[1]
        for n in self.sizes:
            found *= n
        return found // (self.keys or 1)

    def lines(self) -> Iterator[str]:
        """Yield the lines of a .dlx file."""
        items = [f"w{k}" for k in range(len(self.sizes))]
        yield " ".join(["p q", *items, *(["| key"] if self.keys else [])])
        for item, n in zip("pq", TOP, strict=True):
            yield from [item] * n
        for item, n in zip(items, self.sizes, strict=True):
            yield from (f"{item} key:{o % self.keys}" if self.keys else item for o in range(n))


PROBLEMS = (
    Wide((100_000,)),
    Wide((33_000, 33_000)),
    Wide((33_000, 33_000), 33),
    Wide((33_000, 33_000), 33_000),
    Wide((100_000, 100_000), 1_000),
)
WAYS = (("auto", 1), ("auto", 2), ("dlx", 1))


def counted(problem: Wide, path: Path, engine: str, jobs: int) -> dict[str, Any]:
    """Count a problem in a file, and compare the count."""
    words = ("count", path, "--engine", engine, "-j", jobs, "--time-limit", SECONDS, "--json")
    used = measuring.run(measuring.batchsolve_command(*words))
    found = json.loads(used.out)
    if found["complete"] and found["count"] != problem.n_covers:
        raise SystemExit(f"{problem.name}: {found['count']} covers, not {problem.n_covers}")
    seconds = max(found["seconds"], 0.001)
    return {
        "engine": engine,
        "jobs": jobs,
        "counted_by": found["engine"],
        "complete": found["complete"],
        "nodes": found["nodes"],
        "nodes_per_second": round(found["nodes"] / seconds),
        "search_seconds": round(seconds, 3),
        "command_seconds": round(used.seconds, 2),
        "peak_mb": round(used.peak_mb),
        "subproblems": found["subproblems"],
    }


def main() -> None:
    """Count each problem in each way."""
    chosen = measuring.options(__doc__, "wide", repeat=1).parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for problem in PROBLEMS:
            path = Path(folder, "wide.dlx")
            path.write_text("\n".join(problem.lines()) + "\n")
            runs = [counted(problem, path, *way) for way in WAYS]
            results[problem.name] = {"covers": problem.n_covers, "runs": runs}
    measuring.write(chosen, {"top": TOP, "problems": results})


if __name__ == "__main__":
    main()
