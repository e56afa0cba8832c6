"""Texts of grids, in every form in which people write them: cells, rows, drawings, lists.

All ways in read grids by this module: a string, a cell of a table, a line and a file. A *row* is a
line with cells: characters, or numbers with blanks, commas or bars between them. N rows of N cells
make a grid, and so does one row of N². Frames and comments, which begin with ``#``, are left out;
other lines are titles. Of a text in sections with a ``[Puzzle]``, as SadMan's, that has the grid.
"""

from __future__ import annotations

import json
import re
import string
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import suppress
from itertools import chain, groupby, islice, pairwise, takewhile
from math import isqrt
from typing import Any, NamedTuple

from batchsolve.errors import InputError
from batchsolve.problems.notation import BLANKS, MINUS_ONE, default_box, usual_notation
from batchsolve.problems.sudoku import drawing_of
from batchsolve.problems.survey import MOST_PLAIN

Row = tuple[int, tuple[str, ...]]
"""The number of a line of a text, from 1, and its words between blanks, commas and bars."""

Cells = tuple[bool, int]
"""True if the cells of a row are words, not characters of words; and their number."""

_CANDIDATES = "(?=.)1?2?3?4?5?6?7?8?9?"
_DOTS = str.maketrans("·∙⋅•□▢◻☐⬜○", "." * 10)  # signs of blank cells, too, as raised dots are
_OTHER_BLANKS = "?xo"  # which an option has to name
_BLANK = rf"[.*_{_OTHER_BLANKS}{''.join(map(chr, _DOTS))}-]"
_CELL = re.compile(rf"\d{{1,3}}|{_CANDIDATES}|[A-Z]|{_BLANK}")
"""The text of a cell that is not empty; in drawings, small letters are cells, too."""
_COMMENT = re.compile(r"(^|\s+)#.*")
# the title of a section, such as [State]: its name, and "puzzle" if that begins so
_SECTION = re.compile(r"\s*\[((puzzle)?\w*)\](\s+#.*|\s*)", re.IGNORECASE)
_BARS = re.compile(r"[|!+\u2500-\u257f]")
# a line of a frame has no cells; if it has a run of dashes, dots and the like can be its corners
_RULE = re.compile(r"[-=+|!\s\u2500-\u257f]*|(?=.*[-=─━═]{2})[-=+|!:.*'`,\s\u2500-\u257f]*")
_DASHES = re.compile(r"(?=.*-)[-|!\s,;│┃║]*")  # a row of blank cells, or a frame
_QUOTED = re.compile(r'"([^",;\s]{0,4})"')  # a cell of a spreadsheet
_COUNTED = re.compile(r"(0[,;\s]+)?1[,;\s]+2[,;\s]+3\b")  # numbers of columns, or a row
_SEPARATORS = (",", ";", "\t")  # of the cells of a spreadsheet
_FIELD_END = re.compile("[,;]")
_LEAST = 4  # cells of a row of grids of one line, of which N could be a drawing
_MOST = 36  # cells of a row; longer lines are whole grids
_MOST_IN_BOX = 6  # cells of a row of a box
LONGEST_NUMBER = 3  # digits, because N is at most 255; longer words are rows of characters
_BLANKS = frozenset(BLANKS)
MOST_SPACED = 8  # upper bound of the fields of a line with blanks between them
_SIZES = (16, 36, 64, 81, 100, 144, 225, 256, 400, 625)  # cells of a field taken for a grid
_DIGITS = frozenset(string.digits + BLANKS + _OTHER_BLANKS)
_SYMBOLS = frozenset(string.digits + string.ascii_uppercase + BLANKS) - {"-"}  # words have dashes
_LONG = 129  # characters of fields that may have small letters; hashes, of these, have fewer
_MARKS = frozenset("/|,;: \t")  # between fields, rows or cells
# of no grid, nor title
_SENTENCE = re.compile(r"(?:\b(?!nan\b|null\b|None\b)[A-Za-z][a-z]{1,14}[,.]? +){8}")

