"""Every keyword of a public function and every option changes something, or is refused by name.

Each call is written down: its result, what it logs and writes, how often it calls back, the
workers that it asks for, and the number of tasks that it hands out.
"""

import inspect
import logging
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from operator import attrgetter
from shutil import rmtree
from typing import get_args, get_type_hints
from unittest.mock import Mock

import click
import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest
from conftest import EASY, PUZZLE, SOLUTION, changed
from invoking import invoke

import batchsolve as bs
from batchsolve import workers as pools
from batchsolve.cli import all_commands
from batchsolve.cli.options import Session
from batchsolve.problems.notation import Notation
from batchsolve.runs.run import describe_run
from batchsolve.scaling import report

FOUR = [PUZZLE, "1...............", "1....1..........", "1" * 16]
OTHER = [text[::-1] for text in FOUR]
SOLVED = [SOLUTION] * 4
REGIONS = "AAAABBBBCCCCDDDD"
UNIQUE = "...7.....1.......4364.........62........15.2..2..345.6..72.9..3.3....6....2....87"
NINE_SOLVED = "534678912672195348198342567859761423426853791713924856961537284287419635345286179"
QUEENS = bs.family("queens:6")
COSTLY = changed(QUEENS, costs=range(QUEENS.n_options))
TABLE = pa.table(
    {
        "puzzle": FOUR,
        "other": OTHER,
        "solution": SOLVED,
        "third": ["3421123421344312", *SOLVED[1:]],
        "cages": ["..A...A........."] * 4,
        "sums": ["A=6"] * 4,
    }
)
REPEATED = pa.table(
    {
        "puzzle": [*FOUR, FOUR[0], FOUR[0], "1..............1"],
        "other": [*FOUR[:3], *OTHER],
        "rules": ["", "", "", "", "x", "", ""],
    }
)
NINES = [EASY, UNIQUE, "." * 81, "1" * 81]
RATED = pa.table({"puzzle": NINES, "other": [NINE_SOLVED, EASY, EASY, EASY]})
PREDICTED = [SOLUTION, "1234341221434321", "1243", None]
PREDICTED = pa.table({**TABLE.to_pydict(), "prediction": PREDICTED, "guess": SOLVED})
UNTIMED = {"seconds", "rows_per_second"}

told: list[object] = []  # what callbacks, workers and tasks have told in a call


def tell(*_):
    told.append("called")


FLAGS = """
    backdoor canonical collect distinct filename jigsaw mark minimal original resume rows stats
    steps stop_on_invalid uniqueness up_to_symmetry weighted weights
"""
VALUES = {
    **dict.fromkeys(FLAGS.split(), True),
    **dict.fromkeys(["check", "on_progress"], tell),
    "address": "tcp://127.0.0.1:1",
    "against": ["in.csv"],
    "alphabet": "ABCD",
    "backend": "loky",
    "bins": [1, 2],
    "blank": "x",
    "box": (1, 4),
    "branch": "first",
    "budget": 2,
    "by": "other",
    "cheapest": 2,
    "chunk": 1,
    "column": "other",
    "columns": ("quizzes", "answers"),
    "cover": [1],
    "engine": "dlx",
    "jobs": 2,
    "limit": 1,
    "memory": 1,
    "n": 2,
    "name": "mine",
    "node_limit": 3,
    "notation": Notation.from_name("A-D", 4),
    "ordered": False,
    "output": None,
    "parts": "a=0.5,b=0.5",
    "prediction": "guess",
    "probes": 50,
    "problem": bs.Sudoku(1, 4),
    "regions": REGIONS,
    "rule_columns": "none",
    "rules": "x",
    "seed": 3,
    "solution_column": "third",
    "split_depth": 3,
    "stack": [1],
    "time_limit": 1e-9,
    "title": "a board",
    "truth": "third",
    "wanted": 2,
}
"""Other values than the defaults, which suit most functions."""


