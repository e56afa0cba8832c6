import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import DEFAULT, Mock

import numpy as np
import pytest
from conftest import WHOLE, changed, coloured_problems, problems, wide
from hypothesis import given, strategies as st
from invoking import refused
from kinds import shuffled
from oracles import covers

import batchsolve as bs
from batchsolve.core import native
from batchsolve.engines import Task, get_engine, memo
from batchsolve.engines.memo import narrow_order
from batchsolve.engines.native import core_problem
from batchsolve.problems.families import family
from batchsolve.runs import run as runs
from batchsolve.runs.count import count


@pytest.fixture
def few_rows(monkeypatch):
    """Use tables of 1 to 4 rows, for problems of up to 63 items."""
    monkeypatch.setattr(memo, "MEGABYTE", 8 * 4)


@pytest.fixture(autouse=True)
def fresh_tables():
    """Free the tables of other tests, and after the last test all tables."""
    memo._TABLES.clear()
    yield
    memo._TABLES.clear()


BOARDS = [
    (["." * 12] * 12, 53_060_477_521_960_000),  # counters that trust a hash get this wrong
    (["." * 12 + "#" + "." * 12] * 12, 53_060_477_521_960_000**2),
    (["#".join(["." * 8] * 3)] * 8, 12_988_816**3),
]


@pytest.mark.parametrize(("board", "expected"), BOARDS, ids=["1 room", "2 rooms", "3 rooms"])
def test_the_numbers_of_items_do_not_matter(board, expected):
    """In another order, the search went to and fro between rooms and never ended."""
    board = bs.tiling("\n".join(board), "I2", use="any number")
    nodes = []
    for problem in (board, shuffled(board), shuffled(shuffled(board))):
        memo._TABLES.clear()
        found = count(problem, engine="memo:64", jobs=1, node_limit=500_000)
        assert (found.count, found.complete) == (expected, True)
        nodes.append(found.nodes)
    assert max(nodes) <= 2 * min(nodes)


@given(problems())
def test_the_order_of_items_has_every_primary_item_once(problem):
    order = narrow_order(problem).astype(np.uint32)
    assert sorted(order.tolist()) == list(range(problem.n_primary))
    with pytest.raises(ValueError, match="each primary item once"):
        native.memo(core_problem(problem), np.append(order, np.uint32(problem.n_primary)), 1)


@pytest.mark.usefixtures("few_rows")
@pytest.mark.parametrize("megabytes", [1, 4, 60])
def test_threads_that_share_a_tiny_table_count_right(megabytes):
    engine, problem = get_engine(f"memo:{megabytes}"), family("dominoes:6x6")
    parts = bs.split(problem, depth=3)
    with ThreadPoolExecutor(4) as pool:
        search = [pool.submit(engine.search, problem, Task.of(parts.stacks)) for _ in range(8)]
        counts = [done.result().counts.sum() + parts.count for done in search]
    assert counts == [6728] * 8


def test_threads_share_what_they_have_counted():
    problem, engine = family("dominoes:10x10"), get_engine("memo:8")
    stacks = bs.split(problem, depth=3).stacks
    alone = engine.search(problem, Task.of(stacks))
    memo._TABLES.clear()
    middle = len(stacks) // 2
    halves = []
    for half in (stacks.between(0, middle), stacks.between(middle, len(stacks))):
        with ThreadPoolExecutor(1) as pool:  # one after the other, for a fixed result
            halves.append(pool.submit(engine.search, problem, Task.of(half)).result())
    assert sum(half.counts.sum() for half in halves) == alone.counts.sum()
    nodes = [int(half.nodes.sum()) for half in halves]
    assert sum(nodes) == alone.nodes.sum()
    memo._TABLES.clear()
    second = engine.search(problem, Task.of(stacks.between(middle, len(stacks))))
    assert 2 * nodes[1] < second.nodes.sum()  # because it finds nothing counted before


def test_a_table_in_use_outlives_a_search_of_another_problem():
    one, other = family("dominoes:4x4"), family("dominoes:4x6")
    with memo._shared_table(one, get_engine("memo:1")) as rows:
        get_engine("memo:1").search(other, Task.of(WHOLE))
        with memo._shared_table(one, get_engine("memo:1")) as again:
            assert again is rows
    get_engine("memo:1").search(other, Task.of(WHOLE))
    assert [kind[0] for kind in memo._TABLES] == [other.fingerprint]


@pytest.mark.large
def test_worker_processes_share_a_table():
    problem = family("dominoes:16x18")  # one process searches smaller ones alone
    alone = count(problem, engine="memo:64", jobs=1)
    memo._TABLES.clear()
    result = count(problem, engine="memo:64", jobs=2, backend="loky")
    assert (result.count, result.complete) == (alone.count, True)
    assert result.nodes < 1.5 * alone.nodes