# library lines of HoDoKu, such as :0000:x:…:::, with the grid in the fourth field, and + before
# cells that are solved
_LIBRARY = re.compile(r":[^:\n]*:[^:\n]*:([^:\n]*):[^:\n]*:[^:\n]*:[^\n]*")
# of lists: nulls, empty texts, keys, the points of whole numbers, and quotes and brackets
_NULL = re.compile(r"null|None|nan|NaN")
_EMPTY = re.compile(r"([\[,:]\s*)(?:\"\s*\"|'\s*')|\"\"|''")
_KEY = re.compile(r"\"\w*\"\s*:|'\w*'\s*:")
_POINT = re.compile(r"(?<=\d)\.0?(?![^\s,;|\]}])")
_AROUND = str.maketrans("[]{}\"',", "       ")
# several cells, each empty, a blank or a whole number, perhaps with a point
_NUMBER, _GAP = r"(?:(?:\d{1,3}|-1)(?:\.0)?|nan|NaN|[.*_-])", r"[\s,;|]"
_NUMBERS = re.compile(rf"(?=\s*\S+{_GAP}){_GAP}*{_NUMBER}(?:{_GAP}+{_NUMBER})*{_GAP}*")


class NoGridError(InputError):
    """The text has no grid, or several."""


class SeveralGridsError(NoGridError):
    """The text has several grids, or may have."""


class DrawnForm(NamedTuple):
    """The form of the drawings of a text, as the first of them has it."""

    n: int
    has_gaps: bool  # blank lines stand below each row of boxes; otherwise they end a grid


DrawnGrid = tuple[str, list[Row]]
"""One grid of a text: its title, empty if it has none, and its rows."""


def in_one_line(text: str) -> str:
    r"""Return a grid as N² characters, or N² numbers with blanks between them.

    Of pencil marks, only the clues are left; see `pencil_marks`. A text without a grid is returned
    unchanged; of several lines of cells, the cells are left.

    Examples
    --------
    >>> in_one_line("+--+--+\n|12|..|\n|3.|..|\n+--+--+\n|..|..|\n|..|.4|\n+--+--+")
    '12..3.........4'
    >>> in_one_line("[[1, 2, null, 0], [3, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 4]]")
    '1,2,.,0,3,0,0,0,0,0,0,0,0,0,0,4'
    >>> in_one_line("1.....2..3.....4;easy;1.2")
    '1.....2..3.....4'
    """
    line = _in_one_line(text)
    if _is_one_grid(line) or (grid := _without_fields(text)) is text:
        return line
    return _in_one_line(grid)


def _is_one_grid(line: str) -> bool:
    """Return True if nothing is left between the characters of a line, or N² numbers."""
    return _MARKS.isdisjoint(line) or _are_cells_of_one(_words_of(line))


def _in_one_line(text: str) -> str:
    if _SENTENCE.search(text) and text.lstrip()[:1] != "[":  # null, null, … in a list
        return text
    if "#" in text and drawing_of(text):
        return "".join(text.split())
    plain = bare(text).strip()
    if _are_rows(words := plain.split()):
        return "".join(words)
    is_line = "\n" not in plain  # of several lines, one may lack a cell
    if is_line and (groups := candidates_of([(1, tuple(words))])):
        return clues_of(groups)
    if is_line and _are_cells_of_one(words):
        if text.lstrip()[:1] == "[" and not any(map(str.isalpha, words)):
            return ("," if "," in text else " ").join(words)  # a list holds numbers
        return joined([words], True)
    try:
        rows = rows_of(plain if is_line else text)  # tabs around several lines may be blank cells
    except NoGridError:
        return text
    if groups := candidates_of(rows):
        return clues_of(groups)
    lines, are_words, n = cells_of(rows)
    if n:
        return joined(lines, are_words)
    return "\n".join(joined([line], are_words) for line in lines) if len(rows) > 1 else plain


def one_of(name: str) -> str:
    """Return advice on the grids of a file, or of a text without a name."""
    return f"name one by its row, as in {name}#1" if name else "give solve_batch a list of texts"


