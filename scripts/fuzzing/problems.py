"""Problem files, for ``count`` and other commands that read them: no total may be wrong."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from random import Random

import numpy as np

from fuzzing import damage
from fuzzing.cases import FINE, REFUSED, Case, Change, Draft, Outcome
from fuzzing.grids import SHAPES, known_puzzles, solutions
from fuzzing.tables import PACKERS

LIMITS = ("--limit", "500", "--node-limit", "5000", "--time-limit", "5")
Options = list[list[int]]  # each a list of item numbers
_SQUARE = [(0, 0), (0, 1), (1, 0), (1, 1)]


def begin(rng: Random) -> Case:
    """Make a case of a small problem that two engines count and other commands inspect."""
    form = rng.choice(
        ["dlx", "dlx", "ec", "numbered.ec", "json", "json", "npz", "grid", "drawing", "tiling"]
    )
    if form == "tiling":
        board, sets = _random_tiling(rng)
        right = sum(1 for _ in covers(len(board), _placements(board, sets)))
        data, name = _drawn(board, sets), "in.tiling"
    elif form in ("grid", "drawing"):
        n_cells = rng.choice([16, 16, 36])
        puzzle = rng.choice(known_puzzles(n_cells)).puzzle
        right = sum(1 for _ in solutions([0 if c == "." else int(c) for c in puzzle]))
        data = (puzzle if form == "grid" else _drawing(puzzle)).encode()
        name = "in.txt"
    else:
        n_items, n_primary, options = _random_problem(rng)
        if form == "numbered.ec":  # a form without secondary items
            n_primary = n_items
        right = sum(1 for _ in covers(n_primary, options))
        data = _written(form, n_items, n_primary, options, rng)
        name = f"in.{form}"
    packing = rng.choice(["", "", "", "", ".gz", ".bz2", ".zst"])
    path = name + packing
    count = ["count", path, "--json", "-q", "-j", "1", *LIMITS]
    walker = rng.choice(["auto", "dlx", "bits", "cells", "memo"])
    # engines that memoise have no limit on covers
    first = [*count[: -len(LIMITS)], *LIMITS[2:]] if walker == "memo" else count
    counts = [[*first, "--engine", walker], [*count, "--engine", "algorithm-x"]]
    others = [
        ["show", path],
        ["show", path, "--json"],
        ["estimate", path, "--probes", "5", "--json"],
        ["split", path, "--depth", "1", "-o", "parts", "--json"],
        ["enumerate", path, "-o", "-", "-j", "1", *LIMITS],
        ["draw", path, "-o", "-", "-n", "2", *LIMITS[2:]],
        ["solve", path, "-o", "out.csv", "-j", "1"],
        ["count", f"{path}#1", "--json", "-j", "1", *LIMITS],
    ]
    changes: tuple[Change, ...] = {"dlx": LINES, "tiling": LINES[1:2]}.get(form, ())
    if "ec" in form:
        changes = LINES[:2]
    text = () if form == "npz" else TEXT
    return Case(
        Draft({name: data}, [*counts, rng.choice(others)]),
        (*changes * 2, *text, *BYTES, *PACKED),
        lambda draft, outcome: _wrong(right, draft, outcome),
        lambda files: {path: PACKERS[packing](files[name])},
    )


def covers(n_primary: int, options: Options) -> Iterator[list[int]]:
    """Yield all covers, one item after another.

    Examples
    --------
    >>> list(covers(2, [[0], [1], [0, 1]]))
    [[0, 1], [2]]
    """

    def go_on(covered: frozenset[int], chosen: list[int]) -> Iterator[list[int]]:
        item = next((i for i in range(n_primary) if i not in covered), None)
        if item is None:
            yield chosen
            return
        for k, option in enumerate(options):
            if item in option and covered.isdisjoint(option):
                yield from go_on(covered.union(option), [*chosen, k])

    return go_on(frozenset(), [])


def _random_problem(rng: Random) -> tuple[int, int, Options]:
    n_items = rng.randrange(1, 9)
    n_primary = rng.randrange(1, n_items + 1)
    sizes = (rng.randrange(1, min(4, n_items) + 1) for _ in range(rng.randrange(1, 18)))
    return n_items, n_primary, [sorted(rng.sample(range(n_items), size)) for size in sizes]


SHAPES_OF = {
    "I1": [[(0, 0)]],
    "I2": [[(0, 0), (0, 1)], [(0, 0), (1, 0)]],
    "I3": [[(0, 0), (0, 1), (0, 2)], [(0, 0), (1, 0), (2, 0)]],
    "V3": [[cell for cell in _SQUARE if cell != out] for out in _SQUARE],
}


def _random_tiling(rng: Random) -> tuple[list[tuple[int, int]], list[str]]:
    """Return the cells of a small board with holes, and the pieces to tile it with."""
    rows, columns = rng.randrange(1, 4), rng.randrange(1, 4)  # few enough for the time limit
    every = [(r, c) for r in range(rows) for c in range(columns)]
    board = [cell for cell in every if rng.random() < 0.85] or every
    return board, rng.sample(list(SHAPES_OF), rng.randrange(1, 3))


def _placements(board: list[tuple[int, int]], sets: list[str]) -> Options:
    """Return the cells of every placement of every piece."""
    number = {cell: k for k, cell in enumerate(board)}
    found = []
    for shape in [shape for name in sets for shape in SHAPES_OF[name]]:
        for r in range(3):
            for c in range(3):
                cells = [(r + a, c + b) for a, b in shape]
                if all(cell in number for cell in cells):
                    found.append([number[cell] for cell in cells])
    return found


def _drawn(board: list[tuple[int, int]], sets: list[str]) -> bytes:
    rows = [["." if (r, c) in board else "#" for c in range(3)] for r in range(3)]
    lines = ["| made at random", "board:", *map("".join, rows)]
    return "\n".join([*lines, f"pieces any number: {', '.join(sets)}", ""]).encode()


def _written(form: str, n_items: int, n_primary: int, options: Options, rng: Random) -> bytes:
    """Write a problem in one of the file formats."""
    if form == "npz":
        return _matrix(n_items, n_primary, options)
    names = [f"{'abxyz'[i % 5]}{i}" for i in range(n_items)]
    named = [[names[i] for i in option] for option in options]
    items = " ".join(
        [*names[:n_primary], *(["|"] if n_primary < n_items else []), *names[n_primary:]]
    )
    if form == "json":
        fields = {"options": named, "items": names, "secondary": names[n_primary:]}
        return json.dumps(fields).encode()
    lines = [" ".join(option) for option in named]
    if form == "dlx":
        lines = [items, *lines]
    elif form == "ec":
        lines = [f"{n_items} {len(options)}", items, *lines]
    else:
        lines = ["c made at random", f"p ec {n_items}"]
        lines += ["s " + " ".join(str(i + 1) for i in option) for option in options]
    return "".join(f"{line}\n" for line in lines).encode()


def _matrix(n_items: int, n_primary: int, options: Options) -> bytes:
    indices = np.concatenate(options)
    file = io.BytesIO()
    np.savez(
        file,
        indptr=np.cumsum([0, *map(len, options)]),
        indices=indices,
        data=np.ones(indices.size, np.int8),
        shape=np.array([len(options), n_items]),
        format=np.array(b"csr"),
        n_primary=np.array(n_primary),
    )
    return file.getvalue()


def _drawing(puzzle: str) -> str:
    n, (_, width) = round(len(puzzle) ** 0.5), SHAPES[len(puzzle)]
    rows = [puzzle[k : k + n] for k in range(0, len(puzzle), n)]
    cut = [" | ".join(" ".join(row[k : k + width]) for k in range(0, n, width)) for row in rows]
    return "# a grid\n" + "".join(f"| {row} |\n" for row in cut)


# ---- changes --------------------------------------------------------------------------------


def _add_what_says_nothing(data: bytes, rng: Random) -> bytes:
    """Add spaces and blank lines, which mean nothing."""
    lines = data.split(b"\n")
    k = rng.randrange(len(lines))
    how = rng.randrange(3)
    if how == 0:
        lines.insert(k, rng.choice([b"", b"  ", b"\t"]))
    elif how == 1:
        lines[k] += b"  "
    else:
        return data.replace(b"\n", b"\r\n")
    return b"\n".join(lines)


def _repeat_a_word(data: bytes, rng: Random) -> bytes:
    """Replace a word of the file with another of its words."""
    lines = [line.split(b" ") for line in data.split(b"\n")]
    words = [word for line in lines for word in line]
    line = rng.choice(lines)
    line[rng.randrange(len(line))] = rng.choice([*words, b"-1", b"1e9", b"a0:red", b":", b"9" * 20])
    return b"\n".join(b" ".join(line) for line in lines)


def _move_an_option(data: bytes, rng: Random) -> bytes:
    """Swap two lines after the first, and add a comment."""
    first, *lines = data.split(b"\n")
    if len(lines) > 2:
        k, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[k], lines[other] = lines[other], lines[k]
        lines.insert(k, b"| a comment")
    return b"\n".join([first, *lines])


LINES = (
    Change(damage.of_files(_add_what_says_nothing).apply, harmless=True),
    damage.of_files(_repeat_a_word),
    Change(damage.of_files(_move_an_option).apply, harmless=True),
)
TEXT = tuple(damage.of_files(c) for c in (*damage.TEXT, *damage.TEXT, damage.change_json))
BYTES = tuple(damage.of_files(change) for change in damage.BYTES)
PACKED = tuple(damage.of_files(change, packed=True) for change in damage.BYTES[:6])


# ---- what must hold -------------------------------------------------------------------------


def _wrong(right: int, draft: Draft, outcome: Outcome) -> str:
    """Return what is wrong with the counts of two engines."""
    found = []
    for done in outcome.done[:2]:
        if done.code == REFUSED:
            continue
        try:
            found.append(json.loads(done.out))
        except ValueError:  # the time limit ended the search
            return ""
    if not draft.spoiled and len(found) < 2:
        return f"a good problem is refused: {outcome.done[0].err}{outcome.done[1].err}"
    if not draft.spoiled and any(facts["count"] != right for facts in found):
        return f"{right} covers, and {[facts['count'] for facts in found]} are counted"
    whole = {facts["count"] for facts in found if facts["complete"]}
    if len(whole) > 1:
        return f"two engines count {whole}"
    for facts, done in zip(found, outcome.done, strict=False):
        if len(found) == 2 and (done.code == FINE) != facts["complete"]:
            return f"exit code {done.code}, complete: {facts['complete']}"
    return ""
