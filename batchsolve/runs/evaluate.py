"""Evaluation of predictions: how many rows, cells, clues and houses are right, by stratum."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import islice, pairwise
from math import isfinite
from typing import Any, Unpack

import numpy as np

from batchsolve.engines.choice import Choice
from batchsolve.errors import InputError, argument_errors, counted, listed, quoted
from batchsolve.pictures.svg import (
    PAGE_STYLE,
    STYLE,
    as_svg,
    escape,
    grid_drawing,
    html_page,
    html_table,
    text_table,
)
from batchsolve.runs.draw import write_whole
from batchsolve.runs.progress import ROW_BAR, Progress, puzzles_taken, rows_on, shown
from batchsolve.runs.specs import Work, blocks_for, followed, in_one_look, searching
from batchsolve.settings import (
    AUTO,
    PROVES_UNIQUENESS,
    EvaluateFields,
    FileSettings,
    SearchSettings,
    settings_of,
    text_of,
)
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.frames import files_and_tables
from batchsolve.tables.judged import (
    MOST_EXAMPLES,
    MOST_NAMED,
    NO_VALUE,
    Example,
    JudgedRows,
    Stratum,
    judge,
)
from batchsolve.tables.sources import open_all
from batchsolve.tables.texts import check_holds_texts
from batchsolve.workers.pool import Pool

PREDICTION_NAMES = ("prediction", "predictions", "predicted", "pred", "output", "model_output")
NO_TRUTH = "none"
MOST_STRATA = 1000
ALL = "all"
"""The name of the stratum of all rows."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The counts of `evaluate`; ``str`` of it is a table.

    Attributes
    ----------
    all : Stratum
        The counts of all rows.
    strata : dict of str to Stratum
        Those of each value of the column ``by``, numbers in their order; empty without one.
    column, prediction : str or None
        The columns of puzzles and of predictions.
    truth : str or None
        The column of truths; None if the puzzles were solved.
    by : str or None
        The column of strata.
    named : dict of str to list of str
        The first malformed predictions and the first unjudged rows, and why.
    examples : list of Example
        The first wrong predictions.
    seconds : float

    Examples
    --------
    >>> import pyarrow as pa
    >>> puzzles, predictions = ["1.....2..3.....4"] * 2, ["1243342143122134", "1243"]
    >>> result = evaluate(pa.table({"puzzle": puzzles, "prediction": predictions}))
    >>> print(result)
         rows  right         rows right  cells right  clues kept  houses violated
    all     2      1  50.0 % (9.5–90.5)      50.00 %     50.00 %          50.00 %
    >>> result.named["malformed"]
    ['row 2: 4 characters; a 4×4 grid has 16']
    """

    all: Stratum
    strata: dict[str, Stratum]
    column: str | None
    prediction: str
    truth: str | None
    by: str | None
    named: dict[str, list[str]]
    examples: list[Example] = field(repr=False)
    seconds: float

    @property
    def complete(self) -> bool:
        """True if every row was judged."""
        return not self.all.unjudged

    @property
    def facts(self) -> dict[str, Any]:
        """The counts, with the intervals of shares of rows, in JSON types."""
        taken = {name: getattr(self, name) for name in ("column", "prediction", "truth", "by")}
        strata = {name: _facts(stratum) for name, stratum in self.strata.items()}
        return {**taken, ALL: _facts(self.all), "strata": strata, **self.named}

    @property
    def columns(self) -> str:
        """The columns of the input that were read, in words."""
        truth = "the solutions found" if self.truth is None else f"column {quoted(self.truth)}"
        by = "" if self.by is None else f", strata in {quoted(self.by)}"
        return (
            f"{puzzles_taken(self.column)}, predictions in {quoted(self.prediction)}, "
            f"truth: {truth}{by}"
        )

    @property
    def notes(self) -> list[str]:
        """The numbers of predictions and rows that need a word, one a line."""
        kinds = {
            "missing": ("missing predictions", " (wrong in every cell)"),
            "malformed": ("malformed predictions", " (wrong in every cell)"),
            "unjudged": ("rows not judged", ""),
            "several": (
                "puzzles with several solutions",
                " (any of them is right, and cells are not compared)",
            ),
            "other": (
                "predictions that differ from the truth but solve the puzzle",
                " (right without a truth)",
            ),
        }
        notes = []
        for name, (words, more) in kinds.items():
            if n := getattr(self.all, name):
                first = "".join(f"; the first is {each}" for each in self.named.get(name, [])[:1])
                notes.append(f"{words}: {n:,}{more}{first}")
        return notes

    def __str__(self) -> str:
        return text_table(self._table())

    def _table(self) -> list[list[str]]:
        """Return the cells of the table, the heads first."""
        heads = ["rows", "right", "rows right", "cells right", "clues kept", "houses violated"]
        each = {**self.strata, ALL: self.all}
        return [
            [self.by or "", *heads],
            *([name, *_cells(stratum)] for name, stratum in each.items()),
        ]

    @property
    def html(self) -> str:
        """The text of a self-contained HTML file: the table, and pictures of wrong predictions."""
        notes = "".join(f"<p>{escape(note)}</p>\n" for note in [self.columns, *self.notes])
        figures = "".join(map(self._figure, self.examples))
        return html_page(
            "Evaluation of predictions",
            f"{STYLE}{PAGE_STYLE}{_TABLE_STYLE}",
            f"<h1>Evaluation of {counted(self.all.rows, 'prediction')}</h1>\n{notes}"
            f"{html_table(self._table())}"
            f"<p>Rows right: with Wilson intervals of 95 %.</p>\n"
            f'<main id="all">\n{figures}</main>\n',
        )

    def _figure(self, example: Example) -> str:
        """Return a picture of a wrong prediction, its wrong cells marked."""
        puzzle, predicted, truth = example.puzzle, example.predicted, example.truth
        is_grid, has_truth = bool(predicted.any()), bool(truth.any())
        wrong = np.flatnonzero(
            predicted != truth if has_truth else (puzzle > 0) & (predicted != puzzle)
        )
        why = counted(len(wrong), "wrong cell") if has_truth else "no solution of the puzzle"
        stratum = f", {self.by} {example.stratum}" if self.by else ""
        about = f"row {example.row:,}{stratum}: {why if is_grid else 'no grid'}"
        digits, marked = (predicted, wrong.tolist()) if is_grid else (puzzle, [])
        drawing = grid_drawing(
            example.problem, digits.tolist(), puzzle.tolist(), example.notation, marked
        )
        svg = as_svg(drawing, about, style=False)
        return f"<figure>{svg}<figcaption>{escape(about)}</figcaption></figure>\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page of `html`; it appears when it is complete."""
        write_whole(os.fspath(path), self.html)