def rows_of(text: str, size: int | None = None, name: str = "") -> list[Row]:
    """Return the rows of the one grid of a text; all lines with cells if it is not a drawing.

    If several grids are drawn, raise `SeveralGridsError`. `size` is N, if it is known.
    """
    rows = _rows(text := bare(text))
    form = form_of_drawing(text) if len(rows) > 1 and cells_of(rows, size)[2] is None else None
    if form is None or size not in (None, form.n):
        return rows
    grids = list(drawn_grids(text, form))
    if len(grids) > 1:
        raise SeveralGridsError(f"{len(grids):,} grids; {one_of(name)}")
    [(_, grid)] = grids
    return grid


def without_fields(text: str) -> str:
    """Return the grid of a line with other fields beside it; another text as it is.

    The line has one grid, and its other fields cannot be the rest of a larger one.
    """
    return text if _is_one_grid(_in_one_line(text)) else _without_fields(text)


def _without_fields(text: str) -> str:
    line = _COMMENT.sub("", text).strip()
    if _MARKS.isdisjoint(line) or "\n" in line or line[:1] == "[" or _SENTENCE.search(line):
        return text
    for mark in (*(mark for mark in ",;\t|" if mark in line), None):
        fields = [field.strip(' "') for field in line.split(mark)]
        cells = [field for field in fields if _are_symbols({*field} - _MARKS)]
        grids = [field for field in cells if len(field) >= _SIZES[0] and looks_like_grid(field)]
        if len(grids) != 1 or (mark is None and len(fields) > MOST_SPACED):
            continue
        blanks = _BLANKS.intersection(grids[0])
        n_more = sum(len(field) for field in cells if blanks.intersection(field)) - len(grids[0])
        # of N + 1 rows, 2 N + 1 cells would be missing, or 2 N if a mark replaced one
        return grids[0] if n_more < 2 * isqrt(len(grids[0])) else text
    return text


def bare(text: str) -> str:
    """Return a grid without what can be around its rows: brackets, fields, marks between rows."""
    text = text.translate(_DOTS)
    plain = text.strip()
    if plain[:1] == plain[-1:] == '"':  # a text in JSON, among lists
        with suppress(ValueError):
            text = plain = json.loads(plain)
    if plain[:1] == "[" and plain[-1:] == "]" and not _SECTION.match(plain):
        return _of_list(plain)
    text = without_points(text)
    plain = text.strip()
    if "#" in plain:
        bare_lines = (_COMMENT.sub("", line).strip() for line in plain.splitlines())
        plain = "\n".join(filter(None, bare_lines))
    if "\n" in plain:
        return text  # of which messages name a line
    if isqrt(len(plain)) ** 2 == len(plain) and _MARKS.isdisjoint(plain):
        return text  # most texts are characters without separators
    if library := _LIBRARY.fullmatch(plain):
        return library[1].replace("+", "")
    if rows := rows_of_line(plain):
        return " ".join(rows)
    if cells := cells_of_line(text.strip(" \r\n"))[1]:
        return " ".join(cell or "." for cell in cells)
    return text


def _of_list(text: str) -> str:
    """Return the values of a list of JSON, Python or NumPy in one line.

    Inner lists that are not the rows of a square stay lines, so that none makes up for another.
    """
    if "n" in text or "N" in text:
        text = _NULL.sub(".", text)
    if '"' in text or "'" in text:
        text = _KEY.sub("", _EMPTY.sub(r"\1.", text))
    if "." in text and '"' not in text and "'" not in text:  # rows of characters are quoted
        text = _POINT.sub("", text)
    lines = (part.translate(_AROUND).split() for part in text.split("]"))
    rows = list(filter(None, lines))
    is_square = len(rows) == 1 or {len(row) for row in rows} == {len(rows)}
    return (" " if is_square else "\n").join(map(" ".join, rows))


def without_points(text: str) -> str:
    """Return whole numbers that are written as floating-point ones, and NaN, as cells are.

    Examples
    --------
    >>> without_points("1.0 nan 2 . -1.0"), without_points("1.0 2..")
    ('1 . 2 . -1', '1.0 2..')
    """
    if (".0" in text or "nan" in text or "NaN" in text) and _NUMBERS.fullmatch(text):
        return _NULL.sub(".", _POINT.sub("", text))
    return text


def rows_of_line(line: str) -> list[str]:
    """Return the rows of a grid in a line, between any of the usual marks; none of another line."""
    for mark in ("/", ".", "|", None):
        rows = [row.strip() for row in line.split(mark)]
        if _are_rows(rows):
            return rows
    return []


