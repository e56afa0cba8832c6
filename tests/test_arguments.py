"""Arguments of the library: NumPy's numbers are numbers, and wrong values raise one error."""

import io
import threading
from pathlib import Path
from typing import get_type_hints

import numpy as np
import pyarrow as pa
import pytest
from conftest import PUZZLE as GRID, SOLUTION

import batchsolve as bs
from batchsolve.cli.options import as_options
from batchsolve.settings import FileSettings
from batchsolve.settings.keywords import GenerateFileFields, SearchFields, SolveFileFields

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
SEVERAL = "1.....2..3......"
PRICED = bs.ExactCover.from_options([["a"], ["a"]], costs=[1, 2])
SUDOKU, QUEENS = bs.Sudoku(2, 2), bs.solution_graph("queens:6")
TEXTS = [str(option) for option in sorted(next(iter(QUEENS)))]
SOME = bs.Stacks.from_lists([[1], [2]])


class Dataset:
    """A stand-in for a dataset of the package `datasets`."""

    def with_format(self, kind):
        """Return the dataset in another format."""

    def __len__(self):
        return 1


@pytest.mark.parametrize("integer", [np.int8, np.uint8, np.int64, np.uint64])
def test_numbers_of_numpy_are_numbers(integer, tmp_path):
    two, hundred = integer(2), integer(100)
    for settings in ({"limit": two}, {"limit": 1000, "node_limit": hundred}):
        each = settings, {name: int(n) for name, n in settings.items()}
        found, right = (bs.solve_batch(["." * 16] * 2, **how, jobs=1) for how in each)
        assert found.n_solutions.tolist() == right.n_solutions.tolist()
        assert found.status.tolist() == right.status.tolist()
    assert bs.solve(SEVERAL, limit=two).status == "multiple"
    how = {"jobs": two, "budget": hundred, "split_depth": two}
    assert bs.count(bs.Sudoku(two, two), **how).count == 288
    assert len(bs.split("queens:6", depth=two).stacks) > 0
    assert len(bs.sample("queens:6", two, seed=two, memory=hundred)) == 2
    with bs.Run(tmp_path / "run", PRICED, cheapest=two) as run:
        run.search()
    with bs.Run(tmp_path / "run", PRICED, cheapest=2, resume=True) as run:
        assert [cover.cost for cover in run.cheapest_covers] == [1, 2]


def test_a_stack_may_be_any_iterable():
    drawn = bs.sample("queens:6", 50, stack=(option for option in [1]), weighted=True)
    assert all(1 in cover for cover in drawn)
    assert bs.count("queens:6", iter([1])).count == bs.count("queens:6", [1]).count == 1


