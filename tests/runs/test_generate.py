"""Generation: each puzzle is as wished; workers and blocks change no byte."""

import re
from itertools import islice, pairwise

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings, strategies as st
from invoking import invoke, refused
from oracles import canonical_form, grids_by_rules

import batchsolve as bs
from batchsolve.core import native
from batchsolve.problems.rules import regions_of
from batchsolve.problems.sudoku import grid_problem
from batchsolve.runs import generate as generation
from batchsolve.tables.drawn_rules import LINES as KINDS_OF_LINES
from batchsolve.tables.rule_columns import OWN, own_rules

TWO_STRINGS = ".Shape~4x4.DisjointSets\n.Diagonal~1.Cage~5~R3C1~R4C1.~R4C4_2.V~R1C1~R2C1"
GRIDS = {
    "boxes": {"box": (2, 2)},
    "rows and columns": {"box": (1, 4)},
    "diagonals": {"box": (2, 2), "rules": "x"},
    "rows of other rules": {"box": (2, 2), "rules": "disjoint"},
    "regions": {"regions": "AAAB ACBB DCCB DDDC"},
    "constraints": {"box": (2, 2), "constraints": TWO_STRINGS},
}
LINE = ".Shape~4x4.Diagonal~-1.Thermo~R1C2~R2C3"
IMAGES = {
    "none": lambda r, c: (r, c),
    "rotation": lambda r, c: (3 - r, 3 - c),
    "quarter-turn": lambda r, c: (c, 3 - r),
    "mirror": lambda r, c: (r, 3 - c),
    "diagonal": lambda r, c: (c, r),
}
PATTERN = ["....", "....", ".xxx", "xxxx"]
SOME = {"box": (2, 2), "seed": 5, "minimal": True}


def digits(text):
    return [int(c) if c != "." else 0 for c in text]


def rules_of(grid):
    said = own_rules(4, ("", "", "", "", grid.get("constraints", "")))
    names = "+".join([*said.names, grid.get("rules", "")]).strip("+")
    return said.on(grid_problem(4, grid.get("box"), names or None, grid.get("regions")).rules)


def made_if_possible(n, refusals, **wish):
    """Return some puzzles; none if the wish does not come true, for one of these reasons."""
    try:
        return list(bs.generate(n, node_limit=20_000, jobs=1, **wish))
    except bs.InputError as error:
        if re.search(refusals, str(error)):
            return []
        raise


@given(
    kind=st.sampled_from(sorted(GRIDS)),
    seed=st.integers(0, 2**128 - 1),
    symmetry=st.sampled_from(sorted(IMAGES)),
    minimal=st.booleans(),
    clues=st.none() | st.sampled_from([(4, 7), (5, 16), (6, 6)]),
    pattern=st.none() | st.just("\n".join(PATTERN)),
)
def test_every_puzzle_is_as_it_was_wished(kind, seed, symmetry, minimal, clues, pattern):
    wish = {"symmetry": symmetry, "minimal": minimal, "clues": clues, "pattern": pattern}
    why = "no puzzle after|has several solutions|cells may have one"
    for row in made_if_possible(4, why, seed=seed, **wish, **GRIDS[kind]):
        check(row, rules_of(GRIDS[kind]), symmetry, minimal, clues, pattern)


def check(row, rules, symmetry="none", minimal=False, clues=None, pattern=None):
    puzzle, solution = digits(row.puzzle), digits(row.solution)
    assert grids_by_rules(rules, puzzle) == {tuple(solution)}
    places = [divmod(cell, 4) for cell, digit in enumerate(puzzle) if digit]
    assert len(places) == row.clues
    assert clues is None or clues[0] <= row.clues <= clues[1]
    assert {IMAGES[symmetry](*place) for place in places} == set(places)
    assert pattern is None or all(PATTERN[r][c] == "x" for r, c in places)
    for r, c in places if minimal else ():
        fewer = [0 if cell == 4 * r + c else digit for cell, digit in enumerate(puzzle)]
        assert len(grids_by_rules(rules, fewer)) > 1


