"""``batchsolve`` and ``python -m batchsolve``."""

from __future__ import annotations

import gc
import signal
import sys
from types import FrameType
from typing import NoReturn


def main() -> None:
    """Run the command line; Ctrl-C while it is still being imported ends it in one line, too."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    # Numba makes more than a hundred thousand objects, and no garbage to speak of. To look for
    # some on the way in, and among all of them on the way out, takes longer than most searches.
    gc.set_threshold(100_000)
    try:
        from batchsolve.cli import app

        app(prog_name="batchsolve")
    finally:
        gc.freeze()  # all that is left is left to the operating system


def _leave(signum: int, frame: FrameType | None) -> NoReturn:
    print("\nbatchsolve: interrupted", file=sys.stderr)
    sys.exit(130)


if __name__ == "__main__":
    main()
