"""Many problems, and `auto`, which goes over to the engine that counts equal subtrees once."""

from functools import partial
from itertools import islice
from random import Random
from unittest.mock import Mock

import numpy as np
import pytest
from conftest import WHOLE, bounded_problems, coloured_problems, problems, wide
from hypothesis import given, strategies as st
from oracles import bounded_covers, covers

import batchsolve as bs
from batchsolve.engines import Choice, Engine, Task, get_engine, memo
from batchsolve.problems.families import family
from batchsolve.runs import run as runs
from batchsolve.runs.count import count
from batchsolve.runs.instances import Instances
from batchsolve.runs.reading import reading_of
from batchsolve.search import rows as row_search, tree
from batchsolve.search.rows import OpenRows
from batchsolve.search.scheduler import Piece, Result, Scheduler
from batchsolve.settings import SearchSettings
from batchsolve.workers import Done

FAMILIES = ["queens:12", "langford:11", "dominoes:12x12", "latin:10", "matchings:12", "steiner:13"]


@pytest.fixture(autouse=True)
def _small_tables(request, monkeypatch):
    """Take 16 MB for each table instead of 256; worker processes would not know of it."""
    if "loky" not in request.node.name:
        monkeypatch.setattr(memo, "MEGABYTE", 2**16)


@pytest.fixture
def soon(monkeypatch):
    """Weigh the engines after a few nodes."""
    monkeypatch.setattr(tree, "WEIGH_AFTER", 200)
    monkeypatch.setattr(tree, "WEIGHED_NODES", 200)


@pytest.fixture
def always(monkeypatch):
    """Go over after a few nodes, whether subtrees repeat or not."""
    monkeypatch.setattr(tree, "WEIGH_AFTER", 5)
    monkeypatch.setattr(tree, "WEIGHED_NODES", 2)
    monkeypatch.setattr(tree, "LEAST_GAIN", 0)


@pytest.mark.parametrize(("jobs", "backend"), [(1, "threading"), (2, "threading"), (2, "loky")])
def test_tilings_are_counted_by_subtrees(jobs, backend):
    result = count("dominoes:10x10", jobs=jobs, backend=backend)
    assert (result.count, result.complete, result.engine) == (258_584_046_368, True, "memo:256")
    assert result.nodes < tree.WEIGH_AFTER  # only those of the engine that counted
    assert str(result).endswith(" s by memo:256")


