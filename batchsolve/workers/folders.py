"""Folders in memory that processes of this machine share, and that none of them leaves behind.

loky's tracker removes the folder of a process that is killed. But all processes of a job may be
killed at once, including the tracker; so the folder is a `HeldFolder` as well.
"""

from __future__ import annotations

import os
import tempfile

from joblib.externals.loky.backend import resource_tracker

from batchsolve.held_folder import HeldFolder

IN_MEMORY = "/dev/shm"  # a file system in memory, on systems that have it
PREFIX = "batchsolve-workers-"


class SharedFolder(HeldFolder):
    """A new folder. If it is left behind, the next process that makes one removes it.

    Attributes
    ----------
    path : str
    """

    def __init__(self) -> None:
        try:
            super().__init__(IN_MEMORY, PREFIX)
        except OSError:  # missing or full
            super().__init__(tempfile.gettempdir(), PREFIX)
        resource_tracker.register(self.path, "folder")

    def remove(self) -> None:
        """Remove the folder and its content."""
        super().remove()
        if not os.path.exists(self.path):
            resource_tracker.unregister(self.path, "folder")
