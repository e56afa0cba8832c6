import json
import tracemalloc
from collections import Counter
from random import Random
from unittest.mock import Mock

import numpy as np
import pytest
from conftest import bounded_problems, coloured_problems, flip, problems, wide
from hypothesis import given, strategies as st
from invoking import invoke, refused
from oracles import bounded_covers, chi_square, covers

import batchsolve as bs
from batchsolve.core.interrupts import asking
from batchsolve.engines.memo import narrow_order
from batchsolve.formats.exact_cover_files import read_dlx
from batchsolve.formats.whole_files import sealed
from batchsolve.search import graph_drawing, graphs
from batchsolve.search.graph_drawing import GraphSearch, reordered

any_problem = problems() | coloured_problems() | bounded_problems()


def sets(stacks):
    return [frozenset(cover.tolist()) for cover in stacks]


def check_whole(graph, expected):
    """Check a graph against the set of all covers, through every query that it offers."""
    found = sets(graph)
    assert graph.count == len(found) == len(expected)
    assert set(found) == expected
    assert all(cover in graph for cover in expected)
    assert not any([*cover, *cover] in graph for cover in expected if cover)
    assert sets(graph.covers(range(graph.count))) == found
    assert not expected or expected.issuperset(sets(graph.sample(3)))


def draw(problem, stack=(), ordered=True, megabytes=64):
    stack = np.array(stack, np.uint32)
    return graph_drawing.draw(problem, stack, megabytes=megabytes, ordered=ordered)


@given(data=st.data(), problem=any_problem, ordered=st.booleans())
def test_a_graph_has_the_covers_of_the_slow_solver(data, problem, ordered, tmp_path_factory):
    """Below a stack, with and without an option, and read from a file."""
    n, decisions = problem.n_options, st.integers(0, max(0, problem.n_decisions - 1))
    stack = data.draw(st.lists(decisions, unique=True, max_size=3)) if n else []
    if problem.clash_position(stack) >= 0:
        stack = []
    every = bounded_covers(problem, stack)
    graph = bs.solution_graph(problem, stack, ordered=ordered)
    check_whole(graph, every)
    assert graph.is_ordered or not ordered
    if n:
        option = data.draw(st.integers(0, n - 1))
        check_whole(graph.with_option(option), {c for c in every if option in c})
        check_whole(graph.without_option(option), {c for c in every if option not in c})
    if graph.is_ordered:
        path = tmp_path_factory.mktemp("graphs") / "graph.zdd"
        graph.save(path)
        again = bs.SolutionGraph.load(path, problem)
        assert sets(again) == sets(graph)
        assert again.order.tolist() == graph.order.tolist()


@given(problem=problems(most_options=20) | coloured_problems())
def test_every_search_and_the_reordering_draw_the_same_ordered_diagram(problem):
    searches = [GraphSearch.of(problem, items) for items in (narrow_order(problem), None)]
    nodes = []
    for search in searches:
        search.core.may_take(2**24)
        search.core.run(2**40)
        nodes.append(search.take())
    order = searches[0].options.astype(np.uint32)
    fixed = bs.SolutionGraph(problem, *nodes[0], order)
    drawn = bs.SolutionGraph(problem, *reordered(nodes[1], order, 64, steps=5), order)
    assert (fixed.count, fixed.n_nodes) == (drawn.count, drawn.n_nodes)
    assert sets(fixed) == sets(drawn)  # equal lists, so the order is the same


def test_counts_of_any_size_are_exact_and_so_are_numbers_of_covers():
    problem = wide(*[3] * 300)
    graph = bs.solution_graph(problem)
    assert graph.count == 3**300
    first, last = graph.covers([0, 3**300 - 1])
    assert {o % 3 for o in first.tolist()} == {0}
    assert {o % 3 for o in last.tolist()} == {2}
    for cover in graph.sample(20, seed=5):
        problem.verify(cover.tolist())
    with pytest.raises(bs.InputError, match="numbered from 0; not"):
        graph.covers([3**300])