@dataclass
class Case:
    """A call of a function with some settings, and values of its keywords beside `VALUES`."""

    call: Callable
    values: dict = field(default_factory=dict)
    base: dict = field(default_factory=dict)
    beside: dict = field(default_factory=dict)  # what a keyword needs to have a meaning


def of_table(function, table=TABLE):
    return lambda folder, **how: function(table, **how)


def of_file(function, table=TABLE, output="out.csv"):
    def call(folder, output=output, **how):
        if not (folder / "in.csv").exists():
            pacsv.write_csv(table, folder / "in.csv")
        return function("in.csv", output, **how), files_in(folder)

    return call


def files_in(folder):
    """Return what can be seen of the files of a folder."""
    return {str(path): contents(path) for path in folder.rglob("*") if path.is_file()}


def of_problem(function, *arguments, problem="queens:6"):
    return lambda folder, problem=problem, **how: function(problem, *arguments, **how)


def to_file(folder, **how):
    return bs.generate_file("out.csv", 3, **how), files_in(folder)


def of_run(folder, on_progress=None, problem=COSTLY, **how):
    with bs.Run(folder / "run", problem, **how) as run:
        count = run.search(on_progress=on_progress, budget=2)
    kept = sorted(path.read_bytes() for path in folder.glob("run/solutions/*"))
    return count, run.cheapest_covers, without_times(describe_run(folder / "run")), kept


def of_search(folder, **how):
    with bs.Run(folder / "run", QUEENS) as run:
        return run.search(**how)


def of_a_row(folder, **how):
    pacsv.write_csv(TABLE, folder / "in.csv")
    return bs.read_problem(f"{folder}/in.csv#1", **how)


NAMES = ["queens:9", "queens:x", "langford:3"]
COUNTED = pa.table({"problem": NAMES, "again": ["queens:4", "langford:3", ""]})
MADE = {
    "box": (2, 3),
    "clues": (6, 6),
    "rating": (1.0, 2.0),
    "cages": (2, 3),
    "cage_layout": "AABB" * 4,
    "marks": "xv",
    "lines": "thermo",
    "line_cells": (2, 2),
    "constraints": ".Shape~4x4.Cage~5~R1C1~R1C2",
    "pattern": "xxxxxxxxxxxx....",
    "symmetry": "rotation",
    "unlike": ("nothing.csv",),
    "alphabet": "1234",
}
BESIDE = {"weights": {"minimal": True}}
BESIDE["minimal"] = {"clues": (6, 8)}
BESIDE["node_limit"] = {"rules": "x"}
BESIDE["alphabet"] = {"alphabet": "ABCD"}
MAKING = MADE, {"box": (2, 2), "seed": 7}, BESIDE
MANY_NODES = {"memory": {"problem": "matchings:10"}}  # of a graph, which 1 MB does not hold
IMAGES = (
    {"rule_columns": "cages,sums"},
    {"rule_columns": "none", "seed": 1},
    {"stop_on_invalid": {"blank": "x"}},
)
RATING = {"box": (1, 9), "rule_columns": "cages"}
WITH_STATS = {"stats": False}, {"stats": True}

