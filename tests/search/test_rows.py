from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import Mock, patch

import numpy as np
import pytest
from conftest import small_grids
from failing import Failing
from fuzzing.grids import solutions
from hypothesis import given, strategies as st

import batchsolve as bs
from batchsolve import workers
from batchsolve.engines import Choice, Task, engine_for, get_engine, native
from batchsolve.search import rows as row_search
from batchsolve.search.rows import RowWork, comes_before
from batchsolve.search.scheduler import LEAST_AHEAD
from batchsolve.settings import SearchSettings
from batchsolve.workers import Pool

HARD = "1....7.9..3..2...8..96..5....53..9...1..8...26....4...3......1..4......7..7...3.."
SEVERAL = HARD.replace("7", ".").replace("6", ".")
DLX, SAT = get_engine("dlx"), get_engine("sat")


def problem_of(grids):
    box = round(grids.shape[1] ** 0.25)
    return bs.Sudoku(box, box)


class GridRows:
    """Some grids, as the rows of a block."""

    def __init__(self, grids):
        self.grids = grids

    def __len__(self):
        return len(self.grids)

    def groups(self):
        problem = problem_of(self.grids)
        return [(problem, problem.stacks(self.grids))]


@dataclass(frozen=True)
class Given:
    """A choice of the same engines for every problem; the second takes over after some nodes."""

    engine: Any
    fallback: tuple[Any, int] | None = None
    name, counts_only = "given", False

    @property
    def whole_stacks(self):
        return self.engine.whole_stacks

    def of(self, problem):
        return self.engine

    def fallback_of(self, problem):
        return self.fallback


def unchanged(batch, answers):
    """Return the answers to some rows as they are."""
    return answers


def searched(grids, jobs=2, batch=3, engine=None, fallback=None, backend="threading", **settings):
    """Return the answers to blocks of grids."""
    settings = SearchSettings(**{"limit": 2, **settings})
    blocks = [grids[k : k + batch] for k in range(0, len(grids), batch)]
    choice = Given(engine or engine_for("auto", problem_of(grids)), fallback)
    with Pool(jobs, backend) as pool:
        found = list(RowWork(choice, settings, GridRows, unchanged).search(blocks, pool))
    assert all(block is given for (block, _), given in zip(found, blocks, strict=True))
    return [answers for _, answers in found]


def everything(grids, limit=2, **settings):
    """Return all that answers say about rows, without the time they took."""
    rows = []
    for found in searched(grids, limit=limit, **settings):
        first = problem_of(grids).grids(found.covers).tolist()
        covers = dict(zip(found.covers.roots.tolist(), first, strict=True))
        assert len(covers) == len(found.covers)
        columns = found.status(limit), found.counts, found.nodes
        facts = zip(*(column.tolist() for column in columns), strict=True)
        rows += [(*row, covers.get(k), found.unfinished.get(k, "")) for k, row in enumerate(facts)]
    return rows


def answers(grids, limit=2, **settings):
    """Return what must not depend on how a search in any order is cut up."""
    rows = everything(grids, limit, **settings)
    return [(status, min(count, limit), cover) for status, count, _, cover, _ in rows]


@pytest.fixture(scope="module")
def grids():
    parse = bs.Sudoku(3, 3).parse
    clashing = "11" + "." * 79
    unsolvable = "12345678." + "........9" + "." * 63
    texts = [HARD, SEVERAL, clashing, "." * 81, unsolvable, HARD.replace("7", "."), SEVERAL]
    return np.array([parse(text) for text in texts])


@pytest.mark.parametrize(("limit", "node_limit"), [(1, None), (3, None), (1, 40), (3, 1000)])
def test_answers_do_not_depend_on_how_the_search_is_cut_up(grids, limit, node_limit):
    expected = answers(grids, jobs=1, batch=100, limit=limit, node_limit=node_limit)
    assert len(expected) == len(grids)
    for batch, budget, depth in ((1, 90, 0), (2, 150, 3), (100, 400, 8), (4, 10**6, 81)):
        cut = {"batch": batch, "budget": budget, "split_depth": depth}
        assert answers(grids, limit=limit, node_limit=node_limit, **cut) == expected


