"""Commands on fixed seeds: the bytes that they write, and their exit codes."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from contextlib import chdir
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

from click.testing import CliRunner

from answers.cases import Answer, Case, digest
from batchsolve.cli import app

HERE = Path(__file__).parent / "grids"
DATASETS = Path(__file__).resolve().parents[2] / "datasets"
CROSS = 4 * ("1111.1111\n") + 9 * "." + "\n" + 4 * ("1111.1111\n")
PATTERN = 3 * ("1.1.1.1.1\n.1.1.1.1.\n1.1.1.1.1\n")
CAGES = "AAB...CC.\nD.B...C..\nD.EE.....\n" + 6 * ".........\n"
REGIONS = "AAABBB\nAAABBB\nCCDDEE\nCCDDEE\nCCDDEE\nFFFFFF\n"

GENERATE = {
    "": ("-n 12", "-n 12 -j 2 --chunk 5", "-n 4 --minimal", "-n 4 --minimal --weights"),
    "clues": ("-n 4 --clues 24..27", "-n 3 --clues 40..50", "-n 2 --clues 30 --alphabet A-I"),
    "symmetry": tuple(
        f"-n 3 --symmetry {name} --clues 26..40"
        for name in ("rotation", "quarter-turn", "mirror", "diagonal")
    ),
    "box": (
        *("-n 4 --box 2x2", "-n 4 --box 2x3", "-n 3 --box 3x2 --minimal", "-n 2 --box 2x4"),
        *("-n 2 --box 3x4 --clues 70..90", "-n 1 --box 4x4 --clues 130..150", "-n 2 --box 1x5"),
        *("-n 2 --box 2x2 --blank 0", "-n 1 --box 5x5 --clues 420..450"),
    ),
    "rules": (
        *("-n 2 --rules x", "-n 1 --rules antiknight", "-n 2 --rules windoku --clues 24..40"),
        *(
            "-n 2 --rules antiking",
            "-n 2 --box 2x4 --rules nonconsecutive",
            "-n 1 --rules centerdot",
        ),
        *("-n 3 --box 2x3 --rules x --minimal", "-n 1 --rules samurai --clues 120..160"),
        *("-n 2 --regions regions.txt --box 2x3", "-n 2 --rules disjoint --symmetry rotation"),
    ),
    "drawn rules": (
        *("-n 2 --jigsaw", "-n 3 --box 2x3 --jigsaw --minimal", "-n 2 --cages 1..4 --clues 5..15"),
        *("-n 2 --box 2x2 --cages 1..3 --clues 0..3", "-n 2 --cage-layout cages.txt"),
        *("-n 2 --box 2x3 --marks consecutive", "-n 1 --marks dots", "-n 1 --marks xv+parity"),
        *("-n 2 --box 2x3 --marks greater --minimal", "-n 1 --lines thermo", "-n 1 --lines renban"),
        *("-n 1 --lines whisper+palindrome --line-cells 3..4", "-n 2 --jigsaw --cages 2..3"),
    ),
    "wanted": (
        *("-n 3 --rating 1.2..2", "-n 2 --rating 2.6..5", "-n 2 --rating 3..7 --symmetry rotation"),
        *("-n 3 --pattern cross.txt --clues 26..45", "-n 2 --pattern pattern.txt"),
        *("-n 4 --box 2x2 --unlike small.csv", "-n 3 --unlike train.csv"),
    ),
}
"""Options of `generate`, with a seed each."""

AUGMENT = (
    *("train.csv -n 3", "train.csv -n 3 -j 2 --chunk 4", "train.csv -n 2 --original"),
    *("small.csv -n 50", "six.csv -n 4", "sixteen.csv -n 2", "rules.jsonl -n 2", "hard.csv -n 5"),
)
RATE = (
    *("train.csv", "train.csv --steps", "train.csv --backdoor", "train.csv --uniqueness --steps"),
    *("hard.csv", "hard.csv --steps --uniqueness", "hard.csv --backdoor", "broken.csv"),
    *("train.csv -j 2 --chunk 7 --steps", "several.csv"),
)
SOLVE = (
    *("train.csv", "train.csv -j 2 --chunk 7", "train.csv --canonical", "hard.csv --limit 1"),
    *("several.csv --limit 9", "several.csv --limit 9 -j 2 --chunk 9", "several.csv --limit 600"),
    *("broken.csv", "small.csv --canonical", "six.csv --canonical", "sixteen.csv", "many.csv"),
    *("rules.jsonl", "rules.jsonl -j 2 --chunk 11", "rules.jsonl --limit 1 --chunk 3"),
    *("samurai.jsonl", "butterfly.jsonl", "windmill.jsonl", "sumo.jsonl", "clueless.jsonl"),
    *("several.csv --node-limit 5", "hard.csv --node-limit 40", "hard.csv --split-depth 2"),
    *("hard.csv --budget 100 -j 2", "several.csv --budget 30 --limit 50"),
    *(f"hard.csv --engine {name}" for name in ("dlx", "bits", "cells", "sat", "lanes")),
    *(f"rules.jsonl --engine {name}" for name in ("dlx", "bits", "cells")),
    *("train.csv --rules x", "small.csv --rules antiknight", "six.csv --regions regions.txt"),
    *("empty.csv --limit 5", "queens:6 langford:7 dominoes:4x4 queens:3", "small.tsv --filename"),
)
COUNT = (
    *("queens:4 queens:5 queens:6 queens:7 langford:7 langford:6", "queens:8 --engine dlx"),
    *("dominoes:6x6 matchings:5 partitions:6 latin:4", "several.csv#60", "queens:8 --engine memo"),
    *("rules.jsonl#30", "queens:7 -j 2", "edgecovers:4 edgecovers:5 steiner:7 sudoku:2x2"),
    "queens:8 --engine bits --limit 10",
)
PRINTED = {
    "sample": (
        *("queens:8 -n 6 --seed 3", "dominoes:6x6 -n 5 --seed 1", "langford:7 -n 20 --distinct"),
        *("latin:5 -n 4 --weighted --seed 2", "sudoku:2x2 -n 8 --seed 5", "many.csv#1 -n 3"),
        *("edgecovers:4 -n 3 --weighted", "queens:9 -n 5 --weighted --seed 4"),
    ),
    "enumerate": (
        *(
            "queens:6 -o - -j 1",
            "langford:7 -o - -j 2",
            "queens:8 -o - -j 1 --limit 20",
            "latin:3 -o - -j 1",
        ),
        *(
            "queens:6 -o - -j 1 --up-to-symmetry",
            "several.csv#60 -o - -j 1",
            "latin:4 -o - -j 1 --branch first",
        ),
        *(
            "langford:7 -o - -j 1 --symmetries structure",
            "edgecovers:4 -o - -j 1",
            "priced.dlx -o - -j 1 --best 3",
        ),
        *("rules.jsonl#30 -o - -j 1", "dominoes:4x4 -o - --budget 10 -j 2"),
    ),
    "convert": ("queens:5 -o dlx:-", "rules.jsonl#25 -o dlx:-", "edgecovers:4 -o opb:-"),
    "draw": ("queens:6 -o - -n 2", "rules.jsonl#17 -o -"),
    "estimate": (
        *("queens:12 --probes 60 --seed 2 --json", "langford:12 --probes 60 --seed 1 --json"),
        *(
            "queens:10 --probes 40 --engine bits --json",
            "queens:11 --branch first --probes 40 --json",
        ),
        "langford:8 --probes 5 --engine cells --json",
    ),
}
DEDUPE = (
    *("images.csv", "images.csv --up-to-symmetry", "images.csv --up-to-symmetry --mark"),
    *("images.csv --up-to-symmetry -j 2 --chunk 9", "train.csv --against images.csv"),
    *("train.csv --against images.csv --up-to-symmetry --mark", "broken.csv --up-to-symmetry"),
    *("images4.csv --up-to-symmetry", "images6.csv --up-to-symmetry --mark", "rules.jsonl"),
)
PRICED = """a b c | d e
a b d |$3
a c |$1
b d e |$2
b d |$5
c e |$2
a d e |$4
b c e |$1
b
c |$7
a |$3
"""


def cases() -> Iterator[Case]:
    """Return the cases of all commands."""
    seeds = enumerate(words for some in GENERATE.values() for words in some)
    yield from (_case("generate", f"{words} --seed {seed}", ".csv") for seed, words in seeds)
    yield from (_case("augment", f"{words} --seed {k}", ".csv") for k, words in enumerate(AUGMENT))
    for words in RATE:
        yield _case("rate", words, ".jsonl" if "--steps" in words else ".csv")
    for k, words in enumerate(SOLVE):
        yield _case("solve", words, (".csv", ".jsonl", ".tsv")[k % 3])
    yield from (_case("count", words, ".csv") for words in COUNT)
    yield from (_case("dedupe", words, ".csv") for words in DEDUPE)
    for command, some in PRINTED.items():
        yield from (_case(command, words, "") for words in some)


def _case(command: str, words: str, suffix: str) -> Case:
    return Case(command, words, partial(_run, command, words, suffix))


def _run(command: str, words: str, suffix: str) -> Answer:
    """Run a command in a folder with its inputs; return its exit code and its output."""
    arguments = [command, *words.split()]
    if suffix:
        arguments += ["-o", f"out{suffix}"]
    if command not in ("convert", "estimate"):
        arguments.append("-q")
    with TemporaryDirectory() as folder, chdir(folder):
        for name in INPUTS:
            if any(word.partition("#")[0] == name for word in arguments):
                Path(name).write_bytes(_input(name))
        done = CliRunner().invoke(app, arguments)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        if done.exit_code == 2:
            raise AssertionError(done.stderr)
        written = Path(f"out{suffix}").read_bytes() if suffix else done.stdout_bytes
    if command == "enumerate" and "-j" in arguments:  # several workers print in no order
        written = b"".join(sorted(written.splitlines(keepends=True)))
    return {"exit": str(done.exit_code), "bytes": f"{len(written)}~{digest(written)}"}


# ---- inputs ---------------------------------------------------------------------------------


def _some_rows(name: str, n: int, delimiter: str = ",") -> bytes:
    """Return n rows of a shipped table, equally far apart."""
    with (DATASETS / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows[k * len(rows) // n] for k in range(n))
    return text.getvalue().encode()


def _images(name: str, n: int) -> bytes:
    """Return rows of a table, and images of them."""
    with TemporaryDirectory() as folder, chdir(folder):
        Path("in.csv").write_bytes(_some_rows(name, n))
        words = ["augment", "in.csv", "-n", "2", "--seed", "5", "--original", "-o", "out.csv", "-q"]
        CliRunner().invoke(app, words, catch_exceptions=False)
        return Path("out.csv").read_bytes()


INPUTS: dict[str, Callable[[], bytes]] = {
    "train.csv": partial(_some_rows, "sudoku9", 40),
    "hard.csv": partial(_some_rows, "hard9", 10),
    "several.csv": partial(_some_rows, "several", 75),
    "small.csv": partial(_some_rows, "sudoku4", 50),
    "small.tsv": partial(_some_rows, "sudoku4", 20, "\t"),
    "six.csv": partial(_some_rows, "sudoku6", 40),
    "sixteen.csv": partial(_some_rows, "sudoku16", 6),
    "many.csv": partial(_some_rows, "many16", 1),
    "broken.csv": (DATASETS / "broken.csv").read_bytes,
    "images.csv": partial(_images, "sudoku9", 15),
    "images4.csv": partial(_images, "sudoku4", 20),
    "images6.csv": partial(_images, "sudoku6", 10),
    "empty.csv": lambda: f"puzzle\n{81 * '.'}\n".encode(),
    "priced.dlx": PRICED.encode,
    "cross.txt": CROSS.encode,
    "pattern.txt": PATTERN.encode,
    "cages.txt": CAGES.encode,
    "regions.txt": REGIONS.encode,
    **{path.name: path.read_bytes for path in sorted(HERE.glob("*.jsonl"))},
}
"""The files that words may name."""


@cache
def _input(name: str) -> bytes:
    return INPUTS[name]()
