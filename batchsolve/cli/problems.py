"""The commands that show one problem, its engines, and the graph of all its solutions."""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, Literal

from batchsolve.cli import EXIT_INCOMPLETE, command, options
from batchsolve.cli.terminal import interrupts, time_limited
from batchsolve.core.interrupts import TimeIsUp, check_interrupt
from batchsolve.errors import InputError, counted, listed, printable, quoted
from batchsolve.formats.whole_files import whole_file, whole_target_of, write_whole
from batchsolve.settings import AUTO, FileSettings, SearchSettings
from batchsolve.settings.arguments import whole_number

if TYPE_CHECKING:
    from batchsolve.problems.exact_cover import ExactCover
    from batchsolve.problems.stacks import Stacks
    from batchsolve.runs.reading import Reading

BLOCK = 4096  # solutions written at a time
MOST_FLOAT = 10**300  # larger sums of weights are written as powers of two
MAX_DRAWINGS = 10_000
FEW, ONE = 20, 1  # default numbers of drawings, in a page and in an SVG file

FirstSearch = Annotated[SearchSettings, ("node_limit", "time_limit", "engine")]


@dataclass(frozen=True)
class Query:
    """A query of one problem: the limits of its search, and the form of the answer."""

    problem: str
    search: SearchSettings
    puzzles: FileSettings
    session: options.Session


@contextmanager
def read_in_time(
    query: Query, nothing: dict[str, Any], output: str = ""
) -> Iterator[tuple[Reading, Callable[[], SearchSettings]]]:
    """Read the problem of a query, and yield it with the function of `time_limited`.

    If the time is up, print facts as JSON.
    """
    try:
        with time_limited(query.search) as remaining:
            yield read(query.problem, query.puzzles), remaining
    except TimeIsUp:
        query.session.summary({**nothing, "seconds": query.search.time_limit}, output=output)
        raise


def read(problem: str, puzzles: FileSettings) -> Reading:
    """Read the problem that an argument names."""
    from batchsolve.runs.reading import read_problem

    return read_problem(problem, **options.notation_settings(puzzles))


@command
def show(problem: options.Problem, /, *, puzzles: options.Puzzles, session: options.Json) -> int:
    """Print the size of a problem, and a picture of a grid.

    Examples
    --------
    batchsolve show puzzles.csv#17
    batchsolve show pentominoes:6x10
    """
    from batchsolve.runs.reading import describe, picture

    reading = read(problem, puzzles)
    session.facts(describe(reading))
    if reading.notation is not None and not session.as_json:
        print(picture(reading))
    return 0


