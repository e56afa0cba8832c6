"""Rounds of calls, which these tests answer in place of workers."""

import time
from concurrent.futures import Future

import pytest

import batchsolve as bs
from batchsolve.workers.rounds import Round


class Calls:
    """The calls of a round, each with its number, until they are answered or cancelled."""

    def __init__(self, arguments, most_out=2):
        self.out, self.cancelled = {}, []
        self.round = Round(self.submit, self.cancelled.extend, most_out, abs, iter(arguments))
        self.results = self.round.results()

    def submit(self, function, number):
        assert function is abs
        self.out[number] = future = Future()
        return future

    def answer(self, number):
        self.out.pop(number).set_result(number)

    def wait_for(self, numbers):
        """Wait until these calls are out; the thread of the round hands them out."""
        deadline = time.monotonic() + 30
        while sorted(self.out) != numbers:
            assert time.monotonic() < deadline, self.out
            time.sleep(0.001)


def numbered(*numbers):
    return [(number,) for number in numbers]


def test_a_call_is_handed_out_when_another_has_ended():
    calls = Calls(numbered(1, 2, 3, 4))
    calls.wait_for([1, 2])
    calls.answer(2)
    calls.wait_for([1, 3])  # though no result was asked for
    calls.answer(3)
    calls.wait_for([1, 4])
    calls.answer(4)
    calls.answer(1)
    assert list(calls.results) == [2, 3, 4, 1]
    assert calls.cancelled == []


def test_arguments_are_asked_until_a_draw_finds_none():
    """As those of a scheduler, which has more once it has got results."""
    waiting = numbered(1, 2)
    arguments = iter(lambda: waiting.pop(0) if waiting else None, None)
    calls = Calls(arguments, most_out=4)
    calls.wait_for([1, 2])
    for number in (1, 2):
        calls.answer(number)
    assert list(calls.results) == [1, 2]


def test_the_first_error_is_raised_and_the_rest_is_cancelled():
    calls = Calls(numbered(1, 2, 3))
    calls.wait_for([1, 2])
    calls.answer(1)
    calls.wait_for([2, 3])
    calls.out[2].set_exception(bs.WorkersError("dead"))
    assert next(calls.results) == 1
    with pytest.raises(bs.WorkersError, match="dead"):
        next(calls.results)
    assert calls.cancelled == [calls.out[3]]


def test_an_error_of_a_draw_is_raised_after_the_results():
    def arguments():
        yield from numbered(1, 2)
        raise bs.InputError("the file ends in the middle")

    calls = Calls(arguments())
    calls.wait_for([1, 2])
    calls.answer(1)
    assert next(calls.results) == 1
    with pytest.raises(bs.InputError, match="ends in the middle"):
        next(calls.results)
    assert calls.cancelled == [calls.out[2]]


def test_a_round_that_was_given_up_takes_no_more():
    """Also if its results were never asked for."""
    calls = Calls(numbered(1, 2, 3))
    calls.wait_for([1, 2])
    calls.round.close()
    assert set(calls.cancelled) == set(calls.out.values())
    calls.answer(1)
    calls.answer(2)
    calls.round.close()
    assert (calls.out, list(calls.results)) == ({}, [])
    assert len(calls.cancelled) == 2


def test_results_that_have_arrived_precede_a_failure_of_all():
    calls = Calls(numbered(1, 2, 3))
    calls.wait_for([1, 2])
    calls.answer(1)
    calls.wait_for([2, 3])
    calls.round.fail(bs.WorkersError("no worker is left"))
    assert next(calls.results) == 1
    with pytest.raises(bs.WorkersError, match="no worker is left"):
        next(calls.results)
    assert set(calls.cancelled) == set(calls.out.values())
