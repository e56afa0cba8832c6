"""The commands that describe problems and engines: show, estimate, engines."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from batchsolve.cli.commands import command
from batchsolve.cli.options import Engine, Json, Problem, Puzzles, how_written
from batchsolve.cli.parameters import Option
from batchsolve.cli.terminal import interrupts
from batchsolve.settings import AUTO

if TYPE_CHECKING:
    from batchsolve.runs.reading import Reading
    from batchsolve.settings import FileSettings


def read(problem: str, puzzles: FileSettings) -> Reading:
    """Read the problem that an argument names."""
    from batchsolve.runs.reading import read_problem

    return read_problem(problem, **how_written(puzzles))


@command(examples=("batchsolve show puzzles.csv#17", "batchsolve show pentominoes:6x10"))
def show(problem: Problem, *, puzzles: Puzzles, printing: Json) -> int:
    """Print the size of a problem, and a picture of a grid."""
    from batchsolve.runs.reading import describe, picture

    reading = read(problem, puzzles)
    printing.facts(describe(reading))
    if reading.notation is not None and not printing.as_json:
        print(picture(reading))
    return 0


@command(
    examples=(
        "batchsolve estimate queens:20",
        "batchsolve estimate puzzles.csv#17 --probes 10000",
    )
)
def estimate(
    problem: Problem,
    probes: Annotated[
        int, Option(metavar="N", heading="Search", help="Number of random probes.")
    ] = 1000,
    seed: Annotated[
        int, Option(metavar="N", heading="Search", help="Seed of the random numbers.")
    ] = 0,
    *,
    search: Engine,
    puzzles: Puzzles,
    printing: Json,
) -> int:
    """Estimate the size of a search tree by random probes.

    A probe searches a small subtree at every step; a small tree is searched completely. The
    numbers in parentheses are an interval of 95 %; the command warns of intervals that cannot be
    trusted.
    """
    from batchsolve.runs.estimate import estimate as estimated

    reading = read(problem, puzzles)
    with interrupts():
        task = reading.problem, reading.stack
        guess = estimated(*task, probes=probes, seed=seed, engine=search.engine)
    if printing.as_json:
        print(json.dumps(asdict(guess)))
    else:
        for what in ("nodes", "solutions"):
            low, high = getattr(guess, f"{what}_low"), getattr(guess, f"{what}_high")
            print(f"{what}: {getattr(guess, what):.4g} ({low:.4g} to {high:.4g})")
        how = f"{guess.probes:,}, mean depth {guess.depth:.1f}" if guess.probes else "none needed"
        print(f"probes: {how}; nodes searched: {guess.searched:,}")
        if guess.doubt:
            print(f"batchsolve: do not trust the intervals: {guess.doubt}", file=sys.stderr)
    return 0


@command(examples=("batchsolve engines", "batchsolve engines --json"))
def engines(printing: Json) -> int:
    """List the search engines and what each can do."""
    from batchsolve.engines.contract import engine_names, registered

    if not printing.as_json:
        print(f"{AUTO:14}the engine that suits the problem, which is the default")
    for name in engine_names():
        can = registered(name).capabilities
        if printing.as_json:
            print(json.dumps({"engine": name, **asdict(can)}))
            continue
        takes = "any exact cover" if can.bounds else "exact covers without bounds"
        takes = "Sudoku only" if can.sudoku_only else takes
        needs = f"; needs pip install 'batchsolve[{can.extra}]'" if can.extra else ""
        print(f"{name:14}{can.description}; {takes}{needs}")
    return 0
