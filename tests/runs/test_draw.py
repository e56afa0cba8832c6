"""Drawings of covers: which covers are drawn, from which sources, and the files written."""

import json
from functools import partial

import pytest
from conftest import search_in
from invoking import invoke, refused

import batchsolve as bs
from batchsolve import InputError, OutputError, Stacks
from batchsolve.engines import Task, get_engine
from batchsolve.runs import export
from batchsolve.runs.count import first_covers
from batchsolve.runs.draw import MOST_CELLS, board_of, draw_all
from batchsolve.runs.export import export_run, found_covers
from batchsolve.settings import SearchSettings

GRID = "12" + "." * 14
RULES = f"puzzle,cages,sums,marks\n{GRID},..AA{'.' * 12},A=7,....o{'.' * 11}\n"


def lists(covers):
    return [cover.tolist() for cover in covers]


# ---- the first covers -----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["queens:6", "langford:4", "dominoes:4x4", "latin:3"])
@pytest.mark.parametrize("engine", ["auto", "dlx", "bits", "cells", "algorithm-x"])
def test_the_first_covers_are_those_of_the_tree_whatever_the_budget(name, engine):
    problem = bs.family(name)
    task = Task.of(Stacks.from_lists([[]]), keep=1000)
    every = lists(get_engine("dlx").search(problem, task).solutions)
    for limit in (1, 5, 1000):
        for budget in (1, 7, None):
            how = SearchSettings(engine=engine, budget=budget)
            covers, result = first_covers(problem, limit=limit, search=how)
            assert lists(covers) == every[:limit]
            assert (result.count, result.complete) == (len(covers), len(every) < limit)


def test_the_first_covers_of_a_grid_are_the_same_whatever_the_budget():
    for engine in ("lanes", "dlx"):
        how = [SearchSettings(engine=engine, budget=budget) for budget in (1, 20, 300, None)]
        found = [lists(first_covers(bs.Sudoku(2, 2), [0], limit=9, search=h)[0]) for h in how]
        assert found[1:] == found[:-1]
        assert all(cover[0] == 0 for cover in found[0])


def test_limits_end_the_search_for_the_first_covers():
    queens = bs.family("queens:20")
    for how in ({"node_limit": 3}, {"time_limit": 1e-9}):
        covers, result = first_covers(queens, limit=1, search=SearchSettings(engine="dlx", **how))
        assert not result.complete
        assert covers == []
        assert result.nodes <= 3
    with pytest.raises(InputError, match="only counts, and counts everything"):
        first_covers(queens, limit=1, search=SearchSettings(engine="memo"))
    with pytest.raises(bs.ProblemError, match="not a partial cover"):
        first_covers(queens, [0, 1], limit=1)
    covers, result = first_covers(bs.family("langford:2"), limit=1)
    assert (covers, result.complete) == ([], True)


# ---- covers that were found -----------------------------------------------------------------


@pytest.mark.parametrize("name", ["langford:4", "grid.txt", "rules.csv"])
def test_covers_are_read_back_in_every_form(name, here):
    (here / "grid.txt").write_text(GRID)
    (here / "rules.csv").write_text(RULES)
    reading = bs.read_problem(name)
    search_in(bs.Run("run", reading, collect=True), jobs=1)
    found = lists(found_covers(reading, "run", 1000))
    expected = sorted(sorted(cover.tolist()) for cover in bs.solutions(reading, jobs=1))
    assert sorted(map(sorted, found)) == expected
    assert lists(found_covers(reading, "run", 1)) == found[:1]
    for file in (f"out{suffix}" for suffix in (".csv", ".tsv", ".jsonl", ".parquet")):
        export_run("run", file)
        assert lists(found_covers(reading, file, 1000)) == found


def test_the_cheapest_covers_are_read_back_beside_their_costs(here):
    (here / "in.dlx").write_text("a b c\na b |$25\na |$20\nb |$2\nc\n")
    reading = bs.read_problem("in.dlx")
    search_in(bs.Run("run", reading, cheapest=2), jobs=1)
    for place in ("run", "out.csv", "out.jsonl", "out.parquet"):
        if place != "run":
            export_run("run", place)
        assert lists(found_covers(reading, place, 9)) == [[1, 2, 3], [0, 3]]


