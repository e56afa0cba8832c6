"""Places of tables: local files, folders, and addresses that pyarrow or fsspec opens.

A file that `put_file` puts into a folder appears when it is complete.

An *address* begins with a scheme, such as ``s3://``, and every machine can open it. A path names a
file of this machine.
"""

from __future__ import annotations

import glob
import os
import re
import secrets
import threading
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import quote

import pyarrow as pa
from pyarrow import fs

from batchsolve.errors import (
    InputError,
    ServerError,
    disk_errors,
    first_line,
    named_errors,
    warn_once,
)
from batchsolve.formats.drawings import is_grid
from batchsolve.formats.whole_files import why_unseen
from batchsolve.settings.arguments import is_address

_OWN_SCHEMES = ("file", "s3", "gs", "gcs", "hdfs", "viewfs", "abfs", "abfss")  # of pyarrow
_EXTRAS = {"http": "aiohttp", "https": "aiohttp", "hf": "huggingface_hub"}
HTTP = ("http", "https")  # whose servers only send files
_WILD = "*?["
_COMPRESSED = ".gz", ".bz2", ".zst"

SAID_AFTER = 5.0  # seconds of waiting for a server
GIVEN_UP_AFTER = 30.0  # seconds in which a server of http sends nothing
S3_TRIES = 10  # of a request to a busy server, which take 20 to 90 s, and on average a minute


class Facts(NamedTuple):
    """The identity of a file; it changes when the file does.

    Attributes
    ----------
    size : int
        Bytes.
    changed : int
        Time of the last change, in nanoseconds; 0 if unknown.
    place : tuple of int
        Device and inode of a local file; empty for others.
    """

    size: int
    changed: int
    place: tuple[int, ...] = ()


def name_of(path: str) -> str:
    r"""Return the name of a path in messages and tables, as UTF-8.

    Examples
    --------
    >>> print(name_of("-"), name_of(os.fsdecode(b"in\xff.csv")))
    standard input in\xff.csv
    """
    return "standard input" if path == "-" else os.fsencode(path).decode(errors="backslashreplace")


def split_suffixes(path: str) -> tuple[str, str]:
    """Return the format suffix and the compression suffix of a path, each perhaps empty.

    The query of an address, from ``?`` on, is left out.

    Examples
    --------
    >>> split_suffixes("corpus.CSV.gz")
    ('.csv', '.gz')
    """
    name = path.partition("?")[0] if is_address(path) else path
    base, last = os.path.splitext(name.lower())
    return (os.path.splitext(base)[1], last) if last in _COMPRESSED else (last, "")


def suffix_of(path: str) -> str:
    """Return the format suffix of a path, perhaps empty."""
    return split_suffixes(path)[0]


def exists(path: str) -> bool:
    """Return True if a file or folder exists; for an address, always."""
    return is_address(path) or os.path.exists(path)


@lru_cache(maxsize=4096)
def file_system(address: str) -> tuple[fs.FileSystem, Any]:
    """Return the file system of an address or path, and the path there, in bytes if it is local.

    Raises
    ------
    InputError
        If no known library opens the address.
    """
    if not is_address(address):
        # names may not be UTF-8, and Arrow takes file:x for an address
        return fs.LocalFileSystem(), os.fsencode(os.path.join(".", address))
    head, mark, rest = address.partition("://")
    known = (scheme := head.lower()) + mark + rest  # to libraries
    try:
        if scheme in _OWN_SCHEMES:
            system, path = fs.FileSystem.from_uri(known)
            if scheme == "s3":  # else it gives up after 6 s
                _, (options,) = system.__reduce__()
                retry = fs.AwsStandardS3RetryStrategy(max_attempts=S3_TRIES)
                system = fs.S3FileSystem(**options, retry_strategy=retry)
        else:
            from fsspec.core import url_to_fs

            opened, path = url_to_fs(known, **_http_settings() if scheme in HTTP else {})
            system = fs.PyFileSystem(_Awaited(opened))
    except ImportError as error:
        package = _EXTRAS.get(scheme, "and the package that it needs for this address")
        raise InputError(
            f"{address}: cannot be opened ({error}); pip install fsspec {package}"
        ) from error
    except (ValueError, OSError) as error:
        raise InputError(f"{address}: cannot be opened: {first_line(error)}") from error
    return system, path


