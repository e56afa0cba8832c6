"""A case: files, commands that read them, what is changed of both, and what must hold then.

A case is made of its seed and number alone, so it can be made again without those before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Protocol

Files = dict[str, bytes]  # by their names, in the folder where the commands run

FINE, INCOMPLETE, REFUSED = 0, 1, 2
MAY_BE_INCOMPLETE = ("solve", "count", "enumerate", "draw", "export", "merge")
MOST_LETTERS = 1500  # of a line of a message; more is no longer clear


@dataclass(frozen=True)
class Done:
    """What one command came to.

    Attributes
    ----------
    code : int
        Its exit code.
    out, err : str
        What it printed.
    raised : str
        The traceback of what it raised instead of ending with an exit code; empty if it did not.
    """

    code: int
    out: str
    err: str
    raised: str = ""


@dataclass(frozen=True)
class Outcome:
    """What the commands of a case came to.

    Attributes
    ----------
    done : list of Done
        One for each command that ended.
    files : dict of str to bytes
        Files that were not there before, or are not what they were.
    ended : str
        Why the process ended before the commands did: a crash, a hang; empty if it did not.
    """

    done: list[Done]
    files: Files = field(default_factory=dict)
    ended: str = ""


@dataclass
class Draft:
    """Files and commands while they are changed.

    Attributes
    ----------
    files : dict of str to bytes
    commands : list of list of str
    spoiled : bool
        Whether a change was made after which another answer than before may be right.
    damaged : bool
        Whether such a change was made to bytes that are not the text.
    """

    files: Files
    commands: list[list[str]]
    spoiled: bool = False
    damaged: bool = False

    def copy(self) -> Draft:
        """Return a draft that can be changed apart from this one."""
        return replace(
            self, files=dict(self.files), commands=[list(words) for words in self.commands]
        )


@dataclass(frozen=True)
class Change:
    """A way to change a draft, at random.

    Attributes
    ----------
    apply : callable
        Changes the draft that it is given.
    harmless : bool
        Whether the same answer is right afterwards.
    packed : bool
        Whether it changes the bytes that lie on disk, which may be compressed, and not the text.
    """

    apply: Callable[[Draft, Random], None]
    harmless: bool = False
    packed: bool = False


Check = Callable[[Draft, Outcome], str]
Pack = Callable[[Files], Files]


def _as_they_are(files: Files) -> Files:
    return files


@dataclass(frozen=True)
class Case:
    """A valid input, and what can be done to it.

    Attributes
    ----------
    draft : Draft
    changes : sequence of Change
        Those that make sense for it; some of them are drawn.
    check : callable
        Returns what is wrong with an outcome, in words; empty if nothing is. It is given the
        changed draft, of files that are not packed.
    pack : callable
        Makes of these files those that lie on disk: compresses them, perhaps.
    shrinks : bool
        Whether `check` knows what is right for files of which something is left out, too.
    """

    draft: Draft
    changes: Sequence[Change]
    check: Check
    pack: Pack = _as_they_are
    shrinks: bool = True


class Run(Protocol):
    """Runs the commands of a draft in a folder of their own."""

    def __call__(self, draft: Draft) -> Outcome:
        """Return what they came to."""
        ...


@dataclass(frozen=True)
class Kind:
    """A kind of input.

    Attributes
    ----------
    name : str
    begin : callable
        Makes a case of random numbers.
    share : int
        How many of a hundred cases are of this kind.
    """

    name: str
    begin: Callable[[Random], Case]
    share: int


@dataclass(frozen=True)
class Drawn:
    """A case with the changes that were drawn for it.

    Attributes
    ----------
    case : Case
    changes : tuple of (Change, int)
        Each with a seed of its own, so that the others stay the same if one is left out.
    """

    case: Case
    changes: tuple[tuple[Change, int], ...]

    @classmethod
    def draw(cls, case: Case, rng: Random) -> Drawn:
        """Draw some changes, mostly one or two; sometimes none, for the input must be right."""
        n = rng.choice([0, 1, 1, 1, 1, 2, 2, 3, 5])
        return cls(case, tuple((rng.choice(case.changes), rng.getrandbits(64)) for _ in range(n)))

    def text(self) -> Draft:
        """Return the draft with the changes of its text."""
        draft = self.case.draft.copy()
        self._apply(draft, packed=False)
        return draft

    def on_disk(self, text: Draft) -> Draft:
        """Return a draft of text as it lies on disk, with the changes of that."""
        draft = text.copy()
        draft.files = dict(self.case.pack(draft.files))
        self._apply(draft, packed=True)
        return draft

    def _apply(self, draft: Draft, packed: bool) -> None:
        for change, seed in self.changes:
            if change.packed == packed:
                change.apply(draft, Random(seed))
                draft.spoiled |= not change.harmless


def complaint(drawn: Drawn, text: Draft, outcome: Outcome) -> str:
    """Return what is wrong with an outcome, in words; empty if nothing is."""
    if outcome.ended:
        return outcome.ended
    for words, done in zip(text.commands, outcome.done, strict=True):
        if wrong := _misbehaved(words, done):
            return wrong
    damaged = any(change.packed for change, _ in drawn.changes)
    checked = replace(text, spoiled=text.spoiled or damaged, damaged=damaged)
    return drawn.case.check(checked, outcome)


def _misbehaved(words: Sequence[str], done: Done) -> str:
    """Return what no command may do, whatever it is given."""
    if done.raised:
        return f"raised {done.raised.strip().splitlines()[-1][:300]}"
    allowed = [FINE, REFUSED]
    if words and words[0] in MAY_BE_INCOMPLETE:
        allowed.append(INCOMPLETE)
    if done.code not in allowed:
        return f"exit code {done.code}"
    if "Traceback (most recent call last)" in done.err:
        return "a traceback on stderr"
    if warned := re.search(r"^.*\b\w*Warning: .*$", done.err, re.MULTILINE):
        return f"a warning on stderr: {warned[0][:300]}"
    lines = (line for line in done.err.splitlines() if line.strip())
    said = [line for line in lines if not line.startswith("batchsolve: compiling")]
    if done.code == REFUSED and not (
        said and said[0].startswith(("batchsolve: ", "Usage: ", "Error: "))
    ):
        return f"exit code 2 without a message: {done.err[:300]!r}"
    most = MOST_LETTERS + sum(map(len, words))
    if any(len(line) > most for line in said):
        return f"a message of {max(map(len, said))} letters"
    return ""
