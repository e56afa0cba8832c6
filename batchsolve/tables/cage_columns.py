"""Columns of cages and sums, read by compiled code where each label of a cage is one character."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from batchsolve.arrays import Bools, Ints
from batchsolve.kernels import helper, kernel
from batchsolve.problems.notation import buffers
from batchsolve.problems.row_rules import NO_SUM, Given

_DOT, _EQUALS, _QUESTION, _ZERO = map(ord, ".=?0")
_MOST_SUM_DIGITS = 9


def read_cages(cages: pa.Array, sums: pa.Array, n: int, rows: Ints) -> tuple[Given, Bools]:
    """Return the cages of some rows of a block; True for each row that is read.

    Other rows are written in another way, or wrong: `batchsolve.formats.grid_rules.read_cages`
    tells.

    Parameters
    ----------
    cages, sums : pyarrow.Array
        The texts of all rows of the block.
    n : int
        Number of digits.
    rows : ndarray of int64
        The rows to read; all others get no cages.

    Examples
    --------
    >>> given, is_read = read_cages(pa.array(["AA.B"]), pa.array(["A=3 B=?"]), 2, np.arange(1))
    >>> given.totals[0], given.cells_of.tolist(), given.cage_cells.tolist()
    (np.int64(3), [0, 2, 3], [0, 1, 3])
    """
    n_rows, most = len(cages), len(rows) * n * n
    cages_of, cells_of = np.zeros(n_rows + 1, np.int64), np.zeros(most + 1, np.int64)
    totals, cage_cells = np.empty(most, np.int64), np.empty(most, np.uint16)
    is_read = np.zeros(n_rows, np.bool_)
    is_wanted = np.zeros(n_rows, np.bool_)
    is_wanted[rows] = True
    texts = *buffers(cages), *buffers(sums)
    _read(texts, n, is_wanted, is_read, cages_of, totals, cells_of, cage_cells)
    n_cages = int(cages_of[-1])
    cells_of = cells_of[: n_cages + 1].copy()
    given = Given.blank(n_rows)._replace(
        cages_of=cages_of,
        totals=totals[:n_cages].copy(),
        cells_of=cells_of,
        cage_cells=cage_cells[: cells_of[-1]].copy(),
    )
    return given, is_read


@kernel
def _read(
    texts: Any,
    n: int,
    is_wanted: Any,
    is_read: Any,
    cages_of: Any,
    totals: Any,
    cells_of: Any,
    cage_cells: Any,
) -> None:
    """Write the cages of rows one after another, those of a row in the order of their cells."""
    labels, label_begins, sums, sum_begins = texts
    total_of = np.empty(128, np.int64)
    has_sum, size = np.empty(128, np.bool_), np.empty(128, np.int64)
    order = np.empty(128, np.int64)  # the labels, by first cell
    n_cages, n_cells = 0, 0
    for row in range(is_wanted.size):
        cages_of[row + 1] = n_cages
        begin, end = label_begins[row], label_begins[row + 1]
        if not is_wanted[row] or end - begin != n * n:
            continue
        text = sums[sum_begins[row] : sum_begins[row + 1]]
        if not _read_sums(text, has_sum, total_of):
            continue
        size[:] = 0
        n_labels, is_good = 0, True
        for cell in range(n * n):
            label = labels[begin + cell]
            if label == _DOT:
                continue
            if label >= 128 or _separates(label) or not has_sum[label]:
                is_good = False
                break
            if size[label] == 0:
                order[n_labels] = label
                n_labels += 1
            size[label] += 1
        n_sums = 0
        for label in range(128):
            n_sums += has_sum[label]
            is_house = size[label] == n and total_of[label] == NO_SUM
            is_good &= size[label] <= n and not (has_sum[label] and is_house)
        if not is_good or n_sums != n_labels:
            continue
        for k in range(n_labels):
            for cell in range(n * n):
                if labels[begin + cell] == order[k]:
                    cage_cells[n_cells] = cell
                    n_cells += 1
            totals[n_cages] = total_of[order[k]]
            n_cages += 1
            cells_of[n_cages] = n_cells
        is_read[row] = True
        cages_of[row + 1] = n_cages


@helper
def _separates(byte: Any) -> bool:
    return byte <= 32 or byte == 44 or byte == 59  # space and its like, comma, semicolon


@helper
def _read_sums(text: Any, has_sum: Any, total_of: Any) -> bool:
    """Read words such as ``A=10`` or ``B=?``; tell whether the text consists of them."""
    has_sum[:] = False
    x = 0
    while x < text.size:
        label = text[x]
        if _separates(label):
            x += 1
            continue
        if label >= 128 or has_sum[label] or x + 2 >= text.size or text[x + 1] != _EQUALS:
            return False
        if label in (_EQUALS, _DOT):
            return False
        x += 2
        begin, total = x, 0
        if text[x] == _QUESTION:
            total = NO_SUM
            x += 1
        else:
            while x < text.size and _ZERO <= text[x] < _ZERO + 10:
                total = 10 * total + (text[x] - _ZERO)
                x += 1
                if x - begin > _MOST_SUM_DIGITS:
                    return False
        if x == begin or (x < text.size and not _separates(text[x])):
            return False
        has_sum[label], total_of[label] = True, total
    return True
