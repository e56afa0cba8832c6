from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

import batchsolve as bs
from batchsolve.engines import get_engine
from batchsolve.problems.families import family
from batchsolve.runs.count import count
from batchsolve.scaling.simulation import Costs, sample_shape, shape_of, simulate
from batchsolve.search.scheduler import LEAST_BUDGET, TASK_SECONDS, Sizing
from batchsolve.settings.arguments import UNLIMITED
from batchsolve.workers import result_seconds
from batchsolve.workers.base import RESULT_SECONDS

RATE = 1000.0


def even(children):
    """Return the shape of a tree whose nodes all have the same number of equal children."""
    return shape_of([(1.0, np.ones(children))])


def simulate_whole(tasks, workers, **costs):
    """Simulate tasks of these seconds, which no budget cuts."""
    sizes = RATE * np.array(tasks)
    how = {"split_depth": 1, "budget": UNLIMITED, "sizing": Sizing(1.0, 0.0, len(tasks))}
    shape = shape_of([(sizes.sum(), sizes)])
    return simulate(sizes.sum(), workers, Costs(RATE, **costs), shape, **how)


def makespan(tasks, workers):
    """Return the time of tasks by simple means: each, in order, goes to the first free worker."""
    free = [0.0] * workers
    for seconds in tasks:
        k = free.index(min(free))
        free[k] += seconds
    return max(free)


@given(tasks=st.lists(st.floats(0.1, 100), min_size=2, max_size=60), workers=st.integers(1, 12))
def test_tasks_that_cannot_be_cut_are_scheduled_in_order(tasks, workers):
    found = simulate_whole(tasks, workers)
    assert found.wall == pytest.approx(makespan(tasks, workers))
    assert (found.tasks, found.work) == (len(tasks), pytest.approx(sum(tasks)))


def test_overheads_are_added_to_every_task_and_the_master_takes_one_result_after_another():
    assert simulate_whole([1.0] * 12, 3, overhead=0.25).wall == pytest.approx(4 * 1.25)
    assert simulate_whole([1.0] * 100, 100, master=0.5).wall == pytest.approx(1 + 100 * 0.5)


@given(
    nodes=st.floats(100, 1e6),
    workers=st.integers(1, 300),
    depth=st.none() | st.integers(0, 5),
    budget=st.none() | st.integers(1_000, 10**6),
    children=st.integers(2, 9),
)
def test_no_work_is_lost_however_the_tree_is_cut(nodes, workers, depth, budget, children):
    rules = {"split_depth": depth, "budget": budget}
    shape = shape_of([(1.0, np.arange(1.0, children + 1)), (1e5, np.ones(children))])
    found = simulate(nodes, workers, Costs(rate=1e6), shape, **rules)
    assert (found.share, found.work) == pytest.approx((1, nodes / 1e6))
    assert found.work / workers <= found.wall * (1 + 1e-9)
    assert found.wall <= found.work * (1 + 1e-9)
    if budget is not None:
        assert 1 + found.tasks >= nodes / budget * (1 - 1e-9)  # the first task is not a worker's


def test_a_tree_that_can_be_cut_keeps_all_workers_busy():
    assert simulate(2e8, 64, Costs(rate=1e6, overhead=1e-4, master=1e-5), even(3)).efficiency > 0.95


def test_a_wide_node_is_left_as_ranges():
    """A search of two items with 1,000 options each leaves as few stacks."""
    forecast = simulate(1e6, 2, Costs(rate=1e7), even(1000), budget=50_000)
    assert 30 <= forecast.stacks < 200
    problem = bs.ExactCover.from_options([["a"]] * 1000 + [["b"]] * 1000)
    for jobs in (1, 2):
        forecast = simulate(1e6, jobs, Costs(rate=1e7), even(1000), budget=50_000)
        tasks = []
        count(problem, engine="dlx", jobs=jobs, budget=50_000, on_progress=tasks.append)
        assert 0.5 * len(tasks) < forecast.tasks < 2 * len(tasks)


