"""Commands that are called in the process of a test."""

from click.testing import CliRunner

from batchsolve.cli import app


def invoke(*arguments, **how):
    """Call a command, whose words may be paths and numbers; fail unless it ends by itself."""
    done = CliRunner().invoke(app, list(map(str, arguments)), **how)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done