def cells_of_line(line: str) -> tuple[str, list[str]]:
    """Return the mark between the cells of a grid in a line, and the cells; empty ones are blank.

    Another line has none.
    """
    for mark in "|,;\t":
        cells = _cells_between(mark, line)
        if _root(len(cells)):
            return mark, [] if all(map(str.isalpha, cells)) else cells
    return "", []


def _cells_between(mark: str, line: str) -> list[str]:
    """Return the cells between the marks of a line, empty if blank; none if it has other texts."""
    cells = [cell.strip(' "') for cell in without_points(line).split(mark)]
    return cells if all(map(_CELL.fullmatch, filter(None, cells))) else []


def cells_of(
    rows: Sequence[Row], size: int | None = None, any_size: bool = False
) -> tuple[list[tuple[str, ...]], bool, int | None]:
    """Return the cells of each row of a grid; True if they are words, not characters; and N.

    N is None if the rows are not a grid, and `size` if that is known. With `any_size`, characters
    can be those of a grid of more digits than the usual alphabets have.
    """
    words = [words for _, words in rows]
    characters = [tuple("".join(line)) for line in words]
    is_short = all(len(word) <= LONGEST_NUMBER for line in words for word in line)
    first = words[0] if len(rows) == 1 else ()  # long words of one line are whole grids
    is_one = len(first) < 2 or _are_rows(first) or max(map(len, first)) <= _MOST_IN_BOX
    for lines in [words] * is_short + [characters] * is_one:
        n = size_of(lines)
        if n is None or not (n == size if size else default_box(n)):
            continue
        if lines is words or any_size or usual_notation(n).symbols:
            return lines, lines is words, n
    n_words, n_characters = (sum(map(len, lines)) for lines in (words, characters))
    are_words = n_characters < 2 * n_words
    return (words if are_words else characters), are_words, None


def candidates_of(rows: Sequence[Row]) -> Sequence[str]:
    r"""Return the candidates of each cell of a grid of pencil marks; of other rows, none.

    Such a grid has no blank cells, and several digits in N cells or more.

    Examples
    --------
    >>> candidates_of([(1, ("1", "23", "23", "4") * 4)])[:4]
    ['1', '23', '23', '4']
    """
    groups = [word for _, words in rows for word in words]
    n = _root(len(groups))
    is_even = len({len(words) for _, words in rows}) == 1
    if len(rows) not in (1, n) or not is_even or not 0 < n <= MOST_PLAIN:
        return []
    if sum(len(group) > 1 for group in groups) < n or max(map(max, groups)) > str(n):
        return []
    return groups if all(re.fullmatch(_CANDIDATES, group) for group in groups) else []


def text_of(rows: Sequence[Row]) -> str:
    """Return the cells of a grid, or the candidates of each, as text in one line."""
    return " ".join(candidates_of(rows)) or joined(*cells_of(rows)[:2])


def clues_of(candidates: Iterable[str]) -> str:
    """Return the clues of a grid of pencil marks: the cells of one candidate."""
    return "".join(group if len(group) == 1 else "." for group in candidates)


def pencil_marks(text: str) -> str:
    """Return the marks of a grid of pencil marks, as a column of marks has them; else nothing.

    Examples
    --------
    >>> pencil_marks("1 234 3 4 3 4 1 2 24 1 24 3 4 3 2 13")[:16]
    '1....234..3....4'
    """
    try:
        groups = candidates_of(rows_of(text))
    except NoGridError:
        return ""
    symbols = usual_notation(isqrt(len(groups))).symbols if groups else ""
    return "".join(digit if digit in group else "." for group in groups for digit in symbols)


def size_of(lines: Sequence[Sequence[str]]) -> int | None:
    """Return N for N lines of N cells or one line of N², otherwise None."""
    width = len(lines[0]) if lines else 0
    if any(len(line) != width for line in lines):
        return None
    if len(lines) == width:
        return width or None
    return isqrt(width) if len(lines) == 1 and isqrt(width) ** 2 == width else None


