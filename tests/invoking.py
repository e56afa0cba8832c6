"""Commands that are called in the process of a test."""

from click.testing import CliRunner

from batchsolve.cli import app


def invoke(*arguments, **how):
    """Call a command, whose words may be paths and numbers; fail unless it ends by itself."""
    done = CliRunner().invoke(app, list(map(str, arguments)), **how)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


def refused(*arguments, **how):
    """Call a command that must be refused; return what it says, as one line."""
    done = invoke(*arguments, **how)
    assert done.exit_code == 2, done.output
    return " ".join(done.stderr.replace("│", " ").split())


def invoke_on(path, data, *arguments):
    """Call a command with a file of this content as its standard input."""
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    with open(path, "rb") as file:
        return invoke(*arguments, input=file)
