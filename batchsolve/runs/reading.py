"""Reading one problem: a family, a grid, a row of a corpus, or an exact cover file.

`read_problem` finds out which of these a text names. Every fault of an input raises one
`InputError` that names the input, and the line if there is one.

The readers of tables, and Arrow with them, are imported where a file is read: half of the time of a
short command was that import.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from batchsolve import errors
from batchsolve.core.arrays import UInts, owners_of
from batchsolve.errors import BatchsolveError, InputError, ProblemError, quoted, shortened
from batchsolve.formats import exact_cover_files as cover_files
from batchsolve.formats.drawings import draw_grid, read_grid
from batchsolve.formats.grid_texts import NoGridError, SeveralGridsError, in_one_line
from batchsolve.formats.other_programs import is_grid_document
from batchsolve.formats.pictures.boards import Board
from batchsolve.formats.pictures.svg import as_svg, drawn
from batchsolve.formats.whole_files import ZIP, content_of, opened, unpacked, why_unseen
from batchsolve.problems.exact_cover import ExactCover, option_numbers
from batchsolve.problems.families import FAMILIES, family, known_families
from batchsolve.problems.grids import GridProblem
from batchsolve.problems.notation import Notation, usual_notation
from batchsolve.problems.stacks import Stacks
from batchsolve.problems.sudoku import Sudoku, grid_problem
from batchsolve.problems.tilings import BEGINNING, SUFFIX, read_tiling
from batchsolve.settings import FileSettings
from batchsolve.settings.arguments import Box, is_address

if TYPE_CHECKING:
    import pyarrow as pa

    from batchsolve.tables.corpus import Corpus
    from batchsolve.tables.reader import Batch
    from batchsolve.tables.sources import Block

_BINARY_TABLES = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff", cover_files.NUMPY
_HEAD_BYTES = 4096  # that tell the kind of a file
MAX_NUMBERS = 1 << 24  # bytes of a file of numbers of which an error names the form
MOST_SHOWN_CELLS = 2_500  # in a notebook; larger boards are drawn only on request

FORMS = ("dlx", "ec", "sets", "json", "npz", "tiling", "matrix", "rows")
"""The forms of exact cover problems: each is a suffix of files, and a prefix of other names."""

WRITTEN_ONLY = ("cnf", "opb")
"""The forms that `convert` writes and nothing reads."""

TABLE_SUFFIXES = (".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".parquet")


@dataclass(frozen=True, eq=False)
class Reading:
    """One problem, as `read_problem` returns it.

    Attributes
    ----------
    problem : ExactCover
        For a grid: the problem of the empty grid.
    stack : ndarray of uint32, shape (number of clues,)
        The clues of a grid, as options already chosen; empty for other problems.
    name : str
        The name of the problem in messages.
    notation : Notation or None
        The notation of the grid, by default the usual one; None for other problems.

    Examples
    --------
    >>> reading = read_problem("sudoku:2x2")
    >>> reading.name, reading.stack.size, reading.problem.n_options
    ('sudoku:2x2', 0, 64)
    """

    problem: ExactCover
    stack: UInts
    name: str
    notation: Notation | None = None

    def __post_init__(self) -> None:
        if self.notation is None and isinstance(self.problem, GridProblem):
            object.__setattr__(self, "notation", usual_notation(self.problem.n_digits))

    def __repr__(self) -> str:
        return f"Reading({self.name!r}, {self.problem!r}, {self.stack.size} clues)"

    def _repr_html_(self) -> str:
        """Return a grid, or the facts and the board of another problem, for a notebook."""
        if isinstance(self.problem, GridProblem):
            clues = self.stack.tolist()
            grid = drawn(self.problem, clues, clues, self.notation)
            return f"<div>{as_svg(grid, self.name)}</div>"
        facts = "".join(
            f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in describe(self).items()
        )
        table = f"<table><caption>{escape(self.name)}</caption>{facts}</table>"
        try:
            board = Board.of(self.problem)
        except ProblemError:  # the items do not name places of a board
            return table
        if len(board.places) > MOST_SHOWN_CELLS:
            return table
        return f"{table}<div>{as_svg(drawn(self.problem, board=board), self.name)}</div>"


def read_problem(
    text: str | os.PathLike[str],
    *,
    box: Box | None = None,
    alphabet: str | None = None,
    column: str | None = None,
    blank: str | None = None,
    rules: str | None = None,
    regions: str | None = None,
    rule_columns: str | None = None,
) -> Reading:
    """Read the problem that `text` names.

    Parameters
    ----------
    text : str or path
        * a file with one grid, in any form that `solve_file` reads;
        * a row of a corpus: ``corpus.csv#17``, counted from 1, or ``corpus.csv#id=basic0003``;
        * an exact cover problem: ``.dlx``, ``.ec``, ``.sets``, ``.json``, or ``.npz`` with a CSR
          matrix; ``.matrix`` with 0 and 1, ``.rows`` with the items of an option on each line;
        * a board and pieces to tile it with: ``.tiling``, see `batchsolve.problems.tilings`;
        * ``-``: a grid, ``.ec``, sets, a tiling, JSON or a matrix of NumPy from standard input;
        * a form, a colon, and a file of any name, or ``-``: ``dlx:problem.txt``;
        * if no such file exists, a family, ``queens:12``, or the text of a grid, as for `solve`.

        A file may be compressed, or an address.
    box : (int, int), optional
        For grids: rows and columns of a box; by default the usual ones for the size.
    alphabet : str, optional
        For grids: the alphabet; by default found from the grid, or from the column of a corpus.
    rules, regions : str, optional
        For grids: rules beyond the usual, as in `solve_file`.
    column : str, optional
        For a row of a corpus: the puzzle column.
    rule_columns : str, optional
        For a row of a corpus: the columns of rules, as in `solve_file`.
    blank : str, optional
        For grids: the characters of blank cells; by default those of ``.0*_-`` that are not digits.

    Raises
    ------
    InputError
        If the text names no file or family, or the file does not hold one well-formed problem.

    Examples
    --------
    >>> reading = read_problem("queens:6")
    >>> reading.problem, reading.stack.size, reading.name
    (ExactCover(n_items=34, n_primary=12, n_options=36), 0, 'queens:6')
    """
    if not isinstance(text, str | os.PathLike):
        raise InputError(
            f"a problem is text, such as 'queens:8' or the name of a file, "
            f"{errors.wrong_kind(text)}; of a matrix of 0 and 1, make one by ExactCover.from_matrix"
        )
    text = os.fsdecode(text)
    settings = {"box": box, "alphabet": alphabet, "blank": blank, "rules": rules}
    settings["regions"] = regions
    has_column = column is not None or rule_columns is not None
    if text == "-" or os.path.exists(text) or (is_address(text) and "#" not in text):
        if has_column:
            raise InputError(f"{text}: a column needs a row, such as {text}#1")
        return _read_file(text, settings)
    form, path = form_of(text)
    if form:
        return _read_file(path, settings, form)
    path, row = _split_row(text)
    is_family = text.partition(":")[0] in FAMILIES
    is_name = is_family or (row is not None and os.path.exists(path))
    if not is_name and (reading := _read_text(text, settings)) is not None:
        if has_column:
            raise InputError(f"{reading.name}: is a grid, which has no columns to name")
        return reading
    if row is not None:
        return _read_row(path, row, column, {**settings, "rule_columns": rule_columns})
    if not is_family:
        fault = why_unseen(text) or f"no such file, nor one of the families {known_families()}"
        raise InputError(f"{text}: {fault}")
    if has_column or any(setting is not None for setting in (box, alphabet, blank)):
        raise InputError(
            f"{text}: only grids in files have a box, an alphabet, a blank or a column to name"
        )
    problem = family(text)
    if rules is not None or regions is not None:
        if not isinstance(problem, Sudoku):
            raise InputError(f"{text}: only grids, such as sudoku:3x3, have rules and regions")
        shape = problem.box_rows, problem.box_columns
        problem = grid_problem(problem.n_digits, shape, rules, regions)
    return _reading(problem, text)


def _read_text(text: str, settings: Mapping[str, Any]) -> Reading | None:
    """Read the one grid of a text; return None for the name of a file."""
    try:
        problem, notation, grid = read_grid(text, **settings)
    except BatchsolveError as error:
        is_name = isinstance(error, NoGridError) or re.search("[a-z]{2}", text)
        if is_name and "\n" not in text.strip():
            return None
        raise InputError(f"{shortened(text)}: {error}") from error
    stack = problem.stacks_of(grid[None], np.arange(1)).options
    return Reading(problem, stack, shortened(in_one_line(text)), notation)


Puzzle = ExactCover | Reading | str | os.PathLike[str]
"""A problem, the result of `read_problem`, or an argument of it."""


def reading_of(problem: Puzzle, **settings: Any) -> Reading:
    """Return a problem as a `Reading`; the settings are those of `read_problem`, for texts.

    Examples
    --------
    >>> reading_of("queens:6").name, reading_of(ExactCover([0, 1], [0], 1)).name
    ('queens:6', 'ExactCover(n_items=1, n_primary=1, n_options=1)')
    """
    if not isinstance(problem, ExactCover | Reading):
        return read_problem(problem, **settings)
    if name := next((name for name, value in settings.items() if value is not None), None):
        raise InputError(f"{name} is for texts, and the problem has its rules; leave it out")
    return problem if isinstance(problem, Reading) else _reading(problem, repr(problem))


def problem_and_stacks(
    problem: Puzzle, stack: Iterable[int] | Stacks = (), is_one: bool = False
) -> tuple[ExactCover, Stacks]:
    """Return a problem, and the stacks to begin with.

    Parameters
    ----------
    problem : ExactCover, Reading, str or path
    stack : iterable of int, or Stacks
        The stack or stacks to begin with; by default the clues that were read.
    is_one : bool
        Allow one stack only.

    Returns
    -------
    problem : ExactCover
    stacks : Stacks
        One stack, or those given; all are partial covers.

    Raises
    ------
    InputError
        If the text names no problem, or a stack lacks some of the clues that were read, or there
        are several stacks where one is allowed.
    ProblemError
        If a stack is not a partial cover.

    Examples
    --------
    >>> problem_and_stacks("queens:6")
    (ExactCover(n_items=34, n_primary=12, n_options=36), Stacks(1 stack of 0 options))
    """
    reading = reading_of(problem)
    clues: list[int] = reading.stack.tolist()
    with errors.prefixed(reading.name, ProblemError):
        if isinstance(stack, Stacks):
            stacks = stack
            stacks.check(reading.problem)
        else:
            options = option_numbers(stack) or clues
            reading.problem.check_stack(options)
            stacks = Stacks.equally_long(np.array([options], np.uint32), np.arange(1))
    for begin in stacks if clues else ():
        if not set(clues).issubset(begin.tolist()):
            raise InputError(
                f"{reading.name}: a stack to begin with lacks some of its clues; add them "
                f"(Reading.stack), or give the problem alone (Reading.problem)"
            )
    if is_one and len(stacks) != 1:
        raise InputError(f"there is one stack to begin with here, not {len(stacks)}")
    return reading.problem, stacks


def describe(reading: Reading) -> dict[str, object]:
    """Return the facts about a problem by name.

    Examples
    --------
    >>> for name, value in describe(read_problem("sudoku:2x2")).items():
    ...     print(name, value)
    kind sudoku 2x2
    items 64
    primary 64
    secondary 0
    options 64
    without_primary 0
    colors 0
    bounded 0
    costs False
    entries 256
    density 0.0625
    clues 0
    """
    problem = reading.problem
    kind = "exact cover"
    if isinstance(problem, Sudoku):
        kind = f"sudoku {problem.box_rows}x{problem.box_columns}"
    elif isinstance(problem, GridProblem):
        rows, columns = problem.rules.extent
        kind = f"grid {rows}x{columns}"
    entries, full = problem.n_entries, problem.n_items * problem.n_options
    owners = owners_of(problem.indptr)
    with_primary = np.unique(owners[problem.indices < problem.n_primary]).size
    return {
        "kind": kind,
        "items": problem.n_items,
        "primary": problem.n_primary,
        "secondary": problem.n_items - problem.n_primary,
        "options": problem.n_options,
        "without_primary": problem.n_options - with_primary,
        "colors": problem.n_colors,
        "bounded": problem.n_bounded,
        "costs": problem.costs is not None,
        "entries": entries,
        "density": entries / full if full else 0.0,
        "clues": reading.stack.size,
    }


def picture(reading: Reading) -> str:
    """Return a drawing of a grid's clues, which `read_problem` can read from a file.

    If the clues leave the alphabet open, `read_problem` needs the alphabet as an argument.

    Raises
    ------
    InputError
        If the problem is not a grid.

    Examples
    --------
    >>> print(picture(read_problem("sudoku:1x2")), end="")
    +-----+
    | . . |
    | . . |
    +-----+
    """
    problem = reading.problem
    if not isinstance(problem, GridProblem):
        raise InputError(f"{reading.name}: only grids have a picture; this is an exact cover")
    assert reading.notation is not None
    clues = problem.grids(Stacks.from_lists([reading.stack.tolist()]))[0]
    return draw_grid(problem, reading.notation, clues)


def _reading(problem: ExactCover, name: str) -> Reading:
    """Return the reading of a problem without clues."""
    return Reading(problem, np.empty(0, np.uint32), name)


def _read_file(path: str, settings: Mapping[str, Any], form: str = "") -> Reading:
    """Read the problem in a file; `settings` are those of a grid: box, alphabet, …."""
    from batchsolve.tables.places import name_of, open_to_read

    name, opener = name_of(path), open_to_read if is_address(path) else opened
    with (
        errors.named_errors(name),
        nullcontext(sys.stdin.buffer) if path == "-" else opener(path) as file,
    ):
        data = content_of(file)
    return read_content(data, path, settings, form)


def read_content(
    data: bytes, path: str, settings: Mapping[str, Any] | None = None, form: str = ""
) -> Reading:
    """Read the problem in the content of a file.

    Parameters
    ----------
    data : bytes
    path : str
        The name of the file.
    settings : mapping, optional
        For grids: box, alphabet and the others, as for `read_problem`.
    form : str
        One of `FORMS`; by default the suffix of the file tells it.

    Raises
    ------
    InputError
        If the content is not one well-formed problem.
    """
    from batchsolve.tables.places import name_of, suffix_of

    name, settings = name_of(path), settings or {}
    with errors.named_errors(name):
        suffix = suffix_of(path)
        packed = io.BytesIO(data)
        is_matrix_file = data.startswith(ZIP) and (suffix == ".npz" or b"indptr" in data)
        if not is_matrix_file and (file := unpacked(packed)) is not packed:
            data = content_of(file, "unpacks to")
        if not data.strip():
            raise InputError("is empty; expected a grid or an exact cover problem")
        problem = _read_cover(data, f".{form}" if form else suffix, form)
        if problem is None:
            return _read_grid(data, path, name, settings)
        if any(setting is not None for setting in settings.values()):
            raise InputError("is an exact cover problem; only grids have a box and an alphabet")
    return _reading(problem, name)


def _read_cover(data: bytes, suffix: str, form: str) -> ExactCover | None:
    """Return the exact cover problem in a file, or None if the file must be a grid."""
    if suffix in _READERS or form == "json":  # these are text, whatever the file holds
        return _READERS.get(suffix, cover_files.read_json)(_text(data))
    if suffix == ".npz" or (data.startswith(ZIP) and b"indptr" in data):
        return cover_files.read_npz(data)
    if suffix.removeprefix(".") in WRITTEN_ONLY:
        raise InputError(
            f"a {suffix} file is only written, by convert, and not read; read the problem that it "
            f"was made of: {', '.join(f'.{form}' for form in FORMS)}, a grid, or a family"
        )
    if suffix == ".matrix" or cover_files.is_matrix(data):
        return cover_files.read_matrix(data)
    if data.startswith(_BINARY_TABLES):
        return None
    text = _text(data)
    if re.search(r"^\s*p\s+ec\s", text, re.MULTILINE):
        return cover_files.read_ec(text)
    if suffix not in TABLE_SUFFIXES and BEGINNING.search(text):
        return read_tiling(text)
    is_object = text.lstrip().startswith("{") and not is_grid_document(data)
    if is_object and '"options"' in text and suffix not in TABLE_SUFFIXES:
        return cover_files.read_json(text)
    return None


_READERS = {
    **{".dlx": cover_files.read_dlx, ".ec": cover_files.read_ec, SUFFIX: read_tiling},
    **{".sets": cover_files.read_sets, ".rows": cover_files.read_rows},
}


def _text(data: bytes) -> str:
    head = data[:_HEAD_BYTES]
    if (b"\0" in head or data.startswith(ZIP)) and errors.kind_of(head):
        raise InputError(errors.not_text(head))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(errors.not_decoded(error, f" in line {line}")) from error


def _read_grid(data: bytes, path: str, name: str, settings: Mapping[str, Any]) -> Reading:
    """Read the one grid of a file, which is a drawing or the only row of a table."""
    from batchsolve.tables.places import suffix_of

    if data.startswith(_BINARY_TABLES):
        return _only_row(_corpus_of(data, path, settings), path, name)
    try:
        problem, notation, grid = read_grid(_text(data), name=name, **settings)
        return Reading(problem, problem.stack(grid), name, notation)
    except InputError as error:  # also that a line is too short, or too long
        if not any(setting is not None for setting in settings.values()):
            for read in (cover_files.read_sets, cover_files.read_ec):  # they begin with their size
                with suppress(InputError):
                    return _reading(read(_text(data)), name)
        is_object = data.lstrip().startswith(b"{")
        if isinstance(error, SeveralGridsError):
            raise
        is_faulty = not is_object and not isinstance(error, NoGridError)  # one of a wrong grid
        contents = [] if is_faulty else [data]
        if is_object:
            contents.append(b"[%b]" % data)  # its fields stand on several lines
        for content in contents:
            corpus = None
            with suppress(BatchsolveError):
                corpus = _corpus_of(content, path, settings)
            if corpus is not None:
                return _only_row(corpus, path, name)
        if form := _form_of_numbers(data):
            raise InputError(f"{error}{_name_the_form(path, form)}") from error
        if is_faulty:
            raise
        if suffix_of(path) in TABLE_SUFFIXES:
            advice = f"{_name_a_row(path)}; the problems of a table are counted by count -o OUT"
            raise InputError(f"no single grid; if it is a table, {advice}") from error
        if suffix_of(path) == ".json" or is_object:
            return _reading(cover_files.read_json(_text(data)), name)
        if re.search(rb"[2-9]", data) and not re.search(rb"[A-Za-z|]", data):
            raise  # of a grid that lacks a line, for instance
        raise InputError(f"{error}{_name_the_form(path, 'dlx', 'ec', 'matrix')}") from error


def _form_of_numbers(data: bytes) -> str:
    """Return the form of an exact cover problem that numbers can have; nothing if they have none.

    Items of rows are numbered without gaps, and a row has some of them, each once.
    """
    if cover_files.is_matrix(data) or re.fullmatch(rb"[01,;\s]*[01][01,;\s]*", data):
        return "matrix"
    rows = [line.replace(b",", b" ").split() for line in data.splitlines()]
    are_short = re.fullmatch(rb"(?:[0-9]{1,9}(?![0-9])|[,\s])+", data)
    if not are_short or any(len(row) > len({*row}) for row in rows):
        return ""
    longest, items = max(map(len, rows)), {word for row in rows for word in row}
    return "rows" if 1 < longest < max(map(int, items)) <= len(items) else ""


def _name_the_form(path: str, *forms: str) -> str:
    names = ", ".join(f"{form}:{path}" for form in forms)
    return f"; if it is an exact cover problem, name its form, too: {names}"


@contextmanager
def naming_the_form(paths: Sequence[str]) -> Iterator[None]:
    """Name, in an error about the only file, the form of an exact cover problem it may have."""
    try:
        yield
    except InputError as error:
        form = ""
        is_plain = type(error) is InputError and len(paths) == 1 and os.path.isfile(paths[0])
        if is_plain and os.path.getsize(paths[0]) <= MAX_NUMBERS:
            with suppress(InputError, OSError), opened(paths[0]) as file:
                form = _form_of_numbers(content_of(file))
        if not form:
            raise
        raise InputError(f"{error}{_name_the_form(paths[0], form)}") from error


def _corpus_of(data: bytes, path: str, settings: Mapping[str, Any]) -> Corpus:
    """Return the content of a file as a table of grids."""
    from batchsolve.tables.corpus import Corpus
    from batchsolve.tables.detection import source_of

    return Corpus([source_of(path, data)], FileSettings(**settings))


def _only_row(corpus: Corpus, path: str, name: str) -> Reading:
    """Read the only row of a table."""
    batches = [batch for batch in corpus.batches() if len(batch)]
    if (n_rows := sum(map(len, batches))) != 1:
        raise InputError(f"a table of {n_rows:,} grids; {_name_a_row(path)}, or solve it alone")
    return _of_row(batches[0], 0, name)


def _name_a_row(path: str) -> str:
    row = f"-- {path}#1" if path == "-" else f"{path}#1 or {path}#COLUMN=VALUE"  # no option
    return f"name a row, as in {row}"


def _of_row(batch: Batch, row: int, name: str) -> Reading:
    """Return the grid of a row, which may be malformed."""
    if row in batch.faults:
        raise InputError(batch.faults[row])
    problem, puzzle, notation = batch.row(row)
    return Reading(problem, problem.stack(puzzle), name, notation)


def form_of(text: str) -> tuple[str, str]:
    """Return the form and the file that ``FORM:FILE`` names; an empty form for another text."""
    form, _, path = text.partition(":")
    is_form = form in (*FORMS, *WRITTEN_ONLY) and (path == "-" or os.path.exists(path))
    return (form, path) if is_form else ("", text)


def _split_row(text: str) -> tuple[str, str | None]:
    """Return the file and the row that ``FILE#ROW`` names; None for a missing row."""
    places = [k for k, character in enumerate(text) if character == "#" and k > 0]
    if not places:
        return text, None
    # names of files can hold a #, too
    place = next((k for k in places if os.path.exists(text[:k])), places[0])
    return text[:place], text[place + 1 :]


