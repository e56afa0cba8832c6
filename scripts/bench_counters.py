"""Measure `memo`, which counts equal subproblems once, beside programs that do so in diagrams.

Each problem is counted by `memo`, by the engine that `auto` takes, and by those of these programs
that are given: DXD (Fang et al., SAT 2026, github.com/loiufam/alg-lab) and SharpSAT-TD (Korhonen
and Järvisalo, CP 2021, github.com/Laakeri/sharpsat-td), to which clauses say that every item has
exactly one option. All are measured as whole processes on one thread, in seconds of the processor.
Ours read the problem first. Families are measured once as they are, and
once with items and options in a random order.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import statistics
import tempfile
from pathlib import Path
from typing import Any

import measuring
from kinds import SHUFFLED, shuffled
from peers import with_slack

import batchsolve
from batchsolve.formats.exact_cover_files import write_ec
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.runs.convert import converted

FAMILIES = (
    "dominoes:10x10",
    "dominoes:12x12",
    "matchings:12",
    "pentominoes:6x10",
    "langford:12",
    "queens:12",
)
TREE_SECONDS = 1  # that SharpSAT-TD may look for a decomposition; the least it takes
CACHE_MB = 2048
ANSWER = {
    "dxd": re.compile(r"^Solutions: (\d+)", re.MULTILINE),
    "sharpsat-td": re.compile(r"^c s exact arb int (\d+)", re.MULTILINE),
    "memo": re.compile(r"^(\d+)$", re.MULTILINE),
    "auto": re.compile(r"^(\d+)$", re.MULTILINE),
}


def sets(problem: ExactCover) -> str:
    """Return the problem as DXD reads it; a secondary item becomes primary, with a slack option."""
    rows = with_slack(problem)
    lines = [" ".join(str(n) for n in (len(row), *(i + 1 for i in row))) for row in rows]
    return "\n".join((f"{problem.n_items} {len(rows)}", *lines, ""))


def commands(problem: ExactCover, folder: Path, chosen: argparse.Namespace) -> dict[str, list[str]]:
    """Write the problem into a folder; return the command of each contender."""
    (folder / "problem.ec").write_text(write_ec(problem))
    (folder / "problem.txt").write_text(sets(problem))
    (folder / "problem.cnf").write_bytes(converted(problem, "cnf"))
    ours = measuring.batchsolve_command("count", "-q", "-j", 1, folder / "problem.ec")
    lines = {"auto": ours, "memo": [*ours, "--memo"]}
    if chosen.dxd:
        lines["dxd"] = [str(chosen.dxd.resolve()), "dxd", f"{folder}/problem.txt", "3", "ett"]
    if chosen.sharpsat:
        tree = f"-decot {TREE_SECONDS} -decow 100 -tmpdir {folder} -cs {CACHE_MB}".split()
        lines["sharpsat-td"] = [str(chosen.sharpsat.resolve()), *tree, f"{folder}/problem.cnf"]
    return lines


def run(name: str, command: list[str], most: float) -> tuple[int | None, float]:
    """Return the count that a command prints, or None, and its processor seconds."""

    def within_limits() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(most), int(most) + 1))

    where = Path(command[0]).parent  # SharpSAT-TD looks for its helper in this folder
    used = measuring.run(command, cwd=where, preexec_fn=within_limits)
    found = ANSWER[name].search(used.out)
    return (int(found[1]) if found and used.code == 0 else None), used.processor


def compare(problem: ExactCover, chosen: argparse.Namespace) -> dict[str, Any]:
    """Measure all contenders on one problem, in turn."""
    seconds: dict[str, list[float]] = {}
    counts: dict[str, int | None] = {}
    with tempfile.TemporaryDirectory() as name:
        lines = commands(problem, Path(name), chosen)
        for contender in ("auto", "memo"):  # compiles what is not on disk
            run(contender, lines[contender], chosen.most)
        for turn in range(chosen.repeat):
            for contender, command in lines.items():
                if turn and seconds[contender][0] > chosen.patience:
                    continue
                counts[contender], taken = run(contender, command, chosen.most)
                seconds.setdefault(contender, []).append(taken)
    return {
        "items": problem.n_items,
        "options": problem.n_options,
        "counts": counts,
        "seconds": {
            name: statistics.median(each) if counts[name] is not None else None
            for name, each in seconds.items()
        },
    }


def summary(measured: dict[str, dict[str, Any]], most: float) -> dict[str, dict[str, Any]]:
    """Return for each contender how many problems it counted, and its seconds."""
    sums: dict[str, dict[str, Any]] = {}
    for name in next(iter(measured.values()))["seconds"]:
        mine = [each["counts"][name] for each in measured.values()]
        times = [each["seconds"][name] or most for each in measured.values()]
        sums[name] = {
            "problems": len(mine),
            "counted": sum(count is not None for count in mine),
            "other than memo": sum(
                None not in (count, each["counts"]["memo"]) and count != each["counts"]["memo"]
                for count, each in zip(mine, measured.values(), strict=True)
            ),
            "median seconds": statistics.median(times),
            "sum of seconds": sum(times),
        }
    return sums


def main() -> None:
    """Run the measurements that the command line asks for."""
    parser = measuring.options(__doc__, "counters")  # `--repeat` is of the families
    parser.add_argument("--instances", type=Path, nargs="*", default=[], help="files of problems")
    parser.add_argument("--every", type=int, default=1, help="take each K-th of the instances")
    parser.add_argument("--dxd", type=Path, help="the program main of alg-lab")
    parser.add_argument(
        "--sharpsat", type=Path, help="the program sharpSAT, flow_cutter_pace17 beside it"
    )
    parser.add_argument("--patience", type=float, default=4, help="seconds of a single run")
    parser.add_argument("--most", type=float, default=60, help="seconds before one is given up")
    chosen = parser.parse_args()
    families: dict[str, dict[str, Any]] = {}
    for text in FAMILIES:
        problem = batchsolve.family(text)
        for name, each in ((text, problem), (text + SHUFFLED, shuffled(problem))):
            families[name] = compare(each, chosen)
            print(name, json.dumps(families[name]), flush=True)
    instances: dict[str, dict[str, Any]] = {}
    chosen.repeat = 1
    for path in sorted(chosen.instances)[:: chosen.every]:
        instances[path.name] = compare(batchsolve.read_problem(path).problem, chosen)
        print(path.name, json.dumps(instances[path.name]), flush=True)
    sums = summary(instances, chosen.most) if instances else {}
    measuring.write(
        chosen, {"families": families, "instances": instances, "summary of instances": sums}
    )


if __name__ == "__main__":
    main()
