"""Covers as rows of a table.

A solved grid is one text; any other cover is the list of the names of its options. Rows are
sorted, grids by their bytes and lists name by name, so that equal sets of covers make equal tables.
NumPy and Arrow work on whole batches, without a Python object per cover.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from batchsolve.core.arrays import Bytes, Ints, UInts, begins_of
from batchsolve.problems.exact_cover import ExactCover, prepared
from batchsolve.problems.grids import GridProblem, SolvedGrids
from batchsolve.problems.notation import Notation, usual_notation
from batchsolve.problems.stacks import Stacks

GRID, OPTIONS = "grid", "options"
GRIDS = pa.schema([(GRID, pa.string())])
LISTS = pa.schema([(OPTIONS, pa.list_(pa.string()))])

_MOST = 2**31 - 1  # names or bytes in a column of Arrow, whose offsets have 32 bits

# On 16×16 grids, lz4 and snappy are little faster than level 1 of zstd, and make files three and
# four times the size; on lists of 8 to 12 short names all three are alike. DELTA_BYTE_ARRAY makes
# grids a quarter smaller still, but fewer programs read it. Grids all differ, so a dictionary does
# not help.
_COMPRESSION, _COMPRESSION_LEVEL = "zstd", 1


def cover_table(problem: ExactCover, notation: Notation | None, covers: Stacks) -> pa.Table:
    """Return covers as a sorted table of one column, in one chunk.

    Parameters
    ----------
    problem : ExactCover
        Problems and their copies share their names, which each process builds on first use; several
        threads may do so at once.
    notation : Notation or None
        The notation of grids; None for the usual alphabet. Other problems ignore it.
    covers : Stacks
        Complete covers, in any order.

    Returns
    -------
    pyarrow.Table
        The columns of `GRIDS` or `LISTS`. Grids are sorted by their bytes. The names of a cover's
        options are in ascending order of option numbers. Lists are sorted name by name, names by
        their UTF-8 bytes, and a list before its extensions.

    Raises
    ------
    ValueError
        If covers of a grid problem do not fill the grid, or the text exceeds 2 GiB, the size of a
        column of Arrow.
    """
    if isinstance(problem, GridProblem):
        return pa.table([_grid_texts(problem, notation, covers)], GRIDS)
    (bounds, ranks), (names, *_) = _ranked(problem, covers), _names_of(problem)
    return pa.table([_lists(bounds, names.take(ranks))], LISTS)


def cover_parquet(problem: ExactCover, notation: Notation | None, covers: Stacks) -> pa.Buffer:
    """Return a whole Parquet file of `cover_table`; names are encoded as they are in Parquet."""
    if not isinstance(problem, GridProblem):
        (bounds, ranks), (names, *_) = _ranked(problem, covers), _names_of(problem)
        if len(names) <= len(ranks):  # else the file would hold the whole dictionary
            coded = pa.DictionaryArray.from_arrays(ranks, names)
            return _parquet(pa.table([_lists(bounds, coded)], [OPTIONS]))
    return _parquet(cover_table(problem, notation, covers))


def cover_lines(
    problem: ExactCover, notation: Notation | None, covers: Stacks, in_order: bool = True
) -> pa.Buffer:
    """Return the rows of `cover_table` as JSON, one object per line, in ASCII.

    Parameters
    ----------
    problem, notation, covers
        See `cover_table`.
    in_order : bool
        True to sort the rows; otherwise they have the order of the covers.

    Examples
    --------
    >>> problem = ExactCover([0, 2, 3, 4], [0, 1, 0, 1], 2, option_names=["both", "b", "a"])
    >>> covers = Stacks.from_lists([[2, 1], [0]])
    >>> print(cover_lines(problem, None, covers).to_pybytes().decode(), end="")
    {"options": ["b", "a"]}
    {"options": ["both"]}
    """
    if not len(covers):
        return pa.py_buffer(b"")
    if isinstance(problem, GridProblem):
        head, tail = f'{{"{GRID}": "', '"}\n'
        texts = _grid_texts(problem, notation, covers, in_order, in_json=True)
    else:
        head, tail = f'{{"{OPTIONS}": [', "]}\n"
        (bounds, ranks), (*_, in_json) = _ranked(problem, covers, in_order), _names_of(problem)
        texts = pc.binary_join(_lists(bounds, in_json.take(ranks)), ", ")
    return pc.binary_join_element_wise(head, texts, tail, "").buffers()[2]


def joined(parts: Sequence[pa.Buffer]) -> pa.Buffer:
    """Join files of `cover_parquet`; the rows of each part keep their order."""
    is_grid = GRID in pq.read_schema(pa.BufferReader(parts[0])).names
    coded = [] if is_grid else [f"{OPTIONS}.list.element"]  # names stay encoded
    files = (pq.ParquetFile(pa.BufferReader(part), read_dictionary=coded) for part in parts)
    tables = (file.read(use_threads=False) for file in files)
    return _parquet(pa.concat_tables(tables).unify_dictionaries().combine_chunks())


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
        store_schema=False,  # otherwise lists of encoded names would be read as such
    )
    return file.getvalue()


# ---- names of options -----------------------------------------------------------------------


_Names = tuple[pa.StringArray, UInts, pa.StringArray]
"""The different names of a problem's options, by their bytes: the place of a name is its rank; the
rank of the name of each option; and the names as JSON texts, by their ranks."""


@prepared
def _names_of(problem: ExactCover) -> _Names:
    """Build the names of all options."""
    names = [problem.option_name(o) for o in range(problem.n_options)]
    distinct = sorted(set(names), key=str.encode)
    rank_of = {name: rank for rank, name in enumerate(distinct)}
    rank = np.array([rank_of[name] for name in names], np.uint32)
    in_json = pa.array(list(map(json.dumps, distinct)), pa.string())
    return pa.array(distinct, pa.string()), rank, in_json


# ---- rows -----------------------------------------------------------------------------------


def _ranked(problem: ExactCover, covers: Stacks, in_order: bool = True) -> tuple[Ints, pa.Array]:
    """Return the lists of names of covers, sorted if `in_order`: bounds, and ranks of names."""
    (names, rank, _), sizes = _names_of(problem), np.diff(covers.offsets)
    is_there = np.arange(sizes.max(initial=0)) < sizes[:, None]
    options = np.full(is_there.shape, rank.size, np.uint32)  # none, behind all others
    options[is_there] = covers.options[covers.offsets[0] : covers.offsets[-1]]
    options.sort(axis=1)
    # counted from 1, so that a list is less than its extensions
    as_type = np.min_scalar_type(len(names))
    ranks = np.append(rank + 1, 0).astype(as_type).take(options)
    if in_order:
        ranks = ranks[_order_of(ranks)]
    is_there = ranks > 0
    return begins_of(is_there.sum(axis=1)), pa.array(ranks[is_there].astype(np.int32) - 1)


def _order_of(rows: npt.NDArray[np.unsignedinteger]) -> Ints:
    """Return the ascending order of rows of numbers, which numpy compares as bytes."""
    if rows.size == 0:
        return np.arange(len(rows))
    in_bytes = np.ascontiguousarray(rows, rows.dtype.newbyteorder(">"))
    keys = in_bytes.view(f"S{rows.itemsize * rows.shape[1]}").reshape(-1)
    return np.argsort(keys, kind="stable")


def _check_size(n_covers: int, n_entries: int) -> None:
    """Raise an error if a column of Arrow has no room for this number of names, or of bytes."""
    if n_entries > _MOST:
        raise ValueError(f"{n_covers} covers are too many to be rendered at once")


def _lists(bounds: Ints, entries: pa.Array) -> pa.ListArray:
    """Return lists that lie one behind the other as a column of Arrow."""
    _check_size(bounds.size - 1, int(bounds[-1]))
    return pa.ListArray.from_arrays(pa.array(bounds.astype(np.int32)), entries)


# ---- grids ----------------------------------------------------------------------------------


def _grid_texts(
    problem: GridProblem,
    notation: Notation | None,
    covers: Stacks,
    in_order: bool = True,
    in_json: bool = False,
) -> pa.StringArray:
    """Return grids as texts, sorted if `in_order`, with symbols escaped if `in_json`."""
    size, notation = problem.cover_size, notation or usual_notation(problem.n_digits)
    if not isinstance(covers, SolvedGrids) and np.any(np.diff(covers.offsets) != size):
        raise ValueError(f"not all of these covers of {problem!r} have {size} options")
    grids = problem.grids(covers)
    _check_size(len(grids), len(grids) * notation.placed(grids[:1]).size)
    if in_order:
        ranks = _ranks(notation.names, notation.separator)
        is_ascending = (np.diff(ranks.astype(int)) > 0).all()
        grids = grids[_order_of(grids if is_ascending else ranks.take(grids))]
    texts = notation.decode(grids)
    # the backslash first, as it is in the text of the others
    for symbol in sorted(notation.symbols, key="\\".__ne__):
        if in_json and (escaped := json.dumps(symbol)[1:-1]) != symbol:
            texts = pc.replace_substring(texts, symbol, escaped)
    return texts


def _ranks(digits: Sequence[str], separator: str) -> Bytes:
    """Return the rank of each digit's text, from 1, shape (N + 1,); blank cells have none.

    The order of texts of grids is that of their cells in turn, each with the separator behind it.
    The last cell has none, but grids that agree in all others agree in the last one as well.
    """
    order = sorted(range(len(digits)), key=lambda digit: (digits[digit] + separator).encode())
    return np.append(0, 1 + np.argsort(order)).astype(np.uint8)
