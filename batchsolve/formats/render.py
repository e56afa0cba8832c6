"""Covers as rows of a table.

A solved grid is one text; any other cover is the list of the names of its options. Rows are
sorted, grids by their bytes and lists name by name, so that equal sets of covers make equal tables.
Kernels and Arrow work on whole batches, without a Python object per cover and without the
interpreter lock, so that two threads render at twice the speed of one.

For sorting, a row becomes a short string of 64-bit *words* with the same order: a word packs the
*ranks* of as many digits or names as fit, the first in its highest bits. Cells in which all grids
agree are left out.
"""

# compiled kernels are typed by their arguments
# mypy: disallow-untyped-defs=False, disallow-untyped-decorators=False

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from batchsolve.arrays import Bytes, Ints, UInts, Words
from batchsolve.kernels import helper, kernel, light_kernel
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.grids import GridProblem, SolvedGrids
from batchsolve.problems.notation import Notation, usual_notation, write_symbols
from batchsolve.problems.stacks import Stacks

GRID, OPTIONS = "grid", "options"
GRIDS = pa.schema([(GRID, pa.string())])
LISTS = pa.schema([(OPTIONS, pa.list_(pa.string()))])

_WORD_BITS = 64
_MOST_BYTES = 2**31 - 1  # of a column of Arrow, whose offsets have 32 bits
_FEW = 32  # options; insertion sorts up to this many faster
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

    def table(self, covers: Stacks) -> pa.Table:
        """Return covers as a sorted table.

        Parameters
        ----------
        covers : Stacks
            Complete covers, in any order.

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
            bounds, data = _grid_lines(self.problem, covers, self.notation, "", "")
            offsets = pa.py_buffer(_as_offsets(bounds))
            column = pa.StringArray.from_buffers(len(covers), offsets, pa.py_buffer(data))
            return pa.table([column], self.schema)
        bounds, ranks = self._ranked(covers)
        names = self._names.sorted.take(pa.array(ranks))
        column = pa.ListArray.from_arrays(pa.array(_as_offsets(bounds)), names)
        return pa.table([column], self.schema)

    def parquet(self, covers: Stacks) -> pa.Buffer:
        """Return a whole Parquet file of `table`."""
        is_grid = isinstance(self.problem, GridProblem)
        return _parquet(self.table(covers) if is_grid else self._coded(covers))

    def json_lines(self, covers: Stacks, *, in_order: bool = True) -> pa.Buffer:
        """Return the rows of `table` as JSON, one object per line, in ASCII.

        Parameters
        ----------
        covers : Stacks
        in_order : bool
            True to sort the rows; otherwise they have the order of the covers.
        """
        if isinstance(self.problem, GridProblem):
            head, tail = f'{{"{GRID}": "', '"}\n'
            lines = _grid_lines(self.problem, covers, self.notation, head, tail, in_order)
            return pa.py_buffer(lines[1])
        bounds, ranks = self._ranked(covers, in_order)
        frame = _ascii(f'{{"{OPTIONS}": ['), _ascii(", "), _ascii("]}\n")
        return pa.py_buffer(_join(bounds, ranks, *self._names.in_json, *frame)[1])

    def _coded(self, covers: Stacks) -> pa.Table:
        """Return `table` with names encoded as in Parquet: numbers, and a dictionary."""
        (bounds, ranks), names = self._ranked(covers), self._names.sorted
        if len(names) > ranks.size:  # the file would hold the whole dictionary
            return self.table(covers)
        coded = pa.DictionaryArray.from_arrays(pa.array(ranks), names)
        column = pa.ListArray.from_arrays(pa.array(_as_offsets(bounds)), coded)
        return pa.table([column], [OPTIONS])

    def _ranked(self, covers: Stacks, in_order: bool = True) -> tuple[Ints, npt.NDArray[np.int32]]:
        """Return the lists of names of covers, sorted if `in_order`: bounds, and ranks of names."""
        rank = self._names.rank
        bits = max(len(self._names.sorted).bit_length(), 1)
        options = _ascending(covers.offsets, covers.options)
        order = np.arange(len(covers), dtype=np.uint32)
        if in_order:
            order = _sorted_order(*_pack_lists(covers.offsets, options, rank, bits))
        bounds, ranks = _gather_ranks(covers.offsets, options, order, rank)
        return bounds, ranks

    @property
    def _names(self) -> _Names:
        with _NAMES_LOCK:  # threads that begin together build the names once
            return _names_of(self)


def joined(parts: Sequence[pa.Buffer]) -> pa.Buffer:
    """Join files of `CoverRenderer.parquet`; the rows of each part keep their order."""
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


class _Names(NamedTuple):
    """The different names of a problem's options."""

    sorted: pa.StringArray  # by their bytes; the place of a name is its rank
    rank: UInts  # option -> the rank of its name
    in_json: tuple[Ints, Bytes]  # rank -> JSON text; see `_pieces`


