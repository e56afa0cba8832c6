"""Sums over all covers of a solution graph, without a list of them.

Each takes one pass over the nodes, in integers of Python, which have any size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from batchsolve.errors import InputError, counted
from batchsolve.interrupts import check_interrupt

if TYPE_CHECKING:
    from batchsolve.graphs.solution_graph import SolutionGraph

BYTES_OF_A_TERM = 160  # two integers in a dictionary
STEP = 1 << 14  # nodes between two looks at Ctrl-C


def distribution(graph: SolutionGraph, weights: Sequence[int], megabytes: int) -> dict[int, int]:
    """Return the number of covers for each sum of the weights of their options, ascending.

    A node has a polynomial: that of its low child, and that of its high child times x to the weight
    of its option. A polynomial is dropped after its last use.
    """
    last = np.arange(graph.option.size)
    for children in (graph.low, graph.high):
        np.maximum.at(last, children[2:], np.arange(2, last.size))
    polynomials: dict[int, dict[int, int]] = {0: {}, 1: {0: 1}}
    n_terms, most = 0, megabytes * (1 << 20) // BYTES_OF_A_TERM
    lasts = last.tolist()
    for x, option, low, high in _nodes(graph):
        weight, terms = weights[option], dict(polynomials[low])
        for total, n in polynomials[high].items():
            terms[total + weight] = terms.get(total + weight, 0) + n
        polynomials[x] = terms
        n_terms += len(terms)
        if n_terms > most:
            raise InputError(
                f"the sums of all covers take more than {counted(megabytes, 'megabyte')}; allow "
                f"more memory, or give options fewer different weights"
            )
        for child in {low, high}:
            if lasts[child] == x and child > 1:
                n_terms -= len(polynomials.pop(child))
    return dict(sorted(polynomials[graph.root].items()))


def uses(graph: SolutionGraph) -> list[int]:
    """Return for each option the number of covers that contain it.

    A node is on as many paths as lead to it from the root, times those from its high child on.
    """
    below, above = [0, 1], [0] * graph.option.size
    for _, _, low, high in _nodes(graph):
        below.append(below[low] + below[high])
    above[graph.root] = 1
    found = [0] * graph.problem.n_options
    for x, option, low, high in _nodes(graph, -1):
        above[low] += above[x]
        above[high] += above[x]
        found[option] += above[x] * below[high]
    return found


def _nodes(graph: SolutionGraph, step: int = 1) -> Iterator[tuple[int, int, int, int]]:
    """Yield the nodes, each with its option, its low and its high child; children come first."""
    numbers = range(2, graph.option.size)[::step]
    for begin in range(0, len(numbers), STEP):
        check_interrupt()
        some = numbers[begin : begin + STEP]
        parts = (each[some].tolist() for each in (graph.option, graph.low, graph.high))
        yield from zip(some, *parts, strict=True)
