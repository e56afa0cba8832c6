"""Repeated puzzles of a corpus: keys of grids, and the table of seen keys.

A key is a hash of 128 bits, drawn from a *universal* family: any two different grids collide with
probability 2⁻¹²⁸ over the random choice of the hash (multilinear hashing, Carter and Wegman 1981;
Lemire and Kaser 2014). Every run draws a secret, from which SHAKE-256 makes a hash for each kind
of grids, so no file can be made to collide: among ten million puzzles, two collide in one of 10²⁴
runs.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from batchsolve.core import native
from batchsolve.core.arrays import Bools, Bytes, Ints, Words
from batchsolve.search.answers import Answers, Status
from batchsolve.settings import PROVES_UNIQUENESS
from batchsolve.tables.answers import RowSums, RowValues, agreement, solved_among
from batchsolve.tables.reader import Batch, Grids, forms_of_shape

UNSEEN = -1
"""The row number of an empty slot."""

FORM = "_up_to_symmetry"
"""The end of the names of keys of canonical forms."""

PUZZLE_FORM = f"puzzle{FORM}"
KEYS = ("puzzle", "solution", PUZZLE_FORM, f"solution{FORM}")
"""The names of the keys of solved rows."""

_FIRST_SLOTS = 1 << 16
_MOST_LOAD = 0.7  # of the slots, so that a look-up probes only a few
_HASHES = 4  # of 32 bits each


def grid_keys(secret: bytes, kind: object, grids: Bytes) -> Words:
    """Return the keys, shape (n, 2), of grids of shape (n, number of cells).

    A key is a hash of 128 bits, drawn from a universal family (multilinear hashing: L. Carter and
    M. Wegman, Universal classes of hash functions, 1979; D. Lemire and O. Kaser, Strongly universal
    string hashing is fast, 2014): four sums of a factor and of the words of a grid, each times a
    factor, of which the upper halves count. The hash of each kind of grids has other factors.

    Examples
    --------
    >>> grids = np.array([[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 4, 3]], np.uint8)
    >>> keys = grid_keys(b"secret", "2x2", grids).tolist()
    >>> keys[0] == keys[1], keys[0] == keys[2]
    (True, False)
    """
    shape = (_HASHES, 1 + -(-grids.shape[1] // 4))  # a word is four cells
    data = hashlib.shake_256(secret + repr(kind).encode()).digest(8 * shape[0] * shape[1])
    factors = np.frombuffer(data, np.uint64).reshape(shape).T
    cells = np.zeros((len(grids), 4 * (shape[1] - 1)), np.uint8)
    cells[:, : grids.shape[1]] = grids
    sums = cells.view(np.uint32).astype(np.uint64) @ factors[1:] + factors[0]
    upper = np.ascontiguousarray(sums.view(np.uint32)[:, 1::2])
    return upper.view(np.uint64)


class SeenKeys:
    """The hash table of the keys of all rows so far, each with the number of its first row.

    A slot takes 24 bytes, and at most 0.7 of the slots are used; ten million rows take 403 MB, and
    half as much again while the table doubles.

    Examples
    --------
    >>> seen, grids = SeenKeys(), np.array([[1, 2], [2, 1], [1, 2], [0, 0]], np.uint8)
    >>> keys = grid_keys(b"secret", "1x2", grids)
    >>> seen.add(keys, np.array([True, True, True, False]), first_row=10).tolist()
    [-1, -1, 10, -1]
    >>> seen.add(keys, np.ones(4, bool), first_row=14).tolist()
    [10, 11, 10, -1]
    >>> len(seen)
    3
    """

    def __init__(self) -> None:
        self._keys, self._rows = _empty_table(_FIRST_SLOTS)
        self._n = 0

    def __len__(self) -> int:
        return self._n

    def add(self, keys: Words, counted: Bools, first_row: int) -> Ints:
        """Add the keys of consecutive rows; return the first row with the same key for each.

        Parameters
        ----------
        keys : ndarray of uint64, shape (n, 2)
        counted : ndarray of bool, shape (n,)
            Rows that have a key; the others stay unseen.
        first_row : int
            The number of the first of the rows.

        Returns
        -------
        ndarray of int64, shape (n,)
            `UNSEEN` for rows that are the first with their key.
        """
        slots = len(self._rows)
        while self._n + len(keys) > _MOST_LOAD * slots:
            slots *= 2
        if slots > len(self._rows):
            old_keys, old_rows = self._keys, self._rows
            self._keys, self._rows = _empty_table(slots)
            native.add_keys(self._keys, self._rows, old_keys, old_rows != UNSEEN, old_rows)
        rows = np.arange(first_row, first_row + len(keys))
        found: Ints = native.add_keys(self._keys, self._rows, keys, counted, rows)
        self._n += int(np.count_nonzero(counted & (found == UNSEEN)))
        return found


def _empty_table(slots: int) -> tuple[Words, Ints]:
    return np.empty((slots, 2), np.uint64), np.full(slots, UNSEEN, np.int64)


class RowKeys(NamedTuple):
    """The keys of the rows of a block, as they are compared with others.

    Attributes
    ----------
    n_rows : int
    sums : RowSums
        With ``undecided`` rows, whose canonical form was not found: they are compared as they are
        written.
    keys : dict of str to (ndarray of uint64, shape (n, 2), ndarray of bool, shape (n,))
        Keys of each row by their names, some of `KEYS`, and True for the rows that have one.
    """

    n_rows: int
    sums: RowSums
    keys: dict[str, tuple[Words, Bools]]


@dataclass
class Seen:
    """The keys of all rows so far. Known rows, with which others are compared, come first.

    Attributes
    ----------
    secret : bytes
        A random text, from which the factors of hashes come.
    n_rows, n_known : int
        Numbers of rows so far, and of known ones among them.
    """

    secret: bytes = field(default_factory=partial(secrets.token_bytes, 32))
    n_rows: int = 0
    n_known: int = 0
    _tables: dict[str, SeenKeys] = field(default_factory=dict)

    def first_rows(self, rows: RowKeys) -> dict[str, Ints]:
        """Add the keys of the next rows; return the first row with each, or `UNSEEN`."""
        found = {
            name: self._tables.setdefault(name, SeenKeys()).add(*keys, self.n_rows)
            for name, keys in rows.keys.items()
        }
        self.n_rows += rows.n_rows
        return found

    def is_known(self, first: Ints) -> Bools:
        """Return True for each row whose first row is a known one."""
        known: Bools = (first != UNSEEN) & (first < self.n_known)
        return known


def row_keys(secret: bytes, names: Sequence[str], batch: Batch, answers: None = None) -> RowKeys:
    """Return the keys of rows that are not solved, by their puzzles and given solutions.

    Invalid rows have none. The sums are ``invalid`` and ``undecided`` rows.

    Parameters
    ----------
    secret : bytes
        See `Seen`.
    names : sequence of str
        Some of `KEYS`; those of solutions only if there are given ones.
    batch : Batch
    answers : None
    """
    is_valid = batch.first_clashes() < 0
    sums = RowSums({"invalid": int(np.count_nonzero(~is_valid))})
    return _row_keys(secret, names, batch, is_valid, [grids.given for grids in batch.grids], sums)


def solved_keys(
    secret: bytes, names: Sequence[str], has_given: bool, batch: Batch, answers: Answers
) -> RowKeys:
    """Return the keys of solved rows, by their puzzles and solutions.

    Invalid rows have none, even if they have a given solution.

    Parameters
    ----------
    secret : bytes
        See `Seen`.
    names : sequence of str
        Some of `KEYS`.
    has_given : bool
        True if the rows have given solutions. One that is right is the solution of a puzzle that
        has several; that of other puzzles is the one that was found.
    batch : Batch
    answers : Answers
    """
    values = RowValues(batch, answers, PROVES_UNIQUENESS)
    sums, is_valid = values.sums, values.status != Status.INVALID
    is_unique = values.status == Status.UNIQUE
    solved = [solved_among(grids, answers) for grids in batch.grids]
    if has_given:
        _, sums.counts["disagree"] = agreement(batch, values.status, solved)
    solutions = []
    for grids, (digits, places, _) in zip(batch.grids, solved, strict=True):
        solution = np.zeros_like(grids.puzzles)
        solution[places] = digits
        solution[~is_unique[grids.rows]] = 0
        if has_given:
            right = is_valid[grids.rows] & ~is_unique[grids.rows]
            right[right] = batch.check(grids.rows[right])
            solution[right] = grids.given[right]
        solutions.append(solution)
    return _row_keys(secret, names, batch, is_valid, solutions, sums)


def _row_keys(
    secret: bytes,
    names: Sequence[str],
    batch: Batch,
    is_valid: Bools,
    solutions: Sequence[Bytes],
    sums: RowSums,
) -> RowKeys:
    """Return the keys of valid rows, and of their solutions, which are 0 where there is none.

    The sums have the first row that is invalid, or has no canonical form.
    """
    n, undecided = len(batch), list[int]()
    keys = {name: (np.zeros((n, 2), np.uint64), np.zeros(n, np.bool_)) for name in names}
    for grids, solution in zip(batch.grids, solutions, strict=True):
        rules, problem, rows = grids.shape.rules, grids.shape.problem, grids.rows
        for name in names:
            is_form = name.endswith(FORM)
            cells, has = grids.puzzles, is_valid[rows]
            if name.startswith("solution"):
                cells, has = solution, has & (solution > 0).all(axis=1)
                if is_form:
                    has &= problem.first_clashes(solution) < 0
            if is_form:
                cells, without = _with_forms(grids, cells, np.flatnonzero(has))
                undecided += rows[without].tolist() if name.startswith("puzzle") else []
            kind: object = "solution", cells.shape[1]
            if name.startswith("puzzle"):  # equal puzzles have the same kind
                kind, cells = (problem.fingerprint, rules.names), rules.key_digits(cells, grids.own)
            keys[name][0][rows] = grid_keys(secret, kind, cells)
            keys[name][1][rows] = has
    wrong = [*np.flatnonzero(~is_valid)[:1].tolist(), *undecided]
    first = (min(wrong), "invalid, or without a canonical form") if wrong else None
    counts = sums.counts | {"undecided": len(undecided)}
    return RowKeys(n, sums._replace(counts=counts, first_invalid=first), keys)


def _with_forms(grids: Grids, cells: Bytes, places: Ints) -> tuple[Bytes, Ints]:
    """Return grids with the canonical forms of some, and the places of those that have none.

    A puzzle whose form was not found is not the form of another puzzle.
    """
    found, forms, _ = forms_of_shape(grids.shape, cells, places)
    cells = cells.copy()
    cells[found] = forms
    return cells, np.setdiff1d(places, found)
