"""The scheduler with a goal that only counts: no stack is lost, and none comes twice; pieces."""

from collections import Counter
from itertools import chain, islice, pairwise

import numpy as np
from hypothesis import given, strategies as st

from batchsolve.problems.stacks import Stacks
from batchsolve.search.scheduler import FIRST_BUDGET, MOST_OUT, Changes, Piece, Scheduler, Sizing
from batchsolve.workers import Done, Lost


class Result:
    """The result of a worker for a piece: ten nodes, and the stacks that it did not reach."""

    def __init__(self, left):
        self.left, self.n_nodes, self.seconds = left, 10, 0.001


class Counting:
    """A goal that counts finished stacks, and rejects results on demand."""

    has_enough = False

    def __init__(self, n):
        self.waiting = Counter(range(n))
        self.done = Counter()
        self.lost = Counter()
        self.refuses = False

    def begin(self, piece, budget, promised):
        return piece, (piece, budget)

    def accept(self, piece, result):
        if self.refuses:
            return None
        self.done.update(piece.ids.tolist())
        self.done.subtract(result.left.ids.tolist())
        return [result.left]

    def lose(self, piece, reason):
        self.lost.update(piece.ids.tolist())
        return []


def numbered(n):
    return Piece.whole(Stacks.from_lists([[k] for k in range(n)]))


def waiting(n, *ends, jobs=2, **how):
    """Return a scheduler, its goal, and the pieces of n stacks that wait, cut at these ends."""
    goal, ends = Counting(n), [0, *(ends or range(1, n)), n]
    scheduler = Scheduler(goal, jobs, **how)
    pieces = [numbered(n).between(begin, end) for begin, end in pairwise(ends)]
    for piece in pieces:
        scheduler.add_behind(piece)
    return scheduler, goal, pieces


def done(number, piece, n_left):
    left = piece.between(len(piece) - n_left, len(piece))
    return Done(number, None, Result(left), 0.0, 0.0, "w")


WAYS = ["done", "some left", "refused", "raised", "killed", "taken back"]


@given(data=st.data(), n=st.integers(0, 60), jobs=st.integers(1, 3))
def test_every_stack_is_done_or_lost_once_in_whatever_order_results_come(data, n, jobs):
    goal = Counting(n)
    scheduler = Scheduler(goal, jobs)
    scheduler.add(numbered(n))
    out = []
    while not scheduler.is_empty:
        drawn = next(scheduler, None) if data.draw(st.booleans()) or not out else None
        if drawn is not None:
            out.append((drawn[0], drawn[1][0]))
            continue
        if not out:
            continue
        number, piece = out.pop(data.draw(st.integers(0, len(out) - 1)))
        what = data.draw(st.sampled_from(WAYS))
        if what == "taken back":
            scheduler.take_back()
            out.clear()
        elif what in ("raised", "killed"):
            scheduler.take(Lost(number, None, "why", died=what == "killed"))
        else:
            goal.refuses = what == "refused"
            left = data.draw(st.integers(0, len(piece) - 1)) if what == "some left" else 0
            assert scheduler.take(done(number, piece, left)) == (not goal.refuses)
            goal.refuses = False
        ids = np.concatenate([np.empty(0, int), *(piece.ids for piece in scheduler.left())])
        assert len(set(ids.tolist())) == len(ids)
        assert set(ids.tolist()) == set(range(n)) - set(+goal.done) - set(goal.lost)
    assert +goal.done + goal.lost == Counter(range(n))


def test_frontiers_go_on_top_and_fresh_pieces_behind():
    scheduler, _, _ = waiting(6, 3)
    scheduler.add(numbered(9).between(6, 9))
    order = [next(scheduler)[1][0].ids.tolist() for _ in range(5)]
    assert order == [[6], [7], [8], [0, 1, 2], [3, 4, 5]]


def test_what_died_is_searched_alone_and_then_stack_by_stack():
    scheduler, goal, (_, _, other) = waiting(6, 2, 4)
    numbers = [next(scheduler)[0] for _ in range(3)]
    for number in numbers[:2]:
        assert scheduler.take(Lost(number, None, "killed", died=True))
    assert next(scheduler, None) is None  # while another piece is out
    assert sorted(k for piece in scheduler.left() for k in piece.ids) == list(range(6))
    scheduler.take(done(numbers[2], other, 1))
    alone = []
    for drawn in scheduler:
        number, (piece, _) = drawn
        if piece.ids.tolist() != [5]:  # the rest of the other piece comes first
            alone.append(piece.ids.tolist())
            assert next(scheduler, None) is None
        lost = Lost(number, None, "killed", died=True)
        scheduler.take(lost if 0 in piece.ids else done(number, piece, 0))
    assert alone == [[0, 1], [2, 3], [0], [1]]
    assert scheduler.is_empty
    assert (+goal.done, goal.lost) == (Counter([1, 2, 3, 4, 5]), Counter([0]))


def test_nothing_is_handed_out_beside_what_is_searched_alone():
    scheduler = Scheduler(Counting(3), jobs=2)
    scheduler.add_behind(numbered(3).between(0, 1))
    scheduler.take(Lost(next(scheduler)[0], None, "killed", died=True))
    number, (alone, _) = next(scheduler)
    scheduler.add_behind(numbered(3).between(1, 3))
    assert next(scheduler, None) is None
    scheduler.take(done(number, alone, 0))
    assert next(scheduler)[1][0].ids.tolist() == [1, 2]


