"""The commands of graphs of solutions: graph, sample, count --graph and count --by."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, BinaryIO

from batchsolve.cli import command
from batchsolve.cli.options import Json, Problem, Puzzles, Quiet, Written
from batchsolve.cli.problems import Asked, in_time, read
from batchsolve.cli.terminal import interrupts
from batchsolve.core.interrupts import check_interrupt
from batchsolve.errors import InputError, counted, listed, quoted
from batchsolve.formats.whole_files import whole_file, whole_target_of

if TYPE_CHECKING:
    from batchsolve.graphs.solution_graph import SolutionGraph
    from batchsolve.problems.exact_cover import ExactCover
    from batchsolve.problems.stacks import Stacks
    from batchsolve.runs.reading import Reading

BLOCK = 4096  # solutions written at a time


def draw_to_file(asked: Asked, path: str, megabytes: int) -> int:
    """Draw the graph of a problem, write it to a file, and print its count."""
    from batchsolve.runs.graphs import solution_graph

    begin = time.monotonic()
    whole_target_of(path)  # before the work is done
    nothing = {"count": 0, "complete": False, "graph": None, "nodes": 0}
    with in_time(asked, nothing) as rest, interrupts():
        graph = solution_graph(read(asked.problem, asked.puzzles), memory=megabytes, check=rest)
    with interrupts():
        graph.save(path)
    said = f"; {path}: a graph of {counted(graph.n_nodes, 'node')}"
    facts = {"graph": path, "nodes": graph.n_nodes}
    return _summary(asked, graph.count, facts, begin, graph.count, said)


def print_distribution(asked: Asked, by: str, megabytes: int) -> int:
    """Print the number of solutions of each cost or size."""
    from batchsolve.runs.graphs import distribution

    begin = time.monotonic()
    nothing = {"count": 0, "complete": False, "by": by, "distribution": []}
    with in_time(asked, nothing) as rest, interrupts():
        reading = read(asked.problem, asked.puzzles)
        found = distribution(reading, by, memory=megabytes, check=rest)
    rows = [(by, "solutions"), *found.items()]
    left, right = (max(len(str(row[k])) for row in rows) for k in (0, 1))
    table = "\n".join(f"{value:>{left}}  {count:>{right}}" for value, count in rows)
    facts = {"by": by, "distribution": [*found.items()]}
    return _summary(asked, sum(found.values()), facts, begin, table)


def _summary(
    asked: Asked, count: int, facts: dict[str, Any], begin: float, answer: object, said: str = ""
) -> int:
    """Print an answer about all solutions and its summary; return the exit code."""
    seconds = round(time.monotonic() - begin, 3)
    found = {"count": count, "complete": True, **facts, "seconds": seconds}
    said = f"{counted(count, 'solution')}{said}; {seconds:.1f} s"
    asked.printing.summary(found, said, answer=answer)
    return 0


@command
def graph(
    problem: Problem,
    file: str,
    /,
    with_: Sequence[str] = (),
    without: Sequence[str] = (),
    sample: int | None = None,
    seed: int = 0,
    distinct: bool = False,
    list_: bool = False,
    output: Written | None = None,
    *,
    puzzles: Puzzles,
    printing: Json,
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
    from batchsolve.graphs.solution_graph import SolutionGraph

    if output is not None:
        whole_target_of(output)  # before the work is done
    if list_ and sample is not None:
        raise InputError("--list and --sample do not go together")
    if printing.as_json and (list_ or sample is not None):
        raise InputError("--json prints facts; --list and --sample print JSON lines anyway")
    if sample is None and (seed or distinct):
        raise InputError("--seed and --distinct need --sample N")
    reading = read(problem, puzzles)
    with interrupts():
        kept = SolutionGraph.load(file, reading.problem)
        for clue in sorted({*reading.stack.tolist()}.difference(_on_top(kept))):
            kept = kept.with_option(clue)
        for option in with_:
            kept = kept.with_option(_option(reading.problem, option))
        for option in without:
            kept = kept.without_option(_option(reading.problem, option))
        if output is not None:
            kept.save(output)
        if sample is not None:
            drawn = kept.sample(sample, seed, distinct=distinct)
            _write(reading, drawn, sys.stdout.buffer)
        elif list_:
            for block in kept.blocks(BLOCK):
                _write(reading, block, sys.stdout.buffer)
        elif printing.as_json:
            facts = {"count": kept.count, "nodes": kept.n_nodes, "options": kept.n_used_options}
            printing.facts(facts)
        else:
            print(kept.count)
    return 0


@command
def sample(
    problem: Problem,
    /,
    number: int = 1,
    seed: int = 0,
    distinct: bool = False,
    weighted: bool = False,
    memory: int | None = None,
    output: Written = "-",
    *,
    puzzles: Puzzles,
    printing: Quiet,
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
    from batchsolve.runs.progress import COVER_BAR

    reading = read(problem, puzzles)
    with printing.progress(COVER_BAR) as on_progress:
        samples = drawn(
            reading,
            number,
            seed=seed,
            distinct=distinct,
            weighted=weighted,
            memory=memory,
            on_progress=on_progress,
        )
        with nullcontext(sys.stdout.buffer) if output == "-" else whole_file(output) as file:
            _write(reading, samples.covers, file, samples.weights)
    if samples.weights is None:
        said = f"from {counted(samples.count or 0, 'solution')}"
    else:
        about = sum(samples.weights) / max(samples.probes, 1)
        said = f"by {counted(samples.probes, 'probe')}, from about {about:.4g}"
    printing.note(f"{counted(len(samples), 'solution')} drawn {said}")
    return 0


def _write(
    reading: Reading, covers: Stacks, file: BinaryIO, weights: list[int] | None = None
) -> None:
    """Write covers as JSON lines, in their order."""
    from batchsolve.formats.render import CoverRenderer

    renderer = CoverRenderer(reading.problem, reading.notation)
    for begin in range(0, len(covers), BLOCK):
        block = covers.between(begin, min(begin + BLOCK, len(covers)))
        lines = renderer.json_lines(block, in_order=False).to_pybytes()
        if weights is not None:
            each = zip(lines.splitlines(), weights[begin : begin + BLOCK], strict=True)
            lines = b"".join(b'%s, "weight": %d}\n' % (line[:-1], weight) for line, weight in each)
        file.write(lines)
        check_interrupt()
    file.flush()


def _on_top(graph: SolutionGraph) -> Iterator[int]:
    """Yield the options of the first nodes of a graph that all solutions have."""
    node = graph.root
    while node > 1 and graph.low[node] == 0:
        yield int(graph.option[node])
        node = int(graph.high[node])


def _option(problem: ExactCover, text: str) -> int:
    """Return the option with a name, or else with a number."""
    names = [problem.option_name(o) for o in range(problem.n_options)]
    those = [o for o, name in enumerate(names) if name == text]
    if len(those) == 1:
        return those[0]
    if those:
        raise InputError(f"options {listed(those)} are all called {quoted(text)}; give a number")
    if text.isascii() and text.isdecimal() and len(text) < 20 and int(text) < problem.n_options:
        return int(text)
    raise InputError(
        f"unknown option {quoted(text)}; choose a name or a number of the "
        f"{counted(len(names), 'option')}: {listed(names)}"
    )
