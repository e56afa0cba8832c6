"""Solving tables, and solving and counting from file to file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, Unpack, overload

import pyarrow as pa

from batchsolve.engines import Choice
from batchsolve.errors import InputError, is_unordered, wrong_kind
from batchsolve.problems.grids import GridProblem
from batchsolve.runs.instances import hold_problems, instance_table, instances_in, is_problem_file
from batchsolve.runs.outputs import Output, Parts
from batchsolve.runs.progress import Progress, Summary
from batchsolve.runs.reading import TABLE_SUFFIXES, naming_the_form
from batchsolve.runs.specs import Spec, Told, run_files, run_with, table_of, tables_of
from batchsolve.search.tree import check_can_count
from batchsolve.settings import PROVES_UNIQUENESS, FileSettings, SearchSettings
from batchsolve.settings.arguments import FileName, FileNames
from batchsolve.settings.keywords import CountFileFields, SolveFields, SolveFileFields, settings_of
from batchsolve.tables.answers import answer_table
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.detection import open_all
from batchsolve.tables.frames import Frame, arrow_table, library_of, with_columns_of
from batchsolve.tables.places import suffix_of
from batchsolve.tables.sources import Files, Source, TableSource
from batchsolve.workers import Pool

ROWS_OF_A_TABLE = 10_000  # that a dataset is cut into


@overload
def solve_table(
    table: Frame, problem: GridProblem | None = None, **settings: Unpack[SolveFields]
) -> Frame: ...


@overload
def solve_table(
    table: Any, problem: GridProblem | None = None, **settings: Unpack[SolveFields]
) -> pa.Table: ...


def solve_table(
    table: Any, problem: GridProblem | None = None, **settings: Unpack[SolveFields]
) -> Any:
    """Solve a column of puzzles; return the table with columns of answers.

    Puzzles may have different sizes: each is what its length, or a column ``box``, says.

    Parameters
    ----------
    table : pyarrow.Table, pandas or polars data frame, or anything with ``__arrow_c_stream__``
    problem : GridProblem, optional
        The rules of all rows, as in `solve`; columns of cages, marks and pairs add to them.
    on_progress : callable or True, optional
        See `Progress`.
    **settings
        As in `solve_file`, but for ``chunk``, ``filename``, ``stop_on_invalid`` and ``resume``:
        ``column``, ``alphabet``, ``rules``, …; ``stats`` and ``canonical``; ``limit``,
        ``node_limit``, ``engine``, …; ``jobs``, ``backend``, ``address``.

    Returns
    -------
    pandas.DataFrame, polars.DataFrame or pyarrow.Table
        A table of the same library, or else of Arrow: all columns of `table`, then ``solution``,
        ``status``, ``n_solutions``, ``agrees`` (if solutions are given) and ``message``. In pandas,
        integers and booleans are nullable: ``Int64`` and ``boolean``. If the puzzles are lists, so
        are the solutions.

    Raises
    ------
    InputError
        If the argument is not a table, or its puzzle column cannot be found.
    ProblemError
        If canonical forms are wanted of grids that are too large; see `canonical_forms`.

    Examples
    --------
    >>> table = pa.table({"id": [7, 8], "puzzle": ["1.....2..3.....4", "11.............."]})
    >>> solved = solve_table(table)
    >>> solved.column_names
    ['id', 'puzzle', 'solution', 'status', 'n_solutions', 'message']
    >>> solved["solution"].to_pylist(), solved["status"].to_pylist()
    (['1243342143122134', None], ['unique', 'invalid'])
    """
    pool_settings, search, files = settings_of(solve_table, settings, SearchSettings, FileSettings)
    corpus = Corpus([TableSource(arrow_table(table))], files, problem=problem)
    spec = solving(corpus, search, files)
    return with_columns_of(table_of(spec, pool_settings), table)


@overload
def solve_stream(tables: Frame, **settings: Unpack[SolveFields]) -> Iterator[Frame]: ...


@overload
def solve_stream(tables: Iterable[Frame], **settings: Unpack[SolveFields]) -> Iterator[Frame]: ...


@overload
def solve_stream(tables: Any, **settings: Unpack[SolveFields]) -> Iterator[Any]: ...


def solve_stream(tables: Any, **settings: Unpack[SolveFields]) -> Iterator[Any]:
    """Solve tables one after another, as they come; see `solve_table`.

    A table is answered before the next one is asked for, so tables are not gathered.

    Parameters
    ----------
    tables : iterable of tables, or a reader of Arrow
        Tables that `solve_table` takes: of Arrow, data frames, …. Or a `pyarrow.RecordBatchReader`
        or another object with ``__arrow_c_stream__``, whose batches are the tables; or a data frame
        or a dataset of the package `datasets`, which are cut into tables of 10,000 rows.
    on_progress : callable or True, optional
        See `Progress`; the sums are those of all tables so far.
    **settings
        As in `solve_table`.

    Yields
    ------
    pandas.DataFrame, polars.DataFrame or pyarrow.Table
        For each table, what `solve_table` returns. The first table with rows tells the columns of
        puzzles and of solutions, and the notation, for all. Later ones have these columns, and
        perhaps more columns of rules.

    Raises
    ------
    InputError
        As in `solve_table`; also if a later table lacks a column that is read.

    Examples
    --------
    >>> tables = (pa.table({"puzzle": [text]}) for text in ["1.....2..3.....4", "12.............."])
    >>> [table["status"].to_pylist() for table in solve_stream(tables)]
    [['unique'], ['multiple']]
    """
    pool_settings, search, files = settings_of(solve_stream, settings, SearchSettings, FileSettings)
    return _solved_one_by_one(_each_table(tables), search, files, *run_with(**pool_settings))


def _each_table(tables: Any) -> Iterator[Any]:
    """Return an iterator over the tables of the argument of `solve_stream`."""
    kind = type(tables)  # a reader of files may have columns, but no length
    if library_of(tables) and hasattr(kind, "columns") and hasattr(kind, "__len__"):
        rows, begins = getattr(tables, "iloc", tables), range(0, len(tables), ROWS_OF_A_TABLE)
        return (rows[begin : begin + ROWS_OF_A_TABLE] for begin in begins)
    if hasattr(tables, "__arrow_c_stream__"):
        with suppress(pa.ArrowInvalid):  # a column, which is not a table
            return iter(pa.RecordBatchReader.from_stream(tables))
    if hasattr(tables, "with_format") and hasattr(tables, "iter"):
        return iter(tables.with_format("arrow").iter(batch_size=ROWS_OF_A_TABLE))
    if not is_unordered(tables) and not isinstance(tables, Sequence):
        raise InputError(
            f"tables are an iterable of them, or a reader of Arrow, {wrong_kind(tables)}"
        )
    return iter(tables)


def _solved_one_by_one(
    tables: Iterator[Any], search: SearchSettings, files: FileSettings, pool: Pool, told: Told
) -> Iterator[Any]:
    """Yield tables with columns of answers."""
    numbered = enumerate(tables, 1)
    sources = ((table, TableSource(arrow_table(table), f"table {k:,}")) for k, table in numbered)
    first = []
    for table, source in sources:
        first.append((table, source))
        if source.length:
            break
    if not first:
        return
    corpus = Corpus([first[-1][1]], files, more_tables=True)
    spec = solving(corpus, search, files)
    with told as show, pool:

        def tell(progress: Progress) -> None:
            show(replace(progress, expected_rows=None))  # more tables may come

        for table, source in chain(first, sources):
            current = copy(corpus)
            if source is not first[-1][1]:
                current.move_to(source, files.rule_columns)
            parts = tables_of(replace(spec, source=current, reader=current.reader), pool, tell)
            yield with_columns_of(pa.concat_tables(list(parts)), table)


def solving(
    corpus: Corpus, search: SearchSettings, files: FileSettings, as_digits: bool = False
) -> Spec:
    """Return the specification of *solve* for grids; see `answer_table`."""
    limit = search.limit or PROVES_UNIQUENESS
    table = partial(answer_table, limit=limit, files=files, as_digits=as_digits)
    return Spec("solve", corpus, corpus.reader, table).searched(search.of_rows())


# ---- files ----------------------------------------------------------------------------------


def solve_file(inputs: FileNames, output: FileName, **settings: Unpack[SolveFileFields]) -> Summary:
    r"""Solve a corpus of puzzles from table to table.

    Puzzles may have different sizes: each is what its length, or a column ``box``, says.

    Parameters
    ----------
    inputs : str or path, or a sequence of them
        CSV, TSV, Parquet, JSON lines or text files, perhaps compressed; ``-`` is standard input.
        Folders, patterns such as ``corpora/*.csv``, and addresses such as ``s3://bucket/corpora``
        stand for all their files. Or the text of a grid, if no file has this name. Or exact cover
        problems: problem files and names of families, or tables whose column ``problem`` holds
        them, as of `count_file`.
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
        See `Progress`.
    search : SearchSettings, optional
        The settings of the search; the default ``limit`` is 2.
    files : FileSettings, optional
        The settings of reading and writing.
    **settings
        The fields of `search`, but for ``time_limit``, and of `files`, in their place:
        ``limit=1``, ``column="puzzle"``, ….

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
    pool_settings, search, files = settings_of(solve_file, settings, SearchSettings, FileSettings)
    return run_files(partial(_solving, search, files), inputs, output, files, pool_settings)


def _solving(search: SearchSettings, files: FileSettings, paths: list[str], output: Output) -> Spec:
    """Return the specification of `solve_file`: rows are grids, or problems."""
    are_files = any(map(is_problem_file, paths))
    with naming_the_form(paths):
        sources: list[Source] = [Files(tuple(paths))] if are_files else open_all(paths)
        if hold_problems(sources, files.column):
            return _of_problems(sources, search.of_rows(), files, output, keep=1)
        as_digits = suffix_of(output.path) == ".npy"
        corpus = Corpus(sources, files, size=output.block_size, one_shape=as_digits)
    return solving(corpus, search, files, as_digits)


def _of_problems(
    sources: list[Source], search: SearchSettings, files: FileSettings, output: Output, keep: int
) -> Spec:
    """Return the specification of a run over problems, of which covers are kept or only counted."""
    choice = Choice(search.engine)
    check_can_count(choice, everything=not keep and search.limit is None)
    source, reader = instances_in(sources, choice, files, in_parts=isinstance(output, Parts))
    table = partial(instance_table, search=search, stats=files.stats, keep=keep)
    kind, totals = "solve" if keep else "count of rows", Summary(column=reader.column)
    spec = Spec(kind, source, reader, table, totals)
    return spec.searched(search, choice, keep)


def count_file(inputs: FileNames, output: FileName, **settings: Unpack[CountFileFields]) -> Summary:
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
        See `Progress`.
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
    queens:6,34,36,4,true,cells,
    dominoes:4x4,16,24,36,true,dlx,
    queens:x,,,,,,"queens:x: 'x' is not a size; write queens:N, such as queens:8"
    <BLANKLINE>
    """
    pool_settings, search, files = settings_of(count_file, settings, SearchSettings, FileSettings)
    return run_files(partial(_counting, search, files), inputs, output, files, pool_settings)


def _counting(
    search: SearchSettings, files: FileSettings, paths: list[str], output: Output
) -> Spec:
    """Return the specification of `count_file`."""
    are_tables = all(path == "-" or suffix_of(path) in TABLE_SUFFIXES for path in paths)
    sources: list[Source] = open_all(paths) if are_tables else [Files(tuple(paths))]
    return _of_problems(sources, search, files, output, keep=0)
