import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import sudoku_solutions

import batchsolve as bs
from batchsolve.search.rounds import SearchSettings, answer_rows
from batchsolve.workers.pool import Pool

HARD = "1....7.9..3..2...8..96..5....53..9...1..8...26....4...3......1..4......7..7...3.."
SEVERAL = HARD.replace("7", ".").replace("6", ".")


def answers(grids, jobs=2, batch=3, **settings):
    """Everything that is promised not to depend on how a search is cut up."""
    box = round(grids.shape[1] ** 0.25)
    problem = bs.Sudoku(box, box)
    settings = SearchSettings(**settings)
    parts = (grids[k : k + batch] for k in range(0, len(grids), batch))
    rows = []
    with Pool(jobs) as pool:
        batches = ((len(part), problem.stacks(part)) for part in parts)
        for sheet in answer_rows(problem, batches, settings, pool):
            found = bs.Stacks.concatenate(sheet.solutions())
            solutions = dict(zip(found.roots.tolist(), problem.grids(found).tolist(), strict=True))
            status = sheet.status(settings.limit).tolist()
            for row in range(len(sheet)):
                count = min(int(sheet.counts[row]), settings.limit)
                rows.append((status[row], count, solutions.get(row)))
    return rows


@pytest.fixture(scope="module")
def grids():
    parse = bs.Sudoku(3, 3).parse
    clashing = "11" + "." * 79
    unsolvable = "12345678." + "........9" + "." * 63
    texts = [HARD, SEVERAL, clashing, "." * 81, unsolvable, HARD.replace("7", "."), SEVERAL]
    return np.array([parse(text) for text in texts])


@pytest.mark.parametrize("node_limit", [None, 40, 1000])
@pytest.mark.parametrize("limit", [1, 3])
def test_answers_do_not_depend_on_how_the_search_is_cut_up(grids, limit, node_limit):
    expected = answers(grids, jobs=1, batch=100, limit=limit, node_limit=node_limit)
    assert len(expected) == len(grids)
    for batch, budget, depth in ((1, 90, 0), (2, 150, 3), (100, 400, 8), (4, 10**6, 81)):
        cut = answers(
            grids,
            jobs=2,
            batch=batch,
            budget=budget,
            split_depth=depth,
            limit=limit,
            node_limit=node_limit,
        )
        assert cut == expected


@settings(max_examples=25)
@given(
    rows=st.lists(
        st.lists(st.tuples(st.integers(0, 15), st.integers(1, 4)), max_size=7), max_size=8
    ),
    limit=st.integers(1, 3),
    budget=st.integers(1, 30),
    depth=st.integers(0, 4),
)
def test_answers_are_those_of_the_oracle(rows, limit, budget, depth):
    grids = np.zeros((len(rows), 16), np.uint8)
    for grid, clues in zip(grids, rows, strict=True):
        for cell, digit in clues:
            grid[cell] = digit
    found = answers(grids, limit=limit, budget=budget, split_depth=depth)
    straight = answers(grids, jobs=1, batch=100, limit=limit)
    assert found == straight
    clashing = [sum(g) and not _consistent(g.tolist()) for g in grids]
    for grid, clash, (status, count, solution) in zip(grids, clashing, found, strict=True):
        solutions = sudoku_solutions(grid.tolist(), 2, 2)
        assert count == min(limit, len(solutions))
        assert (status == 5) == clash
        assert solution is None or tuple(solution) in solutions
        assert (solution is None) == (not solutions)


def _consistent(grid):
    units = [[4 * r + c for c in range(4)] for r in range(4)]
    units += [[4 * r + c for r in range(4)] for c in range(4)]
    units += [[4 * (r + i) + c + j for i in (0, 1) for j in (0, 1)] for r in (0, 2) for c in (0, 2)]
    clues = ([grid[cell] for cell in unit if grid[cell]] for unit in units)
    return all(len(unit) == len(set(unit)) for unit in clues)


def test_nodes_of_finished_searches_do_not_depend_on_cuts(grids):
    problem = bs.Sudoku(3, 3)
    unique = grids[:1].repeat(5, axis=0)

    def nodes(jobs, **settings):
        with Pool(jobs) as pool:
            batches = [(5, problem.stacks(unique))]
            sheets = list(answer_rows(problem, batches, SearchSettings(**settings), pool))
        return np.concatenate([sheet.nodes for sheet in sheets]).tolist()

    straight = nodes(1)
    assert straight == nodes(2, budget=100) == nodes(2, split_depth=6, budget=1000)
    assert len(set(straight)) == 1


def test_solve_batch_takes_both_shapes(grids):
    flat = bs.solve_batch(grids, jobs=1)
    square = bs.solve_batch(grids.reshape(-1, 9, 9), jobs=2, backend="loky")
    names = ["unique", "multiple", "invalid", "multiple", "unsolvable", "multiple", "multiple"]
    assert flat.status.tolist() == square.status.tolist() == names
    assert (flat.solutions == square.solutions).all()
    assert flat.n_solutions.tolist() == [1, 2, 0, 2, 0, 2, 2]
    assert bs.Sudoku(3, 3).check(grids, flat.solutions).tolist() == [
        name in ("unique", "multiple") for name in names
    ]


def test_solve_batch_of_nothing():
    result = bs.solve_batch(np.zeros((0, 81), np.uint8))
    assert result.solutions.shape == (0, 81)
    assert result.status.tolist() == []


@pytest.mark.parametrize(
    ("grids", "message"),
    [
        (np.zeros((1, 80), np.uint8), r"shape \(n, N²\) or \(n, N, N\), not \(1, 80\)"),
        (np.zeros(81, np.uint8), r"not \(81,\)"),
        (np.zeros((1, 81)), "whole numbers, not float64"),
        (np.full((1, 81), 10), "grid 0 has 10 in row 1, column 1; digits are 1 to 9"),
    ],
)
def test_bad_arrays_are_refused(grids, message):
    with pytest.raises(bs.InputError, match=message):
        bs.solve_batch(grids)


@pytest.mark.parametrize("field", ["limit", "node_limit", "budget"])
def test_bad_settings_are_refused(field):
    with pytest.raises(bs.InputError, match=f"{field} is 1 or more, not 0"):
        SearchSettings(**{field: 0})


def test_one_puzzle(one_puzzle):
    puzzle, solution = one_puzzle
    answer = bs.solve(puzzle)
    assert (answer.status, answer.solution, answer.n_solutions) == ("unique", solution, 1)
    nothing = bs.solve("11" + "." * 79)
    assert (nothing.status, nothing.solution, nothing.n_solutions) == ("invalid", None, 0)
    assert bs.solve(SEVERAL, limit=1).status == "solved"
    with pytest.raises(bs.InputError, match="row 1, column 2: 'x' is not in the alphabet 1-9"):
        bs.solve("1x" + "." * 79)
    with pytest.raises(bs.InputError, match="a line of 3 cells; expected"):
        bs.solve("123")
