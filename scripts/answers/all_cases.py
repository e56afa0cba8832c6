"""All cases, in the order in which they are answered."""

from __future__ import annotations

from collections.abc import Iterator

from answers import commands, exact_covers, grids, library
from answers.cases import Case

CHAPTERS = (exact_covers, grids, library, commands)


def cases() -> Iterator[Case]:
    """Yield every case."""
    for chapter in CHAPTERS:
        yield from chapter.cases()
