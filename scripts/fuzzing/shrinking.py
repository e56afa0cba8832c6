"""The smallest input that still fails: shrinking leaves out changes, files and lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fuzzing.cases import Draft, Drawn, Outcome, Run, complaint

MOST_RUNS = 300  # of commands, for one failure


class Shrinker:
    """A search for the smallest input of a failure.

    Parameters
    ----------
    run : callable
        Runs the commands of a draft.
    first : str
        The first error; a smaller input must fail in the same way.
    """

    def __init__(self, run: Run, first: str) -> None:
        self._run, self._sort = run, sort_of(first)
        self._left = MOST_RUNS

    def shrink(self, drawn: Drawn) -> tuple[Drawn, Draft]:
        """Return the changes that the failure needs, and the remaining text after them."""
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
        """Leave out lines of a file, then bytes, fewer and fewer at a time."""
        for cut in (_lines, _bytes):
            pieces = cut(text.files[name])
            size = len(pieces)
            while size and self._left:
                kept = pieces
                for fewer in _without(pieces, size):
                    smaller = text.copy()
                    smaller.files[name] = b"".join(fewer)
                    smaller.spoiled = True  # its right answer is unknown now
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
    """Run the commands on a text; return the fault in words, or an empty string."""
    outcome: Outcome = run(drawn.on_disk(text))
    try:
        return complaint(drawn, text, outcome)
    except Exception as error:  # the check cannot even read the output
        return f"cannot be checked: {type(error).__name__}: {error}"


def sort_of(wrong: str) -> str:
    """Return the class of a failure: its first two words."""
    return " ".join(wrong.split()[:2])


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


def _bytes(data: bytes) -> list[bytes]:
    return [data[k : k + 1] for k in range(len(data))] if len(data) < 5000 else []


def _without(pieces: list[bytes], size: int) -> Iterator[list[bytes]]:
    """Leave out `size` pieces, at each place in turn."""
    return (pieces[:k] + pieces[k + size :] for k in range(0, len(pieces), size))
