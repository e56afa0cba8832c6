"""Problems in the forms of solvers have the covers as their models."""

import json
import re
from itertools import product
from operator import eq, ge

import numpy as np
import pytest
from conftest import bounded_problems, problems, problems_with_costs
from hypothesis import given
from invoking import invoke, refused
from oracles import bounded_covers, useful_options

import batchsolve as bs
from batchsolve.engines import sat
from batchsolve.formats.exact_cover_files import read_json
from batchsolve.runs.convert import FORMS, converted


def models(n, holds, options):
    """Return the sets of options for which a formula holds; its first variable is number 1."""
    values = product([False, True], repeat=n)
    chosen = [np.flatnonzero(v).tolist() for v in values if holds((None, *v))]
    return {frozenset(options[k] for k in each) for each in chosen}


def holds_cnf(text):
    lines = [line.split() for line in text.splitlines() if line[0] not in "cp"]
    clauses = [list(map(int, words[:-1])) for words in lines]
    return lambda v: all(any(v[abs(x)] == (x > 0) for x in clause) for clause in clauses)


def holds_opb(text):
    rows = []
    for line in text.splitlines():
        if line[0] not in "*m":
            terms = [(int(c), int(x)) for c, x in re.findall(r"([+-]\d+) x(\d+)", line)]
            sign, bound = re.search(r"(>=|=) (-?\d+) ;$", line).groups()
            rows.append((terms, eq if sign == "=" else ge, int(bound)))
    return lambda v: all(fits(sum(c * v[x] for c, x in terms), b) for terms, fits, b in rows)


@given(problem=problems(5, 8, 2))
def test_the_models_of_a_formula_are_the_covers(problem):
    options, found = useful_options(problem), bounded_covers(problem)
    text = converted(problem, "cnf").decode()
    assert re.search(rf"^p cnf {len(options)} ", text, re.MULTILINE)
    assert models(len(options), holds_cnf(text), options) == found


@given(problem=problems(5, 8, 2) | problems_with_costs() | bounded_problems())
def test_the_models_of_linear_constraints_are_the_covers(problem):
    options, found = useful_options(problem), bounded_covers(problem)
    text = converted(problem, "opb").decode()
    n = int(re.match(r"\* #variable= (\d+)", text)[1])
    assert n == len(options) or n == 1
    assert models(n, holds_opb(text), options) == found
    costs = [] if problem.costs is None else [int(problem.costs[o]) for o in options]
    terms = re.findall(r"([+]\d+) x(\d+)", "".join(re.findall("min: .*", text)))
    assert [(int(c), int(v)) for c, v in terms] == [(c, v) for v, c in enumerate(costs, 1) if c]


def test_auxiliary_variables_are_not_shown(monkeypatch):
    monkeypatch.setattr(sat, "MOST_IN_PAIRS", 2)
    problem = bs.ExactCover.from_options([["a", k] for k in range(4)], ["a"], range(4))
    text = converted(problem, "cnf").decode()
    n = int(re.search(r"p cnf (\d+)", text)[1])
    assert n > 4
    assert f"c t pmc\np cnf {n} " in text
    assert re.search("^c p show (.*) 0$", text, re.MULTILINE)[1].split() == ["1", "2", "3", "4"]
    found = {each & {0, 1, 2, 3} for each in models(n, holds_cnf(text), range(n))}
    assert found == {frozenset([k]) for k in range(4)}


@pytest.mark.parametrize("form", ["dlx", "ec", "json", "npz"])
def test_clues_leave_out_what_clashes_with_them(form, tmp_path):
    (tmp_path / "grid.txt").write_text("1.......2.......")
    reading = bs.read_problem(tmp_path / "grid.txt")
    (tmp_path / f"again.{form}").write_bytes(converted(reading, form))
    again = bs.read_problem(tmp_path / f"again.{form}")
    assert again.problem.n_options < reading.problem.n_options
    assert bs.count(again).count == bs.count(reading).count > 0


@pytest.mark.parametrize("form", FORMS)
def test_the_command_writes_every_form(form, tmp_path):
    path = tmp_path / f"queens.{form}"
    run = invoke("convert", "queens:4", "-o", path)
    assert (run.exit_code, run.output) == (0, "")
    assert path.read_bytes() == converted("queens:4", form)
    assert invoke("convert", "queens:4", "-o", f"{form}:-").stdout_bytes == path.read_bytes()


UNFIT = [  # parts of the problem, the output, and the message
    ({"costs": [1]}, "x.cnf", "a .cnf file cannot hold costs; write .opb"),
    ({"bounds": {"a": (0, 1)}}, "x.cnf", "a .cnf file cannot hold bounds; write .opb"),
    ({}, "x.sets", "a .sets file is only read, not written; choose from 'dlx', 'ec'"),
    ({}, "x.xyz", "unknown form 'xyz'; choose from 'dlx', 'ec'"),
    ({}, "dlx", "nothing names the form, as dlx:- does; choose from 'dlx', 'ec'"),
]


@pytest.mark.parametrize(("options", "output", "message"), UNFIT)
def test_what_a_form_cannot_hold_is_an_error(options, output, message, tmp_path):
    problem = bs.ExactCover.from_options([["a"]], **options)
    (tmp_path / "a.json").write_bytes(converted(problem, "json"))
    assert message in refused("convert", tmp_path / "a.json", "-o", tmp_path / output)
    assert not (tmp_path / output).exists()


@pytest.mark.parametrize("form", ["cnf", "opb"])
def test_a_form_that_is_only_written_says_so_when_it_is_read(form, tmp_path):
    path = tmp_path / f"a.{form}"
    path.write_bytes(converted("queens:4", form))
    for name in (path, f"{form}:{path}"):
        assert f"a .{form} file is only written, by convert, and not read" in refused("count", name)
    (tmp_path / "cnf:-").write_text("a\na\n")  # a file of this name is read
    assert invoke("count", f"dlx:{tmp_path}/cnf:-").stdout == "1\n"


def test_none_is_no_colour():
    options, colors = [["a", "x"], ["b", "x"]], [{"x": None}, {"x": "red"}]
    problem = bs.ExactCover.from_options(options, secondary=["x"], colors=colors)
    assert bs.count(problem).count == 0
    assert (problem.option_name(0), problem.color_names) == ("a x", ("red",))
    text = json.dumps({"options": options, "secondary": ["x"], "colors": colors})
    assert read_json(text).fingerprint == problem.fingerprint


COMMENTS = ["| the items\na b\na b\n", "|\na b\na b\n", "a | x y\n| x y\na x y\n"]
ITEMS = ["| x y\nx y\nx\ny\n", "|x y\nx\nx y\n", "| x y\na | x y\na x:1 y\n"]


@pytest.mark.parametrize("text", [*ITEMS, *COMMENTS])
def test_a_first_line_of_items_that_is_a_comment_gets_a_hint(text, tmp_path):
    (tmp_path / "a.dlx").write_text(text)
    said = invoke("count", tmp_path / "a.dlx").stderr
    assert ("line 1 begins with | and was taken for a comment" in said) == (text in ITEMS)