def test_clues_whose_forced_options_clash_have_no_cover():
    reading = bs.read_problem("datasets/several.csv#1")
    assert bs.solution_graph(reading).count == bs.count(reading).count == 0


def test_a_diagram_that_grows_is_the_same(monkeypatch):
    expected = bs.solution_graph("latin:4")
    monkeypatch.setattr(graph_drawing, "FIRST_NODES", 3)
    monkeypatch.setattr(graph_drawing, "FIRST_KEYS", 1)
    monkeypatch.setattr(graph_drawing, "FIRST_TURN", 1)
    monkeypatch.setattr(graph_drawing, "TURNS_OF_ALL", 1000)  # so that the same racer wins
    graph = bs.solution_graph("latin:4")
    for name in ("option", "low", "high"):
        assert getattr(graph, name).tolist() == getattr(expected, name).tolist()


def test_searches_give_up_one_after_the_other_and_then_say_so(monkeypatch):
    monkeypatch.setattr(graph_drawing, "MEGABYTE", 1000)
    with pytest.raises(bs.InputError, match=r"takes more than 600 megabytes, and had .* nodes"):
        draw(bs.family("latin:5"), megabytes=600)
    with pytest.raises(bs.InputError, match="memory is 1 to"):
        bs.solution_graph("queens:4", memory=0)
    with pytest.raises(bs.InputError) as caught:
        bs.sample("latin:5", 3, memory=1)
    assert caught.value.__notes__ == ["or draw `weighted` samples, which need no graph"]
    with pytest.raises(bs.InputError, match="memory is 1 to") as caught:
        bs.sample("latin:5", 3, memory=0)
    assert not hasattr(caught.value, "__notes__")
    with pytest.raises(bs.InputError, match="no such file") as caught:
        bs.sample("quens:5", 3)
    assert not hasattr(caught.value, "__notes__")


def test_a_search_can_be_interrupted():
    with pytest.raises(KeyboardInterrupt):
        bs.solution_graph("latin:6", check=Mock(side_effect=KeyboardInterrupt))


