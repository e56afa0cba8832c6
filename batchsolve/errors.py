"""The errors of this package, which name the fault, its place and a correct value; and wordings.

Messages and results are said in the words of functions here.
"""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from importlib.machinery import PathFinder
from importlib.util import find_spec
from itertools import islice
from typing import Any

MOST_SHOWN = 80  # characters of a name
MOST_LISTED = 12  # names


class BatchsolveError(Exception):
    """Base class of every error that batchsolve raises on purpose.

    Examples
    --------
    >>> import batchsolve as bs
    >>> try:
    ...     bs.read_problem("nothing.csv#3")
    ... except bs.BatchsolveError as error:
    ...     print(error)
    nothing.csv: No such file or directory
    """


class ProblemError(BatchsolveError, ValueError):
    """An exact cover problem, a stack or a cover that breaks the rules.

    Examples
    --------
    >>> import batchsolve as bs
    >>> bs.count(bs.Sudoku(2, 2), [0, 1])
    Traceback (most recent call last):
        ...
    batchsolve.errors.ProblemError: Sudoku(2, 2): not a partial cover: digits 1 and 2 in one ...
    """


class InputError(BatchsolveError, ValueError):
    """A file, a column or an argument that cannot be used as it is.

    Examples
    --------
    >>> import batchsolve as bs
    >>> bs.count("queens:6", limit=0)
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: limit is 1 or more, not 0
    """

    def of(self, name: str) -> InputError:
        """Return the error with the name of a file in front, unless it is there."""
        return InputError(f"{name}: {str(self).removeprefix(f'{name}: ')}")


class ServerError(InputError):
    """A server that did not answer as it should; nothing is wrong with the input that is known."""

    def of(self, name: str) -> ServerError:
        """See `InputError`."""
        return ServerError(f"{name}: {self}")


class OutputError(BatchsolveError, OSError):
    """The output cannot be written: a full disk, a missing directory, a closed pipe.

    Examples
    --------
    >>> import batchsolve as bs
    >>> bs.solve_file("datasets/sudoku4.csv", "nowhere/out.csv")
    Traceback (most recent call last):
        ...
    batchsolve.errors.OutputError: nowhere/out.csv: the directory nowhere does not exist
    """


class JournalError(BatchsolveError):
    """The record of an interrupted run is damaged, or that of another run.

    Examples
    --------
    >>> import batchsolve as bs, tempfile
    >>> directory = tempfile.mkdtemp() + "/run"
    >>> with bs.Run(directory, "queens:6"):
    ...     pass
    >>> bs.Run(directory, "queens:5", resume=True)
    Traceback (most recent call last):
        ...
    batchsolve.errors.JournalError: ...: the interrupted run had problem = 'queens:6', this ...
    """


class WorkersError(BatchsolveError, RuntimeError):
    """No worker can go on: those of a cluster are gone, or one has another version of this package.

    Examples
    --------
    >>> import batchsolve as bs
    >>> issubclass(bs.WorkersError, bs.BatchsolveError)
    True
    """


@contextmanager
def named_errors(name: str) -> Iterator[None]:
    """Turn every error in reading a file into one `InputError` that begins with its name.

    Files may be damaged in any way, and the libraries that parse them raise any exception, so no
    list of exceptions would be complete.

    Examples
    --------
    >>> with named_errors("list.json"):
    ...     [].pop()
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: list.json: cannot be read (pop from empty list)
    """
    try:
        yield
    except InputError as error:
        raise error.of(name) from error
    except BatchsolveError as error:
        raise InputError(f"{name}: {error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: {not_decoded(error)}") from error
    except IsADirectoryError as error:
        raise InputError(f"{name}: is a directory; name a file in it") from error
    except Exception as error:
        if "range requests" in str(error):  # of fsspec
            raise InputError(
                f"{name}: its server sends files only from their beginning to their end; download "
                f"it, or pipe it to - (as by curl)"
            ) from error
        if isinstance(error, OSError):
            fault = error.strerror or first_line(error.__cause__ or error)  # fsspec: why not found
            if "zlib inflate" in fault:  # gzip itself leaves out zero bytes behind the data
                fault += "; the file is damaged, or has more bytes than gzip data: zcat FILE | gzip"
            kind = ServerError if "AWS Error" in fault else InputError
            raise kind(f"{name}: {fault}") from error
        raise InputError(f"{name}: cannot be read ({first_line(error)})") from error


