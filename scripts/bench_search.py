"""Measure the search of single problems: beside plain dancing links in C, and on two workers.

The engine and the C yardstick (`--yardstick`, a program that prints "covers nodes seconds" for an
.ec file) read the same .ec file of every problem; a grid becomes the residual problem of its clues.
The two take turns, and medians are compared. Results go to ``benchmarks/results/search.json``.
"""

from __future__ import annotations

import shlex
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import measuring
import numpy as np

from batchsolve.engines import Task, engine_for, get_engine
from batchsolve.formats.exact_cover_files import write_ec
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.stacks import Stacks
from batchsolve.runs.reading import read_problem
from batchsolve.search.scheduler import Piece
from batchsolve.search.tree import Totals, TreeSearch
from batchsolve.settings import SearchSettings
from batchsolve.workers import Pool


def residual(problem: ExactCover, stack: np.ndarray) -> ExactCover:
    """Return the problem that remains when the options of a stack are chosen."""
    if problem.colors is not None:
        raise SystemExit("the yardstick knows no colours")
    covered = np.zeros(problem.n_items, np.bool_)
    for o in stack:
        covered[problem.option(int(o))] = True
    rows = [problem.option(o) for o in range(problem.n_options)]
    rows = [row for row in rows if not covered[row].any()]
    number = np.cumsum(~covered) - 1
    return ExactCover(
        np.cumsum([0, *map(len, rows)]),
        number[np.concatenate(rows)],
        int((~covered).sum()),
        int((~covered[: problem.n_primary]).sum()),
    )


def timed(run: Any) -> tuple[float, Any]:
    """Return the seconds a call takes, and its result."""
    begin = time.perf_counter()
    result = run()
    return time.perf_counter() - begin, result


def paired(one: list[float], other: list[float]) -> float:
    """Return the median ratio of times measured in turn.

    The two times of a pair are seconds apart, so a host that slows for a while slows both.
    """
    return statistics.median(a / b for a, b in zip(one, other, strict=True))


def beside_c(path: str, yardstick: str, repeat: int) -> dict[str, Any]:
    """Time one thread of the engine and the yardstick on the same file, in turn."""
    reading = read_problem(path)
    engine, whole = get_engine("dlx"), Stacks.from_lists([[]])
    engine.search(reading.problem, Task.of(whole, budget=1))  # builds the links
    ours, theirs = [], []
    for _ in range(repeat):
        seconds, outcome = timed(lambda: engine.search(reading.problem, Task.of(whole)))
        covers, nodes, c_seconds = measuring.yardstick(yardstick, path)
        if covers != outcome.counts[0]:
            raise SystemExit(f"{path}: {covers} covers in C, {outcome.counts[0]} here")
        ours.append(seconds)
        theirs.append(c_seconds)
    return {
        "covers": covers,
        "nodes": int(outcome.nodes[0]),
        "nodes in C": nodes,
        "seconds": statistics.median(ours),
        "seconds in C": statistics.median(theirs),
        "ratio": paired(ours, theirs),
    }


def searched(
    problem: ExactCover, stack: np.ndarray, jobs: int, engine: str
) -> tuple[Totals, float]:
    """Search once; return the sums, and the longest idle time at the end as a share of the run."""
    begin = Piece.whole(Stacks.from_lists([stack.tolist()]))
    with Pool(jobs) as pool:
        search = TreeSearch(
            problem, SearchSettings(), begin, pool, engine=engine_for(engine, problem)
        )
        totals = search.totals
        timings = [(totals.rounds, done) for done in search.run()]
    last = [timing for number, timing in timings if number == totals.rounds]
    ends: dict[str, float] = {}
    for timing in last:
        ends[timing.worker] = max(ends.get(timing.worker, 0.0), timing.begin + timing.seconds)
    return totals, (max(ends.values()) - min(ends.values())) / totals.seconds


def two_workers(text: str, repeat: int, engine: str) -> dict[str, Any]:
    """Time one worker and two, in turn; check that the node sums agree."""
    reading = read_problem(text)
    seconds: dict[int, list[float]] = {1: [], 2: []}
    idle: dict[int, list[float]] = {1: [], 2: []}
    nodes = set()
    for _ in range(repeat):
        for jobs in seconds:
            totals, idling = searched(reading.problem, reading.stack, jobs, engine)
            seconds[jobs].append(totals.seconds)
            idle[jobs].append(idling)
            nodes.add(totals.nodes)
    if len(nodes) != 1:
        raise SystemExit(f"{text}: node sums differ: {nodes}")
    return {
        "count": totals.count,
        "nodes": totals.nodes,
        "one": statistics.median(seconds[1]),
        "two": statistics.median(seconds[2]),
        "gain": paired(seconds[1], seconds[2]),
        "most idling at the end of two, share of the run": max(idle[2]),
    }