_NAMES_LOCK = threading.Lock()


@lru_cache(maxsize=_CACHED_PROBLEMS)
def _names_of(renderer: CoverRenderer) -> _Names:
    """Build the names of all options."""
    problem = renderer.problem
    names = [problem.option_name(o) for o in range(problem.n_options)]
    each = sorted(set(names), key=str.encode)
    rank_of = {name: rank for rank, name in enumerate(each)}
    rank = np.array([rank_of[name] for name in names], np.uint32)
    return _Names(pa.array(each, pa.string()), rank, _pieces([json.dumps(name) for name in each]))


def _digest_of_names(problem: ExactCover) -> bytes:
    """Return a digest of a problem and its names.

    Pickled renderers carry the digest, so workers recognise a problem without looking at its names.
    """
    digest = hashlib.sha256(f"{type(problem).__qualname__} {problem.fingerprint}".encode())
    if isinstance(problem, GridProblem):  # the fingerprint has its boxes, and it has no names
        return digest.digest()
    for names in (problem.item_names, problem.option_names, problem.color_names):
        digest.update(repr(names).encode())
    if problem.colors is not None:  # the fingerprint only has the equality of colours
        digest.update(problem.colors.tobytes())
    return digest.digest()


# ---- text -----------------------------------------------------------------------------------


def _ascii(text: str) -> Bytes:
    return np.frombuffer(text.encode("ascii"), np.uint8)


def _pieces(texts: Sequence[str]) -> tuple[Ints, Bytes]:
    """Return ASCII texts as one array of bytes; text k lies at starts[k]:starts[k + 1]."""
    return np.cumsum([0, *map(len, texts)]), _ascii("".join(texts))


def _as_offsets(bounds: Ints) -> npt.NDArray[np.int32]:
    """Return bounds as the offsets of an Arrow column."""
    if bounds[-1] > _MOST_BYTES:
        raise ValueError(f"{bounds.size - 1} covers are too many to be rendered at once")
    return bounds.astype(np.int32)


@light_kernel
def _join(bounds, keys, starts, pieces, head, separator, tail):
    """Write the pieces of text of every row, with a separator between them.

    Parameters
    ----------
    bounds : ndarray of int64, shape (n + 1,)
        Row ``k`` has the pieces ``keys[bounds[k]:bounds[k + 1]]``.
    keys : ndarray of int32 or uint8
    starts, pieces
        See `_pieces`.
    head, separator, tail : ndarray of uint8
        The text before a row, between pieces, and behind a row.

    Returns
    -------
    lines : ndarray of int64, shape (n + 1,)
        The text of row ``k`` is ``data[lines[k]:lines[k + 1]]``.
    data : ndarray of uint8
    """
    n = bounds.size - 1
    lines = np.zeros(n + 1, np.int64)
    for k in range(n):
        size = head.size + tail.size
        for y in range(bounds[k], bounds[k + 1]):
            size += starts[np.int64(keys[y]) + 1] - starts[keys[y]]
        size += separator.size * max(bounds[k + 1] - bounds[k] - 1, 0)
        lines[k + 1] = lines[k] + size
    data = np.empty(lines[n], np.uint8)
    x = np.uintp(0)
    for k in range(n):
        for byte in head:
            data[x] = byte
            x += np.uintp(1)
        for y in range(bounds[k], bounds[k + 1]):
            if y > bounds[k]:
                for byte in separator:
                    data[x] = byte
                    x += np.uintp(1)
            for z in range(starts[keys[y]], starts[np.int64(keys[y]) + 1]):
                data[x] = pieces[z]
                x += np.uintp(1)
        for byte in tail:
            data[x] = byte
            x += np.uintp(1)
    return lines, data


# ---- grids ----------------------------------------------------------------------------------