def test_a_number_of_clues_is_aimed_at_where_it_is_wished_and_nowhere_else():
    pattern = "x" * 15 + "."
    for wish in ({"clues": (6, 16)}, {"clues": (6, 20), "pattern": pattern}):
        numbers = {row.clues for row in bs.generate(300, seed=1, box=(2, 2), **wish)}
        assert numbers >= {*range(7, 16 if "pattern" in wish else 17)}
    for row in bs.generate(50, seed=1, box=(2, 2), pattern=pattern):
        check(row, rules_of({"box": (2, 2)}), minimal=True)


LAYOUT = "AABB AC.B DCCE DDEE"
LINES = ("thermo", "whisper", "renban", "palindrome", "Thermo+renban+palindrome+whisper")
MARKS = ("consecutive", "dots", "xv", "greater", "parity", "dots+XV", "parity+greater")


@settings(max_examples=15)
@given(
    how=st.fixed_dictionaries(
        {
            "box": st.just((2, 2)),
            "rules": st.sampled_from([None, "x"]),
            "jigsaw": st.booleans(),
            "marks": st.none() | st.sampled_from(MARKS),
            "lines": st.none() | st.sampled_from(LINES),
            "line_cells": st.none() | st.sampled_from([(2, 2), (2, 4)]),
            "constraints": st.none() | st.just(LINE),
        }
    ),
    cages=st.sampled_from([{}, {"cages": (1, 3)}, {"cages": (3, 4)}, {"cage_layout": LAYOUT}]),
    seed=st.integers(0, 2**64),
    symmetry=st.sampled_from(["none", "rotation"]),
    minimal=st.booleans(),
    clues=st.sampled_from([None, (0, 0), (1, 3), (5, 8)]),
)
def test_puzzles_with_own_rules_are_as_wished(how, cages, seed, symmetry, minimal, clues):
    assume(cages or how["jigsaw"] or how["marks"] or how["lines"])
    assume(not (how["lines"] and how["constraints"]))
    assume(how["lines"] or not how["line_cells"])
    wish = {"symmetry": symmetry, "minimal": minimal, "clues": clues}
    why = "no puzzle after|a puzzle of 0 clues has several"
    for row in made_if_possible(3, why, seed=seed, **wish, **how, **cages):
        own = dict(row.own)
        names = ["regions"] * how["jigsaw"] + ["cages", "sums"] * bool(cages)
        parity = "parity" in (how["marks"] or "")
        names += ["marks"] * parity + ["pairs"] * (how["marks"] not in (None, "parity"))
        has_constraints = how["lines"] is not None or how["constraints"] is not None
        assert list(own) == names + ["constraints"] * has_constraints
        base = grid_problem(4, (2, 2), how["rules"], own.get("regions")).rules
        said = own_rules(4, tuple(own.get(name, "") for name in OWN))
        if how["lines"]:
            check_lines(own["constraints"], how["lines"].lower(), how["line_cells"] or (3, 4))
        check(row, said.on(base), symmetry, minimal, clues)
        least, most = cages.get("cages", (1, 16))
        assert all(least <= len(cage.cells) <= most for cage in said.cages)
        groups = [cage.cells for cage in said.cages] if "cages" in cages else []
        if how["jigsaw"]:
            groups += regions_of(own["regions"], 4)
        assert all(is_connected(cells, 4) for cells in groups)


DRAWN = [("renban", [[0, 0], [0], []]), ("palindrome", [[0, 2], [0, 2, 4], [2, 1, 3, 0]])]


@pytest.mark.parametrize(("kind", "lines"), DRAWN)
def test_a_solution_without_a_line_has_none(kind, lines):
    solutions, keys = np.array([[1, 2, 2, 1]], np.uint8), np.array([1, 2], np.uint64)
    none, kinds = np.zeros(1, np.int64), np.array([KINDS_OF_LINES.index(kind)], np.uint8)
    found = native.draw_lines(keys, none, none, solutions, kinds, 2, 2, 2)
    lines_of, of_kind, (begins, cells) = found
    assert [lines_of.tolist(), begins.tolist(), cells.tolist()] == lines
    assert of_kind.tolist() == [kinds[0]] * lines[0][-1]


