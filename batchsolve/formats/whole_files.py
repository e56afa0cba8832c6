"""Files that are read, perhaps unpacked, and that appear as a whole; and records in them.

A file has one writer at a time, whatever command that is: it holds a lock in a folder beside the
file. The system releases locks when the process ends, however that happens.

Records are objects of JSON that carry a checksum, their *seal*, which shows whether they were
changed. A record whose seal is right has the fields with which it was written.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import os
import shutil
import stat
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

from batchsolve.errors import InputError, OutputError, disk_errors, prefixed, quoted, repeated
from batchsolve.settings.arguments import is_address, is_of_run, path_of

MOST_BYTES = 1 << 30  # of a problem; the search of such a problem takes tens of gigabytes
ZIP = b"PK\x03\x04"  # begins an archive
_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
# pzstd begins with a frame to skip
_COMPRESSIONS |= {bytes([kind, 0x2A, 0x4D, 0x18]): "zstd" for kind in range(0x50, 0x60)}
_AT_ONCE = 1 << 20
_OF_RUNS = (".partial", ".partial.journal")  # ends of the names of the files of unfinished runs


def opened(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file to be read to its end; raises `InputError` for a device, which may have none."""
    file = open(path, "rb")  # noqa: SIM115
    mode = os.fstat(file.fileno()).st_mode
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        file.close()
        raise InputError("is a device, which may have no end; name a file, or pipe it to -")
    return file


def text_of(path: str | os.PathLike[str]) -> str:
    """Return the text of a file in UTF-8; see `opened`."""
    with io.TextIOWrapper(opened(path), encoding="utf-8") as file:
        return file.read()


def content_of(stream: Any, what: str = "has") -> bytes:
    """Return the content of a binary stream.

    Raises
    ------
    InputError
        If that is more than `MOST_BYTES`; the rest is not read.
    """
    content = bytearray()
    while chunk := stream.read(_AT_ONCE):  # memory for that is taken before unpacking
        content += chunk
        check_size(len(content), what)
    return bytes(content)


def check_size(n_bytes: int, what: str) -> None:
    """Raise `InputError` if a file has more bytes than are read as a whole."""
    if n_bytes > MOST_BYTES:
        raise InputError(
            f"{what} more than {MOST_BYTES >> 20:,} MiB, the most that is read as one file"
        )


def compression_of(begin: bytes) -> str | None:
    """Return the compression of a file, by its first bytes; None for others."""
    return next((name for start, name in _COMPRESSIONS.items() if begin.startswith(start)), None)


def unpacked(file: Any) -> Any:
    """Return what a compressed file or the only file in a zip archive holds, as a stream.

    Other files, and archives of several, are returned as they are.
    """
    begin = file.read(4)
    file.seek(0)
    if begin == ZIP:
        with prefixed("cannot be read as a zip archive", InputError, zipfile.BadZipFile):
            archive = zipfile.ZipFile(file)
        members = [member for member in archive.infolist() if not member.is_dir()]
        members = [member for member in members if not member.filename.startswith("__MACOSX/")]
        if len(members) == 1:
            return archive.open(members[0])
        file.seek(0)
    elif compression := compression_of(begin):
        import pyarrow as pa

        return pa.CompressedInputStream(file, compression)
    return file


def why_unseen(path: str) -> str:
    """Return why this user cannot see a file that may be there; nothing if it is not."""
    try:
        os.scandir(path).close()
    except PermissionError as error:
        return str(error.strerror)
    except (OSError, ValueError):  # it is a file, or missing, or no name of a file
        pass
    return ""


def is_in_memory(path: str) -> bool:
    """Return True if this process alone sees a file, as long as it runs: ``memory://`` of fsspec.

    Examples
    --------
    >>> is_in_memory("memory://out"), is_in_memory("s3://bucket/out")
    (True, False)
    """
    return path.lower().startswith("memory://")


def check_is_no_input(output: str, inputs: Iterable[str]) -> None:
    """Raise `InputError` if an output is one of some input files."""
    for path in inputs:
        are_there = path != "-" and os.path.exists(path) and os.path.exists(output)
        if are_there and os.path.samefile(path, output):
            raise InputError(f"{path}: is both input and output; write to another file")


def followed(path: str) -> str:
    """Return the path that a link leads to; any other path as it is."""
    return os.path.realpath(path) if os.path.islink(path) else path