@given(
    grids=small_grids(most_clues=7),
    limit=st.integers(1, 4),
    budget=st.integers(1, 30),
    depth=st.integers(0, 4),
    after=st.none() | st.integers(1, 20),
)
def test_answers_are_those_of_the_oracle(grids, limit, budget, depth, after):
    """By one engine, or by two of which the other takes over."""
    how = {"engine": DLX, "fallback": (SAT, after)} if after else {}
    found = answers(grids, limit=limit, budget=budget, split_depth=depth, **how)
    if not how:
        assert found == answers(grids, jobs=1, batch=100, limit=limit)
    clashing = bs.Sudoku(2, 2).first_clashes(grids) >= 0
    for grid, clash, (status, count, solution) in zip(grids, clashing, found, strict=True):
        right = list(solutions(grid.tolist()))
        assert count == min(limit, len(right))
        assert (status == 5) == clash
        assert status != 4
        assert solution in right if right else solution is None


@pytest.mark.parametrize(
    "engines",
    [{"engine": Failing([0], "raise")}, {"engine": DLX, "fallback": (Failing([0], "raise"), 1)}],
)
def test_rows_whose_search_fails_are_unfinished_and_the_others_answered(engines):
    grids = np.zeros((6, 16), np.uint8)
    grids[2, 0] = 1  # its stack begins with option 0, which is marked
    grids[4, :2] = [2, 1]
    (found,) = searched(grids, batch=6, **engines)
    assert found.status(2).tolist() == [1, 1, 4, 1, 1, 1]
    assert found.unfinished == {2: "the search failed: RuntimeError: a bug in the search"}


def read_or_fail(block):
    """Read the rows of a block, but not those of the third."""
    if block[0, 0] == 3:
        raise bs.InputError("the third block is not readable")
    return GridRows(block)


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_was_read_before_an_unreadable_block_is_answered(jobs):
    grids = np.zeros((5, 16), np.uint8)
    grids[:, 0] = [1, 2, 3, 4, 1]
    work = RowWork(Choice("dlx"), SearchSettings(limit=2), read_or_fail, unchanged)
    with Pool(jobs) as pool:
        found = work.search((grids[k : k + 1] for k in range(5)), pool)
        assert [next(found)[1].status(2).tolist() for _ in range(2)] == [[1], [1]]
        with pytest.raises(bs.InputError, match="third block"):
            next(found)


@pytest.mark.parametrize("budget", [800, 3_000, 20_000])
def test_a_cover_cell_by_cell_has_its_place_in_tree_order(grids, budget):
    """Of rows that have stacks left, it is compared with these and with the covers below them."""
    problem, engine = bs.Sudoku(3, 3), get_engine("lanes")
    task = Task.of(problem.stacks(np.tile(grids, (4, 1))), limit=100_000, budget=budget, keep=3)
    ordered = engine.search(problem, task)
    free = engine.search(problem, replace(task, unordered=True)).solutions
    n_behind, n_before = 0, 0
    for row in sorted({*ordered.frontier.roots.tolist()} & {*ordered.solutions.roots.tolist()}):
        both = ordered.solutions, ordered.frontier
        covers, left = (each.take(each.roots == row) for each in both)
        others = [each.tolist() for each in [*covers, *left]]
        for cover, mine in zip(covers, free.take(free.roots == row), strict=True):
            assert sorted(mine.tolist()) == sorted(cover.tolist())
            for other in others:
                if other != cover.tolist():
                    is_before = comes_before(other, mine.tolist(), problem)
                    assert is_before == (other < cover.tolist())
                    n_behind, n_before = n_behind + is_before, n_before + 1
    assert 0 < n_behind < n_before


def test_rows_that_reach_their_limit_in_any_order_get_their_first_cover():
    engine, problem = get_engine("lanes"), bs.Sudoku(3, 3)
    grids = np.zeros((3, 81), np.uint8)
    grids[1, :9], grids[2, ::9] = range(1, 10), range(1, 10)
    task = Task.of(problem.stacks(grids), limit=500, keep=1)
    straight = engine.search(problem, task)
    task = replace(task, any_order=True, unordered=True)
    with patch.object(native, "_search_grids", wraps=native._search_grids) as search:
        found = engine.search(problem, task)
    assert search.call_count == 2  # otherwise this test tests nothing
    reached = search.call_args.args[1].stacks.roots
    assert not len(found.frontier)
    assert found.counts.tolist() == straight.counts.tolist() == [500] * 3
    assert found.nodes[reached].tolist() == straight.nodes[reached].tolist()
    both = found.solutions, straight.solutions
    mine, theirs = (covers.take(covers.roots.argsort()) for covers in both)
    assert mine.roots.tolist() == theirs.roots.tolist()
    assert problem.grids(mine).tolist() == problem.grids(theirs).tolist()


