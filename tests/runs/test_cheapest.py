"""The cheapest covers: by definition, by a MaxSAT solver, and if a search is cut or killed."""

import numpy as np
import pytest
from conftest import changed, problems_with_costs, typed_rows
from hypothesis import given, strategies as st
from invoking import invoke
from kinds import with_costs
from oracles import bounded_covers, cheapest_costs, useful_options

import batchsolve as bs
from batchsolve.engines.native import Pricing, useless_options
from batchsolve.formats.exact_cover_files import read_dlx, write_dlx
from batchsolve.problems.families import family
from batchsolve.runs.convert import converted


@given(problem=problems_with_costs(), wanted=st.integers(1, 6), budget=st.integers(1, 9))
def test_finds_the_cheapest_of_the_definition_however_cut(problem, wanted, budget):
    found = bs.cheapest(problem, wanted, jobs=1)
    assert found.count.complete
    assert found.count.count == len(found.covers)
    assert [cover.cost for cover in found.covers] == cheapest_costs(problem, wanted)
    everything = bounded_covers(problem)
    for cover in found.covers:
        assert frozenset(cover.options) in everything
        assert problem.costs[cover.options].sum() == cover.cost
    assert len({tuple(cover.options) for cover in found.covers}) == len(found.covers)
    for jobs in (1, 2):
        again = bs.cheapest(problem, wanted, jobs=jobs, budget=budget, split_depth=jobs)
        assert again.covers == found.covers


@given(problem=problems_with_costs())
def test_taxes_make_all_covers_cheaper_by_the_same_amount(problem):
    pricing = Pricing.of(problem)
    assert (pricing.net >= 0).all()
    for cover in map(list, bounded_covers(problem)):
        cost = int(problem.costs[cover].sum())
        assert cost * pricing.scale == pricing.base + int(pricing.net[pricing.rank[cover]].sum())


@given(problem=problems_with_costs())
def test_useless_options_are_in_no_cover(problem):
    useless = set(np.flatnonzero(useless_options(problem)).tolist())
    assert not any(useless & cover for cover in bounded_covers(problem))


def test_options_that_only_go_with_useless_ones_are_useless():
    # d needs "a d", so "a b" and "a" are useless; then b needs "b c", so "c" is
    problem = bs.ExactCover.from_options([["a", "b"], ["c"], ["b", "c"], ["a"], ["a", "d"]])
    assert useless_options(problem).tolist() == [True, True, False, True, False]


LARGE, MANY = 2**48 // 4, 2**48 // 1000 - 1
SUMS = [  # options, their costs, and those of the two cheapest covers
    (["abc", "a", "b", "c"], [LARGE, 1, LARGE - 1, 1], [LARGE, LARGE + 1]),
    (["ab"] * 1000, [MANY] * 999 + [1], [1, MANY]),  # without room for fractions of costs
    (["ab", "a", "b"], [0, 0, 0], [0, 0]),
]


@pytest.mark.parametrize(("options", "costs", "cheapest"), SUMS)
def test_costs_of_any_size_are_added_exactly(options, costs, cheapest):
    problem = bs.ExactCover.from_options(map(list, options), costs=costs)
    assert [each.cost for each in bs.cheapest(problem, 2).covers] == cheapest
    assert read_dlx(write_dlx(problem)).costs.tolist() == problem.costs.tolist() == costs


@given(problem=problems_with_costs(), data=st.data())
def test_the_cheapest_below_a_stack(problem, data):
    entries = st.integers(0, max(0, problem.n_decisions - 1))
    stack = data.draw(st.lists(entries, max_size=2)) if problem.n_options else []
    if problem.clash_position(stack) >= 0:
        with pytest.raises(bs.ProblemError):
            bs.cheapest(problem, 3, stack)
        return
    found = bs.cheapest(problem, 3, stack, jobs=1).covers
    assert [cover.cost for cover in found] == cheapest_costs(problem, 3, stack)


# with the costs of `with_costs`, a MaxSAT solver finds the same sum
@pytest.mark.parametrize("name", ["queens:8", "langford:7", "latin:4", "dominoes:6x6"])
def test_a_maxsat_solver_finds_none_cheaper(name):
    from pysat.examples.rc2 import RC2
    from pysat.formula import CNF, WCNF

    problem, formula = with_costs(name), WCNF()
    text = converted(changed(problem, costs=None), "cnf").decode()  # see test_convert.py
    formula.extend(CNF(from_string=text).clauses)
    for variable, option in enumerate(useful_options(problem), 1):
        if problem.costs[option]:
            formula.append([-variable], weight=int(problem.costs[option]))
    with RC2(formula) as solver:
        solver.compute()
        least = solver.cost
    assert bs.cheapest(problem).covers[0].cost == least


def test_of_equal_covers_the_first_are_found_by_everybody():
    problem = changed(family("queens:8"), costs=[0] * 64)
    found = bs.cheapest(problem, 7, jobs=1).covers
    assert [cover.cost for cover in found] == [0] * 7
    for budget, backend in ((5, "threading"), (7, "loky")):
        assert bs.cheapest(problem, 7, jobs=2, budget=budget, backend=backend).covers == found


def test_the_cheapest_are_exported_with_their_costs(tmp_path):
    problem = with_costs("langford:7")
    path, run, output = tmp_path / "costs.dlx", tmp_path / "run", tmp_path / "best.jsonl"
    path.write_text(write_dlx(problem))
    assert invoke("enumerate", path, "--best", 20, "-o", run, "--quiet").exit_code == 0
    assert invoke("export", run, "-o", output).exit_code == 0
    assert typed_rows(output) == [
        {"cost": cover.cost, "options": list(map(problem.option_name, cover.options))}
        for cover in bs.cheapest(problem, 20).covers
    ]


def test_a_run_goes_on_from_limit_to_limit(tmp_path):
    problem = with_costs("queens:9")
    expected = bs.cheapest(problem, 4).covers
    for nodes in (50, 120, 300, 1_000_000):
        with bs.Run(tmp_path / "run", problem, resume=True, cheapest=4) as run:
            found = run.search(jobs=2, budget=20, node_limit=nodes)
            assert run.cheapest_covers or not found.complete
    assert found.complete
    assert run.cheapest_covers == expected
    with pytest.raises(bs.JournalError, match="had best = 4, this one has 5"):
        bs.Run(tmp_path / "run", problem, resume=True, cheapest=5)


def test_costs_of_an_option_add_up_with_and_without_a_dollar():
    problem = read_dlx("a b c\na b |$25\na |20\nb |$2\nc |1 |$2\nc\n")
    assert problem.costs.tolist() == [25, 20, 2, 3, 0]
