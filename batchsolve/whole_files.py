"""Files that appear when they are whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from batchsolve.errors import OutputError


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