def test_a_shared_table_lasts_as_long_as_its_engine(monkeypatch, tmp_path):
    engine, problem = get_engine("memo:1"), wide(*[2] * 150)  # with rows of several words
    shared = engine.for_run(shared=True)
    again = pickle.loads(pickle.dumps(shared))
    assert shared.search(problem, Task.of(WHOLE)).counts.tolist() == [2**150]
    memo._TABLES.clear()
    assert again.search(problem, Task.of(WHOLE)).nodes.tolist() == [1]  # found in the memory
    memo._TABLES.clear()
    place = int(again.file.rpartition("/")[2])
    del shared
    other = tmp_path / "other"
    other.write_text("of another")
    opened = os.open(other, os.O_RDWR)
    os.dup2(opened, place)  # as the system gives away the place of a closed file
    assert again.search(problem, Task.of(WHOLE)).counts.tolist() == [2**150]
    for each in {opened, place}:
        os.close(each)
    assert other.read_text() == "of another"
    memo._TABLES.clear()
    assert again.search(problem, Task.of(WHOLE)).counts.tolist() == [2**150]
    monkeypatch.delattr(os, "memfd_create")
    assert engine.for_run(shared=True).file == ""


WIDTHS = [(60, 1), (63, 2), (127, None), (128, None), (150, 3), (600, 10)]


@pytest.mark.parametrize("bounds", [False, True], ids=["", "bounds"])
@pytest.mark.parametrize(("bits", "words"), WIDTHS)
def test_counts_of_any_size_are_stored_in_rows_as_wide_as_they(bits, words, bounds):
    problem = wide(*[2] * bits)
    if bounds:  # one item may be covered twice
        problem = changed(problem, bounds=[(1, 2), *[(1, 1)] * (bits - 1)])
    outcome = get_engine("memo:8").search(problem, Task.of(WHOLE))
    assert outcome.counts.tolist() == [(2 + bounds) * 2 ** (bits - 1)]
    assert outcome.counts.dtype == (object if bits > 62 else np.int64)
    assert outcome.nodes[0] <= 4 * bits  # two children each, the second looked up
    assert not len(outcome.frontier)
    if words and not bounds:
        [table] = memo._TABLES.values()
        of_key, beside = bits // 64 + 1, 2
        assert table.shape[1] == of_key + words + beside


def test_counts_of_many_words_are_exact_in_every_way(tmp_path):
    board = family("dominoes:4x150")
    right = sum(bs.distribution(board, by="options").values())
    assert right > 2**200
    few = {"budget": 500}
    for how in ({"jobs": 1}, {"jobs": 2, **few}, {"jobs": 2, "backend": "loky", **few}):
        memo._TABLES.clear()
        result = count(board, engine="memo:8", **how)
        assert (result.count, result.complete) == (right, True)
    assert count(board).count == right  # auto goes over to it
    with runs.Run(tmp_path / "run", board, engine="memo:8") as run:
        run.search(node_limit=3000, **few)
        assert run.search(**few).count == right


@pytest.mark.usefixtures("few_rows")
@given(problems() | coloured_problems(), st.integers(1, 4), st.integers(1, 20))
def test_correctness_does_not_depend_on_the_table(problem, megabytes, budget):
    expected = len(covers(problem))
    engine = f"memo:{megabytes}"
    for _ in range(2):  # the second time with the content of the table
        assert count(problem, engine=engine, jobs=1).count == expected
        assert count(problem, engine=engine, jobs=1, budget=budget, split_depth=0).count == expected


def test_secondary_items_that_rule_nothing_out_do_not_tell_sets_apart():
    # 20 questions with two answers each; every answer has its own secondary item
    options = [[f"q{k}", f"s{k}{a}"] for k in range(20) for a in "01"]
    names = {name: None for option in options for name in option}
    questions, answers = ([name for name in names if name[0] == kind] for kind in "qs")
    problem = bs.ExactCover.from_options(options, questions, answers)
    outcome = get_engine("memo:1").search(problem, Task.of(WHOLE))
    assert (outcome.counts[0], outcome.nodes[0]) == (2**20, 41)


@pytest.mark.parametrize(
    "size", ["", "x", "-1", "0", "1.5", "9" * 30, "1".zfill(20) + "0" * 30, "9".zfill(5_000)]
)
def test_bad_sizes_are_refused(size):
    with pytest.raises(bs.InputError, match="megabytes"):
        get_engine(f"memo:{size}")


def test_a_table_without_memory_is_one_message_and_no_count(monkeypatch):
    new_table = memo._new_table
    monkeypatch.setattr(memo, "_new_table", Mock(side_effect=MemoryError))
    why = "batchsolve: no memory for a table of 200 MB; name a smaller size"
    assert refused("count", "dominoes:8x8", "--memo-size", "200", "--memo") == why
    some = Mock(wraps=new_table, side_effect=[MemoryError, MemoryError, DEFAULT])
    monkeypatch.setattr(memo, "_new_table", some)
    assert bs.count("dominoes:8x8", engine="memo", jobs=1).count == 12_988_816


def test_a_task_is_not_cut_before_a_subtree_of_many_options_is_counted():
    problem = wide(*[1000] * 200)
    assert count(problem, engine="memo", jobs=1).count == 1000**200
    assert count(problem, engine="memo", jobs=2, node_limit=150_000).nodes == 150_000
