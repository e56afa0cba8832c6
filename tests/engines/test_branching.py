"""Branching rules: the tree of each is that of a plain search, and its covers are the same."""

from fnmatch import fnmatchcase

from conftest import WHOLE, bounded_problems, problems
from hypothesis import given, strategies as st
from invoking import invoke, refused
from oracles import bounded_covers, covers
from test_engines import assert_same, clashes, run_out

import batchsolve as bs
from batchsolve.engines import UNLIMITED, Task, get_engine

PATTERNS = {"sharp": "[#]*", "sharp:2*": "2*", "sharp:[13]": "[13]"}
rules = st.sampled_from(["first", "sharp", "sharp:2*", "sharp:[13]"])
some = st.integers(1, 12) | st.just(UNLIMITED)


def named(problem, sharp):
    """Return a problem whose items have numbers as names, with a # before those that are sharp."""
    names = tuple("#" * (i in sharp) + str(i) for i in range(problem.n_items))
    problem.__dict__.update(item_names=names)  # without a look at the options
    return problem


def nodes_by_definition(problem, rule, chosen=()):
    """Return the nodes below a partial cover, with the lists of options built anew at each."""
    taken = {i for o in chosen for i in problem.option(o).tolist()}
    left = [o for o in range(problem.n_options) if not clashes(problem, o, chosen)]
    uncovered = set(range(problem.n_primary)) - taken
    lists = {i: [o for o in left if i in problem.option(o)] for i in uncovered}
    if not lists:
        return 1

    def place(i):
        n, name = len(lists[i]), problem.item_name(i)
        if rule == "first":
            return (i,)
        if n <= 1:
            return 0, 0, i
        return 1 + (not fnmatchcase(name, PATTERNS[rule])), n, i

    tried = lists[min(lists, key=place)]
    return 1 + sum(nodes_by_definition(problem, rule, (*chosen, o)) for o in tried)


@given(
    problem=problems(),
    sharp=st.sets(st.integers(0, 6)),
    rule=rules,
    budgets=st.lists(st.integers(1, 20), min_size=1, max_size=4),
    depths=st.lists(st.sampled_from([0, 1, 2, UNLIMITED]), min_size=1, max_size=3),
)
def test_every_rule_finds_the_covers_and_visits_its_own_nodes(
    problem, sharp, rule, budgets, depths
):
    problem, engine = named(problem, sharp), f"dlx:{rule}"
    _, nodes, straight = run_out(engine, problem, WHOLE)
    assert {frozenset(cover) for _, cover in straight} == covers(problem)
    assert nodes == {0: nodes_by_definition(problem, rule)}
    _, in_pieces, found = run_out(engine, problem, WHOLE, budgets, [*depths, UNLIMITED])
    assert (in_pieces, sorted(found)) == (nodes, sorted(straight))


@given(
    problem=problems(), sharp=st.sets(st.integers(0, 6)), rule=rules, limit=some, budget=some,
    depth=some,
)  # fmt: skip
def test_algorithm_x_knows_the_rule(problem, sharp, rule, limit, budget, depth):
    task = Task.of(WHOLE, limit, budget=budget, depth=depth, keep=UNLIMITED)
    engines = (get_engine(f"{name}:{rule}") for name in ("algorithm-x", "dlx"))
    assert_same(*(engine.search(named(problem, sharp), task) for engine in engines))


plain = bounded_problems().filter(lambda problem: problem.colors is None)  # one kernel is enough


@given(problem=plain, sharp=st.sets(st.integers(0, 6)), rule=rules, budget=some)
def test_rules_and_bounds(problem, sharp, rule, budget):
    counts, _, found = run_out(f"dlx:{rule}", named(problem, sharp), WHOLE, [budget])
    assert {frozenset(cover) for _, cover in found} == bounded_covers(problem)
    assert counts == {0: len(bounded_covers(problem))}


def test_settings_name_the_engine():
    for engine in ("auto", "dlx", "dlx:first"):
        assert bs.SearchSettings(engine=engine, branch="first").engine == "dlx:first"
    assert bs.SearchSettings(engine="algorithm-x", branch="sharp").engine == "algorithm-x:sharp"
    assert bs.SearchSettings(engine="bits", branch="mrv").engine == "bits"
    result = bs.count("queens:8", branch="sharp:r*", jobs=1)
    assert (result.count, result.engine) == (92, "dlx:sharp:r*")
    assert bs.count(bs.ExactCover.from_options([["a[1]"]]), branch="sharp:a[1]").count == 1
    assert len(bs.split("queens:6", depth=1, engine="dlx:first").stacks) == 6
    assert len(bs.split("queens:6", depth=1, engine="auto").stacks) == 6


def test_a_run_keeps_its_rule(tmp_path):
    count = ["count", "queens:8", "--run", tmp_path / "run", "--jobs", 1]
    first = invoke(*count, "--branch", "first", "--node-limit", 50, "--budget", 20)
    assert first.exit_code == 1
    assert "dlx:first" in refused(*count, "--resume")
    assert invoke(*count, "--resume", "--branch", "first").stdout == "92\n"
