"""Tables of 4×4 puzzles with per-row rules, judged by all Latin squares."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations, permutations
from operator import eq, gt, lt, ne
from random import Random
from typing import Any

from fuzzing import tables
from fuzzing.cases import Case, Draft, Outcome
from fuzzing.grids import Known, text_of

Grid = Sequence[int]
Check = Callable[[Grid], bool]

BOXES = "aabbaabbccddccdd"
LAYOUTS = ("", "", BOXES, "aaabacbbccbdcddd", "aabbabbaccddcddc", "a" * 16)
SIGNS: dict[str, Callable[[int, int], bool]] = {
    "<": lt,
    ">": gt,
    "-": lambda a, b: abs(a - b) == 1,
    ":": lambda a, b: a == 2 * b or b == 2 * a,
    "v": lambda a, b: a + b == 5,
    "=": eq,
}
STEPS = {
    "antiknight": lambda down, right: {down, right} == {1, 2},
    "antiking": lambda down, right: max(down, right) == 1,
    "nonconsecutive": lambda down, right: down + right == 1,
}
COLUMNS = ("rules", "regions", "cages", "sums", "marks", "pairs")


@cache
def squares() -> tuple[tuple[int, ...], ...]:
    """Return the 576 Latin squares of order 4."""

    def below(rows: tuple[tuple[int, ...], ...]) -> Iterator[tuple[int, ...]]:
        if len(rows) == 4:
            yield tuple(digit for row in rows for digit in row)
            return
        for row in permutations(range(1, 5)):
            if all(a != b for other in rows for a, b in zip(row, other, strict=True)):
                yield from below((*rows, row))

    return tuple(below(()))


def _apart(a: int, b: int) -> bool:
    return abs(a - b) > 1


def _differ(cells: Sequence[int]) -> Check:
    return lambda grid: len({grid[k] for k in cells}) == len(cells)


def _add_up(cells: Sequence[int], total: int) -> Check:
    return lambda grid: sum(grid[k] for k in cells) == total


def _relate(pairs: Sequence[tuple[int, int]], allows: Callable[[int, int], bool]) -> Check:
    return lambda grid: all(allows(grid[a], grid[b]) for a, b in pairs)


def _rules(rng: Random) -> tuple[dict[str, str], list[Check]]:
    """Draw named rules."""
    names = rng.sample(["x", *STEPS], rng.choice([0, 0, 1, 1, 2]))
    checks = []
    for name in names:
        if name == "x":
            checks += [_differ((0, 5, 10, 15)), _differ((3, 6, 9, 12))]
            continue
        near = [
            (a, b)
            for a, b in combinations(range(16), 2)
            if STEPS[name](abs(a // 4 - b // 4), abs(a % 4 - b % 4))
        ]
        checks.append(_relate(near, _apart if name == "nonconsecutive" else ne))
    return {"rules": rng.choice(["+", " + "]).join(names)}, checks


def _regions(rng: Random) -> tuple[dict[str, str], list[Check]]:
    """Draw regions; those of another size than 4 make a row invalid."""
    text = rng.choice(LAYOUTS)
    labels = text or BOXES
    cells = {a: [k for k in range(16) if labels[k] == a] for a in labels}
    fits = all(len(some) == 4 for some in cells.values())
    checks = [_differ(some) for some in cells.values()] if fits else [lambda grid: False]
    return {"regions": text}, checks


def _cages(rng: Random) -> tuple[dict[str, str], list[Check]]:
    """Draw cages, with sums that a solved grid has or has not."""
    labels, sums, checks = ["."] * 16, [], []
    grid = rng.choice(squares())
    for label in "ABC"[: rng.randrange(4)]:
        free = [k for k in range(16) if labels[k] == "."]
        cells = rng.sample(free, rng.randrange(1, 5))
        for k in cells:
            labels[k] = label
        total = sum(grid[k] for k in cells) if rng.random() < 0.8 else rng.randrange(1, 12)
        is_known = rng.random() < 0.8
        sums.append(f"{label}={total if is_known else '?'}")
        checks.append(_differ(cells))
        if is_known:
            checks.append(_add_up(cells, total))
    text = "".join(labels) if sums else ""
    return {"cages": text, "sums": " ".join(sums)}, checks


def _marks(rng: Random) -> tuple[dict[str, str], list[Check]]:
    """Draw marks of both kinds."""
    how = rng.randrange(3)
    if how == 0:
        return {"marks": ""}, []
    if how == 1:
        marks = [rng.choice("....eo") for _ in range(16)]
        allowed = [{"e": {2, 4}, "o": {1, 3}}.get(mark, {1, 2, 3, 4}) for mark in marks]
    else:
        allowed = [
            set(range(1, 5)) - ({rng.randrange(1, 5)} if rng.random() < 0.3 else set())
            for _ in range(16)
        ]
        marks = ["".join(str(d) if d in some else "." for d in range(1, 5)) for some in allowed]
    return {"marks": "".join(marks)}, [
        lambda grid: all(d in some for d, some in zip(grid, allowed, strict=True))
    ]


def _pairs(rng: Random) -> tuple[dict[str, str], list[Check]]:
    """Draw relations of two cells, anywhere."""
    words, checks = [], []
    for _ in range(rng.choice([0, 0, 1, 2, 3])):
        (a, b), sign = rng.sample(range(16), 2), rng.choice(list(SIGNS))
        words.append(f"r{a // 4 + 1}c{a % 4 + 1}{sign}r{b // 4 + 1}c{b % 4 + 1}")
        checks.append(_relate([(a, b)], SIGNS[sign]))
    return {"pairs": " ".join(words)}, checks


def row(rng: Random) -> tuple[dict[str, str], list[Grid]]:
    """Draw the columns of a row, and all its solutions; its clues may clash."""
    columns: dict[str, str] = {}
    checks: list[Check] = []
    for each in (_rules, _regions, _cages, _marks, _pairs):
        said, more = each(rng)
        columns, checks = columns | said, checks + more
    grids = [grid for grid in squares() if all(check(grid) for check in checks)]
    clues = [0] * 16
    source = rng.choice(grids or squares())
    for k in rng.sample(range(16), rng.randrange(6)):
        clues[k] = source[k]
    if rng.random() < 0.1:
        clues[rng.randrange(16)] = rng.randrange(1, 5)
    found = [grid for grid in grids if all(c in (0, d) for c, d in zip(clues, grid, strict=True))]
    return {"puzzle": text_of(clues), **columns}, list(found)


def _known(puzzle: str, grids: Sequence[Grid]) -> Known:
    """Return the answer to a row; clues that clash may be called invalid or unsolvable."""
    status = ("unsolvable or invalid", "unique", "multiple")[min(len(grids), 2)]
    return Known(puzzle, status, text_of(grids[0]) if len(grids) == 1 else "")


def begin(rng: Random) -> Case:
    """Make a case of a table of puzzles with rules, and a command that solves it."""
    drawn = [row(rng) for _ in range(rng.randrange(1, 12))]
    records = [record for record, _ in drawn]
    known = [_known(record["puzzle"], grids) for record, grids in drawn]
    unused = [name for name in COLUMNS if not any(record[name] for record in records)]
    dropped = rng.sample(unused, rng.randrange(len(unused) + 1))
    for record in records:
        for name in dropped:
            del record[name]
    form = rng.choice(["csv", "csv", "tsv", "semicolons", "jsonl", "parquet"])
    out = rng.choice(["out.csv", "out.jsonl", "out.parquet"])
    table, data = tables.written(form, records, known, rng)
    command = ["solve", table.name, "-o", out, "-j", "1", "--json"]
    table = replace(table, words=command)
    names = list(records[0])
    right = {tuple(r.values()): each for r, each in zip(records, known, strict=True)}

    def wrong_row(row: dict[str, Any]) -> str:
        """Return the fault of a row whose texts are those of one that was drawn."""
        texts = tuple(str(row.get(name) or "") for name in names)
        answer = right.get(texts) if set(row) >= set(names) else None
        if answer is None or row["status"] in ("solved", "unfinished", "invalid"):
            return ""
        if row["status"] in answer.status.split(" or "):
            return ""
        return f"{texts} has the status {row['status']}, and is {answer.status}"

    def wrong(draft: Draft, outcome: Outcome) -> str:
        has_others = "0-3" in draft.commands[0]  # clues are other digits, and rules are not
        return tables.wrong(table, draft, outcome, (lambda row: "") if has_others else wrong_row)

    changes = (*tables.BYTE_CHANGES, *tables.OPTIONS) if form == "parquet" else tables.CHANGES
    return Case(Draft({table.name: data}, [command]), changes, wrong)
