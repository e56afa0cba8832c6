"""Exact cover problems written in other forms, also in those of solvers.

In the forms of solvers, the options that are not in every cover are the variables, numbered from 1;
comments name them. A ``.cnf`` file has the headers of the Model Counting Competition: if some
variables are auxiliary, the models are to be counted over the others (``c p show``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, pairwise
from typing import Any

import numpy as np

from batchsolve.core.arrays import begins_of
from batchsolve.engines.native import in_order
from batchsolve.engines.sat import Residual, clauses_of, residual_of
from batchsolve.errors import InputError, listed, named_errors
from batchsolve.formats.exact_cover_files import write_dlx, write_ec, write_json, write_npz
from batchsolve.problems.exact_cover import ExactCover
from batchsolve.runs.reading import FORMS as READ_FORMS, Puzzle, reading_of


def converted(problem: Puzzle, form: str) -> bytes:
    """Return a problem as the content of a file in another form.

    Parameters
    ----------
    problem : ExactCover, Reading or str
        As for `count`. Of options that clash with the clues of a grid, none is written.
    form : str
        One of `WRITERS`.

    Raises
    ------
    InputError
        If the form is unknown, or cannot hold the problem.

    Examples
    --------
    >>> options = [["a", "b"], ["a"], ["b"]]
    >>> print(converted(ExactCover.from_options(options), "cnf").decode(), end="")
    c 1 a b
    c 2 a
    c 3 b
    c t mc
    p cnf 3 4
    1 2 0
    1 3 0
    -1 -2 0
    -1 -3 0
    """
    reading = reading_of(problem)
    if form not in FORMS:
        fault = f"unknown form {form!r}" if form else "nothing names the form, as dlx:- does"
        fault = f"a .{form} file is only read, not written" if form in READ_FORMS else fault
        raise InputError(f"{fault}; choose from {listed(FORMS)}")
    problem, stack = reading.problem, reading.stack.tolist()
    with named_errors(reading.name):
        if form in _OF_STACKS:
            text = _OF_STACKS[form](problem, stack)
        else:
            text = _WHOLE[form](_rest(problem, stack) if stack else problem)
    return text if isinstance(text, bytes) else text.encode()


def _rest(problem: ExactCover, stack: list[int]) -> ExactCover:
    """Return a problem without the options that clash with a stack."""
    options = np.array(sorted([*stack, *residual_of(problem, stack).options.tolist()]), np.int64)
    names = problem.option_names
    return in_order(
        problem,
        options,
        item_names=[problem.item_name(i) for i in range(problem.n_items)],
        option_names=names and [names[o] for o in options],
        color_names=problem.color_names,
        costs=None if problem.costs is None else problem.costs[options],
    )


def _write_cnf(problem: ExactCover, stack: list[int]) -> str:
    """Return the formula of a problem, as of the engine `sat`."""
    for name, values in {"bounds": problem.bounds, "costs": problem.costs}.items():
        if values is not None:
            raise InputError(f"a .cnf file cannot hold {name}; write .opb")
    residual = residual_of(problem, stack)
    formula, n_variables = clauses_of(residual)
    clauses = [" ".join(map(str, (*clause, 0))) for clause in formula]
    shown = range(1, residual.options.size + 1)
    show = [] if n_variables == len(shown) else [" ".join(map(str, ("c p show", *shown, 0)))]
    head = [f"c t {'pmc' if show else 'mc'}", f"p cnf {n_variables} {len(clauses)}"]
    return _text_of(chain(_names_of(problem, residual, "c"), head, show, clauses))


def _write_opb(problem: ExactCover, stack: list[int]) -> str:
    """Return the linear constraints of a problem, and the sum of costs as the objective."""
    residual = residual_of(problem, stack)
    lines = list(_constraints(problem, residual))
    n_variables = residual.options.size or min(1, len(lines))
    head = f"* #variable= {n_variables} #constraint= {len(lines)}"
    costs = [] if problem.costs is None else problem.costs[residual.options].tolist()
    terms = [f"{cost:+} x{v}" for v, cost in enumerate(costs, 1) if cost]
    objective = [f"min: {' '.join(terms)} ;"] if terms else []
    return _text_of(chain([head], _names_of(problem, residual, "*"), objective, lines))


def _constraints(problem: ExactCover, residual: Residual) -> Iterator[str]:
    """Yield the constraints of the items that a stack leaves."""
    for i, (begin, end) in enumerate(pairwise(begins_of(residual.sizes).tolist())):
        variables = residual.owners[begin:end].tolist()
        if residual.is_required[i]:
            least, most = problem.bounds_of(i)
            terms = " ".join(f"+1 x{v}" for v in variables)
            if least > len(variables):  # nothing makes both true
                yield from ("+1 x1 >= 1 ;", "-1 x1 >= 0 ;")
                continue
            if least == most:
                yield f"{terms} = {least} ;"
                continue
            if least > 0:
                yield f"{terms} >= {least} ;"
            if most < len(variables):
                yield f"{terms.replace('+', '-')} >= -{most} ;"
            continue
        colors = [] if residual.colors is None else residual.colors[begin:end].tolist()
        if not any(colors):
            if len(variables) > 1:
                yield f"{' '.join(f'-1 x{v}' for v in variables)} >= -1 ;"
            continue
        for k, variable in enumerate(variables):
            for other, color in zip(variables[k + 1 :], colors[k + 1 :], strict=True):
                if not colors[k] or colors[k] != color:
                    yield f"-1 x{variable} -1 x{other} >= -1 ;"


def _names_of(problem: ExactCover, residual: Residual, mark: str) -> Iterator[str]:
    """Yield comments that name the options of variables; each begins with `mark`."""
    for v, o in enumerate(residual.options.tolist(), 1):
        yield f"{mark} {v} {' '.join(problem.option_name(o).split())}"


def _text_of(lines: Iterator[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


_WHOLE: dict[str, Callable[[ExactCover], Any]]
_WHOLE = {"dlx": write_dlx, "ec": write_ec, "json": write_json, "npz": write_npz}
_OF_STACKS = {"cnf": _write_cnf, "opb": _write_opb}
FORMS = (*_WHOLE, *_OF_STACKS)
