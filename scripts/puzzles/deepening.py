"""A search for 16×16 puzzles with few solutions whose tree is large without propagation.

The engine `cells` branches on a cell with the fewest digits left; the engine `lanes` also
propagates forced digits, so its tree of the same puzzle is small. The search begins with a puzzle
that can spare no clue. Every step replaces one or two clues by as many others of the same solution,
or by one fewer; the new puzzle is kept if `lanes` solves it quickly, if it has few solutions, and
if the tree of `cells` has grown.
"""

from __future__ import annotations

import numpy as np

from batchsolve.engines import Task, get_engine
from batchsolve.problems.sudoku import Sudoku, sudoku
from puzzles.digging import dig
from puzzles.draws import Draws
from puzzles.grids import Grid, has_at_most, random_grid

CELLS = get_engine("cells")
LANES = get_engine("lanes")
SIXTEEN = sudoku(4, 4)

MOST_SOLUTIONS = 100
MOST_NODES = 20_000  # of the tree of `lanes`
STARTS = 8
WIDTH = 1_500  # least number of subtrees that a tree is cut into; `SAMPLE` of them are searched
SAMPLE = 500
PIECE = 50_000  # nodes searched in each of these


def deep_puzzle(draws: Draws, least: int) -> tuple[Grid, int, int]:
    """Search for a puzzle whose tree by `cells` has at least `least` nodes.

    Parameters
    ----------
    draws : Draws
    least : int
        The least number of nodes.

    Returns
    -------
    puzzle : ndarray of uint8, shape (256,)
    n_solutions, n_nodes : int
        The number of its solutions, and of the nodes of the tree of `cells`.
    """
    grids = [random_grid(SIXTEEN, draws) for _ in range(STARTS)]
    starts = [_dug(grid, draws) for grid in grids]
    sizes = [estimated_nodes(puzzle, draws) for puzzle in starts]
    place = int(np.argmax(sizes))
    grid, puzzle, size = grids[place], starts[place], sizes[place]
    while True:
        other = neighbour(puzzle, grid, draws)
        if not is_easy_for_lanes(other):
            continue
        nodes = estimated_nodes(other, draws)
        if nodes <= size:
            continue
        puzzle, size = other, nodes
        if size >= least:
            outcome = CELLS.search(SIXTEEN, Task.of(SIXTEEN.stacks(puzzle[None])))
            if outcome.nodes[0] >= least:
                return puzzle, int(outcome.counts[0]), int(outcome.nodes[0])


def _dug(grid: Grid, draws: Draws) -> Grid:
    return dig(SIXTEEN, grid, draws, most=MOST_SOLUTIONS, nodes=MOST_NODES // 10, engine=LANES)


def is_easy_for_lanes(puzzle: Grid) -> bool:
    """Return True if `lanes` quickly proves that a puzzle has few solutions."""
    return has_at_most(SIXTEEN, puzzle, MOST_SOLUTIONS, MOST_NODES, LANES)


def neighbour(puzzle: Grid, grid: Grid, draws: Draws) -> Grid:
    """Return a puzzle of the same solution, with one or two of its clues replaced."""
    n_given_up, n_added = ((1, 1), (2, 2), (2, 1))[draws.permutation(3)[0]]
    clues, blanks = np.flatnonzero(puzzle), np.flatnonzero(puzzle == 0)
    other = puzzle.copy()
    other[clues[draws.permutation(len(clues))[:n_given_up]]] = 0
    added = blanks[draws.permutation(len(blanks))[:n_added]]
    other[added] = grid[added]
    return other


def estimated_nodes(puzzle: Grid, draws: Draws, problem: Sudoku = SIXTEEN) -> float:
    """Estimate the nodes of the tree of `cells`, from the first nodes of some subtrees.

    The size of an unfinished subtree is its searched nodes divided by its progress, Knuth's
    measure: the product of 1 / (number of children) over the nodes above the unsearched rest.

    Parameters
    ----------
    puzzle : ndarray of uint8, shape (n_cells,)
    draws : Draws
        Source of the random choice of subtrees.
    problem : Sudoku

    Returns
    -------
    float
        Exact if the whole tree has fewer nodes than the wanted number of subtrees.
    """
    top, depth = CELLS.search(problem, Task.of(problem.stacks(puzzle[None]), depth=2)), 2
    while 0 < len(top.frontier) < WIDTH:
        depth += 2
        top = CELLS.search(problem, Task.of(problem.stacks(puzzle[None]), depth=depth))
    n_subtrees = len(top.frontier)
    if n_subtrees == 0:
        return float(top.nodes[0])
    some = np.sort(draws.permutation(n_subtrees)[:SAMPLE])
    stacks = top.frontier.take(some).with_roots(np.arange(len(some)))
    outcome = CELLS.search(problem, Task.of(stacks, allowance=PIECE))
    unfinished = np.bincount(outcome.parents, weights=outcome.weights, minlength=len(some))
    sizes = outcome.nodes / np.maximum(1 - unfinished, 1e-9)
    return float(top.nodes[0] + n_subtrees * sizes.mean())