def joined(lines: Sequence[Sequence[str]], are_words: bool) -> str:
    """Return the cells of rows as text, with blanks between numbers."""
    cells = list(chain.from_iterable(lines))
    return (" " if are_words and are_numbers(cells) else "").join(cells)


def are_numbers(words: Sequence[str]) -> bool:
    """Return True if cells that are words are numbers, and not characters of an alphabet."""
    n_letters, n_long = sum(map(str.isalpha, words)), sum(len(word) > 1 for word in words)
    # characters have blanks of one kind
    are_plain = len(words) <= MOST_PLAIN**2 and len(_BLANKS.intersection(words)) < 2
    return n_long > n_letters or (n_letters == 0 and not are_plain)


def form_of_drawing(text: str, dashed: Set[Cells] | None = None) -> DrawnForm | None:
    r"""Return the form of the grids of a text that begins with a drawn one, else None.

    `dashed` is as of `_dashed`, if that is known.

    Examples
    --------
    >>> form_of_drawing("Grid 01\n12..\n3...\n....\n...4\n").n
    4
    >>> form_of_drawing("1.....2..3.....4\n" * 16)  # grids of one line each
    """
    if len(numbered := _lines(text)) < 2:
        return None
    dashed = _dashed(numbered, _cells) if dashed is None else dashed
    n, gaps = 0, set[int]()  # the rows above blank lines
    rows: list[tuple[str, ...]] = []
    for _, line in numbered:
        if line.count('"') % 2:
            return None  # the grid is a field of a table
        if not (words := row_of_cells(line, dashed)):
            gaps |= {len(rows)} if not line.strip() else set()
            continue
        before, n = n, len(_cells_below(words, n) if rows else _cells(words))
        if rows and n != before:
            if len(rows) > 1 and not _are_small(list(map("".join, rows)), before):
                return None
            rows.clear()  # a title may look like a row, and small grids of one line do
            gaps.clear()
            n = len(_cells(words))
        if n:
            rows.append(words)
            if len(rows) == n:
                if are_grids("".join(words) for words in rows):
                    return None
                height, _ = default_box(n) or (1, n)
                return DrawnForm(n, gaps.issuperset(range(height, n, height)))
    return None


def drawn_grids(text: str, form: DrawnForm) -> Iterator[DrawnGrid]:
    r"""Yield the grids that are drawn in a text, in their order, and those in one line.

    Nothing is left out: a row with other than N cells, or a grid with too few rows, is in a
    malformed grid. A row with a wrong cell stays a row, so that the next grid begins where it does.
    `form` is that of the first drawing; a later one of another size has its own.

    Examples
    --------
    >>> text = "Grid 01\n+--+--+\n|12|..|\n|3.|..|\n+--+--+\n|..|..|\n|..|.4|\n"
    >>> [grid] = drawn_grids(text, form_of_drawing(text))
    >>> grid
    ('Grid 01', [(3, ('12', '..')), (4, ('3.', '..')), (6, ('..', '..')), (7, ('..', '.4'))])
    """
    lines, title, rows = _lines(text), "", list[Row]()
    dashed = _dashed(lines, _cells)
    for k, (number, line) in enumerate(lines):
        words = row_of_cells(line, dashed)
        if rows:
            is_row = bool(words and _cells_below(words, form.n))
        else:
            begun = _form_from(lines[k : k + 3 * _MOST], words, dashed, form) if words else None
            form, is_row = begun or form, begun is not None
        is_gap = not form.has_gaps and not line.strip()
        if rows and (is_gap or (words is not None and not is_row)):
            yield title, rows
            title, rows = "", []
        is_whole = False
        if words and is_row:
            rows.append((number, words))
            is_whole = len(rows) == form.n
        elif words is not None:
            title, rows = _titled(number, line, words, title)
            is_whole = bool(rows)
        if is_whole:
            yield title, rows
            title, rows = "", []
    if rows:
        yield title, rows


def _titled(number: int, line: str, words: tuple[str, ...], title: str) -> DrawnGrid:
    """Return the title that a line is, or the grid in it, below a title or beside other words."""
    if grid := next(filter(looks_like_grid, (line, *words)), ""):
        others = [word for word in words if word != grid] if grid != line else []
        name = " ".join(filter(None, (title, *others)))
        return name, [(number, tuple(bare(grid).split()))]
    if section := _SECTION.fullmatch(line):
        return (title if section[2] else section[1]), []
    return line.strip(), []


