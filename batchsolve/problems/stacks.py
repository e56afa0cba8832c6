"""`Stacks`: a ragged batch of partial covers, and its form on disk.

A *stack* is the list of options chosen so far. The clues of a puzzle, a subproblem of a search
and the point where a search was interrupted are all stacks over one problem. Every stack names
its *root*: the puzzle, or the problem, that it descends from.

Searches follow offsets unchecked, so `Stacks` checks that its arrays fit together. Each engine
checks that the options exist, and reports a clash otherwise.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import overload

import numpy as np
import numpy.typing as npt

from batchsolve.arrays import begins_of, lists_at
from batchsolve.errors import (
    InputError,
    ProblemError,
    argument_errors,
    counted,
    prefixed,
    quoted,
)
from batchsolve.json_records import (
    SEAL,
    TEXT,
    Form,
    is_whole,
    list_of,
    parse,
    sealed,
    whole,
)
from batchsolve.problems.attributes import whole_numbers
from batchsolve.problems.exact_cover import ExactCover

_HEADER_FORM: Form = {
    "batchsolve": ("'stacks'", lambda value: value == "stacks"),
    "version": whole(2, 2),
    "problem": TEXT,
    SEAL: TEXT,
}
_STACK_FORM = {"root": whole(-(2**63), 2**63 - 1), "stack": list_of(whole(0, 2**32 - 1))}


@dataclass(frozen=True, eq=False)
class Stacks:
    """A batch of stacks over one problem.

    Attributes
    ----------
    offsets : ndarray of int64, shape (n + 1,)
        Stack ``k`` is ``options[offsets[k]:offsets[k + 1]]``.
    options : ndarray of uint32, shape (offsets[-1],)
        Option numbers, in the order in which they were chosen. For problems with bounds, also
        exclusions of options (`ExactCover.n_decisions`).
    roots : ndarray of int64, shape (n,)
        The root of every stack.

    Examples
    --------
    >>> stacks = Stacks.from_lists([[3, 1], [], [2]])
    >>> stacks
    Stacks(3 stacks of 0 to 2 options)
    >>> stacks[0].tolist(), stacks.roots.tolist()
    ([3, 1], [0, 1, 2])
    """

    offsets: npt.NDArray[np.int64]
    options: npt.NDArray[np.uint32]
    roots: npt.NDArray[np.int64]

    def __post_init__(self) -> None:
        offsets, options, roots = self.offsets, self.options, self.roots
        for name, array in (("offsets", offsets), ("options", options), ("roots", roots)):
            kind = np.uint32 if name == "options" else np.int64
            if not isinstance(array, np.ndarray) or array.dtype != kind:
                raise ProblemError(
                    f"{name} of stacks are an array of {kind.__name__}, not {quoted(array)}; "
                    f"Stacks.from_lists makes stacks of lists"
                )
        if not (
            offsets.ndim == options.ndim == roots.ndim == 1
            and offsets.size == roots.size + 1
            and 0 <= offsets[0] <= offsets[-1] <= options.size
            and (offsets.size == 2 or (offsets[1:] >= offsets[:-1]).all())
        ):
            raise ProblemError(
                f"stacks of {offsets.shape} offsets, {options.shape} options and {roots.shape} "
                f"roots do not fit together: n stacks have n + 1 offsets, which ascend from 0 to "
                f"the number of options, and n roots"
            )

    @classmethod
    def equally_long(cls, options: npt.NDArray[np.uint32], roots: npt.NDArray[np.int64]) -> Stacks:
        """Return stacks of one length: the rows of `options`, shape (n, length)."""
        offsets = np.arange(len(options) + 1) * options.shape[1]
        return cls(offsets, options.reshape(-1), roots)

    @classmethod
    def from_lists(
        cls, stacks: Iterable[Sequence[int]], roots: npt.ArrayLike | None = None
    ) -> Stacks:
        """Build a batch from lists of option numbers; roots count from 0 by default."""
        with argument_errors("stacks are lists of option numbers", stacks):
            rows = [np.asarray(stack) for stack in stacks]
        for row in rows:
            if row.ndim != 1 or (row.size and row.dtype.kind not in "iu"):
                raise ProblemError(f"a stack is a list of option numbers, not {quoted(row)}")
            if row.size and not 0 <= row.min() <= row.max() < 2**32:
                raise ProblemError(f"option numbers must fit in 32 bits: {row.tolist()}")
        offsets = begins_of([row.size for row in rows])
        options = np.concatenate([np.empty(0, np.int64), *rows]).astype(np.uint32)
        numbers = np.arange(len(rows)) if roots is None else whole_numbers(roots, "roots")
        if numbers.shape != (len(rows),):
            raise ProblemError(f"{numbers.size} roots for {len(rows)} stacks")
        return cls(offsets, options, numbers)

    @staticmethod
    @cache
    def empty() -> Stacks:
        """Return a batch of no stacks."""
        return Stacks(np.zeros(1, np.int64), np.empty(0, np.uint32), np.empty(0, np.int64))

    @classmethod
    def concatenate(cls, batches: Sequence[Stacks]) -> Stacks:
        """Join batches, in order."""
        if len(batches) == 1:
            return batches[0]
        if not batches:
            return Stacks.empty()
        starts = begins_of([b.options.size for b in batches])
        offsets = [b.offsets[:-1] + start for b, start in zip(batches, starts, strict=False)]
        return cls(
            np.concatenate([*offsets, starts[-1:]]),
            np.concatenate([b.options for b in batches]),
            np.concatenate([b.roots for b in batches]),
        )

    def __repr__(self) -> str:
        if not len(self):
            return "Stacks(0 stacks)"
        lengths = np.diff(self.offsets)
        least, most = lengths.min(), lengths.max()
        options = counted(most, "option") if least == most else f"{least} to {most} options"
        return f"Stacks({counted(len(self), 'stack')} of {options})"

    def __len__(self) -> int:
        return self.roots.size

    @overload
    def __getitem__(self, k: int) -> npt.NDArray[np.uint32]: ...

    @overload
    def __getitem__(self, k: slice) -> Stacks: ...

    def __getitem__(self, k: int | slice) -> npt.NDArray[np.uint32] | Stacks:
        places = range(len(self))[k]  # as in a list, negative numbers count from the end
        if isinstance(places, range):
            return self.take(places)
        return self.options[self.offsets[places] : self.offsets[places + 1]]

    def __iter__(self) -> Iterator[npt.NDArray[np.uint32]]:
        return (self[k] for k in range(len(self)))

    def take(self, which: npt.ArrayLike) -> Stacks:
        """Return the stacks at some places (or where a boolean mask is true), in that order."""
        places = np.asarray(which)
        if places.dtype == np.bool_:
            if places.all():
                return self
            places = np.flatnonzero(places)
        places = places.astype(np.int64, copy=False)
        if places.size and not 0 <= places.min() <= places.max() < len(self):
            raise IndexError(f"places 0 to {len(self) - 1} hold stacks, not {places.tolist()}")
        offsets, entries = lists_at(self.offsets, places)
        return Stacks(offsets, self.options[entries], self.roots[places])

    def between(self, begin: int, end: int) -> Stacks:
        """Return stacks begin .. end - 1, without copying their options."""
        offsets = self.offsets[begin : end + 1]
        options = self.options[offsets[0] : offsets[-1]]
        return Stacks(offsets - offsets[0], options, self.roots[begin:end])

    def with_roots(self, roots: npt.ArrayLike) -> Stacks:
        """Return the same stacks with other roots."""
        return Stacks(self.offsets, self.options, whole_numbers(roots, "roots"))

    @property
    def fingerprint(self) -> str:
        """The identity of the stacks, a hash of their options."""
        content = self.offsets.astype("<i8").tobytes() + self.options.astype("<u4").tobytes()
        return hashlib.sha256(content).hexdigest()[:16]

    def to_jsonl(self, problem: ExactCover, **about: object) -> str:
        """Return JSON lines: a header with the problem's fingerprint, then one line per stack.

        The header also has the fields `about`, which `from_jsonl` ignores, and a seal that shows
        changes to the file.
        """
        lines = "".join(
            json.dumps({"root": int(root), "stack": stack.tolist()}) + "\n"
            for root, stack in zip(self.roots, self, strict=True)
        )
        header = {"batchsolve": "stacks", "version": 2, "problem": problem.fingerprint, **about}
        return json.dumps(sealed(header, lines)) + "\n" + lines

    @classmethod
    def from_jsonl(cls, text: str, problem: ExactCover) -> Stacks:
        """Read the text of `to_jsonl`.

        Raises
        ------
        InputError
            If the text is damaged, or belongs to another problem.
        """
        first, _, rest = text.partition("\n")
        wanted = '{"batchsolve": "stacks", "version": 2, "problem": …}'
        wanted = f"the header that `Stacks.to_jsonl` writes, {wanted}"
        with prefixed(f"line 1: expected {wanted}", InputError):
            header = parse(first, _HEADER_FORM)
        records = []
        for number, line in enumerate(rest.splitlines(), 2):
            with prefixed(f'line {number}: expected {{"root": …, "stack": […]}}', InputError):
                records.append(parse(line, _STACK_FORM))
        if not is_whole(header, rest):
            raise InputError(
                "the stacks are damaged: the file was changed after it was written (the seal in "
                "line 1 does not match the file); split again"
            )
        if header["problem"] != problem.fingerprint:
            raise InputError(
                f"these stacks belong to another problem: their fingerprint is "
                f"{header['problem'][:16]}…, that of the problem at hand "
                f"{problem.fingerprint[:16]}…"
            )
        batch = cls.from_lists([r["stack"] for r in records], [r["root"] for r in records])
        if batch.options.size and batch.options.max() >= problem.n_decisions:
            raise InputError("stacks are damaged: they name options that the problem lacks")
        return batch


Group = tuple[ExactCover, Stacks]
"""A problem and stacks over it: one of several groups that are searched together."""
