"""Blank grids, for tables that have solutions or rules, but no puzzles."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from batchsolve.arrays import Ints
from batchsolve.problems.notation import usual_notation
from batchsolve.problems.overlaps import drawing_of
from batchsolve.problems.survey import NO_FORM, Form, forms
from batchsolve.tables.rule_columns import CAGES, CONSTRAINTS, REGIONS
from batchsolve.tables.texts import as_json, as_text, in_one_line

_SIZE = re.compile(r'\.Shape~([0-9]{1,2})x|^\s*\{.*"size"\s*:\s*"?([0-9]{1,2})', re.DOTALL)
_USUAL = 9  # of constraints that say no size


@dataclass(frozen=True)
class BlankGrids:
    """The puzzles of a table that has no column of puzzles: blank grids, in a column of their own.

    Attributes
    ----------
    name : str
        The column.
    solution_column : str, optional
        The column of solutions, whose form the grids have.
    rule_columns : tuple of str
        The columns of rules. Regions, cages and constraints tell the size of rows without solution.
    usual : int, optional
        The size of the other rows; by default, their grids are empty texts.
    """

    name: str
    solution_column: str | None
    rule_columns: tuple[str, ...]
    usual: int | None = None

    @property
    def columns(self) -> list[str]:
        """The columns that tell the sizes, the most reliable first."""
        sizing = [name for name in (REGIONS, CAGES, CONSTRAINTS) if name in self.rule_columns]
        return ([self.solution_column] if self.solution_column else []) + sizing

    def texts(self, table: pa.Table) -> pa.Array:
        """Return the blank grids of the rows of a table."""
        codes = np.full(len(table), NO_FORM)
        drawings: dict[int, str] = {}
        for name in self.columns:
            text = as_text(as_json(table[name]), name)
            if name == self.solution_column:
                each = enumerate(text.to_pylist() if "#" in "".join(text[:1].to_pylist()) else ())
                drawings = {row: drawn for row, one in each if (drawn := drawing_of(one or ""))}
                found = forms(in_one_line(text))
            else:
                found = _said(text) if name == CONSTRAINTS else forms(in_one_line(text))
                found = _codes(found // 2)
            codes = np.where(codes == NO_FORM, found, codes)
        if self.usual is not None:
            codes = np.where(codes == NO_FORM, _codes(np.array([self.usual])), codes)
        kinds, which = np.unique(codes, return_inverse=True)
        made = pa.array([_blank(Form.of(code)) for code in kinds.tolist()], pa.string())
        texts = made.take(pa.array(which))
        if not drawings:
            return texts
        return pa.array([drawings.get(row, one) for row, one in enumerate(texts.to_pylist())])


def _codes(sizes: Ints) -> Ints:
    """Return the usual forms of grids of some sizes; `NO_FORM` for 0."""
    usual = [Form(n, not usual_notation(n).symbols).code if n else NO_FORM for n in sizes.tolist()]
    return np.array(usual, np.int64)


def _blank(form: Form) -> str:
    return (" " if form.as_numbers else "").join("." * form.n_digits**2)


def _said(text: pa.Array) -> Ints:
    """Return the numbers of forms of the sizes that constraints say, 0 for empty texts."""
    sizes = []
    for one in text.to_pylist():
        found = _SIZE.search(one) if one else None
        said = int(found[1] or found[2]) if found else _USUAL
        sizes.append(Form(said, False).code if one and one.strip() else NO_FORM)
    return np.array(sizes, np.int64)