def local_path(path: str) -> str | None:
    """Return the local path of a path or address; None for a remote address.

    Examples
    --------
    >>> local_path("out/"), local_path("file:///shared/out"), local_path("s3://bucket/out")
    ('out/', '/shared/out', None)
    """
    if not is_address(path):
        return path
    return file_system(path)[1] if path.lower().startswith("file://") else None


def facts_of(path: str, opened: Any = None) -> Facts:
    """Return the facts about a file; about an open one, whose path may lead to another by now.

    Raises
    ------
    OSError
        If the file does not exist.
    """
    if not is_address(path):
        facts = os.stat(path if opened is None else opened.fileno())
        return Facts(facts.st_size, facts.st_mtime_ns, (facts.st_dev, facts.st_ino))
    system, inner = file_system(path)
    with _waiting(path):
        info = system.get_file_info(inner)
    if info.type == fs.FileType.NotFound:
        raise FileNotFoundError(2, "No such file or directory")
    if info.type == fs.FileType.Directory:
        raise IsADirectoryError
    return Facts(info.size or 0, info.mtime_ns or 0)


def open_to_read(path: str) -> Any:
    """Open a file for reading with random access; for a path, an `io.BufferedReader`."""
    if not is_address(path):
        return open(path, "rb")
    system, inner = file_system(path)
    with _waiting(path):
        return system.open_input_file(inner)


_FAILURES = {  # names of exceptions of aiohttp, which need not be installed, and of Python
    "TimeoutError": "its server has sent nothing for {seconds:.0f} seconds",
    "TooManyRedirects": "its server redirects without end",
    "RedirectClientError": "its server redirects to {error}, which is not an address of http",
    "ClientPayloadError": "its server sent fewer bytes than it announced",
    "ClientConnectionError": "{error}",  # after "TimeoutError", because some are both
    "ClientResponseError": "its server answered {error.status} {error.message}",
}


@contextmanager
def _waiting(address: str) -> Iterator[None]:
    """Say that a server is waited for; raise `ServerError` for failures that are known."""
    timer = threading.Timer(SAID_AFTER, warn_once, [f"waiting for the server of {address} …"])
    timer.daemon = True
    timer.start()
    try:
        yield
    except Exception as error:
        for cause in (error, error.__cause__):  # of a file that is not found, the cause is why
            kinds = {kind.__name__ for kind in type(cause).__mro__}
            text = next((text for name, text in _FAILURES.items() if name in kinds), None)
            if text is not None and getattr(cause, "status", None) not in (404, 410):  # of a file
                raise ServerError(text.format(error=cause, seconds=GIVEN_UP_AFTER)) from error
        raise
    finally:
        timer.cancel()


_ONE_AT_A_TIME = threading.Lock()
_NOT_IN_MEMORY = "is not in the memory of this process (worker processes have their own)"


class _Awaited(fs.FSSpecHandler):
    """A file system of fsspec whose server may let wait, and fail; see `_waiting`.

    All that open a file in memory get one object, with one position; and the members of an archive
    share the position of the archive. So these are read by one thread at a time.

    Attributes
    ----------
    turn : context manager
        Held while a file is opened or read.
    """

    def __init__(self, opened: Any) -> None:
        from fsspec.archive import AbstractArchiveFileSystem
        from fsspec.implementations.memory import MemoryFileSystem

        super().__init__(opened)
        shares = isinstance(opened, (AbstractArchiveFileSystem, MemoryFileSystem))
        self.turn: AbstractContextManager[Any] = _ONE_AT_A_TIME if shares else nullcontext()

    def get_file_info(self, paths: Iterable[str]) -> list[fs.FileInfo]:
        """See `FSSpecHandler`."""
        return list(map(self._info, paths))

    def _info(self, path: str) -> fs.FileInfo:
        try:
            with _waiting(path):
                info = self.fs.info(path)
        except FileNotFoundError:
            return fs.FileInfo(path, fs.FileType.NotFound)
        kind = fs.FileType.Directory if info["type"] == "directory" else fs.FileType.File
        return fs.FileInfo(path, kind, size=info["size"], mtime=info.get("mtime"))

    def open_input_file(self, path: str) -> pa.PythonFile:
        """See `FSSpecHandler`."""
        try:
            with self.turn, _waiting(path):
                file = self.fs.open(path, mode="rb")
        except FileNotFoundError as error:
            if self.fs.protocol == "memory":
                raise FileNotFoundError(2, _NOT_IN_MEMORY) from error
            raise
        return pa.PythonFile(_AwaitedFile(self, file, path), mode="r")


