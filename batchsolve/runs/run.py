"""Resumable searches: a directory with a journal and files of solutions.

Every checkpoint is kept completely or not at all. The run first writes new solutions to a file of
their own; then one transaction of the journal records the file, the sums, and the outstanding
stacks. A resumed run removes files that no transaction records.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import asdict, replace
from functools import partial
from typing import Any, Unpack

import numpy as np
import pyarrow as pa

from batchsolve.engines import engine_for
from batchsolve.engines.native import pricing_of
from batchsolve.errors import InputError, JournalError, OutputError, counted, disk_errors
from batchsolve.formats.render import cover_parquet, joined
from batchsolve.formats.whole_files import lent_folder, only_writer
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.notation import Notation
from batchsolve.problems.stacks import Stacks
from batchsolve.runs.count import Count, Stack, UpToSymmetry, searched, symmetries_for
from batchsolve.runs.export import CHEAPEST, COVERS, SOLUTIONS
from batchsolve.runs.journal import Journal, OpenStack, Part, check_is_no_link
from batchsolve.runs.outputs import Parts
from batchsolve.runs.progress import TREE_BAR, shown
from batchsolve.runs.reading import Puzzle, problem_and_stacks, reading_of
from batchsolve.search.cheapest import CheapestSearch, PricedCover, as_json, checked_wanted, priced
from batchsolve.search.scheduler import Changes, Piece
from batchsolve.search.tree import Totals, TreeSearch, check_can_count
from batchsolve.settings import AUTO, SearchSettings
from batchsolve.settings.arguments import JOURNAL, flag_of, folder_of, text_of
from batchsolve.settings.keywords import RunSearchFields, settings_of
from batchsolve.tables.answers import OutputRows
from batchsolve.workers import LOG, Pool

SHARES = ("finished_share", "finished_between")  # of a `TreeSearch`, in the journal of a run
SMALL_BYTES = 8 << 10  # smaller parts of a checkpoint are joined into one file


class Run(AbstractContextManager["Run"]):
    """A search that can be interrupted at any moment and resumed.

    Parameters
    ----------
    directory : str or path
        The directory of the run.
    problem : ExactCover, Reading or str
        As for `count`.
    stack : sequence of int, or Stacks
        As for `count`: the options that every cover must contain, or several such stacks.
    collect : bool
        Keep the covers, in ``solutions/*.parquet``, instead of only counting them.
    resume : bool
        Go on with the run in `directory`, if it exists; by default an existing run is an error.
    cheapest : int, optional
        Keep only this number of the cheapest covers, in the journal.
    up_to_symmetry : bool or Symmetries
        As for `solutions`.
    engine : str
    notation : Notation, optional
        The notation of grids that are kept; by default that of the grid that was read.
    name : str, optional
        The name of the problem for `describe_run`; by default the name that was read.

    Raises
    ------
    InputError
        If the engine does not take the problem, its costs, or what is wanted.
    OutputError
        If the directory is not empty and `resume` is not set, or another run writes to it.
    JournalError
        If the journal or a file of solutions is damaged, or the journal is of another problem.

    Notes
    -----
    Use it as a context manager: until that ends, no other run can write to the directory.

    Examples
    --------
    >>> import tempfile
    >>> from batchsolve.problems.sudoku import Sudoku
    >>> directory = tempfile.mkdtemp() + "/run"
    >>> with Run(directory, Sudoku(2, 2)) as run:
    ...     run.search(limit=100, jobs=1).count
    100
    >>> with Run(directory, Sudoku(2, 2), resume=True) as run:
    ...     run.search().count
    288
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        problem: Puzzle,
        stack: Stack = (),
        *,
        collect: bool = False,
        resume: bool = False,
        cheapest: int | None = None,
        up_to_symmetry: UpToSymmetry = False,
        engine: str = AUTO,
        notation: Notation | None = None,
        name: str | None = None,
    ) -> None:
        reading = reading_of(problem)
        name = text_of("a name", reading.name if name is None else name) or reading.name
        problem, begin = problem_and_stacks(reading, stack)
        if flag_of("collect", collect) and isinstance(problem, GridProblem):
            notation = notation or reading.notation
        elif notation is not None:
            raise InputError("`notation` is of grids that are kept; leave it out, or set `collect`")
        if collect and cheapest is not None:
            raise InputError("a run keeps all covers or the cheapest; leave out `collect`")
        self._directory = folder_of("the directory of a run", directory)
        self._absolute = os.path.abspath(self._directory)
        self._solutions = Parts(os.path.join(self._directory, SOLUTIONS), "{:08d}.parquet".format)
        self._problem = problem
        self._collect = collect
        self._engine = engine
        self._notation = notation
        self._start = begin
        self._wanted = None if cheapest is None else checked_wanted(problem, cheapest)
        self._best: list[PricedCover] = []  # the cheapest covers
        kind = CHEAPEST if self._wanted else "enumerate" if collect else "count"
        settings = {
            "problem": problem.fingerprint,
            "stack": begin[0].tolist() if len(begin) == 1 else begin.fingerprint,
            "engine": engine,
            "alphabet": notation.name if notation else None,  # if solutions are grids
        }
        self._group = symmetries_for(problem, stack, begin, up_to_symmetry)
        if self._wanted:
            settings["best"] = self._wanted
            if self._group:
                raise InputError("the cheapest covers cannot be asked for up to symmetry")
        if self._group is not None:
            settings["symmetries"] = self._group.fingerprint
        kernel = engine_for(engine, problem, has_costs=self._wanted is not None)
        check_can_count(kernel, everything=not collect and self._group is None)
        self._one_at_a_time = threading.Lock()
        self._solutions.journal = path = os.path.join(self._directory, JOURNAL)
        self._is_begun = os.path.lexists(self._directory)  # if not by us, it stays
        self._make_directory(path, flag_of("resume", resume))
        with ExitStack() as held:
            held.enter_context(only_writer(path))
            self._journal = held.enter_context(Journal(path, kind, settings, name))
            with disk_errors(self._solutions.path):
                os.makedirs(self._solutions.path, exist_ok=True)
            self._load()  # raises an error if the journal is damaged
            self._solutions.open(None, None, self._journal.parts())
            self._held = held.pop_all()

    def __repr__(self) -> str:
        return f"Run({self._directory!r}, {self._problem!r})"

    def __exit__(self, error: object, *_: object) -> None:
        self._held.close()
        if error is not None and not self._is_begun:  # it would be in the way of the next one
            with suppress(OSError, InputError):
                self._check_place()
                os.rmdir(self._solutions.path)
                if os.listdir(self._directory) == [JOURNAL]:
                    os.remove(self._journal.path)
                    os.rmdir(self._directory)

    def search(
        self,
        *,
        on_progress: Callable[[TreeSearch], None] | bool | None = None,
        **settings: Unpack[RunSearchFields],
    ) -> Count:
        """Search until the tree is finished or a limit is reached.

        Parameters
        ----------
        on_progress : callable or True, optional
            Called with the running `TreeSearch` as results arrive; True draws a progress bar.
        **settings
            As for `count` (``jobs``, ``time_limit``, …), without the engine and the branching rule,
            which are those of the run; ``limit`` includes the covers of earlier searches.

        Returns
        -------
        Count
            The sums of this and all earlier searches of the run.
        """
        workers, search = settings_of(Run.search, settings, SearchSettings)
        self._journal.parts()  # raises an error if the run is closed
        self._check_place()
        if not self._one_at_a_time.acquire(blocking=False):
            raise InputError(f"{self._directory}: another thread searches this run just now")
        try:
            begin, self._totals = self._load()
            if n_nodes := self._totals.nodes:
                LOG.info("%s goes on after %s", self._directory, counted(n_nodes, "node"))
            with Pool(**workers) as pool, shown(on_progress, TREE_BAR) as tell:
                self._tree = self._tree_of(pool, replace(search, engine=self._engine), begin)
                self._is_begun = True
                return searched(self._tree, pool, tell)
        except BaseException as error:
            if self._is_begun and os.path.exists(self._journal.path):
                error.add_note(f"what is done is kept in {self._directory}; go on with `resume`")
            raise
        finally:
            self._one_at_a_time.release()

    def _check_place(self) -> None:
        """Raise `InputError` if the process has gone to another working directory."""
        with suppress(OSError):  # of a working directory that is deleted
            if os.path.abspath(self._directory) == self._absolute:
                return
        raise InputError(
            f"{self._directory}: this was {self._absolute} when the run was opened; go back to "
            f"that working directory, or open the run by its absolute path"
        )

    @property
    def cheapest_covers(self) -> list[PricedCover]:
        """The cheapest covers found so far; empty for other kinds of runs."""
        return list(self._best)

    def _tree_of(self, pool: Pool, settings: SearchSettings, begin: Piece) -> TreeSearch:
        """Return the search of the outstanding stacks."""
        keywords: dict[str, Any] = {"totals": self._totals, "keep": self.keep}
        if self._wanted is not None:
            best = self._wanted, self._best
            return CheapestSearch(self._problem, *best, settings, begin, pool, **keywords)
        if self._collect:
            render = partial(cover_parquet, self._problem, self._notation)
            keywords |= {"collect": True, "render": render}
        keywords["symmetries"] = self._group
        return TreeSearch(self._problem, settings, begin, pool, **keywords)

    def _make_directory(self, journal: str, resume: bool) -> None:
        home, folder = self._directory, self._solutions.path
        check_is_no_link(folder)
        with disk_errors(home):
            lent = os.path.basename(lent_folder(journal))  # by a run that was killed as it began
            if os.path.isdir(home) and {*os.listdir(home)} - {lent}:
                if not os.path.exists(journal):
                    raise OutputError(f"{home}: is not empty; name another directory")
                if not resume:
                    raise OutputError(
                        f"{home}: a run is kept there; go on with `resume`, or name another "
                        f"directory"
                    )
                names = os.listdir(folder) if os.path.isdir(folder) else []
                if not os.path.getsize(journal) and any(map(self._solutions.is_part, names)):
                    raise JournalError(
                        f"{journal}: is empty, but {folder} holds solutions; delete {home} to "
                        f"begin again, or name another directory"
                    )
            try:
                os.makedirs(home, exist_ok=True)
            except FileExistsError as error:
                raise OutputError(f"{home}: not a directory; name another") from error

    def _load(self) -> tuple[Piece, Totals]:
        """Read the outstanding stacks and the sums from the journal, or begin a new run."""
        self._solutions.n_parts = len(self._journal.parts())
        state = self._journal.state()
        if state is None:
            begin = Piece.whole(self._start)
            self._journal.record(_recorded(Totals()), new=_records_of(begin))
            return begin, Totals()
        rows = self._journal.stacks()
        stacks = Stacks.from_lists(
            [np.frombuffer(options, "<u4").tolist() for _, options, _, _ in rows],
            branches=[np.frombuffer(branch, "<u4") for _, _, branch, _ in rows],
        )
        paths = [stacks.first_path(k) for k in range(len(stacks))]
        place_of: Callable[[list[int]], Any] = list
        if self._wanted is not None:
            place_of = pricing_of(self._problem).path
            covers = state.get(COVERS, [])
            self._best[:] = [priced(self._problem, cover["decisions"]) for cover in covers]
        order = sorted(range(len(rows)), key=lambda k: place_of(paths[k]))
        stacks = stacks.take(order).with_roots(np.arange(len(rows)))
        weights = np.array([rows[k][3] for k in order], np.float64)
        totals = Totals(**_sums_in(state))
        return Piece(stacks, weights, np.array([rows[k][0] for k in order], np.int64)), totals

    def keep(self, changes: Changes) -> None:
        """Record changes, completely or not at all."""
        self._check_place()
        parts = self.write_parts(changes.outputs) if changes.outputs else []
        done, new = changes.balance()
        self._journal.record(self._state(), done, _records_of(new), parts)

    def _state(self) -> dict[str, Any]:
        """Return the state for the journal: sums, the finished share, and the cheapest covers."""
        shares = {name: getattr(self._tree, name) for name in SHARES}
        state = {**_recorded(self._totals), **shares}
        if self._wanted is None:
            return state
        pairs = ((as_json(self._problem, cover), cover.decisions) for cover in self._best)
        return {**state, COVERS: [record | {"decisions": decisions} for record, decisions in pairs]}

    def write_parts(self, outputs: list[tuple[pa.Buffer, int]]) -> list[Part]:
        """Write rendered solutions to files; return the parts."""
        parts = [(part, n) for part, n in outputs if part.size >= SMALL_BYTES]
        if small := [(part, n) for part, n in outputs if part.size < SMALL_BYTES]:
            parts.append((joined([part for part, _ in small]), sum(n for _, n in small)))
        blocks = (OutputRows(None, n).encoded(part) for part, n in parts)
        written = [part for block in blocks for part in self._solutions.take(block)]
        self._solutions.sync()
        return written


def _records_of(piece: Piece) -> list[OpenStack]:
    """Return the stacks of a piece in the form of `Journal.record`."""
    options = piece.stacks.options.astype("<u4").tobytes()
    bounds = (4 * piece.stacks.offsets).tolist()
    branches = [row.tobytes() for row in piece.stacks.all_branches.astype("<u4")]
    records = zip(
        piece.ids.tolist(), bounds, bounds[1:], branches, piece.weights.tolist(), strict=False
    )
    return [(number, options[a:b], branch, weight) for number, a, b, branch, weight in records]


def _recorded(totals: Totals) -> dict[str, Any]:
    """Return sums for the journal: the count in hexadecimal, which has any number of digits."""
    return {**asdict(totals), "count": hex(totals.count)}


def _sums_in(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes of `Totals` that a state of the journal has; see `_recorded`."""
    sums = {name: state[name] for name in asdict(Totals())}
    return {**sums, "count": int(sums["count"], 16)}


def describe_run(directory: str) -> dict[str, Any]:
    """Return the facts about a run: its settings, its sums, and its outstanding work.

    Of a run that is going on, these are the facts of its last checkpoint.
    """
    home = folder_of("the directory of a run", directory)
    with Journal(os.path.join(home, JOURNAL)) as journal:
        about, stacks, parts = journal.about, journal.stacks(), journal.parts()
        state = journal.state() or _recorded(Totals())
    share, between = (state.get(name) for name in SHARES)
    return {
        "kind": about["kind"],
        "name": about["name"],
        **about["settings"],
        "finished_share": float(not stacks) if share is None else round(share, 4),
        "finished_between": between and [round(bound, 4) for bound in between],
        **_sums_in(state),
        "complete": not stacks,
        "outstanding": len(stacks),
        "parts": len(parts),
    }