CASES = {
    "audit": Case(lambda folder, **how: bs.audit(TABLE, TABLE.slice(0, 3), **how)),
    "augment": Case(of_table(bs.augment), *IMAGES),
    "augment_file": Case(of_file(bs.augment_file), *IMAGES),
    "canonical": Case(lambda folder, **how: bs.canonical(PUZZLE, **how)),
    "canonical_forms": Case(lambda folder, **how: bs.canonical_forms(FOUR[:1], **how)),
    "cheapest": Case(of_problem(bs.cheapest, problem=COSTLY), {"engine": "bits"}),
    "count": Case(of_problem(bs.count)),
    "count_file": Case(
        of_file(bs.count_file, COUNTED), {"column": "again"}, {}, {"time_limit": {"budget": 50}}
    ),
    "count_projections": Case(of_problem(bs.count_projections, ["r1*"]), {"engine": "bits"}),
    "dedupe": Case(of_file(bs.dedupe, REPEATED)),
    "distribution": Case(of_problem(bs.distribution), {"by": "cost"}, {}, MANY_NODES),
    "draw": Case(lambda folder, **how: bs.draw("queens:6", **how).svg),
    "estimate": Case(of_problem(bs.estimate, problem="queens:12"), {"engine": "dlx:first"}),
    "evaluate": Case(of_table(bs.evaluate, PREDICTED), beside={"bins": {"by": "other"}}),
    "family": Case(lambda folder: bs.family("queens:4")),
    "generate": Case(lambda folder, n=3, **how: bs.generate(n, **how), *MAKING),
    "generate_file": Case(to_file, *MAKING),
    "generate_table": Case(lambda folder, **how: bs.generate_table(3, **how), *MAKING),
    "grid_problem": Case(lambda folder, **how: bs.grid_problem(4, **how), {"drawing": "x"}),
    "partition": Case(
        of_file(bs.partition, REPEATED, "parts"),
        {"bins": [5]},
        {"parts": "a=0.4,b=0.6"},
        {"bins": {"by": "rules"}},
    ),
    "rate": Case(of_table(bs.rate, RATED), RATING),
    "rate_file": Case(of_file(bs.rate_file, RATED), RATING),
    "read_problem": Case(of_a_row),
    "Run": Case(of_run, beside={"notation": {"collect": True, "problem": bs.Sudoku(2, 2)}}),
    "Run.search": Case(of_search),
    "SolutionGraph.distribution": Case(
        of_problem(lambda problem, **how: bs.solution_graph(problem).distribution(**how)),
        {"weights": range(QUEENS.n_options)},
        {},
        {"memory": {"problem": "latin:5"}},
    ),
    "SolutionGraph.sample": Case(
        lambda folder, n=4, **how: bs.solution_graph(QUEENS).sample(n, **how)
    ),
    "sample": Case(of_problem(bs.sample, 20), beside=MANY_NODES),
    "solution_graph": Case(of_problem(bs.solution_graph, problem="queens:10"), beside=MANY_NODES),
    "solutions": Case(
        of_problem(bs.solutions, problem="queens:8"), {"engine": "dlx:first", "budget": 50}
    ),
    "solve": Case(lambda folder, **how: bs.solve(FOUR[1], **how)),
    "solve_batch": Case(of_table(bs.solve_batch, FOUR)),
    "solve_file": Case(of_file(bs.solve_file)),
    "solve_stream": Case(of_table(bs.solve_stream, [TABLE, TABLE]), *WITH_STATS),
    "solve_table": Case(of_table(bs.solve_table), *WITH_STATS),
    "split": Case(of_problem(bs.split), {"depth": 2, "engine": "lanes"}),
    "structure_symmetries": Case(of_problem(bs.structure_symmetries, problem=QUEENS)),
    "symmetries": Case(of_problem(bs.symmetries, problem=QUEENS)),
    "tiling": Case(
        of_problem(bs.tiling, {"L": "XX/X."}, problem="2x3"),
        {"kind": "fixed", "use": "any number", "fill": False},
        {"use": "2"},
        beside={"fill": {"use": "any number"}},  # otherwise no cell stays empty
    ),
}


def functions():
    """Yield the names of public functions, and of public classes and methods with keywords."""
    for name in bs.__all__:
        one = getattr(bs, name)
        if inspect.isfunction(one):
            yield name
        elif inspect.isclass(one) and not issubclass(one, Exception):
            methods = {f"{name}.{each}": method for each, method in vars(one).items()}
            for each, method in {name: one, **methods}.items():
                if not each.rpartition(".")[2].startswith("_") and has_keywords(method):
                    yield each


def has_keywords(function):
    kinds = inspect.Parameter.VAR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # of properties, and of classes of Python
        return False
    return any(each.kind in kinds for each in parameters)


FUNCTIONS = [name for name in functions() if name != "Stacks.to_jsonl"]  # it writes any keyword
SETTINGS = {"files": bs.FileSettings, "search": bs.SearchSettings, "wanted": bs.PuzzleSettings}


