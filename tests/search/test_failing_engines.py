"""A search whose engine fails on some stacks still answers for all the others, and ends."""

import pytest
from failing import Failing
from rooted import PROBLEM

from batchsolve import Stacks
from batchsolve.engines import Task, get_engine
from batchsolve.search import tree
from batchsolve.search.scheduler import Piece
from batchsolve.search.tree import TreeSearch
from batchsolve.settings import SearchSettings
from batchsolve.workers import Pool

N_GRIDS = 288


@pytest.fixture(scope="module")
def n_marked():
    """Return the number of grids that have option 0, so that the first cell is 1."""
    task = Task.of(Stacks.from_lists([[0]]))
    return int(get_engine("dlx").search(PROBLEM, task).counts.sum())


@pytest.mark.parametrize("split_depth", [None, 1, 3])
def test_what_fails_is_left_and_the_rest_is_counted(split_depth, n_marked, monkeypatch):
    """For searches that kill their workers, see tests/workers/test_pool.py."""
    monkeypatch.setattr(tree, "FIRST_NODES", 1)  # the first nodes are not below the marked stack
    settings = SearchSettings(engine="dlx", split_depth=split_depth, budget=20)
    begin = Piece.whole(Stacks.from_lists([[]]))
    with Pool(2) as pool:
        search = TreeSearch(PROBLEM, settings, begin, pool, engine=Failing([0], "raise"))
        for _ in search.run():
            pass
    assert search.totals.count == N_GRIDS - n_marked
    assert set(search.failures) == {"the search failed: RuntimeError: a bug in the search"}
    assert not search.complete
    assert len(search.outstanding) == 0
