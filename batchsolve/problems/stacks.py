"""`Stacks`: a ragged batch of partial covers, and its form on disk.

A *stack* is the list of options chosen so far. The clues of a puzzle, a subproblem of a search
and the point where a search was interrupted are all stacks over one problem. Every stack names
its *root*: the puzzle, or the problem, that it descends from.

A stack may have a *branch*: an item that it does not cover, and a range of option numbers. It then
stands for some children of a node, whose own visit is counted already: below it are the covers that
have an option of that item in that range. So a search that was cut at a wide node leaves one stack,
and not one for every option.

Searches follow offsets unchecked, so `Stacks` checks that its arrays fit together; `Stacks.made` is
for arrays of the core, which do. Each engine checks that the options exist, and reports a clash
otherwise.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import overload

import numpy as np
import numpy.typing as npt

from batchsolve.core.arrays import Bools, Ints, UInts, begins_of, lists_at
from batchsolve.errors import InputError, ProblemError, counted, prefixed, quoted, shortened
from batchsolve.formats.whole_files import is_whole, parse, sealed
from batchsolve.problems.attributes import array_of, whole_numbers
from batchsolve.problems.exact_cover import ExactCover, check_belongs, fitting, options_with
from batchsolve.settings.arguments import argument_errors, text_of

_VERSION = 3
NO_BRANCHES = np.empty((0, 3), np.uint32)
_NO_OPTIONS = np.empty(0, np.uint32)
_AT_ONCE = 10_000  # stacks that are checked together
_FEW_ENTRIES = 256  # of the options of such a stack; more take longer to sort than to count


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
    branches : ndarray of uint32, shape (n, 3) or (0, 3)
        The branch of every stack: the item, counted from 1, the first option of the range, and the
        option behind it; zeros if it has none. No rows if none has one.

    Examples
    --------
    >>> stacks = Stacks.from_lists([[3, 1], [], [2]])
    >>> stacks
    Stacks(3 stacks of 0 to 2 options)
    >>> stacks[0].tolist(), stacks.roots.tolist()
    ([3, 1], [0, 1, 2])
    """

    offsets: Ints
    options: UInts
    roots: Ints
    branches: UInts = field(default_factory=lambda: NO_BRANCHES)

    def __post_init__(self) -> None:
        offsets, options, roots, branches = self.offsets, self.options, self.roots, self.branches
        kinds = (offsets, np.int64), (options, np.uint32), (roots, np.int64), (branches, np.uint32)
        for array, kind in kinds:
            if not isinstance(array, np.ndarray) or array.dtype != kind:
                raise ProblemError(
                    f"offsets and roots of stacks are arrays of int64, options and branches of "
                    f"uint32, not {quoted(array)}; Stacks.from_lists makes stacks of lists"
                )
        if not (
            offsets.ndim == options.ndim == roots.ndim == 1
            and offsets.size == roots.size + 1
            and 0 <= offsets[0] <= offsets[-1] <= options.size
            and (offsets.size == 2 or (offsets[1:] >= offsets[:-1]).all())
            and branches.shape in ((0, 3), (roots.size, 3))
        ):
            raise ProblemError(
                f"stacks of {offsets.shape} offsets, {options.shape} options, {roots.shape} roots "
                f"and {branches.shape} branches do not fit together: n stacks have n + 1 offsets, "
                f"which ascend from 0 to the number of options, n roots, and n branches of three "
                f"numbers or none"
            )
        if branches.size and branches[branches[:, 0] == 0].any():
            raise ProblemError(
                "branches of stacks name an item, counted from 1; a stack without one has zeros"
            )

    @classmethod
    def made(
        cls, offsets: Ints, options: UInts, roots: Ints, branches: UInts = NO_BRANCHES
    ) -> Stacks:
        """Return stacks of arrays that fit together, without a check."""
        stacks = object.__new__(cls)
        stacks.__dict__.update(offsets=offsets, options=options, roots=roots, branches=branches)
        return stacks

    @classmethod
    def equally_long(cls, options: UInts, roots: Ints) -> Stacks:
        """Return stacks of one length: the rows of `options`, shape (n, length)."""
        return cls(np.arange(len(options) + 1) * options.shape[1], options.reshape(-1), roots)

    @classmethod
    def from_lists(
        cls,
        stacks: Iterable[Sequence[int]],
        roots: npt.ArrayLike | None = None,
        branches: npt.ArrayLike | None = None,
    ) -> Stacks:
        """Build a batch from lists of option numbers; roots count from 0 by default."""
        with argument_errors("stacks are lists of option numbers", stacks):
            rows = [np.asarray(stack) for stack in stacks]
        for row in rows:
            if row.ndim != 1 or (row.size and row.dtype.kind not in "iu"):
                raise ProblemError(f"a stack is a list of option numbers, not {quoted(row)}")
            if row.size and not 0 <= row.min() <= row.max() < 2**32:
                raise ProblemError(f"option numbers must fit in 32 bits: {row.tolist()}")
        options = np.concatenate([_NO_OPTIONS, *rows], dtype=np.uint32, casting="unsafe")
        numbers = np.arange(len(rows)) if roots is None else whole_numbers(roots, "roots")
        if numbers.shape != (len(rows),):
            raise ProblemError(f"{numbers.size} roots for {len(rows)} stacks")
        ranges = NO_BRANCHES if branches is None else _branches_of(branches, len(rows))
        return cls(begins_of([row.size for row in rows]), options, numbers, ranges)

    @staticmethod
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
            np.concatenate([b.all_branches for b in batches])
            if any(b.branches.size for b in batches)
            else NO_BRANCHES,
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
    def __getitem__(self, k: int) -> UInts: ...

    @overload
    def __getitem__(self, k: slice) -> Stacks: ...

    def __getitem__(self, k: int | slice) -> UInts | Stacks:
        places = range(len(self))[k]  # as in a list, negative numbers count from the end
        if isinstance(places, range):
            return self.take(places)
        return self.options[self.offsets[places] : self.offsets[places + 1]]

    def __iter__(self) -> Iterator[UInts]:
        return (self[k] for k in range(len(self)))

    def take(self, which: npt.ArrayLike) -> Stacks:
        """Return the stacks at some places (or where a boolean mask is true), in that order."""
        places = np.asarray(which)
        if places.dtype == np.bool_:
            if places.all():
                return self
            places = np.flatnonzero(places)
        if places.size and places.dtype.kind not in "iu":
            places = whole_numbers(places, "places of stacks")
        places = places.astype(np.int64, copy=False)
        if places.size and not 0 <= places.min() <= places.max() < len(self):
            raise IndexError(f"places 0 to {len(self) - 1} hold stacks, not {places.tolist()}")
        offsets, entries = lists_at(self.offsets, places)
        branches = self.branches[places] if self.branches.size else NO_BRANCHES
        return Stacks(offsets, self.options[entries], self.roots[places], branches)

    def between(self, begin: int, end: int) -> Stacks:
        """Return stacks begin .. end - 1, without copying their options."""
        offsets = self.offsets[begin : end + 1]
        options = self.options[offsets[0] : offsets[-1]]
        return Stacks(
            offsets - offsets[0], options, self.roots[begin:end], self.branches[begin:end]
        )

    def with_roots(self, roots: npt.ArrayLike) -> Stacks:
        """Return the same stacks with other roots."""
        return Stacks(self.offsets, self.options, whole_numbers(roots, "roots"), self.branches)

    @property
    def all_branches(self) -> UInts:
        """The branch of every stack, shape (n, 3)."""
        return self.branches if self.branches.size else np.zeros((len(self), 3), np.uint32)

    @property
    def has_branch(self) -> Bools:
        """True for each stack that has a branch."""
        return self.all_branches[:, 0] > 0

    def first_path(self, k: int) -> list[int]:
        """Return the options of stack `k`, and the first of its branch: its place in tree order."""
        item, first, _ = self.all_branches[k].tolist()
        return [*self[k].tolist(), first] if item else self[k].tolist()

    @property
    def fingerprint(self) -> str:
        """The identity of the stacks, a hash of their options and branches."""
        content = self.offsets.astype("<i8").tobytes() + self.options.astype("<u4").tobytes()
        content += self.branches.astype("<u4").tobytes()
        return hashlib.sha256(content).hexdigest()[:16]

    def to_jsonl(self, problem: ExactCover, **about: object) -> str:
        """Return JSON lines: a header with the problem's fingerprint, then one line per stack.

        The header also has the fields `about`, which `from_jsonl` ignores, and a seal that shows
        changes to the file.
        """
        rows = zip(self.roots.tolist(), self, self.all_branches.tolist(), strict=True)
        lines = "".join(
            json.dumps(
                {"root": root, "stack": stack.tolist()} | ({"branch": branch} if branch[0] else {})
            )
            + "\n"
            for root, stack, branch in rows
        )
        about = {"version": _VERSION, "problem": problem.fingerprint, **about}
        return json.dumps(sealed({"batchsolve": "stacks", **about}, lines)) + "\n" + lines

    @classmethod
    def from_jsonl(cls, text: str, problem: ExactCover) -> Stacks:
        """Read the text of `to_jsonl`; see `check` for stacks of unknown origin.

        Raises
        ------
        InputError
            If the text is damaged, or belongs to another problem.
        """
        first, _, rest = text_of("the text of stacks", text).partition("\n")
        wanted = f'{{"batchsolve": "stacks", "version": {_VERSION}, "problem": …}}'
        wanted = f"the header that `Stacks.to_jsonl` writes, {wanted}"
        with prefixed(f"line 1: expected {wanted}", InputError, ValueError):
            header = parse(first)
        if (version := header.get("version")) != _VERSION:
            raise InputError(
                f"these stacks were written by another version of batchsolve (their form is "
                f"{quoted(version)}, this version reads {_VERSION}); split again"
            )
        if not is_whole(header, rest):
            raise InputError(
                "the stacks are damaged: the file was changed after it was written (the seal in "
                "line 1 does not match the file); split again"
            )
        check_belongs(header["problem"], problem, "these stacks belong")
        records = [json.loads(line) for line in rest.splitlines()]
        branches = [r.get("branch", [0, 0, 0]) for r in records]
        return cls.from_lists([r["stack"] for r in records], [r["root"] for r in records], branches)

    def check(self, problem: ExactCover) -> None:
        """Check that all stacks are partial covers, and that their branches can follow.

        Raises
        ------
        ProblemError
        """
        for begin in range(0, len(self), _AT_ONCE):
            batch = self.between(begin, min(begin + _AT_ONCE, len(self)))
            for k in _doubtful(batch, problem).tolist():
                problem.check_stack(batch[k].tolist())
        for k in np.flatnonzero(self.has_branch).tolist():
            item, first, last = self.branches[k].tolist()
            if last > problem.n_options or not can_branch(problem, self[k], item, first, last):
                raise ProblemError(
                    f"no branch of the stack {self[k].tolist()}: options {first} to {last - 1} (of "
                    f"{problem.n_options}) that have item {item - 1}, which must be primary and "
                    f"need one more option"
                )


