"""``batchsolve`` and ``python -m batchsolve``."""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False

if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn


def _leave(signum: int, frame: FrameType | None) -> NoReturn:
    """End at once: nothing is begun yet, and what is raised while modules load may be swallowed."""
    print("\nbatchsolve: interrupted", file=sys.stderr, flush=True)
    os._exit(130)


# Here and not in a function, for whoever imports this module is about to run the command line, and
# Ctrl-C before that is to end it in one line as well. Where it is ignored, as under nohup, it stays
# ignored: the shell has said that the command is to outlive it.
if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _leave)


def main() -> None:
    """Run the command line."""
    import gc

    # Numba makes more than a hundred thousand objects, and no garbage to speak of. To look for
    # some on the way in, and among all of them on the way out, takes longer than most searches.
    gc.set_threshold(100_000)
    try:
        from batchsolve.cli import app

        app(prog_name="batchsolve")
    except SystemExit as end:
        if "ray" in sys.modules and isinstance(end.code, int):
            _end_at_once(end.code)
        raise
    finally:
        gc.freeze()  # all that is left is left to the operating system


def _end_at_once(code: int) -> NoReturn:
    """End without what Python does in the end: after Ctrl-C, threads of Ray crash in it."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = code or 2
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