class _AwaitedFile:
    """A file of fsspec with a position of its own; see `_Awaited`."""

    def __init__(self, system: _Awaited, file: Any, address: str) -> None:
        self._system = system  # an archive is closed when nothing refers to it
        self._file, self._address, self._position = file, address, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def tell(self) -> int:
        """Return the position."""
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Change the position, and return it."""
        with self._system.turn:
            self._file.seek(self._position)
            self._file.seek(offset, whence)
            self._position = self._file.tell()
        return self._position

    def read(self, size: int = -1) -> bytes:
        """Read bytes; fewer than `size` only at the end of the file."""
        file_size = getattr(self._file, "size", None)
        remaining = 0 if file_size is None else file_size - self._position
        wanted = remaining if size < 0 else min(size, remaining)
        with self._system.turn, _waiting(self._address):
            self._file.seek(self._position)
            data: bytes = self._file.read(size)
        self._position += len(data)
        if len(data) < wanted:
            raise ServerError(f"its server sent {len(data):,} of {wanted:,} bytes")
        return data


def _http_settings() -> dict[str, Any]:
    from aiohttp import ClientTimeout

    limits = ClientTimeout(total=None, sock_connect=GIVEN_UP_AFTER, sock_read=GIVEN_UP_AFTER)
    return {"client_kwargs": {"timeout": limits}}


def check_announced(path: str, size: int) -> None:
    """Raise `ServerError` if a file of http is longer or shorter than its server has said."""
    if size and path.partition("://")[0].lower() in HTTP:
        system, inner = file_system(path)
        with _waiting(path), system.handler.fs.open(inner, size=size + 1) as file:
            file.seek(size - 1)
            if len(file.read(2)) != 1:
                raise ServerError(f"its server announced {size:,} bytes, and sends more or fewer")


def files_of(inputs: Iterable[str]) -> list[str]:
    """Return the files that inputs name; folders and patterns stand for all their files.

    A text of a grid stays one, if no file has this name.

    Files of a folder (and of all folders below it) and of a pattern are sorted by name. As in Spark
    and pyarrow, names that begin with a dot or an underscore are hidden, unless a pattern has one.

    Parameters
    ----------
    inputs : iterable of str
        Paths, folders, addresses, or patterns such as ``corpora/*.csv``; ``**`` matches any
        folders. In addresses, only asterisks are patterns.

    Raises
    ------
    InputError
        If a folder is empty, or a pattern matches nothing.

    Examples
    --------
    >>> files_of(["-", "missing.csv"])  # a missing file is an error once it is opened
    ['-', 'missing.csv']
    """
    return [file for name in inputs for file in _files_of(name)]


def _files_of(path: str) -> list[str]:
    if is_address(path):
        with named_errors(path):
            return _remote_files(path)
    if os.path.isdir(path):
        if not (files := sorted(_files_below(path))):
            raise InputError(f"{path}: is a folder without files; name a file, or another folder")
        return files
    if os.path.exists(path) or not set(_WILD) & set(path):
        return [path]
    folder = os.path.dirname(re.split(f"[{_WILD}]", path)[0])
    files = sorted(filter(os.path.isfile, glob.glob(path, recursive=True)))
    if not _is_hidden(path.removeprefix(folder)):
        files = [file for file in files if not _is_hidden(file.removeprefix(folder))]
    if not files and is_grid(path):
        return [path]
    if not files:
        raise InputError(f"{path}: {why_unseen(folder or '.') or 'no file has a name like that'}")
    return files


def _files_below(folder: str) -> Iterator[str]:
    """Yield the files of a folder, and of all folders below it, that are not hidden."""

    def fail(error: OSError) -> None:
        raise InputError(f"{error.filename}: {error.strerror}") from error

    for where, folders, names in os.walk(folder, onerror=fail):
        folders[:] = [name for name in folders if not _is_hidden(name)]
        yield from (os.path.join(where, name) for name in names if not _is_hidden(name))


def _remote_files(address: str) -> list[str]:
    """Return the files of an address; only ``*`` is a pattern, because ``?`` begins a query."""
    head, mark, query = address.partition("?")
    if "*" in head:
        fits = re.compile(_as_regex(head))
        root = head[: head.index("*")].rpartition("/")[0]
        below = _below(root + mark + query, with_hidden=_is_hidden(head.removeprefix(root)))
        files = [file for file in below if fits.fullmatch(file.partition("?")[0])]
        if not files:
            raise InputError("no file has a name like that")
        return files
    system, path = file_system(address)
    if system.get_file_info(path).type != fs.FileType.Directory:
        return [address]
    if not (files := _below(address)):
        raise InputError("is a folder without files; name a file, or another folder")
    return files


def _as_regex(pattern: str) -> str:
    """Return the regular expression of a pattern; only ``**`` matches several folders."""
    known = {"**/": r"(?:[^/]+/)*", "*": r"[^/]*"}
    parts = re.split(r"(\*\*/|\*)", pattern)
    return "".join(known.get(part, re.escape(part)) for part in parts)