@contextmanager
def prefixed(words: str, raised: type[BatchsolveError], *caught: type[Exception]) -> Iterator[None]:
    """Raise errors of some kinds, by default of the kind raised, with words before their message.

    Examples
    --------
    >>> with prefixed("column 'cages'", ProblemError):
    ...     raise ProblemError("cage 'A' has no sum")
    Traceback (most recent call last):
        ...
    batchsolve.errors.ProblemError: column 'cages': cage 'A' has no sum
    """
    kinds = caught or (raised,)
    try:
        yield
    except kinds as error:
        raise raised(f"{words}: {error}") from error


@contextmanager
def malformed(name: str) -> Iterator[None]:
    """Make whatever a parser of one value raises a `ProblemError` that begins with `name`.

    A value can be wrong in any way, so no list of exceptions would be complete. What Python says of
    it, such as ``'NoneType' object is not subscriptable``, tells a user nothing.

    Examples
    --------
    >>> with malformed("constraint 'Cage'"):
    ...     [].pop()
    Traceback (most recent call last):
        ...
    batchsolve.errors.ProblemError: constraint 'Cage' is malformed
    """
    try:
        yield
    except BatchsolveError as error:
        raise ProblemError(f"{name}: {error}") from error
    except Exception as error:
        raise ProblemError(f"{name} is malformed") from error


@contextmanager
def disk_errors(path: str) -> Iterator[None]:
    """Turn errors in writing a file into an `OutputError`, except for a closed pipe."""
    try:
        yield
    except (BrokenPipeError, BatchsolveError):
        raise
    except Exception as error:
        if not isinstance(error, OSError) and "://" not in path:  # there, any may be raised
            raise
        errno = getattr(error, "errno", None)
        reason = os.strerror(errno) if errno else first_line(error)
        raise OutputError(f"{path}: cannot be written: {reason}") from error


# ---- files that are not text ----------------------------------------------------------------


_PARQUET = "write it as Parquet or CSV"
_KINDS: dict[bytes | tuple[bytes, ...], tuple[str, str]] = {
    b"PK\x03\x04": ("a zip archive, as spreadsheets (.xlsx) are", "unpack it, or export it as CSV"),
    b"\x93NUMPY": (
        "an array of NumPy",
        "name a row of it, such as FILE.npy#1, or a matrix of 0 and 1 as matrix:FILE.npy",
    ),
    b"PAR1": ("a table in Parquet", "name a row of it, such as FILE.parquet#1"),
    b"PARE": ("an encrypted table in Parquet", "decrypt it"),
    (b"ARROW1", b"FEA1"): ("a table in Arrow IPC (Feather)", _PARQUET),
    b"\xff\xff\xff\xff": ("a stream of Arrow IPC", _PARQUET),
    b"ORC": ("a table in ORC", _PARQUET),
    b"\x89HDF": ("an HDF5 file", _PARQUET),
    b"SQLite format 3": ("an SQLite database", "export a table as CSV"),
    b"\xd0\xcf\x11\xe0": ("a spreadsheet of old Excel", "export it as CSV"),
    b"\xfd7zXZ": ("compressed by xz", "unpack it, or use gzip, bzip2 or zstd"),
    (b"\x1f\x8b", b"BZh", b"\x28\xb5\x2f\xfd"): ("compressed, perhaps twice", "unpack it"),
    b"7z\xbc\xaf": ("a 7z archive", "unpack it"),
    b"Rar!": ("a rar archive", "unpack it"),
    (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"): (
        "a pickle of Python, which is never loaded",
        _PARQUET,
    ),
    b"%PDF": ("a PDF", "copy its puzzles to a text file"),
    (b"\xff\xfe\0\0", b"\0\0\xfe\xff"): ("UTF-32 text", "convert it: iconv -f utf-32 -t utf-8"),
    (b"\xff\xfe", b"\xfe\xff"): ("UTF-16 text", "convert it: iconv -f utf-16 -t utf-8"),
    (b"\x89PNG", b"\xff\xd8\xff", b"GIF8"): ("a picture", "type its puzzles into a text file"),
}