def target_of(path: str | os.PathLike[str]) -> str:
    """Return the path that a whole file is to take: links are followed, so that they stay.

    Raises
    ------
    InputError
        If it is not a name.
    OutputError
        If no file can take its place there.
    """
    name = path_of("the output", path)
    target = followed(name)
    if target.endswith(_OF_RUNS):
        raise OutputError(
            f"{name}: names that end with {' or '.join(_OF_RUNS)} are those of unfinished runs; "
            f"name another"
        )
    if name == "-":
        raise OutputError("-: is not printed here; name a file")
    if is_address(name):
        raise OutputError(f"{name}: is an address; this output is written to disk, so name a file")
    check_directory(name, os.path.dirname(target) or ".")
    if os.path.isdir(target):
        raise OutputError(f"{name}: is a directory; name a file in it")
    if os.path.exists(target) and not os.path.isfile(target):
        raise OutputError(
            f"{name}: is a device or a pipe, not a file; name a file, or use - and redirect "
            f"standard output"
        )
    return target


def check_directory(name: str, directory: str) -> None:
    """Raise `OutputError` unless an output may be made in a directory."""
    if is_of_run(directory):
        raise OutputError(f"{name}: lies in the folder of a run; write elsewhere")
    if not os.path.isdir(directory):
        why = why_unseen(directory) or f"the directory {directory} does not exist"
        raise OutputError(f"{name}: {why}")


def partial_path(path: str) -> str:
    """Return the path of the rows of an unfinished run, which can be resumed."""
    return path + _OF_RUNS[0]


def whole_target_of(path: str | os.PathLike[str]) -> str:
    """Return the result of `target_of` for a file that is written whole, not row by row.

    Raises
    ------
    OutputError
        If `target_of` does, or a run is going on, or an interrupted one has left its rows: in the
        end it would replace the file.
    """
    target = target_of(path)
    if _rows_kept(target):
        with folder_beside(target):  # the run may be going on, and then says so
            pass
    return target


def _rows_kept(target: str) -> list[str]:
    """Return the files that an unfinished run of an output has."""
    return [name for name in (target + end for end in _OF_RUNS) if os.path.exists(name)]


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file to be written, which gets its name when it is whole; else nothing is left of it.

    Raises
    ------
    OutputError
        If it cannot be written, or `folder_beside` does.
    """
    target = whole_target_of(path)
    with disk_errors(os.fspath(path)), folder_beside(target) as folder:
        unfinished = os.path.join(folder, os.path.basename(target))
        with open(unfinished, "wb") as file:
            yield file
        put(unfinished, target)


def put(whole: str, target: str) -> None:
    """Give a file its name, and the mode of the file that it replaces."""
    with suppress(OSError):  # there is none, or the file system keeps no modes
        os.chmod(whole, os.stat(target).st_mode & 0o777)
    os.replace(whole, target)


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write a file, which gets its name when it is whole; see `whole_file`."""
    with whole_file(path) as file:
        file.write(content if isinstance(content, bytes) else content.encode())


@contextmanager
def folder_beside(path: str) -> Iterator[str]:
    """Be the only writer of a file; lend a folder beside it for what it is made of.

    Raises
    ------
    OutputError
        If `only_writer` does, or an interrupted run has left its rows.
    """
    with only_writer(path) as folder:
        if kept := _rows_kept(path):
            raise OutputError(
                f"{partial_path(path)}: an interrupted run (of solve, for instance) left its rows "
                f"there; go on with that run and `resume`, delete {' and '.join(kept)}, or name "
                f"another output"
            )
        yield folder


@contextmanager
def only_writer(path: str) -> Iterator[str]:
    """Hold the name of a file while it is written; lend a folder beside it.

    The system releases the lock when the process ends, however that happens. The next writer
    removes what is left in the folder. On file systems without locks, names in it still differ.

    Raises
    ------
    OutputError
        If another process or thread writes the file.
    """
    home = lent_folder(path)
    lock = folder = None
    try:
        with disk_errors(path):
            lock, is_locked = _locked(os.path.join(home, "lock"), path)
        try:
            if is_locked:
                for name in os.listdir(home):  # folders of killed writers; the lock is a file
                    shutil.rmtree(os.path.join(home, name), ignore_errors=True)
            with disk_errors(path):
                folder = tempfile.mkdtemp(dir=home)
            yield folder
        finally:
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
            with suppress(FileNotFoundError):  # without locks, another writer may have ended
                os.remove(os.path.join(home, "lock"))
            with suppress(OSError):  # or be there
                os.rmdir(home)
    finally:  # after Ctrl-C in the lines above, too
        if lock is not None:
            os.close(lock)


