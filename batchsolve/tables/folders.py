"""Local and remote folders, in which every file appears when it is complete."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa
from pyarrow import fs

from batchsolve.errors import disk_errors
from batchsolve.tables.outputs import sync_directory
from batchsolve.tables.places import child, file_system, local_path

UNFINISHED = ".unfinished-"  # prefix of the names of incomplete files
_OBJECT_STORES = ("s3", "gcs", "abfs")  # objects in them appear when they are complete


class Folder(Protocol):
    """A folder; small, and can be sent to workers."""

    def make(self) -> None:
        """Create the folder if it does not exist."""
        ...

    def names(self) -> list[str]:
        """Return the names in the folder; none if it does not exist."""
        ...

    def put(self, name: str, data: pa.Buffer) -> None:
        """Write a file; replace an existing one of the same name."""
        ...

    def remove(self, name: str) -> None:
        """Remove a file."""
        ...

    def sync(self) -> None:
        """Make the names in the folder durable."""
        ...


def folder_at(path: str) -> Folder:
    """Return the folder of a path or address."""
    local = local_path(path)
    return RemoteFolder(path) if local is None else LocalFolder(local)


@dataclass(frozen=True)
class LocalFolder:
    """A folder of this machine; see `Folder`."""

    path: str

    def make(self) -> None:
        """See `Folder`."""
        with disk_errors(self.path):
            os.makedirs(self.path, exist_ok=True)

    def names(self) -> list[str]:
        """See `Folder`."""
        with disk_errors(self.path):
            return os.listdir(self.path) if os.path.isdir(self.path) else []

    def put(self, name: str, data: pa.Buffer) -> None:
        """See `Folder`."""
        whole, hidden = os.path.join(self.path, name), os.path.join(self.path, _hidden())
        with disk_errors(whole):
            try:
                with open(hidden, "xb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(hidden, whole)
            except BaseException:
                if os.path.exists(hidden):
                    os.remove(hidden)
                raise

    def remove(self, name: str) -> None:
        """See `Folder`."""
        with disk_errors(self.path):
            os.remove(os.path.join(self.path, name))

    def sync(self) -> None:
        """See `Folder`."""
        with disk_errors(self.path):
            sync_directory(self.path)


@dataclass(frozen=True)
class RemoteFolder:
    """A folder at an address, or a prefix of an object store; see `Folder`."""

    address: str

    def make(self) -> None:
        """See `Folder`."""
        system, path = file_system(self.address)
        if system.type_name not in _OBJECT_STORES:
            with disk_errors(self.address):
                system.create_dir(path, recursive=True)

    def names(self) -> list[str]:
        """See `Folder`."""
        system, path = file_system(self.address)
        with disk_errors(self.address):
            selected = fs.FileSelector(path.rstrip("/"), allow_not_found=True)
            return [info.base_name for info in system.get_file_info(selected)]

    def put(self, name: str, data: pa.Buffer) -> None:
        """See `Folder`."""
        whole = child(self.address, name)
        system, path = file_system(whole)
        is_store = system.type_name in _OBJECT_STORES
        hidden = path if is_store else file_system(child(self.address, _hidden()))[1]
        with disk_errors(whole):
            with system.open_output_stream(hidden, compression=None) as stream:
                stream.write(data)
            if not is_store:
                system.move(hidden, path)

    def remove(self, name: str) -> None:
        """See `Folder`."""
        system, path = file_system(child(self.address, name))
        with disk_errors(self.address):
            system.delete_file(path)

    def sync(self) -> None:
        """See `Folder`; files there are durable already."""


def _hidden() -> str:
    return f"{UNFINISHED}{secrets.token_hex(8)}"