def listed(text: str, repeat: int, yardstick: str | None, folder: str | None) -> dict[str, Any]:
    """Time commands that count, enumerate, and export as CSV, with one worker and two, in turn.

    Each command is a separate process, so start-up is included. Start-up time is that of an
    enumeration that ends with its first task; the gain of two workers is also given without it. The
    time of the yardstick, if given, is its time to count. Memory is the peak of the runs that
    enumerate and export.
    """
    seconds: dict[str, list[float]] = {}
    peak: dict[str, float] = {}
    with tempfile.TemporaryDirectory(dir=folder) as name_of_home:
        home = Path(name_of_home)
        instance = home / "problem.ec"
        if yardstick:
            reading = read_problem(text)
            instance.write_text(write_ec(residual(reading.problem, reading.stack)))
        for k in range(repeat):
            for jobs in "12":
                out, first = home / f"run-{k}-{jobs}", home / f"run-{k}-{jobs}-first"
                commands: dict[str, list[object]] = {
                    "start-up": ["enumerate", text, "-o", first, "--limit", 1, "--quiet"],
                    "count": ["count", text, "--quiet"],
                    "enumerate": ["enumerate", text, "-o", out, "--quiet"],
                    "export": ["export", out, "-o", home / "solutions.csv"],
                }
                for name, words in commands.items():
                    whole = measuring.batchsolve_command(*words, "-j", jobs)
                    used = measuring.run(whole)
                    if used.code != (name == "start-up"):  # 1: a limit
                        raise SystemExit(f"{shlex.join(whole)}: exit code {used.code}")
                    seconds.setdefault(f"{name}, {jobs} workers", []).append(used.seconds)
                    peak[name] = max(peak.get(name, 0.0), used.peak_mb)
                shutil.rmtree(out)
                shutil.rmtree(first)
            if yardstick:
                in_c = measuring.yardstick(yardstick, instance)[2]
                seconds.setdefault("count in C", []).append(in_c)
    median = measuring.medians(seconds)
    listing = {jobs: seconds[f"enumerate, {jobs} workers"] for jobs in "12"}
    ratios = {
        f"enumerate against count, {jobs} workers": paired(
            listing[jobs], seconds[f"count, {jobs} workers"]
        )
        for jobs in "12"
    }
    gains = {"gain of two workers": paired(listing["1"], listing["2"])}
    aside = {
        jobs: [
            a - b for a, b in zip(listing[jobs], seconds[f"start-up, {jobs} workers"], strict=True)
        ]
        for jobs in "12"
    }
    gains["gain, start-up aside"] = paired(aside["1"], aside["2"])
    peaks = {"peak MB": peak["enumerate"], "peak MB of export": peak["export"]}
    return {**median, **ratios, **gains, **peaks}


def main() -> None:
    """Run the measurements that the command line asks for."""
    parser = measuring.options(__doc__, "search")
    parser.add_argument("problems", nargs="*", help="anything that batchsolve count takes")
    parser.add_argument("--yardstick", metavar="PROGRAM")
    parser.add_argument("--workers", nargs="*", default=[], metavar="PROBLEM")
    parser.add_argument("--enumerate", nargs="*", default=[], metavar="PROBLEM")
    parser.add_argument("--folder", metavar="DIR", help="where to enumerate to")
    chosen = parser.parse_args()
    results: dict[str, Any] = {}
    if chosen.yardstick:
        results["beside C"] = {}
        with tempfile.TemporaryDirectory() as folder:
            for text in chosen.problems:
                reading = read_problem(text)
                path = Path(folder) / "problem.ec"
                path.write_text(write_ec(residual(reading.problem, reading.stack)))
                compared = beside_c(str(path), chosen.yardstick, chosen.repeat)
                results["beside C"][Path(text).name] = compared
    results["workers"] = {
        f"{Path(text).name}, {engine}": two_workers(text, chosen.repeat, engine)
        for text in chosen.workers
        for engine in ("dlx", "auto")
    }
    results["enumerate"] = {
        Path(text).name: listed(text, chosen.repeat, chosen.yardstick, chosen.folder)
        for text in chosen.enumerate
    }
    measuring.write(chosen, results)


if __name__ == "__main__":
    main()