def _grid_lines(
    problem: GridProblem,
    covers: Stacks,
    notation: Notation | None,
    head: str,
    tail: str,
    in_order: bool = True,
) -> tuple[Ints, Bytes]:
    """Write grids as lines of text, each between `head` and `tail`; sort them if `in_order`.

    With a head, digits are escaped for JSON. The result is like that of `_join`.
    """
    n, size = len(covers), problem.cover_size
    if not isinstance(covers, SolvedGrids) and np.any(np.diff(covers.offsets) != size):
        raise ValueError(f"not all of these covers of {problem!r} have {size} options")
    notation = notation or usual_notation(problem.n_digits)
    digits = notation.names
    texts = [json.dumps(digit)[1:-1] if head else digit for digit in digits]
    grids = problem.grids(covers)
    order = np.arange(n, dtype=np.uint32)
    if in_order:
        ranks = _ranks(digits, notation.separator)
        order = _sort_grids(grids, ranks, max(len(digits) - 1, 1).bit_length())
    grids = notation.placed(grids)
    if notation.symbols and all(len(text) == 1 for text in texts):
        lines = _frame(grids, order, *notation.shifts, _ascii(head), _ascii(tail))
        return np.arange(n + 1) * lines.shape[1], lines.reshape(-1)
    frame = _ascii(head), _ascii(notation.separator), _ascii(tail)
    in_turn = grids[order].reshape(-1)
    pieces = _pieces(["", *texts, "#"])
    return _join(np.arange(n + 1) * grids.shape[1], in_turn, *pieces, *frame)


def _ranks(digits: Sequence[str], separator: str) -> Words:
    """Return the rank of each digit's text, shape (N + 1,); that of blank cells is not used.

    The order of texts of grids is that of their cells in turn, each with the separator behind it.
    The last cell has none, but grids that agree in all others agree in the last one as well.
    """
    order = sorted(range(len(digits)), key=lambda digit: (digits[digit] + separator).encode())
    ranks = np.zeros(len(digits) + 1, np.uint64)
    ranks[np.array(order) + 1] = np.arange(len(digits), dtype=np.uint64)
    return ranks


@helper
def _varying_cells(grids):
    """Return the cells in which grids differ.

    This avoids `numpy.flatnonzero`: loading a kernel that calls it imports SciPy, if that is
    installed, which takes longer than loading the kernel.
    """
    differs = np.zeros(grids.shape[1], np.uint8)
    for k in range(1, grids.shape[0]):
        for cell in range(differs.size):
            differs[cell] |= grids[k, cell] ^ grids[0, cell]
    cells = np.empty(differs.size, np.uintp)  # packing is twice as fast as with signed integers
    n = 0
    for cell in range(differs.size):
        cells[n] = cell
        n += differs[cell] != 0
    return cells[:n]


