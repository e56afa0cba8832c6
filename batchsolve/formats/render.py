"""Covers as rows of a table.

A solved grid is one text; any other cover is the list of the names of its options. Rows are
sorted, grids by their bytes and lists name by name, so that equal sets of covers make equal tables.
The core (``core/render.h``) and Arrow work on whole batches, without a Python object per cover and
without the interpreter lock.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from batchsolve.core import native
from batchsolve.core.arrays import UInts
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.grids import GridProblem, SolvedGrids
from batchsolve.problems.notation import Notation, buffers, usual_notation
from batchsolve.problems.stacks import Stacks

GRID, OPTIONS = "grid", "options"
GRIDS = pa.schema([(GRID, pa.string())])
LISTS = pa.schema([(OPTIONS, pa.list_(pa.string()))])

_MOST_BYTES = 2**31 - 1  # of a column of Arrow, whose offsets have 32 bits
_CACHED_PROBLEMS = 8

# On 16×16 grids, lz4 and snappy are little faster than level 1 of zstd, and make files three and
# four times the size; on lists of 8 to 12 short names all three are alike. DELTA_BYTE_ARRAY makes
# grids a quarter smaller still, but fewer programs read it. Grids all differ, so a dictionary does
# not help.
_COMPRESSION, _COMPRESSION_LEVEL = "zstd", 1


@dataclass(frozen=True)
class CoverRenderer:
    """A writer of whole batches of covers of a problem.

    Renderers are small, can be pickled, and may be used by several threads at once. Equal renderers
    share their precomputed names, which each process builds on first use.

    Parameters
    ----------
    problem : ExactCover
    notation : Notation, optional
        The notation of grids; the usual alphabet by default. Other problems ignore it.

    Examples
    --------
    >>> problem = ExactCover([0, 2, 3, 4], [0, 1, 0, 1], 2, option_names=["both", "b", "a"])
    >>> covers = Stacks.from_lists([[2, 1], [0]])
    >>> print(CoverRenderer(problem).json_lines(covers).to_pybytes().decode(), end="")
    {"options": ["b", "a"]}
    {"options": ["both"]}
    """

    problem: ExactCover = field(compare=False)
    notation: Notation | None = None
    _names_digest: bytes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_names_digest", _digest_of_names(self.problem))

    @property
    def schema(self) -> pa.Schema:
        """The one column of a table: ``grid``, text, for grids, else ``options``, lists."""
        return GRIDS if isinstance(self.problem, GridProblem) else LISTS

    def table(self, covers: Stacks, *, in_order: bool = True) -> pa.Table:
        """Return covers as a table.

        Parameters
        ----------
        covers : Stacks
            Complete covers, in any order.
        in_order : bool
            True to sort the rows; otherwise they have the order of the covers.

        Returns
        -------
        pyarrow.Table
            The columns of `schema`, in one chunk. Grids are sorted by their bytes. The names of
            a cover's options are in ascending order of option numbers. Lists are sorted name by
            name, names by their UTF-8 bytes, and a list before its extensions.

        Raises
        ------
        ValueError
            If covers of a grid problem do not fill the grid, or the text exceeds 2 GiB, the
            size of a column of Arrow.
        """
        if isinstance(self.problem, GridProblem):
            column = _grids(self.problem, covers, self.notation)
            column = column.take(pc.sort_indices(column)) if in_order else column
        else:
            column = self._lists(covers, self._names.sorted, in_order)
        return pa.table([column], self.schema)

    def parquet(self, covers: Stacks) -> pa.Buffer:
        """Return a whole Parquet file of `table`."""
        return _parquet(self.table(covers))

    def json_lines(self, covers: Stacks, *, in_order: bool = True) -> pa.Buffer:
        """Return the rows of `table` as JSON, one object per line, in ASCII."""
        if isinstance(self.problem, GridProblem):
            texts = self.table(covers, in_order=in_order)[GRID].chunk(0)
            for escaped in ("\\", '"'):
                texts = pc.replace_substring(texts, escaped, f"\\{escaped}")
            begin, end = f'{{"{GRID}": "', '"}\n'
        else:
            texts = pc.binary_join(self._lists(covers, self._names.in_json, in_order), ", ")
            begin, end = f'{{"{OPTIONS}": [', "]}\n"
        bounds, data = buffers(pc.binary_join_element_wise(begin, texts, end, ""))
        return pa.py_buffer(data[: bounds[-1]])

    def _lists(self, covers: Stacks, names: pa.StringArray, in_order: bool) -> pa.ListArray:
        """Return the names of the options of covers, given the name of each rank."""
        pairs = covers.offsets, covers.options
        bounds, ranks = native.ranked(pairs, self._names.rank, in_order)
        _check_size(len(covers), bounds[-1])
        return pa.ListArray.from_arrays(bounds.astype(np.int32), names.take(pa.array(ranks)))

    @property
    def _names(self) -> _Names:
        with _NAMES_LOCK:  # threads that begin together build the names once
            return _names_of(self)


def joined(parts: Sequence[pa.Buffer]) -> pa.Buffer:
    """Join files of `CoverRenderer.parquet`; the rows of each part keep their order."""
    tables = (pq.read_table(pa.BufferReader(part), use_threads=False) for part in parts)
    return _parquet(pa.concat_tables(tables).combine_chunks())


def _parquet(table: pa.Table) -> pa.Buffer:
    file = pa.BufferOutputStream()
    pq.write_table(
        table,
        file,
        row_group_size=max(len(table), 1),
        compression=_COMPRESSION,
        compression_level=_COMPRESSION_LEVEL,
        use_dictionary=table.column_names != [GRID],
        write_statistics=False,
        store_schema=False,
    )
    return file.getvalue()


# ---- names of options -----------------------------------------------------------------------


class _Names(NamedTuple):
    """The different names of a problem's options."""

    sorted: pa.StringArray  # by their bytes; the place of a name is its rank
    rank: UInts  # option -> the rank of its name
    in_json: pa.StringArray  # the same as texts of JSON


