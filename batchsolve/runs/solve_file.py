"""Solving and counting from file to file."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Unpack

from batchsolve.engines.choice import EngineForEach, RowEngines
from batchsolve.runs.destinations import OneFile, Parts
from batchsolve.runs.files import corpus_of, run_files
from batchsolve.runs.instances import (
    BLOCKS,
    PARTS,
    InstanceTables,
    check_engine,
    count_table,
    cover_table,
    hold_problems,
    is_problem_file,
    of_files,
)
from batchsolve.runs.progress import Progress, Summary
from batchsolve.runs.reading import TABLE_SUFFIXES
from batchsolve.runs.solve import solving
from batchsolve.runs.specs import Spec
from batchsolve.settings import (
    CountFileFields,
    FileSettings,
    SearchSettings,
    SolveFileFields,
    settings_of,
)
from batchsolve.tables.inputs import open_all
from batchsolve.tables.sources import Source, suffix_of
from batchsolve.workers.base import LOG
from batchsolve.workers.pool import Pool


def solve_file(
    inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    on_progress: Callable[[Progress], None] | bool | None = None,
    **settings: Unpack[SolveFileFields],
) -> Summary:
    r"""Solve a corpus of puzzles from table to table.

    Puzzles may have different sizes: each is what its length, or a column ``box``, says.

    Parameters
    ----------
    inputs : str or path, or a sequence of them
        CSV, TSV, Parquet, JSON lines or text files, perhaps compressed; ``-`` is standard input.
        Folders, patterns such as ``corpora/*.csv``, and addresses such as ``s3://bucket/corpora``
        stand for all their files. Or exact cover problems: problem files and names of families, or
        tables whose column ``problem`` holds them, as of `count_file`.
    output : str or path
        ``.csv``, ``.tsv``, ``.jsonl`` (perhaps with ``.gz``, ``.bz2``, ``.zst``), ``.parquet``, or
        ``-`` for CSV on standard output. It holds all input columns, then ``solution``,
        ``status``, ``n_solutions``, ``agrees`` (if solutions are given) and ``message``. In JSON
        lines, numbers that JSON does not have (NaN, infinity) are null. Or ``.npy`` for the
        solutions alone: an array of uint8, shape (n, N²), zeros where no solution was found; rows
        of another size than most are invalid there.
        Or a folder (``out/``) or an address (``s3://bucket/out``) for Parquet files whose names
        give their order; the workers write them. For exact cover problems, the columns of answers
        are ``items``, ``options``, ``cover`` (the names of the options of the first cover),
        ``status``, ``n_solutions``, ``engine`` and ``message``.
    jobs : int, optional
        Workers; the number of cores by default.
    backend : {"threading", "loky", "dask", "ray"}
        Threads, processes, or the workers of a cluster.
    address : str, optional
        The scheduler of the cluster; by default a cluster is started on this machine.
    on_progress : callable or True, optional
        Called with a `Progress` as rows are written; True draws a progress bar.
    search : SearchSettings, optional
        The settings of the search; the default ``limit`` is 2.
    files : FileSettings, optional
        The settings of reading and writing.
    **settings
        The fields of `search` and `files`, in their place: ``limit=1``, ``column="puzzle"``, ….

    Returns
    -------
    Summary

    Raises
    ------
    InputError, OutputError, JournalError
        See `batchsolve.errors`; ``OUT.partial`` keeps the rows written before.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "in.txt").write_text("1.....2..3.....4\n")
    >>> summary = solve_file(str(folder / "in.txt"), str(folder / "out.csv"))
    >>> summary.rows, summary.unique
    (1, 1)
    >>> print((folder / "out.csv").read_text())
    puzzle,solution,status,n_solutions,message
    1.....2..3.....4,1243342143122134,unique,1,
    <BLANKLINE>
    """
    workers, search, files = settings_of(solve_file, settings, SearchSettings, FileSettings)
    spec = partial(_solving, search.of_rows(), files)
    summary: Summary = run_files(spec, inputs, output, files, Pool(**workers), on_progress)
    if summary.advice:
        LOG.info("%s unfinished: %s", f"{summary.unfinished:,}", summary.advice)
    return summary


def _solving(
    search: SearchSettings, files: FileSettings, paths: list[str], destination: OneFile | Parts
) -> Spec:
    """Return the specification of `solve_file`: rows are grids, or problems."""
    are_files = any(map(is_problem_file, paths))
    sources = of_files(paths) if are_files else open_all(paths)
    if hold_problems(sources, files.column):
        return _of_problems("solve", sources, search, files, destination)
    as_digits = suffix_of(destination.path) == ".npy"
    corpus = corpus_of(sources, files, destination, one_shape=as_digits)
    return solving(corpus, corpus, search, files, as_digits, destination.n_tasks)


def _of_problems(
    kind: str,
    sources: list[Source],
    search: SearchSettings,
    files: FileSettings,
    destination: OneFile | Parts,
    keep: int = 1,
) -> Spec:
    """Return the specification of a run over problems, of which covers are kept or only counted."""
    engine = EngineForEach(search.engine)
    check_engine(engine, search, keep)
    size = PARTS if isinstance(destination, Parts) else BLOCKS
    source = InstanceTables(sources, engine, files, size)
    table = partial(cover_table if keep else count_table, search=search, stats=files.stats)
    spec = Spec(kind, source, source.reader, table)
    return spec.searched(RowEngines(engine), search, destination.n_tasks, keep)


def count_file(
    inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    on_progress: Callable[[Progress], None] | bool | None = None,
    **settings: Unpack[CountFileFields],
) -> Summary:
    r"""Count the covers of many problems, and write a table with a row for each.

    Small problems are searched side by side; a large one is split over all workers while they go on
    with the others.

    Parameters
    ----------
    inputs : str or path, or a sequence of them
        Files with a problem each (``.dlx``, ``.ec``, ``.json``, ``.npz``, ``.tiling``, or a grid),
        and names of families. Folders and patterns such as ``inst/*.dlx`` stand for all their
        files. Or tables (CSV, TSV, Parquet, JSON lines; ``-`` is standard input) with a column
        ``problem``, which holds names of families or texts of ``.dlx``. JSON lines may have the
        fields of problems in ``.json`` instead: ``options``, ``items``, ….
    output : str or path
        As of `solve_file`. It holds the ``name`` of each file, or all input columns but the fields
        of problems; then ``items``, ``options``, ``count``, ``complete``, ``engine`` and
        ``message``. Counts have any size: JSON has them as numbers, Parquet as text. ``auto`` is
        named by its first engine, or by ``memo`` if that took over. A problem that cannot be read
        is a row with a message.
    on_progress : callable or True, optional
        As of `solve_file`.
    **settings
        As of `solve_file`: ``jobs``, ``backend``, ``address``, ``limit``, ``stats``, …, but for the
        notation of grids. Limits are those of a row: one that meets its ``limit`` has that count,
        and is not complete. ``time_limit`` is the time that workers spend on a row, together.
        ``column`` is the column of problems.

    Returns
    -------
    Summary
        Problems without, with one and with several covers are ``unsolvable``, ``unique`` and
        ``multiple``; those whose count is not complete are ``unfinished``.

    Raises
    ------
    InputError, OutputError, JournalError
        As of `solve_file`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> summary = count_file(["queens:6", "dominoes:4x4", "queens:x"], folder / "counts.csv")
    >>> print((folder / "counts.csv").read_text())
    name,items,options,count,complete,engine,message
    queens:6,34,36,4,true,dlx,
    dominoes:4x4,16,24,36,true,dlx,
    queens:x,,,,,,"queens:x: 'x' is not a size; write queens:N, such as queens:8"
    <BLANKLINE>
    """
    workers, search, files = settings_of(count_file, settings, SearchSettings, FileSettings)
    spec = partial(_counting, search, files)
    summary: Summary = run_files(spec, inputs, output, files, Pool(**workers), on_progress)
    return summary


def _counting(
    search: SearchSettings, files: FileSettings, paths: list[str], destination: OneFile | Parts
) -> Spec:
    """Return the specification of `count_file`."""
    are_tables = all(path == "-" or suffix_of(path) in TABLE_SUFFIXES for path in paths)
    sources = open_all(paths) if are_tables else of_files(paths)
    return _of_problems("count of rows", sources, search, files, destination, keep=0)
