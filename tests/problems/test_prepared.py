"""Data that are prepared once for each problem."""

import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from batchsolve.problems.exact_cover import MOST_PREPARED, prepared
from batchsolve.problems.families import family


def problem(k):
    return family(f"queens:{k + 4}")


def test_a_problem_is_prepared_while_another_is():
    begun, may_end = threading.Event(), threading.Event()

    def make(problem):
        if problem.n_options == 16:
            begun.set()
            assert may_end.wait(60)
        return problem.n_options

    of = prepared(make)
    with ThreadPoolExecutor(2) as threads:
        long = threads.submit(of, problem(0))
        try:
            assert begun.wait(60)
            assert threads.submit(of, problem(1)).result(30) == 25
            assert not long.done()
        finally:
            may_end.set()
        assert long.result(60) == 16


def test_a_problem_is_prepared_once_for_all_threads():
    calls, all_ask = [], threading.Barrier(4)

    def make(problem):
        calls.append(problem.n_options)
        return [problem.n_options]

    of, one = prepared(make), problem(0)

    def ask(_):
        all_ask.wait(60)
        return of(one)

    with ThreadPoolExecutor(4) as threads:
        first, *others = threads.map(ask, range(4))
    assert calls == [16]
    assert all(other is first for other in others)


def test_the_last_problems_are_kept_and_one_that_failed_is_tried_again():
    calls = []

    def make(problem):
        calls.append(problem.n_options)
        if calls == [16]:
            raise MemoryError
        return problem.n_options

    of = prepared(make)
    with pytest.raises(MemoryError):
        of(problem(0))
    many = [problem(k) for k in range(MOST_PREPARED + 1)]
    sizes = [(k + 4) ** 2 for k in range(MOST_PREPARED + 1)]
    assert list(map(of, many)) == sizes
    assert of(many[-1]) == sizes[-1]
    assert calls == [16, *sizes]
    assert of(many[0]) == 16  # no longer kept
    assert calls == [16, *sizes, 16]


def test_copies_of_a_problem_in_other_processes_are_the_same():
    mine = problem(0)
    assert pickle.loads(pickle.dumps(mine)).token == mine.token != problem(0).token
    of = prepared(lambda problem: [problem.n_options])
    assert of(pickle.loads(pickle.dumps(mine))) is of(mine)
