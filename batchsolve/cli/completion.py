"""Completion in shells: click makes the scripts, and this puts them where a shell finds them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click
from click.shell_completion import get_completion_class

PROGRAM, VARIABLE = "batchsolve", "_BATCHSOLVE_COMPLETE"

# Shell -> where its script goes, the file that it reads when it starts, and the line that is needed
# there; fish needs none.
_PLACES = {
    "bash": (
        ".bash_completions/batchsolve.sh",
        ".bashrc",
        "source ~/.bash_completions/batchsolve.sh",
    ),
    "zsh": (".zfunc/_batchsolve", ".zshrc", "fpath+=~/.zfunc; autoload -Uz compinit; compinit"),
    "fish": (".config/fish/completions/batchsolve.fish", "", ""),
}


def completion_options() -> list[click.Parameter]:
    """Return the options that print and install the script of the shell at work."""
    return [
        _flag("--install-completion", _install, "Install completion for the current shell."),
        _flag("--show-completion", _show, "Print the script of completion for that shell."),
    ]


def _flag(name: str, do: Any, what: str) -> click.Option:
    how: dict[str, Any] = {"is_flag": True, "expose_value": False, "is_eager": True}
    return click.Option([name], callback=do, help=what, **how)


def _show(ctx: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(_script(_shell()))
        ctx.exit()


def _install(ctx: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if not wanted:
        return
    shell, home = _shell(), Path.home()
    place, starts, line = _PLACES[shell]
    try:
        (home / place).parent.mkdir(parents=True, exist_ok=True)
        (home / place).write_text(_script(shell), encoding="utf-8")
        if starts and line not in _lines(home / starts):
            with (home / starts).open("a", encoding="utf-8") as file:
                file.write(f"\n{line}\n")
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}") from error
    click.echo(f"{home / place} completes commands in {shell}; open a new shell", err=True)
    ctx.exit()


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []


def _shell() -> str:
    """Return the name of the shell that the user works with."""
    shell = Path(os.environ.get("SHELL", "")).name
    if shell not in _PLACES:
        raise click.UsageError(
            f"completion is for {', '.join(_PLACES)}, and the shell ($SHELL) is "
            f"{shell or 'not known'}; to print the script of one: {VARIABLE}=bash_source {PROGRAM}"
        )
    return shell


def _script(shell: str) -> str:
    made = get_completion_class(shell)
    assert made is not None
    return made(click.Command(PROGRAM), {}, PROGRAM, VARIABLE).source()
