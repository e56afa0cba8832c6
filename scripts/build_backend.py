"""The build backend: scikit-build-core, with the compiler of the `ziglang` wheel if there is none.

`CXX` chooses another compiler. ``BATCHSOLVE_ZIG=1`` takes zig although there is a compiler, as
`build_wheels.py` does: its wheels run on every Linux with a C library of `GLIBC` or newer.
"""

from __future__ import annotations

import os
import platform
import shutil
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from scikit_build_core import build as backend
from scikit_build_core.build import (
    build_sdist as build_sdist,
    get_requires_for_build_sdist as get_requires_for_build_sdist,
    prepare_metadata_for_build_editable as prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel as prepare_metadata_for_build_wheel,
)

COMPILERS = ("c++", "g++", "clang++")
GLIBC = "2.28"
ZIG = "ziglang>=0.15"

Settings = Any  # as pip passes them


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """Return what a build needs: zig, too, if no compiler is found."""
    required: list[str] = backend.get_requires_for_build_wheel(config_settings)
    return [*required, ZIG] if _takes_zig() else required


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    """Return what an editable install needs."""
    required: list[str] = backend.get_requires_for_build_editable(config_settings)
    return [*required, ZIG] if _takes_zig() else required


def build_wheel(folder: str, config_settings: Settings = None, metadata: str | None = None) -> str:
    """Build a wheel."""
    _choose_compiler()
    return str(backend.build_wheel(folder, config_settings, metadata))


def build_editable(
    folder: str, config_settings: Settings = None, metadata: str | None = None
) -> str:
    """Build the wheel of an editable install."""
    _choose_compiler()
    return str(backend.build_editable(folder, config_settings, metadata))


def _takes_zig() -> bool:
    if os.environ.get("BATCHSOLVE_ZIG", "0") not in ("", "0"):
        return True
    return "CXX" not in os.environ and not any(map(shutil.which, COMPILERS))


def _choose_compiler() -> None:
    """Tell CMake to use zig if that is taken: it takes a program for each tool, so write one."""
    if not _takes_zig():
        return
    import ziglang

    zig, folder = Path(ziglang.__file__).parent / "zig", Path(tempfile.mkdtemp(prefix="zig-"))
    # Debian's pyconfig.h includes another by its path below /usr/include, where zig does not look
    (folder / "include").mkdir()
    if multiarch := sysconfig.get_config_var("MULTIARCH"):
        headers = Path(sysconfig.get_config_h_filename()).parent
        (folder / "include" / multiarch).symlink_to(headers.parent / multiarch)
    compiler = f'c++ -target {platform.machine()}-linux-gnu.{GLIBC} -I"{folder}/include"'
    for name, command in {"c++": compiler, "ar": "ar", "ranlib": "ranlib"}.items():
        (folder / name).write_text(f'#!/bin/sh\nexec "{zig}" {command} "$@"\n')
        (folder / name).chmod(0o755)
    os.environ["CXX"] = str(folder / "c++")
    chosen = {
        "CMAKE_AR": folder / "ar",
        "CMAKE_RANLIB": folder / "ranlib",
        # CMake need not link anything to try zig: it would compile a C++ library just for that
        "CMAKE_CXX_COMPILER_ID_TEST_FLAGS_FIRST": "-c",
        "CMAKE_TRY_COMPILE_TARGET_TYPE": "STATIC_LIBRARY",
    }
    arguments = [f"-D{name}={value}" for name, value in chosen.items()]
    os.environ["CMAKE_ARGS"] = " ".join([*arguments, os.environ.get("CMAKE_ARGS", "")])
