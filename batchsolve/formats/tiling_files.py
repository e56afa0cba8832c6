"""Tilings in files: a board, and the pieces that fill it.

::

    | twelve pentominoes on a chessboard, its middle left out
    board:
    ........
    ........
    ........
    ...##...
    ...##...
    ........
    ........
    ........
    pieces: pentominoes

Every line with a colon begins a section: ``board``, ``pieces``, ``piece NAME``, ``kind`` or
``fill``. Its content follows the colon or stands on the lines below. Lines that begin with ``|``
are comments. `batchsolve.problems.tilings` describes the drawings of boards and pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager

from batchsolve.errors import InputError, ProblemError, prefixed
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.problems.polyominoes import Shape
from batchsolve.problems.tilings import (
    USES,
    Tile,
    add_pieces,
    board_cells,
    check_name,
    is_solid,
    kind_of,
    named_pieces,
    piece_shape,
    placements,
    use_of,
)

SUFFIX = ".tiling"
BEGINNING = re.compile(r"^board\s*:", re.MULTILINE)
"""A line that no other file of a problem has."""

_HEAD = re.compile(r"(\w+)\b([^:]*):(.*)")
_KNOWN = "board, pieces, piece NAME, kind and fill"


_Section = tuple[int, str, str, str]
"""The number of the line of a section, its first word, the rest up to the colon, and the content
behind the colon or on the lines below."""


def read_tiling(text: str) -> ExactCover:
    r"""Read a board and its pieces.

    * ``board: 6x10``, or a drawing on the lines below;
    * ``pieces: pentominoes``, sets or single pieces by name, each used once unless the line is
      ``pieces at most once: …``, ``pieces any number: …`` or ``pieces 2..3 times: …``;
    * ``piece NAME:`` and a drawing, perhaps ``piece NAME at most once:``; the drawing can follow
      the colon, its rows separated by ``/``;
    * ``kind: free``, ``one-sided`` or ``fixed``, see `tiling`;
    * ``fill: no`` if cells may stay empty.

    Raises
    ------
    InputError
        If something is wrong; the message names the line.

    Examples
    --------
    >>> read_tiling("board: 2x3\npieces any number: I2\n")
    ExactCover(n_items=6, n_primary=6, n_options=7)
    >>> read_tiling("board:\n..\n.\npiece corner: XX/X\n").option_name(0)
    'corner r1c1 r1c2 r2c1'
    """
    single: dict[str, tuple[int, str]] = {}
    of_pieces: list[_Section] = []
    for line, word, more, content in _parts(text):
        if word in ("piece", "pieces"):
            of_pieces.append((line, word, more, content))
            continue
        if word not in ("board", "kind", "fill") or more:
            raise InputError(
                f"line {line}: unknown keyword {f'{word} {more}'.strip()[:60]!r}; choose from "
                f"{_KNOWN}"
            )
        if word in single:
            raise InputError(f"line {line}: a second {word}; say it once")
        single[word] = line, content
    if "board" not in single:
        raise InputError("no line is 'board:'; a tiling has a board and pieces")
    line, board = single["board"]
    with _at(line):
        cells = board_cells(board)
    solid = is_solid(cells)
    line, name = single.get("kind", (line, None))
    with _at(line):
        kind = kind_of(None if name is None else name.strip(), solid)
    fill = _yes_or_no(*single["fill"]) if "fill" in single else True
    shapes: dict[str, Shape] = {}
    pieces: list[Tile] = []
    for line, word, said, content in of_pieces:
        with _at(line):
            if word == "piece":
                name, _, said = said.partition(" ")
                check_name(name)
                new = {name: piece_shape(content)}
            else:
                new = named_pieces(content, kind, solid)
                if not new:
                    raise InputError("no pieces are named")
            add_pieces(shapes, new)
            use = use_of(said) if said else USES["once"]
            pieces += [(name, shape, use) for name, shape in new.items()]
    return placements(cells, pieces, kind, fill=fill)


def _at(line: int) -> AbstractContextManager[None]:
    """Prefix the errors of a block with the line of a section."""
    return prefixed(f"line {line}", InputError, InputError, ProblemError)


def _parts(text: str) -> Iterator[_Section]:
    """Yield the sections of a file, each with the lines of its drawing."""
    head: tuple[int, str, str] | None = None
    lines: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("|"):
            continue
        match = _HEAD.fullmatch(line.rstrip())
        if match:
            if head:
                yield *head, "\n".join(lines)
            head = number, match[1], " ".join(match[2].split())
            lines = [match[3].strip()]
        elif not head and line.strip():
            raise InputError(
                f"line {number}: {line.strip()[:60]!r} stands before any of {_KNOWN}; "
                f"a file begins with 'board:'"
            )
        elif "\t" in line:
            raise InputError(f"line {number}: a tab; draw with blanks, or with # for holes")
        elif head and line.strip() and lines[0]:
            raise InputError(
                f"line {number}: {line.strip()[:60]!r} follows {head[1]!r}, which line {head[0]} "
                f"has said already"
            )
        else:
            lines.append(line.rstrip())
    if head:
        yield *head, "\n".join(lines)


def _yes_or_no(line: int, text: str) -> bool:
    word = text.strip()
    if word not in ("yes", "no"):
        raise InputError(f"line {line}: fill is yes or no, not {word[:60]!r}")
    return word == "yes"