TWINS = bs.ExactCover.from_options([["s1"], ["s2"]], option_names=["a", "a"])
NOT_FOUND = [  # the name and the text of a file, the problem, and the message
    ("short.jsonl", '{"options": ["1@1,3"]}', "not a cover: item 2 is in none of the options"),
    ("strange.jsonl", '{"options": ["9@1,3"]}', "row 1: the problem has no option called '9@1,3'"),
    ("other.jsonl", '{"grid": "1234"}', "one column called 'options'"),
    ("numbers.csv", "options\n5\n", "row 1: '5' is not a list of options"),
    ("ragged.csv", 'options\n"[""1@1,3""]",5\n', "row 1: "),
    ("nothing.csv", None, "No such file"),
]


@pytest.mark.parametrize(("name", "text", "message"), NOT_FOUND)
def test_what_was_not_found_is_refused(tmp_path, name, text, message):
    if text:
        (tmp_path / name).write_text(text)
    with pytest.raises(bs.BatchsolveError, match=message):
        found_covers(bs.read_problem("langford:4"), str(tmp_path / name), 1)


def test_what_was_not_found_for_this_problem_is_refused(tmp_path):
    search_in(bs.Run(tmp_path / "run", "langford:4", collect=True), jobs=1)
    with pytest.raises(bs.BatchsolveError, match="is a run of another problem, 'langford:4', and"):
        found_covers(bs.read_problem("langford:3"), str(tmp_path / "run"), 1)
    (tmp_path / "same.jsonl").write_text('{"options": ["a", "a"]}\n')
    twins = bs.Reading(TWINS, bs.read_problem("langford:4").stack, "same")
    with pytest.raises(InputError, match="several options of the problem are called 'a'"):
        found_covers(twins, str(tmp_path / "same.jsonl"), 1)


# ---- draw -----------------------------------------------------------------------------------


def test_draw_takes_a_problem_in_every_form(tmp_path):
    (tmp_path / "grid.txt").write_text(GRID)
    shown = bs.draw(bs.read_problem(str(tmp_path / "grid.txt")))
    assert shown.svg.count("bs-clue") == 1 + 1 + 2  # two more in the style
    assert shown.svg == bs.draw(str(tmp_path / "grid.txt")).svg
    assert bs.draw("queens:4", title="four").title == "four"
    assert bs.draw(bs.family("queens:4")).title.startswith("ExactCover(")
    assert shown.svg in shown._repr_html_()
    assert shown._repr_svg_() == shown.svg


def test_pictures_are_saved_whole_or_not_at_all(tmp_path):
    picture = bs.draw("queens:4")
    for name, content in (("board.svg", picture.svg), ("board.html", picture.html)):
        picture.save(tmp_path / name)
        assert (tmp_path / name).read_text() == content
    with pytest.raises(InputError, match=r"drawings are \.svg or \.html files, not \.png"):
        picture.save(tmp_path / "board.png")
    with pytest.raises(OutputError, match=r"the directory .+nowhere does not exist"):
        picture.save(tmp_path / "nowhere" / "board.svg")
    (tmp_path / "folder.svg").mkdir()
    with pytest.raises(OutputError, match="is a directory; name a file in it"):
        picture.save(tmp_path / "folder.svg")
    names = [path.name for path in tmp_path.iterdir()]
    assert sorted(names) == ["board.html", "board.svg", "folder.svg"]