def declared_by(function):
    """Return the keywords of a function, and the classes of settings that it takes whole."""
    names, kinds = [], {}
    for name, declared in inspect.signature(function).parameters.items():
        if declared.kind is declared.VAR_KEYWORD:
            [taken] = get_args(get_type_hints(function)[name])
            kinds = {each: SETTINGS[each] for each in taken.__annotations__ if each in SETTINGS}
            names += [each for each in taken.__annotations__ if each not in SETTINGS]
        elif declared.default is not declared.empty:
            names.append(name)
    return names, kinds


def keywords(function):
    """Yield keywords to be given, also those that only others take, which may be given whole."""
    names, kinds = declared_by(function)
    of_kinds = [each.name for kind in kinds.values() for each in fields(kind)]
    yield from ((name, None) for name in dict.fromkeys([*names, *of_kinds]))
    for whole, kind in kinds.items():
        yield from ((each.name, whole) for each in fields(kind) if each.name not in names)


def given(settings, whole):
    """Return settings as keywords, those of one kind given whole."""
    if whole is None:
        return settings
    kind = SETTINGS[whole]
    own = {each.name: settings[each.name] for each in fields(kind) if each.name in settings}
    others = {name: value for name, value in settings.items() if name not in own}
    return {**others, whole: kind(**own)}


def seen(value):
    """Return all that can be seen of a result, in plain types."""
    if isinstance(value, pa.Table):
        return str(value.schema), [without_times(row) for row in value.to_pylist()]
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, bs.SolutionGraph):
        return value.count, value.n_nodes, value.is_ordered
    if isinstance(value, bs.ExactCover):
        return value.fingerprint, repr(value)
    if is_dataclass(value):
        return without_times({each.name: seen(getattr(value, each.name)) for each in fields(value)})
    if isinstance(value, bs.Stacks | list | tuple | Iterator):
        return list(map(seen, value))
    return untimed(value) if isinstance(value, str) else repr(value)


def untimed(text):
    """Return a text without rows a second, and without numbers with a point, which may be times."""
    return re.sub(r"[\d,]+ rows/s|(?<![\d.])\d+\.\d+(e[-+]?\d+)?(?![\d.])", "?", text)


def make_empty(folder):
    for old in folder.iterdir():
        rmtree(old) if old.is_dir() else old.unlink()


def without_times(facts):
    return {name: value for name, value in facts.items() if name not in UNTIMED}


interrupt = Mock(side_effect=KeyboardInterrupt)  # the end of a run before it is resumed


@pytest.fixture(autouse=True)
def _workers_tell(monkeypatch):
    """Note which workers a call asks for, and each task that it hands out."""
    get_workers, ticketed = pools.get_workers, pools.Pool._ticketed

    def asked(backend, jobs, address):
        told.append((backend, jobs, address))  # processes would take seconds to start
        return get_workers("threading" if backend == "loky" else backend, jobs, address)

    def handed_out(pool, tasks, out):
        for each in ticketed(pool, tasks, out):
            told.append("task")
            yield each

    monkeypatch.setattr(pools, "get_workers", asked)
    monkeypatch.setattr(pools.Pool, "_ticketed", handed_out)


@pytest.fixture
def outcome(caplog, here):
    """Return a function that calls another, and returns all that it did, or its error."""

    def do(call, after_interrupt, **how):
        make_empty(here)
        if after_interrupt:
            with suppress(KeyboardInterrupt, TypeError):
                call(here, on_progress=interrupt)
        told.clear()
        caplog.clear()
        try:
            with caplog.at_level(logging.WARNING):
                value = seen(call(here, **how))
        except bs.BatchsolveError as error:
            return str(error)
        return value, Counter(map(repr, told)), caplog.messages

    return do


