"""``batchsolve draw``."""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any

from batchsolve.cli.commands import EXIT_INCOMPLETE, command
from batchsolve.cli.options import Printing, Problem, Puzzles, meaning, only
from batchsolve.cli.parameters import Option
from batchsolve.cli.problems import read
from batchsolve.cli.terminal import time_limited
from batchsolve.errors import InputError, counted, printable
from batchsolve.settings import SearchSettings, whole_number

MAX_DRAWINGS = 10_000
FEW, ONE = 20, 1  # default numbers of drawings, in a page and in an SVG file


class Format(StrEnum):
    """The format of a file of drawings."""

    svg = "svg"
    html = "html"


FirstSearch = Annotated[SearchSettings, only("node_limit", "time_limit", "engine")]


@command(
    examples=(
        "batchsolve draw pentominoes:6x10 -o tiling.svg",
        "batchsolve draw datasets/many16.csv#3 -n 50 -o grids.html",
        "batchsolve draw langford:8 --found solutions -o langford.html",
    ),
    epilog="Exit codes: 0 N solutions, or all, are drawn; 1 a limit was reached first, or nothing "
    "is drawn because the problem has no solution; 2 wrong usage, or a file that cannot be read or "
    "written; 130 interrupted, 143 terminated.",
)
def draw(
    problem: Problem,
    output: Annotated[
        str,
        Option(
            "--output",
            "-o",
            metavar="FILE",
            help=".svg, or .html for a page to look through; - prints it.",
        ),
    ],
    number: Annotated[
        int | None,
        Option(
            "--number",
            "-n",
            metavar="N",
            help=f"Upper bound of solutions; by default {ONE} in .svg and {FEW} in .html.",
        ),
    ] = None,
    found: Annotated[
        str | None,
        Option(
            heading="Input",
            metavar="FROM",
            help="Draw solutions of enumerate instead of searching: its directory, a file of "
            "export, or JSON lines (- is stdin).",
        ),
    ] = None,
    form: Annotated[
        Format | None,
        Option(
            "--format", metavar="svg|html", help="By default the suffix of FILE, and svg for -."
        ),
    ] = None,
    *,
    search: FirstSearch,
    puzzles: Puzzles,
    printing: Annotated[
        Printing,
        meaning("as_json", help="Print a summary line of JSON (on stderr if FILE is -)."),
    ],
) -> int:
    """Draw the first solutions of a problem.

    They are the first in tree order, so every run draws the same. The problem is a grid, or the
    names of its items are places: r2c5 is the cell in row 2 and column 5, and l3r2c5 that of layer
    3; s4 is the fourth place of a line; an option with a row r2 and a column c5 marks the square
    where they cross.
    """
    from batchsolve.runs.count import first_covers
    from batchsolve.runs.draw import board_of, draw_all, format_of, write_whole
    from batchsolve.runs.export import found_covers, is_whole

    if problem == found == "-":
        raise InputError("standard input holds the problem or its solutions, not both")
    if found is not None and search != SearchSettings():
        raise InputError("--found does not search; leave out --node-limit, --time-limit, --engine")
    kind = form.value if form else "svg" if output == "-" else format_of(output)
    few = FEW if kind == "html" else ONE
    limit = few if number is None else whole_number("--number", number, 1, MAX_DRAWINGS)
    facts: dict[str, Any] = {"output": output}
    with time_limited(search) as rest:
        reading = read(problem, puzzles)
        board = board_of(reading.problem, limit)
        search = rest()
    bar = {"total": limit, "unit": " solutions"}
    with printing.progress(bar, _covers_on) as on_progress:
        if found is not None:
            covers = found_covers(reading, found, limit)
            complete = len(covers) == limit or is_whole(found)
            said = counted(len(covers), "solution") + ("" if complete else ", not complete")
        else:
            task = reading.problem, reading.stack
            result = first_covers(*task, limit=limit, on_progress=on_progress, search=search)
            covers, complete, said = result.covers, result.complete, str(result)
            facts |= {"nodes": result.nodes, "engine": result.engine}
            facts["seconds"] = round(result.seconds, 3)
        if covers:
            text = draw_all(reading, covers, board).as_format(kind)
            if output == "-":
                sys.stdout.write(printable(text, but="\n") if sys.stdout.isatty() else text)
            else:
                write_whole(output, text)
    facts |= {"drawn": len(covers), "complete": complete}
    printing.summary(facts, said if covers else f"{said}: nothing is drawn", output=output)
    return 0 if complete and covers else EXIT_INCOMPLETE


def _covers_on(bar: Any) -> Callable[[int, int], None]:
    """Return a callback of `first_covers` that shows the number of covers on a bar."""

    def update(covers: int, nodes: int) -> None:
        bar.set_postfix_str(f"{nodes:,} nodes", refresh=False)
        bar.update(covers - bar.n)

    return update
