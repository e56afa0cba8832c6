"""Generation of puzzles with one solution: into a file, a table, or one after another.

The source of a run is a range of row numbers; workers make the rows of a block and encode them
(`batchsolve.runs.puzzles`). Files are written, recorded and resumed as those of `solve_file`.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np
import pyarrow as pa

from batchsolve.errors import InputError, counted, quoted, repeated
from batchsolve.problems.notation import Notation, default_box, usual_notation
from batchsolve.problems.sudoku import drawn_notation
from batchsolve.runs.outputs import Output, Parts
from batchsolve.runs.progress import ROW_BAR, OnProgress, Summary, check_progress, shown
from batchsolve.runs.puzzles import UNLIKE, Maker, Puzzles, RowNumbers
from batchsolve.runs.repeats import PUZZLE_FORM, row_keys
from batchsolve.runs.specs import (
    Spec,
    Tell,
    identity_of,
    outputs_of,
    refuse_own_output,
    run_files,
    table_of,
    tables_of,
)
from batchsolve.settings import (
    FileSettings,
    GenerateFields,
    GenerateFileFields,
    GenerateTableFields,
    PuzzleSettings,
    settings_of,
    whole_number,
)
from batchsolve.tables.answers import Found, RowSums, RowTable
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.detection import files_and_tables
from batchsolve.tables.reader import BOX
from batchsolve.tables.rule_columns import CONSTRAINTS, OWN, REGIONS
from batchsolve.workers import Pool

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
    >>> next(generate(seed=7, box=(2, 2), clues=(5, 5))).clues
    5
    """

    puzzle: str
    solution: str
    clues: int
    weight: float = 1.0
    own: tuple[tuple[str, str], ...] = ()


@dataclass(repr=False)
class GenerateSummary(Summary):
    """The result of `generate_file`; see `Summary`.

    Attributes
    ----------
    seed : int
        The seed of the random numbers, given or drawn.

    Examples
    --------
    >>> print(GenerateSummary(rows=3, unique=3, seed=7))
    3 rows: 3 unique, seed 7; 0.0 s, 0 rows/s
    """

    seed: int = 0

    def __str__(self) -> str:
        return self.said([f"{self.unique:,} unique", f"seed {self.seed}"])


def generate_file(
    output: str | os.PathLike[str],
    n: int,
    *,
    on_progress: OnProgress = None,
    **settings: Unpack[GenerateFileFields],
) -> GenerateSummary:
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
        See `Progress`.
    **settings
        ``jobs``, ``backend`` and ``address`` as in `solve_file`; the puzzles that are wanted, whole
        as ``wanted``, a `PuzzleSettings`, or field by field: ``seed=7``, ``minimal=True``, …; and
        their grids and notation: ``box``, ``rules``, ``regions``, ``alphabet``, ``blank``,
        ``chunk`` and ``resume``.

    Returns
    -------
    GenerateSummary
        All rows are ``unique``.

    Raises
    ------
    InputError
        If such puzzles cannot exist, or none is found for a row; the first such row is named, and
        ``OUT.partial`` keeps the rows of the tasks before its own.
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

    def spec(paths: list[str], output: Output) -> Spec:
        made = _generating(n, wanted, files)
        known = files_and_tables("a file to compare with", wanted.unlike)
        refuse_own_output(wanted.unlike, known, output.path)
        if isinstance(output, Parts):
            made.source.size *= PART_BLOCKS
        return made

    return run_files(spec, [], output, files, workers, on_progress)


def generate_table(
    n: int, *, on_progress: OnProgress = None, **settings: Unpack[GenerateTableFields]
) -> pa.Table:
    """Make puzzles, each with one solution, as a table of Arrow; see `generate_file`.

    ``unlike`` takes tables beside files. By default each call draws a new ``seed``, and logs it.

    Examples
    --------
    >>> table = generate_table(3, seed=7)
    >>> table.column_names, len(table)
    (['puzzle', 'solution', 'clues'], 3)
    """
    settings = _seeded(settings)
    workers, wanted, files = settings_of(generate_table, settings, PuzzleSettings, FileSettings)
    spec = _generating(whole_number("n", n), wanted, files)
    return table_of(spec, workers, on_progress).combine_chunks()


