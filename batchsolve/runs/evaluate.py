"""Evaluation of predictions: how many rows, cells, clues and houses are right, by stratum."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from typing import Any, ClassVar, Unpack

import pyarrow as pa

from batchsolve.errors import InputError, listed, quoted
from batchsolve.runs.evaluation import Evaluation, in_order
from batchsolve.runs.outputs import Parts, output_at
from batchsolve.runs.progress import ROW_BAR, OnProgress, shown
from batchsolve.runs.specs import Spec, table_or_file
from batchsolve.settings import (
    EvaluateFields,
    EvaluateSettings,
    FileSettings,
    path_of,
    settings_of,
    table_or_each,
    text_of,
)
from batchsolve.tables.answers import RowTable
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.frames import files_and_tables, with_columns_of
from batchsolve.tables.judged import (
    MOST_EXAMPLES,
    MOST_NAMED,
    VERDICTS,
    Example,
    JudgedSums,
    JudgedValues,
    Key,
    Stratum,
    check_ranges,
    ranges,
)
from batchsolve.tables.places import suffix_of
from batchsolve.tables.reader import Reader
from batchsolve.tables.sources import Source, TableSource, open_all
from batchsolve.tables.texts import check_holds_texts
from batchsolve.workers import Pool

PREDICTION_NAMES = ("prediction", "predictions", "predicted", "pred", "output", "model_output")
NO_TRUTH = "none"
MOST_STRATA = 1000


def evaluate(
    predictions: Any,
    *,
    prediction: str | None = None,
    truth: str | None = None,
    by: str | Sequence[str] | None = None,
    bins: Sequence[float] = (),
    rows: bool | str | os.PathLike[str] = False,
    on_progress: OnProgress = None,
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
    by : str or sequence of str, optional
        The column of strata, such as ``rating``; several columns give a stratum for each
        combination of their values. Values are compared as text, without white space around it;
        rows without one are the stratum ``(none)``. Categories keep their order.
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
    workers, files = settings_of(evaluate, settings, FileSettings)
    given: dict[str, Any] = {"prediction": prediction, "truth": truth, "by": by, "bins": bins}
    wanted = EvaluateSettings(**given)
    strata, edges = tuple(wanted.by), wanted.bins
    target = None if isinstance(rows, bool) else _target_of(rows)
    predictions = table_or_each(predictions)
    sources = open_all(files_and_tables("the predictions", predictions))
    solved = truth == NO_TRUTH
    predicted = [prediction] if isinstance(prediction, str) else PREDICTION_NAMES
    corpus = Corpus(
        sources, replace(files, solution_column=None if solved else truth), other_columns=predicted
    )
    column = _prediction_column(corpus, prediction)
    _check_columns(corpus, column, truth, strata)
    known = None if solved or corpus.solution_column == column else corpus.solution_column
    counts = _Counts(wanted.by)
    table = partial(_judged_table, column, strata, edges, bool(rows))
    reader = replace(corpus.reader, solution_column=known)
    spec = Spec("evaluate", corpus, reader, table, counts)
    spec = spec.searched() if known is None else spec
    with shown(on_progress, ROW_BAR) as tell:
        kept = table_or_file(spec, predictions, target, files, Pool(**workers), tell)
    check_ranges(strata, edges, counts.strata)
    ranks = [ranges(edges) if edges else _categories(sources[0], name) for name in strata]
    which = corpus.given_column, column, known, strata[0] if len(strata) == 1 else strata or None
    return Evaluation(
        counts.all,
        in_order(counts.strata, ranks) if strata else {},
        *which,
        named=counts.named,
        examples=counts.examples,
        seconds=time.perf_counter() - begin,
        rows=with_columns_of(kept, predictions) if rows is True else None,
        _ranks=ranks,
    )


def _target_of(rows: Any) -> str:
    """Return the file that the rows are written to."""
    path = path_of("the rows", rows)
    if path == "-" or suffix_of(path) == ".npy" or isinstance(output_at(path), Parts):
        raise InputError(f"{path}: name one file of a table to write to, such as rows.parquet")
    return path


def _judged_table(
    prediction: str, by: Key, bins: tuple[float, ...], with_rows: bool, reader: Reader
) -> RowTable:
    """Return the output table: the rows with their verdicts, or nothing but the sums."""
    given = reader.schema if with_rows else pa.schema([])
    found = partial(JudgedValues, prediction, by, bins, given.names)
    return RowTable(reader, VERDICTS if with_rows else [], found, given)


@dataclass
class _Counts:
    """The sums of an evaluation; see `Evaluation`."""

    by: Sequence[str]
    all: Stratum = field(default_factory=Stratum)
    strata: dict[Key, Stratum] = field(default_factory=dict)
    named: dict[str, list[str]] = field(default_factory=lambda: {"malformed": [], "unjudged": []})
    examples: list[Example] = field(default_factory=list)
    in_bar: ClassVar[tuple[str, ...]] = ("right",)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.all.rows

    @property
    def right(self) -> int:
        """The number of right rows."""
        return self.all.right

    def add(self, sums: JudgedSums) -> None:
        """Add the counts of a block, whose rows are counted on from those before."""
        n_before = self.rows
        for key, counts in sums.strata.items():
            self.all.add(counts)
            self.strata.setdefault(key, Stratum()).add(counts)
        if len(self.strata) > MOST_STRATA:
            raise InputError(
                f"{listed(self.by)} has more than {MOST_STRATA:,} values; give the bounds of "
                f"ranges with `bins`"
            )
        for name, faults in sums.named.items():
            new = (f"row {n_before + row + 1:,}: {why}" for row, why in faults)
            self.named[name] += islice(new, MOST_NAMED - len(self.named[name]))
        for example in sums.examples[: MOST_EXAMPLES - len(self.examples)]:
            self.examples.append(example._replace(row=n_before + example.row + 1))


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


def _check_columns(corpus: Corpus, prediction: str, truth: str | None, by: tuple[str, ...]) -> None:
    for name in (prediction, *by):
        corpus.check_column(name)
    kind = corpus.schema.field(prediction).type
    check_holds_texts(kind, f"column {quoted(prediction)}", prediction)
    for other, both, settings in (
        (corpus.column, "puzzles and of predictions", "`column` and `prediction`"),
        (truth, "predictions and of truths", "`prediction` and `truth`"),
    ):
        if prediction == other:
            raise InputError(
                f"column {quoted(prediction)} is taken as that of {both}; name two with {settings}"
            )


def _categories(source: Source, name: str) -> list[str]:
    """Return the categories of a column of a table in memory, in their order."""
    column = source.table[name] if isinstance(source, TableSource) else None
    if column is None or not pa.types.is_dictionary(column.type) or not column.num_chunks:
        return []
    known: list[str] = column.unify_dictionaries().chunk(0).dictionary.cast(pa.string()).to_pylist()
    return known
