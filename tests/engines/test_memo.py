import json
from itertools import combinations

import numpy as np
import pytest
from conftest import coloured_problems, problems
from hypothesis import given
from hypothesis import strategies as st
from oracles import covers
from typer.testing import CliRunner

import batchsolve as bs
from batchsolve.cli import app
from batchsolve.engines import Task, get_engine, memo
from batchsolve.problems.families import family
from batchsolve.runs import run as runs
from batchsolve.runs.count import count, solutions

WHOLE = bs.Stacks.from_lists([[]])
KNOWN = {
    "queens:8": 92,
    "langford:8": 300,
    "latin:5": 161_280,
    "sudoku:2x2": 288,
    "dominoes:8x8": 12_988_816,
    # counters that trust a hash of the key get these wrong
    "dominoes:10x10": 258_584_046_368,
    "dominoes:12x12": 53_060_477_521_960_000,
}


def matchings(n):
    """The perfect matchings of the complete graph on 2n points."""
    return bs.ExactCover.from_options(list(combinations(range(2 * n), 2)))


def copies(n, options):
    """As many copies of a problem side by side."""
    return bs.ExactCover.from_options([[(k, i) for i in o] for k in range(n) for o in options])


@pytest.fixture
def few_rows(monkeypatch):
    """Tables of 1 to 4 rows, for problems of up to 63 items."""
    monkeypatch.setattr(memo, "MEGABYTE", 8 * 4)


@pytest.fixture(autouse=True)
def fresh_tables():
    """Free the tables of other tests, and after the last test all of them."""
    memo._FREE.clear()
    yield
    memo._FREE.clear()


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("jobs", [1, 2])
def test_known_counts(name, jobs):
    result = count(family(name), engine="memo:8", jobs=jobs)
    assert (result.count, result.complete, result.engine) == (KNOWN[name], True, "memo:8")


def test_a_count_of_more_than_64_bits():
    result = count(family("dominoes:16x16"), engine="memo", jobs=1)
    assert result.count == 2_444_888_770_250_892_795_802_079_170_816


@pytest.mark.parametrize(("n", "expected"), [(10, 654_729_075), (13, 7_905_853_580_625)])
def test_perfect_matchings(n, expected):
    assert count(matchings(n), engine="memo", jobs=1).count == expected


def test_worker_processes_have_tables_of_their_own():
    result = count(family("dominoes:8x8"), engine="memo:8", jobs=2, backend="loky")
    assert (result.count, result.complete) == (12_988_816, True)


@pytest.mark.parametrize(
    ("n", "answers"), [(70, 2), (60, 5)], ids=["more than 64 bits", "more than 128 bits"]
)
@pytest.mark.parametrize("chosen", [{}, {"budget": 100}])
def test_counts_of_any_size_are_exact(n, answers, chosen):
    result = count(copies(n, [[0]] * answers), engine="memo:1", jobs=1, **chosen)
    assert (result.count, result.complete) == (answers**n, True)


@pytest.mark.usefixtures("few_rows")
@given(
    problem=problems() | coloured_problems(), megabytes=st.integers(1, 4), budget=st.integers(1, 20)
)
def test_correctness_does_not_depend_on_the_table(problem, megabytes, budget):
    expected = len(covers(problem))
    engine = f"memo:{megabytes}"
    for _ in range(2):  # the second time with what the table holds
        assert count(problem, engine=engine, jobs=1).count == expected
        assert count(problem, engine=engine, jobs=1, budget=budget, split_depth=0).count == expected


@pytest.mark.usefixtures("few_rows")
@pytest.mark.parametrize("megabytes", [1, 2, 5, 30])
@pytest.mark.parametrize("name", ["dominoes:4x6", "queens:6", "sudoku:2x2"])
def test_tiny_tables(name, megabytes):
    expected = count(family(name)).count
    assert count(family(name), engine=f"memo:{megabytes}", jobs=1).count == expected
    assert count(family(name), engine=f"memo:{megabytes}", jobs=1, budget=9).count == expected