batch, table, count, forms = bs.solve_batch, bs.solve_table, bs.count, bs.canonical_forms
Cover, Sudoku, WHOLE = bs.ExactCover, bs.Sudoku, bs.SearchSettings()
HALVES = np.full((1, 16), 0.5)
X, SAMURAI = bs.grid_problem(4, rules="x"), bs.grid_problem(9, rules="samurai")
TABLE = pa.table({"puzzle": [GRID], "prediction": [GRID]})
CELLS = pd.DataFrame(np.zeros((2, 16), int))
WRONG = {
    "limit is a whole number, not 1.5": lambda: count("queens:6", limit=1.5),
    "limit is a whole number, not None": lambda: bs.solve(SEVERAL, limit=None),
    "limit is a whole number, not True": lambda: count("queens:6", limit=True),
    "the number of jobs is a whole number, not 1.5": lambda: count("queens:6", jobs=1.5),
    "the number of probes is 2 to 1,000,000, not 10,0": lambda: bs.estimate(SUDOKU, probes=10**7),
    "a seed is 0 or more, not -1": lambda: bs.sample("queens:6", 1, seed=-1),
    "the number of cheapest covers is 1 to 100,000, not 0": lambda: bs.cheapest(PRICED, 0),
    "time_limit is more than 0 seconds, not '3'": lambda: count("queens:6", time_limit="3"),
    "engine is text, not None": lambda: count("queens:6", engine=None),
    "settings are given whole, and beside them 'limit'": lambda: count("", search=WHOLE, limit=1),
    "settings are a SearchSettings, not 5": lambda: count("queens:6", search=5),
    "whole numbers, not \\[0.9\\]": lambda: count("queens:6", [0.9]),
    "whole numbers, not \\[\\[0\\]\\]": lambda: bs.split("queens:6", [[0]]),
    "whole numbers, not \\[0.5\\]": lambda: bs.family("queens:6").verify([0.5]),
    "whole numbers, not \\[1.5\\]": lambda: bs.solution_graph("queens:6").with_option(1.5),
    "whole numbers, not \\[None\\]": lambda: bs.draw("queens:6", [None]),
    "option 18446744073709551616 does not exist": lambda: count("queens:6", [2**64]),
    "one stack to begin with here, not 2": lambda: bs.split("queens:6", SOME),
    "a problem is text, such as 'queens:8' or the name of a file, not None": lambda: count(None),
    "class ExactCover, not 'queens:6'": lambda: bs.symmetries("queens:6"),
    "class Sudoku, not 'sudoku:2x2'": lambda: forms([], "sudoku:2x2"),
    "class ExactCover, not 'langford:3'": lambda: bs.SolutionGraph.load("graph", "langford:3"),
    "a puzzle is text, not None": lambda: bs.solve(None),
    "a puzzle is text, not a bytes: decode it": lambda: bs.solve(GRID.encode()),
    "not a str: solve takes one puzzle": lambda: batch(GRID),
    "not a bytes: decode it to text": lambda: batch(GRID.encode()),
    "not a generator: make it a list": lambda: batch(grid for grid in [GRID]),
    "texts in a list, not None": lambda: batch(None),
    "not a DataFrame: .*; of cells, give to_numpy\\(\\) to solve_batch": lambda: batch(CELLS),
    "or be texts .str., not .1,.; the first is 1000002003000004": lambda: batch([1000002003000004]),
    "not a dict_values: make it a list": lambda: batch({1: GRID}.values()),
    "not a Table: functions of tables, such as solve_table": lambda: batch(TABLE),
    "not a LazyFrame: functions of tables take its collect": lambda: table(pl.LazyFrame()),
    "not a Dataset: .* of tables take its with_format.'arrow'..:.": lambda: table(Dataset()),
    "a table is .*, not a list: solve_batch takes": lambda: table([GRID]),
    "name, not a BytesIO: solve_file takes names": lambda: bs.solve_file(io.BytesIO(), "out.csv"),
    "output needs a name, not a BytesIO": lambda: bs.solve_file("in.csv", io.BytesIO()),
    "name, not a DataFrame: functions of tables": lambda: bs.solve_file(pd.DataFrame(), "out.csv"),
    "whole numbers; those of an array of float64 are not all .*astype": lambda: batch(HALVES),
    "those of an array of float16 are not all .*astype": lambda: batch(HALVES.astype("f2")),
    "a box has 1 row and column or more, not \\(0, 2\\)": lambda: bs.solve(GRID, box=(0, 2)),
    "alphabet is text, not 5": lambda: bs.solve(GRID, alphabet=5),
    "grids are an array, or lists of equal length, not ..1, 2., .1": lambda: batch([[1, 2], [1]]),
    "the matrix is an array, or lists of equal": lambda: Cover.from_matrix([[1, 0], [1]]),
    "bounds is an array, or lists of equal": lambda: Cover([0, 1], [0], 1, bounds=[[1], [1, 1]]),
    "options are lists of items, .*, not None": lambda: Cover.from_options(None),
    "options are lists of items, .*, not \\[3\\]": lambda: Cover.from_options([3]),
    "not 'ab' \\(text is not a list": lambda: Cover.from_options("ab"),
    "not \\['ab'\\] \\(text is not": lambda: Cover.from_options(["ab"], ["a", "b"]),
    "such as .*'c'\\]\\], not \\[\\[\\['a'\\]\\]\\]$": lambda: Cover.from_options([[["a"]]], ["a"]),
    "a family is text, not None": lambda: bs.family(None),
    "a grid is text, not 5": lambda: SUDOKU.parse(5),
    "^alphabet is text, not 6": lambda: SUDOKU.parse(GRID, alphabet=6),
    "grids hold digits, .*, not array..\\[257": lambda: SUDOKU.follow_rules(np.full((1, 16), 257)),
    "text of stacks is text, not None": lambda: bs.Stacks.from_jsonl(None, SUDOKU),
    "class ExactCover, not 5": lambda: bs.Stacks.from_jsonl(SOME.to_jsonl(SUDOKU), 5),
    "lists of equal length, not \\[\\[0\\], \\[": lambda: forms([[0], []]),
    "grids are an array, or texts in a list, not 5": lambda: forms(5),
    "the problem has its box": lambda: forms([GRID], SUDOKU, box=(3, 3)),
    "alphabet '1-4' is for texts": lambda: forms([[0] * 16], alphabet="1-4"),
    "the problem has its box, rules and": lambda: batch([GRID], SUDOKU, rules="x"),
    "has its box, rules and regions": lambda: table(TABLE, SUDOKU, regions="AABB" * 4),
    "the grid has other cells than Variant.369": lambda: batch(["." * 81], SAMURAI),
    "the grid has other cells than Variant": lambda: bs.canonical("." * 81, SAMURAI),
    "class GridProblem, not 'x'": lambda: table(TABLE, "x"),
    "without other rules, have canonical": lambda: bs.canonical(GRID, rules="x"),
    "rules is for texts, and the problem": lambda: count(SUDOKU, rules="x"),
    "canonical_forms arrays": lambda: bs.canonical([GRID]),
    "2 grids, one a line; give solve_batch a list": lambda: bs.solve(f"{GRID}\n{GRID}"),
    "no grid: a line of 5 cells; .*; solve_file reads files": lambda: bs.solve("a.csv"),
    r"^rules is text, not \['x'\]$": lambda: bs.solve(GRID, rules=["x"]),
    "columns are .*, not array.'x'": lambda: bs.partition(TABLE, by=np.array("x")),
    "columns are a sequence of texts, .* is not text": lambda: bs.evaluate(TABLE, by=np.eye(2)),
    "box_rows is a whole number, not 1.5": lambda: Sudoku(1.5, 2),
    "box_columns is 1 or more, not 0": lambda: Sudoku(2, 0),
    "stacks are Stacks, not \\[\\[0\\]\\]; .*from_lists": lambda: SUDOKU.grids([[0]]),
    "numbers of covers are .* whole numbers, not 0": lambda: QUEENS.covers(0),
    "numbers of covers are .* whole numbers, not \\[0.5\\]": lambda: QUEENS.covers([0.5]),
    "options are .* whole numbers, not \\['1', '9'": lambda: TEXTS in QUEENS,
    "size is 1 or more, not 0": lambda: QUEENS.blocks(0),
    "places of stacks must hold whole numbers": lambda: SOME.take([0.9]),
    "whole numbers, not \\[2.7\\]": lambda: bs.symmetries(QUEENS.problem).stabiliser([2.7]),
    "on_progress is a function or True, not 6": lambda: bs.solve_file("a", "b", on_progress=6),
    "a problem is text, .*, not a list: solve_batch takes arrays": lambda: bs.estimate([GRID]),
    "grids must have shape": lambda: batch([GRID.encode()]),
    "a run keeps all covers or the cheapest": lambda: bs.Run("x", PRICED, collect=True, cheapest=1),
    "the output needs a name, not 'a.x00b.csv'": lambda: bs.solve_file("in.csv", "a\0b.csv"),
    "the input needs a name, not 'a.x00b.csv'": lambda: bs.partition("a\0b.csv", "parts"),
    "the directory of a run needs a name, not 'a.x00b'": lambda: bs.Run("a\0b", "queens:6"),
    "the picture needs a name, not 'a.x00b.svg'": lambda: bs.draw("queens:6").save("a\0b.svg"),
    "the output needs a name, not 'a.x00b.zdd'": lambda: QUEENS.save("a\0b.zdd"),
    "the graph needs a name, not 'a.x00b'": lambda: bs.SolutionGraph.load("a\0b", SUDOKU),
    "the output needs a name that files can have: ": lambda: bs.solve_file("a", "\ud800.csv"),
    "n_digits is 1 or more, not -4": lambda: bs.grid_problem(-4),
    "rules is text, not 3": lambda: bs.grid_problem(9, rules=3),
    "a box of 16×16 gives 256 digits": lambda: Sudoku(np.uint8(16), np.uint8(16)),
    "n_items is 0 to 4,294,967,295, not 4,294,967,297": lambda: Cover([0], [], 2**32 + 1),
    "option 5000 does not exist": lambda: SUDOKU.grids(bs.Stacks.from_lists([[5000]])),
    "must both have shape": lambda: SUDOKU.check(np.zeros((5, 16), int), np.zeros((5, 81), int)),
    "rate.* takes no `solution_column`; leave it out$": lambda: bs.rate(TABLE, solution_column="x"),
    "no `solution_column`; name it with `truth`$": lambda: bs.evaluate(TABLE, solution_column="x"),
    "columns must hold whole numbers .* not .0.5": lambda: Cover.from_matrix([[1, 1]], [0.5]),
    "secondary columns are a .* whole numbers, not 5$": lambda: Cover.from_matrix([[1, 1]], 5),
    "items are lists, not .None, 5.$": lambda: Cover.from_options([["a"]], secondary=5),
    "primary and secondary items are lists, not .5, ...$": lambda: Cover.from_options([["a"]], 5),
    "a list with a mapping for each option, not 5": lambda: Cover.from_options([["a"]], colors=5),
    "stats is True or False, not <NA>": lambda: table(TABLE, stats=pd.NA),
    "original is True or False, not 0": lambda: bs.augment(TABLE, original=pd.Series([1])),
    "ordered is True or False, not 'no'": lambda: bs.solution_graph("queens:6", ordered="no"),
    "weighted is True or False, not 'no'": lambda: bs.sample("queens:6", 1, weighted="no"),
    "distinct is True or False, not 'no'": lambda: bs.sample("queens:6", 1, distinct="no"),
    "distinct is True or False, not \\[\\]": lambda: QUEENS.sample(1, distinct=[]),
    "collect is True or False, not 'no'": lambda: bs.Run("x", "queens:6", collect="no"),
    "resume is True or False, not 'no'": lambda: bs.Run("x", "queens:6", resume="no"),
    "a name is text, not array": lambda: bs.Run("x", "queens:6", name=np.zeros(2)),
    "ordered is True or False, not array": lambda: bs.solution_graph("queens:6", ordered=np.eye(1)),
    "a title is text, not 5": lambda: bs.draw("queens:6", title=5),
    "by is text, not array": lambda: bs.distribution("queens:6", np.zeros(2)),
    "settings are a PuzzleSettings, not array": lambda: bs.generate(wanted=np.zeros(2)),
    "options are a sequence of whole numbers, not None": lambda: count(["queens:6"], None),
    "time_limit is more than 0 seconds, not True": lambda: count("queens:6", time_limit=True),
    "clues are a range .*, not True$": lambda: bs.generate_table(1, clues=True),
    "clues are a range .*, not 'a..b'$": lambda: bs.generate_table(1, clues="a..b"),
    "columns are two names, .*, not \\[\\[1\\]\\]": lambda: bs.generate_table(1, columns=[[1]]),
    "split_depth is a whole number, not 0  ": lambda: count("queens:6", split_depth=pd.Series([1])),
    "items are a sequence of texts, not 5$": lambda: bs.count_projections("queens:6", 5),
    "of texts, not .1, 2. .1 is not": lambda: bs.count_projections("queens:6", [1, 2]),
    "the address of a cluster is text, not 5": lambda: count("queens:6", backend="dask", address=5),
    "a backend is text, not \\['loky'\\]": lambda: count("queens:6", backend=["loky"]),
    "on_progress is a function or True, not \\[\\]": lambda: count("queens:6", on_progress=[]),
    "the input needs a name, not a ndarray": lambda: bs.solve_file(np.array(5), "out.csv"),
    "reader of Arrow, not a Series: solve_batch takes": lambda: bs.solve_stream(pd.Series([GRID])),
    "reader of Arrow, not a ChunkedArray: solve_batch": lambda: bs.solve_stream(TABLE["puzzle"]),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [np.int8, np.float16, np.float32, np.longdouble])
