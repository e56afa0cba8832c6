"""Stacks to search below: random partial covers, some of which clash or name no option."""

from __future__ import annotations

from random import Random

from batchsolve import ExactCover, Stacks

LONGEST = 4
N_STACKS = 12


def whole() -> Stacks:
    """Return the empty stack."""
    return Stacks.from_lists([[]])


def several(problem: ExactCover, name: str, n_stacks: int = N_STACKS) -> Stacks:
    """Return random stacks of a problem, of which adjacent ones may have one root.

    One in four clashes, holds an option twice or names one that does not exist.
    """
    rng = Random(name)
    rows = [_partial_cover(problem, rng) for _ in range(n_stacks)]
    for row in rows:
        if rng.random() < 0.25:
            _spoil(row, problem.n_decisions, rng)
    roots = [0]
    for _ in rows[1:]:
        roots.append(roots[-1] + rng.choice([0, 1, 1, 5]))
    if rng.random() < 0.3:
        roots = [roots[-1] - root for root in roots]
    return Stacks.from_lists(rows, roots)


def _partial_cover(problem: ExactCover, rng: Random) -> list[int]:
    """Return a few options that do not clash; with bounds, perhaps exclusions of others."""
    row: list[int] = []
    for _ in range(rng.randint(0, LONGEST) if problem.n_decisions else 0):
        entry = rng.randrange(problem.n_decisions)
        if problem.clash_position([*row, entry]) < 0:
            row.append(entry)
    return row


def _spoil(row: list[int], n_decisions: int, rng: Random) -> None:
    """Add an entry at random: any, the first again, or one that does not exist."""
    entries = [n_decisions, n_decisions + 70_000]
    entries += row[:1]
    if n_decisions:
        entries.append(rng.randrange(n_decisions))
    row.insert(rng.randint(0, len(row)), rng.choice(entries))