_NAMES_LOCK = threading.Lock()


@lru_cache(maxsize=_CACHED_PROBLEMS)
def _names_of(renderer: CoverRenderer) -> _Names:
    """Build the names of all options."""
    problem = renderer.problem
    names = [problem.option_name(o) for o in range(problem.n_options)]
    each = sorted(set(names), key=str.encode)
    rank_of = {name: rank for rank, name in enumerate(each)}
    rank = np.array([rank_of[name] for name in names], np.uint32)
    texts = pa.array(map(json.dumps, each), pa.string())
    return _Names(pa.array(each, pa.string()), rank, texts)


def _digest_of_names(problem: ExactCover) -> bytes:
    """Return a digest of a problem and its names.

    Pickled renderers have the digest, so workers recognise a problem without comparing names.
    """
    digest = hashlib.sha256(f"{type(problem).__qualname__} {problem.fingerprint}".encode())
    if isinstance(problem, GridProblem):  # the fingerprint has its boxes, and it has no names
        return digest.digest()
    for names in (problem.item_names, problem.option_names, problem.color_names):
        digest.update(repr(names).encode())
    if problem.colors is not None:  # the fingerprint only has the equality of colours
        digest.update(problem.colors.tobytes())
    return digest.digest()


# ---- grids ----------------------------------------------------------------------------------


def _grids(problem: GridProblem, covers: Stacks, notation: Notation | None) -> pa.StringArray:
    """Return covers as grids in a notation."""
    n, size = len(covers), problem.cover_size
    if not isinstance(covers, SolvedGrids) and np.any(np.diff(covers.offsets) != size):
        raise ValueError(f"not all of these covers of {problem!r} have {size} options")
    notation = notation or usual_notation(problem.n_digits)
    longest = max(map(len, notation.names)) + len(notation.separator)
    _check_size(n, n * max(problem.n_cells, len(notation.drawing)) * longest)
    return notation.decode(problem.grids(covers), np.ones(n, np.bool_))


def _check_size(n: int, n_bytes: int) -> None:
    """Raise `ValueError` if a column of Arrow may have too few offsets for covers."""
    if n_bytes > _MOST_BYTES:
        raise ValueError(f"{n} covers are too many to be rendered at once")
