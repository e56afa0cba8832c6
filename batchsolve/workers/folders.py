"""Folders in memory that processes of this machine share, and that none of them leaves behind.

loky's tracker removes the folder of a process that is killed. But all processes of a job may be
killed at once, the tracker among them; so it is a `HeldFolder` as well.
"""

from __future__ import annotations

import os
import tempfile

from joblib.externals.loky.backend import resource_tracker

from batchsolve.held_folder import HeldFolder

IN_MEMORY = "/dev/shm"  # where the system has it, its files take no disk
PREFIX = "batchsolve-workers-"


class SharedFolder(HeldFolder):
    """A new folder. If it is not removed, the next process that makes one removes it.

    Attributes
    ----------
    path : str
    """

    def __init__(self) -> None:
        try:
            super().__init__(IN_MEMORY, PREFIX)
        except OSError:  # it is not there, or full
            super().__init__(tempfile.gettempdir(), PREFIX)
        resource_tracker.register(self.path, "folder")

    def remove(self) -> None:
        """Remove it, and all that is in it."""
        super().remove()
        if not os.path.exists(self.path):
            resource_tracker.unregister(self.path, "folder")
