import pytest
from conftest import WHOLE, coloured_problems, problems, small_grids
from hypothesis import given, strategies as st
from oracles import covers

from batchsolve import ExactCover, Stacks, Sudoku
from batchsolve.engines import UNLIMITED, Task, get_engine

SMALL = Sudoku(2, 2)
# The encoding in clauses differs between items of many options and items of a few.
WIDE = problems(most_items=4, most_options=40) | problems(2, 60)
WIDE_COLOURED = problems(4, 40, most_colors=3).filter(lambda problem: problem.colors is not None)
PROBLEMS = problems() | coloured_problems() | WIDE | WIDE_COLOURED


def search(problem, stacks, **settings):
    return get_engine("sat").search(problem, Task.of(stacks, **settings))


def facts(outcome, k):
    """Return the results below the stack k of a task, whose roots are the indices of stacks."""
    found = outcome.solutions.take(outcome.solutions.roots == k)
    left = [stack.tolist() for stack in outcome.frontier.take(outcome.parents == k)]
    return outcome.counts[k], outcome.nodes[k], [cover.tolist() for cover in found], left


some = st.integers(1, 5) | st.just(UNLIMITED)


@given(problem=PROBLEMS, limit=some, keep=some | st.just(0))
def test_a_stack_searched_whole_has_as_many_covers_as_wanted(problem, limit, keep):
    expected = covers(problem)
    outcome = search(problem, WHOLE, limit=limit, keep=keep, whole=True)
    found = [frozenset(cover.tolist()) for cover in outcome.solutions]
    assert outcome.counts[0] == min(limit, len(expected))
    assert len(found) == len(set(found)) == min(keep, outcome.counts[0])
    assert set(found) <= expected
    assert outcome.nodes[0] >= max(1, outcome.counts[0])
    assert len(outcome.frontier) == 0


@given(
    grids=small_grids(5, 1, 5),
    limit=st.integers(1, 4),
    allowance=st.integers(1, 30),
    budget=st.integers(1, 60) | st.just(UNLIMITED),
)
def test_a_stack_searched_whole_does_not_depend_on_others(grids, limit, allowance, budget):
    stacks = SMALL.stacks(grids)
    task = {"limit": limit, "allowance": allowance, "keep": 2, "whole": True}
    together = search(SMALL, stacks, budget=budget, **task)
    spent = 0
    for k, stack in enumerate(stacks):
        alone = search(SMALL, Stacks.from_lists([stack.tolist()], [k]), **task)
        if spent < budget:
            expected = facts(search(SMALL, stacks.take([k]).with_roots([0]), **task), 0)
            assert facts(together, k) == expected
            assert alone.clash[0] == together.clash[k]
            free = search(SMALL, stacks.take([k]).with_roots([0]), limit=limit, keep=2, whole=True)
            assert expected[1] == allowance if expected[3] else expected == facts(free, 0)
        else:
            assert facts(together, k) == (0, 0, [], [stack.tolist()])
        spent += together.nodes[k]


@pytest.mark.parametrize(("limit", "found"), [(150, 150), (200, 200), (288, 288), (UNLIMITED, 288)])
def test_a_stack_searched_whole_may_have_many_covers(limit, found):
    outcome = search(SMALL, WHOLE, limit=limit, keep=UNLIMITED, whole=True)
    assert outcome.counts.tolist() == [found]
    assert len({tuple(cover.tolist()) for cover in outcome.solutions}) == found
    for cover in outcome.solutions:
        SMALL.verify(cover)


def test_conflicts_count_where_a_stack_is_searched_whole():
    # Ten pigeons in nine holes: no cover, and no short proof that there is none.
    options = [[f"pigeon {p}", f"hole {h}"] for p in range(10) for h in range(9)]
    pigeons = ExactCover.from_options(options, secondary=[f"hole {h}" for h in range(9)])
    outcome = search(pigeons, WHOLE, allowance=2_500, whole=True)
    assert (outcome.counts.tolist(), outcome.nodes.tolist()) == ([0], [2_500])
    assert [stack.tolist() for stack in outcome.frontier] == [[]]