_TABLE_STYLE = (
    "table{border-collapse:collapse;margin:.6rem 0}th,td{padding:.2rem .7rem;text-align:right;"
    "border-bottom:1px solid var(--line)}th:first-child,td:first-child{text-align:left}"
)


def _share(k: int, n: int, decimals: int = 2) -> str:
    return f"{100 * k / n:.{decimals}f} %" if n else "–"


def _cells(stratum: Stratum) -> list[str]:
    """Return the cells of a line of the table."""
    low, high = (100 * bound for bound in stratum.interval("right"))
    right = f"{_share(stratum.right, stratum.judged, 1)} ({low:.1f}–{high:.1f})"
    return [
        f"{stratum.rows:,}",
        f"{stratum.right:,}",
        right if stratum.judged else "–",
        _share(stratum.cells_right, stratum.cells),
        _share(stratum.clues_kept, stratum.clues),
        _share(stratum.violated, stratum.houses),
    ]


def _facts(stratum: Stratum) -> dict[str, Any]:
    intervals = {
        f"{name}_interval": [round(bound, 6) for bound in stratum.interval(name)]
        for name in ("right", "keeping", "unviolated")
    }
    return {**asdict(stratum), **intervals}


def evaluate(
    predictions: Any,
    *,
    prediction: str | None = None,
    truth: str | None = None,
    by: str | None = None,
    bins: Sequence[float] = (),
    on_progress: Callable[[Progress], None] | bool | None = None,
    **settings: Unpack[EvaluateFields],
) -> Evaluation:
    """Count the rows, cells, clues and houses that predicted solutions have right.

    A prediction of the wrong length or with foreign characters is wrong in every cell; nothing is
    left out.

    Parameters
    ----------
    predictions : table, or str or path, or a sequence of them
        A table as of `solve_table`, or files as of `solve_file`, with puzzles and predictions.
    prediction : str, optional
        The column of predictions; by default found by its name (``prediction``, ``predicted``, …).
    truth : str, optional
        The column of truths; a prediction is right if it is equal. By default the column of
        solutions, found by its name. If there is none, or for ``"none"``, puzzles are solved: then
        a prediction is right if it solves its puzzle, and if that has several solutions, each of
        them is right. Cells are only compared where there is one solution.
    by : str, optional
        The column of strata, such as ``rating``.
    bins : sequence of float
        Ascending bounds of ranges, which are the strata then: ``[1, 10]`` makes three.
    on_progress : callable or True, optional
        Called with a `Progress`, whose sums are those of all rows; True draws a progress bar.
    **settings
        ``jobs``, ``backend`` and ``address`` as in `solve_file`; and the settings of reading, whole
        as ``files``, or field by field: ``column``, ``alphabet``, ``blank``, ``box``, ``rules``,
        ``regions``, ``rule_columns``, ``chunk``.

    Returns
    -------
    Evaluation

    Raises
    ------
    InputError
        If a column is not there, or the predictions cannot be read.

    Examples
    --------
    >>> import pyarrow as pa
    >>> predictions = ["1243342143122134", "1243342143122143"]
    >>> table = pa.table({"puzzle": ["1.....2..3.....4"] * 2, "prediction": predictions})
    >>> result = evaluate(table)
    >>> result.all.right, result.all.cells_right, result.all.cells
    (1, 23, 24)
    """
    begin = time.perf_counter()
    workers, how = settings_of(evaluate, settings, FileSettings)
    edges = _edges(by, bins)
    sources = open_all(files_and_tables("the predictions", predictions))
    solved = truth == NO_TRUTH
    predicted = [prediction] if isinstance(prediction, str) else PREDICTION_NAMES
    corpus = Corpus(
        sources, replace(how, solution_column=None if solved else truth), other_columns=predicted
    )
    column = _prediction_column(corpus, prediction)
    _check_columns(corpus, column, by)
    known = None if solved or corpus.solution_column == column else corpus.solution_column
    reader = replace(corpus.reader, solution_column=known)
    named: dict[str, list[str]] = {"malformed": [], "unjudged": []}
    taken = corpus.given_column, column, known, by
    evaluation = Evaluation(Stratum(), {}, *taken, named, [], 0.0)
    work: Work = in_one_look
    if known is None:
        choice = Choice.for_grids(AUTO, corpus.problem, PROVES_UNIQUENESS)
        work = searching(choice, SearchSettings(limit=PROVES_UNIQUENESS), corpus)
    with shown(on_progress, rows_on, ROW_BAR) as tell, Pool(**workers) as pool:
        blocks = blocks_for(pool, corpus, most_rows=how.chunk)
        judged = work(blocks, pool, reader.read, partial(judge, column, by, edges), 1)
        tell(Progress(0, evaluation.all))
        for _, rows in followed(judged, corpus, evaluation.all, tell):
            _add(evaluation, rows)
    return replace(
        evaluation,
        strata=_in_order(evaluation.strata, edges) if by else {},
        seconds=time.perf_counter() - begin,
    )


