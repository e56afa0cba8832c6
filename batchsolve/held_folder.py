"""Folders that no process leaves behind, however it ends.

The process that makes a folder holds a lock on it, which the system releases when the process ends.
It also removes folders of the same name whose lock is free.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
from contextlib import suppress


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
