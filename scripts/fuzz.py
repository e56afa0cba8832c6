"""Run commands on randomly broken inputs; report everything that must not happen.

The changes are to tables, problem files, files of stacks and results, journals, parts and options:
bits, bytes, lines, columns, encodings, compressions, fields, rows, values. Whatever the input, a
command ends with a documented exit code, within limits of time and memory, without a traceback; it
loses no untouched row, gives no wrong answer and states no wrong total. Slow searches of another
kind, and the data the input was made from, check all of this.

The seed and the number of a case determine it: ``--only 1234`` runs that case again.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random

from fuzzing import kept, options, parts, problems, tables, variants
from fuzzing.cases import Draft, Drawn, Kind, Outcome, Run
from fuzzing.commands import Process
from fuzzing.shrinking import Shrinker, tried

KINDS = (
    Kind("table", tables.begin, 30),
    Kind("rules", variants.begin, 15),
    Kind("problem", problems.begin, 20),
    Kind("stacks", parts.begin_stacks, 8),
    Kind("results", parts.begin_results, 8),
    Kind("search", kept.begin_search, 11),
    Kind("corpus", kept.begin_corpus, 8),
    Kind("options", options.begin, 10),
)
SHOWN = 400  # bytes shown of a file


@dataclass
class Tally:
    """Tally of the inputs of one kind."""

    inputs: int = 0
    failures: int = 0
    codes: Counter[int] = field(default_factory=Counter)


@dataclass(frozen=True)
class Failure:
    """An input that made something go wrong, shrunk as far as possible.

    Attributes
    ----------
    number : int
    kind : str
    wrong : str
        The error, in words.
    draft : Draft
        Files and commands, as they lie on disk.
    """

    number: int
    kind: str
    wrong: str
    draft: Draft

    def __str__(self) -> str:
        files = [f"  {name}: {_start_of(data)}" for name, data in sorted(self.draft.files.items())]
        commands = [f"  batchsolve {shlex.join(words)}" for words in self.draft.commands]
        head = f"input {self.number} ({self.kind}): {self.wrong}"
        return "\n".join([head, *files, *commands])

    def keep(self, folder: Path) -> None:
        """Write the files into a new folder, with the commands beside them."""
        home = folder / f"{self.number}"
        for name, data in self.draft.files.items():
            path = home / ("stdin" if name == "-" else name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        home.mkdir(parents=True, exist_ok=True)
        (home / "failure.txt").write_text(f"{self}\n", errors="backslashreplace")


def _start_of(data: bytes) -> str:
    more = f" … {len(data):,} bytes" if len(data) > SHOWN else ""
    return f"{data[:SHOWN]!r}{more}"


def draw(seed: int, number: int) -> tuple[Kind, Drawn]:
    """Draw a case."""
    rng = Random(f"{seed} {number}")
    [kind] = rng.choices(KINDS, [kind.share for kind in KINDS])
    return kind, Drawn.draw(kind.begin(rng), rng)


def fuzz(
    run: Run,
    seed: int,
    numbers: Iterator[tuple[int, str]],
    tell: Callable[[Failure], None],
) -> dict[str, Tally]:
    """Run cases; return a tally for each kind.

    Parameters
    ----------
    run : callable
        Runs the commands of a draft.
    seed : int
    numbers : iterator of (int, str)
        The number and kind of each case.
    tell : callable
        Called with each failure.
    """
    tallies = {kind.name: Tally() for kind in KINDS}
    for number, name in numbers:
        tally = tallies[name]
        tally.inputs += 1

        def counted(draft: Draft, codes: Counter[int] = tally.codes) -> Outcome:
            outcome = run(draft)
            codes.update(done.code for done in outcome.done if not done.raised)
            return outcome

        _, drawn = draw(seed, number)
        if wrong := tried(counted, drawn, drawn.text()):
            tally.failures += 1
            smaller, text = Shrinker(run, wrong).shrink(drawn)
            wrong = tried(run, smaller, text) or wrong
            tell(Failure(number, name, wrong, smaller.on_disk(text)))
    return tallies


def chosen(seed: int, inputs: int, kinds: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the numbers and kinds of the first cases of some kinds."""
    left = inputs
    for number in count():
        if not left:
            return
        name = kind_of(seed, number)
        if name in kinds:
            left -= 1
            yield number, name


def kind_of(seed: int, number: int) -> str:
    """Return the kind of a case, without making it."""
    [kind] = Random(f"{seed} {number}").choices(KINDS, [kind.share for kind in KINDS])
    return kind.name


def table_of(tallies: dict[str, Tally]) -> str:
    """Return the tallies as a table."""
    total = Tally()
    for tally in tallies.values():
        total.inputs += tally.inputs
        total.failures += tally.failures
        total.codes += tally.codes
    lines = [f"{'kind':10}{'inputs':>8}{'failures':>10}  exit codes of its commands"]
    for name, tally in [*tallies.items(), ("all", total)]:
        codes = ", ".join(f"{n:,} × {code}" for code, n in sorted(tally.codes.items()))
        lines.append(f"{name:10}{tally.inputs:8,}{tally.failures:10,}  {codes}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    names = [kind.name for kind in KINDS]
    parser = argparse.ArgumentParser(
        description="Run commands on broken inputs; report tracebacks, hangs, lost or wrong rows."
    )
    parser.add_argument("--inputs", type=int, default=10_000, metavar="N", help="how many")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--kinds", default=",".join(names), metavar="LIST", help="%(default)s")
    parser.add_argument("--only", type=int, metavar="N", help="run the case of this number alone")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the files of failures there")
    parser.add_argument("--seconds", type=float, default=30.0, help="that a case may take")
    parser.add_argument("--megabytes", type=int, default=2048, help="that a case may take")
    given = parser.parse_args(arguments)
    kinds = given.kinds.split(",")
    if unknown := set(kinds) - set(names):
        parser.error(f"unknown kind {min(unknown)!r}; choose from {', '.join(names)}")

    def tell(failure: Failure) -> None:
        print(f"{failure}\n  again: --seed {given.seed} --only {failure.number}\n", flush=True)
        if given.keep is not None:
            failure.keep(given.keep)

    begin = time.monotonic()
    numbers = chosen(given.seed, given.inputs, kinds)
    if given.only is not None:
        numbers = iter([(given.only, kind_of(given.seed, given.only))])
    with Process(given.seconds, given.megabytes) as process:
        tallies = fuzz(process, given.seed, numbers, tell)
    print(table_of(tallies))
    print(f"seed {given.seed}; {time.monotonic() - begin:.0f} s")
    return 1 if any(tally.failures for tally in tallies.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