def test_whole_numbers_of_every_type_are_digits(kind):
    grid = np.zeros((1, 16), kind)
    grid[0, [0, 6, 9, 15]] = [1, 2, 3, 4]
    assert bs.solve_batch(grid).text() == [SOLUTION]
    if kind is not np.int8:
        assert bs.solve_batch(np.where(grid == 0, np.nan, grid)).text() == [SOLUTION]


WITHOUT_BLANKS = [cell.strip(".") for cell in GRID]


@pytest.mark.parametrize(
    "cells", [[*GRID], [*map(str.encode, GRID)], WITHOUT_BLANKS, ["1", None, *WITHOUT_BLANKS[2:]]]
)
def test_joined_characters_are_grids(cells):
    grids = [[cells[:4], cells[4:8], cells[8:12], cells[12:]]]
    with pytest.raises(bs.InputError, match="not characters; join") as raised:
        batch(grids)
    advice = str(raised.value).partition("text: ")[2]
    assert batch(eval(advice, {"numpy": np, "grids": grids})).text() == [SOLUTION]


NAMED = [({"rules": "x"}, 48), ({"problem": X}, 48), ({"box": (1, 4)}, 576)]


@pytest.mark.parametrize(("how", "n"), NAMED)
def test_functions_take_the_same_rules_under_the_same_names(how, n):
    text, rules = "." * 16, pa.table({"puzzle": ["." * 16] * 2, "rules": ["", "antiknight"]})
    calls = (bs.solve, text), (batch, [text]), (batch, [[0] * 16])
    found = [call(grid, **how, limit=600) for call, grid in calls]
    assert [np.sum(each.n_solutions) for each in found] == [n] * 3
    solved = table(rules, **how, limit=600, rule_columns="none")
    assert solved["n_solutions"].to_pylist() == [n] * 2
    if "problem" in how:
        assert table(rules, **how)["status"].to_pylist() == ["multiple", "invalid"]
    else:
        assert [each.count for each in (count(text, **how), *count([text], **how))] == [n] * 2
    usual = "AABBAABBCCDDCCDD"
    assert bs.canonical(GRID, regions=usual) == bs.canonical(GRID, SUDOKU) == bs.canonical(GRID)


