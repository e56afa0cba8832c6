"""The frame of all benchmarks: functions timed in turn, commands timed whole, a file of results."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import batchsolve
from batchsolve.scaling.experiment import machine
from batchsolve.tables.corpus import Corpus

ROWS = 20_000  # of a corpus at most
RESULTS = "benchmarks/results"
Clock = Callable[[], float]
Grids = npt.NDArray[np.uint8]


def options(doc: str | None, name: str, repeat: int = 5) -> argparse.ArgumentParser:
    """Return a parser with the options that all benchmarks have."""
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("--repeat", type=int, default=repeat)
    parser.add_argument("-o", "--out", default=f"{RESULTS}/{name}.json")
    parser.add_argument("--note", help="what to keep in mind about the figures")
    return parser


def about() -> dict[str, Any]:
    """Return the command and the machine."""
    command = [Path(sys.argv[0]).name, *(Path(word).name for word in sys.argv[1:])]
    return {"command": shlex.join(command), "machine": machine()}


def write(chosen: argparse.Namespace, results: Mapping[str, Any]) -> None:
    """Write results, with the command and the machine, to the file that the options name."""
    record = {**about(), **results, **({"note": chosen.note} if chosen.note else {})}
    text = json.dumps(record, indent=1)
    Path(chosen.out).write_text(f"{text}\n")
    print(text)


def in_turns(
    ways: Mapping[str, Callable[[], object]],
    repeat: int,
    clock: Clock = time.perf_counter,
    tidy: Callable[[], object] = lambda: None,
) -> dict[str, list[float]]:
    """Return the seconds of functions that take turns; a first turn is extra.

    `tidy` is called, outside of the measurements, after each call.
    """
    times: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(repeat + 1):
        for name, run in ways.items():
            begin = clock()
            run()
            spent = clock() - begin
            tidy()
            if turn:
                times[name].append(spent)
    return times


def medians(times: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Return the median of each list of times."""
    return {name: statistics.median(each) for name, each in times.items()}


def per_second(n: int, work: Callable[[], object], clock: Clock, repeat: int) -> float:
    """Return how many of n things some work does per second."""
    return n / medians(in_turns({"": work}, repeat, clock))[""]


class Used(NamedTuple):
    """The time, the memory and the output of a command."""

    seconds: float
    processor: float  # seconds
    peak_mb: float
    code: int
    out: str
    err: str


def run(command: Sequence[str], **how: Any) -> Used:
    """Run a command to its end; the keywords are those of `subprocess.Popen`."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=err, **how)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        for file in (out, err):
            file.seek(0)
        spent = usage.ru_utime + usage.ru_stime
        peak = usage.ru_maxrss / 1024
        return Used(seconds, spent, peak, process.returncode, out.read(), err.read())


def batchsolve_command(*words: object) -> list[str]:
    """Return the words of a command of this package."""
    return [sys.executable, "-m", "batchsolve", *map(str, words)]


def yardstick(program: str, instance: str | Path) -> tuple[int, int, float]:
    """Run a program in C that prints "covers nodes seconds" of an .ec file."""
    done = subprocess.run([program, str(instance)], capture_output=True, text=True, check=True)
    covers, nodes, seconds = done.stdout.split()
    return int(covers), int(nodes), float(seconds)


def grids_of(corpus: Corpus) -> Grids:
    """Return the puzzles of a corpus of grids of one shape."""
    return np.concatenate([batch.grids[0].puzzles for batch in corpus.batches()])


def solved(path: str) -> tuple[Corpus, Grids, Grids]:
    """Return a corpus, its first puzzles that have one solution, and these solutions."""
    corpus = Corpus([path])
    grids = grids_of(corpus)[:ROWS]
    found = batchsolve.solve_batch(grids, corpus.problem)
    good = found.status == "unique"
    return corpus, grids[good], found.solutions[good]