def check_lines(text, kinds, sizes):
    shape, *lines = [line.split("~") for line in text.split(".")[1:]]
    assert shape == ["Shape", "4x4"]
    paths = []
    for kind, *names in lines:
        assert kind.lower() in kinds.split("+")
        assert kind != "Whisper" or names.pop(0) == "2"
        paths.append([(int(name[1]), int(name[3])) for name in names])
        assert sizes[0] <= len(names) <= sizes[1] - (kind == "Renban" and sizes[1] == 4)
        for (r, c), (row, column) in pairwise(paths[-1]):
            assert max(abs(r - row), abs(c - column)) == 1
    places = [place for path in paths for place in path]
    assert len(places) == len(set(places))


def is_connected(cells, n):
    joined, left = [cells[0]], {*cells[1:]}
    for cell in joined:
        near = {cell - n, cell + n, *(c for c in (cell - 1, cell + 1) if c // n == cell // n)}
        joined += left & near
        left -= near
    return not left


@pytest.mark.parametrize(("n", "count"), [(2, 2), (3, 10), (4, 117)])  # OEIS A172477
def test_all_regions_are_drawn(n, count):
    keys, rows = np.array([1, 2], np.uint64), np.arange(20_000)
    drawn = native.draw_regions(keys, rows, np.zeros_like(rows), n)
    assert (np.sort(drawn, axis=1) == np.repeat(np.arange(n), n)).all()
    first = np.argsort(np.argmax(drawn[:, :, None] == np.arange(n), axis=1), axis=1)
    names = np.argsort(first, axis=1)[np.arange(len(drawn))[:, None], drawn]
    partitions, found = np.unique(names, axis=0, return_counts=True)
    assert len(partitions) == count
    turned = {tuple(p): k for p, k in zip(partitions.tolist(), found.tolist(), strict=True)}
    for p, k in zip(partitions, found, strict=True):
        other = p.reshape(n, n).T.reshape(-1).tolist()
        numbers = {label: place for place, label in enumerate(dict.fromkeys(other))}
        assert abs(k - turned[tuple(map(numbers.get, other))]) <= 6 * (2 * k) ** 0.5


def test_puzzles_of_9_by_9_are_minimal_and_have_one_solution():
    table = bs.generate_table(50, seed=3, minimal=True, jobs=1)
    problem = bs.Sudoku(3, 3)
    grids = np.array([problem.parse(text) for text in table["puzzle"].to_pylist()])
    found = bs.solve_batch(grids, engine="dlx", jobs=1)
    assert (found.status == "unique").all()
    assert [problem.format(g) for g in found.solutions] == table["solution"].to_pylist()
    places = np.argwhere(grids)
    fewer = grids[places[:, 0]]
    fewer[np.arange(len(fewer)), places[:, 1]] = 0
    assert (bs.solve_batch(fewer, engine="dlx", jobs=1).n_solutions == 2).all()


@pytest.mark.parametrize("kind", GRIDS)
def test_fills_that_go_back_reach_every_grid(kind, monkeypatch):
    monkeypatch.setattr(generation, "RESTART_NODES", -1)
    table = bs.generate_table(20_000, clues=(16, 16), jobs=1, **GRIDS[kind])
    made = {tuple(digits(text)) for text in table["solution"].to_pylist()}
    assert made == grids_by_rules(rules_of(GRIDS[kind]), [0] * 16)


def test_a_row_depends_on_the_seed_and_its_number_alone():
    whole, few = (bs.generate_table(n, **SOME, jobs=1) for n in (300, 100))
    assert whole.slice(0, 100) == few
    assert bs.generate_table(300, **SOME, jobs=2, chunk=7) == whole
    assert [row.puzzle for row in islice(bs.generate(**SOME), 20)] == few["puzzle"][:20].to_pylist()
    assert bs.generate_table(300, box=(2, 2), seed=6, minimal=True) != whole


NINE, SEVENS = {"box": (3, 3)}, ".Shape~4x4.Cage~7~R1C1~R1C2.Cage~7~R1C3~R1C4"
WISHES = {
    "has several solutions: two digits without a clue": {"clues": (0, 2)},
    "had 4 to 6 clues, not 9 to 16": {"clues": (9, 16), "minimal": True},
    "`rating`: only 9×9 grids of rows, columns and boxes": {"rating": (1, 2)},
    "17 or more are wanted, and 16 cells": {"clues": (17, 20)},
    "a pattern has a character for each of 16 cells": {"pattern": "x..x"},
    "had several solutions with all clues that may stand": {"pattern": "xxxx" + "." * 12},
    "a puzzle of 2 clues has several": {"pattern": "xx" + "." * 14},
    "no puzzle is rated 9 to 10; ratings, here without": {"rating": (9, 10), **NINE},
    "patterns of uniqueness, are 1.0 to 8.6": {"rating": (5.6, 6), **NINE},
    "no puzzle is rated 8.52 to 8.58; ratings": {"rating": (8.52, 8.58), **NINE},
    "a rating is a range such as": {"rating": (3, 2), **NINE},
    "had another rating": {"rating": (1, 1), "clues": (22, 25), "node_limit": 3000, **NINE},
    "two columns would be named 'clues'; give `columns`": {"columns": "a,clues"},
    "unknown symmetry 'both'": {"symmetry": "both"},
    "seed is 0 or more": {"seed": -1},
    "are those of `minimal` puzzles": {"weights": True},
    "no attempt was finished": {"rules": "nonconsecutive"},
    "only grids of rows, columns and boxes": {"unlike": "a.csv", "rules": "x"},
    "unknown marks 'thermo'; choose from consecutive": {"marks": "xv+thermo"},
    "unknown marks ''; choose": {"marks": "xv+"},
    "no cages of 3 to 5 cells for 4 digits": {"cages": (3, 5)},
    "unknown lines 'arrow'; choose from thermo, whisper": {"lines": "thermo+arrow"},
    "lines have 2 to 4 cells, not 3 to 5": {"lines": "thermo", "line_cells": (3, 5)},
    "no whispers for 2 digits, whose neighbours differ by 1": {"box": (1, 2), "lines": "whisper"},
    "are a range such as 2..5 or .2, 5., smallest first": {"cages": (3, 2)},
    "`cages` are drawn, and `cage_layout` gives": {"cages": (2, 3), "cage_layout": "A" * 16},
    "a layout of cages: 5 cells with different": {"cage_layout": "A" * 5 + "." * 11},
    "a layout of cages: 16 cells have 16 labels": {"cage_layout": "AAA"},
    "`jigsaw` draws regions": {"jigsaw": True, "regions": "AABBAABBCCDDCCDD"},
    "puzzles whose rules are not drawn": {"jigsaw": True, "weights": True, "minimal": True},
    "drawn in one square grid": {"rules": "samurai", "box": (3, 3), "cages": (2, 3)},
    "`lines` are drawn, and `constraints` gives": {"lines": "thermo", "constraints": LINE},
    "with sums or digits of cells go with no": {"constraints": ".Shape~4x4.~R1C1_2", "marks": "xv"},
    "constraint 'Arrow' is not supported": {"constraints": ".Shape~4x4.Arrow~R1C1~R1C2"},
    "the rules may allow few grids, or none": {"constraints": SEVENS},
}


@pytest.mark.parametrize("why", WISHES)
def test_impossible_wishes_are_one_clear_error(why):
    with pytest.raises((bs.InputError, bs.ProblemError), match=why):
        bs.generate_table(20, **{"seed": 0, "box": (2, 2), "node_limit": 5_000, **WISHES[why]})


def test_the_row_without_a_puzzle_is_named_and_those_before_it_are_kept(tmp_path):
    out = tmp_path / "out.csv"
    words = ["generate", "-n", "100", "--box", "2x2", "--clues", "4", "--chunk", "5"]
    said = refused(*words, "--node-limit", "100", "-o", out)
    assert "no puzzle after 100 nodes" in said
    row = int(said.split("row ")[1].split(":")[0])
    assert row > 5
    assert len((tmp_path / "out.csv.partial").read_text().splitlines()) == 1 + (row - 1) // 5 * 5
    assert f"kept in {out}.partial; mend that, and delete " in said


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out/"])
def test_nothing_is_left_if_there_is_not_one_puzzle(here, name):
    words = ["generate", "-n", "10", "--box", "2x2", "-o", name]
    assert "kept in" not in refused(*words, "--clues", "3", "--node-limit", "100")
    assert [path.name for path in here.rglob("*")] == ["out"] * name.endswith("/")
    assert invoke(*words).exit_code == 0


@pytest.mark.parametrize(("seed", "row"), [(7, 1), (6, 3)])
@pytest.mark.parametrize("chunk", [1, 6])
def test_the_first_row_without_a_puzzle_is_named(seed, row, chunk):
    """Rows of a task take turns, so that a later one may be the first to give up."""
    how = {"seed": seed, "rating": (7.5, 8.5), "node_limit": 3000, "chunk": chunk}
    with pytest.raises(bs.InputError, match=f"^row {row}: no puzzle after 3,000 nodes"):
        bs.generate_table(12, **how)


def test_no_puzzle_is_like_those_of_a_file(tmp_path):
    def forms(table):
        return [canonical_form(digits(text), 2, 2)[0] for text in table["puzzle"].to_pylist()]

    first, without = bs.generate_table(5, **SOME), bs.generate_table(100, **SOME)
    known = set(forms(first))
    csv.write_csv(first, tmp_path / "first.csv")
    others = bs.generate_table(100, **SOME, unlike=(tmp_path / "first.csv",))
    assert not known.intersection(forms(others))
    same = [k for k, form in enumerate(forms(without)) if form not in known]
    assert 0 < len(same) < 100
    assert others.take(same) == without.take(same)
    assert bs.generate_table(100, **SOME, unlike=[first]) == others
    assert bs.generate_table(100, **SOME, unlike=first.to_pandas()) == others
    known = bs.PuzzleSettings(seed=5, minimal=True, unlike=first.to_pandas())
    bs.generate_file(tmp_path / "out.parquet", 100, wanted=known, box=(2, 2))
    assert pq.read_table(tmp_path / "out.parquet") == others


def test_puzzles_of_other_sizes_in_the_known_ones_are_left_out():
    small, first = bs.generate_table(5, **SOME), bs.generate_table(2, seed=7)
    others = bs.generate_table(2, seed=7, unlike=pa.concat_tables([small, first.slice(0, 1)]))
    assert others["puzzle"][0] != first["puzzle"][0]
    assert others["puzzle"][1] == first["puzzle"][1]


def test_known_puzzles_may_have_boxes_of_their_rows():
    how = {"seed": 7, "box": (2, 3)}
    first, others = bs.generate_table(1, **how), bs.generate_table(1, seed=7, box=(3, 2))
    both = pa.concat_tables([first.append_column("box", [["2x3"]]), others])
    new, same = (bs.generate_table(1, **how, unlike=one)["puzzle"] for one in (both, others))
    assert new != first["puzzle"] == same
    other = first.append_column("box", [["of chess"]])
    assert bs.generate_table(1, **how, unlike=other)["puzzle"] == new
    with pytest.raises(bs.InputError, match=r"^unlike\[0\]: column 'puzzle': no value is a 6×6"):
        bs.generate_table(1, box=(2, 3), unlike=pa.table({"puzzle": ["." * 81]}))


def test_known_puzzles_may_have_columns_of_rules():
    first = bs.generate_table(5, **SOME)
    with_cages = first.append_column("cages", [["", "", "", "", "r1c1 r1c2"]])
    without = bs.generate_table(5, **SOME, unlike=first)
    assert bs.generate_table(5, **SOME, unlike=with_cages) == without != first


def test_a_row_that_cannot_be_compared_is_named(tmp_path):
    (tmp_path / "known.csv").write_text("puzzle\n1.....2..3.....4\n11..............\n")
    with pytest.raises(bs.InputError, match=r"known\.csv: row 2: invalid"):
        bs.generate_table(5, **SOME, unlike=[tmp_path / "known.csv"])


def test_no_rows_are_a_table_with_columns(tmp_path):
    bs.generate_file(tmp_path / "none.csv", 0)
    assert (tmp_path / "none.csv").read_text() == "puzzle,solution,clues\n"
    assert bs.generate_table(0).column_names == ["puzzle", "solution", "clues"]


OWN_RULES = {
    "cages": {"cages": (1, 3), "clues": 0},
    "a layout of cages": {"cage_layout": LAYOUT.replace(" ", "\n")},
    "lines": {"lines": "thermo+palindrome", "line_cells": (2, 3)},
    "all": {"jigsaw": True, "cages": (2, 4), "marks": "parity+greater", "lines": "renban"},
}


@pytest.mark.parametrize("kind", GRIDS | OWN_RULES)
def test_a_table_of_puzzles_says_by_which_rules_they_are_solved(kind, tmp_path):
    out, how = tmp_path / "out.csv", GRIDS.get(kind) or {"box": (2, 2), **OWN_RULES[kind]}
    bs.generate_file(out, 10, **how, seed=1)
    summary = bs.solve_file(out, tmp_path / "solved.csv")
    assert (summary.unique, summary.disagree) == (10, 0)


def test_weighted_rows_stand_for_all_minimal_puzzles():
    problem = bs.Sudoku(2, 2)
    grids = np.array(sorted(grids_by_rules(problem.rules, [0] * 16)))
    orbits = np.unique(bs.canonical_forms(grids, problem).grids, axis=0, return_counts=True)
    each = [n * minimal_puzzles(grid) for grid, n in zip(*orbits, strict=True)]
    wanted = sum(each) / np.sum(each)
    table = bs.generate_table(20_000, box=(2, 2), minimal=True, weights=True, seed=2)
    clues, weights = np.array(table["clues"]), np.array(table["weight"])
    for k in range(17):
        share = weights[clues == k].sum() / weights.sum()
        error = np.sqrt((weights**2 * ((clues == k) - share) ** 2).sum()) / weights.sum()
        assert abs(share - wanted[k]) <= 5 * error < 0.05


def minimal_puzzles(grid):
    """Count the minimal puzzles of a grid by number of clues: all sets of clues are tried."""
    sets = np.arange(2**16)
    clues = (sets[:, None] >> np.arange(16) & 1).astype(bool)
    found = bs.solve_batch(np.where(clues, grid, 0).astype(np.uint8), limit=2)
    is_unique = found.n_solutions == 1
    is_minimal = is_unique.copy()
    for cell in range(16):
        is_minimal &= ~(clues[:, cell] & is_unique[sets & ~(1 << cell)])
    return np.bincount(clues[is_minimal].sum(axis=1), minlength=17)


def test_columns_have_the_names_of_kaggle(tmp_path):
    usual = bs.generate_table(3, **SOME)
    named = bs.generate_table(3, **SOME, columns=("quizzes", "solutions"))
    assert named == usual.rename_columns(["quizzes", "solutions", "clues"])
    done = invoke("generate", "-n", 1, "--columns", "quizzes,solutions", "--box", "2x2")
    assert done.stdout.startswith("quizzes,solutions,clues\n")
    for wrong in ("quizzes", "a,a", "a,", "a,b,c", ("a", 5)):
        with pytest.raises(bs.InputError, match="columns are two names, such as quizzes,solutions"):
            bs.generate_table(1, **SOME, columns=wrong)


def test_ranges_are_given_as_people_write_them():
    def made(**how):
        return bs.generate_table(3, seed=2, **{"box": "2x2", **how})

    usual = made(clues=(5, 5), box=(2, 2))
    assert made(clues=5) == made(clues="5") == made(clues="5..5") == usual
    assert made(clues=(None, 6)) == made(clues="..6") == made(clues=(0, 6))
    assert made(clues=(6, None)) == made(clues="6..") == made(clues=(6, 16))
    assert bs.solve("." * 36, box="3x2").status == "multiple"
    assert bs.grid_problem(6, "3x2").box_rows == 3
    rated = bs.generate_table(2, seed=5, rating=(4.0, None))
    assert rated == bs.generate_table(2, seed=5, rating="4.0..")
    assert all(value >= 4 for value in bs.rate(rated)["rating"].to_pylist())
    assert bs.PuzzleSettings(cages="2..3", lines="thermo", line_cells=3).line_cells == (3, 3)
    for how in ({"clues": "6..x"}, {"clues": "7..6"}, {"clues": 6.5}, {"clues": (1, 2, 3)}):
        with pytest.raises(bs.InputError, match=r"clues are a range such as 22\.\.26 or \(22, 26"):
            made(**how)
    assert "clues are a range such as 22..26" in refused("generate", "--clues", "6..x")


def test_ratings_are_as_wished():
    for low, high in ((2.6, 4.4), (5.0, float("inf"))):
        table = bs.generate_table(40, seed=5, rating=(low, high))
        rated = bs.rate(table.select(["puzzle"])).to_pydict()
        assert all(low <= value <= high for value in rated["rating"])
        assert table.slice(0, 9).equals(bs.generate_table(9, seed=5, rating=(low, high)))