def _doubtful(stacks: Stacks, problem: ExactCover) -> Ints:
    """Return long stacks, and those with an item twice or numbers that are none of options."""
    lengths = np.diff(stacks.offsets)
    owners = np.repeat(np.arange(len(stacks)), lengths)
    is_short = lengths * problem.n_entries <= _FEW_ENTRIES * problem.n_options
    is_clear = (stacks.options < problem.n_options) & is_short[owners]
    indptr, places = problem.entries_of(stacks.options[is_clear])
    keys = np.repeat(owners[is_clear], np.diff(indptr)) * problem.n_items
    keys = np.sort(keys + problem.indices[places])
    repeated = keys[1:][keys[1:] == keys[:-1]] // problem.n_items
    return np.unique(np.concatenate([owners[~is_clear], repeated]))


def _branches_of(values: npt.ArrayLike, n_stacks: int) -> UInts:
    """Return the branches of some stacks as an array, of no rows if none has one."""
    numbers = array_of(values, "branches of stacks")
    if not numbers.size:
        return NO_BRANCHES
    numbers = whole_numbers(numbers, "branches of stacks", 2)
    if not 0 <= numbers.min() <= numbers.max() < 2**32:
        raise ProblemError(f"branches of stacks hold numbers of 32 bits: {shortened(str(numbers))}")
    is_plain = numbers.shape == (n_stacks, 3) and not numbers.any()
    return NO_BRANCHES if is_plain else numbers.astype(np.uint32)


