"""Twenty stacks of 4×4 grids, root r with option r, and the workers' answers to each of them.

Workers import this module: it must not import those of all tests, which takes them a second.
"""

import time

import numpy as np

from batchsolve import Stacks, Sudoku
from batchsolve.engines import Task, get_engine
from batchsolve.search.scheduler import Goal, Piece, Scheduler
from batchsolve.search.tree import TreeWork
from batchsolve.workers import Done

PROBLEM = Sudoku(2, 2)
N_ROOTS = 20


def pieces():
    """Return the stacks in pieces of four."""
    whole = Piece.whole(Stacks.from_lists([[r] for r in range(N_ROOTS)]))
    return [whole.between(begin, begin + 4) for begin in range(0, N_ROOTS, 4)]


def tasks():
    """Return the pieces as numbered tasks."""
    return list(enumerate(Task.of(piece.stacks) for piece in pieces()))


def work(engine=None):
    return TreeWork(engine or get_engine("dlx"), PROBLEM)


def by_root(results):
    """Return a dict from root to its count, or to the reason of its loss; check each comes once."""
    answers = {}
    for result in results:
        for k, root in enumerate(result.task.stacks.roots.tolist()):
            assert root not in answers
            done = isinstance(result, Done)
            answers[root] = int(result.result.outcome.counts[k]) if done else result.reason
    return answers


def arrays(*sizes):
    return [np.arange(size) for size in sizes]


class Meets:
    """Work whose tasks, files of one folder, end once there are two; or after ten seconds."""

    def __call__(self, task):
        task.touch()
        deadline = time.monotonic() + 10
        while len(list(task.parent.iterdir())) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)


class ByRoot(Goal):
    """A goal that wants every stack searched to the end."""

    has_enough = False

    def __init__(self):
        self.answers = {}

    def begin(self, piece, budget, promised):
        return piece, Task.of(piece.stacks)

    def accept(self, piece, found):
        return self._answer(piece, found.outcome.counts.tolist())

    def lose(self, piece, reason):
        return self._answer(piece, [reason] * len(piece))

    def _answer(self, piece, answers):
        for root, answer in zip(piece.stacks.roots.tolist(), answers, strict=True):
            assert root not in self.answers
            self.answers[root] = answer
        return []


def scheduled(pool, engine, begun=None):
    """Return the workers' answers to each root, once a scheduler has nothing left to hand out."""
    goal = ByRoot()
    scheduler = Scheduler(goal, pool.jobs)
    for piece in begun or pieces():
        scheduler.add_behind(piece)
    while not scheduler.is_empty:
        for _ in scheduler.run_round(pool.start(work(engine), scheduler)):
            pass
    return goal.answers
