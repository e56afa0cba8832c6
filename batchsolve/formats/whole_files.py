"""Files that are read, perhaps unpacked, and that appear as a whole.

A file has one writer at a time, whatever command that is: it holds a lock in a folder beside the
file. The system releases locks when the process ends, however that happens.
"""

from __future__ import annotations

import fcntl
import io
import os
import shutil
import stat
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

from batchsolve.errors import InputError, JournalError, OutputError, disk_errors, prefixed
from batchsolve.settings import path_of

JOURNAL = "journal.sqlite"  # of a run that has a folder
MOST_BYTES = 1 << 30  # of a problem; the search of such a problem takes tens of gigabytes
ZIP = b"PK\x03\x04"  # begins an archive
_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd"}
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
    while some := stream.read(_AT_ONCE):  # memory for that is taken before unpacking
        content += some
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
        members = [one for one in archive.infolist() if not one.is_dir()]
        members = [one for one in members if not one.filename.startswith("__MACOSX/")]
        if len(members) == 1:
            return archive.open(members[0])
        file.seek(0)
    elif compression := compression_of(begin):
        import pyarrow as pa

        return pa.CompressedInputStream(file, compression)
    return file


def check_is_no_link(path: str) -> None:
    """Raise `JournalError` if a file or folder of a run is a link, behind which is another's."""
    if os.path.islink(path):
        raise JournalError(
            f"{path}: is a link to {os.readlink(path)}; a run writes and removes only what is its "
            f"own: put the file or folder there itself"
        )


def why_unseen(path: str) -> str:
    """Return why this user cannot see a file that may be there; nothing if it is not."""
    try:
        os.scandir(path).close()
    except PermissionError as error:
        return str(error.strerror)
    except (OSError, ValueError):  # it is a file, or missing, or no name of a file
        pass
    return ""


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
        If it is no name.
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
    for folder in (directory, os.path.join(directory, os.pardir)):
        if os.path.exists(os.path.join(folder, JOURNAL)):
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
        os.replace(unfinished, target)


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
        if left := _rows_kept(path):
            raise OutputError(
                f"{partial_path(path)}: an interrupted run (of solve, for instance) left its rows "
                f"there; go on with that run and `resume`, delete {' and '.join(left)}, or name "
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
    parent, name = os.path.split(path)
    home = os.path.join(parent, f".{name}.batchsolve")
    with disk_errors(path):
        lock, is_locked = _locked(os.path.join(home, "lock"), path)
    folder = None
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
        os.close(lock)


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