@helper
def _pack_grids(grids, varying, rank, bits, per_word):
    """Pack the ranks of the digits in the cells that vary.

    Parameters
    ----------
    grids : ndarray of uint8, shape (n, N²)
    varying : ndarray of uintp
        The cells that vary.
    rank : ndarray of uint64, shape (N + 1,)
        Digit -> its rank.
    bits, per_word : int
        The number of bits of a rank, and of ranks in a word.

    Returns
    -------
    words : ndarray of uint64, shape (n, words of a row)
    """
    n_words = max(1, (varying.size + per_word - 1) // per_word)
    words = np.empty((grids.shape[0], n_words), np.uint64)
    for k in range(grids.shape[0]):
        grid, row = grids[k], words[k]
        for w in range(n_words):
            begin, end = w * per_word, min((w + 1) * per_word, varying.size)
            word = np.uint64(0)
            for x in range(np.uintp(begin), np.uintp(end)):
                word = word << np.uint64(bits) | rank[grid[varying[x]]]
            row[w] = word
    return words


@kernel
def _sort_grids(grids, rank, bits):
    """Return the ascending order of grids, given the rank of every digit and the bits of a rank.

    This is one call, because a thread may wait for the interpreter lock between two.
    """
    varying = _varying_cells(grids)
    words = _pack_grids(grids, varying, rank, bits, _WORD_BITS // bits)
    return _sorted_order(np.arange(len(grids) + 1) * words.shape[1], words.reshape(-1))


@light_kernel
def _frame(grids, order, begins, steps, head, tail):
    """Write grids in an order, a row each, between two texts; `write_symbols` writes digits."""
    begin, end = head.size, head.size + grids.shape[1]
    lines = np.empty((order.size, end + tail.size), np.uint8)
    for k in range(order.size):
        line = lines[k]
        for x in range(begin):
            line[x] = head[x]
        write_symbols(grids[order[k]], begins, steps, line[begin:end])
        for x in range(tail.size):
            line[end + x] = tail[x]
    return lines


# ---- lists ----------------------------------------------------------------------------------


@light_kernel
def _ascending(offsets, options):
    """Return a copy of the options of covers, ascending in each cover."""
    ascending = options.copy()
    for k in range(offsets.size - 1):
        begin, end = np.uintp(offsets[k]), np.uintp(offsets[k + 1])
        if end - begin > _FEW:
            ascending[begin:end].sort()
            continue
        for y in range(begin, end):  # by insertion
            x, option = np.uintp(y), ascending[y]
            while x > begin and ascending[x - np.uintp(1)] > option:
                ascending[x] = ascending[x - np.uintp(1)]
                x -= np.uintp(1)
            ascending[x] = option
    return ascending


@light_kernel
def _pack_lists(offsets, options, rank, bits):
    """Pack the ranks of lists of names, counted from 1, so that a list is less than its extensions.

    Parameters
    ----------
    offsets, options
        The lists, in the form of `Stacks`.
    rank : ndarray of uint32, shape (n_options,)
        Option -> the rank of its name, counted from 0.
    bits : int
        The number of bits of a rank.

    Returns
    -------
    bounds : ndarray of int64, shape (n + 1,)
        List ``k`` has the words ``words[bounds[k]:bounds[k + 1]]``.
    words : ndarray of uint64
    """
    n = offsets.size - 1
    per_word = _WORD_BITS // bits
    bounds = np.zeros(n + 1, np.int64)
    for k in range(n):
        bounds[k + 1] = bounds[k] + (offsets[k + 1] - offsets[k] + per_word - 1) // per_word
    words = np.zeros(bounds[n], np.uint64)
    for k in range(n):
        x, shift = bounds[k], _WORD_BITS
        for y in range(offsets[k], offsets[k + 1]):
            if shift < bits:
                x, shift = x + 1, _WORD_BITS
            shift -= bits
            words[x] |= (np.uint64(rank[options[y]]) + np.uint64(1)) << np.uint64(shift)
    return bounds, words


@light_kernel
def _gather_ranks(offsets, options, order, rank):
    """Return lists in another order: their bounds, and ranks for options."""
    bounds = np.zeros(order.size + 1, np.int64)
    ranks = np.empty(options.size, np.int32)
    x = 0
    for k in range(order.size):
        for y in range(offsets[order[k]], offsets[order[k] + 1]):
            ranks[x] = rank[options[y]]
            x += 1
        bounds[k + 1] = x
    return bounds, ranks


# ---- sorting --------------------------------------------------------------------------------


@light_kernel
def _is_less(a, b, bounds, words):
    """Return True if row `a` is less than row `b`; their first words are equal."""
    x, y = np.uintp(bounds[a]), np.uintp(bounds[b])
    size_a, size_b = np.uintp(bounds[a + 1]) - x, np.uintp(bounds[b + 1]) - y
    for k in range(np.uintp(1), min(size_a, size_b)):
        if words[x + k] != words[y + k]:
            return words[x + k] < words[y + k]
    return size_a < size_b


@light_kernel
def _sorted_order(bounds, words):
    """Return the ascending order of rows of words.

    This is a merge sort. The first word of a row, where most comparisons end, moves along with its
    number. Two runs that are in order already, as often after a search, are not merged.

    Parameters
    ----------
    bounds : ndarray of int64, shape (n + 1,)
        Row ``k`` has the words ``words[bounds[k]:bounds[k + 1]]``.
    words : ndarray of uint64

    Returns
    -------
    order : ndarray of uint32, shape (n,)
        Numbers of rows.
    """
    n = bounds.size - 1
    order, other_order = np.empty(n, np.uint32), np.empty(n, np.uint32)
    first, other_first = np.empty(n, np.uint64), np.empty(n, np.uint64)
    for k in range(n):
        order[k] = k
        first[k] = words[bounds[k]] if bounds[k] < bounds[k + 1] else np.uint64(0)
    size = 1  # runs of this many rows are sorted
    while size < n:
        for begin in range(0, n, 2 * size):
            middle, end = min(begin + size, n), min(begin + 2 * size, n)
            a, b = begin, middle
            apart = b < end and first[b - 1] < first[b]
            tie = b < end and first[b - 1] == first[b]
            if b == end or apart or (tie and not _is_less(order[b], order[b - 1], bounds, words)):
                other_order[begin:end] = order[begin:end]
                other_first[begin:end] = first[begin:end]
                continue
            for x in range(begin, end):
                from_b = b < end and (
                    a == middle
                    or first[b] < first[a]
                    or (first[b] == first[a] and _is_less(order[b], order[a], bounds, words))
                )
                y = b if from_b else a
                other_order[x], other_first[x] = order[y], first[y]
                a, b = a + (not from_b), b + from_b
        order, other_order = other_order, order
        first, other_first = other_first, first
        size *= 2
    return order