def _form_from(
    lines: Sequence[tuple[int, str]], first: tuple[str, ...], dashed: Set[Cells], form: DrawnForm
) -> DrawnForm | None:
    """Return the form of the drawing that begins with the first line; None if none does."""
    n = len(_cells(first))
    if n in (0, form.n):
        return form if n else None
    rows = filter(None, (row_of_cells(line, dashed) for _, line in lines))
    half = list(islice(rows, n // 2))  # fewer may be titles
    if len(half) < n // 2 or any(len(_cells_below(words, n)) != n for words in half):
        return None
    drawn = form_of_drawing("\n".join(line for _, line in lines), dashed)
    if drawn and drawn.n == n:
        return drawn
    are_cells = all(len(_cells(words)) == n and not "".join(words).isalpha() for words in half)
    return DrawnForm(n, False) if are_cells and not looks_like_grid(lines[0][1]) else None


def looks_like_grid(text: str) -> bool:
    """Return True if a field is a grid, rather than a name.

    Examples
    --------
    >>> list(map(looks_like_grid, ["1.....2..3.....4", "[1, null, 0, 2]" * 4, "puzzle_and_rules"]))
    [True, True, False]
    """
    plain = _in_one_line(text) if len(text) >= _SIZES[0] else text
    words = plain.replace(",", " ").split()
    if len(words) > 1:
        are_numbers = all(word.isdecimal() or word in (*BLANKS, MINUS_ONE) for word in words)
        return len(words) in _SIZES and are_numbers
    symbols = set(plain if len(plain) < _LONG else plain.upper())
    is_one_kind = _are_symbols(symbols)
    return len(plain) in _SIZES and is_one_kind and (len(symbols) > 2 or any(symbols & set(BLANKS)))


def _are_symbols(symbols: Set[str]) -> bool:
    """Return True if all are of cells of one kind: digits, or digits and large letters."""
    return symbols <= _DIGITS or symbols <= _SYMBOLS


def are_grids(rows: Iterable[str]) -> bool:
    """Return True if each of N rows of N cells can be a smaller grid, in one line.

    Examples
    --------
    >>> are_grids(["A.....B..C.....D"] * 16), are_grids(["53..7...."] * 9)
    (True, False)
    >>> are_grids(["1.....2..3.....4"] * 15 + ["9..............."])  # with a wrong one
    True
    """
    lines = list(rows)
    return _are_small(lines, len(lines))


def _are_small(rows: Sequence[str], width: int) -> bool:
    """Return True if rows of this width can be grids of N² cells in one line.

    In an unusual alphabet, or with some wrong rows, they are if a symbol stands twice in a column,
    as in no larger grid.
    """
    n = isqrt(width)
    if n * n != width or n < _LEAST or any(len(row) != width for row in rows):
        return False
    symbols = set("".join(rows)) - {*_BLANKS, *_OTHER_BLANKS}
    unusual = symbols - {*usual_notation(n).symbols}
    if not unusual:
        return True
    columns = ([cell for cell in column if cell in symbols] for column in zip(*rows, strict=True))
    repeats = any(len({*cells}) < len(cells) for cells in columns)
    marked = [row for row in rows if not symbols.isdisjoint(row)]
    are_right = 2 * sum(map(unusual.isdisjoint, marked)) > len(marked)
    return default_box(n) is not None and repeats and (len(symbols) <= n or are_right)


def _cells(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the cells of a row of any usual length; none of another line."""
    for cells in _readings(words):
        n = len(cells)
        is_header = "".join(cells).upper() == string.ascii_uppercase[:n]  # of a table
        if n <= _MOST and default_box(n) and _are_cells(cells, n) and not is_header:
            return cells
    return ()


def _cells_below(words: tuple[str, ...], n: int) -> tuple[str, ...]:
    """Return the cells of a row below others, which may have wrong ones or another length."""
    readings = list(_readings(words))
    fitting = (cells for cells in readings if len(cells) == n)
    return next(chain(fitting, (cells for cells in readings if _are_cells(cells, n))), ())


def _are_cells(cells: Sequence[str], n: int) -> bool:
    """Return True for cells of N digits: of small letters the first N, so that words are none."""
    letters = string.ascii_lowercase[:n]
    return all((len(cell) == 1 and cell in letters) or _CELL.fullmatch(cell) for cell in cells)


def _readings(words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the words of a line, and its characters if it is one word or the rows of boxes."""
    yield words
    # rows of boxes are short and equally long; others are fields of a table
    are_of_boxes = len({len(word) for word in words}) == 1 and len(words[0]) <= _MOST_IN_BOX
    if len(words) == 1 or are_of_boxes:
        yield tuple("".join(words))


def _root(n_cells: int) -> int:
    """Return N for N² cells of a grid with usual boxes, otherwise 0."""
    n = isqrt(n_cells)
    return n if n * n == n_cells and default_box(n) else 0


def _are_cells_of_one(words: Sequence[str]) -> bool:
    """Return True for N² words as short as cells."""
    return _root(len(words)) > 0 and max(map(len, words)) <= LONGEST_NUMBER


def _are_rows(words: Sequence[str]) -> bool:
    """Return True for N words of N characters."""
    n = len(words)
    are_long = all(len(word) == n and _MARKS.isdisjoint(word) for word in words)
    return default_box(n) is not None and are_long


def _lines(text: str) -> list[tuple[int, str]]:
    """Return the lines of a text, numbered from 1; if it has a section [Puzzle], not of others.

    Rows of a spreadsheet get commas between their cells. Its empty rows between boxes become blank
    lines, and so do the numbers of columns above grids. An index of rows, as of pandas, is removed.
    """
    lines = text.splitlines()
    if '"' in text:
        lines = [_QUOTED.sub(r"\1", line) for line in lines]
    _drop_index(lines)
    if "\t" in text:
        lines = [
            line.replace("\t", ",") if default_box(len(_cells_between("\t", line))) else line
            for line in lines
        ]
    if any(mark in text for mark in _SEPARATORS):
        lines = _without_gaps(lines)
    numbered = [(k + 1, "" if _are_columns(lines, k) else lines[k]) for k in range(len(lines))]
    if "[" not in text:
        return numbered
    kept, is_kept, has_puzzle = list[tuple[int, str]](), True, False
    for number, line in numbered:
        if "[" in line and (section := _SECTION.fullmatch(line)):
            is_kept = section[2] is not None
            has_puzzle |= is_kept
        kept += [(number, line)] * is_kept
    return kept if has_puzzle else numbered


def _drop_index(lines: list[str]) -> None:
    """Remove from lines the numbers of rows, and those of columns above them, as of pandas."""
    for k, (line, below) in enumerate(pairwise(lines)):
        mark = line[:1]
        if mark in _SEPARATORS and below.startswith(f"0{mark}") and _n_numbered(line[1:]):
            lines[k] = ""
            for row, place in enumerate(range(k + 1, len(lines))):
                number, _, cells = lines[place].partition(mark)
                if number != str(row):
                    break
                lines[place] = cells


def _are_columns(lines: Sequence[str], k: int) -> bool:
    """Return True if a line has the numbers of columns, from 0 or 1, above grids."""
    n = _n_numbered(lines[k])
    if n == 0 or (k > 0 and len(row_of_cells(lines[k - 1]) or ()) == n):
        return False
    below = (row_of_cells(lines[j]) or () for j in range(k + 1, len(lines)))
    rows = ["".join(row) for row in takewhile(lambda row: len(row) == n, below)]
    return len(rows) > 0 and (len(rows) % n == 0 or _are_small(rows, n))


def _n_numbered(line: str) -> int:
    """Return how many columns a line numbers, from 0 or 1 on; 0 for another line."""
    if not _COUNTED.match(line):
        return 0
    words = row_of_cells(line) or ()
    numbers = range(int(line[0]), int(line[0]) + len(words))
    return len(words) if words == tuple(map(str, numbers)) else 0


def _without_gaps(lines: Sequence[str]) -> list[str]:
    """Return lines with blank ones for the rows of a spreadsheet that are not of its grids.

    These are the numbers of columns above grids, and empty rows that separate boxes or grids.
    """
    kept = list(lines)
    for n, group in groupby(range(len(lines)), lambda k: len(_FIELD_END.split(lines[k]))):
        rows = list(group)
        empty = {k for k in rows if not lines[k].strip(",; \t")}
        heads = {k for k in rows if k == rows[0] or k - 1 in empty}
        heads = {k for k in heads if _n_numbered(lines[k]) == n}
        gaps = _gaps(rows, empty, n)
        separates_nothing = gaps is None or empty > {*gaps} <= {rows[-1]}
        if rows[0] in heads and (separates_nothing or _repeats([lines[k] for k in rows[:n]])):
            below = _gaps([k for k in rows if k not in heads], empty, n)
            gaps = gaps if below is None else [*heads, *below]
        for k in gaps or ():
            kept[k] = ""
    return kept


def _repeats(lines: Sequence[str]) -> bool:
    """Return True if a cell of the first line stands in its column below, too, as in no grid."""
    first, *below = (_FIELD_END.split(line) for line in lines)
    return any(cell.strip() and cell in column for cell, *column in zip(first, *below, strict=True))


def _gaps(rows: Sequence[int], empty: Set[int], n: int) -> list[int] | None:
    """Return the empty rows without which others are whole grids of N rows; None if they are not.

    Such rows stand between boxes and grids, between boxes, or between grids; or there are none, or
    they are all the empty ones. If all rows are whole grids, too, most empty rows are such.
    """
    height = (default_box(n) or (n,))[0]
    of_grid = n + n // height - 1  # rows, with those between its boxes
    between_boxes = [k for i, k in enumerate(rows) if i % of_grid % (height + 1) == height]
    all_empty = [k for k in rows if k in empty]
    for gaps in (rows[height :: height + 1], between_boxes, rows[n :: n + 1], [], all_empty):
        n_rows = len(rows) - len(gaps)
        may_be = not gaps or len(rows) % n or 4 * len(gaps) >= 3 * len(all_empty)
        if may_be and empty >= set(gaps) and n_rows > 0 and n_rows % n == 0:
            return list(gaps)
    return None


def _dashes(line: str) -> Cells:
    """Return the cells of a line of dashes, if it is a row: the dashes, each a word or not."""
    return "--" not in line, line.count("-")


def _dashed(lines: Sequence[tuple[int, str]], is_row: Callable[[Any], object] = bool) -> Set[Cells]:
    """Return the cells of lines of dashes that are rows: other rows with dashes have as many."""
    undecided = {_dashes(line) for _, line in lines if _DASHES.fullmatch(line)}
    decided = set[Cells]()
    for _, line in lines:
        if undecided <= decided:
            break
        if "-" in line and (words := row_of_cells(line)) and is_row(words):
            characters = "".join(words)
            if "-" in words:
                decided |= undecided & {(True, len(words))}
            if "-" in characters and len(characters) > len(words):
                decided |= undecided & {(False, len(characters))}
    return decided


def _rows(text: str) -> list[Row]:
    """Return the lines with cells, without comments and frames."""
    lines = _lines(text)
    dashed = _dashed(lines) if "-" in text else frozenset[Cells]()
    return [(number, words) for number, line in lines if (words := row_of_cells(line, dashed))]


def row_of_cells(line: str, dashed: Set[Cells] = frozenset()) -> tuple[str, ...] | None:
    """Return the texts of a line between blanks, commas and bars; none of the title of a section.

    A frame or a comment is None, and so is a line of dashes, unless `dashed` has its cells.
    """
    line = without_points(_COMMENT.sub("", line) if "#" in line else line)
    if _SECTION.fullmatch(line):
        return ()
    if not _RULE.fullmatch(line):
        return _words_of(line)
    is_row = _dashes(line) in dashed and _DASHES.fullmatch(line)
    return _words_of(line) if is_row else None


def _words_of(line: str) -> tuple[str, ...]:
    """Return the texts of a line; a spreadsheet leaves blank cells empty."""
    fields = _FIELD_END.split(_BARS.sub(" ", line))
    return tuple([word for field in fields for word in field.split() or ["."]])