def lent_folder(path: str) -> str:
    """Return the folder that `only_writer` makes beside a file; a killed writer leaves it."""
    parent, name = os.path.split(path)
    return os.path.join(parent, f".{name}.batchsolve")


def _locked(name: str, path: str) -> tuple[int, bool]:
    """Return the lock file of an output, open; and True unless the file system has no locks."""
    while True:
        with suppress(FileExistsError):
            os.mkdir(os.path.dirname(name))
        with suppress(FileNotFoundError):  # the last writer has just removed the folder
            lock = os.open(name, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.path.samestat(os.fstat(lock), os.stat(name)):
                    return lock, True
            except BlockingIOError:
                os.close(lock)
                raise OutputError(
                    f"{path}: is being written by another run; wait until it ends, or name "
                    f"another output"
                ) from None
            except FileNotFoundError:
                pass
            except OSError:
                return lock, False
            os.close(lock)


# ---- JSON, and records with a seal ----------------------------------------------------------

SEAL = "seal"  # the field that holds it
SEAL_BYTES = 8
MOST_NESTED = 100  # lists and objects in one another

_TOO_DEEP = f"nested more than {MOST_NESTED} deep"


def _unique_fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the fields of an object of JSON; of two with one name, Python would lose the first."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        name = repeated(name for name, _ in pairs)
        raise ValueError(f"an object has two fields {quoted(name)}; name each once")
    return fields


_DECODER = json.JSONDecoder(object_pairs_hook=_unique_fields)


def loads(text: str) -> Any:
    """Parse JSON whose objects name each field once, and whose texts can be written as UTF-8.

    Raises
    ------
    ValueError
        If it is not such JSON, or is nested more than `MOST_NESTED` deep: Python's own limit
        depends on the calls around, which differ between workers.

    Examples
    --------
    >>> loads('{"a": 1, "a": 2}')
    Traceback (most recent call last):
        ...
    ValueError: an object has two fields 'a'; name each once
    """
    try:
        value = _DECODER.decode(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    if text.count("[") + text.count("{") > MOST_NESTED and _is_deep(value):
        raise ValueError(_TOO_DEEP)
    if "\\u" in text:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError("half of a surrogate pair") from None
    return value


def _is_deep(value: Any) -> bool:
    """Return True if lists and objects are nested more than `MOST_NESTED` deep."""
    level = [value]
    for _ in range(MOST_NESTED):
        inner = (node.values() if isinstance(node, dict) else node for node in level)
        level = [value for values in inner for value in values if isinstance(value, list | dict)]
        if not level:
            return False
    return True


def parse(text: str) -> dict[str, Any]:
    """Read a record; `is_whole` tells whether it is unchanged.

    Raises
    ------
    ValueError
        If the text is not a JSON object with a seal.

    Examples
    --------
    >>> parse('{"part": 3, "of": 8}')
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: '{"part": 3, "of": 8}' is not a JSON object with a seal
    """
    record = loads(text)
    if not isinstance(record, dict) or SEAL not in record:
        raise InputError(f"{quoted(text)} is not a JSON object with a seal")
    return record


def sealed(record: Mapping[str, Any], content: str = "") -> dict[str, Any]:
    """Return a record with its seal, which also covers the content that follows the record.

    Examples
    --------
    >>> record = sealed({"part": 3})
    >>> is_whole(record), is_whole({**record, "part": 4}), is_whole(record, "more")
    (True, False, False)
    """
    return {**record, SEAL: _checksum(record, content)}


def is_whole(record: Mapping[str, Any], content: str = "") -> bool:
    """Return True if a record and the content that follows it match the seal."""
    fields = {key: value for key, value in record.items() if key != SEAL}
    return bool(record[SEAL] == _checksum(fields, content))


def _checksum(record: Mapping[str, Any], content: str) -> str:
    text = json.dumps(record, sort_keys=True) + "\n" + content
    return hashlib.blake2b(text.encode(), digest_size=SEAL_BYTES).hexdigest()