def test_a_table_is_used_again_and_belongs_to_one_problem():
    kernel, problem = get_engine("memo:1"), family("dominoes:6x6")
    first, again = (kernel.search(problem, Task.of(WHOLE)) for _ in range(2))
    assert first.counts[0] == again.counts[0] == 6728
    assert again.nodes[0] == 1
    assert first.nodes[0] > 100
    other = kernel.search(family("dominoes:4x9"), Task.of(WHOLE))
    assert other.counts[0] == count(family("dominoes:4x9")).count
    assert len(memo._FREE) == 1


def test_secondary_items_that_rule_nothing_out_do_not_tell_sets_apart():
    # 20 questions with two answers; every answer has a secondary item of its own
    options = [[f"q{k}", f"s{k}{a}"] for k in range(20) for a in "01"]
    names = {name: None for option in options for name in option}
    problem = bs.ExactCover.from_options(
        options, [n for n in names if n[0] == "q"], [n for n in names if n[0] == "s"]
    )
    outcome = get_engine("memo:1").search(problem, Task.of(WHOLE))
    assert (outcome.counts[0], outcome.nodes[0]) == (2**20, 41)


def test_counts_beyond_int64_are_python_integers():
    big = get_engine("memo:1").search(copies(70, [[0], [0]]), Task.of(WHOLE))
    small = get_engine("memo:1").search(copies(7, [[0], [0]]), Task.of(WHOLE))
    assert (big.counts.dtype, big.counts.tolist()) == (np.dtype(object), [2**70])
    assert (small.counts.dtype, small.counts.tolist()) == (np.dtype(np.int64), [2**7])


def test_a_run_goes_on(tmp_path):
    problem = family("dominoes:8x8")
    with runs.Run(tmp_path / "run", problem, engine="memo:1") as run:
        assert not run.search(jobs=1, node_limit=100).complete
    with runs.Run(tmp_path / "run", problem, engine="memo:1", resume=True) as run:
        assert run.search(jobs=1).count == 12_988_816


def test_it_only_counts():
    problem = bs.Sudoku(2, 2)
    for search in (
        lambda: count(problem, engine="memo", limit=3),
        lambda: next(solutions(problem, engine="memo")),
        lambda: get_engine("memo").search(problem, Task.of(WHOLE, keep=1)),
        lambda: get_engine("memo").search(problem, Task.of(WHOLE, limit=1)),
        lambda: get_engine("memo").search(problem, Task.of(WHOLE, room=1)),
    ):
        with pytest.raises(bs.InputError, match="only counts, and counts everything"):
            search()


@pytest.mark.parametrize(
    "name", ["memo:", "memo:x", "memo:-1", "memo:0", "memo:1.5", "memo:9" * 30]
)
def test_bad_sizes_are_refused(name):
    with pytest.raises(bs.InputError, match="megabytes"):
        get_engine(name)


def test_a_table_that_does_not_fit_is_refused():
    with pytest.raises(bs.InputError, match=f"a table of {2**30} MB"):
        get_engine(f"memo:{2**30}").search(bs.Sudoku(2, 2), Task.of(WHOLE))


def test_other_engines_have_no_size():
    with pytest.raises(bs.InputError, match="no engine is called 'dlx:64'"):
        get_engine("dlx:64")


def cli(*arguments):
    return CliRunner().invoke(app, ["count", *arguments, "--quiet", "--jobs", "1"])


def test_the_command():
    plain = cli("dominoes:8x8", "--memo")
    assert (plain.exit_code, plain.stdout) == (0, "12988816\n")
    line = json.loads(cli("dominoes:8x8", "--memo", "--memo-size", "8", "--json").stdout)
    assert (line["count"], line["complete"], line["engine"]) == (12_988_816, True, "memo:8")
    assert line["nodes"] < 10_000


@pytest.mark.parametrize(
    "wrong",
    [
        ["--memo-size", "8"],
        ["--memo", "--engine", "sat"],
        ["--memo", "--memo-size", "0"],
        ["--memo", "--limit", "3"],
    ],
)
def test_wrong_usage(wrong):
    assert cli("queens:6", *wrong).exit_code == 2


def test_an_engine_that_only_counts_is_refused_where_solutions_are_wanted():
    with pytest.raises(bs.InputError, match="only counts; it solves no puzzles"):
        bs.solve_batch(np.zeros((1, 16), np.uint8), engine="memo", jobs=1)
    with pytest.raises(bs.InputError, match="has no tree of its own"):
        bs.estimate(bs.Sudoku(2, 2), engine="memo")