def test_blocks_are_not_read_far_ahead():
    drawn = []

    def blocks():
        for k in range(40):
            drawn.append(k)
            yield np.zeros((2, 16), np.uint8)

    work = RowWork(Choice("dlx"), SearchSettings(limit=2), GridRows, unchanged)
    with Pool(2) as pool:
        for n_done, _ in enumerate(work.search(blocks(), pool)):
            assert len(drawn) <= n_done + 1 + LEAST_AHEAD
    assert len(drawn) == 40


WAYS_TO_CUT = [
    (1, 1, {}),
    (2, 3, {"budget": 7}),
    (2, 2, {"budget": 60, "split_depth": 3}),
    (3, 100, {"budget": 1}),
    (2, 4, {"backend": "loky"}),
]


SAME = [
    *(("dlx", 50, 1, None), ("dlx", 50, 3, 30), ("dlx", 50, 3, 120)),  # handed over to `sat`
    *(("sat", None, 2, None), ("sat", None, 2, 30), ("sat", None, 2, 120)),  # searched whole
]


@pytest.mark.parametrize(("engine", "after", "limit", "node_limit"), SAME)
def test_rows_have_the_same_answers_however_cut_up(grids, engine, after, limit, node_limit):
    fallback = (SAT, after) if after else None
    same = {"fallback": fallback, "limit": limit, "node_limit": node_limit}
    same["engine"] = get_engine(engine)
    whole = everything(grids, jobs=1, batch=100, **same)
    for jobs, batch, settings in WAYS_TO_CUT:
        assert everything(grids, jobs=jobs, batch=batch, **same, **settings) == whole


def test_a_row_is_handed_over_once_it_has_taken_so_many_nodes(grids):
    before = everything(grids, engine=DLX)
    by_sat = everything(grids, engine=SAT)
    after = sorted(row[2] for row in before)[len(before) // 2]
    found = everything(grids, engine=DLX, fallback=(SAT, after), budget=20)
    assert any(row[2] >= after for row in before)
    for one, other, mine in zip(before, by_sat, found, strict=True):
        if one[2] <= after:
            assert mine == one
        else:
            assert mine == (*other[:2], after + other[2], *other[3:])


def test_a_node_limit_counts_the_nodes_of_both_engines(grids):
    free = everything(grids, engine=DLX, fallback=(SAT, 40))
    for node_limit in (20, 40, 41, 90, 150):
        found = everything(grids, engine=DLX, fallback=(SAT, 40), node_limit=node_limit, budget=30)
        for one, mine in zip(free, found, strict=True):
            if mine[0] == 4:
                assert mine[2] == node_limit <= one[2]
            else:
                assert mine == one
    kept = everything(grids, engine=DLX, node_limit=40)
    assert everything(grids, engine=DLX, fallback=(SAT, 40), node_limit=40) == kept


def test_a_block_that_is_no_small_task_is_answered_as_well(monkeypatch):
    grids = np.zeros((1, 81), np.uint8)
    work = RowWork(Choice("auto"), SearchSettings(limit=5000), GridRows, unchanged)
    small = work.search_alone(grids)
    monkeypatch.setattr("batchsolve.search.rows.FIRST_BLOCK_NODES", 100)
    large = work.search_alone(grids)
    assert small.counts.tolist() == [5000]
    assert large.counts[0] >= 5000
    assert sorted(small.covers.options.tolist()) == sorted(large.covers.options.tolist())
    with pytest.raises(bs.InputError, match="third block"):
        replace(work, read=read_or_fail).search_alone(np.full((1, 16), 3, np.uint8))


def test_a_block_that_is_alone_starts_no_thread_until_rows_are_left(monkeypatch):
    grids = np.array([[int(c) for c in HARD.replace(".", "0")]] * 3, np.uint8)
    expected = bs.solve_batch(grids, jobs=1)
    monkeypatch.setattr(workers, "_Round", Mock(side_effect=AssertionError("threads were started")))
    found = bs.solve_batch(grids, jobs=2)
    assert found.status.tolist() == ["unique"] * 3
    assert (found.solutions == expected.solutions).all()
    monkeypatch.setattr(row_search, "FIRST_BLOCK_NODES", 10)
    with pytest.raises(AssertionError, match="threads were started"):
        bs.solve_batch(grids, jobs=2)
