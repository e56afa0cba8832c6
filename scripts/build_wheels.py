"""Build wheels for other machines: Linux with the C library of `build_backend.GLIBC` or newer.

zig compiles them, so no container is needed; the Python that runs this needs scikit-build-core and
wheel. Each Python that is named must be installed, because a wheel is for one of them; PYTHON is a
path or a command. The wheels have all levels of processor.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from build_backend import GLIBC

HOME = Path(__file__).resolve().parent.parent


def build(python: str, folder: Path) -> Path:
    """Build the wheel for one Python, and name it after the C library that it needs."""
    with tempfile.TemporaryDirectory() as made:
        environment = os.environ | {"BATCHSOLVE_ZIG": "1"}
        command = [python, "-m", "pip", "wheel", "-q", "--no-deps", "-w", made, str(HOME)]
        subprocess.run(command, check=True, env=environment)
        [wheel] = Path(made).iterdir()
        name = wheel.name.replace("-linux_", f"-manylinux_{GLIBC.replace('.', '_')}_")
        tags = name.removesuffix(".whl").split("-")[-1]
        command = [sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", tags]
        subprocess.run([*command, str(wheel)], check=True, stdout=subprocess.DEVNULL)
        [wheel] = Path(made).iterdir()
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / wheel.name
        target.write_bytes(wheel.read_bytes())
    return target


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pythons", nargs="*", default=[sys.executable], metavar="PYTHON")
    parser.add_argument("-o", dest="folder", type=Path, default=Path("build/wheels"))
    given = parser.parse_args()
    for python in given.pythons:
        wheel = build(python, given.folder)
        print(f"{wheel}: {wheel.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
