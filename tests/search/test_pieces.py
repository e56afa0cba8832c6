import numpy as np
from hypothesis import given, strategies as st

from batchsolve.problems.stacks import Stacks
from batchsolve.search.scheduler import Changes, Piece

weights = st.lists(
    st.floats(0, 1) | st.sampled_from([0.0, 1e-300, 1e-30, 1.0]), min_size=0, max_size=40
)


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


def test_stacks_far_down_stay_together():
    frontier = outstanding(range(64), 2.0 ** -np.arange(64, 0, -1))
    assert [len(piece) for piece in frontier.cut(10, 99)] == [61, 1, 1, 1]
    equal = outstanding(range(64), np.full(64, 1 / 64))
    assert [len(piece) for piece in equal.cut(8, 99)] == [8] * 8
    too_far_to_tell = outstanding(range(64), np.zeros(64))
    assert [len(piece) for piece in too_far_to_tell.cut(8, 99)] == [8] * 8


def test_a_last_stack_that_weighs_nothing_is_no_piece_of_its_own():
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
