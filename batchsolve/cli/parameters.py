"""How a command declares an option or an argument, and what click makes of it.

They are notes of `Annotated` parameters, whose types and defaults say the rest::

    def count(problem: Annotated[str, Argument(metavar="PROBLEM", help="…")],
              probes: Annotated[int, Option(metavar="N", help="…")] = 1000) -> int:
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, get_args, get_origin

import click

REQUIRED = inspect.Parameter.empty


@dataclass(frozen=True)
class Argument:
    """An argument of a command; of the type ``tuple[str, ...]`` it takes one or more words."""

    help: str
    metavar: str

    def parameter(self, name: str, kind: Any, default: Any) -> click.Parameter:
        """Return what click calls for a parameter of this name, type and default."""
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
        The name of the parameter with dashes, by default.
    help, metavar : str
    parser : callable, optional
        Makes a value of the text, if the type of the parameter does not say how; raises
        `click.BadParameter`.
    least, most : int, optional
        Bounds of a number.
    """

    def __init__(
        self,
        *flags: str,
        help: str,
        metavar: str | None = None,
        parser: Callable[[str], Any] | None = None,
        least: int | None = None,
        most: int | None = None,
    ) -> None:
        self._flags, self._help, self._metavar = flags, help, metavar
        self._parser, self._least, self._most = parser, least, most

    def parameter(self, name: str, kind: Any, default: Any) -> click.Parameter:
        """Return what click calls for a parameter of this name, type and default."""
        declared = [*(self._flags or (f"--{name.replace('_', '-')}",)), name]
        if kind is bool:
            return click.Option(declared, is_flag=True, default=default, help=self._help)
        many = self._parser is None and get_origin(kind) is tuple
        return click.Option(
            declared,
            type=self._type(get_args(kind)[0] if many else kind),
            multiple=many,
            help=self._help,
            metavar=self._metavar,
            **_unless_given(default),
        )

    def _type(self, kind: Any) -> Any:
        if self._parser is not None:
            return self._parser
        if self._least is not None or self._most is not None:
            numbers = click.IntRange(self._least, self._most)
            numbers.name = "integer"  # in messages
            return numbers
        return click.Choice(list(kind)) if issubclass(kind, StrEnum) else kind


def _unless_given(default: Any) -> dict[str, Any]:
    return {"required": True} if default is REQUIRED else {"default": default}


def click_parameter(name: str, hint: Any, default: Any) -> click.Parameter:
    """Return what click calls for a parameter that has one of these notes.

    Examples
    --------
    >>> from typing import Annotated
    >>> hint = Annotated[int | None, Option("--number", "-n", help="How many.")]
    >>> click_parameter("n", hint, None).opts
    ['--number', '-n']
    """
    kind, note = get_args(hint)
    if type(None) in get_args(kind):
        [kind] = (each for each in get_args(kind) if each is not type(None))
    parameter: click.Parameter = note.parameter(name, kind, default)
    return parameter
