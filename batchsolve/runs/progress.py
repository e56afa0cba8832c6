"""The sums of a run over a corpus, and progress bars for long runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from batchsolve.core.interrupts import check_interrupt
from batchsolve.errors import InputError, InWords, counted, listed, quoted

if TYPE_CHECKING:
    from batchsolve.search.tree import TreeSearch
    from batchsolve.tables.answers import RowSums

Bar = tuple[Callable[[Any, Any], None], Mapping[str, Any]]
"""A kind of bar: a function that shows the progress on a bar of tqdm, and how that is made."""

MOST_APART = 0.05  # the width of a range of the finished share that a bar leaves out


@dataclass(repr=False)
class Sums(InWords):
    """The sums of a run over rows, and how it was made: its ``--json`` line.

    Attributes
    ----------
    rows : int
        Rows of the input.
    invalid : int
        Rows that are malformed, or have clues that clash.
    column : str or None
        The puzzle column; None for blank grids, and empty for problems in files or fields.
    form : str
        The form in which a file without columns holds grids, in words.
    solution_column : str or None
        The column of given solutions.
    rule_columns : list of str
        The columns that give rows rules.
    unread_columns : list of str
        Other columns that hold grids, such as predictions; `solution_column` can name one.
    in_bar : tuple of str
        The sums that a progress bar shows.
    unread : str
        In words, how a run treats other columns of grids.

    Examples
    --------
    >>> Sums(3, seconds=0.5, rows_per_second=6.0)
    Sums(3 rows: 0 invalid; 0.5 s, 6 rows/s)
    """

    rows: int = 0
    invalid: int = 0
    seconds: float = 0.0
    rows_per_second: float = 0.0
    backend: str = "threading"
    jobs: int = 1
    column: str | None = ""
    form: str = ""
    solution_column: str | None = None
    rule_columns: list[str] = field(default_factory=list)
    unread_columns: list[str] = field(default_factory=list)
    in_bar: ClassVar[tuple[str, ...]] = ()
    unread: ClassVar[str] = "not read"

    def add(self, sums: RowSums) -> None:
        """Add the sums of the next rows."""
        for name, n in sums.counts.items():
            setattr(self, name, getattr(self, name) + n)

    @property
    def complete(self) -> bool:
        """True if every row is valid."""
        return not self.invalid

    @property
    def facts(self) -> dict[str, Any]:
        """The fields by name, with rounded times and without advice."""
        times = {
            "seconds": round(self.seconds, 3),
            "rows_per_second": round(self.rows_per_second, 1),
        }
        return {name: value for name, value in asdict(self).items() if name != "advice"} | times

    @property
    def columns(self) -> str:
        """The columns that were read, in words, and those with grids that were not.

        Examples
        --------
        >>> print(Sums(column="quiz", rule_columns=["rules"]).columns)
        puzzle column 'quiz', no solution column, rules in rules
        """
        name, others = self.solution_column, self.unread_columns
        solutions = "no solution column" if name is None else f"solution column {quoted(name)}"
        rules = f", rules in {', '.join(self.rule_columns)}" if self.rule_columns else ""
        unread = f"; {self.unread}: grids in {listed(others)}" if others else ""
        form = f" ({self.form})" if self.form else ""
        return f"{puzzles_taken(self.column)}{form}, {solutions}{rules}{unread}"

    def said(self, parts: Sequence[str]) -> str:
        """Return the sums in words, with the time that they took."""
        return (
            f"{counted(self.rows, 'row')}: {', '.join(parts)}; {self.seconds:.1f} s, "
            f"{self.rows_per_second:,.0f} rows/s"
        )

    def __str__(self) -> str:
        return self.said([f"{self.invalid:,} invalid"])


@dataclass(repr=False)
class Summary(Sums):
    """The result of a run that solves the rows of a corpus; see `Sums`.

    Attributes
    ----------
    engine : str
        The engine, and the fallback engine if there is one: ``cells, sat``.
    advice : str
        Advice on rows that met their node limit; empty if there is none.

    Examples
    --------
    >>> summary = Summary(rows=2, unique=1, invalid=1, seconds=0.5, rows_per_second=4.0)
    >>> summary.complete
    False
    >>> print(summary)
    2 rows: 1 unique, 1 invalid; 0.5 s, 4 rows/s
    >>> summary
    Summary(2 rows: 1 unique, 1 invalid; 0.5 s, 4 rows/s)
    """

    unique: int = 0
    multiple: int = 0
    solved: int = 0
    unsolvable: int = 0
    unfinished: int = 0
    disagree: int = 0
    nodes: int = 0
    engine: str = ""
    advice: str = ""
    in_bar: ClassVar[tuple[str, ...]] = ("unique", "invalid")

    @property
    def complete(self) -> bool:
        """True if every row is answered and no given solution disagrees."""
        return not (self.unfinished or self.invalid or self.disagree)

    def __str__(self) -> str:
        kinds = ("unique", "multiple", "solved", "unsolvable", "unfinished", "invalid", "disagree")
        counts = ", ".join(f"{n:,} {kind}" for kind in kinds if (n := getattr(self, kind)))
        advice = f"\n{self.unfinished:,} unfinished: {self.advice}" if self.advice else ""
        return self.said([counts or "none"]) + advice


def note_columns(totals: Any, source: Any) -> None:
    """Note in the sums of a run which columns of its input were read, and which were not."""
    totals.column, totals.solution_column = source.given_column, source.solution_column
    totals.form = source.form
    totals.rule_columns = list(source.rule_columns)
    totals.unread_columns = list(source.unread_columns)


def puzzles_taken(column: str | None) -> str:
    """Return the puzzle column in words; blank grids have none."""
    return "no puzzle column: blank grids" if column is None else f"puzzle column {quoted(column)}"


@dataclass(frozen=True)
class Progress:
    """The progress of a run over rows, for its argument ``on_progress``.

    That is a function, which is called with a `Progress` after every block of rows; or True, which
    draws a progress bar. The rows of `estimate` are its probes, those of `sample` its covers.

    Attributes
    ----------
    new_rows : int
        Rows answered since the last call; those of a run that is resumed are in no call.
    totals : Summary
        The sums, including those of the resumed run; other runs have other sums.
    expected_rows : int or None
        The number of all rows, estimated from the bytes of the rows so far; None if unknown.

    Examples
    --------
    >>> progress = Progress(50, Summary(rows=100), expected_rows=400)
    >>> progress.totals.rows / progress.expected_rows
    0.25
    """

    new_rows: int
    totals: Any
    expected_rows: int | None = None


OnProgress = Callable[[Progress], None] | bool | None
"""The argument ``on_progress`` of a run over rows; see `Progress`."""


def _begin_at(bar: Any, done: float) -> None:
    """Have the first call of a bar count what is done as done before, which no rate has."""
    if not bar.n:
        bar.initial = bar.n = bar.last_print_n = done


def _show_rows(bar: Any, progress: Progress) -> None:
    """Show rows on a bar of tqdm, made as `ROW_BAR` says."""
    totals = progress.totals
    _begin_at(bar, totals.rows - progress.new_rows)
    bar.total = progress.expected_rows
    bar.set_postfix({name: getattr(totals, name) for name in totals.in_bar}, refresh=False)
    bar.update(progress.new_rows)


def _show_tree(bar: Any, search: TreeSearch) -> None:
    """Show the finished share of a tree on a bar of tqdm, made as `TREE_BAR` says."""
    totals = search.totals
    rate = totals.nodes / max(totals.seconds, 1e-9)
    n_solutions = counted(totals.count, "solution")
    low, high = search.finished_between
    doubt = f", {low:.0%} to {high:.0%} finished" if high - low > MOST_APART else ""
    bar.set_postfix_str(f"{n_solutions}, {rate:,.0f} nodes/s{doubt}", refresh=False)
    share = search.finished_share
    _begin_at(bar, share * search.nodes_before / max(1, totals.nodes))
    bar.update(share - bar.n)


ROW_BAR: Bar = _show_rows, {"unit": " rows", "unit_scale": True}
PROBE_BAR: Bar = _show_rows, {"unit": " probes", "unit_scale": True}
COVER_BAR: Bar = _show_rows, {"unit": " solutions", "unit_scale": True}
_OF_TREE = "{percentage:6.2f}% of the tree, estimated|{bar}| [{elapsed}<{remaining}{postfix}]"
# a share grows in unequal steps, and steps to wait for are found from those before
TREE_BAR: Bar = _show_tree, {"total": 1.0, "bar_format": _OF_TREE, "miniters": 0}


def sums_told(tell: Callable[[Progress], None], n: int) -> Callable[[int], None]:
    """Return a function that tells how many of n rows, probes or covers there are so far."""
    before = 0

    def update(done: int) -> None:
        nonlocal before
        new, before = done - before, done
        tell(Progress(new, Sums(done), n))

    return update


def shown(
    on_progress: Callable[..., None] | bool | None, bar: Bar
) -> AbstractContextManager[Callable[..., None]]:
    """Return a context that yields the callback, one that draws a bar for True, or a silent one.

    The last two check for an interrupt.

    Raises
    ------
    InputError
        At once, if the argument ``on_progress`` is neither a function nor True.
    """
    if not (on_progress is None or isinstance(on_progress, bool) or callable(on_progress)):
        raise InputError(f"on_progress is a function or True, not {quoted(on_progress)}")
    if on_progress is True:
        return _drawn(bar)
    return nullcontext(on_progress or (lambda progress: check_interrupt()))


@contextmanager
def _drawn(bar: Bar) -> Iterator[Callable[..., None]]:
    from tqdm.auto import tqdm  # shows a widget in a notebook

    show, options = bar
    hidden = {"disable": True} if sys.stderr is None else {}  # as under pythonw
    with tqdm(**options, **hidden) as drawn:

        def update(progress: Any) -> None:
            check_interrupt()
            show(drawn, progress)

        yield update
