"""Files that appear when they are whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file to be written, which gets its name when it is whole; else nothing is left of it.

    Raises
    ------
    OSError
        If it cannot be written.
    """
    partial = f"{os.fspath(path)}.partial"
    try:
        with open(partial, "wb") as file:
            yield file
        os.replace(partial, path)
    except BaseException as error:
        if isinstance(error, OSError) and error.filename == partial:
            error.filename = os.fspath(path)
        if os.path.exists(partial):
            os.remove(partial)
        raise