def not_text(data: bytes, otherwise: str = "") -> str:
    """Return the fault of a file that is not UTF-8 text: its kind, or else what is given."""
    kind = kind_of(data)
    return f"not UTF-8 text{otherwise}" if kind is None else f"not UTF-8 text, but {kind}"


def not_decoded(error: UnicodeDecodeError, where: str = "") -> str:
    """Return the fault of a file with a byte that no UTF-8 text has there; `where` is its place."""
    byte = f"byte 0x{error.object[error.start]:02x}{where}"
    return not_text(error.object, f" ({byte}); convert it, for instance with iconv")


def kind_of(data: bytes) -> str | None:
    r"""Return the kind of a file that is not UTF-8 text, and what to do; None if it may be text.

    A few zero bytes are faults of the rows that hold them.

    Examples
    --------
    >>> kind_of(b"PK\x03\x04")
    'a zip archive, as spreadsheets (.xlsx) are; unpack it, or export it as CSV'
    >>> kind_of("id,puzzle".encode("utf-16-le"))
    'UTF-16 text; convert it: iconv -f utf-16le -t utf-8'
    >>> kind_of(bytes(8)), kind_of(b"id,puzzle\n1,1\0.")
    ('a binary file', None)
    """
    if data.startswith(b"PK\x03\x04") and b".npy" in data[:256]:
        return "arrays of NumPy (.npz); save the array of grids with numpy.save, as .npy"
    for start, (kind, advice) in _KINDS.items():
        if data.startswith(start):
            return f"{kind}; {advice}"
    if data[257:262] == b"ustar":
        return "a tar archive; unpack it"
    begin = data[:4096]
    low, high = begin[::2], begin[1::2]
    for order, zeros, letters in (("le", high, low), ("be", low, high)):
        if zeros.count(0) > len(zeros) // 2 and not letters.count(0):
            return f"UTF-16 text; convert it: iconv -f utf-16{order} -t utf-8"
    return "a binary file" if begin.count(0) > len(begin) // 8 else None


# ---- words of messages ----------------------------------------------------------------------


def percent(part: float, whole: float, decimals: int) -> str:
    """Return a share in percent; only none is 0, and only all is 100.

    Examples
    --------
    >>> percent(2, 3, 1), percent(20_000, 20_001, 2), percent(1, 10**6, 2)
    ('66.7', '99.99', '0.01')
    """
    value, least = 100 * part / whole, 10**-decimals
    if 0 < part < whole:
        value = min(max(value, least), 100 - least)
    return f"{value:.{decimals}f}"


def counted(n: int, thing: str) -> str:
    """Return a number with the name of the counted things.

    Examples
    --------
    >>> counted(1, "solution"), counted(1200, "solution")
    ('1 solution', '1,200 solutions')
    """
    return f"{grouped(n)} {thing}" if n == 1 else f"{grouped(n)} {thing}s"


def grouped(n: int) -> str:
    """Return a number of any size in groups of three digits.

    Python alone writes 4,300 digits, or 640, as a setting of the whole process says.
    """
    if n < 1 << 2_000:
        return f"{n:,}"
    from decimal import Decimal

    return f"{Decimal(n):,f}"


@lru_cache(1000)
def warn_once(message: str) -> None:
    """Log a warning, but not the same one again, as for each call of a loop."""
    logging.getLogger("batchsolve").warning("%s", message)


def first_line(error: BaseException) -> str:
    r"""Return the first line of the message of an error, or its class if the message is empty.

    Examples
    --------
    >>> first_line(OSError("no such bucket\nrequest 17")), first_line(EOFError())
    ('no such bucket', 'EOFError')
    """
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def shortened(text: str) -> str:
    """Return the beginning of a text for a message, because names in files can have any length.

    Examples
    --------
    >>> len(shortened("x" * 5000))
    81
    """
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"


def printable(text: str, but: str = "") -> str:
    r"""Return a text as a terminal may get it: characters that cannot be seen are escaped.

    Names come from files, and a terminal obeys the control characters in them. A text of several
    lines needs those in `but`.

    Examples
    --------
    >>> print(printable("a\x1b[2Jb\n"), printable("a\x1b\nb", but="\n"))
    a\x1b[2Jb\n a\x1b
    b
    """
    return "".join(c if c.isprintable() or c in but else repr(c)[1:-1] for c in text)


