"""The smallest input that still fails: changes, files and lines are left out while it does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fuzzing.cases import Draft, Drawn, Outcome, Run, complaint

MOST_RUNS = 300  # of commands, for one failure


class Shrinker:
    """Makes the input of a failure smaller.

    Parameters
    ----------
    run : callable
        Runs the commands of a draft.
    first : str
        What was wrong to begin with; a smaller input has to fail alike.
    """

    def __init__(self, run: Run, first: str) -> None:
        self._run, self._sort = run, sort_of(first)
        self._left = MOST_RUNS

    def shrink(self, drawn: Drawn) -> tuple[Drawn, Draft]:
        """Return the changes that it takes, and the text that is left, with these made."""
        drawn = self._fewer_changes(drawn)
        text = drawn.text()
        for name in sorted(text.files) if drawn.case.shrinks else ():
            text = self._smaller_file(drawn, text, name)
        return drawn, text

    def _fewer_changes(self, drawn: Drawn) -> Drawn:
        k = 0
        while k < len(drawn.changes):
            fewer = replace(drawn, changes=drawn.changes[:k] + drawn.changes[k + 1 :])
            if self._fails(fewer, fewer.text()):
                drawn = fewer
            else:
                k += 1
        return drawn

    def _smaller_file(self, drawn: Drawn, text: Draft, name: str) -> Draft:
        """Leave out lines of a file, then bytes, ever fewer at a time."""
        for cut in (_lines, _bytes):
            pieces = cut(text.files[name])
            size = len(pieces)
            while size and self._left:
                kept = pieces
                for fewer in _without(pieces, size):
                    smaller = text.copy()
                    smaller.files[name] = b"".join(fewer)
                    smaller.spoiled = True  # whatever was right before
                    if self._fails(drawn, smaller):
                        kept, text = fewer, smaller
                        break
                size = size // 2 if kept is pieces else min(size, len(kept))
                pieces = kept
        return text

    def _fails(self, drawn: Drawn, text: Draft) -> bool:
        if not self._left:
            return False
        self._left -= 1
        return sort_of(tried(self._run, drawn, text)) == self._sort


def tried(run: Run, drawn: Drawn, text: Draft) -> str:
    """Run the commands on a text; return what is wrong, in words; empty if nothing is."""
    outcome: Outcome = run(drawn.on_disk(text))
    try:
        return complaint(drawn, text, outcome)
    except Exception as error:  # what was written cannot even be looked at
        return f"cannot be checked: {type(error).__name__}: {error}"


def sort_of(wrong: str) -> str:
    """Return what failures have in common that are alike: the first two words."""
    return " ".join(wrong.split()[:2])


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


def _bytes(data: bytes) -> list[bytes]:
    return [data[k : k + 1] for k in range(len(data))] if len(data) < 5000 else []


def _without(pieces: list[bytes], size: int) -> Iterator[list[bytes]]:
    """Leave out so many pieces, at each place in turn."""
    return (pieces[:k] + pieces[k + size :] for k in range(0, len(pieces), size))
