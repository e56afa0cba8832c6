"""Reading covers back from the run of an enumeration, or from a file that it wrote."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from batchsolve.errors import InputError, ProblemError, listed, quoted
from batchsolve.formats.render import GRID, OPTIONS
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.notation import Notation, usual_notation
from batchsolve.runs.export import JOURNAL, Solutions, check_problem
from batchsolve.runs.reading import Reading
from batchsolve.runs.run import describe_run
from batchsolve.tables.sources import name_of, open_source
from batchsolve.workers.pool import Pool


def found_covers(reading: Reading, path: str, limit: int) -> list[npt.NDArray[np.uint32]]:
    """Read the first covers of a problem from the output of an enumeration.

    Parameters
    ----------
    reading : Reading
        The problem.
    path : str
        The directory of a run, whose covers are read in the order of `export_run`; a file that
        `export_run` has written; or JSON lines of ``enumerate -o -``, where ``-`` is standard
        input.
    limit : int
        The largest number of covers to read.

    Raises
    ------
    InputError
        If the path is none of these, or a row is not a cover of the problem.
    JournalError
        If a run is damaged.

    Examples
    --------
    >>> import tempfile
    >>> import batchsolve as bs
    >>> directory = tempfile.mkdtemp() + "/run"
    >>> with bs.Run(directory, "langford:3", collect=True) as run:
    ...     run.search(jobs=1).count
    2
    >>> [cover.tolist() for cover in found_covers(bs.read_problem("langford:3"), directory, 1)]
    [[1, 6, 7]]
    """
    covers: list[npt.NDArray[np.uint32]] = []
    name = name_of(path)
    cover_of: _GridReader | _OptionReader = _OptionReader(reading.problem)
    if isinstance(reading.problem, GridProblem):
        notation = reading.notation or usual_notation(reading.problem.n_digits)
        cover_of = _GridReader(reading.problem, notation)
    with tempfile.TemporaryDirectory() as folder:
        for table in _tables(reading.problem, path, folder):
            for value in _values(table, reading.problem, name):
                where = f"{name}: row {len(covers) + 1}"
                try:
                    covers.append(cover_of(value))
                    reading.problem.verify(covers[-1].tolist())
                except (InputError, ProblemError) as error:
                    raise InputError(f"{where}: {error}") from error
                if len(covers) == limit:
                    return covers
    return covers


def is_whole(path: str) -> bool:
    """Return False for a run that is not finished; a file counts as complete."""
    return not os.path.isdir(path) or bool(describe_run(path)["complete"])


def _tables(problem: ExactCover, path: str, folder: str) -> Iterator[pa.Table]:
    if os.path.isdir(path):
        if not os.path.exists(os.path.join(path, JOURNAL)):
            raise InputError(f"{path}: is a directory, but no run; name one of enumerate -o DIR")
        check_problem(path, problem)
        with Pool() as pool:
            yield from Solutions.of(path).in_order(_as_it_is, pool, folder)
        return
    for block in open_source(path).blocks():
        rows = block.rows()
        for row, fault in sorted(rows.faults.items()):
            raise InputError(f"{name_of(path)}: row {row + 1}: {fault}")
        yield rows.table


def _as_it_is(number: int, table: pa.Table) -> pa.Table:
    return table


def _values(table: pa.Table, problem: ExactCover, name: str) -> Iterator[object]:
    column = GRID if isinstance(problem, GridProblem) else OPTIONS
    if table.column_names != [column]:
        raise InputError(
            f"{name}: solutions of {problem!r} are one column called {column!r}, as export and "
            f"enumerate -o - write them, not {listed(table.column_names)}"
        )
    for batch in table.to_batches(max_chunksize=1024):
        yield from batch.column(0).to_pylist()


class _GridReader:
    """A reader of solved grids."""

    def __init__(self, problem: GridProblem, notation: Notation) -> None:
        self._problem, self._notation = problem, notation

    def __call__(self, value: object) -> npt.NDArray[np.uint32]:
        text = str(value or "")
        grids, faults = self._notation.encode(pa.array([text]))
        if faults[0] != -1:
            raise InputError(self._notation.explain(text, int(faults[0])))
        return self._problem.stack(grids[0])


class _OptionReader:
    """A reader of lists of option names; in CSV, such a list is JSON."""

    def __init__(self, problem: ExactCover) -> None:
        self._number: dict[str, int] = {}
        self._unclear: set[str] = set()  # names shared by options that differ
        for o in range(problem.n_options):
            other = self._number.setdefault(problem.option_name(o), o)
            if other != o and problem.coloring(other) != problem.coloring(o):
                self._unclear.add(problem.option_name(o))

    def __call__(self, value: object) -> npt.NDArray[np.uint32]:
        names = value
        if isinstance(value, str):
            try:
                names = json.loads(value)
            except ValueError:
                names = None
        if not isinstance(names, list):
            raise InputError(f"{quoted(value)} is not a list of options")
        for name in names:
            if not isinstance(name, str) or name not in self._number:
                raise InputError(f"the problem has no option called {quoted(name)}")
            if name in self._unclear:
                raise InputError(f"several options of the problem are called {quoted(name)}")
        return np.array(sorted(self._number[name] for name in names), np.uint32)
