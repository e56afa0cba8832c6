"""``python -m batchsolve``."""

from batchsolve.cli import app

if __name__ == "__main__":
    app(prog_name="batchsolve")
