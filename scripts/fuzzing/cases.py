"""A case: files, commands that read them, changes of both, and a check of the outcome.

The seed and the number of a case determine it, so it can be made again without earlier cases.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random

Files = dict[str, bytes]  # name in the folder of the commands -> content

FINE, INCOMPLETE, REFUSED = 0, 1, 2
MAY_BE_INCOMPLETE = ("solve", "count", "enumerate", "draw", "export", "merge")
MOST_LETTERS = 1500  # of a line of a message; a longer one is no longer clear


@dataclass(frozen=True)
class Done:
    """The result of one command.

    Attributes
    ----------
    code : int
        Its exit code.
    out, err : str
        Its standard output and standard error.
    raised : str
        The traceback of an exception that escaped; empty if the command ended with an exit code.
    """

    code: int
    out: str
    err: str
    raised: str = ""


@dataclass(frozen=True)
class Outcome:
    """The results of the commands of a case.

    Attributes
    ----------
    done : list of Done
        One for each command that ended.
    files : dict of str to bytes
        New and changed files.
    ended : str
        The reason if the process ended before the commands did: a crash, a hang; else empty.
    """

    done: list[Done]
    files: Files = field(default_factory=dict)
    ended: str = ""


@dataclass
class Draft:
    """Files and commands while changes are made.

    Attributes
    ----------
    files : dict of str to bytes
    commands : list of list of str
    spoiled : bool
        True after a change that may change the right answer.
    damaged : bool
        True after such a change of the bytes on disk, not of the text.
    """

    files: Files
    commands: list[list[str]]
    spoiled: bool = False
    damaged: bool = False

    def copy(self) -> Draft:
        """Return an independent copy."""
        return replace(
            self, files=dict(self.files), commands=[list(words) for words in self.commands]
        )


@dataclass(frozen=True)
class Change:
    """A random change of a draft.

    Attributes
    ----------
    apply : callable
        Changes the draft in place.
    harmless : bool
        True if the right answer stays the same.
    packed : bool
        True if it changes the bytes on disk, which may be compressed, and not the text.
    """

    apply: Callable[[Draft, Random], None]
    harmless: bool = False
    packed: bool = False


Check = Callable[[Draft, Outcome], str]
Pack = Callable[[Files], Files]
Run = Callable[[Draft], Outcome]  # of the commands of a draft, in a new folder


def _as_they_are(files: Files) -> Files:
    return files


@dataclass(frozen=True)
class Case:
    """A valid input, its possible changes, and its check.

    Attributes
    ----------
    draft : Draft
    changes : sequence of Change
        The changes that make sense for it; some of them are drawn.
    check : callable
        Returns the fault of an outcome, in words, or an empty string. It takes the changed draft,
        with files that are not packed.
    pack : callable
        Turns these files into those on disk, compressing some.
    shrinks : bool
        True if `check` also holds for files with parts left out.
    """

    draft: Draft
    changes: Sequence[Change]
    check: Check
    pack: Pack = _as_they_are
    shrinks: bool = True


@dataclass(frozen=True)
class Kind:
    """A kind of input.

    Attributes
    ----------
    name : str
    begin : callable
        Makes a case from a random number generator.
    share : int
        Its share of the cases, in percent.
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
        Each with its own seed, so that leaving one out does not change the others.
    """

    case: Case
    changes: tuple[tuple[Change, int], ...]

    @classmethod
    def draw(cls, case: Case, rng: Random) -> Drawn:
        """Draw some changes, mostly one or two; sometimes none, to check the valid input."""
        n = rng.choice([0, 1, 1, 1, 1, 2, 2, 3, 5])
        return cls(case, tuple((rng.choice(case.changes), rng.getrandbits(64)) for _ in range(n)))

    def text(self) -> Draft:
        """Return the draft after the changes of its text."""
        draft = self.case.draft.copy()
        self._apply(draft, packed=False)
        return draft

    def on_disk(self, text: Draft) -> Draft:
        """Return the draft of a text as it lies on disk, after the changes of its bytes."""
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
    """Return the fault of an outcome, in words; empty if there is none."""
    if outcome.ended:
        return outcome.ended
    for words, done in zip(text.commands, outcome.done, strict=True):
        if wrong := misbehaved(words, done):
            return wrong
    damaged = any(change.packed for change, _ in drawn.changes)
    checked = replace(text, spoiled=text.spoiled or damaged, damaged=damaged)
    return drawn.case.check(checked, outcome)


def misbehaved(words: Sequence[str], done: Done) -> str:
    """Return the fault of a command that no input excuses; empty if there is none."""
    if done.raised:
        return f"raised {done.raised.strip().splitlines()[-1][:300]}"
    allowed = [FINE, REFUSED]
    if words and words[0] in MAY_BE_INCOMPLETE:
        allowed.append(INCOMPLETE)
    if done.code not in allowed:
        return f"exit code {done.code}"
    if "Traceback (most recent call last)" in done.err:
        return "a traceback on stderr"
    if "batchsolve: out of memory" in done.err:  # no input is worth that much
        return "out of memory"
    if warned := re.search(r"^.*\b\w*Warning: .*$", done.err, re.MULTILINE):
        return f"a warning on stderr: {warned[0][:300]}"
    said = [line for line in done.err.splitlines() if line.strip()]
    if done.code == REFUSED and not (
        said and said[0].startswith(("batchsolve: ", "Usage: ", "Error: "))
    ):
        return f"exit code 2 without a message: {done.err[:300]!r}"
    most = MOST_LETTERS + sum(map(len, words))
    if any(len(line) > most for line in said):
        return f"a message of {max(map(len, said))} letters"
    return ""
