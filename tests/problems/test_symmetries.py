"""Symmetries: groups, orbits by brute force, known numbers."""

import json

import numpy as np
import pyarrow as pa
import pytest
from conftest import bounded_problems, problems
from hypothesis import given, strategies as st
from invoking import invoke, refused
from oracles import bounded_covers, covers, orbits

import batchsolve as bs
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.sources import TableSource


@st.composite
def symmetric_problems(draw):
    """Draw a small problem, perhaps with bounds or colours, and a permutation that preserves it."""
    problem = draw(problems(5, 5, 2) | bounded_problems())
    kinds = {}
    for i in range(problem.n_items):
        bounds = problem.bounds is not None and i < problem.n_primary and tuple(problem.bounds[i])
        kinds.setdefault((i < problem.n_primary, bounds), []).append(i)
    items = list(range(problem.n_items))
    for same in kinds.values():
        for i, j in zip(same, draw(st.permutations(same)), strict=True):
            items[i] = j
    options = {frozenset(problem.coloring(o).items()) for o in range(problem.n_options)}
    while more := {frozenset((items[i], c) for i, c in o) for o in options} - options:
        options |= more
    rows = sorted(sorted(option) for option in options)[:12]
    kept = {frozenset(row) for row in rows}
    if kept != {frozenset((items[i], c) for i, c in row) for row in kept}:
        rows, items = rows[:0], list(range(problem.n_items))  # a cycle was cut
    again = bs.ExactCover(
        np.cumsum([0, *map(len, rows)]),
        [i for row in rows for i, _ in row],
        problem.n_items,
        problem.n_primary,
        colors=[c for row in rows for _, c in row],
        bounds=problem.bounds,
    )
    return again, {str(i): str(j) for i, j in enumerate(items)}


@given(drawn=symmetric_problems(), budget=st.integers(1, 9))
def test_one_cover_of_each_orbit_is_found(drawn, budget):
    problem, generator = drawn
    group = bs.Symmetries.generated(problem, [generator])
    images = group.images.tolist()
    everything = bounded_covers(problem)
    for image in images:
        assert {frozenset(image[o] for o in cover) for cover in everything} == everything
    expected = {tuple(min(map(sorted, orbit))) for orbit in orbits(everything, images)}
    found = [
        tuple(sorted(cover.tolist()))
        for cover in bs.solutions(problem, jobs=2, budget=budget, up_to_symmetry=group)
    ]
    assert len(found) == len(set(found))
    assert set(found) == expected
    assert bs.count(problem, jobs=1, up_to_symmetry=group).count == len(expected)
    assert bs.count(problem, jobs=1, up_to_symmetry=group, limit=2).count == min(2, len(expected))


# queens: OEIS A002562; tilings of 3x20 by pentominoes: two, as S. W. Golomb shows in Polyominoes;
# langford:4, latin:3 and dominoes: the orbits of all covers, found by brute force
KNOWN = {
    **{"queens:4": 1, "queens:5": 2, "queens:6": 1, "queens:7": 6, "queens:8": 12, "queens:9": 46},
    **{"pentominoes:3x20": 2, "langford:7": 26, "langford:8": 150, "dominoes:4x4": 9},
    **{"langford:4": 1, "latin:3": 3, "dominoes:4x5": 33},
}


@pytest.mark.parametrize(("name", "count"), KNOWN.items())
def test_known_numbers_up_to_symmetry(name, count):
    assert bs.count(name, up_to_symmetry=True).count == count


def test_numbers_in_names_of_items_may_be_long():
    far = 10**12
    options = [[f"r1c{far}", f"r1c{far + 1}"], [f"r1c{far}"], [f"r1c{far + 1}"]]
    problem = bs.ExactCover.from_options(options)
    assert bs.symmetries(problem).images.tolist() == [[0, 1, 2], [0, 2, 1]]


SAID = [("steiner:7", (), True), ("queens:6", (1,), True), ("queens:6", (), False)]


@pytest.mark.parametrize(("problem", "stack", "is_said"), SAID)
def test_problems_without_symmetries_say_so(caplog, problem, stack, is_said):
    bs.count(problem, stack, up_to_symmetry=True)
    assert ("no symmetries are known that leave the problem" in caplog.text) == is_said


def test_boards_of_every_form_have_their_symmetries():
    assert len(bs.symmetries(bs.family("dominoes:4x5"))) == 4
    assert len(bs.symmetries(bs.tiling("2x2x2", {"domino": "XX"}, use="any number"))) == 48
    assert len(bs.symmetries(bs.tiling(".#./...", {"X": "X"}, use="any number"))) == 2
    corners = [[f"r{r}", f"c{c}", f"s{r + c}"] for r in (1, 2, 3) for c in (1, 2, 3)]
    sides, sums = [f"{axis}{k}" for axis in "rc" for k in (1, 2, 3)], [f"s{k}" for k in range(2, 7)]
    assert len(bs.symmetries(bs.ExactCover.from_options(corners, sides, sums))) == 4
    assert len(bs.symmetries(bs.ExactCover.from_options([["a"], ["b"]]))) == 1


RULED = [
    (4, {"rules": "x"}),
    (4, {"rules": "antiknight"}),
    (4, {"regions": "ABBB AABC ADCC DDDC"}),
    (4, {"regions": "AAAA BBBB CCCC DDDD"}),
    (4, {"cages": ".AA..BB..CC..DD.", "sums": "A=5 B=5 C=5 D=5"}),
    (4, {"marks": "ee............ee"}),
    (6, {"rules": "x"}),
]


