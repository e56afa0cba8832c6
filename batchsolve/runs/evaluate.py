"""Evaluation of predictions: how many rows, cells, clues and houses are right, by stratum.

The counts are a table, in words, a page and a plot.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, ClassVar, Unpack

import numpy as np
import pyarrow as pa

from batchsolve.errors import InputError, InWords, counted, listed, percent, printable, quoted
from batchsolve.formats.pictures import svg
from batchsolve.formats.whole_files import write_whole
from batchsolve.runs.outputs import Parts, output_at
from batchsolve.runs.progress import puzzles_taken
from batchsolve.runs.specs import Spec, table_or_file
from batchsolve.settings import EvaluateSettings, FileSettings
from batchsolve.settings.arguments import FileName, columns_of, path_of, table_or_each
from batchsolve.settings.keywords import EvaluateFields, settings_of
from batchsolve.tables import judged
from batchsolve.tables.answers import RowTable, with_new_columns
from batchsolve.tables.columns import check_holds_texts
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.detection import files_and_tables, open_all
from batchsolve.tables.frames import with_columns_of
from batchsolve.tables.places import suffix_of
from batchsolve.tables.reader import Reader
from batchsolve.tables.sources import Source, TableSource

PREDICTION_NAMES = ("prediction", "predictions", "predicted", "pred", "output", "model_output")
NO_TRUTH = "none"
MOST_STRATA = 1000
_WRONG = " (wrong in every cell)"
_NOTES = {
    "missing": ("missing predictions", _WRONG),
    "malformed": ("malformed predictions", _WRONG),
    "unjudged": ("rows not judged", ""),
    "several": ("puzzles with several solutions", " (any is right, and cells are not compared)"),
    "other": ("predictions that differ from the truth but solve the puzzle", " (right without it)"),
}
ALL = "all"
"""The name of the stratum of all rows."""


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(InWords):
    """The counts of `evaluate`; ``str`` of it is a table.

    Attributes
    ----------
    all : Stratum
        The counts of all rows.
    strata : dict of str, or of tuple of str, to Stratum
        Those of each value of the column ``by``, or of each combination of the values of several
        columns; numbers and categories in their order; empty without such a column.
    column, prediction : str or None
        The columns of puzzles and of predictions.
    truth : str or None
        The column of truths; None if the puzzles were solved.
    by : str or tuple of str or None
        The column of strata, or the columns.
    named : dict of str to list of str
        The first malformed predictions and the first unjudged rows, and why.
    examples : list of Example
        The first wrong predictions.
    seconds : float
    rows : table or None
        The rows with columns ``right`` and ``wrong_cells``, if ``rows`` is True.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from batchsolve import evaluate
    >>> puzzles, predictions = ["1.....2..3.....4"] * 2, ["1243342143122134", "1243"]
    >>> result = evaluate(pa.table({"puzzle": puzzles, "prediction": predictions}))
    >>> print(result)
         rows  right         rows right  cells right  clues kept  houses violated
    all     2      1  50.0 % (9.5–90.5)      50.00 %     50.00 %          50.00 %
    malformed predictions: 1 (wrong in every cell); the first is row 2: 4 characters; a 4×4 grid ...
    >>> result
    Evaluation(2 rows: 1 right, 50.0 % (9.5–90.5))
    >>> result.named["malformed"]
    ['row 2: 4 characters; a 4×4 grid has 16']
    """

    all: judged.Stratum
    strata: dict[Any, judged.Stratum]
    column: str | None
    prediction: str
    truth: str | None
    by: str | tuple[str, ...] | None
    named: dict[str, list[str]]
    examples: list[judged.Example]
    seconds: float
    rows: Any = None

    @property
    def complete(self) -> bool:
        """True if every row was judged."""
        return not self.all.unjudged

    @property
    def facts(self) -> dict[str, Any]:
        """The counts, with the intervals of shares of rows, in JSON types."""
        columns = {name: getattr(self, name) for name in ("column", "prediction", "truth", "by")}
        strata = {judged.shown_key(name): _facts(stratum) for name, stratum in self.strata.items()}
        return {**columns, ALL: _facts(self.all), "strata": strata, **self.named}

    @property
    def columns(self) -> str:
        """The columns of the input that were read, in words."""
        truth = "the solutions found" if self.truth is None else f"column {quoted(self.truth)}"
        by = f", strata in {listed(columns_of(self.by))}" if self.by else ""
        return (
            f"{puzzles_taken(self.column)}, predictions in {quoted(self.prediction)}, "
            f"truth: {truth}{by}"
        )

    @property
    def notes(self) -> list[str]:
        """The numbers of predictions and rows that need a word, one a line."""
        notes = []
        for name, (words, more) in _NOTES.items():
            if n := getattr(self.all, name):
                first = "".join(f"; the first is {row}" for row in self.named.get(name, [])[:1])
                notes.append(f"{words}: {n:,}{more}{first}")
        return notes

    @property
    def in_short(self) -> str:
        """See `InWords`."""
        _, right, share, *_ = _cells(self.all)
        return f"{counted(self.all.rows, 'row')}: {right} right, {share}"

    def __str__(self) -> str:
        return "\n".join([self.table, *map(printable, self.notes)])

    def _repr_html_(self) -> str:
        return f"{svg.html_table(self._table())}{self._notes_as_html()}"

    def _notes_as_html(self) -> str:
        return "".join(f"<p>{svg.escape(note)}</p>\n" for note in [self.columns, *self.notes])

    def to_pandas(self) -> Any:
        """Return the counts of the strata as a data frame of pandas, a row for each.

        It has the columns ``by``, whose values are texts, the counts, and the shares of right rows
        with their Wilson intervals: ``right_share``, ``right_low``, ``right_high``. A column ``by``
        with one of these names becomes ``given_…``. Without strata, its row is that of all rows.
        """
        rows = []
        for stratum in self.strata.values() or [self.all]:
            low, high = stratum.interval("right")
            share = stratum.right / stratum.judged if stratum.judged else float("nan")
            shares = {"right_share": share, "right_low": low, "right_high": high}
            rows.append(asdict(stratum) | shares)
        by = columns_of(self.by)
        counts = pa.Table.from_pylist(rows).slice(0, len(self.strata) if by else 1)
        values = [[columns_of(name)[k] for name in self.strata] for k in range(len(by))]
        schema = with_new_columns(pa.schema([(n, pa.string()) for n in by]), [*counts.schema])
        return pa.table([*values, *counts.columns], schema=schema).to_pandas()

    @property
    def table(self) -> str:
        """The table of the strata and of all rows, as text."""
        return svg.text_table(self._table())

    def _table(self) -> list[list[str]]:
        """Return the cells of the table, the heads first."""
        heads = ["rows", "right", "rows right", "cells right", "clues kept", "houses violated"]
        by = columns_of(self.by) or ("",)
        total = (ALL, *[""] * (len(by) - 1))
        return [
            [*by, *heads],
            *([*columns_of(name), *_cells(stratum)] for name, stratum in self.strata.items()),
            [*total, *_cells(self.all)],
        ]

    @property
    def html(self) -> str:
        """The text of a self-contained HTML file: the table, and pictures of wrong predictions."""
        figures = "".join(map(self._figure, self.examples))
        return svg.html_page(
            "Evaluation of predictions",
            f"{svg.PAGE_STYLE}{_TABLE_STYLE}",
            f"<h1>Evaluation of {counted(self.all.rows, 'prediction')}</h1>\n"
            f"{self._notes_as_html()}"
            f"{svg.html_table(self._table())}"
            f"<p>Rows right: with Wilson intervals of 95 %.</p>\n"
            f'<main id="all">\n{figures}</main>\n',
        )

    def _figure(self, example: judged.Example) -> str:
        """Return a picture of a wrong prediction, its wrong cells marked."""
        puzzle, predicted, truth = example.puzzle, example.predicted, example.truth
        is_grid, has_truth = bool(predicted.any()), bool(truth.any())
        wrong = np.flatnonzero(
            predicted != truth if has_truth else (puzzle > 0) & (predicted != puzzle)
        )
        fault = counted(len(wrong), "wrong cell") if has_truth else "no solution of the puzzle"
        pairs = zip(columns_of(self.by), example.stratum, strict=True)
        stratum = "".join(f", {name} {value}" for name, value in pairs)
        about = f"row {example.row:,}{stratum}: {fault if is_grid else 'no grid'}"
        digits, marked = (predicted, wrong.tolist()) if is_grid else (puzzle, [])
        drawing = svg.grid_drawing(
            example.problem, digits.tolist(), puzzle.tolist(), example.notation, marked
        )
        drawn = svg.as_svg(drawing, about, style=False)
        return f"<figure>{drawn}<figcaption>{svg.escape(about)}</figcaption></figure>\n"

    def save(self, path: FileName) -> None:
        """Write the page of `html`; it appears when it is complete."""
        write_whole(path, self.html)

    def plot(self, path: FileName) -> None:
        """Draw the share of right rows of each stratum, with Wilson intervals of 95 %.

        Parameters
        ----------
        path : str or path
            ``.svg``, ``.png`` or ``.pdf``. The same counts make the same file.

        Raises
        ------
        InputError
            If matplotlib is not installed, or the strata are too many.
        """
        from batchsolve.formats.pictures.charts import content, plot_format_of, strata_figure

        form, by = plot_format_of(path), ", ".join(columns_of(self.by))
        strata = {judged.shown_key(name): stratum for name, stratum in self.strata.items()}
        write_whole(path, content(strata_figure(strata, self.all, by), form))


_TABLE_STYLE = (
    "table{border-collapse:collapse;margin:.6rem 0}th,td{padding:.2rem .7rem;text-align:right;"
    "border-bottom:1px solid var(--line)}th:first-child,td:first-child{text-align:left}"
)


def _share(k: int, n: int, decimals: int = 2) -> str:
    return f"{percent(k, n, decimals)} %" if n else "–"


def _cells(stratum: judged.Stratum) -> list[str]:
    """Return the cells of a line of the table."""
    low, high = (f"{100 * bound:.1f}" for bound in stratum.interval("right"))
    right = f"{_share(stratum.right, stratum.judged, 1)} ({low}–{high})"
    return [
        f"{stratum.rows:,}",
        f"{stratum.right:,}",
        right if stratum.judged else "–",
        _share(stratum.cells_right, stratum.cells),
        _share(stratum.clues_kept, stratum.clues),
        _share(stratum.violated, stratum.houses),
    ]


def _facts(stratum: judged.Stratum) -> dict[str, Any]:
    intervals = {
        f"{name}_interval": [round(bound, 6) for bound in stratum.interval(name)]
        for name in ("right", "keeping", "unviolated")
    }
    return {**asdict(stratum), **intervals}


# ---- evaluating -----------------------------------------------------------------------------


def evaluate(
    predictions: Any, *, rows: bool | FileName = False, **settings: Unpack[EvaluateFields]
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
    by : str or sequence of str, optional
        The column of strata, such as ``rating``; several columns give a stratum for each
        combination of their values. Values are compared as text, without white space around it;
        rows without one are the stratum ``(none)``. In memory, categories keep their order.
    bins : sequence of float
        Ascending bounds of ranges, which are the strata then: ``[1, 10]`` makes three. Other texts
        than numbers are the stratum ``(no number)``.
    rows : bool, str or path
        Keep the rows with two more columns, as a table of the library of `predictions`: ``right``,
        null in rows that are not judged, and ``wrong_cells``, clues included, which is null for
        puzzles with several solutions, too. Or write them to a file, ``.csv``, ``.tsv``,
        ``.jsonl`` or ``.parquet``.
    on_progress : callable or True, optional
        See `Progress`; the sums are those of all rows.
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
    pool_settings, wanted, files = settings_of(evaluate, settings, EvaluateSettings, FileSettings)
    truth, by = wanted.truth, tuple(wanted.by)
    target = None if isinstance(rows, bool) else _target_of(rows)
    predictions = table_or_each(predictions)
    sources = open_all(files_and_tables("the predictions", predictions))
    solved = truth == NO_TRUTH
    predicted = PREDICTION_NAMES if wanted.prediction is None else [wanted.prediction]
    corpus = Corpus(
        sources, replace(files, solution_column=None if solved else truth), other_columns=predicted
    )
    column = _prediction_column(corpus, wanted.prediction)
    _check_columns(corpus, column, truth, by)
    known = None if solved or corpus.solution_column == column else corpus.solution_column
    counts = _Counts(by)

    def table(reader: Reader) -> RowTable:
        """Return the output table: the rows with their verdicts, or nothing but the sums."""
        given = reader.schema if rows else pa.schema([])
        find = partial(judged.judged, column, wanted, given.names)
        return RowTable(given, judged.VERDICTS if rows else given, find)

    spec = Spec("evaluate", corpus, replace(corpus.reader, solution_column=known), table, counts)
    spec = spec.searched() if known is None else spec
    kept = table_or_file(spec, predictions, target, files, pool_settings)
    judged.check_ranges(wanted, counts.strata)
    bins = wanted.bins
    ranks = [judged.ranges(bins) if bins else _categories(sources[0], name) for name in by]
    keys = judged.in_order(counts.strata, ranks) if by else []
    columns = corpus.given_column, column, known, by[0] if len(by) == 1 else by or None
    return Evaluation(
        counts.all,
        {key[0] if len(key) == 1 else key: counts.strata[key] for key in keys},
        *columns,
        named=counts.named,
        examples=counts.examples,
        seconds=time.perf_counter() - begin,
        rows=with_columns_of(kept, predictions) if rows is True else None,
    )


def _target_of(rows: Any) -> str:
    """Return the file that the rows are written to."""
    path = path_of("the rows", rows)
    if path == "-" or suffix_of(path) == ".npy" or isinstance(output_at(path), Parts):
        raise InputError(f"{path}: name one file of a table to write to, such as rows.parquet")
    return path


@dataclass
class _Counts:
    """The sums of an evaluation; see `Evaluation`."""

    by: Sequence[str]
    all: judged.Stratum = field(default_factory=judged.Stratum)
    strata: dict[judged.Key, judged.Stratum] = field(default_factory=dict)
    named: dict[str, list[str]] = field(default_factory=lambda: {"malformed": [], "unjudged": []})
    examples: list[judged.Example] = field(default_factory=list)
    in_bar: ClassVar[tuple[str, ...]] = ("right",)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.all.rows

    @property
    def right(self) -> int:
        """The number of right rows."""
        return self.all.right

    def add(self, sums: judged.JudgedSums) -> None:
        """Add the counts of a block, whose rows are counted on from those before."""
        n_before, (strata, named, examples) = self.rows, sums
        for key, counts in strata.items():
            self.all.add(counts)
            self.strata.setdefault(key, judged.Stratum()).add(counts)
        if len(self.strata) > MOST_STRATA:
            raise InputError(
                f"{listed(self.by)} has more than {MOST_STRATA:,} values; give the bounds of "
                f"ranges with `bins`"
            )
        for name, faults in named.items():
            lines = (f"row {n_before + row + 1:,}: {fault}" for row, fault in faults)
            self.named[name] += islice(lines, judged.MOST_NAMED - len(self.named[name]))
        for example in examples[: judged.MOST_EXAMPLES - len(self.examples)]:
            self.examples.append(example._replace(row=n_before + example.row + 1))


def _prediction_column(corpus: Corpus, column: str | None) -> str:
    """Return the column of predictions."""
    if column is not None:
        return column
    matches = [name for name in corpus.columns if name.lower().strip() in PREDICTION_NAMES]
    if len(matches) != 1:
        fault = f"no column is known as one of predictions: {listed(corpus.columns)}"
        if matches:
            fault = f"several columns may hold predictions ({listed(matches)})"
        raise InputError(f"{fault}; say which with `prediction`")
    return matches[0]


def _check_columns(corpus: Corpus, prediction: str, truth: str | None, by: tuple[str, ...]) -> None:
    for name in (prediction, *by):
        corpus.check_column(name)
    kind = corpus.schema.field(prediction).type
    check_holds_texts(kind, f"column {quoted(prediction)}", prediction)
    if prediction in (corpus.column, truth):
        role = "puzzles" if prediction == corpus.column else "truths"
        raise InputError(
            f"column {quoted(prediction)} is taken as that of predictions and of {role}; name two "
            f"with `prediction`, `column` and `truth`"
        )


def _categories(source: Source, name: str) -> list[str]:
    """Return the categories of a column of a table in memory, in their order."""
    column = source.table[name] if isinstance(source, TableSource) else None
    if column is None or not pa.types.is_dictionary(column.type) or not column.num_chunks:
        return []
    return column.unify_dictionaries().chunk(0).dictionary.cast(pa.string()).to_pylist()