def test_no_more_is_handed_out_than_workers_may_be_ahead_and_nothing_while_it_is_held():
    scheduler, _, _ = waiting(100)
    assert len(list(scheduler)) == 2 * MOST_OUT
    assert list(scheduler) == []
    scheduler.take_back()
    scheduler.is_held = True
    assert list(scheduler) == []
    scheduler.is_held = False
    assert len(list(islice(scheduler, 3))) == 3


def test_budgets_follow_what_was_learned_and_how_much_waits():
    scheduler, _, pieces = waiting(8, jobs=1)
    scheduler.set_rate(10**9)
    scheduler.set_rate()  # forgets it
    assert next(scheduler)[1][1] == FIRST_BUDGET
    scheduler.set_rate(10**9)
    budgets = [next(scheduler)[1][1] for _ in range(7)]
    assert budgets == sorted(budgets, reverse=True)
    assert budgets[-1] == Sizing.of(1).budget(1e9, 1)
    fixed = Scheduler(Counting(1), jobs=1, budget=7)
    fixed.add(pieces[0])
    assert next(fixed)[1][1] == 7
    assert next(scheduler, None) is None


def test_stacks_of_one_row_stay_together_if_they_must():
    stacks = Stacks.from_lists([[k] for k in range(6)], [0, 0, 0, 1, 2, 2])
    ids = np.zeros(6, np.int64)
    whole = Piece(stacks, np.array([9.0, 9, 9, 1, 1, 1]), ids, keeps_roots=True)
    for n in range(1, 8):
        for most in (1, 2, 9):
            cut = [piece.stacks.roots.tolist() for piece in whole.cut(n, most)]
            assert list(chain.from_iterable(cut)) == [0, 0, 0, 1, 2, 2]
            assert len(set(chain.from_iterable(cut))) == sum(len(set(piece)) for piece in cut)
    even = Piece(stacks, np.ones(6), ids, keeps_roots=True)
    assert [len(piece) for piece in even.cut(9, 99)] == [3, 1, 2]


def test_the_first_task_of_each_worker_says_nothing_of_its_speed():
    scheduler, _, _ = waiting(9)
    drawn = [(number, piece) for number, (piece, _) in islice(scheduler, 3)]
    for number, piece in drawn[:2]:
        scheduler.take(done(number, piece, 0))
    assert next(scheduler)[1][1] == FIRST_BUDGET
    scheduler.take(done(*drawn[2], 0))
    assert next(scheduler)[1][1] != FIRST_BUDGET


def test_a_task_has_no_more_stacks_than_it_may_visit_nodes():
    scheduler = Scheduler(Counting(9), jobs=1, first_budget=4)
    scheduler.add_behind(numbered(9))
    sizes = []
    for drawn in scheduler:
        number, (piece, budget) = drawn
        assert budget == 4
        sizes.append(len(piece))
        assert scheduler.take(Done(number, None, Result(Piece.join([])), 0.0, 0.0, ""))
        scheduler.set_rate()
    assert sizes == [4, 4, 1]
    assert scheduler.is_empty


# ---- pieces and changes ----------------------------------------------------------------------


weights = st.lists(st.floats(0, 1) | st.sampled_from([0.0, 1e-300, 1e-30, 1.0]), max_size=40)


def outstanding(numbers, weights):
    stacks = Stacks.from_lists([[k, k + 1] for k in numbers])
    return Piece(stacks, np.array(weights, np.float64), np.array(numbers, np.int64))


@given(weights=weights, n=st.integers(-3, 50), most_stacks=st.integers(1, 50))
def test_pieces_make_up_the_whole_and_are_neither_many_nor_long(weights, n, most_stacks):
    whole = outstanding(range(len(weights)), weights)
    pieces = whole.cut(n, most_stacks)
    assert [k for piece in pieces for k in piece.ids.tolist()] == list(range(len(whole)))
    assert [w for piece in pieces for w in piece.weights.tolist()] == weights
    assert all(1 <= len(piece) <= most_stacks for piece in pieces)
    assert len(pieces) <= max(1, n) + len(whole) // most_stacks


def test_stacks_far_down_stay_together_and_so_does_one_that_weighs_nothing():
    frontier = outstanding(range(64), 2.0 ** -np.arange(64, 0, -1))
    assert [len(piece) for piece in frontier.cut(10, 99)] == [61, 1, 1, 1]
    equal = outstanding(range(64), np.full(64, 1 / 64))
    assert [len(piece) for piece in equal.cut(8, 99)] == [8] * 8
    too_far_to_tell = outstanding(range(64), np.zeros(64))
    assert [len(piece) for piece in too_far_to_tell.cut(8, 99)] == [8] * 8
    assert [len(piece) for piece in outstanding(range(2), [1.0, 0.0]).cut(1, 99)] == [2]


@given(st.data())
def test_changes_hold_what_is_left_of_them(data):
    """The oracle is a dict of new stacks and a set of finished ones."""
    outside, done, new = set(range(10)), set(), {}
    changes, n_next = Changes(), 10
    for _ in range(data.draw(st.integers(0, 6))):
        searched = data.draw(st.lists(st.sampled_from(sorted(outside | new.keys())), unique=True))
        fresh = list(range(n_next, n_next + data.draw(st.integers(0, 4))))
        n_next += len(fresh)
        changes.add(np.array(searched, np.int64), outstanding(fresh, fresh))
        for number in searched:
            if new.pop(number, None) is None:
                done.add(number)
        outside -= set(searched)
        new.update((k, float(k)) for k in fresh)
        if not outside | new.keys():
            break
    gone, left = changes.balance()
    assert sorted(gone) == sorted(done)
    assert dict(zip(left.ids.tolist(), left.weights.tolist(), strict=True)) == new
    assert [stack.tolist() for stack in left.stacks] == [[k, k + 1] for k in left.ids]