def test_a_long_simulation_stops_and_goes_on_at_its_pace(monkeypatch):
    whole = simulate(1e8, 4, Costs(rate=1e6, overhead=1e-3), even(3))
    monkeypatch.setattr("batchsolve.scaling.simulation.MOST_TASKS", whole.tasks // 2)
    part = simulate(1e8, 4, Costs(rate=1e6, overhead=1e-3), even(3))
    assert 0.1 < part.share < 1
    assert part.wall == pytest.approx(whole.wall, rel=0.1)


def test_tasks_are_sized_so_that_the_master_keeps_up():
    slow = Costs(rate=1e6, master=2e-4)
    sized = simulate(3e8, 256, slow, even(3))
    alike = simulate(3e8, 256, slow, even(3), sizing=Sizing(0.2, 0.0, 15 * 256))
    assert alike.efficiency < 0.5 < 0.75 < sized.efficiency
    assert sized.tasks < alike.tasks


def test_tasks_of_a_slow_scheduler_are_longer():
    """Those of Dask take ten times as long as those of threads, before they keep it busy."""
    slow = Costs(rate=1e6, master=0.003)
    alike = simulate(1e9, 88, slow, even(3))
    sized = simulate(1e9, 88, replace(slow, assumed=result_seconds("dask")), even(3))
    assert alike.efficiency < 0.5 < 0.75 < sized.efficiency


@given(jobs=st.integers(1, 10**5), rate=st.floats(1, 1e9), waiting=st.integers(0, 10**7))
def test_tasks_are_worth_a_turn_of_results_and_grow_with_the_pile(jobs, rate, waiting):
    sizing = Sizing.of(jobs)
    budget = sizing.budget(rate, waiting)
    assert budget >= max(1, min(LEAST_BUDGET, int(rate * sizing.full_seconds)))
    assert budget >= int(rate * RESULT_SECONDS * jobs * 0.999)
    assert budget <= sizing.budget(rate, waiting + 1) <= sizing.budget(rate, sizing.pieces)
    assert sizing.budget(rate, sizing.pieces + 1) == sizing.budget(rate, sizing.pieces)


def test_few_workers_are_not_held_up():
    assert Sizing.of(2).full_seconds == TASK_SECONDS
    assert [Sizing.of(jobs).pieces for jobs in (16, 1024)] == [16 * 15, 1024 * 4]


def test_a_shape_uses_the_nearest_class_that_was_sampled():
    shape = shape_of([(4.0, np.array([1.0, 1.0])), (2.0**20, np.array([1.0, 3.0]))])
    few, many = [[0.5, 0.5]], [[0.25, 0.75]]
    assert [shape[c] for c in (0, 2, 5, 20, 63)] == [few] * 3 + [many] * 2
    with pytest.raises(bs.InputError):
        shape_of([])


def test_a_class_in_which_no_sample_branches_uses_another():
    chain, fork = np.array([1.0]), np.array([1.0, 1.0])
    shape = shape_of([(2.0**10, fork), (2.0**10, chain), (2.0**20, chain)])
    assert shape[10] == shape[20] == [[0.5, 0.5], [1.0]]
    assert simulate(2.0**20, 2, Costs(rate=1e6), shape).share == 1
    with pytest.raises(bs.InputError, match="hardly branches"):
        shape_of([(2.0**10, chain)])


def test_shares_of_a_sampled_tree_are_those_of_its_subtrees():
    problem = family("queens:8")
    nodes = count(problem).nodes
    shape = sample_shape(problem, [], get_engine("dlx"), nodes)
    assert {round(sum(shares), 9) for some in shape for shares in some} == {1.0}
    first = shape[int(np.log2(nodes))][0]
    sizes = [count(problem, stack).nodes for stack in bs.split(problem, depth=1).stacks]
    assert first == pytest.approx(np.array(sizes) / sum(sizes))


def test_a_simulated_search_makes_about_as_many_tasks_as_a_real_one():
    problem, engine = family("queens:10"), get_engine("dlx")
    nodes = count(problem).nodes
    tasks = []
    count(problem, jobs=1, split_depth=1, budget=500, on_progress=lambda s: tasks.append(1))
    shape = sample_shape(problem, [], engine, nodes)
    found = simulate(nodes, 1, Costs(rate=1e6), shape, split_depth=1, budget=500)
    assert 0.5 * len(tasks) < found.tasks < 2 * len(tasks)
