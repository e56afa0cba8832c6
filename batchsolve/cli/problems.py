"""The commands that show problems and engines: show, draw, convert, estimate, engines."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from batchsolve.cli import EXIT_INCOMPLETE, command
from batchsolve.cli.options import Engine, Json, Printing, Problem, Puzzles, Written, how_written
from batchsolve.cli.terminal import TimeIsUp, interrupts, time_limited
from batchsolve.errors import InputError, counted, printable
from batchsolve.formats.whole_files import write_whole
from batchsolve.settings import AUTO, FileSettings, SearchSettings, whole_number

if TYPE_CHECKING:
    from batchsolve.runs.reading import Reading

MAX_DRAWINGS = 10_000
FEW, ONE = 20, 1  # default numbers of drawings, in a page and in an SVG file

FirstSearch = Annotated[SearchSettings, ("node_limit", "time_limit", "engine")]


@dataclass(frozen=True)
class Asked:
    """A question about one problem: the limits of its search, and the form of the answer."""

    problem: str
    search: SearchSettings
    puzzles: FileSettings
    printing: Printing


@contextmanager
def in_time(
    asked: Asked, nothing: dict[str, Any], output: str = ""
) -> Iterator[Callable[[], SearchSettings]]:
    """Start the time limit of a question, as `time_limited`; if it is up, print facts as JSON."""
    try:
        with time_limited(asked.search) as rest:
            yield rest
    except TimeIsUp:
        asked.printing.summary({**nothing, "seconds": asked.search.time_limit}, output=output)
        raise


def read(problem: str, puzzles: FileSettings) -> Reading:
    """Read the problem that an argument names."""
    from batchsolve.runs.reading import read_problem

    return read_problem(problem, **how_written(puzzles))


@command
def show(problem: Problem, /, *, puzzles: Puzzles, printing: Json) -> int:
    """Print the size of a problem, and a picture of a grid.

    Examples
    --------
    batchsolve show puzzles.csv#17
    batchsolve show pentominoes:6x10
    """
    from batchsolve.runs.reading import describe, picture

    reading = read(problem, puzzles)
    printing.facts(describe(reading))
    if reading.notation is not None and not printing.as_json:
        print(picture(reading))
    return 0


@command
def draw(
    problem: Problem,
    /,
    output: Written,
    number: int | None = None,
    found: str | None = None,
    format_: Literal["svg", "html"] | None = None,
    *,
    search: FirstSearch,
    puzzles: Puzzles,
    printing: Printing,
) -> int:
    """Draw the first solutions of a problem.

    They are the first in tree order, so every run draws the same. The problem is a grid, or the
    names of its items are places: r2c5 is a cell, l3r2c5 one of layer 3, s4 a place of a line; an
    option with a row r2 and a column c5 marks the square where they cross.

    Input
    -----
    found : FROM
        Draw the solutions in a directory of enumerate, a file of export, or JSON lines (- is
        stdin), without a search.

    Output
    ------
    output : FILE
        .svg, or .html for a page to look through; - prints it.
    number : N
        Upper bound of solutions; by default 1 in .svg and 20 in .html.
    format_ : svg|html
        By default the suffix of FILE, and svg for -.

    Examples
    --------
    batchsolve draw pentominoes:6x10 -o tiling.svg
    batchsolve draw datasets/many16.csv#3 -n 50 -o grids.html
    batchsolve draw langford:8 --found solutions -o langford.html

    Exit codes
    ----------
    0
        N solutions, or all, are drawn
    1
        a limit was reached first, or nothing is drawn because the problem has no solution
    """
    from batchsolve.runs.count import first_covers
    from batchsolve.runs.draw import board_of, draw_all, format_of
    from batchsolve.runs.export import found_covers
    from batchsolve.runs.progress import COVER_BAR
    from batchsolve.runs.run import describe_run

    if problem == found == "-":
        raise InputError("standard input holds the problem or its solutions, not both")
    if found is not None and search != SearchSettings():
        raise InputError("--found does not search; leave out --node-limit, --time-limit, --engine")
    kind = format_ or ("svg" if output == "-" else format_of(output))
    few = FEW if kind == "html" else ONE
    limit = few if number is None else whole_number("--number", number, 1, MAX_DRAWINGS)
    facts: dict[str, Any] = {"output": output}
    with time_limited(search) as rest:
        reading = read(problem, puzzles)
        board = board_of(reading.problem, limit)
        search = rest()
    with printing.progress(COVER_BAR) as on_progress:
        if found is not None:
            # beforehand: the run may be going on
            whole = not os.path.isdir(found) or describe_run(found)["complete"]
            covers = found_covers(reading, found, limit)
            complete = whole or len(covers) == limit
            said = counted(len(covers), "solution") + ("" if complete else ", not complete")
        else:
            task = reading.problem, reading.stack
            how: Any = {"limit": limit, "on_progress": on_progress, "search": search}
            covers, result = first_covers(*task, **how)
            complete, said = result.complete, str(result)
            facts |= {"nodes": result.nodes, "engine": result.engine}
            facts["seconds"] = round(result.seconds, 3)
        if covers:
            _write(draw_all(reading, covers, board).as_format(kind), output)
    facts |= {"drawn": len(covers), "complete": complete}
    printing.summary(facts, said if covers else f"{said}: nothing is drawn", output=output)
    return 0 if complete and covers else EXIT_INCOMPLETE


def _write(text: str, output: str) -> None:
    """Write a drawing to a file, or print it."""
    if output == "-":
        sys.stdout.write(printable(text, but="\n") if sys.stdout.isatty() else text)
    else:
        write_whole(output, text)


@command
def convert(problem: Problem, /, output: Written, *, puzzles: Puzzles) -> int:
    """Write a problem in another form.

    Clues leave out the options that clash with them. In .cnf and .opb, comments name the options of
    the variables; .npz has no names.

    Output
    ------
    output : FILE
        .dlx, .ec, .json, .npz, .cnf (DIMACS, for model counters), or .opb (pseudo-Boolean, with
        bounds and costs); dlx:- prints it.

    Examples
    --------
    batchsolve convert pentominoes:6x10 -o pentominoes.dlx
    batchsolve convert datasets/many16.csv#3 -o grid.cnf
    batchsolve convert queens:8 -o opb:-

    Exit codes
    ----------
    0
        written
    2
        a form that cannot hold the problem
    """
    from batchsolve.runs.convert import converted

    form, colon, path = output.partition(":")
    if not (colon and path == "-"):
        form, path = os.path.splitext(output)[1].lower().removeprefix("."), output
    with interrupts():
        content = converted(read(problem, puzzles), form)
        if path == "-":
            sys.stdout.buffer.write(content)
        else:
            write_whole(path, content)
    return 0


@command
def estimate(
    problem: Problem,
    /,
    probes: int = 1000,
    seed: int = 0,
    *,
    search: Engine,
    puzzles: Puzzles,
    printing: Json,
) -> int:
    """Estimate the size of a search tree by random probes.

    A probe searches a small subtree at every step; a small tree is searched completely. The
    numbers in parentheses are an interval of 95 %; the command warns of intervals that cannot be
    trusted.

    Search
    ------
    probes : N
        Number of random probes.
    seed : N
        Seed of the random numbers.

    Examples
    --------
    batchsolve estimate queens:20
    batchsolve estimate puzzles.csv#17 --probes 10000
    """
    from batchsolve.runs.estimate import estimate as estimated

    reading = read(problem, puzzles)
    with interrupts():
        task = reading.problem, reading.stack
        guess = estimated(*task, probes=probes, seed=seed, engine=search.engine)
    doubt = f"batchsolve: do not trust the intervals: {guess.doubt}" if guess.doubt else ""
    printing.summary(asdict(guess), doubt, answer=guess)
    return 0


@command
def engines(printing: Json) -> int:
    """List the search engines and what each can do.

    Examples
    --------
    batchsolve engines
    batchsolve engines --json
    """
    from batchsolve.engines import engine_names, get_engine

    if not printing.as_json:
        print(f"{AUTO:14}the engine that suits the problem, which is the default")
    for name in engine_names():
        can = get_engine(name).capabilities
        if printing.as_json:
            print(json.dumps({"engine": name, **asdict(can)}))
            continue
        takes = "any exact cover" if can.bounds else "exact covers without bounds"
        takes = "grids of digits only" if can.sudoku_only else takes
        needs = f"; needs pip install 'batchsolve[{can.extra}]'" if can.extra else ""
        print(f"{name:14}{can.description}; {takes}{needs}")
    return 0
