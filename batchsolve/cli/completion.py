"""Completion in shells: click makes the scripts, and this module installs them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
    get_completion_class,
)

PROGRAM, VARIABLE = "batchsolve", "_BATCHSOLVE_COMPLETE"

# Shell -> the file of its script, the file that it reads when it starts, and a line to add there;
# fish needs none.
_PLACES = {
    "bash": (
        ".bash_completions/batchsolve.sh",
        ".bashrc",
        "source ~/.bash_completions/batchsolve.sh",
    ),
    "zsh": (".zfunc/_batchsolve", ".zshrc", "fpath+=~/.zfunc; autoload -Uz compinit; compinit"),
    "fish": (".config/fish/completions/batchsolve.fish", "", ""),
}


class _OrFiles(ShellComplete):
    """A completion that falls back on names of files."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem[Any]]:
        """Return commands or options; if there are none, have the shell look for files."""
        found = super().get_completions(args, incomplete)
        return found or [CompletionItem(incomplete, type="file")]


for _of_shell in (BashComplete, ZshComplete, FishComplete):
    add_completion_class(type(_of_shell.__name__, (_OrFiles, _of_shell), {}))


class CannotInstallError(click.ClickException):
    """The script of a shell cannot be written."""

    exit_code = 2


def completion_options() -> list[click.Parameter]:
    """Return the options that install and print the script of a shell."""
    return [
        _flag("--install-completion", _install, "Install completion for the shell in $SHELL."),
        _flag("--show-completion", _show, "Print the script that completes in that shell."),
    ]


def _flag(name: str, do: Callable[[], None], what: str) -> click.Option:
    """Return a flag that calls a function and ends the command."""

    def heard(ctx: click.Context, parameter: click.Parameter, wanted: bool) -> None:
        if wanted and not ctx.resilient_parsing:  # parsing is resilient while a word is completed
            do()
            ctx.exit()

    how: dict[str, Any] = {"is_flag": True, "expose_value": False, "is_eager": True}
    return click.Option([name], callback=heard, help=what, **how)


def _show() -> None:
    click.echo(_script(_shell()))


def _install() -> None:
    shell, home = _shell(), Path(os.path.expanduser("~"))
    place, starts, line = _PLACES[shell]
    _write(home / place, "w", _script(shell))
    if starts and line not in _lines(home / starts):
        _write(home / starts, "a", f"\n{line}\n")
    click.echo(f"{home / place} completes commands in {shell}; open a new shell", err=True)


def _write(path: Path, mode: str, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open(mode, encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise CannotInstallError(f"{path}: cannot be written: {error.strerror}") from error


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []


def _shell() -> str:
    """Return the name of the user's shell."""
    shell = Path(os.environ.get("SHELL", "")).name
    if shell not in _PLACES:
        raise click.UsageError(
            f"unknown shell {shell!r} in $SHELL; choose from {', '.join(_PLACES)}; to print the "
            f"script of one: {VARIABLE}=bash_source {PROGRAM}"
        )
    return shell


def _script(shell: str) -> str:
    made = get_completion_class(shell)
    assert made is not None
    return made(click.Command(PROGRAM), {}, PROGRAM, VARIABLE).source()