def _edges(by: str | None, bins: Sequence[float]) -> tuple[float, ...]:
    """Return checked bounds of ranges."""
    with argument_errors("bins are numbers", bins):
        edges = tuple(map(float, bins))
    if edges and by is None:
        raise InputError("`bins` are of the values of a column; name it with `by`")
    if not all(map(isfinite, edges)) or any(a >= b for a, b in pairwise(edges)):
        raise InputError(f"bins ascend, such as 1, 10, 100; not {listed(edges)}")
    return edges


def _prediction_column(corpus: Corpus, named: str | None) -> str:
    """Return the column of predictions."""
    if named is not None:
        return text_of("the column of predictions", named)
    found = [name for name in corpus.columns if name.lower().strip() in PREDICTION_NAMES]
    if len(found) != 1:
        which = f"no column is known as one of predictions: {listed(corpus.columns)}"
        if found:
            which = f"several columns may hold predictions ({listed(found)})"
        raise InputError(f"{which}; say which with `prediction`")
    return found[0]


def _check_columns(corpus: Corpus, prediction: str, by: str | None) -> None:
    for name in (prediction, by):
        if name is not None:
            corpus.check_column(name)
    kind = corpus.schema.field(prediction).type
    check_holds_texts(kind, f"column {quoted(prediction)}", prediction)
    if prediction == corpus.column:
        raise InputError(
            f"column {quoted(prediction)} is taken as that of puzzles and of predictions; name two "
            f"with `column` and `prediction`"
        )


def _add(evaluation: Evaluation, rows: JudgedRows) -> None:
    """Add the counts of a block, whose rows are counted on from those before."""
    n_before = evaluation.all.rows
    for name, counts in rows.strata.items():
        evaluation.all.add(counts)
        evaluation.strata.setdefault(name, Stratum()).add(counts)
    if len(evaluation.strata) > MOST_STRATA:
        raise InputError(
            f"column {quoted(evaluation.by)} has more than {MOST_STRATA:,} values; give the bounds "
            f"of ranges with `bins`"
        )
    for name, faults in rows.named.items():
        kept = evaluation.named[name]
        new = (f"row {n_before + row + 1:,}: {why}" for row, why in faults)
        kept += islice(new, MOST_NAMED - len(kept))
    room = MOST_EXAMPLES - len(evaluation.examples)
    for example in rows.examples[:room]:
        evaluation.examples.append(example._replace(row=n_before + example.row + 1))


def _in_order(strata: dict[str, Stratum], edges: tuple[float, ...]) -> dict[str, Stratum]:
    """Return strata in the order of their numbers, or else of their names; those without last."""
    names = [name for name in strata if strata[name].rows]
    if not edges:
        names.sort(key=_place)
    names.sort(key=lambda name: name == NO_VALUE)
    return {name: strata[name] for name in names}


def _place(name: str) -> tuple[bool, float, str]:
    try:
        return False, float(name), name
    except ValueError:
        return True, 0.0, name