def test_a_grid_with_many_equal_subtrees_is_counted_by_them():
    places = [(r, c) for r in range(4, 16) for c in range(16)]
    rows = "".join("123456789ABCDEFG"[(4 * r + r // 4 + c) % 16] for r, c in places)
    found = count("." * 64 + rows)
    assert (found.count, found.engine) == (576**4, "memo:256")


def test_wide_nodes_are_weighed_sooner():
    """Usual problems are weighed after as many nodes as ever."""
    after = {name: tree.weighing(family(name), 0)[0] for name in FAMILIES}
    assert after == dict.fromkeys(FAMILIES, 300_000)
    assert tree.weighing(wide(20_000, 20_000), 0)[0] == 60_000
    triples = bs.ExactCover.from_options([[f"{c}{k % 8}" for c in "abc"] for k in range(8_600)])
    assert tree.weighing(triples, 0)[0] == 124_031
    assert tree.weighing(wide(150_000, 150_000), 0)[0] == 10_000


def keyed(n, keys):
    """Two items of n options with one of some keys, which both have in common."""
    colors = [{"key": f"k{o % keys}"} for o in range(n)]
    options = [[item, "key"] for item in "ab" for _ in range(n)]
    return bs.ExactCover.from_options(options, secondary=["key"], colors=colors * 2)


def test_a_weighed_counter_stops_after_as_many_entries_as_wide_nodes_have():
    """An option takes 1,000 out of the list of the key, with two entries each."""
    problem, empty = keyed(1_000, 10), get_engine("memo:1").for_run
    outcome = empty(entries=40_000).search(problem, Task.of(WHOLE))
    assert outcome.nodes.tolist() == [1 + 10 * 101 + 10]  # root, ten keys with leaves, ten again
    rest = empty().search(problem, Task.of(outcome.frontier))
    assert outcome.counts.sum() + rest.counts.sum() == 1_000 * 100
    small = tree.small_counter("memo", 5).search(problem, Task.of(WHOLE, budget=10_000))
    assert small.nodes.sum() == 912  # the tenth try is one too many, and ends after its first leaf


def test_equal_calls_go_over_at_equal_nodes(monkeypatch):
    weighed = []

    def spy(search, counter, n_nodes):
        gain = take(search, counter, n_nodes)
        weighed.append((n_nodes, gain))
        return gain

    take = tree.TreeSearch._gain
    monkeypatch.setattr(tree.TreeSearch, "_gain", spy)
    found = [count(wide(20_000, 20_000), jobs=1, budget=2_000_000) for _ in range(2)]
    facts = [(each.count, each.nodes, each.engine) for each in found]
    assert facts == [(400_000_000, 60_001, "memo:256")] * 2
    assert weighed[:3] == weighed[3:]
    assert [n for n, _ in weighed[:3]] == [2_000, 20_000, 200_000]
    assert weighed[2][1] > 1_000


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("name", ["queens:8", "langford:8", "pentominoes:3x20"])
def test_where_subtrees_are_different_nothing_changes(name):
    by_dlx = count(name, engine="dlx", jobs=1)
    for jobs in (1, 2):
        result = count(name, jobs=jobs)
        assert (result.count, result.nodes) == (by_dlx.count, by_dlx.nodes)
        assert result.engine != "memo:256"
        assert not result.hint


def test_small_problems_are_not_weighed(monkeypatch):
    monkeypatch.setattr(tree, "get_engine", None)
    assert count("dominoes:6x6").count == 6728


@pytest.mark.usefixtures("always")
@given(
    each=st.lists(problems() | coloured_problems() | bounded_problems(), min_size=1, max_size=4),
    budget=st.none() | st.integers(1, 9),
)
def test_counts_that_begin_again_are_exact_in_a_list_and_alone(each, budget):
    sizes = [len(covers(p) if p.bounds is None else bounded_covers(p)) for p in each]
    for jobs in (1, 2):
        how = {"jobs": jobs, "budget": budget}
        found = [*count([*each, each[0]], **how), *(count(problem, **how) for problem in each)]
        assert [one.count for one in found] == [*sizes, sizes[0], *sizes]
        assert all(one.complete for one in found)


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize(
    ("backend", "budgets"), [("threading", [200, 10_000, None]), ("loky", [200])]
)
def test_the_engine_of_a_row_does_not_depend_on_how_it_is_cut(tmp_path, backend, budgets):
    problems = ["queens:8", "dominoes:6x6", "dominoes:8x8", "edgecovers:6", "queens:4"]
    texts = []
    for budget in budgets:  # None lets rows end in their first task
        out = tmp_path / f"{budget}.csv"
        summary = bs.count_file(problems, out, jobs=2, budget=budget, backend=backend)
        assert (summary.complete, summary.multiple) == (True, 5)
        texts.append(out.read_text())
    assert len(set(texts)) == 1
    rows = [line.split(",") for line in texts[0].splitlines()[1:]]
    counts = ["92", "6728", "12988816", "27449", "2"]
    assert [row[3:5] for row in rows] == [[count, "true"] for count in counts]
    assert [row[5] for row in rows] == ["cells", "memo:256", "memo:256", "memo:256", "cells"]


@pytest.mark.usefixtures("soon")
def test_a_search_that_cannot_go_over_gives_a_hint(tmp_path):
    for limits in ({"limit": 5000}, {"node_limit": 3000}):
        found = count("dominoes:6x6", **limits)
        assert "--engine memo" in found.hint
        assert found.hint in str(found)
        assert found.engine != "memo:256"
    with runs.Run(tmp_path / "run", "dominoes:6x6", collect=True) as run:
        found = run.search()
    assert (found.count, found.engine in ("dlx", "bits", "cells")) == (6728, True)
    assert "--engine memo" in found.hint
    assert not count("dominoes:6x6", engine="dlx", limit=5000).hint


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("stop", [1, 2, 3, 4, 5])
def test_a_run_interrupted_at_any_step_ends_with_the_same_count(stop, tmp_path, monkeypatch):
    """Every result is kept; the search ends after some of them, before and after it began again."""
    monkeypatch.setattr("batchsolve.search.tree.STEP_SECONDS", -1)
    kept = {"directory": tmp_path / "run", "problem": "dominoes:8x8", "resume": True}
    how = {"jobs": 1, "budget": 300}
    for _ in range(4):
        interrupt = Mock(side_effect=[*[None] * stop, KeyboardInterrupt])
        with runs.Run(**kept) as run, pytest.raises(KeyboardInterrupt):
            run.search(on_progress=interrupt, **how)
    with runs.Run(**kept) as run:
        found = run.search(**how)
    assert (found.count, found.complete, found.engine) == (12_988_816, True, "memo:256")


def test_nodes_do_not_depend_on_earlier_calls():
    chosen = {"engine": "memo", "jobs": 1, "budget": 500}
    assert len({count("dominoes:8x8", **chosen).nodes for _ in range(3)}) == 1
    assert len({count(["dominoes:8x8"], **chosen)[0].nodes for _ in range(3)}) == 1


@given(problem=problems() | coloured_problems() | bounded_problems(), budget=st.integers(1, 9))
def test_sizes_of_subtrees_add_up_to_the_tree(problem, budget):
    """Nodes that are visited one at a time, each with an empty table, are never looked up."""
    engine = get_engine("memo:1")

    def searched(stack, **how):
        return engine.for_run().search(problem, Task.of(bs.Stacks.from_lists([stack]), **how))

    size, stacks = 0, [[]]
    while stacks:
        each = searched(stacks.pop(), depth=1)
        assert each.tree_nodes.sum() == each.nodes.sum()
        size += each.nodes.sum()
        stacks += [stack.tolist() for stack in each.frontier]
    assert searched([]).tree_nodes.sum() == size
    parts, stacks, run = 0, WHOLE, engine.for_run()
    while len(stacks):
        part = run.search(problem, Task.of(stacks, budget=budget))
        parts, stacks = parts + part.tree_nodes.sum(), part.frontier
    assert parts == size


@pytest.mark.parametrize("at_once", [False, True])
def test_a_process_counts_a_row_to_its_end_with_one_table(at_once):
    problem = family("dominoes:6x6")
    rows = OpenRows(1, SearchSettings(), keep=0)
    rows.open(WHOLE)
    goal = row_search.RowGoal(Choice("memo"), 1, at_once)
    left = Piece(WHOLE, np.ones(1), np.zeros(1, np.int64), problem=problem)
    goal.accept(goal.open(None), Result(rows=rows, left=[left]))
    _, (_, task, _) = goal.begin(left, 30, 0)
    outcome = get_engine("memo").search(problem, task)
    assert (len(outcome.frontier) == 0) == at_once
    assert at_once == (outcome.counts.sum() == 6_728)


@pytest.mark.usefixtures("soon")
def test_faults_keep_their_messages_beside_rows_that_go_over(tmp_path):
    for jobs, budget in ((1, None), (2, 500)):
        bs.count_file(["queens:x", "dominoes:8x8"], tmp_path / "out.csv", jobs=jobs, budget=budget)
        first, second = (tmp_path / "out.csv").read_text().splitlines()[1:]
        assert first.startswith('queens:x,,,,,,"queens:x: ')
        assert second == "dominoes:8x8,64,112,12988816,true,memo:256,"


def test_a_row_that_has_had_its_time_keeps_its_count(monkeypatch):
    monkeypatch.setattr(tree, "WEIGH_AFTER", 1)
    monkeypatch.setattr(tree, "LEAST_GAIN", 0)
    problem, engine = bs.family("queens:8"), get_engine("dlx")
    rows = OpenRows(1, SearchSettings(time_limit=1), keep=0, engine="auto")
    rows.open(WHOLE)
    piece = Piece(WHOLE, np.ones(1), np.zeros(1, np.int64), problem=problem)
    [weighed, left] = rows.add(piece, engine.search(problem, Task.of(WHOLE, budget=500)), 0.0)
    first = left.between(0, 1)
    assert not rows.add(first, engine.search(problem, Task.of(first.stacks)), 9.0)
    task = Task.of(WHOLE, budget=weighed.weighs)
    assert not rows.add(weighed, weighed.engine.search(problem, task), 1.0)
    assert not len(rows.drop_unwanted(left.between(1, len(left))))
    assert rows.is_settled
    answers = rows.answers()
    assert answers.counts[0] > 0
    assert 0 in answers.unfinished


# ---- many problems --------------------------------------------------------------------------


@given(
    given_problems=st.lists(problems() | coloured_problems(), max_size=8),
    budget=st.sampled_from([None, 1, 30]),
    limit=st.sampled_from([None, 2]),
    few=st.sampled_from([1, 3, row_search.BESIDE_NODES]),
)
def test_lists_are_counted_as_their_problems_are(given_problems, budget, limit, few):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_search, "BESIDE_NODES", few)
        found = bs.count(given_problems, jobs=1, engine="dlx", budget=budget, limit=limit)
    alone = [bs.count(p, jobs=1, engine="dlx", limit=limit) for p in given_problems]
    counts = [len(covers(p)) for p in given_problems]
    assert [each.count for each in found] == [min(n, limit or n) for n in counts]
    if limit is None:
        assert [each.nodes for each in found] == [each.nodes for each in alone]


def test_a_hard_problem_does_not_keep_those_behind_it_from_beginning(monkeypatch):
    taken = []

    def search(engine, problem, task):
        outcome = real(engine, problem, task)
        taken.append((task.stacks.roots.tolist(), int(outcome.nodes.sum())))
        return outcome

    real = Engine.search
    monkeypatch.setattr(Engine, "search", search)
    monkeypatch.setattr(row_search, "BESIDE_NODES", 50)
    monkeypatch.setattr("batchsolve.runs.count.LEAST_BLOCKS", 1)
    found = bs.count(["queens:8"] + [f"queens:{4 + k % 2}" for k in range(9)], jobs=1, budget=100)
    assert [each.count for each in found] == [92] + [2, 10] * 4 + [2]
    assert [roots for roots, _ in taken[:10]] == [[row] for row in range(10)]
    assert taken[0][1] == 50
    assert {row for roots, _ in taken[10:] for row in roots} == {0}


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("seed", range(5))
def test_rows_go_over_soon_in_whichever_order_results_come(seed):
    """A weighing that waited behind the rest of its row would come when nothing is left."""
    random, choice = Random(seed), Choice("auto")
    read = partial(Instances, read=reading_of, choice=choice)
    settings = SearchSettings(budget=200)
    work = row_search.RowWork(choice, settings, read, lambda _, answers: answers, keep=0)
    goal = row_search.RowGoal(choice, 1)
    tasks = Scheduler(goal, 2, settings.budget)
    for block in (["queens:8", "dominoes:6x6", "dominoes:8x8"], ["edgecovers:6"]):
        tasks.add_behind(goal.open(block))
    out, n_tasks = [], 0
    while goal.n_open and n_tasks < 500:
        out += islice(tasks, random.randint(1, 6))
        number, task = out.pop(random.randrange(len(out)))
        tasks.take(Done(number, task, work(task), 0, 0, ""))
        n_tasks += 1
        if not out and tasks.is_empty:
            break
    answers = [found for _, found in goal.settled()]
    counts = [count for found in answers for count in found.counts.tolist()]
    assert counts == [92, 6_728, 12_988_816, 27_449]  # as above
    assert {row for found in answers for row in found.counters} == {0, 1, 2}
