"""Every engine agrees with dancing links on every data set that it can search."""

from functools import cache

import numpy as np
import pytest
from conftest import DATASETS

from batchsolve import InputError
from batchsolve.engines import UNLIMITED, Task, check_support, engine_names, get_engine
from batchsolve.tables.corpus import Corpus

DEEP = "deep16.csv"  # its trees are too large for most engines; see test_datasets.py
NAMES = sorted(path.name for path in DATASETS.glob("*.csv") if path.name != DEEP)
FEW_NODES = 60  # by dancing links; an engine in Python searches as many in no time,
MOST_NODES = 2_000  # or is not compared, if its own tree is as large
ENGINES = {name: get_engine(name) for name in engine_names() if name != "dlx"}
COLLECTING = [name for name, each in ENGINES.items() if not each.counts_only]
IN_PYTHON = [name for name in COLLECTING if "native" not in ENGINES[name].entry]
LIMIT = 20


@cache
def known(name):
    """Return the problem of a data set, its rows as stacks, and the results of dancing links."""
    problem, parts = Corpus([str(DATASETS / name)], one_shape=True).stacks()
    stacks = parts[""]
    stacks = stacks.take(np.arange(0, len(stacks), max(1, len(stacks) // 1000)))
    task = Task.of(stacks, limit=LIMIT, keep=LIMIT)
    return problem, stacks, get_engine("dlx").search(problem, task)


def solutions_of(problem, outcome, roots):
    """Return the solutions of some roots as a set: each root with each of its grids."""
    found = outcome.solutions.take(np.isin(outcome.solutions.roots, roots))
    return {*zip(found.roots.tolist(), map(bytes, problem.grids(found)), strict=True)}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("engine", COLLECTING)
def test_all_engines_find_the_same_solutions(engine, name):
    problem, stacks, right = known(name)
    kernel = get_engine(engine)
    try:
        check_support(kernel, problem)
    except InputError:
        assert kernel.least_box > min(problem.box_rows, problem.box_columns)
        return
    rows, most_nodes = np.arange(len(stacks)), UNLIMITED
    if engine in IN_PYTHON:
        easy = (right.nodes <= FEW_NODES) & (right.counts < LIMIT)
        rows = np.flatnonzero(easy)[:: max(1, np.count_nonzero(easy) // 10)]
        most_nodes = MOST_NODES
    how = {"limit": LIMIT, "keep": LIMIT, "allowance": most_nodes}
    left = kernel.search(problem, Task.of(stacks.take(rows), **how)).frontier.roots
    rows = rows[np.isin(stacks.roots[rows], left, invert=True)]
    assert len(rows) or engine in IN_PYTHON
    outcome = kernel.search(problem, Task.of(stacks.take(rows), limit=LIMIT, keep=LIMIT))
    assert np.array_equal(outcome.counts, right.counts[rows])
    assert np.array_equal(outcome.clash, right.clash[rows])
    all_listed = stacks.roots[rows[right.counts[rows] < LIMIT]]
    mine, theirs = (solutions_of(problem, each, all_listed) for each in (outcome, right))
    assert mine == theirs