@pytest.mark.parametrize("message", WRONG)
def test_wrong_arguments_are_one_error_that_names_them(message):
    with pytest.raises((bs.InputError, bs.ProblemError), match=message):
        WRONG[message]()


UNKNOWN = {
    "solve_file.. got an unexpected keyword argument 'foo'$": lambda: bs.solve_file("", "", foo=1),
    "solve_file\\(\\) .* 'limt'; did you mean 'limit'": lambda: bs.solve_file("a", "b", limt=1),
    "dedupe\\(\\) .* 'colum'; did you mean 'column'": lambda: bs.dedupe("a", "b", colum=1),
    "count\\(\\) .* 'job'; did you mean 'jobs'": lambda: bs.count("queens:6", job=1),
    "solutions\\(\\) .* 'limt'": lambda: next(bs.solutions("queens:6", limt=1)),
    "Run.search\\(\\) .* 'limt'; did you mean 'limit'": lambda: bs.Run.search(None, limt=1),
}


@pytest.mark.parametrize("message", UNKNOWN)
def test_unknown_keywords_name_the_function_and_the_keyword_that_is_meant(message):
    with pytest.raises(TypeError, match=message):
        UNKNOWN[message]()


def test_a_directory_without_a_name_harms_no_file(here):
    mine = Path("solutions", "mine.txt")
    mine.parent.mkdir()
    mine.write_text("precious")
    for name in ("", "."):
        with pytest.raises(bs.BatchsolveError):
            bs.Run(name, "queens:6")
    assert mine.read_text() == "precious"


