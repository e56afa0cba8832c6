"""Counting the covers of many exact cover problems, from files and tables to a table."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Unpack

from batchsolve.engines.choice import RowEngines
from batchsolve.runs.instance_answers import CountTable
from batchsolve.runs.instances import of_files
from batchsolve.runs.progress import Progress, Summary
from batchsolve.runs.reading import TABLE_SUFFIXES
from batchsolve.runs.solve_file import FileRun, run_files
from batchsolve.settings import CorpusFields, FileSettings, SearchSettings, settings_of
from batchsolve.tables.inputs import open_all
from batchsolve.tables.sources import suffix_of
from batchsolve.workers.pool import Pool


def count_file(
    inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    on_progress: Callable[[Progress], None] | bool | None = None,
    **settings: Unpack[CorpusFields],
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
        ``message``. Counts are integers of 64 bits; a larger one is in the message. If the engine
        is ``memo``, they are text of any length. ``auto`` is named by its first engine. A problem
        that cannot be read is a row with a message.
    on_progress : callable or True, optional
        As of `solve_file`.
    **settings
        As of `solve_file`: ``jobs``, ``backend``, ``address``, ``limit``, ``stats``, …. Limits are
        those of a row: one that meets its ``limit`` has that count, and is not complete.
        ``time_limit`` is the time that workers spend on a row, together. ``column`` is the column
        of problems.

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
    workers, *how = settings_of(count_file, settings, SearchSettings, FileSettings)
    pool = Pool(**workers)
    summary: Summary = run_files(CountRun, inputs, output, *how, pool, on_progress=on_progress)
    return summary


class CountRun(FileRun):
    """One run of `count_file`; see `FileRun`."""

    kind: ClassVar[str] = "count of rows"
    keep: ClassVar[int] = 0

    def begun(self) -> tuple[Any, RowEngines]:
        """See `FileRun`."""
        are_tables = all(path == "-" or suffix_of(path) in TABLE_SUFFIXES for path in self.paths)
        return self.of_problems(open_all(self.paths) if are_tables else of_files(self.paths))

    def table(self, corpus: Any, pool: Pool) -> CountTable:
        """See `FileRun`."""
        return CountTable(corpus.reader, self.search, self.settings.stats)