def _below(folder: str, with_hidden: bool = False) -> list[str]:
    """Return the sorted addresses of all files below a folder, by default of those not hidden."""
    system, path = file_system(folder)
    infos = system.get_file_info(fs.FileSelector(path.rstrip("/"), recursive=True))
    files = sorted(info.path for info in infos if info.type == fs.FileType.File)
    names = [file.removeprefix(path.rstrip("/")).lstrip("/") for file in files]
    if folder.partition("://")[0].lower() in _OWN_SCHEMES:  # pyarrow quotes other than ASCII
        names = list(map(quote, names))
    return [child(folder, name) for name in names if with_hidden or not _is_hidden(name)]


def child(folder: str, name: str) -> str:
    """Return the path or address of a file in a folder.

    Examples
    --------
    >>> child("out/", "a.parquet"), child("s3://bucket/out?region=eu", "a.parquet")
    ('out/a.parquet', 's3://bucket/out/a.parquet?region=eu')
    """
    if not is_address(folder):
        return os.path.join(folder, name)
    head, mark, query = folder.partition("?")
    return f"{head.rstrip('/')}/{name}{mark}{query}"


def _is_hidden(path: str) -> bool:
    *_, name = names = path.split("/")
    return any(part.startswith((".", "_")) for part in names) or name in _FACTS_OF_DATASETS


_FACTS_OF_DATASETS = "dataset_info.json", "state.json", "dataset_dict.json"  # of save_to_disk
UNFINISHED = ".unfinished-"  # prefix of the names of incomplete files
_OBJECT_STORES = ("s3", "gcs", "abfs")  # objects in them appear when they are complete


def make_folder(folder: str) -> None:
    """Create a folder, if it does not exist: a path, an address, or a prefix of an object store."""
    system, path = file_system(folder)
    if system.type_name not in _OBJECT_STORES:
        with disk_errors(folder):
            system.create_dir(path, recursive=True)


def files_in(folder: str) -> list[str]:
    """Return the names in a folder; none if it does not exist."""
    system, path = file_system(folder)
    with disk_errors(folder):
        if (local := local_path(folder)) is not None:  # names there may not be UTF-8
            return os.listdir(local) if os.path.isdir(local) else []
        selected = fs.FileSelector(path.rstrip("/"), allow_not_found=True)
        return [info.base_name for info in system.get_file_info(selected)]


def put_file(folder: str, name: str, data: pa.Buffer) -> None:
    """Write a file in a folder; replace an existing one of the same name."""
    target = child(folder, name)
    system, path = file_system(target)
    is_store = system.type_name in _OBJECT_STORES
    unfinished = child(folder, f"{UNFINISHED}{secrets.token_hex(8)}")
    hidden = path if is_store else file_system(unfinished)[1]
    with disk_errors(target):
        try:
            with system.open_output_stream(hidden, compression=None) as stream:
                stream.write(data)
            if local_path(target) is not None:
                make_durable(hidden)
            if not is_store:
                system.move(hidden, path)
        except BaseException:
            if not is_store:
                with suppress(OSError):
                    system.delete_file(hidden)
            raise


def remove_file(folder: str, name: str) -> None:
    """Remove a file from a folder."""
    system, path = file_system(child(folder, name))
    with disk_errors(folder):
        system.delete_file(path)


def sync_folder(folder: str) -> None:
    """Make the names in a folder durable; those at an address are."""
    if (local := local_path(folder)) is not None:
        with disk_errors(folder):
            make_durable(local)


def make_durable(path: str) -> None:
    """Let the content of a file, or the names in a directory, reach the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