@pytest.mark.parametrize("function", FUNCTIONS)
def test_each_keyword_changes_something_or_is_refused_by_name(function, outcome):
    case, ignored = CASES[function], []
    declared = attrgetter(function)(bs)
    names, _ = declared_by(declared)
    usual = outcome(case.call, False, **case.base)
    for name, whole in keywords(declared):
        value = (VALUES | case.values)[name] if name in names else VALUES.get(name, 10)
        base = case.base | case.beside.get(name, {})
        before = usual
        if name in case.beside or name == "resume":
            before = outcome(case.call, name == "resume", **base)
        after = outcome(case.call, name == "resume", **given(base | {name: value}, whole))
        if name not in names:
            is_heeded = isinstance(after, str) and f"{function}() takes no `{name}`" in after
        else:
            is_heeded = before != after
        if not is_heeded:
            ignored.append((whole or "", name, after))
    assert not ignored


# ---- commands -------------------------------------------------------------------------------

COMMANDS = all_commands()
OF_GRIDS = ("alphabet", "blank", "box", "column", "regions", "rule_columns", "rules")


def words_of(line):
    """Return the options of a command line, each with the word behind it."""
    words = line.split()
    return dict(zip(words[::2], words[1::2], strict=True))


WORDS = {f"--{name.replace('_', '-')}": str(value) for name, value in VALUES.items()} | words_of(
    "--box 1x4 --column third --latency 1 --number 2 --output other.csv "
    "--regions {home}/regions.txt --symmetries structure --scheduler tcp://127.0.0.1:1"
)
"""Words behind options, which suit most commands."""

MADE_WORDS = (
    "--alphabet 1234 --box 2x3 --cage-layout {home}/regions.txt --cages 2..3 --clues 6 --lines "
    "thermo --columns quizzes,solutions --constraints {home}/constraints.txt --line-cells 2 "
    "--marks xv --pattern {home}/pattern.txt --rating 1..2 --symmetry rotation "
    "--unlike {home}/in.csv"
)


class Line:
    """A command line, words of options beside `WORDS`, and what these need to have a meaning."""

    def __init__(self, line, words="", **beside):
        self.line, self.words, self.beside = line, WORDS | words_of(words), beside


