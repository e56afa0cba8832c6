"""Settings of functions and commands, declared once: names, defaults, bounds and help.

This module imports nothing heavy, so that ``--help`` answers at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from functools import cache, partial
from itertools import pairwise
from math import inf
from numbers import Real
from typing import Any, Literal, NamedTuple

from batchsolve.errors import InputError, listed, quoted
from batchsolve.settings import arguments

AUTO = "auto"
"""The name of the engine that suits the problem."""

PROVES_UNIQUENESS = 2
"""The limit of solutions that tells unique ones from others."""

GRAPH_MEGABYTES = 1024
"""The default memory of a graph of covers, in megabytes."""

SYMMETRIES = ("none", "rotation", "quarter-turn", "mirror", "diagonal")
"""The symmetries that the places of clues can have."""

MOST_FORECAST_WORKERS = 250_000
"""The upper bound of simulated workers; the simulation then takes two minutes and 2 GB."""

PARTS = "train=0.8,test=0.2"
"""The default shares of the parts of a table."""

MOST_LATENCY = 1_000_000
"""The upper bound of the seconds that a forecast adds to every task."""


class Option(NamedTuple):
    """The form of an option in a help text, and on the command line.

    Attributes
    ----------
    metavar : str or None
        The placeholder of its value; ``A|B`` are the values themselves.
    help : str
        Its meaning.
    heading : str
        The heading that it stands under.
    flags : tuple of str
        By default its name with dashes.
    file : str
        For the name of a file with the text of the value: what the file holds.
    """

    metavar: str | None = None
    help: str = ""
    heading: str = ""
    flags: tuple[str, ...] = ()
    file: str = ""


def setting(
    default: Any = None,
    *,
    check: Callable[[str, Any], Any] | None = None,
    metavar: str = "N",
    heading: str = "",
    flags: tuple[str, ...] = (),
    file: str = "",
    of_grids: bool = False,
    adds: bool = False,
    same: bool = True,
) -> Any:
    """Declare a field of a class of settings; the docstring of the class says what it means.

    Parameters
    ----------
    default : object
    check : callable, optional
        Returns a value as it is kept, given the name and the value, or raises `InputError`. Where
        None is the default, it is not called with None. By default texts and flags are checked.
    metavar, heading, flags, file : str or tuple of str
        Those of its `Option`; by default the heading is the one of its class.
    of_grids : bool
        Tables of exact cover problems have no use for it.
    adds : bool
        It adds columns to an output.
    same : bool
        A run can only be resumed with the same value.
    """
    uses = {"of_grids": of_grids, "adds": adds, "same": same}
    option = Option("FILE" if file else metavar, "", heading, flags, file)
    return field(default=default, metadata={"check": check, "option": option, "uses": uses})


def one_or_more(name: str, value: Any) -> int:
    """Return a whole number that is 1 or more."""
    return arguments.whole_number(name, value, 1)


def ranging(rule: str, *of_bounds: Any) -> Any:
    """Declare a setting that is a `Range`, given the other arguments of `bounds_of`."""
    check = lambda name, value: arguments.bounds_of(rule, value, *of_bounds)  # noqa: E731
    return setting(check=check, metavar="A..B")


def settings_that(use: str) -> list[str]:
    """Return the names of the `FileSettings` with a use: ``of_grids``, ``adds`` or ``same``.

    Examples
    --------
    >>> settings_that("adds")
    ['filename', 'stats', 'canonical']
    """
    return [declared.name for declared in fields(FileSettings) if declared.metadata["uses"][use]]


class Settings:
    """A class of settings, which are checked one by one and then together.

    Options stand under the heading of their class, unless they have one of their own.

    Examples
    --------
    >>> SearchSettings(limit=0)
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: limit is 1 or more, not 0
    """

    heading = "Output"

    def __post_init__(self) -> None:
        kind: Any = type(self)
        for name, default, check in _checks_of(kind):
            value = getattr(self, name)
            if not (value is None is default):
                object.__setattr__(self, name, check(name, value))
        self.check_all()

    def check_all(self) -> None:
        """Raise `InputError` if settings do not go together."""


@cache
def fields_of(kind: Any) -> dict[str, Field[Any]]:
    """Return the fields of a class of settings by name."""
    return {declared.name: declared for declared in fields(kind)}


@cache
def _checks_of(kind: Any) -> list[tuple[str, Any, Callable[[str, Any], Any]]]:
    """Return the name, the default and the check of each field that has a check."""
    usual = {"str | None": arguments.text_of, "str": arguments.text_of, "bool": arguments.flag_of}
    return [
        (declared.name, declared.default, check)
        for declared in fields_of(kind).values()
        if (check := declared.metadata["check"] or usual.get(str(declared.type)))
    ]


def _box(name: str, value: Any) -> tuple[int, int] | None:
    return arguments.checked_box(value)


def _seconds(name: str, value: Any) -> Any:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if is_number and value > 0:  # float() may not hold it
        return value
    raise InputError(f"{name} is more than 0 seconds, not {quoted(value)}")


def _depth(name: str, value: Any) -> int | None:
    if isinstance(value, str):
        if value == AUTO:
            return None
        with arguments.argument_errors(f"{name} is a whole number, or 'auto'", value):
            value = arguments.integer(value)
    return arguments.whole_number(name, value)


@dataclass(frozen=True)
class SearchSettings(Settings):
    """The goal and method of a search; the first three, the engine and its rule affect answers.

    Attributes
    ----------
    limit : int, optional
        The upper bound of solutions of a row, or of the problem; 2 for rows to solve, which proves
        uniqueness.
    node_limit : int, optional
        Nodes after which the search of a row, or of the problem, stops.
    time_limit : float, optional
        Seconds after which the search of a problem stops.
    split_depth : int or "auto", optional
        Expand the tree to this depth first; by default, or with auto, deep enough for all workers,
        and 0 for rows.
    budget : int, optional
        Nodes a task may visit before it hands back its frontier, and Ctrl-C and time limits are
        noticed; by default set from the time that tasks take.
    engine : str
        The search engine; batchsolve engines lists them.
    branch : str
        The item to branch on: the one with the fewest options (mrv), the first, or preferably one
        whose name begins with # (sharp) or matches ITEMS, such as r1c*.

    Examples
    --------
    >>> SearchSettings(limit=2).limit
    2
    >>> SearchSettings(branch="sharp").engine
    'dlx:sharp'
    >>> SearchSettings(time_limit=0)
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: time_limit is more than 0 seconds, not 0
    """

    heading = "Search"
    limit: int | None = setting(check=one_or_more)
    node_limit: int | None = setting(check=one_or_more)
    time_limit: float | None = setting(check=_seconds, metavar="S")
    split_depth: int | Literal["auto"] | None = setting(check=_depth, metavar="D|auto")
    budget: int | None = setting(check=one_or_more)
    engine: str = setting(AUTO, metavar="NAME")
    branch: str = setting(arguments.MRV, metavar="mrv|first|sharp[:ITEMS]")

    def check_all(self) -> None:
        """See `Settings`; the branching rule of an engine is part of its name."""
        if arguments.checked_branch(self.branch) != arguments.MRV:
            base, colon, _ = str(self.engine).partition(":")
            engine = f"{'dlx' if base == AUTO else base}:{self.branch}"
            if colon and self.engine != engine:
                raise InputError(
                    f"the engine {self.engine!r} and the branching rule {self.branch!r} do not go "
                    f"together; leave out one of them, or name the engine 'dlx' with the rule"
                )
            object.__setattr__(self, "engine", engine)

    def of_rows(self) -> SearchSettings:
        """Return the settings of a search of rows; without a limit, it proves uniqueness."""
        return replace(self, limit=self.limit or PROVES_UNIQUENESS)


@dataclass(frozen=True)
class FileSettings(Settings):
    """The notation of a corpus, and the output of its answers.

    Attributes
    ----------
    column : str, optional
        The puzzle column; by default found by its name or its shape.
    solution_column : str, optional
        The column of given solutions; by default found by its name.
    alphabet : str, optional
        Symbols of the digits: 0-8, 1-9A-G, A-P, 0-15, … or numbers; one more in front is the blank.
        By default the column shows them.
    blank : str, optional
        Characters of blank cells, such as ?x; by default those of .0*_- that are not digits.
    box : (int, int) or str, optional
        Rows and columns of a box, such as 2x3; by default from the size of each grid, or from a
        column box.
    rules : str, optional
        Rules beyond rows, columns and boxes, such as x+antiknight; a column rules gives rows more.
    regions : str, optional
        A letter or number for each cell: its region, in place of boxes; a column regions gives rows
        others.
    rule_columns : str, optional
        Columns of rules to read, such as cages,sums, or none; by default all of rules, regions,
        cages, sums, marks, pairs and constraints that hold text.
    chunk : int, optional
        The upper bound of rows that a task reads; by default up to 1.75 MB of text.
    filename : bool
        Add a column with the file of each row.
    stats : bool
        Add the columns nodes and seconds.
    canonical : bool
        Add the canonical form: the least puzzle that is equal up to symmetry (row-minlex).
    stop_on_invalid : bool
        Stop at the first invalid row, instead of reporting it in its place.
    resume : bool
        Go on from OUT.partial, if there is one.

    Examples
    --------
    >>> FileSettings(box=(2, 3), stats=True).box
    (2, 3)
    """

    heading = "Input"
    column: str | None = setting(metavar="NAME")
    solution_column: str | None = setting(metavar="NAME", of_grids=True)
    alphabet: str | None = setting(metavar="A", of_grids=True)
    blank: str | None = setting(metavar="C", of_grids=True)
    box: tuple[int, int] | None = setting(check=_box, metavar="RxC", of_grids=True)
    rules: str | None = setting(metavar="NAMES", of_grids=True)
    regions: str | None = setting(file="the region of each cell", of_grids=True)
    rule_columns: str | None = setting(metavar="NAMES", of_grids=True)
    chunk: int | None = setting(check=one_or_more, same=False)
    filename: bool = setting(False, heading="Output", adds=True)
    stats: bool = setting(False, heading="Output", adds=True)
    canonical: bool = setting(False, heading="Output", of_grids=True, adds=True)
    stop_on_invalid: bool = setting(False, same=False)
    resume: bool = setting(False, heading="Output", same=False)


@dataclass(frozen=True)
class PuzzleSettings(Settings):
    """The puzzles that `generate` makes.

    Attributes
    ----------
    seed : int
        Seed of the random numbers.
    clues : (int, int), optional
        The bounds of the number of clues; by default, clues are removed as long as one solution is
        left.
    rating : (float, float), optional
        The bounds of the rating, as of rate; it is 8.6 where guesses are needed.
    minimal : bool
        Make puzzles of which no clue can be left out.
    cages : (int, int), optional
        Draw cages for each row, with their sums; the bounds of their number of cells.
    cage_layout : str, optional
        The cage of each cell in all rows, or a dot; the sums are those of each row's solution.
    marks : str, optional
        Give all marks of these kinds: consecutive, dots, xv, greater or parity, joined by +.
    lines : str, optional
        Draw lines of these kinds for each row, as many as fit: thermo, whisper, renban or
        palindrome, joined by +.
    line_cells : (int, int), optional
        The bounds of the number of cells of a line; 3 to 5 by default.
    jigsaw : bool
        Draw connected regions for each row, in place of boxes.
    constraints : str, optional
        Rules of all rows: a string of Interactive Sudoku Solver, the JSON of f-puzzles, or a killer
        of SumoCue.
    pattern : str, optional
        A character for each cell: no clue stands at one of .0_-.
    symmetry : str
        The symmetry of the places of clues.
    weights : bool
        Add the column weight, for means over all minimal puzzles that exist.
    unlike : sequence of str
        Files; no puzzle is equal up to symmetry to one in them.
    columns : (str, str)
        The names of the columns of puzzles and solutions, such as quizzes,solutions.
    node_limit : int
        Nodes after which a row fails, and with it the run.

    Examples
    --------
    >>> PuzzleSettings(clues=(30, 24))
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: clues are a range such as 22..26 or (22, 26), fewest ...
    """

    heading = "Search"
    seed: int = setting(0, check=arguments.seed_of)
    clues: tuple[int, int] | None = ranging(
        "clues are a range such as 22..26 or (22, 26), fewest first"
    )
    rating: tuple[float, float] | None = ranging(
        "a rating is a range such as 2.6..4.4 or (5.0, None)", float, -inf, inf
    )
    minimal: bool = setting(False)
    cages: tuple[int, int] | None = ranging(
        "sizes of cages are a range such as 2..5 or (2, 5), smallest first"
    )
    cage_layout: str | None = setting(file="the cage of each cell")
    marks: str | None = setting(metavar="KIND")
    lines: str | None = setting(metavar="KIND")
    line_cells: tuple[int, int] | None = ranging(
        "sizes of lines are a range such as 3..5, smallest first"
    )
    jigsaw: bool = setting(False)
    constraints: str | None = setting(file="constraints, as of a column of tables")
    pattern: str | None = setting(file="a character for each cell")
    symmetry: str = setting("none", metavar="|".join(SYMMETRIES))
    weights: bool = setting(False)
    unlike: Sequence[Any] = setting((), metavar="FILE")
    columns: tuple[str, str] = setting(("puzzle", "solution"), metavar="NAMES", heading="Output")
    node_limit: int = setting(1_000_000, check=one_or_more)

    def check_all(self) -> None:
        """See `Settings`."""
        arguments.word_of("symmetry", self.symmetry, SYMMETRIES)
        if self.weights and not (self.minimal and self.symmetry == "none"):
            raise InputError("`weights` are those of `minimal` puzzles without a symmetry")
        if self.weights and self.has_drawn_rules:
            raise InputError("`weights` are those of puzzles whose rules are not drawn")
        if self.cages is not None and self.cage_layout is not None:
            raise InputError("`cages` are drawn, and `cage_layout` gives them; leave out one")
        if self.line_cells is not None and self.lines is None:
            raise InputError("`line_cells` are of `lines`; name their kinds, such as thermo")
        if self.lines is not None and self.constraints is not None:
            raise InputError("`lines` are drawn, and `constraints` gives them; leave out one")
        columns: Any = self.columns
        rule = "columns are two names, such as quizzes,solutions"
        with arguments.argument_errors(rule, columns):
            names = tuple(columns.split(",") if isinstance(columns, str) else columns)
        if not all(isinstance(name, str) and name for name in names) or len(set(names)) != 2:
            raise InputError(f"{rule}, not {quoted(columns)}")
        object.__setattr__(self, "columns", names)
        files = arguments.each_of(self.unlike)
        path_of = partial(arguments.path_of, "a file to compare with")
        known = (file if arguments.is_tabular(file) else path_of(file) for file in files)
        object.__setattr__(self, "unlike", tuple(known))

    @property
    def has_values(self) -> bool:
        """True if rules speak of the values of digits, as sums do."""
        rules = (self.cages, self.cage_layout, self.marks, self.lines, self.constraints)
        return any(rule is not None for rule in rules)

    @property
    def has_drawn_rules(self) -> bool:
        """True if the rules of each row are drawn."""
        rules = (self.cages, self.cage_layout, self.marks, self.lines)
        return self.jigsaw or any(rule is not None for rule in rules)


@dataclass(frozen=True)
class ImageSettings(Settings):
    """The images that `augment` draws.

    Attributes
    ----------
    seed : int
        Seed of the random numbers.
    original : bool
        Write each row before its images.
    """

    seed: int = setting(0, check=arguments.seed_of, heading="Solutions")
    original: bool = setting(False, heading="Solutions")


@dataclass(frozen=True)
class RateSettings(Settings):
    """The columns that `rate` adds beside ratings, and its techniques.

    Attributes
    ----------
    backdoor : bool
        Add the least number of cells to fill so that singles solve the rest, up to 3.
    steps : bool
        Add the steps that solve the puzzle, as JSON.
    uniqueness : bool
        Use patterns that assume a unique solution, too: unique rectangles, loops and BUG.
    """

    backdoor: bool = setting(False)
    steps: bool = setting(False)
    uniqueness: bool = setting(False)


@dataclass(frozen=True)
class DedupeSettings(Settings):
    """The puzzles that `dedupe` takes as equal, and what becomes of them.

    Attributes
    ----------
    up_to_symmetry : bool
        Compare puzzles up to relabelling, permuting rows, columns, bands and stacks, and
        transposing.
    against : sequence of str, path or table
        Leave out the puzzles of FILE, too; can be given several times.
    mark : bool
        Keep all rows, and add a column called first: the place of the first equal puzzle, such
        as test.csv#17.
    """

    up_to_symmetry: bool = setting(False, heading="Search")
    against: Sequence[Any] = setting((), metavar="FILE", heading="Input")
    mark: bool = setting(False)


def _check_strata(settings: Any) -> None:
    """Convert the columns of strata, and the bounds of ranges, which ascend."""
    by: Any = arguments.columns_of(settings.by)
    bins: Any = () if settings.bins is None else settings.bins
    with arguments.argument_errors("bins are numbers, such as 1,10,100", bins):
        edges = tuple(map(arguments.number_of, bins.split(",") if isinstance(bins, str) else bins))
    if edges and len(by) != 1:
        raise InputError("`bins` are of the values of one column; name it with `by`")
    if not all(-inf < edge < inf for edge in edges) or any(a >= b for a, b in pairwise(edges)):
        raise InputError(f"bins ascend, such as 1, 10, 100; not {listed(edges)}")
    object.__setattr__(settings, "by", by)
    object.__setattr__(settings, "bins", edges)


@dataclass(frozen=True)
class EvaluateSettings(Settings):
    """The columns that `evaluate` reads, and its strata.

    Attributes
    ----------
    prediction : str, optional
        Name of the column of predictions; found by default.
    truth : str, optional
        Name of the column of true solutions, or none to solve the puzzles; by default the column of
        solutions, if there is one.
    by : str or sequence of str
        Count each value of this column apart, or each combination of the values of several.
    bins : sequence of float
        Count ranges of numbers instead of values: 1,10,100 make four.
    """

    prediction: str | None = setting(metavar="NAME", heading="Input")
    truth: str | None = setting(metavar="NAME", heading="Input")
    by: Sequence[str] = setting((), metavar="NAME")
    bins: tuple[float, ...] = setting((), metavar="BOUNDS")

    check_all = _check_strata


@dataclass(frozen=True)
class PartSettings(Settings):
    """The parts that `partition` makes.

    Attributes
    ----------
    parts : str or dict of str to float
        The share of each part; they add up to 1.
    by : str or sequence of str
        Keep the shares for each value of this column, or combination of the values of several.
    bins : sequence of float
        Keep them for ranges of numbers instead of values: 1,10,100 make four.
    seed : int
        Seed of the random numbers.
    """

    heading = "Search"
    parts: str = setting(PARTS, check=lambda name, value: value, metavar="SHARES")  # or a dict
    by: Sequence[str] = setting((), metavar="NAME")
    bins: tuple[float, ...] = setting((), metavar="BOUNDS")
    seed: int = setting(0, check=arguments.seed_of)

    check_all = _check_strata


@dataclass(frozen=True)
class Plan(Settings):
    """A grid of runs of a scaling experiment: every combination, `repeat` times.

    Attributes
    ----------
    jobs : sequence of (int or None)
        Numbers of workers, such as 1,2,4..8; by default 1,2 or all of a cluster.
    backends : sequence of str
        Backends, such as threading,loky.
    address : str, optional
        The cluster of --backend dask (tcp://host:8786) or ray (host:6379); by default one is
        started on this machine.
    split_depths : sequence of (int or None)
        Depths, such as 0..8,auto; by default auto.
    engines : sequence of str
        Engines, such as auto,dlx.
    budget : int, optional
        Nodes a task may visit before it hands back its frontier; by default set from the time that
        tasks take.
    time_limit : float, optional
        Stop each run after S seconds.
    repeat : int
        Runs of every combination.
    """

    heading = "Search"
    jobs: tuple[int | None, ...] = setting((), metavar="LIST", heading="Workers")
    backends: tuple[str, ...] = setting(
        ("threading",), metavar="LIST", flags=("--backend",), heading="Workers"
    )
    address: str | None = setting(
        metavar="ADDRESS", flags=("--scheduler", "--address"), heading="Workers"
    )
    split_depths: tuple[int | None, ...] = setting((), metavar="LIST", flags=("--split-depth",))
    engines: tuple[str, ...] = setting((AUTO,), metavar="LIST", flags=("--engine",))
    budget: int | None = setting(check=one_or_more)
    time_limit: float | None = setting(check=_seconds, metavar="S")
    repeat: int = setting(3, check=one_or_more)

    def check_all(self) -> None:
        """See `Settings`."""
        jobs = self.jobs or ((None,) if self.address else (1, 2))
        object.__setattr__(self, "jobs", jobs)
        object.__setattr__(self, "split_depths", self.split_depths or (None,))
        for number in jobs:
            if number is not None:
                arguments.whole_number("the number of jobs", number, 1)
        for depth in self.split_depths:
            self.settings(depth)

    def settings(self, depth: int | None) -> SearchSettings:
        """Return the settings of a search with this split depth."""
        return SearchSettings(split_depth=depth, budget=self.budget, time_limit=self.time_limit)
