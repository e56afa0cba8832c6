"""Puzzles in memory, one, an array, or texts in a list: solving, and canonical forms.

Each grid of an array may have another problem if all have the same cells and digits; equal problems
are searched together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from html import escape
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from batchsolve.core.arrays import Bytes, Ints
from batchsolve.core.interrupts import check_interrupt
from batchsolve.engines import Choice
from batchsolve.errors import InputError, InWords, counted, is_table, quoted, wrong_kind
from batchsolve.formats.drawings import read_grid
from batchsolve.formats.pictures.svg import as_svg, drawn, html_table
from batchsolve.problems.grid_symmetries import NO_ROOM, CanonicalForms, check_shape, forms_of
from batchsolve.problems.grids import GridProblem, as_grids_array
from batchsolve.problems.notation import Notation, usual_notation
from batchsolve.problems.sudoku import Sudoku, Variants, check_alone, grid_problem, usual_sudoku
from batchsolve.runs.progress import ROW_BAR, OnProgress, Progress, Summary, shown, sums_told
from batchsolve.search.rows import STATUS_NAMES, Answers, RowWork, rows_of_each
from batchsolve.settings import AUTO, FileSettings, SearchSettings
from batchsolve.settings.arguments import Box, checked_box, whole_number
from batchsolve.tables.answers import RowSums
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.frames import text_column
from batchsolve.tables.reader import Batch, Grids, Reader, Shape
from batchsolve.tables.rule_columns import Part
from batchsolve.tables.sources import Block, TableSource
from batchsolve.workers import Pool

SHOWN_ROWS = 10
BLOCK_CELLS = 1_000_000  # 12,000 9×9 grids
_NO_COLUMNS = pa.table({})


@dataclass(frozen=True)
class Answer:
    """The answer to one puzzle.

    Attributes
    ----------
    status : str
        ``unique``, ``multiple``, ``solved``, ``unsolvable`` or ``invalid``.
    solution : str or None
        The first solution in tree order, or that of the engine ``sat``, as `canonical` writes it.
    n_solutions : int
        Solutions found, at most the limit.
    nodes : int
        Nodes visited.
    box : (int, int) or None
        Rows and columns of a box; None if other rules hold.
    alphabet : str
        The alphabet of the solution.
    message : str or None
        The fault of an invalid puzzle.
    problem : GridProblem
        The rules.

    Examples
    --------
    >>> answer = solve("1.....2..3.....4")
    >>> answer.status, answer.n_solutions
    ('unique', 1)
    >>> solve("11..............").message
    'digit 1 twice in a row: row 1, column 1 and row 1, column 2'
    """

    status: str
    solution: str | None
    n_solutions: int
    nodes: int
    box: tuple[int, int] | None = field(repr=False)
    alphabet: str = field(repr=False)
    message: str | None = field(repr=False)
    problem: GridProblem = field(repr=False, compare=False)

    def _repr_html_(self) -> str:
        """Return the solution as a grid, or the reason for its absence, for a notebook."""
        note = escape(self.message or f"{counted(self.n_solutions, 'solution')} found")
        facts = f"<p>{self.status}, {note}</p>"
        if self.solution is None:
            return facts
        cover = self.problem.stack(self.problem.parse(self.solution, self.alphabet)).tolist()
        notation = Notation.from_name(self.alphabet, self.problem.n_digits)
        return f"{facts}<div>{as_svg(drawn(self.problem, cover, (), notation), 'solution')}</div>"


@dataclass(frozen=True, eq=False, repr=False)
class BatchResult(InWords):
    """The answers to many puzzles.

    Attributes
    ----------
    solutions : ndarray, shape (n, N²)
        The first solution in tree order, or that of the engine ``sat``; 0 if none was found. Of an
        array of digits that are integers, its shape and dtype; else of uint8, and of bits, of the
        shape (n, N, N).
    status : ndarray of str, shape (n,)
        ``unique``, ``multiple``, ``solved``, ``unsolvable``, ``unfinished`` or ``invalid``.
    n_solutions : ndarray of int64, shape (n,)
        Solutions found, at most the limit.
    nodes : ndarray of int64, shape (n,)
        Nodes visited.
    messages : dict of int to str
        The faults of invalid puzzles, and why searches stopped or failed.
    notation : Notation
        The notation of the puzzles; the usual one if they were digits.

    Examples
    --------
    >>> result = solve_batch(["1.....2..3.....4", "12.............."])
    >>> result.status.tolist(), result.n_solutions.tolist()
    (['unique', 'multiple'], [1, 2])
    >>> result.text()[0]
    '1243342143122134'
    """

    solutions: npt.NDArray[Any]
    status: npt.NDArray[np.str_]
    n_solutions: Ints
    nodes: Ints
    messages: dict[int, str]
    notation: Notation

    def __len__(self) -> int:
        return len(self.status)

    def __str__(self) -> str:
        names, numbers = np.unique(self.status, return_counts=True)
        counts = ", ".join(f"{n:,} {name}" for name, n in zip(names, numbers, strict=True))
        return f"{counted(len(self), 'row')}: {counts or 'none'}"

    def _repr_html_(self) -> str:
        """Return a table of the first rows for a notebook."""
        few = slice(SHOWN_ROWS)
        first = replace(self, solutions=self.solutions[few], status=self.status[few])
        numbers = map(str, self.n_solutions.tolist())
        rows = zip(map(str, range(SHOWN_ROWS)), first.status, numbers, first.text(), strict=False)
        lines = [[row, status, n, text or ""] for row, status, n, text in rows]
        table = html_table([["", "status", "n_solutions", "solution"], *lines])
        return f"<p>{escape(str(self))}</p>{table}"

    def text(self) -> list[str | None]:
        """Return the solutions as text; None where none was found."""
        flat = self.solutions.reshape(-1, prod(self.solutions.shape[1:])).astype(np.uint8)
        solved = np.asarray(flat.any(axis=1))
        return self.notation.decode(flat[solved], solved).to_pylist()


def solve_batch(
    grids: Any,
    problem: GridProblem | Sequence[GridProblem] | None = None,
    *,
    box: Box | None = None,
    rules: str | None = None,
    regions: str | None = None,
    alphabet: str | None = None,
    blank: str | None = None,
    limit: int = 2,
    node_limit: int | None = None,
    engine: str = AUTO,
    jobs: int | None = None,
    backend: str = "threading",
    address: str | None = None,
    on_progress: OnProgress = None,
) -> BatchResult:
    """Solve many puzzles, given as digits or as text.

    Parameters
    ----------
    grids : array_like of int, shape (n, N²) or (n, N, N); or n texts
        Digits 1 .. N; blank cells hold 0, -1, None or NaN, or are masked. Or a bit for each digit
        of a cell, shape (n, N, N, N). Or a list, an Arrow array, or a series of pandas or polars
        with the puzzles as text. All have one size, because an array holds the solutions;
        `solve_table` takes texts of different sizes.
    problem : GridProblem, or sequence of GridProblem, optional
        Their rules: a `Sudoku` or a `Variant`; by default Sudoku with the usual boxes for N. Or
        the rules of each grid of an array; equal ones are searched together.
    box : (int, int), optional
        As in `solve`, in place of a problem.
    rules, regions : str, optional
        As in `solve`, in place of a problem.
    alphabet : str, optional
        The alphabet of texts that leave it open, or of lists in Arrow arrays and series.
    blank : str, optional
        The characters of blank cells in texts; by default those of ``.0*_-`` that are not digits.
    limit : int
        Solutions to look for; 2 proves uniqueness.
    node_limit, jobs : int, optional
        As in `solve_file`.
    engine : str
        As in `solve_file`.
    backend : str
        As in `solve_file`.
    address : str, optional
        As in `solve_file`.
    on_progress : callable or True, optional
        See `Progress`.

    Returns
    -------
    BatchResult

    Raises
    ------
    InputError
        If the argument does not hold grids of one size; the message names the function to call. A
        malformed text is a row with the status ``invalid``.

    Examples
    --------
    >>> import numpy as np
    >>> grids = np.zeros((2, 16), np.uint8)
    >>> grids[0, [0, 6, 9, 15]] = [1, 2, 3, 4]
    >>> result = solve_batch(grids)
    >>> result.status.tolist(), result.solutions[0].tolist()
    (['unique', 'multiple'], [1, 2, 4, 3, 3, 4, 2, 1, 4, 3, 1, 2, 2, 1, 3, 4])
    >>> solve_batch(["1.....2..3.....4", "11.............."])
    BatchResult(2 rows: 1 invalid, 1 unique)
    >>> from batchsolve import Variant
    >>> from batchsolve.problems.rules import named, plain
    >>> with_diagonals = Variant(plain(2, 2) + named("x", 2, 2))
    >>> blank = np.zeros((2, 16), np.uint8)
    >>> solve_batch(blank, [Sudoku(2, 2), with_diagonals], limit=300).n_solutions.tolist()
    [288, 48]
    """
    limit = whole_number("limit", limit, 1)
    settings = SearchSettings(limit=limit, node_limit=node_limit, engine=engine)
    written = FileSettings(
        "puzzle", alphabet=alphabet, blank=blank, box=checked_box(box), rules=rules, regions=regions
    )
    problem, notation, blocks, read, n = rows_of(grids, problem, written)
    choice = Choice.for_grids(engine, problem, limit, sizes_vary=False)
    work = RowWork(choice, settings, read, partial(_found, problem, limit))
    totals, begin = Summary(), 0
    are_bits = getattr(grids, "ndim", 0) == 4
    is_array = isinstance(grids, np.ndarray) and grids.dtype.kind in "iu" and not are_bits
    solutions = np.empty((n, problem.n_cells), grids.dtype if is_array else np.uint8)
    status, messages = np.empty(n, np.uint8), dict[int, str]()
    n_solutions, nodes = np.empty((2, n), np.int64)
    with shown(on_progress, ROW_BAR) as tell, Pool(jobs, backend, address) as pool:
        for _, part in work.search(blocks, pool):
            at = slice(begin, begin + len(part[0]))
            solutions[at], status[at], n_solutions[at], nodes[at], faults = part
            messages |= {begin + row: message for row, message in faults.items()}
            if on_progress:
                sums = {"rows": at.stop - begin, "nodes": int(nodes[at].sum())}
                totals.add(RowSums(rows_of_each(status[at]) | sums))
                tell(Progress(at.stop - begin, totals, n))
            begin = at.stop
    if (is_array or are_bits) and solutions.size == prod(grids.shape[:3]):
        solutions = solutions.reshape(grids.shape[:3])  # else drawings of grids that overlap
    return BatchResult(solutions, STATUS_NAMES.take(status), n_solutions, nodes, messages, notation)


_Found = tuple[Bytes, Bytes, Ints, Ints, dict[int, str]]
"""Solutions, `Status`, numbers of solutions, nodes and messages of rows, as of a `BatchResult`."""


def _found(problem: GridProblem, limit: int, batch: Batch, answers: Answers) -> _Found:
    """Return the answers to a block of rows as arrays."""
    solutions, solved = answers.grids(problem)
    if len(solved) < len(answers):
        grids, solutions = solutions, np.zeros((len(answers), problem.n_cells), np.uint8)
        solutions[solved] = grids
    status, messages = batch.statuses(answers, limit)
    return solutions, status, np.minimum(answers.counts, limit), answers.nodes, messages


def solve(
    text: str,
    problem: GridProblem | None = None,
    *,
    box: Box | None = None,
    rules: str | None = None,
    regions: str | None = None,
    alphabet: str | None = None,
    blank: str | None = None,
    limit: int = 2,
) -> Answer:
    """Solve one puzzle.

    Parameters
    ----------
    text : str
        The puzzle, as characters or numbers, or as a drawing.
    problem : GridProblem, optional
        Its rules: a `Sudoku` or a `Variant`, to which pencil marks are added.
    box : (int, int), optional
        Rows and columns of a box, in place of a problem; by default the usual ones for the size of
        the puzzle.
    rules, regions : str, optional
        As in `solve_file`, in place of a problem.
    alphabet : str, optional
        The alphabet, where the text leaves it open.
    blank : str, optional
        The characters of blank cells; by default those of ``.0*_-`` that are not digits.
    limit : int
        Solutions to look for; 2 proves uniqueness.

    Returns
    -------
    Answer
        Its status, its first solution in tree order, and the number of solutions found.

    Raises
    ------
    InputError
        If the argument is not the text of one grid; the message names the function to call.

    Examples
    --------
    >>> solve("1.....2..3.....4")
    Answer(status='unique', solution='1243342143122134', n_solutions=1, nodes=1)
    """
    problem, notation, grid = read_grid(
        text, box, alphabet, blank=blank, rules=rules, regions=regions, problem=problem
    )
    limit = whole_number("limit", limit, 1)
    block = [(problem, np.arange(1))], grid[None]
    write = partial(_found, problem, limit)
    choice = Choice.for_grids(AUTO, problem, limit, sizes_vary=False)
    work = RowWork(choice, SearchSettings(limit=limit), batch_of, write)
    result: _Found = work.search_alone(block)
    [solution], [status], [n_solutions], [nodes], messages = result
    return Answer(
        status=str(STATUS_NAMES[status]),
        solution=notation.write(solution) if n_solutions else None,
        n_solutions=int(n_solutions),
        nodes=int(nodes),
        box=(problem.box_rows, problem.box_columns) if isinstance(problem, Sudoku) else None,
        alphabet=notation.name,
        message=messages.get(0),
        problem=problem,
    )


# ---- canonical forms ------------------------------------------------------------------------


def canonical_forms(
    grids: Any,
    problem: GridProblem | None = None,
    *,
    box: Box | None = None,
    rules: str | None = None,
    regions: str | None = None,
    alphabet: str | None = None,
    blank: str | None = None,
    on_progress: OnProgress = None,
) -> CanonicalForms:
    """Return the canonical forms of puzzles or of completed grids.

    Parameters
    ----------
    grids : array_like of int, shape (n, N²) or (n, N, N); or n texts
        As in `solve_batch`.
    problem : Sudoku, optional
        The shape of the boxes; by default the usual one for N, or `box`.
    box : (int, int), optional
        As in `solve`, in place of a problem.
    rules, regions : str, optional
        As in `solve`, in place of a problem.
    alphabet, blank : str, optional
        As in `canonical`, for texts.
    on_progress : callable or True, optional
        See `Progress`.

    Returns
    -------
    CanonicalForms

    Raises
    ------
    InputError
        If clues of a grid clash, or texts are of several sizes.
    ProblemError
        If grids of this shape have too many symmetries; see `check_shape`. Or if grids have other
        rules, such as pencil marks.

    Notes
    -----
    Completed 9×9 grids are looked up in a table; the rest is a search, row by row.

    Examples
    --------
    >>> from batchsolve.problems.sudoku import Sudoku
    >>> grids = [[2, 1, 3, 4, 3, 4, 2, 1, 1, 2, 4, 3, 4, 3, 1, 2]]
    >>> forms = canonical_forms(grids, Sudoku(2, 2))
    >>> forms.grids[0].tolist(), forms.symmetries.tolist()
    ([1, 2, 3, 4, 3, 4, 1, 2, 2, 1, 4, 3, 4, 3, 2, 1], [32])
    >>> canonical_forms(["1.....2..3.....4", "4.....3..1.....2"]).grids.tolist() == [
    ...     [0, 0, 0, 1, 0, 2, 0, 0, 0, 0, 3, 0, 4, 0, 0, 0]
    ... ] * 2
    True
    """
    if isinstance(grids, Iterable) and not hasattr(grids, "__getitem__"):
        grids = list(grids)
    if problem is not None:
        check_shape(problem)
    written = FileSettings(
        "puzzle", alphabet=alphabet, blank=blank, box=checked_box(box), rules=rules, regions=regions
    )
    problem, _, blocks, read, n = rows_of(grids, problem, written)
    check_shape(problem)
    parts, done = [forms_of(problem, np.empty((0, problem.n_cells), np.uint8))], 0
    with shown(on_progress, ROW_BAR) as show:
        tell = sums_told(show, n)
        for block in blocks:
            check_interrupt()
            batch = read(block)
            if faults := batch.invalid_rows():
                raise InputError(f"grid {done + min(faults)}: {faults[min(faults)]}")
            batch.check_plain(done)
            digits = np.empty((len(batch), problem.n_cells), np.uint8)
            for part in batch.grids:
                digits[part.rows] = part.puzzles
            parts.append(forms_of(problem, digits))
            done += len(batch)
            tell(done)
    return CanonicalForms.joined(parts)


def canonical(
    text: str,
    problem: GridProblem | None = None,
    *,
    box: Box | None = None,
    rules: str | None = None,
    regions: str | None = None,
    alphabet: str | None = None,
    blank: str | None = None,
) -> str:
    """Return the canonical form of one puzzle, in its alphabet and in one line.

    Digits of one character are not separated; `solve_table` keeps the separators of a puzzle.

    Parameters
    ----------
    text : str
        The puzzle, as characters or numbers, or as a drawing.
    problem : Sudoku, optional
        The shape of the boxes.
    box : (int, int), optional
        As in `solve`, in place of a problem.
    rules, regions : str, optional
        As in `solve`, in place of a problem.
    alphabet, blank : str, optional
        As in `solve`.

    Raises
    ------
    InputError
        If the text is not a puzzle, its clues clash, or too many ways to begin a form are equally
        good.
    ProblemError
        If grids of this shape have too many symmetries (see `check_shape`), or other rules.

    Examples
    --------
    >>> canonical("1.....2..3.....4"), canonical("4.....3..1.....2")
    ('...1.2....3.4...', '...1.2....3.4...')
    """
    problem, notation, grid = read_grid(
        text, box, alphabet, blank=blank, rules=rules, regions=regions, problem=problem
    )
    forms = canonical_forms(grid[None], problem)
    if not forms.found[0]:
        raise InputError(NO_ROOM)
    return notation.write(forms.grids[0])


# ---- grids as blocks ------------------------------------------------------------------------


GridRows = tuple[GridProblem, Notation, Iterable[Any], Callable[[Any], Batch], int]
"""Grids in memory: problem, notation, blocks, the function that reads them, and number of rows."""


def rows_of(
    grids: Any, problem: GridProblem | Sequence[GridProblem] | None, written: FileSettings
) -> GridRows:
    """Return the rows of the arguments of `solve_batch`."""
    is_column = any(
        hasattr(grids, f"__{name}__") for name in ("getitem", "array", "arrow_c_stream")
    )
    if isinstance(grids, str | bytes) or is_table(grids) or not is_column:
        raise InputError(f"grids are an array, or texts in a list, {wrong_kind(grids)}")
    check_alone(problem, written.box, written.rules, written.regions)
    texts = text_column(grids)
    if texts is not None:
        if problem is not None and not isinstance(problem, GridProblem):
            raise InputError(
                f"texts have one problem, such as Sudoku(3, 3), not {quoted(problem)}; give an "
                f"array of digits, or rules in columns to solve_table"
            )
        corpus = Corpus([TableSource(pa.table({"puzzle": texts}))], written, problem=problem)
        if written.alphabet is not None and len(texts):  # no row has another size
            Notation.from_name(written.alphabet, corpus.problem.n_digits, written.blank)
        read = partial(_of_one_size, corpus.reader)
        return corpus.problem, corpus.notation, corpus.blocks(), read, len(texts)
    for name, value in (("alphabet", written.alphabet), ("blank", written.blank)):
        if value is not None:
            raise InputError(
                f"{name} {quoted(value)} is for texts; digits of an array are 1 to N, and 0 or -1 "
                f"is a blank"
            )
    array = _array_of(grids)
    if problem is None:
        usual = usual_sudoku(array, written.box)
        problem = grid_problem(usual.n_digits, written.box, written.rules, written.regions)
    kinds, kind_of = _kinds_of(problem, len(array))
    main = kinds[0]
    digits, size = main.as_grids(array), max(64, BLOCK_CELLS // main.n_cells)
    blocks = (
        (_parts_of(kinds, kind_of[begin : begin + size], begin), digits[begin : begin + size])
        for begin in range(0, len(digits), size)
    )
    return main, usual_notation(main.n_digits), blocks, batch_of, len(digits)


def _kinds_of(problems: Any, n: int) -> tuple[list[GridProblem], Ints]:
    """Return the different problems of n grids, and the number of that of each grid.

    They have the same cells and digits. One problem may be given for all, or one for each.
    """
    if isinstance(problems, GridProblem):
        return [problems], np.zeros(n, np.int64)
    if not isinstance(problems, Sequence) or isinstance(problems, str | bytes):
        raise InputError(f"the problem is a Sudoku, such as Sudoku(3, 3), not {quoted(problems)}")
    if len(problems) != n or not n:
        raise InputError(f"{counted(len(problems), 'problem')} for {counted(n, 'grid')}")
    kinds: list[GridProblem] = []
    numbers: dict[str, int] = {}
    for kind in problems:
        if not isinstance(kind, GridProblem) or isinstance(kind, Variants):
            raise InputError(f"the problem of a grid is a Sudoku or a Variant, not {quoted(kind)}")
        if (kind.n_cells, kind.n_digits) != (problems[0].n_cells, problems[0].n_digits):
            raise InputError(
                f"grids of an array have the same cells and digits, not those of {problems[0]!r} "
                f"and of {kind!r}; call solve_batch for each size"
            )
        if numbers.setdefault(kind.fingerprint, len(kinds)) == len(kinds):
            kinds.append(kind)
    return kinds, np.array([numbers[kind.fingerprint] for kind in problems])


def _parts_of(kinds: list[GridProblem], kind_of: Ints, first: int) -> list[Part]:
    """Return the problems of the grids of a block, given the number of its first grid."""
    numbers = np.flatnonzero(np.bincount(kind_of)).tolist()
    pairs = ((kind, np.flatnonzero(kind_of == kind)) for kind in numbers)
    return [(kinds[kind].at(first + rows), rows) for kind, rows in pairs]


def _of_one_size(reader: Reader, block: Block) -> Batch:
    """Read texts; raise `InputError` if well-formed ones have another size than most."""
    batch = reader.read(block)
    size = reader.main.problem.n_digits
    for grids in batch.grids:
        n = grids.shape.problem.n_digits
        good = [] if n == size else sorted({*grids.rows.tolist()} - batch.faults.keys())
        if good:
            text = batch.table[reader.column][good[0]].as_py()
            raise InputError(
                f"texts for an array have one size, and most have that of {size}×{size} grids, but "
                f"{quoted(text)} is a grid of {n}×{n}; solve_table and solve_file take any"
            )
    return batch


def batch_of(block: tuple[list[Part], Bytes]) -> Batch:
    """Return grids of an array as rows without other columns."""
    parts, digits = block
    no_solutions = digits[:, :0], np.zeros(len(digits), np.bool_)
    rows = np.arange(len(digits)), digits, *no_solutions, parts
    return Batch(_NO_COLUMNS, [Grids(Shape.usual(parts[0][0]), *rows)], {})


def _array_of(grids: Any) -> npt.NDArray[Any]:
    """Return grids, given as digits, as an array."""
    array = as_grids_array(grids)
    if array.ndim == 1 and array.size:
        raise InputError(
            f"grids must have shape (n, N²) or (n, N, N), or be texts (str), not {array.shape}; "
            f"the first is {quoted(array[0].item() if array.dtype != object else array[0])}"
        )
    return array