ONE = "{home}/in.csv#2"
LINES = {
    "solve": Line("{home}/in.csv -o out.csv", "--node-limit 1", engine="--json", branch="--json"),
    "audit": Line("{home}/in.csv {home}/in.csv"),
    "partition": Line(
        "{home}/repeated.csv -o parts --seed 1",
        "--bins 5 --output others --seed 2",
        bins="--by rules --json",
    ),
    "dedupe": Line("{home}/repeated.csv -o out.csv", "--against {home}/in.csv"),
    "generate": Line(
        "-n 3 --seed 7 --box 2x2 -o out.csv",
        MADE_WORDS,
        alphabet="--alphabet ABCD",
        minimal="--clues 6..8",
        node_limit="--rules x",
        weights="--minimal",
    ),
    "rate": Line("{home}/rated.csv -o out.csv", "--rule-columns cages"),
    "augment": Line(
        "{home}/in.csv --rule-columns none -o out.csv",
        "--rule-columns cages,sums",
        stop_on_invalid="--blank x",
    ),
    "evaluate": Line(
        "{home}/predicted.csv",
        "--bins 1,2 --html out.html --plot out.svg --rows rows.csv",
        bins="--by other",
        **dict.fromkeys(OF_GRIDS, "--json --truth none"),
    ),
    "count": Line(
        ONE,
        "--by options --graph graph.zdd --memo-size 1 --project r1c1* --run run "
        "--stacks {home}/parts/0000.jsonl",
        memo_size="--memo",
        graph="--memo",
        resume="--run run",
    ),
    "enumerate": Line(f"{ONE} -o run", "--best 1 --stacks {home}/parts/0000.jsonl"),
    "export": Line("{home}/run -o out.csv", "--output out.jsonl"),
    "runs": Line("{home}/run"),
    "graph": Line(
        ONE + " {home}/graph.zdd",
        "--with 63 --without 63 --sample 2 --output out.zdd",
        **dict.fromkeys(["seed", "distinct"], "--sample 24"),
    ),
    "sample": Line(f"{ONE} -n 24", "--memory 0"),
    "show": Line(ONE),
    "draw": Line(
        f"{ONE} -o out.svg", "--found {home}/run --format html --node-limit 1 --output x.html"
    ),
    "convert": Line(f"{ONE} -o out.dlx", "--output out.json"),
    "estimate": Line("queens:12 --probes 50", "--engine dlx:first --probes 20"),
    "engines": Line(""),
    "split": Line("queens:6 --depth 2 -o parts", "--depth 3 --engine lanes --files 1"),
    "merge": Line("{home}/0000.json"),
    "scale": Line(
        f"{ONE} -o scaling --jobs 1 --repeat 1",
        "--forecast-workers 64 --repeat 2 --weak 2",
        by="--weak 2",
    ),
    "report": Line("{home}/scaling", "--forecast-workers 64"),
}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Return a folder with the files that the commands read."""
    home = tmp_path_factory.mktemp("home")
    tables = {"in": TABLE, "repeated": REPEATED, "rated": RATED, "predicted": PREDICTED}
    for name, table in tables.items():
        pacsv.write_csv(table, home / f"{name}.csv")
    (home / "regions.txt").write_text(REGIONS)
    (home / "pattern.txt").write_text(MADE["pattern"])
    (home / "constraints.txt").write_text(MADE["constraints"])
    one = ONE.format(home=home)
    part = f"{home}/parts/0000.jsonl"
    assert invoke("enumerate", one, "-o", home / "run").exit_code == 0
    assert invoke("split", "queens:6", "--depth", 1, "-o", home / "parts").exit_code == 0
    (home / "0000.json").write_text(invoke("count", "queens:6", "--stacks", part, "--json").stdout)
    assert invoke("count", one, "--memo", "--graph", home / "graph.zdd").exit_code == 0
    scale = ["scale", one, "-o", home / "scaling", "--jobs", 1, "--repeat", 1]
    assert invoke(*scale).exit_code == 0
    return home


@pytest.fixture
def printed(home, here, monkeypatch):
    """Return a function that calls a command, and returns all that it did."""
    monkeypatch.setattr(report, "can_draw", lambda: False)  # pictures take seconds

    def do(*words, after_interrupt=False):
        make_empty(here)
        words = [word.format(home=home) for word in words]
        if after_interrupt:
            with monkeypatch.context() as patched:
                patched.setattr(Session, "on_progress", property(lambda _: interrupt))
                invoke(*(word for word in words if word != "--resume"))
        told.clear()
        done = invoke(*words)
        said = untimed(done.stdout), untimed(done.stderr)
        return done.exit_code, said, Counter(map(repr, told)), files_in(here)

    return do


def contents(path):
    is_text = path.suffix in (".csv", ".jsonl", ".html", ".svg", ".dlx", ".json")
    return untimed(path.read_text()) if is_text else path.suffix


def test_all_functions_have_a_case_and_all_commands_a_line():
    assert sorted(CASES) == sorted(FUNCTIONS)
    assert sorted(LINES) == sorted(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_option_changes_something_or_is_refused_by_name(command, printed):
    case, ignored, done = LINES[command], [], {}  # most options are added to the same line
    for option in COMMANDS[command].params:
        name = max(option.opts, key=len)
        if not isinstance(option, click.Option) or option.name == "help":
            continue
        line = f"{command} {case.line} {case.beside.get(option.name, '')}".split()
        words = [] if option.is_flag else [case.words[name]]
        how = {"after_interrupt": name == "--resume"}
        key = (*line, name == "--resume")
        if key not in done:
            done[key] = printed(*line, **how)
        if done[key] == (after := printed(*without(option, line), name, *words, **how)):
            ignored.append((name, after[1]))
    assert not ignored


def without(option, line):
    """Return the words of a line without those of an option."""
    places = [k for k, word in enumerate(line) if word in option.opts]
    return [word for k, word in enumerate(line) if not {k, k - 1}.intersection(places)]
