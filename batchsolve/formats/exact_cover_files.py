"""Exact cover problems in files: Knuth's ``.dlx``, two dialects of ``.ec``, sets, JSON, matrices.

Readers take the content of a file. Their errors name the line (or the option, if there are no
lines); the caller names the file. Writers and readers are inverse.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import islice
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from batchsolve.errors import (
    InputError,
    ProblemError,
    prefixed,
    quoted,
    repeated,
    shortened,
    warn_once,
)
from batchsolve.formats.whole_files import check_size, loads
from batchsolve.problems.attributes import bounds_by_name, check_bounds
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.notation import default_box
from batchsolve.settings.arguments import word_of

LINES_BELOW = 1000  # that are looked through for the words of a comment
MOST_ITEMS = 10_000_000  # a header can promise any number of items; each takes memory

NUMPY = b"\x93NUMPY"  # begins a file of one array
_OPTIONAL = ("colors", "bounds", "costs")  # arrays of a matrix
JSON_FIELDS = ("options", "items", "secondary", "option_names", "colors", "bounds", "costs")

_MOST_DIGITS = 18  # of a number that fits into 64 bits
_BOUNDED = re.compile(r"([0-9]+)(?::([0-9]+))?\|([^|:]+)")
# not in names of items: the signs of sets, labels and comments, and -1, which may end a line
_NOT_IN_NAMES = re.compile(r'[][{}():;#|"]|(?<!\S)-\d+')

Line = tuple[int, list[str]]  # its number, from 1, and its words


def read_dlx(text: str) -> ExactCover:
    r"""Read Knuth's format: a line of items, ``|`` before secondary ones, then a line per option.

    Lines that begin with ``|`` are comments. An option may give a secondary item a colour:
    ``item:colour``. A primary item may have bounds, as in Knuth's program DLX3: ``2:3|item`` is in
    two or three options of a cover, ``2|item`` in two. An option may have a cost, as in his DLX5:
    ``|$25`` or ``|25`` behind its items; several add up.

    Examples
    --------
    >>> problem = read_dlx("| two primary items, one secondary\na b | x\na x\nb\n")
    >>> problem, problem.item_names
    (ExactCover(n_items=3, n_primary=2, n_options=2), ('a', 'b', 'x'))
    >>> read_dlx("a b | x\na x:red\nb x:red\n")
    ExactCover(n_items=3, n_primary=2, n_options=2, n_colors=1)
    >>> read_dlx("1:2|a b | x\na b\na x\n")
    ExactCover(n_items=3, n_primary=2, n_options=2, n_bounded=1)
    >>> read_dlx("a b\na b |$25\na\nb |$2\n").costs.tolist()
    [25, 0, 2]
    """
    _say_of_first_comment(text)
    lines = (line for line in _lines(text) if not line[1][0].startswith("|"))
    number, words = next(lines, (0, []))
    if not words:
        raise InputError("no line names the items; the first line that is not a comment names them")
    words, bounds = _without_bounds(number, words)
    for word in words:
        if ":" in word:
            raise InputError(
                f"line {number}: the item {word[:60]!r} has a colon; bounds are written "
                f"least:most|item, and colours stand in the options"
            )
    names, n_primary = _declared(number, words)
    with prefixed(f"line {number}", ProblemError):
        pairs = bounds_by_name(bounds, names[:n_primary]) if bounds else None
    return _problem(names, n_primary, lines, pairs, is_dlx=True)


def _say_of_first_comment(text: str) -> None:
    """Warn that a first line of secondary items alone is a comment."""
    lines = islice(_lines(text), LINES_BELOW)
    number, comment = next(lines, (0, [""]))
    if comment[0].startswith("|"):
        items = set(" ".join(comment).replace("|", " ").split())
        below = {word.partition(":")[0] for _, words in lines for word in words}
        if items and items <= below:
            warn_once(
                f"line {number} begins with | and was taken for a comment, although it names items;"
                f" primary items stand before the |, and a problem without any is written as .ec"
            )


def read_ec(text: str) -> ExactCover:
    r"""Read either dialect of ``.ec``.

    In one, the first line is ``n_items n_options``, the second names the items, with ``|`` before
    the secondary ones, and each other line is an option. In the other, comments ``c …`` precede
    ``p ec n_items``; options ``s item item …`` follow. Their items are primary, and numbers from 1.

    Examples
    --------
    >>> read_ec("3 2\na b | x\na x\nb\n")
    ExactCover(n_items=3, n_primary=2, n_options=2)
    >>> read_ec("c two pairs\np ec 4\ns 1 3\ns 2 4\n")
    ExactCover(n_items=4, n_primary=4, n_options=2)
    """
    lines = _lines(text)
    header, words = next(lines, (1, []))
    if words and words[0] in ("c", "p"):
        return _read_numbered(_lines(text))
    n_items, n_options = _sizes(header, words, "'n_items n_options' or 'p ec n_items'")
    number, words = next(lines, (header + 1, []))
    names, n_primary = _declared(number, words)
    if len(names) != n_items:
        raise InputError(f"line {number}: {len(names)} items where line {header} says {n_items}")
    return _with_options(n_options, header, _problem(names, n_primary, lines))


def read_sets(text: str) -> ExactCover:
    r"""Read sets of numbers: the first line is ``n_items n_options``, then ``size item item …``.

    The items are primary, and numbers from 1. Collections of instances for counting and for set
    covering have this form.

    Examples
    --------
    >>> read_sets("4 2\n2 1 3\n2 2 4\n")
    ExactCover(n_items=4, n_primary=4, n_options=2)
    """
    lines = _lines(text)
    header, words = next(lines, (1, []))
    n_items, n_options = _sizes(header, words, "'n_items n_options'")
    options = list(lines)
    for number, (size, *items) in options:
        if _whole(size, number) != len(items):
            raise InputError(f"line {number}: {len(items)} items where its size is {size}")
    return _with_options(n_options, header, _of_numbers(options, n_items))


def read_rows(text: str) -> ExactCover:
    r"""Read the names, or the numbers, of the items of an option on each line; all are primary.

    Examples
    --------
    >>> read_rows("1 3\n2 4\n1 2\n")
    ExactCover(n_items=4, n_primary=4, n_options=3)
    """
    text = text.replace(",", " ")
    if odd := _NOT_IN_NAMES.search(text):
        number = text.count("\n", 0, odd.start()) + 1
        raise InputError(
            f"line {number}: {odd[0]!r} cannot be in the name of an item; write only the names "
            f"of the items of an option, or their numbers, with blanks or commas between them"
        )
    return ExactCover.from_options([words for _, words in _lines(text)])


def read_json(text: str) -> ExactCover:
    """Read an object with ``options``, and perhaps ``items``, ``secondary`` and further fields.

    ``items`` gives the order of the items; those in ``secondary`` are secondary. Without ``items``,
    primary items come in the order of their first use. ``option_names`` has a name for every
    option. ``colors`` has an object for every option, with the colours that it gives to its items:
    ``[{"x": "red"}, {}]``. ``bounds`` maps items to the lower and the upper bound of the number of
    options that have them: ``{"a": [2, 3]}``. ``costs`` has a whole number for every option.

    Examples
    --------
    >>> read_json('{"options": [["a", "x"], ["b"]], "secondary": ["x"]}')
    ExactCover(n_items=3, n_primary=2, n_options=2)
    """
    with prefixed("not JSON that can be read", InputError, ValueError):
        fields = loads(text)
    if not isinstance(fields, dict) or not isinstance(fields.get("options"), list):
        raise InputError("expected an object with a list of lists of items called 'options'")
    for name in fields:
        word_of("field", name, JSON_FIELDS)
    if empty := [name for name, value in fields.items() if value is None]:
        raise InputError(f"the field {quoted(empty[0])} is null; leave it out")
    options = [_names(option, f"option {o}") for o, option in enumerate(fields["options"])]
    lists = {name: _names(fields[name], name) for name in JSON_FIELDS[1:4] if name in fields}
    colors = _json_colors(fields["colors"]) if "colors" in fields else None
    bounds, costs = fields.get("bounds"), fields.get("costs")
    secondary = lists.get("secondary", [])
    primary = None
    if "items" in lists:
        second = set(secondary)
        primary = [item for item in lists["items"] if item not in second]
    names = lists.get("option_names")
    return ExactCover.from_options(options, primary, secondary, names, colors, bounds, costs)


def write_dlx(problem: ExactCover) -> str:
    r"""Return a problem in Knuth's format; the inverse of `read_dlx`.

    Raises
    ------
    InputError
        If no item is primary, because the format cannot express that, or the name of an item or of
        a colour cannot be one of its words.

    Examples
    --------
    >>> write_dlx(ExactCover.from_options([["a", "x"], ["b"]], secondary=["x"]))
    'a b | x\na x\nb\n'
    """
    if problem.n_primary == 0:
        raise InputError(
            "a .dlx file cannot hold a problem without primary items, because its line of items "
            "would be a comment; write .json"
        )
    names = _words([problem.item_name(i) for i in range(problem.n_items)], "item", "|:")
    declared = list(names)
    for i in range(problem.n_primary):
        lower, upper = problem.bounds_of(i)
        declared[i] = names[i] if lower == upper == 1 else f"{lower}:{upper}|{names[i]}"
    return _text_of(problem, names, declared)


def write_ec(problem: ExactCover) -> str:
    r"""Return a problem in the dialect of ``.ec`` that has names; the inverse of `read_ec`.

    Raises
    ------
    InputError
        If there are colours, bounds or costs, which this format cannot hold, or a name cannot be a
        word.

    Examples
    --------
    >>> write_ec(ExactCover.from_options([["a", "x"], ["b"]], secondary=["x"]))
    '3 2\na b | x\na x\nb\n'
    """
    attributes = {"colours": problem.colors, "bounds": problem.bounds, "costs": problem.costs}
    for what, values in attributes.items():
        if values is not None:
            form = ".dlx" if problem.n_primary else ".json"
            raise InputError(f"an .ec file cannot hold {what}; write {form}")
    names = _words([problem.item_name(i) for i in range(problem.n_items)], "item", "|")
    return f"{problem.n_items} {problem.n_options}\n" + _text_of(problem, names, names)


def write_json(problem: ExactCover) -> str:
    """Return a problem as an object of JSON; the inverse of `read_json`.

    Raises
    ------
    InputError
        If two items, or two colours, have one name.

    Examples
    --------
    >>> print(write_json(ExactCover.from_options([["a", "x"], ["b"]], secondary=["x"])), end="")
    {"options": [["a", "x"], ["b"]], "items": ["a", "b", "x"], "secondary": ["x"]}
    """
    names = _all_different([problem.item_name(i) for i in range(problem.n_items)], "item")
    used = [] if problem.colors is None else np.unique(problem.colors).tolist()
    colors = {c: problem.color_name(c) for c in used if c}
    _all_different(list(colors.values()), "colour")
    rows = [problem.coloring(o) for o in range(problem.n_options)]
    fields: dict[str, Any] = {"options": [[names[i] for i in row] for row in rows]}
    fields |= {"items": names, "secondary": names[problem.n_primary :]}
    if problem.option_names is not None:
        fields["option_names"] = problem.option_names
    if colors:
        fields["colors"] = [{names[i]: colors[c] for i, c in row.items() if c} for row in rows]
    if problem.bounds is not None:
        bounds = zip(names, problem.bounds.tolist(), strict=False)
        fields["bounds"] = {name: pair for name, pair in bounds if pair != [1, 1]}
    if problem.costs is not None:
        fields["costs"] = problem.costs.tolist()
    return json.dumps(fields) + "\n"


def _lines(text: str) -> Iterator[Line]:
    """Yield the lines that are not blank."""
    for number, line in enumerate(text.splitlines(), 1):
        if words := line.split():
            yield number, words


def _sizes(number: int, words: Sequence[str], expected: str) -> tuple[int, int]:
    """Return the numbers of items and options in a header."""
    if len(words) != 2:
        raise InputError(f"line {number}: expected {expected}, not {' '.join(words)[:60]!r}")
    return _whole(words[0], number), _whole(words[1], number)


def _whole(word: str, number: int) -> int:
    if not (word.isascii() and word.isdecimal()):
        raise InputError(f"line {number}: {word[:60]!r} is not a whole number")
    if len(word) > _MOST_DIGITS:
        raise InputError(f"line {number}: {word[:60]!r} is too large a number")
    return int(word)


def _without_bounds(
    number: int, words: Iterable[str]
) -> tuple[list[str], dict[Hashable, Sequence[int]]]:
    """Return the names of the items of a line without bounds, and the bounds."""
    names: list[str] = []
    bounds: dict[Hashable, Sequence[int]] = {}
    for word in words:
        match = _BOUNDED.fullmatch(word) if "|" in word else None
        if match is None:
            names.append(word)
            continue
        lower, upper, name = match.groups()
        pair = _whole(lower, number), _whole(upper or lower, number)
        if wrong := check_bounds(*pair):
            raise InputError(f"line {number}: {word[:60]!r} has the bounds {pair}; {wrong}")
        names.append(name)
        bounds[name] = pair
    return names, bounds


def _declared(number: int, words: Iterable[str]) -> tuple[list[str], int]:
    """Return the items that a line names, and the number of primary ones."""
    names: list[str] = []
    n_primary = None
    for word in words:
        if word.startswith("|"):
            if n_primary is not None:
                raise InputError(f"line {number}: a second '|'; one precedes the secondary items")
            n_primary = len(names)
            word = word[1:]
        if "|" in word:
            raise InputError(f"line {number}: the item {word[:60]!r} holds '|'; put a blank before")
        if word:
            names.append(word)
    if (name := repeated(names)) is not None:
        raise InputError(f"line {number}: item {quoted(name)} is named twice; name every item once")
    return names, len(names) if n_primary is None else n_primary


def _problem(
    names: Sequence[str],
    n_primary: int,
    lines: Iterable[Line],
    bounds: npt.ArrayLike | None = None,
    is_dlx: bool = False,
) -> ExactCover:
    """Build a problem from its items and the lines of its options; .dlx has colours and costs."""
    item_of = {name: i for i, name in enumerate(names)}
    color_of: dict[str, int] = {}
    colors: list[int] = []  # of each entry
    costs: list[int | None] = []
    indptr, indices = [0], list[int]()
    for number, words in lines:
        words, cost = _without_costs(number, words) if is_dlx else (words, None)
        row = []
        for word in words:
            name, color = _colored(word, number) if is_dlx and word not in item_of else (word, "")
            if name not in item_of:
                raise InputError(f"line {number}: {_unknown(name, item_of, names)}")
            if color and item_of[name] < n_primary:
                raise InputError(
                    f"line {number}: {word[:60]!r} gives the primary item {quoted(name)} a "
                    f"colour; only secondary items, those after '|', may have one"
                )
            row.append(item_of[name])
            colors.append(color_of.setdefault(color, len(color_of) + 1) if color else 0)
        if len(set(row)) < len(row):
            again = repeated(names[i] for i in row)
            raise InputError(f"line {number}: the option names item {quoted(again)} twice")
        indices += row
        indptr.append(len(indices))
        costs.append(cost)
    return ExactCover(
        indptr,
        indices,
        len(names),
        n_primary,
        names,
        colors=colors if color_of else None,
        color_names=list(color_of),
        bounds=bounds,
        costs=[cost or 0 for cost in costs] if set(costs) - {None} else None,
    )


def _without_costs(number: int, words: Iterable[str]) -> tuple[list[str], int | None]:
    """Return the words of an option without its costs, and their sum; None without costs."""
    cost, items = None, list[str]()
    for word in words:
        if not word.startswith("|"):
            items.append(word)
            continue
        amount = word.removeprefix("|").removeprefix("$")
        if not (amount.isascii() and amount.isdecimal()):
            raise InputError(f"line {number}: {quoted(word)} is not a cost; write it as |$25")
        cost = (cost or 0) + _whole(amount, number)
    return items, cost


def _unknown(name: str, item_of: dict[str, int], names: Sequence[str]) -> str:
    item = name.partition(":")[0]
    if item in item_of:
        return f"{name[:60]!r} gives item {quoted(item)} a colour; .ec has no colours, write .dlx"
    known = " ".join(map(shortened, names[:8])) + (" …" if len(names) > 8 else "")
    return f"the option names the unknown item {name[:60]!r}; the items are: {known}"


def _colored(word: str, number: int) -> tuple[str, str]:
    name, colon, color = word.partition(":")
    if colon and (not name or not color or set(color) & set("|:")):
        raise InputError(
            f"line {number}: {word[:60]!r} is not an item with a colour; write item:colour, the "
            f"colour a word without | or :"
        )
    return name, color


def _read_numbered(lines: Iterator[Line]) -> ExactCover:
    """Read the dialect of ``.ec`` with numbers for items."""
    lines = (line for line in lines if line[1][0] != "c")
    number, header = next(lines, (1, []))
    if header[:2] != ["p", "ec"] or len(header) not in (3, 4):
        raise InputError(f"line {number}: expected the header, 'p ec n_items'")
    options = list(lines)
    for other, (kind, *_) in options:
        if kind != "s":
            raise InputError(f"line {other}: expected an option, 's item …', not {kind[:60]!r}")
    problem = _of_numbers(options, _whole(header[2], number))
    if len(header) == 3:
        return problem
    return _with_options(_whole(header[3], number), number, problem)


def _of_numbers(options: Iterable[Line], n_items: int) -> ExactCover:
    """Return a problem of items 1 to n; each line has one word before those of an option."""
    _check_number_of_items(n_items)
    lines = (
        (number, [str(_whole(word, number)) for word in words]) for number, (_, *words) in options
    )
    return _problem(list(map(str, range(1, n_items + 1))), n_items, lines)


def _with_options(n_options: int, header: int, problem: ExactCover) -> ExactCover:
    """Return a problem; raise `InputError` unless it has as many options as the header says."""
    if problem.n_options != n_options:
        raise InputError(f"{problem.n_options} options where line {header} says {n_options}")
    return problem


def _names(values: Any, what: str) -> list[str]:
    """Return a list of names from JSON; numbers from 0 on are names too."""
    if not isinstance(values, list):
        raise InputError(f"{what} must be a list of names, not {json.dumps(values)[:60]}")
    for value in values:
        is_number = type(value) is int and value >= 0
        if not is_number and not isinstance(value, str):
            raise InputError(
                f"{what} must hold names, not {json.dumps(value)[:60]}; they are texts, or numbers "
                f"from 0 on"
            )
    return list(map(str, values))


def _json_colors(values: Any) -> list[dict[Hashable, Hashable]]:
    """Return the colours of every option from JSON; numbers are names too."""
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise InputError(
            f'colors must be a list of objects such as {{"x": "red"}}, one for each option, not '
            f"{json.dumps(values)[:60]}"
        )
    return [
        {
            item: _names([color], f"the colours of option {o}")[0]
            for item, color in value.items()
            if color is not None
        }
        for o, value in enumerate(values)
    ]


def _check_number_of_items(n_items: int) -> None:
    """Raise `InputError` if a header promises too many items."""
    if not 0 <= n_items <= MOST_ITEMS:
        raise InputError(f"{n_items} items; 0 to {MOST_ITEMS:,} are possible")


def _words(names: Sequence[str], what: str, reserved: str) -> Sequence[str]:
    """Return names; raise `InputError` unless they are different words without these characters."""
    for k, name in enumerate(names):
        if name.strip("\ufeff").split() != [name] or set(name) & set(reserved):
            raise InputError(
                f"{what} {k} is called {quoted(name)}; here names are words without "
                f"{' or '.join(reserved)}"
            )
    return _all_different(names, what)


def _all_different(names: Sequence[str], what: str) -> Sequence[str]:
    """Return names; raise `InputError` unless they are different."""
    if (name := repeated(names)) is not None:
        raise InputError(f"two {what}s are called {quoted(name)}; give them different names")
    return names


def _text_of(problem: ExactCover, names: Sequence[str], declared: Sequence[str]) -> str:
    """Return the line that declares the items, and a line for each option."""
    primary, secondary = declared[: problem.n_primary], declared[problem.n_primary :]
    lines = [" ".join([*primary, *(["|", *secondary] if secondary else [])])]
    suffix = {0: ""}
    if problem.colors is not None:
        used = [c for c in np.unique(problem.colors).tolist() if c]
        words = _words([problem.color_name(c) for c in used], "colour", "|:")
        suffix |= {c: f":{word}" for c, word in zip(used, words, strict=True)}
    for o in range(problem.n_options):
        cost = [] if problem.costs is None else [f"|${problem.costs[o]}"]
        items = (names[i] + suffix[c] for i, c in problem.coloring(o).items())
        lines.append(" ".join([*items, *cost]))
    return "".join(f"{line}\n" for line in lines)


# ---- matrices -------------------------------------------------------------------------------


def _arrays_of(data: bytes) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of an ``.npz`` file.

    Raises
    ------
    InputError
        If it is damaged, or its arrays have more than `MOST_BYTES`. The size comes from
        the directory of the file, before arrays are unpacked.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            check_size(sum(member.file_size for member in archive.infolist()), "unpacks to")
        with np.load(io.BytesIO(data), allow_pickle=False) as file:
            return {name: np.asarray(file[name]) for name in file.files}
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"not an .npz file of arrays, or a damaged one ({error})") from error


def read_npz(data: bytes) -> ExactCover:
    """Read a CSR matrix of ``scipy.sparse.save_npz``: a row per option, a column per item.

    Further arrays are optional: ``n_primary``, the number of primary columns, which come first;
    ``colors``, the colour of each entry, in the order of ``indices``, with 0 for none; ``bounds``,
    two columns, the least and the most of each primary item; ``costs``, the cost of each option.
    """
    arrays = _arrays_of(data)
    form = arrays["format"].item() if "format" in arrays and arrays["format"].size == 1 else "csr"
    form = form.decode(errors="replace") if isinstance(form, bytes) else str(form)
    if form != "csr":
        raise InputError(f"the matrix has the form {quoted(form)}; save matrix.tocsr()")
    for name in ("indptr", "indices", "data", "shape"):
        if name not in arrays:
            raise InputError(
                f"no array is called {quoted(name)}; write it with scipy.sparse.save_npz, and "
                f"grids with numpy.save, as .npy"
            )
    indptr, indices, values = (arrays[name] for name in ("indptr", "indices", "data"))
    if arrays["shape"].size != 2 or arrays["shape"].dtype.kind not in "iu":
        raise InputError("the array 'shape' must hold 2 whole numbers")
    n_options, n_items = arrays["shape"].reshape(-1).tolist()
    n_primary = arrays.get("n_primary", np.array(n_items))
    if n_primary.size != 1:
        raise InputError("the array 'n_primary' must hold one whole number")
    _check_number_of_items(n_items)
    if indptr.shape != (n_options + 1,) or values.shape != indices.shape:
        raise InputError(
            f"the arrays do not fit together: {n_options} rows, indptr of shape {indptr.shape}, "
            f"indices of shape {indices.shape}, data of shape {values.shape}"
        )
    if not np.all(values == 1):
        raise InputError(
            "an entry is not 1; a matrix of an exact cover problem holds 0 and 1 only, the zeros "
            "not stored (matrix.eliminate_zeros())"
        )
    optional: dict[str, Any] = {name: arrays[name] for name in _OPTIONAL if name in arrays}
    return ExactCover(indptr, indices, n_items, n_primary.item(), **optional)


def read_matrix(data: bytes) -> ExactCover:
    r"""Read a matrix of 0 and 1: a row for each option, a column for each item.

    It is an array of NumPy, or text: a line for each row, with or without blanks and commas.

    Examples
    --------
    >>> read_matrix(b"1 0\n0 1\n1 1\n")
    ExactCover(n_items=2, n_primary=2, n_options=3)
    """
    if data.startswith(NUMPY):
        return ExactCover.from_matrix(_array_of(data))
    rows: list[str] = []
    for number, line in enumerate(data.decode("utf-8-sig").splitlines(), 1):
        row = re.sub(r"[\s,;]", "", line)
        if set(row) - {"0", "1"} or (row and rows and len(row) != len(rows[0])):
            raise InputError(f"line {number}: not a row of 0 and 1, as long as the first")
        rows += [row] if row else []
    return ExactCover.from_matrix([list(map(int, row)) for row in rows])


def is_matrix(data: bytes) -> bool:
    """Return True for an array of NumPy that is such a matrix, unless it can be one of grids."""
    array = _array_of(data) if data.startswith(NUMPY) else np.empty(0)
    if array.ndim != 2 or array.dtype.kind not in "biuf" or not np.isin(array, (0, 1)).all():
        return False
    n_rows, n_columns = array.shape
    is_grid = n_rows == n_columns and default_box(n_rows) is not None
    root = isqrt(n_columns)
    return not is_grid and (root**2 != n_columns or default_box(root) is None)


def _array_of(data: bytes) -> npt.NDArray[Any]:
    with prefixed("cannot be read as an array of NumPy", InputError, Exception):
        return np.asarray(np.load(io.BytesIO(data), allow_pickle=False))


def write_npz(problem: ExactCover) -> bytes:
    """Return a problem as a CSR matrix, without names; the inverse of `read_npz`."""
    optional = {name: getattr(problem, name) for name in _OPTIONAL}
    file = io.BytesIO()
    np.savez_compressed(
        file,
        format=np.array(b"csr"),
        shape=np.array([problem.n_options, problem.n_items]),
        indptr=problem.indptr,
        indices=problem.indices,
        data=np.ones(problem.n_entries, np.uint8),
        n_primary=np.array(problem.n_primary),
        **{name: array for name, array in optional.items() if array is not None},
    )
    return file.getvalue()