@pytest.mark.parametrize(("n", "rules"), RULED)
def test_grids_with_rules_are_turned_and_reflected(n, rules):
    row = pa.table({"puzzle": ["." * n * n]} | {name: [text] for name, text in rules.items()})
    ((problem, _),) = next(Corpus([TableSource(row, "row")]).batches()).groups()
    problem = problem.of_row(0)
    covers = (np.sort(cover) for cover in bs.solutions(problem))
    grids = {tuple((cover[: n * n] % n).tolist()) for cover in covers}
    cells = np.arange(n * n).reshape(n, n)
    moves = [np.rot90(sides, k).ravel() for sides in (cells, cells.T) for k in range(4)]
    kept = [move for move in moves if {tuple(grid[c] for c in move) for grid in grids} == grids]
    orbits = {min(tuple(grid[c] for c in move) for move in kept) for grid in grids}
    assert len(bs.symmetries(problem)) == len(kept)
    assert bs.count(problem, up_to_symmetry=True).count == len(orbits) < len(grids)


# the image of A is D, not C, in any order; the piece r1 is no row, and s2 no place on a line
@pytest.mark.parametrize("names", ["A B C D", "A B D C", "r1 B C D", "s2 B C D"])
def test_pieces_become_their_reflections(names):
    shapes = {"B": "XXX/X..", "C": "XXX/..X", "D": "XXX/..X"}
    pieces = {name: shapes.get(name, "XXX/X..") for name in names.split()} | {"I": "XXXX"}
    use = {"B": "at most once", "C": "at most once", "I": "any number"}
    problem = bs.tiling("4x4", pieces, kind="one-sided", use=use)
    group = bs.symmetries(problem)
    assert len(group) == 8
    found = covers(problem)
    assert found
    assert bs.count(problem, up_to_symmetry=True).count == len(orbits(found, group.images))


def test_symmetries_that_change_the_clues_do_not_count():
    problem = bs.family("queens:6")
    whole = bs.symmetries(problem)
    assert (len(whole), len(whole.stabiliser([0]))) == (8, 2)
    for wrong in (-1, whole.images.shape[1]):
        with pytest.raises(bs.ProblemError, match=f"unknown option {wrong}; "):
            whole.stabiliser([wrong])
    for o in range(problem.n_options):
        expected = len(orbits(covers(problem, (o,)), whole.stabiliser([o]).images))
        assert bs.count(problem, (o,), up_to_symmetry=True).count == expected


def test_symmetries_of_a_file(tmp_path):
    # exchanging two digits of a Latin square is a symmetry
    names = [f"r{k}#{d}" for k in "123" for d in "12"] + [f"c{k}#{d}" for k in "123" for d in "12"]
    exchange = {name: name[:-1] + "21"[int(name[-1]) - 1] for name in names}
    path = tmp_path / "digits.json"
    path.write_text(json.dumps([exchange]))
    printed = invoke("count", "latin:3", "--symmetries", path)
    assert (printed.exit_code, printed.stdout) == (0, "6\n")  # of 12
    both = invoke("count", "latin:3", "--symmetries", path, "--up-to-symmetry")
    problem = bs.family("latin:3")
    group = bs.Symmetries.generated(problem, [exchange]).joined(bs.symmetries(problem))
    assert int(both.stdout) == len(orbits(covers(problem), group.images))
    all_of_them = bs.structure_symmetries(bs.family("latin:4"))  # 82,944, the board's among them
    assert all_of_them.joined(bs.symmetries(bs.family("latin:4"))) is all_of_them


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_a_run_up_to_symmetry_is_resumed(backend, tmp_path):
    run, output = tmp_path / "run", tmp_path / "queens.jsonl"
    begun = ["enumerate", "queens:8", "-o", run, "--up-to-symmetry", "--backend", backend]
    begun += ["--jobs", "2", "--budget", "50"]
    assert invoke(*begun, "--node-limit", "400").exit_code == 1
    assert invoke(*begun, "--resume").exit_code == 0
    assert invoke("export", run, "-o", output).exit_code == 0
    assert len(set(output.read_text().splitlines())) == 12
    assert "had symmetries = " in refused("enumerate", "queens:8", "-o", run, "--resume")
    counted = tmp_path / "counted"
    assert invoke("count", "queens:8", "--run", counted, "--up-to-symmetry").stdout == "12\n"


BAD_FILES = [
    ("{", "not JSON that can be read"),
    ("{}", "expected a list of objects such as"),
    ('[{"a": 1}]', "symmetry 1: expected an object that says which item becomes which"),
    ('[{"r1": "x"}]', "symmetry 1: unknown item 'x'"),
    ('[{"r1": "r2"}]', "symmetry 1 maps two items, or two colours, to one"),
    ('[{"r1": "r2", "r2": "r1"}]', "symmetry 1 does not map every option to an option"),
]


@pytest.mark.parametrize(("text", "message"), BAD_FILES)
def test_files_of_symmetries_that_cannot_be(text, message, tmp_path):
    path = tmp_path / "bad.json"
    path.write_text(text)
    said = refused("count", "queens:4", "--symmetries", path)
    assert said.startswith(f"batchsolve: {path}: {message}")


def test_groups_that_are_too_large_are_refused(monkeypatch):
    monkeypatch.setattr("batchsolve.problems.symmetries.MOST_ENTRIES", 100)
    problem = bs.ExactCover.from_options([[k] for k in range(6)])
    turns = [{"0": "1", "1": "0"}, {str(k): str((k + 1) % 6) for k in range(6)}]
    with pytest.raises(bs.ProblemError, match="more than 16 symmetries"):
        bs.Symmetries.generated(problem, turns)
