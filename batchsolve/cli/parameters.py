"""Declarations of the options and arguments of commands, and their parameters of click.

They are notes of `Annotated` parameters, whose types and defaults say the rest::

    def count(problem: Annotated[str, Argument(metavar="PROBLEM", help="…")],
              probes: Annotated[int, Option(metavar="N", help="…")] = 1000) -> int:
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, get_args, get_origin

import click

REQUIRED = inspect.Parameter.empty
HEADINGS = ("Input", "Search", "Solutions", "Workers", "Output")
"""The headings of a help text, in order."""


@dataclass(frozen=True)
class Argument:
    """An argument of a command; of the type ``tuple[str, ...]`` it takes one or more words."""

    help: str
    metavar: str

    def parameter(self, name: str, kind: Any, default: Any) -> click.Parameter:
        """Return the parameter of click with this name, type and default."""
        many = get_origin(kind) is tuple
        return click.Argument(
            [name],
            type=get_args(kind)[0] if many else kind,
            nargs=-1 if many else 1,
            help=self.help,
            metavar=self.metavar,
            **_unless_given(default),
        )


class Option:
    """An option of a command.

    One of the type ``tuple[str, ...]`` can be given several times, and a bool is a flag.

    Parameters
    ----------
    *flags : str
        By default the name of the parameter with dashes.
    help : str
    heading : str
        One of `HEADINGS`.
    **declared
        Other arguments of `click.Option`: ``metavar``, and a ``type`` if that of the parameter does
        not tell how to convert the text.
    """

    def __init__(self, *flags: str, help: str, heading: str = "Output", **declared: Any) -> None:
        self._flags, self._declared = flags, {"help": help, "heading": heading, **declared}

    def parameter(self, name: str, kind: Any, default: Any) -> click.Parameter:
        """Return the parameter of click with this name, type and default."""
        many = "type" not in self._declared and get_origin(kind) is tuple
        usual = {"type": _type(get_args(kind)[0] if many else kind), "multiple": many}
        return _HeadedOption(
            [*(self._flags or (f"--{name.replace('_', '-')}",)), name],
            is_flag=kind is bool or None,  # False would make the value optional
            **{**usual, **self._declared, **_unless_given(default)},
        )


class _HeadedOption(click.Option):
    def __init__(self, *declarations: Any, heading: str, **declared: Any) -> None:
        super().__init__(*declarations, **declared)
        self.heading = heading


def by_heading(parameters: Iterable[click.Parameter]) -> dict[str, list[click.Parameter]]:
    """Return parameters under their headings; arguments are input, and ``--help`` is output."""
    found: dict[str, list[click.Parameter]] = {heading: [] for heading in HEADINGS}
    for each in parameters:
        default = "Input" if isinstance(each, click.Argument) else "Output"
        found[getattr(each, "heading", default)].append(each)
    return {heading: those for heading, those in found.items() if those}


def _type(kind: Any) -> Any:
    is_choice = isinstance(kind, type) and issubclass(kind, StrEnum)
    return click.Choice(list(kind)) if is_choice else kind


def _unless_given(default: Any) -> dict[str, Any]:
    return {"required": True} if default is REQUIRED else {"default": default}


def click_parameter(name: str, hint: Any, default: Any) -> click.Parameter:
    """Return the parameter of click for a parameter that has one of these notes.

    Examples
    --------
    >>> from typing import Annotated
    >>> hint = Annotated[int | None, Option("--number", "-n", help="Number of solutions.")]
    >>> click_parameter("n", hint, None).opts
    ['--number', '-n']
    """
    kind, note = get_args(hint)
    if type(None) in get_args(kind):
        [kind] = (each for each in get_args(kind) if each is not type(None))
    parameter: click.Parameter = note.parameter(name, kind, default)
    return parameter
