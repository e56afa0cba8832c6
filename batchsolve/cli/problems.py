"""The commands that look at problems and engines: show, estimate, engines."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from batchsolve.cli import app
from batchsolve.cli.common import Alphabet, Box, Column, EngineName, box_shape, exit_with
from batchsolve.cli.trees import Json, Problem, print_facts


@app.command()
def show(
    problem: Problem,
    box: Box = None,
    alphabet: Alphabet = None,
    column: Column = None,
    as_json: Json = False,
) -> None:
    """Print what was read: items, options, density, and a picture of a grid."""
    shape = box_shape(box)

    def command() -> int:
        from batchsolve.tables.reading import describe, picture, read_problem

        reading = read_problem(problem, box=shape, alphabet=alphabet, column=column)
        print_facts(describe(reading), as_json)
        if reading.notation is not None and not as_json:
            print(picture(reading))
        return 0

    exit_with(command)


@app.command()
def estimate(
    problem: Problem,
    probes: Annotated[int, typer.Option(metavar="N", help="Random probes.")] = 1000,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the random numbers.")] = 0,
    engine: EngineName = "dlx",
    box: Box = None,
    alphabet: Alphabet = None,
    column: Column = None,
    as_json: Json = False,
) -> None:
    """Estimate the size of a search tree by random probes (Knuth 1974)."""
    shape = box_shape(box)

    def command() -> int:
        from dataclasses import asdict

        from batchsolve.search.estimator import estimate as estimated
        from batchsolve.tables.reading import read_problem

        reading = read_problem(problem, box=shape, alphabet=alphabet, column=column)
        guess = estimated(reading.problem, reading.stack, probes=probes, seed=seed, engine=engine)
        if as_json:
            print(json.dumps(asdict(guess)))
        else:
            for what in ("nodes", "solutions"):
                low, high = getattr(guess, f"{what}_low"), getattr(guess, f"{what}_high")
                print(f"{what}: {getattr(guess, what):.4g} ({low:.4g} to {high:.4g})")
            print(f"probes: {guess.probes:,}, mean depth {guess.depth:.1f}")
        return 0

    exit_with(command)


@app.command()
def engines(as_json: Json = False) -> None:
    """List the search engines and what each can do."""

    def command() -> int:
        from dataclasses import asdict

        from batchsolve.engines import engine_names, get_engine

        for name in engine_names():
            can = get_engine(name).capabilities
            if as_json:
                print(json.dumps({"engine": name, **asdict(can)}))
                continue
            takes = "Sudoku only" if can.sudoku_only else "any exact cover"
            needs = f"; needs pip install 'batchsolve[{can.extra}]'" if can.extra else ""
            print(f"{name:14}{can.description}; {takes}{needs}")
        return 0

    exit_with(command)
