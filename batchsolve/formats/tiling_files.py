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
from contextlib import contextmanager
from dataclasses import dataclass

from batchsolve.errors import InputError, ProblemError
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


@dataclass(frozen=True)
class _Section:
    """A section: the line with its colon, and its content."""

    line: int
    word: str
    more: str  # up to the colon
    text: str  # behind the colon, or the lines below


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
    single: dict[str, _Section] = {}
    of_pieces: list[_Section] = []
    for part in _parts(text):
        if part.word in ("piece", "pieces"):
            of_pieces.append(part)
            continue
        if part.word not in ("board", "kind", "fill") or part.more:
            raise InputError(
                f"line {part.line}: unknown keyword {f'{part.word} {part.more}'.strip()[:60]!r}; "
                f"choose from {_KNOWN}"
            )
        if part.word in single:
            raise InputError(f"line {part.line}: a second {part.word}; say it once")
        single[part.word] = part
    if "board" not in single:
        raise InputError("no line is 'board:'; a tiling has a board and pieces")
    board = single["board"]
    with _at(board):
        cells = board_cells(board.text)
    solid = is_solid(cells)
    with _at(single.get("kind", board)):
        kind = kind_of(single["kind"].text.strip() if "kind" in single else None, solid)
    fill = _yes_or_no(single["fill"]) if "fill" in single else True
    shapes: dict[str, Shape] = {}
    pieces: list[Tile] = []
    for part in of_pieces:
        with _at(part):
            if part.word == "piece":
                name, _, said = part.more.partition(" ")
                check_name(name)
                new = {name: piece_shape(part.text)}
            else:
                said = part.more
                new = named_pieces(part.text, kind, solid)
                if not new:
                    raise InputError("no pieces are named")
            add_pieces(shapes, new)
            use = use_of(said) if said else USES["once"]
            pieces += [Tile(name, shape, use) for name, shape in new.items()]
    return placements(cells, pieces, kind, fill=fill)


@contextmanager
def _at(part: _Section) -> Iterator[None]:
    """Name the line of a section in the errors of a block."""
    try:
        yield
    except (InputError, ProblemError) as error:
        raise InputError(f"line {part.line}: {error}") from error


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
                yield _Section(*head, "\n".join(lines))
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
        yield _Section(*head, "\n".join(lines))


def _yes_or_no(part: _Section) -> bool:
    word = part.text.strip()
    if word not in ("yes", "no"):
        raise InputError(f"line {part.line}: fill is yes or no, not {word[:60]!r}")
    return word == "yes"
