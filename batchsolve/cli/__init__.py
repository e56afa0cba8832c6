"""The command line: arguments in, exit codes out.

Heavy modules are imported when a command runs, so that ``--help`` answers at once.
"""

# each module adds its commands to the app
from batchsolve.cli import dedupe, draw, graphs, problems, scale, solve, trees
from batchsolve.cli.commands import app

__all__ = ["app", "dedupe", "draw", "graphs", "problems", "scale", "solve", "trees"]
