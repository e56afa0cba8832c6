"""Heat maps: their tooltips say what a list of all solutions says."""

import re

import pytest
from invoking import invoke
from oracles import covers

import batchsolve as bs
from batchsolve.pictures.heat import HOT
from batchsolve.problems.families import family

TOOLTIP = re.compile(r"<title>([\d,]+) of ([\d,]+) \(([\d.]+)%\)</title>([^<]*)")


def told(picture):
    return [(int(n), int(count), text) for n, count, _, text in TOOLTIP.findall(picture.svg)]


def test_squares_are_as_dark_as_their_share():
    queens = family("queens:6")
    found = covers(queens)
    picture = bs.heat_map(queens)
    expected = [sum(o in cover for cover in found) for o in range(36)]
    assert sorted(n for n, _, _ in told(picture)) == sorted(expected)
    assert {count for _, count, _ in told(picture)} == {4}
    assert picture.svg.count('fill-opacity="1.000"') == expected.count(max(expected))


def test_lines_of_tilings_are_as_dark_as_pieces_are_apart():
    dominoes = family("dominoes:2x3")
    found = covers(dominoes)
    apart = [sum(o not in cover for cover in found) for o in range(dominoes.n_options)]
    assert sorted(n for n, _, _ in told(bs.heat_map(dominoes))) == sorted(n for n in apart if n)


def test_cells_that_may_be_empty_are_shaded():
    problem = bs.ExactCover.from_options(
        [["A", "r1c1"], ["A", "r1c2"], ["B", "r1c2", "r1c3"], ["B", "r1c1"]],
        ["A", "B"],
        ["r1c1", "r1c2", "r1c3"],
    )  # A at c1 and B at c2, c3; or B at c1 and A at c2
    shaded = re.findall(f'fill="{HOT}" fill-opacity="([0-9.]+)"', bs.heat_map(problem).svg)
    assert shaded == ["0.500"]  # c3
    labels = sorted(text for *_, text in told(bs.heat_map(problem)) if text)
    assert labels == ["A", "A", "B", "B", "B"]


def test_cells_of_grids_show_candidates(tmp_path):
    path = tmp_path / "grid.txt"
    path.write_text("1.......3......2")
    reading = bs.read_problem(str(path))
    clues = tuple(reading.stack.tolist())
    found = covers(reading.problem, clues)
    uses = [sum(o in cover for cover in found) for o in range(64)]
    expected = [(n, len(found), str(o % 4 + 1)) for o, n in enumerate(uses) if 0 < n < len(found)]
    picture = bs.heat_map(reading)
    assert told(picture) == expected
    assert picture.svg.count('class="bs-clue"') == 3
    forced = re.findall(r'class="bs-(?:clue|digit)"[^>]*>\d</text>', picture.svg)
    assert len(forced) == uses.count(len(found))
    drawn = invoke("draw", path, "--heat", "-o", tmp_path / "heat.svg", "--json")
    assert drawn.exit_code == 0, drawn.stderr
    assert (tmp_path / "heat.svg").read_text() == picture.svg


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["queens:6", "--heat", "-n", 2], "--heat draws all solutions; leave out -n"),
        (["queens:6", "--heat", "--node-limit", 2], "--heat draws all solutions; leave out -n"),
        (["queens:3", "--heat"], "queens:3 has no solution, and a heat map needs one"),
        (["steiner:7", "--heat"], "the problem cannot be drawn"),
    ],
)
def test_wrong_usage(arguments, message, tmp_path):
    refused = invoke("draw", *arguments, "-o", tmp_path / "out.svg")
    assert refused.exit_code == 2
    assert message in refused.stderr
    assert not (tmp_path / "out.svg").exists()