def quoted(value: object) -> str:
    """Return a name or a value for a message, in quotation marks if it is text.

    Examples
    --------
    >>> print(quoted("puzzle"))
    'puzzle'
    """
    return shortened(repr(value).replace("\n", " "))  # arrays and tables have lines


def is_table(value: object) -> bool:
    """Return True for a table of another library, lazy ones too, and for a dict of columns."""
    names = ("columns", "collect", "with_format")
    return isinstance(value, dict) or any(hasattr(type(value), name) for name in names)


def is_unordered(value: object) -> bool:
    """Return True for iterables without places: iterators, sets, views of dicts."""
    return hasattr(value, "__iter__") and not hasattr(value, "__getitem__")


def wrong_kind(value: object) -> str:
    """Return the end of a message about a value of a wrong kind: its kind, and the call for it.

    Examples
    --------
    >>> print(wrong_kind(["1.....2..3.....4"]))
    not a list: solve_batch takes arrays and lists of puzzles, canonical_forms arrays
    """
    calls = (
        (isinstance(value, bytes), "decode it to text: value.decode()"),
        (isinstance(value, str), "solve takes one puzzle, solve_file the name of a file"),
        (hasattr(value, "collect"), "functions of tables take its collect()"),
        (
            hasattr(value, "with_format"),
            "functions of tables take its with_format('arrow')[:], or that of one of its splits; "
            "solve_stream takes it as it comes",
        ),
        (hasattr(value, "read"), "solve_file takes names of files, solve_table what is in memory"),
        (
            isinstance(value, Mapping) and not isinstance(value, dict),  # a batch of a dataset
            "map over data.with_format('arrow')",
        ),
        (isinstance(value, dict), "make a table of it with pyarrow.table, for solve_table"),
        (
            is_table(value),
            "functions of tables, such as solve_table, take it; of cells, give to_numpy() to "
            "solve_batch",
        ),
        (is_unordered(value), "make it a list: solve_batch(list(puzzles))"),
        (
            hasattr(value, "__len__"),
            "solve_batch takes arrays and lists of puzzles, canonical_forms arrays",
        ),
    )
    call = next((call for applies, call in calls if applies), "")
    return f"not a {type(value).__name__}: {call}" if call else f"not {quoted(value)}"


def listed(names: Iterable[object]) -> str:
    """Return the first of some names for a message, quoted and separated by commas.

    Examples
    --------
    >>> listed(["id", "puzzle"])
    "'id', 'puzzle'"
    """
    first = list(islice(names, MOST_LISTED + 1))
    more = [] if len(first) <= MOST_LISTED else ["…"]
    return ", ".join([*map(quoted, first[:MOST_LISTED]), *more])


def check_installed(who: str, module: str, extra: str) -> None:
    """Check that the module of an extra of this package is installed; it is not imported.

    Raises
    ------
    InputError
        If it is not; the message has the command that installs it.

    Examples
    --------
    >>> check_installed("the engine 'x'", "no_such_module", extra="x")
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: the engine 'x' needs the module 'no_such_module', which is not \
installed: pip install 'batchsolve[x]'
    """
    package, _, within = module.partition(".")
    spec = find_spec(package)
    if spec and within:  # another package may have the name
        spec = PathFinder.find_spec(module, spec.submodule_search_locations)
    if spec is None or spec.origin is None:  # a folder of that name is in the way
        raise InputError(
            f"{who} needs the module {module!r}, which is not installed: {how_to_install(extra)}"
        )


def how_to_install(extra: str) -> str:
    """Return the command that installs an extra of this package."""
    return f"pip install 'batchsolve[{extra}]'"


def repeated(names: Iterable[Any]) -> Any:
    """Return the first name that occurs more than once, or None.

    Examples
    --------
    >>> repeated(["a", "b", "a"]), repeated("ab")
    ('a', None)
    """
    return next((name for name, n in Counter(names).items() if n > 1), None)


class InWords:
    """A result that ``str`` says in sentences, and ``repr`` in one line.

    Dataclasses that are results inherit both, and are declared with ``repr=False``.
    """

    @property
    def in_short(self) -> str:
        """The first line of the words; results that are tables have another."""
        return str(self).partition("\n")[0]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.in_short})"
