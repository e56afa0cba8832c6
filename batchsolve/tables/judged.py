"""Judging predictions: the counts of the rows of a block, stratum by stratum.

A prediction is any value of a column. One that is not a grid of the puzzle's size is wrong in every
cell, clue and house; no row is left out of the counts.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from batchsolve.core.arrays import Bools, Bytes, Ints
from batchsolve.errors import InputError, quoted
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.notation import FINE, Notation
from batchsolve.search.rows import STATUS_NAMES, Answers, Status
from batchsolve.settings import PROVES_UNIQUENESS, EvaluateSettings, PartSettings
from batchsolve.settings.arguments import columns_of, number_of
from batchsolve.tables.answers import Found, solved_among
from batchsolve.tables.columns import as_text, have_text, in_one_line, values_as_text
from batchsolve.tables.reader import Batch, Grids

NO_VALUE = "(none)"
"""The stratum of rows without a value."""

NO_NUMBER = "(no number)"
"""The stratum of rows with another text, if strata are ranges."""

MOST_EXAMPLES = 12  # wrong predictions to be shown
MOST_NAMED = 3  # faults of each kind to be named
_Z = 1.959964  # of a normal distribution, for intervals of 95 %
_NUMBER = re.compile(r"[-+]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?|inf(inity)?)", re.A | re.I)
_MINUS_ZERO = r"^-(0+(\.0*)?)$"


@dataclass
class Stratum:
    """The counts of the rows of a stratum, or of all.

    Attributes
    ----------
    rows : int
    unjudged : int
        Rows without a truth: the puzzle is malformed, unsolvable or unfinished, or the given truth
        does not solve it. No other field counts them.
    right : int
        Predictions that are right in every cell.
    missing, malformed : int
        Empty predictions, and those that are not a grid of the puzzle's size. They are wrong.
    other : int
        Wrong predictions that differ from the given truth, but solve the puzzle.
    several : int
        Puzzles with several solutions: every one is right, and cells are not compared.
    cells, cells_right : int
        Blank cells of the puzzles with one truth, and those predicted right.
    clues, clues_kept : int
        Clues, and those that the predictions kept.
    keeping : int
        Rows whose prediction keeps all clues.
    houses, violated : int
        Houses, and those that do not hold every digit once.
    unviolated : int
        Rows whose prediction violates no house.

    Examples
    --------
    >>> stratum = Stratum(rows=10, right=5)
    >>> stratum.judged, [round(bound, 3) for bound in stratum.interval("right")]
    (10, [0.237, 0.763])
    """

    rows: int = 0
    unjudged: int = 0
    right: int = 0
    missing: int = 0
    malformed: int = 0
    other: int = 0
    several: int = 0
    cells: int = 0
    cells_right: int = 0
    clues: int = 0
    clues_kept: int = 0
    keeping: int = 0
    houses: int = 0
    violated: int = 0
    unviolated: int = 0

    @property
    def judged(self) -> int:
        """Rows that were judged."""
        return self.rows - self.unjudged

    def interval(self, name: str) -> tuple[float, float]:
        """Return the Wilson interval, of 95 %, of the share of judged rows that a field counts."""
        n, k = self.judged, getattr(self, name)
        if not n:
            return 0.0, 1.0
        middle, half = k + _Z**2 / 2, _Z * sqrt(k * (n - k) / n + _Z**2 / 4)
        return max(0.0, (middle - half) / (n + _Z**2)), min(1.0, (middle + half) / (n + _Z**2))

    def add(self, counts: Ints) -> None:
        """Add counts, in the order of the fields."""
        for name, n in zip(FIELDS, counts.tolist(), strict=True):
            setattr(self, name, getattr(self, name) + n)


FIELDS = tuple(field.name for field in fields(Stratum))


class Example(NamedTuple):
    """A wrong prediction, to be shown.

    Attributes
    ----------
    row : int
        Counted from 0 in its block; counted from 1 in the input once it is in an `Evaluation`.
    stratum : tuple of str
    problem : GridProblem
    notation : Notation
    puzzle, predicted, truth : ndarray of uint8, shape (n_cells,)
        All 0 for a prediction that is not a grid, and for a truth that is not known.
    """

    row: int
    stratum: tuple[str, ...]
    problem: GridProblem
    notation: Notation
    puzzle: Bytes
    predicted: Bytes
    truth: Bytes


Key = tuple[str, ...]
"""The name of a stratum: a value of each column of strata, or a range of values."""

Faults = dict[str, dict[int, str]]
"""The faults of ``malformed`` predictions and of ``unjudged`` rows, by row."""

JudgedSums = tuple[dict[Key, Ints], dict[str, list[tuple[int, str]]], list[Example]]
"""The counts of a block: those of each stratum, in the order of the fields of `Stratum`; the first
malformed predictions and unjudged rows, counted from 0, and why; and wrong predictions."""


Strata = EvaluateSettings | PartSettings
"""Settings that name the columns of strata, ``by``, and the bounds of ranges, ``bins``."""


def judged(
    prediction: str, wanted: Strata, names: list[str], batch: Batch, answers: Answers | None = None
) -> Found:
    """Judge the rows of a batch; return the columns ``right`` and ``wrong_cells``, and the counts.

    They are null in rows that are not judged; wrong cells also for puzzles with several solutions.

    Parameters
    ----------
    prediction : str
        The column of predictions.
    wanted : Strata
    names : list of str
        The columns of the output that the input has, too.
    batch : Batch
    answers : Answers, optional
        The answers to the puzzles, which are the truth; by default the given solutions are.
    """
    text = in_one_line(as_text(batch.table, prediction))
    counts = {name: np.zeros(len(batch), np.int64) for name in FIELDS}
    strata, labels = strata_of(batch.table, wanted)
    faults: Faults = {"malformed": {}, "unjudged": {}}
    wrong = []
    for grids in batch.grids:
        graded, predicted, truth = _graded(batch, grids, text, answers, faults)
        for name, values in graded.items():
            counts[name][grids.rows] = values
        is_wrong = (graded["unjudged"] == 0) & (graded["right"] == 0)
        for place in np.flatnonzero(is_wrong)[:MOST_EXAMPLES].tolist():
            row = int(grids.rows[place])
            problem, puzzle, notation = batch.row(row)
            which = row, labels[strata[row]], problem, notation
            wrong.append(Example(*which, puzzle, predicted[place], truth[place]))
    sums = np.zeros((len(labels), len(FIELDS)), np.int64)
    np.add.at(sums, strata, np.stack(list(counts.values()), axis=1))
    named = {name: sorted(rows.items())[:MOST_NAMED] for name, rows in faults.items()}
    examples = sorted(wrong, key=lambda example: example.row)[:MOST_EXAMPLES]
    judged_sums = dict(zip(labels, sums, strict=True)), named, examples
    n_wrong = counts["cells"] - counts["cells_right"] + counts["clues"] - counts["clues_kept"]
    columns = {
        "right": pa.array(counts["right"] > 0, mask=counts["unjudged"] > 0),
        "wrong_cells": pa.array(n_wrong, mask=counts["unjudged"] + counts["several"] > 0),
    }
    return batch.table.select(names), judged_sums, columns


VERDICTS = pa.schema({"right": pa.bool_(), "wrong_cells": pa.int64()})


def _graded(
    batch: Batch, grids: Grids, text: pa.Array, answers: Answers | None, faults: Faults
) -> tuple[dict[str, Ints], Bytes, Bytes]:
    """Grade the grids of one shape, given the predictions of a batch as text.

    The faults of rows are added: why predictions are ``malformed``, and rows ``unjudged``.

    Returns
    -------
    counts : dict of str to ndarray of int64, shape (n,)
        By the fields of `Stratum`.
    predicted, truth : ndarray of uint8, shape (n, n_cells)
        All 0 for a prediction that is not a grid.
    """
    puzzles, rows = grids.puzzles, grids.rows
    predicted, is_missing, malformed = _predictions(grids, text.take(pa.array(rows)))
    solves = grids.check(predicted)
    if answers is None:
        truth, unjudged = _given_truth(batch, grids)
        is_single = np.ones(len(rows), np.bool_)
        right = (predicted == truth).all(axis=1)
    else:
        truth, is_single, unjudged = _found_truth(batch, grids, answers)
        right = solves
    judged = ~np.isin(rows, list(unjudged))
    is_clue, keeps = puzzles > 0, (predicted == puzzles) & (puzzles > 0)
    compared = ~is_clue & is_single[:, None]
    n_houses, n_kept = _houses(grids, predicted)
    graded: dict[str, Any] = {
        "right": right,
        "missing": is_missing,
        "malformed": np.isin(rows, list(malformed)),
        "other": solves & ~right,
        "several": ~is_single,
        "cells": compared.sum(axis=1),
        "cells_right": (compared & (predicted == truth)).sum(axis=1),
        "clues": is_clue.sum(axis=1),
        "clues_kept": keeps.sum(axis=1),
        "keeping": (keeps == is_clue).all(axis=1) & predicted.any(axis=1),
        "houses": n_houses,
        "violated": n_houses - n_kept,
        "unviolated": n_kept == n_houses,
    }
    counts = {name: values * judged.astype(np.int64) for name, values in graded.items()}
    counts |= {"rows": np.ones(len(rows), np.int64), "unjudged": 1 - judged}
    faults["malformed"] |= {row: why for row, why in malformed.items() if row not in unjudged}
    faults["unjudged"] |= unjudged
    return counts, predicted, truth


def strata_of(table: pa.Table, wanted: Strata) -> tuple[Ints, list[Key]]:
    """Return the number of the stratum of each row of a table, and the names of strata.

    Examples
    --------
    >>> table = pa.table({"band": ["hard", "easy", "hard"], "clues": [17, 30, 25]})
    >>> strata_of(table, EvaluateSettings(by="band"))
    (array([0, 1, 0]), [('hard',), ('easy',)])
    """
    strata, names = np.zeros(len(table), np.int64), [Key()]
    for name in wanted.by:
        codes, values = _values(table, name, wanted.bins)
        used, strata = np.unique(strata * len(values) + codes, return_inverse=True)
        pairs = (divmod(k, len(values)) for k in used.tolist())
        names = [(*names[before], values[k]) for before, k in pairs]
    return strata, names


def _values(table: pa.Table, name: str, bins: tuple[float, ...]) -> tuple[Ints, list[str]]:
    """Return the number of the value, or of the range, of each row, and their names.

    Ranges compare the values as texts say them, so that all forms of files have the same strata.
    """
    text = pc.ascii_trim_whitespace(values_as_text(table, name))
    text = pc.replace_substring_regex(text, _MINUS_ZERO, r"\1")
    text = pc.if_else(pc.equal(text, ""), None, text).fill_null(NO_VALUE)
    coded = text.combine_chunks().dictionary_encode()
    codes, values = np.asarray(coded.indices, np.int64), coded.dictionary.to_pylist()
    if not bins:
        return codes, values
    places = [_range_of(value, bins) for value in values]
    return np.array(places, np.int64)[codes], [*ranges(bins), NO_NUMBER, NO_VALUE]


def _range_of(value: str, bins: tuple[float, ...]) -> int:
    """Return the number of the range of a value; texts that are not numbers have the next."""
    if value == NO_VALUE or value.lower() == "nan":
        return len(bins) + 2
    if not _NUMBER.fullmatch(value):
        return len(bins) + 1
    return bisect_right(bins, number_of(value))


def check_ranges(wanted: Strata, strata: Collection[Key]) -> None:
    """Raise `InputError` if ranges are wanted of a column whose strata are not numbers."""
    if wanted.bins and strata and {*strata} <= {(NO_NUMBER,), (NO_VALUE,)}:
        raise InputError(
            f"column {quoted(wanted.by[0])} holds no numbers, of which `bins` are ranges; leave it "
            f"out to have a stratum for each value"
        )


def ranges(bins: tuple[float, ...]) -> list[str]:
    """Return the names of the ranges between bounds, lowest first.

    Examples
    --------
    >>> ranges((1, 2.5))
    ['below 1', '1 to below 2.5', '2.5 and above']
    """
    names = [str(bound).removesuffix(".0") for bound in bins]  # with all digits: names differ
    between = [f"{a} to below {b}" for a, b in pairwise(names)]
    return [f"below {names[0]}", *between, f"{names[-1]} and above"]


def shown_key(name: str | tuple[str, ...]) -> str:
    """Return the name of a stratum as one text, which no other stratum has.

    Examples
    --------
    >>> shown_key(("a", "b")), shown_key(("a, b", "c")), shown_key("a, b")
    ('a, b', '["a, b", "c"]', 'a, b')
    """
    parts = columns_of(name)
    are_clear = len(parts) == 1 or not any(mark in part for part in parts for mark in ',"')
    return ", ".join(parts) if are_clear else json.dumps(parts, ensure_ascii=False)


def in_order(strata: Iterable[Key], ranks: Sequence[Sequence[str]]) -> list[Key]:
    """Return the names of strata in the order of ranks, or else of numbers and names.

    Those without a value come last.

    Examples
    --------
    >>> in_order([("10",), ("nan",), ("9",), ("(none)",)], [[]])
    [('9',), ('10',), ('nan',), ('(none)',)]
    """

    def place(key: Key) -> list[tuple[Any, ...]]:
        return [_place(name, known) for name, known in zip(key, ranks, strict=True)]

    return sorted(strata, key=place)


def _place(name: str, ranks: Sequence[str]) -> tuple[bool, int, bool, float, str]:
    rank = ranks.index(name) if name in ranks else len(ranks)
    is_number = _NUMBER.fullmatch(name) is not None
    return name == NO_VALUE, rank, not is_number, number_of(name) if is_number else 0.0, name


def _predictions(grids: Grids, text: pa.Array) -> tuple[Bytes, Bools, dict[int, str]]:
    """Read predictions, as given solutions are read.

    Returns
    -------
    predicted : ndarray of uint8, shape (n, n_cells)
    is_missing : ndarray of bool, shape (n,)
    malformed : dict of int to str
        The rows whose prediction is something else, and why.
    """
    predicted, wrong = grids.shape.solutions_of(text)
    is_missing, explain = ~have_text(text), grids.shape.solution_notation.explain
    malformed = {
        int(grids.rows[place]): explain(text[place].as_py(), int(wrong[place]))
        for place in np.flatnonzero((wrong != FINE) & ~is_missing).tolist()
    }
    return predicted, is_missing, malformed


def _given_truth(batch: Batch, grids: Grids) -> tuple[Bytes, dict[int, str]]:
    """Return the given solutions, and why rows have none that can be used."""
    why = {row: batch.faults[row] for row in grids.rows.tolist() if row in batch.faults}
    for place in np.flatnonzero(~grids.check(grids.given)).tolist():
        fault = "the truth does not solve the puzzle" if grids.has_given[place] else "no truth"
        why.setdefault(int(grids.rows[place]), fault)
    return grids.given, why


def _found_truth(
    batch: Batch, grids: Grids, answers: Answers
) -> tuple[Bytes, Bools, dict[int, str]]:
    """Return the unique solutions, where these are, and why rows have no solution."""
    status, messages = batch.statuses(answers, PROVES_UNIQUENESS)
    digits, places, _ = solved_among(grids, answers)
    truth = np.zeros_like(grids.puzzles)
    truth[places] = digits
    statuses = status[grids.rows]
    why = {
        row: messages.get(row) or f"the puzzle is {STATUS_NAMES[status[row]]}"
        for row in grids.rows[~np.isin(statuses, [Status.UNIQUE, Status.MULTIPLE])].tolist()
    }
    return truth, statuses == Status.UNIQUE, why


def _houses(grids: Grids, predicted: Bytes) -> tuple[Ints, Ints]:
    """Return the number of houses of each grid, and of those that hold every digit once."""
    n_houses, n_kept = np.zeros((2, len(grids.rows)), np.int64)
    for problem, rows in grids.one_by_one():
        places, all_digits = grids.places(rows), np.arange(1, problem.n_digits + 1)
        houses = {*map(frozenset, problem.rules.houses)}  # a region may be a row, too
        n_houses[places] = len(houses)
        for house in map(list, houses):
            digits = np.sort(predicted[places][:, house], axis=1)
            n_kept[places] += (digits == all_digits).all(axis=1)
    return n_houses, n_kept
