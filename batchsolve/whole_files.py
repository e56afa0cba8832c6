"""Files that are read and that appear as a whole, and folders that no process leaves behind.

The process that makes a folder holds a lock on it, which the system releases when the process ends,
however that happens. It also removes folders of the same name whose lock is free.
"""

from __future__ import annotations

import fcntl
import io
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

from batchsolve.errors import InputError, JournalError, OutputError

MOST_BYTES = 1 << 30  # of a problem; the search of such a problem takes tens of gigabytes
_AT_ONCE = 1 << 20


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


def check_is_no_link(path: str) -> None:
    """Raise `JournalError` if a file or folder of a run is a link, behind which is another's."""
    if os.path.islink(path):
        raise JournalError(
            f"{path}: is a link to {os.readlink(path)}; a run writes and removes only what is its "
            f"own: put the file or folder there itself"
        )


def followed(path: str) -> str:
    """Return the path that a link leads to; any other path as it is."""
    return os.path.realpath(path) if os.path.islink(path) else path


def target_of(path: str | os.PathLike[str]) -> str:
    """Return the path that a whole file is to take: links are followed, so that they stay.

    Raises
    ------
    OutputError
        If no file can take its place there.
    """
    name = os.fspath(path)
    target = followed(name)
    directory = os.path.dirname(target) or "."
    if not os.path.isdir(directory):
        raise OutputError(f"{name}: the directory {directory} does not exist")
    if os.path.isdir(target):
        raise OutputError(f"{name}: is a directory; name a file in it")
    if os.path.exists(target) and not os.path.isfile(target):
        raise OutputError(
            f"{name}: is a device or a pipe, not a file; name a file, or use - and redirect "
            f"standard output"
        )
    return target


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file to be written, which gets its name when it is whole; else nothing is left of it.

    Raises
    ------
    OSError
        If it cannot be written.
    OutputError
        If `target_of` does.
    """
    target = target_of(path)
    partial = f"{target}.partial"
    try:
        with open(partial, "wb") as file:
            yield file
        os.replace(partial, target)
    except BaseException as error:
        if isinstance(error, OSError) and error.filename == partial:
            error.filename = os.fspath(path)
        if os.path.exists(partial):
            os.remove(partial)
        raise


class HeldFolder:
    """A new folder. If it is not removed, the next process that makes one like it removes it.

    Parameters
    ----------
    parent : str
        The folder that it is made in.
    prefix : str
        The beginning of its name. Only folders whose lock is free and whose names are this prefix
        and eight characters are removed; on file systems without locks, none.

    Attributes
    ----------
    path : str
    """

    def __init__(self, parent: str, prefix: str) -> None:
        _remove_abandoned(parent, prefix)
        while True:
            self.path = tempfile.mkdtemp(prefix=prefix, dir=parent)
            with suppress(FileNotFoundError):
                self._lock = os.open(self.path, os.O_RDONLY)
                with suppress(OSError):  # there are file systems without locks
                    fcntl.flock(self._lock, fcntl.LOCK_EX)
                if os.path.isdir(self.path):
                    return
                os.close(self._lock)  # another process was faster than the lock, and removed it

    def remove(self) -> None:
        """Remove the folder and its content."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def _remove_abandoned(parent: str, prefix: str) -> None:
    for name in os.listdir(parent):
        if not re.fullmatch(re.escape(prefix) + r"[a-z0-9_]{8}", name):
            continue
        with suppress(OSError):  # another user's, or held
            folder = os.open(os.path.join(parent, name), os.O_RDONLY)
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(os.path.join(parent, name), ignore_errors=True)
            finally:
                os.close(folder)
