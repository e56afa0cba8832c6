"""Two passes over blocks of rows: workers look at each, the caller decides, workers write.

What becomes of a row can depend on all rows before it. So a block is looked at by a task, what was
found is brought to a decision in the order of the input, and another task writes the block. Between
the two, nothing of a block is kept but what was found: it is read again to be written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from batchsolve.errors import BatchsolveError, InputError, OutputError
from batchsolve.search.in_order import work_in_order
from batchsolve.search.scheduler import Scheduler
from batchsolve.settings import UNLIMITED
from batchsolve.workers.pool import Pool


class Passes(Protocol):
    """What workers do with a block; small, and can be sent to them."""

    def look(self, block: Any) -> Any:
        """Return what the decision depends on."""
        ...

    def write(self, block: Any, decision: Any) -> Any:
        """Return the finished output of a block."""
        ...


@dataclass(frozen=True, eq=False)
class _Look:
    """A block that waits to be looked at; also the task."""

    number: int
    block: Any
    is_fresh: ClassVar[bool] = True

    def cut(self, n_pieces: int, most_stacks: int) -> list[_Look]:
        return [self]


@dataclass(frozen=True, eq=False)
class _Write:
    """A block that waits to be written; also the task."""

    number: int
    block: Any
    decision: Any
    is_fresh: ClassVar[bool] = True

    def cut(self, n_pieces: int, most_stacks: int) -> list[_Write]:
        return [self]


@dataclass(frozen=True, eq=False)
class _Made:
    """What a worker made of a block; nodes and seconds are for budgets, which are not needed."""

    value: Any = None
    error: InputError | OutputError | None = None
    n_nodes: ClassVar[int] = 0
    seconds: ClassVar[float] = 0.0


@dataclass(frozen=True, eq=False)
class _Work:
    passes: Passes

    def do(self, task: _Look | _Write) -> _Made:
        try:
            if isinstance(task, _Look):
                return _Made(self.passes.look(task.block))
            return _Made(self.passes.write(task.block, task.decision))
        except (InputError, OutputError) as error:
            return _Made(error=error)

    def halves(self, task: Any) -> list[tuple[int, int, Any]]:
        return []


@dataclass(eq=False)
class _Goal:
    """Takes what was found in the order of the input, and hands back what was written so."""

    decide: Callable[[Any, Any], Any]
    enough: ClassVar[bool] = False
    _blocks: dict[int, Any] = field(default_factory=dict)  # not handed back, by their numbers
    _found: dict[int, _Made] = field(default_factory=dict)  # not decided
    _written: dict[int, _Made] = field(default_factory=dict)
    _n_opened: int = 0
    _n_decided: int = 0
    _n_returned: int = 0

    @property
    def n_open(self) -> int:
        return len(self._blocks)

    def open(self, block: Any) -> _Look:
        number = self._n_opened
        self._blocks[number] = block
        self._n_opened += 1
        return _Look(number, block)

    def settled(self) -> Iterator[tuple[Any, Any]]:
        while self._n_returned in self._written:
            made = self._written.pop(self._n_returned)
            block = self._blocks.pop(self._n_returned)
            self._n_returned += 1
            if made.error is not None:
                raise made.error
            yield block, made.value

    def begin(self, piece: Any, budget: int, promised: int) -> tuple[Any, Any]:
        return piece, piece

    def accept(self, piece: _Look | _Write, made: _Made) -> list[Any]:
        if isinstance(piece, _Write):
            self._written[piece.number] = made
            return []
        self._found[piece.number] = made
        decided: list[Any] = []
        while self._n_decided in self._found:
            number = self._n_decided
            found, block = self._found.pop(number), self._blocks[number]
            self._n_decided += 1
            if found.error is None:
                decided.append(_Write(number, block, self.decide(block, found.value)))
            else:
                self._written[number] = found
        return decided

    def lose(self, piece: Any, reason: str) -> list[Any]:
        raise BatchsolveError(f"a block of rows cannot be read or written: {reason}")


def in_two_passes(
    blocks: Iterable[Any], pool: Pool, passes: Passes, decide: Callable[[Any, Any], Any]
) -> Iterator[tuple[Any, Any]]:
    """Look at blocks, decide on them in order, write them; yield each with its output, in order.

    Parameters
    ----------
    blocks : iterable
    pool : Pool
        Entered already.
    passes : Passes
    decide : callable
        Takes a block and what was found in it, and returns the decision; it is called in the order
        of the blocks, and not for those behind one that cannot be read.

    Raises
    ------
    InputError, OutputError
        If a block cannot be read or written, after all blocks before it were yielded.
    """
    goal = _Goal(decide)
    scheduler = Scheduler(goal, pool.jobs, UNLIMITED)
    yield from work_in_order(blocks, scheduler, goal, pool, _Work(passes))
