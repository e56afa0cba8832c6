"""Folders in memory that processes of this machine share, and that none of them leaves behind.

loky's tracker removes the folder of a process that is killed. But all processes of a job may be
killed at once, the tracker among them. So whoever makes a folder holds a lock of it, which the
system drops however the process ends, and removes the folders that nobody holds.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import tempfile
from contextlib import suppress

from joblib.externals.loky.backend import resource_tracker

IN_MEMORY = "/dev/shm"  # where the system has it, its files take no disk
PREFIX, UNLOCKED = "batchsolve-workers-", "new-batchsolve-workers-"
_NAME = re.compile(PREFIX + r"[a-z0-9_]{8}")  # nothing else is ever removed


class SharedFolder:
    """A new folder. If it is not removed, the next process that makes one removes it.

    Attributes
    ----------
    path : str
    """

    def __init__(self) -> None:
        try:
            new = tempfile.mkdtemp(prefix=UNLOCKED, dir=IN_MEMORY)
        except OSError:  # it is not there, or full
            new = tempfile.mkdtemp(prefix=UNLOCKED)
        parent, name = os.path.split(new)
        _remove_abandoned(parent)
        self._lock = os.open(new, os.O_RDONLY)
        with suppress(OSError):  # there are file systems without locks
            fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.path = os.path.join(parent, name.replace(UNLOCKED, PREFIX))
        resource_tracker.register(self.path, "folder")
        os.rename(new, self.path)

    def remove(self) -> None:
        """Remove it, and all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        if not os.path.exists(self.path):
            resource_tracker.unregister(self.path, "folder")
        os.close(self._lock)


def _remove_abandoned(parent: str) -> None:
    """Remove the folders that nobody holds."""
    for name in os.listdir(parent):
        if not _NAME.fullmatch(name):
            continue
        with suppress(OSError):  # it is another user's
            folder = os.open(os.path.join(parent, name), os.O_RDONLY)
            try:
                fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(os.path.join(parent, name), ignore_errors=True)
            finally:
                os.close(folder)
