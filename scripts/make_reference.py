"""Write the page of commands, ``docs/reference/commands.md``, from the help of the commands.

::

    python scripts/make_reference.py            # writes the page
    python scripts/make_reference.py --check    # exit code 1 if the page is out of date
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from batchsolve.cli import all_commands
from batchsolve.cli.options import HEADINGS, by_heading
from batchsolve.settings.keywords import NotationFields

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "commands.md"
GROUPS = {  # headings of shared options, which a command may name in place of the options
    "Workers": ("--jobs", "--backend", "--scheduler"),
    HEADINGS[-1]: tuple(f"--{name.replace('_', '-')}" for name in NotationFields.__annotations__),
}
MANY = 2  # commands with the same option, from which on it is said once
HEAD = """# Commands

`batchsolve COMMAND --help` prints all options of a command. Data go to standard output and all else
to standard error. `batchsolve --version` prints the version.

| exit code | meaning |
|---|---|
| 0 | done, and complete |
| 1 | not complete: a limit was met, parts or answers are missing, or a given solution is wrong |
| 2 | wrong usage, a file that cannot be read or written, or no worker left, \
with a message; or the reader of the output went away, as `head` does |
| 130, 143 | ended by Ctrl-C or by SIGTERM |

## Shared options

They have the same meaning in each command that names them. A command that names the heading of a
table in italics has all of its options."""
OF_ALL = ("a file that cannot be read or written", "no worker left")  # ends that HEAD has


def page() -> str:
    """Return the page as Markdown."""
    commands = all_commands()
    shared = _shared([each for command in commands.values() for each in command.params])
    lines = [HEAD, *_tables(shared.values()), ""]
    for each in commands.items():
        lines += _command(*each, shared)
    return "\n".join(lines)


def _shared(parameters: Collection[Any]) -> dict[str, Any]:
    """Return the options and arguments that many commands have, in their most common meaning."""
    rows = Counter(map(_row, parameters))
    found: dict[str, Any] = {}
    for each in parameters:
        other = found.get(_name(each))
        if rows[_row(each)] >= max(MANY, 1 + rows[_row(other)] if other else 0):
            found[_name(each)] = each
    return found


def _tables(parameters: Collection[Any]) -> Iterator[str]:
    of_groups = {name: heading for heading, names in GROUPS.items() for name in names}
    tables: dict[str, list[Any]] = {}
    for heading, those in by_heading(parameters).items():
        for each in those:
            tables.setdefault(of_groups.get(_name(each), heading), []).append(each)
    for heading, those in tables.items():
        yield from _table(heading, those)


def _table(heading: str, parameters: Collection[Any]) -> Iterator[str]:
    yield from ("", f"| {heading} | meaning |", "|---|---|", *map(_row, parameters))


def _command(name: str, command: Any, shared: dict[str, Any]) -> Iterator[str]:
    forms = [each.metavar for each in command.params if each.param_type_name == "argument"]
    yield from (f"## batchsolve {name}", "", command.help)
    if forms:
        yield from ("", f"`{' '.join(['batchsolve', name, *forms])}`")
    by_group = [each for those in by_heading(command.params).values() for each in those]
    if own := [each for each in by_group if not _in_words_of(shared, each)]:
        yield from _table("option", own)
    if names := list(_others(command.params, shared)):
        yield from ("", f"[Shared options](#shared-options): {', '.join(names)}.")
    examples, _, rest = command.epilog.partition("\n\n")
    yield from ("", "Examples:", "", "```sh")
    yield from (line.strip().removeprefix("$ ") for line in examples.splitlines()[2:])
    yield from ("```", "", _exit_codes(rest), "") if rest else ("```", "")


def _others(parameters: Collection[Any], shared: dict[str, Any]) -> Iterator[str]:
    """Yield the shared options of a command, and the headings of groups that it has whole."""
    has = {_name(each) for each in parameters}
    whole = {heading: names for heading, names in GROUPS.items() if has.issuperset(names)}
    named = set().union(*whole.values())
    for each in parameters:
        if _name(each) not in named and _in_words_of(shared, each):
            yield _shortly(shared, each)
    yield from (f"*{heading}*" for heading in whole)


def _exit_codes(text: str) -> str:
    """Return the exit codes of a command, without what HEAD says of all."""
    text = text.replace("; 130 interrupted, 143 terminated", "")
    for end in OF_ALL:
        text = text.replace(f", or {end}", "").replace(f", {end}", "")
    return (
        text.removesuffix(".").removesuffix("; 2 wrong usage").replace("wrong usage,", "also") + "."
    )


def _in_words_of(shared: dict[str, Any], parameter: Any) -> bool:
    """Return True if a shared option is the same, but perhaps for its default."""
    other = shared.get(_name(parameter))
    return other is not None and (_form(parameter), parameter.help) == (_form(other), other.help)


def _shortly(shared: dict[str, Any], parameter: Any) -> str:
    """Return the name of a shared option, with its default if that is another."""
    name = _name(parameter)
    default = _default(parameter).strip(" .").replace("Default:", " (default") + ")"
    return _code(name) + ("" if _default(parameter) == _default(shared[name]) else default)


def _row(parameter: Any) -> str:
    """Return the line of a parameter in a table."""
    return f"| {_form(parameter)} | {_words(parameter.help or '')}{_default(parameter)} |"


def _name(parameter: Any) -> str:
    is_argument = parameter.param_type_name == "argument"
    return parameter.metavar if is_argument else max(parameter.opts, key=len)


def _form(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return _code(parameter.metavar)
    flags = sorted(parameter.opts, key=len, reverse=True)
    value = "" if parameter.is_flag else f" {parameter.metavar}"
    required = ", required" if parameter.required else ""
    return ", ".join(_code(flag + value) for flag in flags) + required


def _default(parameter: Any) -> str:
    if parameter.required or parameter.is_flag:  # as all arguments are, and some options
        return ""
    default = getattr(parameter.default, "value", parameter.default)
    is_shown = default not in (None, ())
    return f" Default: `{default}`." if is_shown else ""


def _code(text: str) -> str:
    """Return code for a table cell: between backticks, a bar needs a backslash, which shows."""
    return f"<code>{_cell(text)}</code>"


def _cell(text: str) -> str:
    return text.replace("|", "&#124;").replace("<", "&lt;")


def _words(text: str) -> str:
    return _cell(text).replace("*", "&#42;").replace("_", "&#95;")


def main() -> None:
    """Write the page, or check it."""
    text = page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(text, encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != text:
        sys.exit(f"{PAGE} is not what the commands say; run python {sys.argv[0]}")


if __name__ == "__main__":
    main()