def test_a_run_removes_none_but_its_own_files(tmp_path):
    with bs.Run(tmp_path / "run", "queens:6", collect=True) as run:
        run.search(limit=1)
    stray, mine = (tmp_path / "run" / "solutions" / name for name in ("00000009.parquet", "my.txt"))
    stray.write_text("of a step that did not happen")
    mine.write_text("precious")
    with bs.Run(tmp_path / "run", "queens:6", collect=True, resume=True) as run:
        assert run.search().count == 4
    assert not stray.exists()
    assert mine.read_text() == "precious"


def test_a_run_may_go_on_in_another_thread_but_not_in_two(tmp_path):
    with bs.Run(tmp_path / "run", "queens:6") as run:
        errors = []

        def in_the_midst(search):
            try:
                run.search()
            except bs.InputError as error:
                errors.append(str(error))

        thread = threading.Thread(target=run.search, kwargs={"on_progress": in_the_midst})
        thread.start()
        thread.join()
        assert run.search().count == 4
    assert errors
    assert all("another thread searches this run" in error for error in errors)
    with pytest.raises(bs.JournalError, match="the run is closed; open it again"):
        run.search()


def test_messages_name_arguments_here_and_options_on_the_command_line(tmp_path):
    (tmp_path / "in.csv").write_text("a,b\n1,2\n")
    with pytest.raises(bs.InputError, match="say which with `column`") as raised:
        bs.solve_file(tmp_path / "in.csv", tmp_path / "out.csv")
    assert as_options(str(raised.value)).endswith("say which with --column")


TAKEN = [
    (SearchFields, [bs.SearchSettings]),
    (SolveFileFields, [bs.SearchSettings, FileSettings]),
    (GenerateFileFields, [bs.PuzzleSettings, FileSettings]),
]


@pytest.mark.parametrize(("taken", "kinds"), TAKEN)
def test_type_checkers_know_the_fields_of_settings(taken, kinds):
    hints = get_type_hints(taken, localns={"OnProgress": bool})
    for name in ("jobs", "backend", "address", "on_progress", "search", "files", "wanted"):
        hints.pop(name, None)
    known = {name: hint for kind in kinds for name, hint in get_type_hints(kind).items()}
    wide = {"box", "clues", "rating", "cages", "line_cells", "columns", "seed", "split_depth"}
    assert hints.keys() <= known.keys()
    assert all(hints[name] == known[name] for name in hints.keys() - wide)


def test_a_time_limit_may_be_larger_than_a_float():
    assert bs.count("queens:6", time_limit=10**400).count == 4


def test_a_folder_may_be_named_by_numpy(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text(f"{GRID}\n")
    assert bs.solve_file(np.array([str(tmp_path / "in")]), tmp_path / "out.csv").rows == 1