def can_branch(problem: ExactCover, stack: UInts, item: int, first: int, last: int) -> bool:
    """Return True if a stack can have a branch: its item must, and may, be in one more option."""
    if not (1 <= item <= problem.n_primary and first <= last):
        return False
    taken = problem.entries_of(stack[stack < problem.n_options])[1]
    used = int(np.count_nonzero(problem.indices[taken] == item - 1))
    least, most = problem.bounds_of(item - 1)
    return bool(used + 1 == most and used < least)


def clash_of(problem: ExactCover, stack: UInts, branch: Sequence[int]) -> int:
    """Return the position at which a stack clashes, its length if its branch cannot follow, or -1.

    A branch is an item and two options; the item is 0 if the stack has none.
    """
    position = problem.clash_position(stack.tolist())
    item, first, last = branch
    if position < 0 and item and not can_branch(problem, stack, item, first, last):
        return len(stack)
    return position


def options_of_branch(problem: ExactCover, stack: UInts, branch: Sequence[int]) -> list[int]:
    """Return the options by which a branch extends a stack, without bounds of items."""
    item, first, last = branch
    options = options_with(problem, item - 1, fitting(problem, stack)[0])
    return [o for o in options if first <= o < last]


Group = tuple[ExactCover, Stacks]
"""A problem and stacks over it: one of several groups that are searched together."""