def test_a_search_knows_its_share():
    search = GraphSearch.of(bs.family("queens:6"))
    search.core.may_take(2**24)
    shares = []
    while not search.core.is_done:
        shares.append(search.core.share)
        search.core.run(3)
    assert shares == sorted(shares)
    assert (shares[0], search.core.share) == (0.0, 1.0)
    assert 0.2 < shares[len(shares) // 2] < 0.8


# ---- sums over all covers -------------------------------------------------------------------


@given(problem=problems() | coloured_problems(), data=st.data(), ordered=st.booleans())
def test_sums_are_those_of_the_list(problem, data, ordered):
    weights = data.draw(st.lists(st.integers(-3, 9), min_size=14, max_size=14))
    weights = weights[: problem.n_options]
    graph = bs.solution_graph(problem, ordered=ordered)
    found = covers(problem)
    sizes = Counter(map(len, found))
    assert list(graph.distribution().items()) == sorted(sizes.items())
    sums = Counter(sum(weights[o] for o in cover) for cover in found)
    assert list(graph.distribution(weights).items()) == sorted(sums.items())
    assert bs.distribution(problem) == sizes
    held = Counter(o for cover in found for o in cover)
    assert graph.uses() == [held[o] for o in range(problem.n_options)]


def test_known_distributions():
    # partitions of a set by their number of parts: Stirling numbers of the second kind
    assert [*bs.distribution("partitions:8").values()] == [1, 127, 966, 1701, 1050, 266, 28, 1]
    # the partner of a point is each of the others in equally many perfect matchings
    graph = bs.solution_graph("matchings:7")
    assert set(graph.uses()) == {graph.count // 13}
    graph = bs.solution_graph("dominoes:14x14")  # 112,202,208,776,036,178,000,000: OEIS A004003
    assert graph.distribution() == {98: 112202208776036178000000}
    assert graph.uses()[0] == graph.count // 2
    assert sum(graph.uses()) == 98 * graph.count


def test_costs_of_covers_below_clues(tmp_path):
    path = tmp_path / "costs.dlx"
    path.write_text("a b c\na b |$25\na |$20\nb |$2\nc\n")
    facts = json.loads(invoke("count", path, "--by", "options", "--json").stdout)
    assert (facts["count"], facts["distribution"]) == (2, [[2, 1], [3, 1]])
    assert bs.distribution(str(path), "cost", stack=[1]) == {22: 1}


def test_sums_that_take_too_much_memory():
    graph = bs.solution_graph("latin:4")
    assert len(graph.distribution([7**k for k in range(graph.problem.n_options)])) == 576
    with pytest.raises(bs.InputError, match="the sums of all covers take more than 1 megabyte"):
        bs.solution_graph("dominoes:6x6").distribution([2**k for k in range(60)], memory=1)
    with pytest.raises(bs.InputError, match="2 weights for 64 options"):
        graph.distribution([1, 2])


# ---- samples --------------------------------------------------------------------------------


COLOURED = read_dlx("a b | x y\na x:1\na x:2\nb x:1\nb x:2\nb\na y\nb y\n")
SAMPLED = [*map(bs.family, ("queens:6", "queens:7", "sudoku:2x2", "langford:7")), COLOURED]
DOMINOES = bs.family("dominoes:4x4")


@pytest.mark.parametrize(
    ("problem", "stack"),
    [*((problem, ()) for problem in SAMPLED), (DOMINOES, ()), (DOMINOES, (3,))],
)
def test_all_covers_are_drawn_with_the_same_chance(problem, stack):
    drawn, every = bs.sample(problem, 20_000, stack=stack, seed=11), covers(problem, stack)
    assert drawn.count == len(every)
    assert abs(chi_square(sets(drawn), every)) < 4


def test_weights_are_the_reciprocals_of_chances():
    problem = bs.family("queens:6")
    drawn = bs.sample(problem, 3000, seed=2, weighted=True)
    sums = Counter()
    for cover, weight in zip(sets(drawn), drawn.weights, strict=True):
        sums[cover] += weight / drawn.probes
    assert set(sums) == covers(problem)
    assert all(abs(each - 1) < 0.2 for each in sums.values())
    assert drawn.count is None


def test_a_sample_depends_on_its_seed_only():
    few, many = (bs.sample("dominoes:8x8", n, seed=7) for n in (5, 100))
    assert sets(few) == sets(many)[:5]
    assert sets(bs.sample("dominoes:8x8", 5, seed=8)) != sets(few)
    again = [bs.sample("queens:8", 20, seed=3, weighted=True) for _ in range(2)]
    assert sets(again[0]) == sets(again[1])
    # this seed has drawn this cover since the first version
    assert bs.sample("queens:8", 1).covers.options.tolist() == [39, 28, 11, 41, 5, 16, 58, 54]


@pytest.mark.parametrize("n", [1, 40, 47, 92])
def test_distinct_samples(n):
    drawn = sets(bs.sample("queens:8", n, seed=4, distinct=True))
    assert len(drawn) == len(set(drawn)) == n


def test_distinct_samples_have_equal_chances():
    graph = bs.solution_graph("queens:6")
    drawn = (graph.sample(n, seed, distinct=True) for n in (1, 2) for seed in range(300))
    tally = Counter(frozenset(sets(each)) for each in drawn)
    assert len(tally) == 4 + 6
    assert all(abs(n - (75 if len(c) == 1 else 50)) < 25 for c, n in tally.items())


def test_probes_that_find_nothing_end(monkeypatch):
    monkeypatch.setattr("batchsolve.runs.estimate.FRUITLESS_PROBES", 2000)
    with pytest.raises(bs.InputError, match="2,000 probes, one after the other, found no cover"):
        bs.sample("dominoes:3x3", 1, weighted=True)
    assert len(bs.sample("dominoes:3x3", 0)) == len(bs.sample("queens:4", 0, weighted=True)) == 0


@given(st.integers(1, 2**200), st.integers(0, 50), st.integers(0, 9))
def test_random_numbers_are_less_than_their_bound(count, n, seed):
    n_words = max(1, (count.bit_length() + 63) // 64)
    drawn = graphs.random_numbers(count, n, seed, False, n_words)
    assert drawn.shape == (n, n_words)
    assert all(int.from_bytes(words.tobytes(), "little") < count for words in drawn)


# ---- files ----------------------------------------------------------------------------------


def test_damage_of_any_byte_is_one_error(saved, tmp_path):
    data, problem, path = saved.read_bytes(), bs.family("queens:6"), tmp_path / "damaged.zdd"
    rng = Random(1)
    for _ in range(200):
        path.write_bytes(data)
        flip(path, rng)
        with pytest.raises(bs.InputError, match=r"damaged\.zdd: "):
            bs.SolutionGraph.load(path, problem)
    for end in [0, 1, *rng.choices(range(len(data)), k=30), len(data) - 1]:
        path.write_bytes(data[:end])
        with pytest.raises(bs.InputError, match=r"damaged\.zdd: "):
            bs.SolutionGraph.load(path, problem)


WRONG_NODES = ["2 9 B T", "2 1 B 5", "2 1 5 T", "2 1 B", "2 1 B T x", "2 1 B ", "2 -1 B T"]


ELSEWHERE = [
    *((nodes, {}, "(nodes have|cannot be read)") for nodes in (*WRONG_NODES, "2 1 B B3")),
    *(
        ("2 1 B T", other, "it holds .*, not a graph of version 1; ")
        for other in ({"batchsolve": "x"}, {"version": 2}, {"version": None}, {"version": "1"})
    ),
]


@pytest.mark.parametrize(("nodes", "other", "message"), ELSEWHERE)
def test_nodes_and_records_of_others_are_refused_though_sealed(nodes, other, message, tmp_path):
    problem = bs.ExactCover.from_options([["a"], ["a"]])
    text = nodes + "\n.\n"
    about = {"batchsolve": "graph", "version": 1, "problem": problem.fingerprint}
    about |= {"options": [0, 1], "count": 1} | other
    (tmp_path / "g.zdd").write_text(text + json.dumps(sealed(about, text)) + "\n")
    with pytest.raises(bs.InputError, match=rf"g\.zdd: {message}"):
        bs.SolutionGraph.load(tmp_path / "g.zdd", problem)


def test_a_graph_of_another_problem_and_one_without_an_order_are_refused(saved, tmp_path):
    with pytest.raises(bs.InputError, match="belongs to another problem"):
        bs.SolutionGraph.load(saved, bs.family("queens:7"))
    (tmp_path / "g.zdd").write_bytes(saved.read_bytes().replace(b'"count": ', b'"count": 1'))
    with pytest.raises(bs.InputError, match="the graph is damaged"):
        bs.SolutionGraph.load(tmp_path / "g.zdd", bs.family("queens:7"))
    graph = draw(bs.family("queens:6"), ordered=False)
    loose = bs.SolutionGraph(graph.problem, graph.option, graph.low, graph.high, graph.root)
    with pytest.raises(bs.InputError, match="only a graph with options in one order"):
        loose.save(tmp_path / "x.zdd")


@given(problem=problems() | coloured_problems())
def test_graphillion_reads_the_same_sets(problem, tmp_path_factory):
    graphillion = pytest.importorskip("graphillion")
    path = tmp_path_factory.mktemp("graphs") / "graph.zdd"
    graph = draw(problem)
    graph.save(path)
    graphillion.setset.set_universe([str(o) for o in graph.order] or ["none"])
    with open(path) as file:
        theirs = graphillion.setset.load(file)
    assert len(theirs) == graph.count
    assert {frozenset(map(int, one)) for one in theirs} == set(sets(graph))


# ---- the commands ---------------------------------------------------------------------------


def lines(result):
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_the_commands(tmp_path):
    path, kept = tmp_path / "tilings.zdd", tmp_path / "kept.zdd"
    drawn = invoke("count", "dominoes:4x4", "--memo", "--graph", path)
    assert (drawn.exit_code, drawn.stdout) == (0, "36\n")
    assert "36 solutions; " in drawn.stderr
    [facts] = lines(invoke("count", "dominoes:4x4", "--memo", "--graph", path, "--json"))
    assert (facts["count"], facts["complete"]) == (36, True)
    assert invoke("graph", "dominoes:4x4", path).stdout == "36\n"
    listed = lines(invoke("graph", "dominoes:4x4", path, "--with", "r1c1 r1c2", "--list"))
    assert all("r1c1 r1c2" in row["options"] for row in listed)
    assert len(listed) == 18
    assert invoke("graph", "dominoes:4x4", path, "--without", "0", "-o", kept).stdout == "18\n"
    [facts] = lines(invoke("graph", "dominoes:4x4", kept, "--json"))
    assert facts["count"] == 18
    assert len(lines(invoke("graph", "dominoes:4x4", kept, "--sample", 5, "--distinct"))) == 5


def test_the_command_sample(tmp_path):
    grids = lines(invoke("sample", "sudoku:2x2", "-n", 3, "--seed", 1))
    assert [len(row["grid"]) for row in grids] == [16] * 3
    out = tmp_path / "out.jsonl"
    said = invoke("sample", "queens:6", "-n", 3, "--weighted", "-o", out)
    assert (said.exit_code, said.stdout) == (0, "")
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert all(row["weight"] > 0 and len(row["options"]) == 6 for row in rows)
    assert "--weighted" in refused("sample", "latin:5", "--memory", 1)


def test_covers_are_found_in_blocks_between_which_ctrl_c_is_heard(monkeypatch):
    graph, heard = bs.solution_graph("queens:8"), []
    whole = sets(graph.sample(25, seed=3))
    monkeypatch.setattr(graphs, "BLOCK", 10)
    with asking(lambda: heard.append(True)):
        assert sets(graph.sample(25, seed=3)) == whole
    assert len(heard) == 2


def test_a_graph_with_bounds_keeps_to_its_memory():
    options = [[(7 * k + j * j * (1 + k % 5)) % 24 for j in range(3)] for k in range(200)]
    options = [sorted(set(option)) for option in options]
    problem = bs.ExactCover.from_options(options, bounds=dict.fromkeys(range(24), (1, 3)))
    bs.solution_graph("edgecovers:4")  # loads what is not its memory
    tracemalloc.start()
    with pytest.raises(bs.InputError, match="takes more than 16 megabytes"):
        bs.solution_graph(problem, memory=16)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16 * 2**20


def test_options_of_one_name_have_numbers(tmp_path):
    path, graph = tmp_path / "n.dlx", tmp_path / "n.zdd"
    path.write_text("1 2\n2\n1\n1\n2\n1 2\n")  # options 1 and 2 are called 1
    assert invoke("count", path, "--memo", "--graph", graph).stdout == "5\n"
    assert invoke("graph", path, graph, "--with", "#1").stdout == "2\n"
    done = invoke("graph", path, graph, "--with", "1")
    assert "are all called '1'; give a number, as #1" in done.stderr


def test_a_graph_of_other_clues_is_refused(tmp_path):
    one, more, other = "12..............", "12..3...........", "21.............."
    readings = [bs.read_problem(text) for text in (one, more, other)]
    path = tmp_path / "one.zdd"
    bs.solution_graph(readings[0]).save(path)
    graph, again = (bs.SolutionGraph.load(path, each.problem, each.stack) for each in readings[:2])
    assert graph.count == again.count == bs.count(one).count
    assert graph.stack == tuple(readings[0].stack.tolist())
    for reading in (readings[2], bs.read_problem("sudoku:2x2")):
        with pytest.raises(bs.InputError, match=r"this graph has the clue 'r1c1#1', which is none"):
            bs.SolutionGraph.load(path, reading.problem, reading.stack)
    assert graph.below(readings[1].stack).stack == tuple(readings[1].stack.tolist())
    assert graph.below(readings[1].stack).count == bs.count(more).count
    whole, kept = tmp_path / "whole.zdd", tmp_path / "kept.zdd"
    bs.solution_graph("sudoku:2x2").save(whole)
    assert invoke("graph", one, whole, "-o", kept).stdout == f"{graph.count}\n"
    assert invoke("graph", other, kept).stderr.startswith(f"batchsolve: {kept}: this graph has")