@command
def draw(
    problem: options.Problem,
    /,
    output: options.Written,
    number: int | None = None,
    found: str | None = None,
    format_: Literal["svg", "html"] | None = None,
    *,
    search: FirstSearch,
    puzzles: options.Puzzles,
    session: options.JsonOrQuiet,
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
    from batchsolve.runs.progress import COVER_BAR, shown
    from batchsolve.runs.run import describe_run
    from batchsolve.tables.places import name_of

    if problem == found == "-":
        raise InputError("standard input holds the problem or its solutions, not both")
    if found is not None and search != SearchSettings():
        raise InputError("--found does not search; leave out --node-limit, --time-limit, --engine")
    kind = format_ or ("svg" if output == "-" else format_of(output))
    few = FEW if kind == "html" else ONE
    limit = few if number is None else whole_number("--number", number, 1, MAX_DRAWINGS)
    facts: dict[str, Any] = {"output": output if output in (None, "-") else name_of(output)}
    query, nothing = Query(problem, search, puzzles, session), {"drawn": 0, "complete": False}
    with read_in_time(query, facts | nothing, output) as (reading, remaining):
        board = board_of(reading.problem, limit)
        search = remaining()
    with interrupts(), shown(session.on_progress, COVER_BAR) as tell:
        if found is not None:
            # beforehand: the run may be going on
            complete = not os.path.isdir(found) or describe_run(found)["complete"]
            covers = found_covers(reading, found, limit)
            words = counted(len(covers), "solution") + ("" if complete else ", not complete")
        else:
            covers, result = first_covers(reading, limit=limit, on_progress=tell, search=search)
            complete, words = result.complete, str(result)
            facts |= {"nodes": result.nodes, "engine": result.engine}
            facts["seconds"] = round(result.seconds, 3)
        if covers:
            _write(draw_all(reading, covers, board).as_format(kind), output)
    facts |= {"drawn": len(covers), "complete": complete}
    is_done = len(covers) == limit or (complete and bool(covers))
    words = words.replace(", not complete", "") if is_done else words  # no more were wanted
    session.summary(facts, words if covers else f"{words}: nothing is drawn", output=output)
    return 0 if is_done else EXIT_INCOMPLETE


def _write(text: str, output: str) -> None:
    """Write a drawing to a file, or print it."""
    if output == "-" and sys.stdout.isatty():
        sys.stdout.write(printable(text, but="\n"))
    elif output == "-":
        sys.stdout.buffer.write(text.encode())
    else:
        write_whole(output, text)


@command
def convert(
    problem: options.Problem, /, output: options.Written, *, puzzles: options.Puzzles
) -> int:
    """Write a problem in another form.

    Clues leave out the options that clash with them. In .cnf and .opb, comments name the options of
    the variables; .dlx and .ec lose the names of options, .npz all names.

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
    problem: options.Problem,
    /,
    probes: int = 1000,
    seed: int = 0,
    *,
    search: options.Engine,
    puzzles: options.Puzzles,
    session: options.Json,
) -> int:
    """Estimate the size of a search tree by random probes.

    A probe searches a small subtree at every step; a small tree is searched completely. The
    numbers in parentheses are an interval of about 95 %; the command warns of intervals that cannot
    be trusted.

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
        guess = estimated(reading, probes=probes, seed=seed, engine=search.engine)
    doubt = f"batchsolve: do not trust the intervals: {guess.doubt}" if guess.doubt else ""
    session.summary(asdict(guess), doubt, answer=guess)
    return 0


@command
def engines(session: options.Json) -> int:
    """List the search engines and what each can do.

    Examples
    --------
    batchsolve engines
    batchsolve engines --json
    """
    from batchsolve.engines import Engine, engine_names, get_engine

    if not session.as_json:
        print(f"{AUTO:14}the engine that suits the problem, which is the default")
    for name in engine_names():
        engine = get_engine(name)
        if session.as_json:
            facts = [field.name for field in fields(Engine) if field.name not in ("name", "entry")]
            print(json.dumps({"engine": name, **{fact: getattr(engine, fact) for fact in facts}}))
            continue
        features = {"bounds": engine.bounds, "colours": engine.colors}
        lacks = [feature for feature, has in features.items() if not has]
        takes = f"exact covers without {' or '.join(lacks)}" if lacks else "any exact cover"
        takes = "grids of digits only" if engine.sudoku_only else takes
        needs = f"; needs pip install 'batchsolve[{engine.extra}]'" if engine.extra else ""
        print(f"{name:14}{engine.description}; {takes}{needs}")
    return 0


# ---- graphs of solutions --------------------------------------------------------------------


def draw_to_file(query: Query, path: str, megabytes: int) -> int:
    """Draw the graph of a problem, write it to a file, and print its count."""
    from batchsolve.runs.graphs import solution_graph
    from batchsolve.tables.places import name_of

    begin = time.monotonic()
    whole_target_of(path)  # before the work is done
    nothing = {"count": 0, "complete": False, "graph": None, "nodes": 0}
    with interrupts(), read_in_time(query, nothing) as (reading, remaining):
        graph = solution_graph(reading, memory=megabytes, check=remaining)
    with interrupts():
        graph.save(path)
    words = f"; {path}: a graph of {counted(graph.n_nodes, 'node')}"
    facts = {"graph": name_of(path), "nodes": graph.n_nodes}
    return _answer(query, graph.count, facts, begin, graph.count, words)


def print_distribution(query: Query, by: str, megabytes: int) -> int:
    """Print the number of solutions of each cost or size."""
    from batchsolve.runs.graphs import distribution

    begin = time.monotonic()
    nothing = {"count": 0, "complete": False, "by": by, "distribution": []}
    with interrupts(), read_in_time(query, nothing) as (reading, remaining):
        counts = distribution(reading, by, memory=megabytes, check=remaining)
    rows = [(by, "solutions"), *counts.items()]
    left, right = (max(len(str(row[k])) for row in rows) for k in (0, 1))
    table = "\n".join(f"{value:>{left}}  {count:>{right}}" for value, count in rows)
    facts = {"by": by, "distribution": [*counts.items()]}
    return _answer(query, sum(counts.values()), facts, begin, table)


def _answer(
    query: Query, count: int, facts: dict[str, Any], begin: float, answer: object, words: str = ""
) -> int:
    """Print an answer about all solutions and its summary; return the exit code."""
    seconds = round(time.monotonic() - begin, 3)
    facts = {"count": count, "complete": True, **facts, "seconds": seconds}
    words = f"{counted(count, 'solution')}{words}; {seconds:.1f} s"
    query.session.summary(facts, words, answer=answer)
    return 0


@command
def graph(
    problem: options.Problem,
    file: str,
    /,
    with_: Sequence[str] = (),
    without: Sequence[str] = (),
    sample: int | None = None,
    seed: int = 0,
    distinct: bool = False,
    list_: bool = False,
    output: options.Written | None = None,
    *,
    puzzles: options.Puzzles,
    session: options.Json,
) -> int:
    """Count, list, sample or restrict a graph of solutions.

    It prints the number of solutions, or with --list or --sample solutions themselves. Kept
    solutions agree with the clues of PROBLEM and with every --with and --without.

    Input
    -----
    file : FILE
        The graph that count --memo --graph FILE wrote.

    Solutions
    ---------
    with_ : OPTION
        Keep solutions with this option, a name or a number.
    without : OPTION
        Keep solutions without this option.
    sample : N
        Print N solutions, drawn with equal probabilities.
    seed : N
        Seed of the random numbers.
    distinct
        Draw no solution twice.
    list_
        Print all solutions, as JSON lines.

    Output
    ------
    output : FILE
        Write the graph of the kept solutions.

    Examples
    --------
    batchsolve count dominoes:8x8 --memo --graph tilings.zdd
    batchsolve graph dominoes:8x8 tilings.zdd --with "r1c1 r1c2" --without 5
    batchsolve graph dominoes:8x8 tilings.zdd --without 0 --sample 3
    batchsolve graph queens:8 queens.zdd --list

    Exit codes
    ----------
    0
        done
    2
        a file that is damaged or not a graph of this problem
    """
    from batchsolve.search.graphs import SolutionGraph

    if output is not None:
        whole_target_of(output)  # before the work is done
    if list_ and sample is not None:
        raise InputError("--list and --sample do not go together")
    if session.as_json and (list_ or sample is not None):
        raise InputError("--json prints facts; --list and --sample print JSON lines anyway")
    if sample is None and (seed or distinct):
        raise InputError("--seed and --distinct need --sample N")
    reading = read(problem, puzzles)
    with interrupts():
        kept = SolutionGraph.load(file, reading.problem, reading.stack).below(reading.stack)
        for option in with_:
            kept = kept.with_option(_option(reading.problem, option))
        for option in without:
            kept = kept.without_option(_option(reading.problem, option))
        if output is not None:
            kept.save(output)
        if sample is not None:
            _write_covers(reading, kept.sample(sample, seed, distinct=distinct), sys.stdout.buffer)
        elif list_:
            for block in kept.blocks(BLOCK):
                _write_covers(reading, block, sys.stdout.buffer)
        elif session.as_json:
            facts = {"count": kept.count, "nodes": kept.n_nodes, "options": kept.n_used_options}
            session.facts(facts)
        else:
            print(kept.count)
    return 0


@command
def sample(
    problem: options.Problem,
    /,
    number: int = 1,
    seed: int = 0,
    distinct: bool = False,
    weighted: bool = False,
    memory: int | None = None,
    output: options.Written = "-",
    *,
    puzzles: options.Puzzles,
    session: options.Quiet,
) -> int:
    """Draw solutions of one problem at random.

    All solutions have exactly the same probability, unless they are --weighted. They are printed
    as JSON lines, as by enumerate -o -, in the order of the draws.

    Solutions
    ---------
    number : N
        Number of solutions to draw.
    seed : N
        Seed of the random numbers.
    distinct
        Draw no solution twice.
    weighted
        Draw by random probes, with unequal probabilities, and print the weights.
    memory : MB
        Megabytes that the graph of all solutions may take; 1,024 by default.

    Output
    ------
    output : FILE
        The file; - is stdout.

    Examples
    --------
    batchsolve sample dominoes:8x8 -n 3 --seed 7
    batchsolve sample dominoes:6x6 -n 1000 --distinct
    batchsolve sample latin:8 -n 100 --weighted

    Exit codes
    ----------
    0
        all were drawn
    2
        too few solutions, a graph that takes too much memory
    """
    from batchsolve.runs.graphs import sample as drawn
    from batchsolve.tables.places import split_suffixes

    suffix, compression = split_suffixes(output)
    if compression or suffix in (".csv", ".tsv", ".parquet", ".npy"):
        raise InputError(f"{output}: drawn solutions are plain JSON lines; name it .jsonl")
    reading = read(problem, puzzles)
    with interrupts():
        samples = drawn(
            reading,
            number,
            seed=seed,
            distinct=distinct,
            weighted=weighted,
            memory=memory,
            on_progress=session.on_progress,
        )
        with nullcontext(sys.stdout.buffer) if output == "-" else whole_file(output) as file:
            _write_covers(reading, samples.covers, file, samples.weights)
    if samples.weights is None:
        words = f"from {counted(samples.count or 0, 'solution')}"
    else:
        words = f"by {counted(samples.probes, 'probe')}"
        *weights, _ = samples.weights or [0]  # the last probe ended at a cover, as it had to
        if total := sum(weights):
            others = samples.probes - 1
            power = f"2^{(total // others).bit_length() - 1}"
            words += f", from about {f'{total / others:.4g}' if total < MOST_FLOAT else power}"
    session.note(f"{counted(len(samples), 'solution')} drawn {words}")
    return 0


def _write_covers(
    reading: Reading, covers: Stacks, file: BinaryIO, weights: list[int] | None = None
) -> None:
    """Write covers as JSON lines, in their order."""
    from batchsolve.formats.render import cover_lines

    for begin in range(0, len(covers), BLOCK):
        block = covers.between(begin, min(begin + BLOCK, len(covers)))
        lines = cover_lines(reading.problem, reading.notation, block, in_order=False).to_pybytes()
        if weights is not None:
            pairs = zip(lines.splitlines(), weights[begin : begin + BLOCK], strict=True)
            lines = b"".join(b'%s, "weight": %d}\n' % (line[:-1], weight) for line, weight in pairs)
        file.write(lines)
        check_interrupt()
    file.flush()


def _option(problem: ExactCover, text: str) -> int:
    """Return the option with a name, or else with a number, which may follow ``#``."""
    names = [problem.option_name(o) for o in range(problem.n_options)]
    same = [o for o, name in enumerate(names) if name == text]
    if len(same) == 1:
        return same[0]
    if same:
        raise InputError(
            f"options {listed(same)} are all called {quoted(text)}; give a number, as #{same[0]}"
        )
    if re.fullmatch(r"#?[0-9]{1,19}", text) and (o := int(text.lstrip("#"))) < problem.n_options:
        return o
    raise InputError(
        f"unknown option {quoted(text)}; choose a name or a number of the "
        f"{counted(len(names), 'option')}: {listed(names)}"
    )