def _read_row(path: str, row: str, column: str | None, settings: Mapping[str, Any]) -> Reading:
    from batchsolve.tables.corpus import Corpus
    from batchsolve.tables.places import name_of

    name = name_of(path)
    with errors.named_errors(name):
        corpus = Corpus([path], FileSettings(column=column, **settings))
        block, place = _find_row(corpus, path, row)
        batch = corpus.reader.read(block)
    with errors.named_errors(f"{name}#{row}"):
        return _of_row(batch, place, f"{name}#{row}")


def _find_row(corpus: Corpus, path: str, row: str) -> tuple[Block, int]:
    """Return the block of the row that a number or a value names, and its place there."""
    column, equals, value = row.partition("=")
    number = int(row) if row.isascii() and row.isdecimal() and len(row) < 19 else None
    if number == 0 or (number is None and not equals):
        raise InputError(
            f"no row is called {row[:60]!r}; rows count from 1, as in {path}#1, or are found by a "
            f"value, as in {path}#COLUMN=VALUE"
        )
    if number is None:
        corpus.check_column(column)
    matches: list[tuple[int, Block, int]] = []
    n_rows = 0
    for block in corpus.blocks():
        table, _ = block.rows()
        places = _where(table, column, value) if number is None else [number - n_rows - 1]
        matches += [(n_rows + place + 1, block, place) for place in places if place < len(table)]
        if number is not None and matches:
            break
        n_rows += len(table)
    if not matches and number is not None:
        raise InputError(f"there is no row {number:,}; the last one is {n_rows:,}")
    if not matches:
        raise InputError(f"no row has {quoted(value)} in column {quoted(column)}")
    if len(matches) > 1:
        numbers = [match[0] for match in matches]
        few = ", ".join(map(str, numbers[:5])) + (", …" if len(matches) > 5 else "")
        raise InputError(
            f"{len(matches):,} rows have {quoted(value)} in column {quoted(column)} ({few}); name "
            f"one by its number, as in {path}#{numbers[0]}"
        )
    return matches[0][1:]


def _where(table: pa.Table, column: str, value: str) -> list[int]:
    """Return the rows of a table that have a value in a column, compared as text."""
    import pyarrow.compute as pc

    from batchsolve.tables.columns import values_as_text

    same = pc.equal(values_as_text(table, column), value)
    return np.flatnonzero(np.asarray(pc.fill_null(same, False))).tolist()