def test_so_many_drawings_are_refused():
    with pytest.raises(InputError, match="cells are too many for one file; 61,728 are possible"):
        board_of(bs.Sudoku(3, 3), MOST_CELLS // 81 + 1)


def test_notebooks_show_empty_boards():
    shown = bs.read_problem("dominoes:2x2")._repr_html_()
    assert "<svg" in shown
    assert "<th>options</th><td>4</td>" in shown
    assert "bs-piece" not in shown.partition("</style>")[2]
    assert "<svg" not in bs.read_problem("queens:60")._repr_html_()


# ---- the command ----------------------------------------------------------------------------


def test_the_command_draws_the_first_solutions(tmp_path):
    out = tmp_path / "out.html"
    done = invoke("draw", "dominoes:4x4", "-o", out, "-n", 5, "--json")
    assert done.exit_code == 0
    facts = json.loads(done.stdout)
    assert (facts["drawn"], facts["complete"], facts["output"]) == (5, False, str(out))
    reading = bs.read_problem("dominoes:4x4")
    covers, _ = first_covers(reading.problem, limit=5)
    assert out.read_text() == draw_all(reading, covers, board_of(reading.problem)).html
    assert invoke("draw", "dominoes:4x4", "-o", out).stderr.startswith("20 solutions; ")
    printed = invoke("draw", "dominoes:4x4", "-o", "-", "--json")
    assert printed.stdout == draw_all(reading, covers[:1], board_of(reading.problem)).svg
    assert json.loads(printed.stderr)["drawn"] == 1
    page = invoke("draw", "dominoes:4x4", "-o", "-", "--format", "html", "-q")
    assert page.stdout.count("<figure>") == 20
    assert page.stderr == ""


READERS = {
    "export_run": "export run -o out.csv",
    "found_covers": "draw queens:8 --found run -n 90 -o out.html",
}


@pytest.mark.parametrize("reader", READERS)
def test_a_run_that_ends_while_it_is_read_is_not_called_complete(here, monkeypatch, reader):
    words, read = READERS[reader].split(), getattr(export, reader)
    run = partial(bs.Run, "run", "queens:8", collect=True, engine="dlx")
    assert not search_in(run(), node_limit=1000, budget=300, jobs=1).complete

    def read_and_end(*arguments):
        found = read(*arguments)
        assert search_in(run(resume=True), jobs=1).count == 92
        return found

    monkeypatch.setattr(export, reader, read_and_end)
    done = invoke(*words)
    assert done.exit_code == 1
    assert "not complete" in done.stderr
    assert invoke(*words).exit_code == 0


def test_the_command_draws_what_was_found(tmp_path):
    invoke("enumerate", "langford:7", "-o", tmp_path / "run", "-q")
    lines, out = invoke("enumerate", "langford:7", "-o", "-", "-q").stdout, tmp_path / "out.html"
    (tmp_path / "lines.jsonl").write_text(lines)
    for place in ("run", "lines.jsonl"):
        done = invoke("draw", "langford:7", "--found", tmp_path / place, "-n", 100, "-o", out)
        assert (done.exit_code, done.stderr) == (0, "52 solutions\n")
        assert out.read_text().count("<figure>") == 52


def test_the_command_says_so_if_the_run_is_not_complete(tmp_path):
    search_in(bs.Run(tmp_path / "run", "langford:7", collect=True), limit=3, jobs=1)
    found = ("draw", "langford:7", "--found", tmp_path / "run", "-o", tmp_path / "out.html")
    done = invoke(*found)
    assert (done.exit_code, done.stderr) == (1, "3 solutions, not complete\n")
    assert invoke(*found, "-n", 3).exit_code == 0


def test_facts_are_printed_even_if_the_time_is_up_at_once(here):
    done = invoke("draw", "queens:6", "-o", "x.svg", "--json", "--time-limit", "1e-9")
    assert done.exit_code == 1
    facts = {"output": "x.svg", "drawn": 0, "complete": False, "seconds": 1e-9}
    assert json.loads(done.stdout) == facts
    assert not list(here.iterdir())


def test_without_a_solution_nothing_is_drawn(tmp_path):
    limited = ["queens:20", "--node-limit", 3]
    for words, said in ((["langford:2"], "complete"), (limited, "not complete")):
        done = invoke("draw", *words, "-o", tmp_path / "out.svg", "--engine", "dlx")
        assert done.exit_code == 1
        assert f"0 solutions, {said}; " in done.stderr
        assert "nothing is drawn" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_problem_without_places_is_refused_before_it_is_searched(tmp_path):
    (tmp_path / "p.ec").write_text("p ec 2\ns 1\ns 2\n")
    said = refused("draw", tmp_path / "p.ec", "-o", tmp_path / "out.svg")
    assert "the problem cannot be drawn: it has no items called r1c1" in said
