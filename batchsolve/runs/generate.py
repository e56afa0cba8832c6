"""Generation of puzzles with one solution: into a file, a table, or one after another.

The source of a run is a range of row numbers; workers make the rows of a block and encode them
(`batchsolve.runs.puzzles`). Files are written, recorded and resumed as those of `solve_file`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import count
from typing import Any, ClassVar, NamedTuple, Unpack

import numpy as np
import pyarrow as pa

from batchsolve.engines.choice import Choice
from batchsolve.errors import InputError, counted, quoted
from batchsolve.problems.answers import Status
from batchsolve.problems.notation import Notation, default_box, usual_notation
from batchsolve.problems.overlaps import drawn_notation
from batchsolve.runs.corpora import blocks_for, identity_of
from batchsolve.runs.destinations import Parts, RowTable
from batchsolve.runs.progress import Progress, Summary
from batchsolve.runs.puzzles import Maker, Puzzles, RowNumbers, RowRange, known_keys
from batchsolve.runs.solve_file import FileRun, run_files
from batchsolve.search.in_order import in_one_pass
from batchsolve.search.rows import Write
from batchsolve.settings import (
    FileSettings,
    GenerateFields,
    GenerateFileFields,
    PuzzleSettings,
    SearchSettings,
    settings_of,
    whole_number,
)
from batchsolve.tables.answers import RowSums
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.inputs import Tables
from batchsolve.tables.places import files_of
from batchsolve.tables.rule_columns import CONSTRAINTS, OWN, REGIONS
from batchsolve.tables.shapes import BOX
from batchsolve.workers.pool import Pool

PART_BLOCKS = 16  # of a part of a folder
FEW_ROWS = 256  # of a block of an iterator, which hands out the first puzzles early


class Puzzle(NamedTuple):
    """A puzzle.

    Attributes
    ----------
    puzzle, solution : str
    clues : int
        The number of clues.
    weight : float
        1 unless weights are wanted.
    own : tuple of (str, str)
        The rules that this puzzle has of its own: columns such as ``cages`` and ``sums``.

    Examples
    --------
    >>> next(generate(box=(2, 2), clues=(5, 5))).clues
    5
    """

    puzzle: str
    solution: str
    clues: int
    weight: float = 1.0
    own: tuple[tuple[str, str], ...] = ()


def generate_file(
    output: str | os.PathLike[str],
    n: int,
    *,
    on_progress: Callable[[Progress], None] | bool | None = None,
    **settings: Unpack[GenerateFileFields],
) -> Summary:
    """Make puzzles, each with one solution, and write a table of them.

    Parameters
    ----------
    output : str or path
        As in `solve_file`, without ``.npy``. It holds the columns ``puzzle``, ``solution`` and
        ``clues``; and, for other rules than the usual ones of the size, the columns ``box``,
        ``rules``, ``regions``, ``cages``, ``sums``, ``marks``, ``pairs`` and ``constraints``, by
        which `solve_file` knows them.
    n : int
        Number of puzzles. Row ``i`` depends on the seed and on ``i`` alone.
    on_progress : callable or True, optional
        As in `solve_file`.
    **settings
        ``jobs``, ``backend`` and ``address`` as in `solve_file`; the puzzles that are wanted, whole
        as ``wanted``, a `PuzzleSettings`, or field by field: ``seed=7``, ``minimal=True``, …; and
        their grids and notation: ``box``, ``rules``, ``regions``, ``alphabet``, ``blank``,
        ``chunk`` and ``resume``.

    Returns
    -------
    Summary
        All rows are ``unique``.

    Raises
    ------
    InputError
        If such puzzles cannot exist, or none is found for a row; ``OUT.partial`` keeps the rows
        before it.
    OutputError, JournalError
        See `batchsolve.errors`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> out = pathlib.Path(tempfile.mkdtemp()) / "puzzles.csv"
    >>> generate_file(out, 100, seed=7, box=(2, 2), minimal=True).unique
    100
    """
    workers, wanted, files = settings_of(generate_file, settings, PuzzleSettings, FileSettings)
    n = whole_number("n", n)
    how = output, SearchSettings(), files, Pool(**workers)
    return run_files(GenerateRun, [], *how, on_progress=on_progress, n=n, wanted=wanted)


def generate_table(
    n: int,
    **settings: Unpack[GenerateFields],
) -> pa.Table:
    """Make puzzles, each with one solution, as a table of Arrow; see `generate_file`.

    Examples
    --------
    >>> table = generate_table(3, seed=7)
    >>> table.column_names, len(table)
    (['puzzle', 'solution', 'clues'], 3)
    """
    workers, wanted, files = settings_of(generate_table, settings, PuzzleSettings, FileSettings)
    tables = _tables(whole_number("n", n), None, Pool(**workers), wanted, files)
    return pa.concat_tables(list(tables)).combine_chunks()


def generate(
    n: int | None = None,
    **settings: Unpack[GenerateFields],
) -> Iterator[Puzzle]:
    """Make puzzles, each with one solution, one after another; see `generate_file`.

    Parameters
    ----------
    n : int, optional
        Number of puzzles; by default the iterator has no end.

    Yields
    ------
    Puzzle

    Examples
    --------
    >>> puzzles = generate(seed=7, box=(2, 2))
    >>> next(puzzles) == next(generate(1, seed=7, box=(2, 2)))
    True
    """
    workers, wanted, files = settings_of(generate, settings, PuzzleSettings, FileSettings)
    n = None if n is None else whole_number("n", n)
    tables = _tables(n, FEW_ROWS, Pool(**workers), wanted, files)
    names = Puzzle._fields[: 4 if wanted.weights else 3]
    return (
        Puzzle(
            **{name: row[name] for name in names},
            own=tuple((name, row[name]) for name in (REGIONS, *OWN) if name in row),
        )
        for table in tables
        for row in table.to_pylist()
    )


def _tables(
    n: int | None, size: int | None, pool: Pool, wanted: PuzzleSettings, files: FileSettings
) -> Generator[pa.Table]:
    """Yield an empty table, then the puzzles block by block."""
    maker = Maker.of(files, wanted)
    table = PuzzleTable.of(maker, files)
    yield table.schema.empty_table()
    size = files.chunk or size or maker.rows_of_block
    firsts = count(0, size) if n is None else range(0, n, size)
    blocks = (RowRange(k, k + size if n is None else min(k + size, n)) for k in firsts)
    with pool:
        maker = with_known(maker, files, pool)
        with closing(in_one_pass(blocks, pool, partial(_made, maker, table.rows))) as made:
            yield from (rows for _, (rows, _) in made)


def _made(maker: Maker, write: Write, block: RowRange) -> tuple[RowRange, Any]:
    return block, write(block, maker.make(block))


def with_known(maker: Maker, files: FileSettings, pool: Pool) -> Maker:
    """Return a maker of puzzles that are unlike those of files."""
    each = [maker.known]
    for path in files_of(maker.wanted.unlike):
        corpus, n_before = Corpus([path], FileSettings(box=files.box)), 0
        read = partial(known_keys, corpus.reader, maker.problem.n_digits)
        with closing(in_one_pass(blocks_for(pool, corpus), pool, read)) as found:
            for keys, n_rows, wrong in found:
                if wrong is not None:
                    raise InputError(
                        f"{path}: row {n_before + wrong + 1} is invalid or has no canonical form, "
                        f"so no puzzle can be compared with it; leave it out"
                    )
                each.append(keys)
                n_before += n_rows
    return replace(maker, known=np.unique(np.concatenate(each)))


@dataclass(eq=False)
class PuzzleTable:
    """The output table of a run that makes puzzles; see `RowTable`.

    Attributes
    ----------
    notation : Notation
    more : dict of str to str
        The columns that have the same value in all rows.
    schema : pyarrow.Schema
    """

    notation: Notation
    more: dict[str, str]
    schema: pa.Schema
    has_times: bool = False
    reader: None = None

    @classmethod
    def of(cls, maker: Maker, files: FileSettings) -> PuzzleTable:
        """Return the table of the puzzles of a maker."""
        rules, n = maker.problem.rules, maker.problem.n_digits
        if files.blank is not None and len(files.blank) != 1:
            raise InputError(
                f"blank {quoted(files.blank)} has {counted(len(files.blank), 'character')}; the "
                f"blank cells of puzzles that are made have one"
            )
        if maker.problem.n_cells != n * n:
            notation = drawn_notation(n, rules.drawing, files.alphabet, files.blank)
        elif files.alphabet is not None:
            notation = Notation.from_name(files.alphabet, n, files.blank)
        else:
            notation = usual_notation(n).with_blanks(files.blank)
        said = {"rules": files.rules, "regions": files.regions}
        if maker.wanted.constraints is not None:
            said[CONSTRAINTS] = " ".join(maker.wanted.constraints.split())
        if files.box is not None and files.box != default_box(n):
            said[BOX] = "x".join(map(str, files.box))
        more = {name: value for name, value in said.items() if value is not None}
        kinds = {"puzzle": pa.string(), "solution": pa.string(), "clues": pa.int64()}
        if maker.wanted.weights:
            kinds["weight"] = pa.float64()
        texts = [*more, *(maker.drawn.names if maker.drawn else ())]
        return cls(notation, more, pa.schema({**kinds, **dict.fromkeys(texts, pa.string())}))

    def rows(self, batch: RowRange, answers: Puzzles) -> tuple[pa.Table, RowSums]:
        """Return the rows of a block, and their sums."""
        n, where = len(batch), np.ones(len(batch), np.bool_)
        made, own = answers
        columns = {
            "puzzle": self.notation.decode(made.puzzles, where),
            "solution": self.notation.decode(made.solutions, where),
            "clues": pa.array(np.count_nonzero(made.puzzles, axis=1)),
            "weight": pa.array(made.weights),
            **{name: pa.array([value] * n, pa.string()) for name, value in self.more.items()},
            **own,
        }
        tally = np.bincount(np.full(n, Status.UNIQUE), minlength=len(Status))
        table = pa.table([columns[name] for name in self.schema.names], self.schema)
        return table, RowSums(tally, 0, int(made.nodes.sum()), None)


@dataclass(kw_only=True)
class GenerateRun(FileRun):
    """One run of `generate_file`; see `FileRun`.

    Attributes
    ----------
    n : int
    wanted : PuzzleSettings
    """

    n: int
    wanted: PuzzleSettings
    kind: ClassVar[str] = "generate"

    def begun(self) -> tuple[RowNumbers, Choice]:
        """See `FileRun`."""
        self.maker = Maker.of(self.settings, self.wanted)
        self.unlike = files_of(self.wanted.unlike)
        size = self.maker.rows_of_block
        size *= PART_BLOCKS if isinstance(self.destination, Parts) else 1
        return RowNumbers(self.n, size), Choice("lanes")

    def table(self, corpus: Any, pool: Pool) -> RowTable:
        """See `FileRun`."""
        return PuzzleTable.of(self.maker, self.settings)

    def rows(
        self,
        corpus: RowNumbers,
        table: RowTable,
        choice: Choice,
        write: Write,
        n_parts: int,
    ) -> Generator[tuple[Any, Any]]:
        """See `FileRun`."""
        maker = with_known(self.maker, self.settings, self.pool)
        blocks = corpus.blocks(self.begin, self.settings.chunk, n_parts)
        return in_one_pass(blocks, self.pool, partial(_made, maker, write))

    def check_read(self, corpus: Tables) -> None:
        """See `FileRun`; numbers cannot change."""

    def how_to_go_on(self, error: BaseException) -> str:
        """See `FileRun`."""
        if isinstance(error, InputError):
            left = f"{self.destination.kept} and {self.destination.journal}"
            return f"delete {left} to begin again with other wishes"
        return super().how_to_go_on(error)

    def same(self, corpus: Any, choice: Choice) -> dict[str, Any]:
        """See `FileRun`."""
        wanted = {**asdict(self.wanted), "clues": list(self.wanted.clues or [])}
        wanted["cages"] = list(self.wanted.cages or [])
        wanted["line_cells"] = list(self.wanted.line_cells or [])
        wanted["rating"] = list(map(str, self.wanted.rating or []))  # no JSON has infinity
        return {**wanted, "n": self.n, "unlike": list(map(identity_of, self.unlike))}