def generate(
    n: int | None = None, *, on_progress: OnProgress = None, **settings: Unpack[GenerateFields]
) -> Iterator[Puzzle]:
    """Make puzzles, each with one solution, one after another; see `generate_table`.

    Parameters
    ----------
    n : int, optional
        Number of puzzles; by default the iterator has no end.
    on_progress : callable or True, optional
        See `Progress`; puzzles are made a little ahead of the iterator.

    Yields
    ------
    Puzzle

    Examples
    --------
    >>> puzzles = generate(seed=7, box=(2, 2))
    >>> next(puzzles) == next(generate(1, seed=7, box=(2, 2)))
    True
    """
    workers, wanted, files = settings_of(generate, _seeded(settings), PuzzleSettings, FileSettings)
    n = None if n is None else whole_number("n", n)
    check_progress(on_progress)
    tables = _tables(n, Pool(**workers), wanted, files, on_progress)
    names = Puzzle._fields[: 4 if wanted.weights else 3]
    return (
        Puzzle(
            **{name: row[name] for name in names},
            own=tuple((name, row[name]) for name in (REGIONS, *OWN) if name in row),
        )
        for table in tables
        for row in table.to_pylist()
    )


def _seeded(settings: Any) -> Any:
    """Return settings whose seed is drawn unless it is given."""
    return settings if settings.get("wanted") else {"seed": None, **settings}


def _tables(
    n: int | None, pool: Pool, wanted: PuzzleSettings, files: FileSettings, on_progress: OnProgress
) -> Generator[pa.Table]:
    """Yield an empty table, then the puzzles in small blocks."""
    spec = _generating(n, wanted, files, FEW_ROWS)
    with shown(on_progress, ROW_BAR) as tell, pool:
        yield from tables_of(spec, pool, tell=tell)


def _generating(
    n: int | None, wanted: PuzzleSettings, files: FileSettings, size: int | None = None
) -> Spec:
    """Return the specification of *generate*: the source of its rows is a range of numbers."""
    maker = Maker.of(files, wanted)
    rows, (puzzle, solution) = files.chunk or size or maker.rows_of_block, wanted.columns
    source = RowNumbers(n, rows, puzzle, solution)
    known = files_and_tables("a file to compare with", wanted.unlike, "unlike")
    plain = FileSettings(box=files.box, rule_columns="none")  # as the puzzles that are made
    corpora = [Corpus([one], plain) for one in known]  # before any output
    same = {**asdict(replace(wanted, unlike=())), "n": n, "unlike": list(map(identity_of, known))}
    totals = GenerateSummary(seed=wanted.seed, engine="lanes")
    begin, table = partial(_learn, maker, corpora), partial(_puzzle_table, files)
    return Spec("generate", source, maker, table, totals, same, begin=begin)


def _learn(maker: Maker, corpora: list[Corpus], pool: Pool, tell: Tell) -> None:
    """Let a maker know the puzzles of files, which its own are to be unlike."""
    each = [maker.known]
    for corpus in corpora:
        spec, n_before = Spec("generate", corpus, corpus.reader), 0
        for _, found in outputs_of(spec, partial(row_keys, UNLIKE, [PUZZLE_FORM]), pool):
            if found.sums.first_invalid:
                row, why = found.sums.first_invalid
                why += "; no puzzle can be compared with it, so leave it out"
                raise InputError(f"{corpus.names}: row {n_before + row + 1}: {why}")
            each.append(found.keys[PUZZLE_FORM][0][:, 0])
            n_before += found.n_rows
    maker.known = np.unique(np.concatenate(each))


def _puzzle_table(files: FileSettings, maker: Maker) -> RowTable:
    """Return the output table of the puzzles of a maker."""
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
    texts = {name: value for name, value in said.items() if value is not None}
    own = maker.drawn.names if maker.drawn else ()
    kinds = {"clues": pa.int64()} | ({"weight": pa.float64()} if maker.wanted.weights else {})
    names = [*maker.wanted.columns, *kinds, *texts, *own]
    if name := repeated(names):
        raise InputError(f"two columns would be named {quoted(name)}; give `columns` other names")
    found = partial(_made, notation, maker.wanted.columns, texts)
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in names])
    return RowTable(pa.schema([]), schema, found)


def _made(
    notation: Notation, names: tuple[str, str], texts: dict[str, str], batch: Puzzles, answers: None
) -> Found:
    """Return the columns of the puzzles of a block; `texts` are the same in all rows."""
    n, made = len(batch), batch.made
    columns = dict(zip(names, map(notation.decode, (made.puzzles, made.solutions)), strict=True))
    columns |= {"clues": pa.array(np.count_nonzero(made.puzzles, axis=1))}
    columns |= {"weight": pa.array(made.weights), **batch.own}
    columns |= {name: pa.repeat(text, n) for name, text in texts.items()}
    sums = RowSums({"rows": n, "unique": n, "nodes": int(made.nodes.sum())})
    return pa.table({}), sums, columns
