"""Measure engines, peers and plain dancing links in C on the same problems, in turn.

Every measurement runs in its own process, warms up on a small problem, and then counts all covers
on one thread. The contenders take turns, and medians are compared. A contender that takes longer
than `--patience` is measured once; one that takes longer than `--most` is given up. The engine
`auto` must find the best engine by itself. `--puzzles` compares the engines that solve rows, in
puzzles per second with a limit of two solutions; `--grids` compares engines that count every
solution of one grid; `--kinds` counts problems with bounds, and finds the cheapest covers of
problems with costs, beside CP-SAT. Results go to ``benchmarks/results/engines.json``; if matplotlib
is installed, a picture goes beside it, and `--draw` draws that again.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import measuring
import numpy as np
from bench_search import residual
from kinds import KINDS, reading_of, with_costs
from peers import KNOW_BOUNDS, KNOW_COSTS, PEERS, is_graph, yardstick

import batchsolve
from batchsolve.engines import Engine, Task, engine_names, get_engine
from batchsolve.formats.pictures import charts
from batchsolve.formats.whole_files import write_whole
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.stacks import Stacks
from batchsolve.problems.sudoku import Sudoku
from batchsolve.runs.reading import read_problem
from batchsolve.tables.corpus import Corpus

MODULES = {"exact-cover": "exact_cover", "exact-cover-py": "exact_cover_py"}
TASK_CELLS = 1 << 18  # bytes of grids in a block for a worker
BAR = 0.19  # inches of the picture's height
TURN_SECONDS = 0.5  # the least; shorter turns are too short to measure


def contenders(problem: ExactCover, program: str | None) -> list[str]:
    """Return the names of all contenders that this machine can measure."""
    is_sudoku = isinstance(problem, Sudoku)
    ours = [n for n in engine_names() if is_sudoku or not get_engine(n).sudoku_only]
    theirs = [name for name in PEERS if find_spec(MODULES.get(name, name)) is not None]
    if not is_graph(problem):
        theirs = [name for name in theirs if name != "graphillion"]
    if problem.bounds is not None:
        return ["auto", "dlx", "memo", *(name for name in theirs if name in KNOW_BOUNDS)]
    if problem.costs is not None:
        return ["dlx", *(name for name in theirs if name in KNOW_COSTS)]
    return ["auto", *ours, *theirs, *(["C"] if program else [])]


def measure(contender: str, text: str, program: str | None) -> tuple[int, float]:
    """Count the covers of a problem with one contender, once; return the count and the seconds.

    Other programs know no stacks; they get the residual problem that the clues leave. For a problem
    with costs, return the cost of the cheapest cover instead of the count.
    """
    reading = reading_of(text)
    if reading.problem.costs is not None and contender not in PEERS:
        batchsolve.cheapest(with_costs("langford:4"), jobs=1)
        found = batchsolve.cheapest(reading, jobs=1)
        return found.covers[0].cost, found.count.seconds
    problem = residual(reading.problem, reading.stack) if reading.stack.size else reading.problem
    if contender == "C":
        assert program is not None
        return yardstick(program, problem)
    if contender in PEERS:
        PEERS[contender](batchsolve.family("dominoes:4x4"))
        begin = time.perf_counter()
        count = PEERS[contender](problem)
        return count, time.perf_counter() - begin
    if contender == "memo":  # it would remember its counts
        batchsolve.count("dominoes:4x4", jobs=1, engine=contender)
    else:
        batchsolve.count(reading, jobs=1, engine=contender, node_limit=200_000)
    result = batchsolve.count(reading, jobs=1, engine=contender)
    return result.count, result.seconds


def apart(contender: str, text: str, program: str | None, most: float) -> list[float] | None:
    """Measure in a separate process; return covers and seconds, or None if it takes too long."""
    command = [sys.executable, __file__, "--one", contender, text]
    if program:
        command += ["--yardstick", program]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdout=pipe, stderr=pipe, text=True, start_new_session=True
    ) as process:
        try:
            output, errors = process.communicate(timeout=most)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # and the C program it waits for
            return None
    if process.returncode:
        raise SystemExit(f"{contender} on {text}: {errors.strip().splitlines()[-1]}")
    result: list[float] = json.loads(output.splitlines()[-1])
    return result


def prepare(text: str, program: str | None) -> None:
    """Compile everything to disk, so that no contender's time includes it."""
    reading = reading_of(text)
    for name in contenders(reading.problem, program):
        if name in PEERS:
            PEERS[name](batchsolve.family("dominoes:4x4"))
        elif name != "C":
            batchsolve.count(reading.problem, reading.stack, jobs=1, engine=name, node_limit=1000)


