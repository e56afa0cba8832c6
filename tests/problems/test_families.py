import math

import pytest
from conftest import n_covers
from oracles import covers

import batchsolve as bs
from batchsolve.problems.families import FAMILIES, family, pentominoes, queens

COUNTS = {
    "queens": {"1": 1, "2": 0, "6": 4, "8": 92, "12": 14_200},
    "langford": {"1": 0, "3": 2, "6": 0, "7": 52, "8": 300, "11": 35_584},
    "dominoes": {"1x1": 0, "1x2": 1, "3x3": 0, "4X5": 95, "5x4": 95, "6x6": 6_728},
    "pentominoes": {"1x60": 0, "3x20": 8, "6x10": 9_356},
    "latin": {"1": 1, "3": 12, "4": 576, "5": 161_280},
    "sudoku": {"2x2": 288, "1x5": 161_280},
    # (2n - 1)!!, OEIS A001147
    "matchings": {"1": 1, "2": 3, "3": 15, "4": 105, "5": 945, "6": 10_395},
    # Bell numbers, OEIS A000110
    "partitions": {"1": 1, "2": 2, "3": 5, "4": 15, "5": 52, "6": 203, "7": 877, "8": 4_140},
    # labelled Steiner triple systems, OEIS A030128
    "steiner": {"1": 1, "2": 0, "3": 1, "6": 0, "7": 30, "8": 0, "9": 840},
}
MANY_NODES = ("queens:12", "langford:11", "pentominoes:6x10")  # for all engines and graphs
LARGE = {  # for graphs and tables alone
    "dominoes:8x8": 12_988_816,
    "dominoes:16x16": 2_444_888_770_250_892_795_802_079_170_816,
    "matchings:10": 654_729_075,
}


@pytest.mark.parametrize("name", COUNTS)
def test_known_counts(name):
    for size, count in COUNTS[name].items():
        text = f"{name}:{size}"
        assert bs.count(text, jobs=1).count == count, text
        if text not in MANY_NODES:
            for engine in ("cells", "bits", "memo:8"):
                assert bs.count(text, engine=engine, jobs=1).count == count, text
            assert bs.solution_graph(text).count == count, text


@pytest.mark.parametrize("text", LARGE)
def test_known_counts_of_large_problems(text):
    assert bs.count(text, engine="memo:8", jobs=1).count == LARGE[text]
    assert bs.solution_graph(text).count == LARGE[text]


LARGE_TABLES = {"matchings:13": 7_905_853_580_625, "partitions:12": 4_213_597}


@pytest.mark.large
@pytest.mark.parametrize(("text", "count"), LARGE_TABLES.items())
def test_known_counts_of_large_tables(text, count):
    assert bs.count(text, engine="memo", jobs=1).count == count


def test_triple_systems_on_13_points():
    # The triples of one point are a perfect matching of the other 12: there are 11!! of them. Up to
    # the names of points there are two systems, with 6 and 39 symmetries (de Pasquale 1899).
    problem = family("steiner:13")
    option = {problem.option_name(o): o for o in range(problem.n_options)}
    of_one_point = [option[f"1 {a} {a + 1}"] for a in range(2, 13, 2)]
    systems = n_covers(problem, of_one_point) * (11 * 9 * 7 * 5 * 3)
    assert systems == math.factorial(13) // 6 + math.factorial(13) // 39


FEW = "queens:5 langford:4 dominoes:3x4 latin:3 pentominoes:60x1 matchings:3 partitions:4 steiner:7"


@pytest.mark.parametrize("text", FEW.split())
def test_small_families_agree_with_the_slow_solver_and_have_different_names(text):
    problem = family(text)
    assert n_covers(problem) == len(covers(problem))
    assert len(set(problem.item_names)) == problem.n_items
    assert len({problem.option_name(o) for o in range(problem.n_options)}) == problem.n_options


def test_queens_come_from_the_middle_and_have_names_of_squares():
    problem = queens(5)
    assert " ".join(problem.item_names[:10]) == "r3 c3 r4 c4 r2 c2 r5 c5 r1 c1"
    assert (problem.n_primary, problem.n_items) == (10, 28)
    assert queens(28).option_names[25:29] == ("z1", "aa1", "ab1", "a2")
    for cover in covers(problem):
        assert {problem.option_name(o)[0] for o in cover} == set("abcde")


REFUSED = [
    ("quens:8", "unknown family 'quens'; choose from queens:N, langford:N, dominoes:RxC"),
    ("queens", "queens: '' is not a size; write queens:N, such as queens:8"),
    ("queens:8x8", "queens:8x8: '8x8' is not a size; write queens:N"),
    ("queens:-3", "'-3' is not a size"),
    ("queens:٨", "'٨' is not a size"),
    ("queens:" + "9" * 5000, "is not a size"),
    ("queens:0", "queens:0: sizes are at least 1, not 0"),
    ("queens:1001", "queens:1001: 1,002,001 options; 1,000,000 are possible: N is at most"),
    ("langford:708", "possible: N is at most 707"),
    ("dominoes:1000x501", "possible: R x C is at most 500,000"),
    ("sudoku:20x20", "possible: R x C is at most 100"),
    ("matchings:708", "possible: N is at most 707"),
    ("partitions:30", "1,073,741,823 options; 1,000,000 are possible: N is at most 19"),
    ("partitions:999999999", "99: more than 1,000,000,000,000 options; 1,000,000 are possible"),
    ("steiner:183", "possible: N is at most 182"),
    ("latin:101", "1,030,301 options; 1,000,000 are possible: N is at most 100"),
    ("pentominoes:8x8", "pentominoes:8x8: twelve pentominoes tile 60 cells, not 8×8"),
    ("sudoku:9", "sudoku:9: '9' is not a size; write sudoku:RxC, such as sudoku:3x3"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_unknown_families_and_bad_sizes_are_refused(text, message):
    with pytest.raises(bs.InputError) as caught:
        family(text)
    assert message in str(caught.value)


def test_functions_refuse_bad_sizes_too():
    with pytest.raises(bs.ProblemError, match="not -6×-10"):
        pentominoes(-6, -10)
    for name, (build, form, example) in FAMILIES.items():
        with pytest.raises(bs.ProblemError):
            build(*[0] * len(form.split("x")))
        assert form.startswith(f"{name}:")
        assert family(example).n_options > 0


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7])
def test_queens_are_what_their_names_say(n):
    problem = queens(n)
    squares = [(r, c) for r in range(1, n + 1) for c in range(1, n + 1)]
    by_name = bs.ExactCover.from_options(
        [[f"r{r}", f"c{c}", f"a{r + c}", f"b{r - c}"] for r, c in squares],
        problem.item_names[: 2 * n],
        problem.item_names[2 * n :],
    )
    assert problem.fingerprint == by_name.fingerprint
    assert problem.option_names == tuple(f"{'abcdefg'[c - 1]}{r}" for r, c in squares)
