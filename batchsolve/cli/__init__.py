"""The command line: arguments in, exit codes out.

Commands and heavy modules are imported when a command runs, so that ``--help`` answers at once.
"""

from batchsolve.cli.commands import app

__all__ = ["app"]