def compare(text: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure all contenders on one problem, in turn."""
    prepare(text, arguments.yardstick)
    names = contenders(reading_of(text).problem, arguments.yardstick)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    counts: dict[str, int] = {}
    for _ in range(arguments.repeat):
        for name, times in seconds.items():
            if times and max(times) > arguments.patience:
                continue
            result = apart(name, text, arguments.yardstick, arguments.most)
            if result is None:
                times.append(float("inf"))
                continue
            counts[name] = int(result[0])
            times.append(result[1])
    if not counts:
        raise SystemExit(f"{text}: no contender ended within {arguments.most} s; raise --most")
    if len(set(counts.values())) != 1:
        raise SystemExit(f"{text}: the counts differ: {counts}")
    medians = measuring.medians(seconds)
    compared = {
        "covers" if reading_of(text).problem.costs is None else "least cost": counts.popitem()[1],
        "seconds": {n: m if m < float("inf") else None for n, m in medians.items()},
        "runs": {name: len(times) for name, times in seconds.items()},
    }
    if "auto" in medians:
        ours = [medians[name] for name in engine_names() if name in medians and name != "memo"]
        compared["auto against the best engine"] = medians["auto"] / min(ours)
    return compared


def rate_of(engine: Engine, problem: GridProblem, stacks: Stacks) -> tuple[float, int]:
    """Return the stacks an engine searches per second, and the nodes of all of them."""
    n_rows = TASK_CELLS // problem.n_cells
    begin, n_times, spent = time.perf_counter(), 0, 0.0
    while spent < TURN_SECONDS:
        nodes = 0
        for k in range(0, len(stacks), n_rows):
            task = Task.of(stacks.between(k, k + n_rows), limit=2, keep=1, any_order=True)
            nodes += int(engine.search(problem, task).nodes.sum())
        n_times += 1
        spent = time.perf_counter() - begin
    return n_times * len(stacks) / spent, nodes


def puzzles_per_second(path: str, repeat: int) -> dict[str, Any]:
    """Compare the engines that solve rows, on one thread, with blocks as workers get them.

    A short list is repeated until it fills a block.
    """
    problem, parts = Corpus([path]).stacks()
    stacks = parts[""]
    n_puzzles = len(stacks)
    n_times = -(-TASK_CELLS // (n_puzzles * problem.n_cells))
    roots = np.arange(n_puzzles * n_times)
    stacks = Stacks.concatenate([stacks] * n_times).with_roots(roots)
    rates: dict[str, list[float]] = {"dlx": [], "lanes": []}
    nodes: dict[str, int] = {}
    for turn in range(repeat + 1):
        for name, found in rates.items():
            rate, nodes[name] = rate_of(get_engine(name), problem, stacks)
            if turn > 0:  # the first warms up
                found.append(rate)
    medians = measuring.medians(rates)
    return {
        "puzzles": n_puzzles,
        "repeated": n_times,
        "a second": medians,
        "lanes against dlx": medians["lanes"] / medians["dlx"],
        "nodes a puzzle": {name: n / roots.size for name, n in nodes.items()},
    }


def compare_on_grid(text: str, repeat: int, patience: float) -> dict[str, Any]:
    """Count all solutions of one grid with several engines, one thread, in turn."""
    reading = read_problem(text)
    seconds: dict[str, list[float]] = {name: [] for name in ("auto", "lanes", "cells")}
    found: dict[str, batchsolve.Count] = {}
    for name in seconds:
        batchsolve.count(reading, jobs=1, engine=name, node_limit=100_000)
    for _ in range(repeat):
        for name, times in seconds.items():
            if not times or max(times) <= patience:
                found[name] = batchsolve.count(reading, jobs=1, engine=name)
                times.append(found[name].seconds)
    if len({result.count for result in found.values()}) != 1:
        raise SystemExit(f"{text}: the counts differ: {found}")
    medians = measuring.medians(seconds)
    return {
        "solutions": found["auto"].count,
        "seconds": medians,
        "runs": {name: len(times) for name, times in seconds.items()},
        "nodes": {name: result.nodes for name, result in found.items()},
        "engine that auto chose": found["auto"].engine,
        "lanes against cells": medians["cells"] / medians["lanes"],
    }


def picture(results: dict[str, Any]) -> Any:
    """Draw the seconds of every contender, fastest first, with a panel for every problem.

    Contenders that were given up come last, with a hatched bar up to their time limit.
    """
    problems = results["problems"]
    most = options().parse_known_args(shlex.split(results["command"])[1:])[0].most
    n_bars = max(len(entry["seconds"]) for entry in problems.values())
    figure, panels = charts.new_figure(
        "Seconds to count all covers",
        "one thread, medians, logarithmic; less is better",
        len(problems),
        charts.AROUND + len(problems) * BAR * (n_bars + 2),
    )
    for axes, (problem, entry) in zip(panels, problems.items(), strict=True):
        found = sorted(entry["seconds"].items(), key=lambda item: item[1] or np.inf)
        for place, (name, seconds) in enumerate(found):
            end = seconds or most
            color = charts.COLORS[1 if name in PEERS or name == "C" else 0]
            look = {"color": color} if seconds else {"color": "0.92", "ec": "0.6", "hatch": "////"}
            axes.barh(place, end, 0.75, **look)
            text = f"{seconds:.2f}" if seconds else f"over {most:g} s"
            beside = {"textcoords": "offset points", "va": "center", "fontsize": charts.SMALL}
            axes.annotate(text, (end, place), (3, 0), **beside)
        axes.set_yticks(range(len(found)), [name for name, _ in found])
        axes.set_ylim(len(found) - 0.5, -0.5)
        axes.grid(visible=False, axis="y")
        charts.write_above(axes, f"{problem}: {entry['covers']:,} covers")
    fastest = min(s for entry in problems.values() for s in entry["seconds"].values() if s)
    panels[-1].set(xscale="log", xlim=(fastest / 2, most * 4))  # room for the texts
    charts.make_logarithmic(panels[-1], "x")
    note = "blue: batchsolve; orange: packages from PyPI, and C, plain dancing links in C"
    charts.name_axes(panels[-1], "seconds", "", note)
    return figure


def options() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = measuring.options(__doc__, "engines")
    parser.add_argument(
        "problems",
        nargs="*",
        help="anything that batchsolve count takes; a family also as in 'queens:12 shuffled', "
        "with its items and options in a random order",
    )
    parser.add_argument("--yardstick", metavar="PROGRAM")
    parser.add_argument("--kinds", action="store_true", help="problems with bounds or costs")
    parser.add_argument("--puzzles", nargs="*", default=[], metavar="CORPUS")
    parser.add_argument("--grids", nargs="*", default=[], metavar="PROBLEM")
    parser.add_argument("--patience", type=float, default=10.0, metavar="SECONDS")
    parser.add_argument("--most", type=float, default=60.0, metavar="SECONDS")
    parser.add_argument("--one", nargs=2, metavar=("CONTENDER", "PROBLEM"), help=argparse.SUPPRESS)
    parser.add_argument("--draw", metavar="JSON", help="draw its picture again, measure nothing")
    return parser


def main() -> None:
    """Run the measurements that the command line asks for."""
    arguments = options().parse_args()
    if arguments.draw:
        path = Path(arguments.draw)
        figure = picture(json.loads(path.read_text()))
        write_whole(path.with_suffix(".svg"), charts.content(figure, "svg"))
        return
    if arguments.one:
        contender, text = arguments.one
        print(json.dumps(measure(contender, text, arguments.yardstick)))
        return
    results = {
        "problems": {Path(text).name: compare(text, arguments) for text in arguments.problems},
        "kinds": {text: compare(text, arguments) for text in KINDS if arguments.kinds},
        "puzzles": {
            Path(path).name: puzzles_per_second(path, arguments.repeat)
            for path in arguments.puzzles
        },
        "grids": {
            Path(text).name: compare_on_grid(text, arguments.repeat, arguments.patience)
            for text in arguments.grids
        },
    }
    measuring.write(arguments, results)
    if results["problems"] and find_spec("matplotlib"):
        figure = picture({**measuring.about(), **results})
        write_whole(Path(arguments.out).with_suffix(".svg"), charts.content(figure, "svg"))


if __name__ == "__main__":
    main()
