"""Generation of puzzles with one solution: into a file, a table, or one after another.

The source of a run is a range of row numbers; workers make the rows of a block and encode them. Row
``i`` depends on the seed and on ``i`` alone: see `batchsolve.engines.native`. Files are written,
recorded and resumed as those of `solve_file`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from batchsolve.core.arrays import Bools, Ints, Shorts, Words, begins_of
from batchsolve.engines.native import KNOWN, RATED, Made, Wish, dig_rows
from batchsolve.errors import InputError, ProblemError, counted, prefixed, quoted, repeated
from batchsolve.problems.grid_symmetries import check_shape, forms_of
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.notation import Notation, default_box
from batchsolve.problems.rules import OwnRules, Rules
from batchsolve.problems.sudoku import Sudoku, Variant, Variants, drawn_notation
from batchsolve.runs import specs
from batchsolve.runs.outputs import Output, Parts
from batchsolve.runs.progress import Summary
from batchsolve.runs.rate import NOT_RATED, RATINGS, SCALE, has_ratings, ratings_of
from batchsolve.runs.repeats import PUZZLE_FORM, grid_keys, row_keys
from batchsolve.settings import FileSettings, PuzzleSettings, keywords
from batchsolve.settings.arguments import UNLIMITED, FileName, whole_number
from batchsolve.tables.answers import Found, RowSums, RowTable
from batchsolve.tables.columns import RowsError
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.detection import files_and_tables, open_all
from batchsolve.tables.drawn_rules import DrawnRules, Texts
from batchsolve.tables.reader import BOX, Batch, Grids, Shape
from batchsolve.tables.rule_columns import CONSTRAINTS, OWN, REGIONS, RuleColumns, own_rules
from batchsolve.tables.sources import Block, Boundary, TableSource
from batchsolve.workers import Pool

PART_BLOCKS = 16  # of a part of a folder
FEW_ROWS = 256  # of a block of an iterator, which hands out the first puzzles early
N_FILLS = 8  # solved grids from which an attempt takes one; see docs/decisions/generate.md
# Nodes of a search for a second solution, after which clues stay: of minimal puzzles, whose clues
# must all be proved, and of others.
PROOF_NODES, TRIAL_NODES = 20_000, 1_000
# Nodes of an attempt after which drawn regions count as those without a solved grid, and after
# which fills go back at contradictions.
DRAWN_NODES, RESTART_NODES = 5_000, 100_000
BLOCK_CELLS = 1 << 24  # of the squares of the cells of a block: about 0.1 s
MOST_ROWS, FEWEST_ROWS = 8192, 64  # of a block
TIMES_SLOWER = 16  # rows with own rules, about
UNLIKE = b"unlike"  # the secret of keys of known puzzles, the same in every run
NO_CLUE = ".0_-"  # characters of a pattern
_KINDS = PuzzleSettings, FileSettings  # of the settings of every function here


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
        The own rules of this puzzle: columns such as ``cages`` and ``sums``.

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
    output: FileName, n: int, **settings: Unpack[keywords.GenerateFileFields]
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
    pool_settings, wanted, files = keywords.settings_of(generate_file, settings, *_KINDS)
    spec = partial(_generating, whole_number("n", n), wanted, files)
    return specs.run_files(spec, [], output, files, pool_settings)


def generate_table(n: int, **settings: Unpack[keywords.GenerateTableFields]) -> pa.Table:
    """Make puzzles, each with one solution, as a table of Arrow; see `generate_file`.

    ``unlike`` takes tables beside files. By default each call draws a new ``seed``, and logs it.

    Examples
    --------
    >>> table = generate_table(3, seed=7)
    >>> table.column_names, len(table)
    (['puzzle', 'solution', 'clues'], 3)
    """
    settings = _seeded(settings)
    pool_settings, wanted, files = keywords.settings_of(generate_table, settings, *_KINDS)
    spec = _generating(whole_number("n", n), wanted, files, [], Output())
    return specs.table_of(spec, pool_settings).combine_chunks()


def generate(n: int | None = None, **settings: Unpack[keywords.GenerateFields]) -> Iterator[Puzzle]:
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
    pool_settings, wanted, files = keywords.settings_of(generate, _seeded(settings), *_KINDS)
    n = None if n is None else whole_number("n", n)
    pool, told = specs.run_with(**pool_settings)
    names = Puzzle._fields[: 4 if wanted.weights else 3]

    def puzzles() -> Iterator[Puzzle]:
        few = replace(files, chunk=files.chunk or FEW_ROWS)
        spec = _generating(n, wanted, few, [], Output())  # checked before workers start
        with told as tell, pool:
            for table in specs.tables_of(spec, pool, tell):
                for row in table.to_pylist():
                    own = tuple((name, row[name]) for name in (REGIONS, *OWN) if name in row)
                    yield Puzzle(**{name: row[name] for name in names}, own=own)

    return puzzles()


def _seeded(settings: Any) -> Any:
    """Return settings whose seed is drawn unless it is given."""
    return {"seed": None, **settings} if settings.get("wanted") is None else settings


def _generating(
    n: int | None, wanted: PuzzleSettings, files: FileSettings, inputs: list[Any], output: Output
) -> specs.Spec:
    """Return the specification of *generate*: the source of its rows is a range of numbers."""
    maker = Maker(n, files, wanted)
    if isinstance(output, Parts):
        maker.size *= PART_BLOCKS
    known = files_and_tables("a file to compare with", wanted.unlike, "unlike")
    corpora = [_corpus_of(source, files.box) for source in known]  # before any output
    specs.refuse_own_output(wanted.unlike, known, output.path)
    unlike = list(map(specs.identity_of, known))
    same = {**asdict(replace(wanted, unlike=())), "n": n, "unlike": unlike}
    totals = GenerateSummary(seed=wanted.seed, engine="lanes")
    totals.column, totals.solution_column = wanted.columns
    begin, table = partial(_learn, maker, corpora), partial(_puzzle_table, files)
    return specs.Spec("generate", maker, maker, table, totals, same, begin=begin)


def _corpus_of(known: str | TableSource, box: tuple[int, int] | None) -> Corpus:
    """Return the puzzles of a file; without a column of boxes, those of puzzles that are made."""
    [source] = open_all([known])
    plain = FileSettings(rule_columns="none")
    with prefixed(source.path, InputError):
        if BOX in source.layout.schema.names:
            corpus = Corpus([source], plain)
            if corpus.reader.has_boxes:
                return corpus
        return Corpus([source], replace(plain, box=box))


def _learn(maker: Maker, corpora: list[Corpus], pool: Pool, tell: specs.Tell) -> None:
    """Let a maker know the puzzles of files, which its own are to be unlike."""
    keys = [maker.known]
    for corpus in corpora:
        spec, n_before = specs.Spec("generate", corpus, corpus.reader), 0
        for _, output in specs.outputs_of(spec, partial(row_keys, UNLIKE, [PUZZLE_FORM]), pool):
            if output.sums.first_invalid:
                row, fault = output.sums.first_invalid
                fault += "; no puzzle can be compared with it, so leave it out"
                raise InputError(f"{corpus.names}: row {n_before + row + 1}: {fault}")
            keys.append(output.data[PUZZLE_FORM][0][:, 0])
            n_before += output.n_rows
    maker.known = np.unique(np.concatenate(keys))


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
    else:
        notation = Notation.from_name(files.alphabet, n, files.blank)
    columns = {"rules": files.rules, "regions": files.regions}
    if maker.wanted.constraints is not None:
        columns[CONSTRAINTS] = " ".join(maker.wanted.constraints.split())
    if files.box is not None and files.box != default_box(n):
        columns[BOX] = "x".join(map(str, files.box))
    texts = {name: value for name, value in columns.items() if value is not None}
    own_names = maker.drawn.names if maker.drawn else ()
    kinds = {"clues": pa.int64()} | ({"weight": pa.float64()} if maker.wanted.weights else {})
    names = [*maker.wanted.columns, *kinds, *texts, *own_names]
    if name := repeated(names):
        raise InputError(f"two columns would be named {quoted(name)}; give `columns` other names")
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in names])
    return RowTable(pa.schema([]), schema, partial(_made, notation, maker.wanted.columns, texts))


def _made(
    notation: Notation, names: tuple[str, str], texts: dict[str, str], batch: Batch, answers: None
) -> Found:
    """Return the columns of the puzzles of a block; `texts` are the same in all rows."""
    n, [grids] = len(batch), batch.grids
    columns = dict(zip(names, map(notation.decode, (grids.puzzles, grids.given)), strict=True))
    columns |= {"clues": pa.array(np.count_nonzero(grids.puzzles, axis=1))}
    columns |= {"weight": batch.table["weight"].combine_chunks(), **grids.own}
    columns |= {name: pa.repeat(text, n) for name, text in texts.items()}
    sums = RowSums({"rows": n, "unique": n, "nodes": pc.sum(batch.table["nodes"]).as_py()})
    return pa.table({}), sums, columns


# ---- the puzzles of a block -----------------------------------------------------------------


def problem_for(files: FileSettings, wanted: PuzzleSettings) -> GridProblem:
    """Return the problem of the grids that a box, rules, regions and constraints describe.

    Raises
    ------
    InputError
        If the regions do not fit the box, or the constraints cannot be read.
    """
    shared = files.box, files.rules, files.regions
    n = RuleColumns(9, *shared).known_digits or 9
    columns = RuleColumns(n, *shared)
    if wanted.jigsaw and files.regions is not None:
        raise InputError("`jigsaw` draws regions, and `regions` gives them; leave out one")
    if wanted.constraints is None and not wanted.jigsaw:
        return columns.problem()
    plain = columns.base(has_regions=wanted.jigsaw)
    if wanted.constraints is None:
        return Variant(plain)
    drawing = plain.drawing if plain.n_cells != n * n else ""
    rules = own_rules(n, ("", "", "", "", wanted.constraints), drawing)
    return Variant(rules.on(columns.base("", rules, has_regions=wanted.jigsaw)))


def _units(
    rules: Rules, symmetry: str, pattern: str | None
) -> tuple[tuple[Ints, Shorts], Shorts, Shorts]:
    """Return `units`, `outside` and `free` of a `Wish`: the units are the orbits of a symmetry."""
    allowed = _cells_of(pattern, rules)
    orbits = [o for o in _orbits(rules, symmetry) if allowed.issuperset(o)]
    inside = [cell for orbit in orbits for cell in orbit]
    outside = sorted({*range(rules.n_cells)}.difference(inside))
    units = begins_of(list(map(len, orbits))), np.array(inside, np.uint16)
    return units, np.array(outside, np.uint16), np.array(_free(rules), np.uint16)


def _free(rules: Rules) -> list[int]:
    """Return the cells of houses that may hold digits in any order, such as those of a diagonal."""
    joined = [{*cells} for cells in (*rules.houses, *rules.groups)]
    bound = {cell for a, b, _ in rules.pairs for cell in (a, b)}
    bound.update(cell for cage in rules.cages for cell in cage.cells)
    bound.update(cell for cell, _ in rules.marks)
    free: list[int] = []
    for house in reversed(rules.houses):
        if bound.isdisjoint(house) and not any(
            not cells.isdisjoint(free) and cells.intersection(house) for cells in joined
        ):
            free += house
    return free


def _cells_of(pattern: str | None, rules: Rules) -> set[int]:
    """Return the cells where a pattern allows clues."""
    if pattern is None:
        return {*range(rules.n_cells)}
    marks = "".join(pattern.split())
    rows, columns = rules.extent
    if len(marks) == rows * columns:  # of grids that overlap, with the places outside
        marks = "".join(marks[r * columns + c] for r, c in rules.places)
    if len(marks) != rules.n_cells:
        raise InputError(
            f"a pattern has a character for each of {rules.n_cells} cells, {NO_CLUE[0]} where no "
            f"clue may stand, not {counted(len(marks), 'character')}"
        )
    return {cell for cell, mark in enumerate(marks) if mark not in NO_CLUE}


def _orbits(rules: Rules, symmetry: str) -> list[list[int]]:
    """Return the cells that a symmetry maps to one another, orbit by orbit."""
    cells = {place: cell for cell, place in enumerate(rules.places)}
    rows, columns = rules.extent
    turn = {
        "none": lambda r, c: (r, c),
        "rotation": lambda r, c: (rows - 1 - r, columns - 1 - c),
        "quarter-turn": lambda r, c: (c, rows - 1 - r),
        "mirror": lambda r, c: (r, columns - 1 - c),
        "diagonal": lambda r, c: (c, r),
    }[symmetry]
    orbits: dict[frozenset[tuple[int, int]], list[int]] = {}
    for place in rules.places:
        orbit = [place]
        while (image := turn(*orbit[-1])) != place:
            orbit.append(image)
        if not cells.keys() >= {*orbit}:
            raise InputError(f"the grid does not have the symmetry {symmetry!r}")
        orbits.setdefault(frozenset(orbit), [cells[place] for place in orbit])
    return list(orbits.values())


class Maker:
    """The source of rows, which are their numbers, and the reader, which makes their puzzles.

    Workers receive it.

    Parameters
    ----------
    n : int or None
        The number of rows; None for rows without end.
    files : FileSettings
        ``chunk`` is the number of rows of a block; by default, as many as suit the puzzles.
    wanted : PuzzleSettings

    Attributes
    ----------
    problem : GridProblem
    drawn : DrawnRules, optional
        Draws the own rules of each row.
    wish : Wish
        The puzzles that are wanted, as they are dug.
    known : ndarray of uint64
        The keys of puzzles that no puzzle is to be like, in ascending order.

    Raises
    ------
    InputError
        If such puzzles cannot exist, or cannot be made here.
    """

    def __init__(self, n: int | None, files: FileSettings, wanted: PuzzleSettings) -> None:
        problem = problem_for(files, wanted)
        alphabet = files.alphabet if wanted.has_values else None
        if alphabet and Notation.from_name(alphabet, problem.n_digits).begins_at_zero:
            raise InputError(
                f"`alphabet` {alphabet!r}: sums, marks, lines and constraints need digits from 1; "
                f"leave it out"
            )
        if problem.n_digits > 32:
            raise InputError(f"puzzles of up to 32 digits can be made, not of {problem.n_digits}")
        drawn = DrawnRules.of(problem.rules, wanted) if wanted.has_drawn_rules else None
        if drawn:
            problem = Variant(drawn.rules)
        elif isinstance(problem, Sudoku) and min(problem.box_rows, problem.box_columns) < 2:
            problem = Variant(problem.rules)
        no_clue = NO_CLUE[0] * problem.n_cells  # a pattern
        pattern = no_clue if wanted.clues == (0, 0) else wanted.pattern
        units, outside, free = _units(problem.rules, wanted.symmetry, pattern)
        n_allowed = len(units[1])
        min_clues, max_clues = wanted.clues or (0, n_allowed)
        max_clues = min(max_clues, n_allowed)
        if min_clues > n_allowed:
            raise InputError(
                f"`clues`: {min_clues} or more are wanted, and {n_allowed} cells may have one"
            )
        rules = problem.rules
        tells_digits_apart = rules.pairs or rules.cages or rules.marks or (drawn and drawn.follow)
        needed = 0 if tells_digits_apart else problem.n_digits - 1
        if max_clues < needed:
            raise InputError(
                f"a puzzle of {counted(max_clues, 'clue')} has several solutions: two "
                f"digits without a clue can trade places; allow {needed} or more"
            )
        if wanted.unlike:
            with prefixed("`unlike`", InputError, ProblemError):
                check_shape(problem)
        if wanted.rating is not None:
            low, high = wanted.rating
            if not has_ratings(problem):
                raise InputError(f"`rating`: {NOT_RATED}")
            if not np.any((low <= SCALE) & (high >= SCALE)):
                raise InputError(
                    f"`rating`: no puzzle is rated {low:g} to {high:g}; ratings, here without "
                    f"patterns of uniqueness, are {SCALE[0]:.1f} to {SCALE[-1]:.1f}"
                )
        # nodes after which fills do not begin again at a contradiction; weights need all chances
        fill_nodes = DRAWN_NODES if drawn else RESTART_NODES
        self.wish = Wish(
            *(units, outside, free, min_clues, max_clues if wanted.clues else UNLIMITED),
            is_minimal=wanted.minimal,
            is_weighed=wanted.weights,
            n_fills=N_FILLS,
            is_single=drawn is not None,
            row_nodes=wanted.node_limit,
            trial_nodes=PROOF_NODES if wanted.minimal else TRIAL_NODES,
            fill_nodes=wanted.node_limit if wanted.weights else fill_nodes,
        )
        n_rows = min(MOST_ROWS, max(FEWEST_ROWS, BLOCK_CELLS // problem.n_cells**2))
        self.n, self.size = n, files.chunk or n_rows // (TIMES_SLOWER if drawn else 1)
        self.problem, self.drawn = problem, drawn
        self.wanted = replace(wanted, unlike=())  # workers need no files of others
        self.known: Words = np.empty(0, np.uint64)

    def blocks(
        self, begin: Boundary | None = None, most_rows: int | None = None
    ) -> Iterator[Block]:
        """Yield the blocks from a position on: tables of row numbers, counted from 0."""
        size, last = most_rows or self.size, UNLIMITED if self.n is None else self.n
        for first in range(begin.offset if begin else 0, last, size):
            end = min(first + size, last)
            rows = pa.table({"row": np.arange(first, end)})
            yield Block(rows, TableSource(rows).layout, "", Boundary(0, end))

    def expected_rows(self, n_rows: int, position: Boundary | None) -> int | None:
        """Return the number of rows."""
        return self.n

    def read(self, block: Block) -> Batch:
        """Make the puzzles of the rows of a block, with their solutions, weights and nodes.

        Raises
        ------
        InputError
            If no attempt at a row makes a puzzle as wanted; it names the first such row.
        """
        made, own_columns = self.made(block.rows()[0]["row"].to_numpy())
        has_given = np.ones(len(made.puzzles), np.bool_)
        rows = np.arange(len(has_given)), made.puzzles, made.solutions, has_given
        table = pa.table({"weight": made.weights, "nodes": made.nodes})
        return Batch(table, [Grids(Shape.usual(self.problem), *rows, [], own_columns)], {}, block)

    def made(self, numbers: Ints) -> tuple[Made, dict[str, pa.Array]]:
        """Make the puzzles of some rows, and the columns of their own rules."""
        try:
            return self._attempted(numbers)
        except RowsError as error:
            # rows take turns, attempt by attempt, so that a row before it may fail in a later turn
            self.made(numbers[: error.first - 1])
            raise

    def _attempted(self, numbers: Ints) -> tuple[Made, dict[str, pa.Array]]:
        """Make the puzzles of some rows, or raise `RowsError`."""
        made = Made.of_rows(len(numbers), self.problem.n_cells)
        names = self.drawn.names if self.drawn else ()
        columns = {name: np.empty(len(numbers), object) for name in names}
        remaining = np.arange(len(numbers))
        while remaining.size:
            rows, rules, texts = self._draw(numbers, made, remaining)
            self._dig(rules, self.wish, numbers, made, rows)
            are_fit = self._are_fit(made, rows)
            done = rows[are_fit]
            for name, column in columns.items():
                column[done] = texts[name][are_fit]
            remaining = np.setdiff1d(remaining, done)
            made.attempts[remaining] += 1
        return made, {name: pa.array(column, pa.string()) for name, column in columns.items()}

    def _keys(self, use: int) -> Words:
        """Return the seed of the random numbers for a use."""
        seed = np.random.SeedSequence(self.wanted.seed, spawn_key=(use,) if use else ())
        return np.asarray(seed.generate_state(2, np.uint64), np.uint64)

    def _draw(self, numbers: Ints, made: Made, rows: Ints) -> tuple[Ints, OwnRules | None, Texts]:
        """Draw the rules of some rows.

        Returns
        -------
        rows : ndarray of int64
            Those that have a solved grid.
        rules : OwnRules or None
            The own rules of each, if there are any.
        texts : dict of str to ndarray of object
            The columns of these rules.
        """
        if self.drawn is None:
            return rows, None, {}
        made.solutions[rows] = 0
        rules = self.drawn.regions(self._keys(2), numbers[rows], made.attempts[rows])
        if not self.drawn.follow:
            return rows, rules, self.drawn.texts(rules)
        nothing = np.empty(0, np.uint16)
        none: Any = {"units": (np.zeros(1, np.int64), nothing), "outside": nothing}
        filled = self.wish._replace(**none, fewest=0, most=UNLIMITED, is_minimal=False)
        self._dig(rules, filled, numbers, made, rows)
        are_there = made.weights[rows] > 0
        rows, rules = rows[are_there], rules.take(np.flatnonzero(are_there))
        keys = self._keys(3), self._keys(4)
        columns = numbers[rows], made.attempts[rows], made.solutions[rows]
        return rows, *self.drawn.drawn(rules, keys, *columns)

    def _dig(
        self, rules: OwnRules | None, wish: Wish, numbers: Ints, made: Made, rows: Ints
    ) -> None:
        """Make the puzzles of some rows, whose own rules and solutions may be given."""
        problem = self.problem if rules is None else Variants(self.problem.rules, rules)
        part = Made(*(array[rows] for array in made))
        part.weights[:] = 0
        is_solved = rows.size > 0 and part.solutions[0, 0] > 0 and self.drawn is not None
        if is_solved:
            wish = wish._replace(free=wish.free[:0], n_fills=1)
        failed = dig_rows(problem, wish, self._keys(int(is_solved)), numbers[rows], part)
        if failed < len(rows):
            row = int(rows[failed]) + 1
            raise RowsError(self._why(part, failed), row, row)
        for whole, new in zip(made, part, strict=True):
            whole[rows] = new

    def _are_fit(self, made: Made, rows: Ints) -> Bools:
        """Return True for puzzles made, unknown, and rated as wished; count the reasons."""
        puzzles, are_fit = made.puzzles[rows], made.weights[rows] > 0
        if self.wanted.rating is not None:
            low, high = self.wanted.rating
            values = RATINGS[ratings_of(puzzles)[0]]
            are_fit &= (values >= low) & (values <= high)
            made.reasons[rows[~are_fit], RATED] += 1
        if self.known.size:
            forms = forms_of(self.problem, puzzles)
            keys = grid_keys(UNLIKE, (self.problem.fingerprint, ()), forms.grids)[:, 0]
            are_known = np.isin(keys, self.known) | ~forms.found
            made.reasons[rows[are_known], KNOWN] += 1
            are_fit &= ~are_known
        return are_fit

    def _why(self, made: Made, k: int) -> str:
        """Return the reason why a row has no puzzle."""
        several, number, spare, empty, known, rated = made.reasons[k].tolist()
        fewest, most = made.fewest[k], made.most[k]
        reasons = (
            (several, "had several solutions with all clues that may stand"),
            (number, f"had {fewest} to {most} clues, not {self.wish.fewest} to {self.wish.most}"),
            (spare, "had a clue too many, or none was found in time"),
            (empty, "found no solved grid in time"),
            (known, "were like a puzzle of `unlike`"),
            (rated, "had another rating"),
        )
        summary = "; ".join(f"{n:,} {words}" for n, words in reasons if n)
        tried = f"of {counted(int(made.attempts[k]), 'attempt')}, {summary}"
        if not summary:
            tried = "no attempt was finished (the rules may allow few grids, or none)"
        return (
            f"no puzzle after {self.wanted.node_limit:,} nodes: {tried}; wish for less, or allow "
            f"more nodes (`node_limit`)"
        )
