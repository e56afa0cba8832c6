"""Files that runs keep for resuming: journals, parts, ``OUT.partial``.

Whatever is damaged, a command either refuses the run or ends as if nothing had happened.
"""

from __future__ import annotations

import json
import os
import sqlite3
import tempfile
from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any

from batchsolve.runs.journal import Journal
from fuzzing import damage
from fuzzing.cases import REFUSED, Case, Change, Draft, Files, Outcome
from fuzzing.commands import run_commands

PROBLEM = "sudoku:2x2"
PUZZLES = ("1.....2..3.....4", "1.............2.", "4.....1..3......", "11..............")
SECONDS = 0.25  # elapsed time in the journal, fixed so that journals are always the same

# ---- runs of one problem --------------------------------------------------------------------


@cache
def search(command: str) -> Files:
    """Start a search of a problem, in two steps; return the files of the run."""
    begin = [command, PROBLEM, "--run" if command == "count" else "-o", "run", "-q", "-j", "1"]
    begin += ["--budget", "30"]
    steps = [[*begin, "--limit", "60"], [*begin, "--limit", "150", "--resume"]]
    return with_seconds(run_commands(Draft({}, steps)).files, "run/journal.sqlite")


def begin_search(rng: Random) -> Case:
    """Make a case that resumes a run, exports it as it is, or inspects it."""
    command = rng.choice(["enumerate", "enumerate", "count"])
    place = "--run" if command == "count" else "-o"
    resume = [command, PROBLEM, place, "run", "--resume", "--json", "-q", "-j", "1"]
    export = ["export", "run", "-o", rng.choice(["out.csv", "out.jsonl", "out.parquet"])]
    look = ["runs", "run", "--json"]
    ways = [[resume], [look]]
    if command == "enumerate":
        ways += [[resume, export], [resume, export], [export]]
    return _case(search(command), rng.choice(ways), "run/journal.sqlite")


# ---- runs over a table ----------------------------------------------------------------------


@cache
def corpus(out: str) -> Files:
    """Start to solve a table with an invalid row; return the files of the run."""
    lines = ["id,puzzle", *(f"{k},{PUZZLES[k % 3]}" for k in range(30)), "30,x"]
    lines += [f"{k},{PUZZLES[k % 4]}" for k in range(31, 40)]
    files = {"in.csv": "".join(f"{line}\n" for line in lines).encode()}
    stop = [*_solve(out), "--stop-on-invalid"]
    return with_seconds(
        {**files, **run_commands(Draft(files, [stop])).files}, f"{out}.partial.journal"
    )


def begin_corpus(rng: Random) -> Case:
    """Make a case that resumes a run over a table."""
    out = rng.choice(["out.csv", "out.jsonl.gz", "out.parquet"])
    return _case(corpus(out), [[*_solve(out), "--resume"]], f"{out}.partial.journal")


def _solve(out: str) -> list[str]:
    return ["solve", "in.csv", "-o", out, "--chunk", "7", "--json", "-q", "-j", "1"]


# ---- both -----------------------------------------------------------------------------------


def _case(files: Files, commands: Sequence[Sequence[str]], journal: str) -> Case:
    named = tuple(map(tuple, commands))
    at_first = tuple(sorted(files.items()))

    def wrong(draft: Draft, outcome: Outcome) -> str:
        return _wrong(_right(at_first, named), draft, outcome)

    rows = Change(lambda draft, rng: _change_rows(draft, journal, rng))
    draft = Draft(dict(files), [list(words) for words in commands])
    return Case(draft, tuple(map(_spare_input, (*CHANGES, *(rows,) * 12))), wrong, shrinks=False)


def _spare_input(change: Change) -> Change:
    """Exempt the input: a run knows it by size and time, without a checksum."""

    def apply(draft: Draft, rng: Random) -> None:
        spared = {name: draft.files.pop(name) for name in ("in.csv",) if name in draft.files}
        if draft.files:
            change.apply(draft, rng)
        draft.files |= spared

    return Change(apply, change.harmless, change.packed)


@cache
def _right(
    files: tuple[tuple[str, bytes], ...], commands: tuple[tuple[str, ...], ...]
) -> tuple[dict[int, Any], dict[str, Files]]:
    """Return the outputs of commands on undamaged files, and the files that each exports.

    The export depends on whether the run was resumed before.
    """
    whole = run_commands(Draft(dict(files), [list(words) for words in commands]))
    said = {k: _said(done.out) for k, done in enumerate(whole.done)}
    alone = run_commands(Draft(dict(files), [list(commands[-1])]))
    return said, {"whole": _results(whole.files), "alone": _results(alone.files)}


def _results(files: Files) -> Files:
    return {
        name: data
        for name, data in files.items()
        if name.startswith("out") and "partial" not in name
    }


def _said(text: str) -> Any:
    """Return the facts that a command printed, without those that vary from run to run."""
    if not text:
        return None
    facts = json.loads(text)
    varies = {"seconds", "rows_per_second", "subproblems", "rounds", "engine"}
    if "rows" in facts:  # task boundaries decide which two solutions are found first
        varies.add("nodes")
    return {name: value for name, value in facts.items() if name not in varies}


def _wrong(right: tuple[dict[int, Any], dict[str, Files]], draft: Draft, outcome: Outcome) -> str:
    """Return the fault, unless all is refused or as if nothing had been damaged."""
    said, made = right
    first, last = outcome.done[0], outcome.done[-1]
    if not draft.spoiled and REFUSED in (first.code, last.code):
        return f"a good run is refused: {first.err}{last.err}"
    for k, done in enumerate(outcome.done):
        if (
            done.code != REFUSED
            and k in said
            and said[k] is not None
            and _said(done.out) != said[k]
        ):
            return f"{draft.commands[k]}: {_said(done.out)}, and right is {said[k]}"
    results = _results(outcome.files)
    if last.code == REFUSED:
        return f"refused, and {sorted(results)} is there" if results else ""
    went_on = first.code != REFUSED
    if (
        draft.commands[-1][0] in ("export", "solve")
        and results != made["whole" if went_on else "alone"]
    ):
        return "the output is another than that of a run that nothing was done to"
    return ""


def with_seconds(files: Files, journal: str) -> Files:
    """Return the files of a run, with fixed times in its journal."""

    def change(path: str) -> None:
        with Journal(path) as read:
            kind, settings = read.about["kind"], read.about["settings"]
        with Journal(path, kind, settings) as opened:
            state = opened.state() or {}
            sums = state.get("totals", state)
            sums["seconds"] = SECONDS
            opened.record(state)

    kept = {name: data for name, data in files.items() if not name.endswith("-journal")}
    return {**kept, journal: _edited(files[journal], change)}


def _edited(data: bytes, change: Any) -> bytes:
    """Return a database file after a change."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        path = os.path.join(folder, "journal")
        with open(path, "wb") as file:
            file.write(data)
        change(path)
        with open(path, "rb") as file:
            return file.read()


def _change_rows(draft: Draft, name: str, rng: Random) -> None:
    """Change, add or delete rows of a journal, or drop a table; it stays a valid database."""
    if name not in draft.files:
        return

    def change(path: str) -> None:
        db = sqlite3.connect(path)
        try:
            with db:
                _change_a_row(db, rng)
        except (sqlite3.Error, ValueError, IndexError):  # an earlier change broke it
            pass
        finally:
            db.close()

    draft.files[name] = _edited(draft.files[name], change)


def _change_a_row(db: sqlite3.Connection, rng: Random) -> None:
    table = rng.choice(
        [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    )
    column = rng.choice([row[1] for row in db.execute(f"PRAGMA table_info({table})")])
    rows = [row for (row,) in db.execute(f"SELECT rowid FROM {table} ORDER BY rowid")]
    how = rng.choice([0, 1, 2, 3, 4, 4, 5, *[6] * 8])
    if how == 0:
        db.execute(f"DROP TABLE {table}")
    elif how == 1:
        db.execute(f"ALTER TABLE {table} ADD COLUMN more TEXT")
    elif how == 2:
        db.execute(f"ALTER TABLE {table} RENAME COLUMN {column} TO other")
    elif how == 3:
        db.execute(f"DELETE FROM {table}")
    elif not rows:
        db.execute(f"INSERT INTO {table} DEFAULT VALUES")
    elif how == 4:
        db.execute(f"DELETE FROM {table} WHERE rowid = ?", [rng.choice(rows)])
    elif how == 5:
        db.execute(f"CREATE TEMP TABLE copy AS SELECT * FROM {table}")
        db.execute(f"INSERT OR IGNORE INTO {table} SELECT * FROM copy")
    else:
        row = rng.choice(rows)
        [[old]] = db.execute(f"SELECT {column} FROM {table} WHERE rowid = ?", [row])
        new = _another(old, rng)
        db.execute(f"UPDATE OR REPLACE {table} SET {column} = ? WHERE rowid = ?", [new, row])


def _another(value: Any, rng: Random) -> Any:
    """Return another value, often a similar one."""
    if rng.random() < 0.3:
        return rng.choice(
            [None, 0, -1, 1, 2**62, 1e300, "", "x", b"", b"\0" * 4, "[]", "{}", "null"]
        )
    if isinstance(value, str):
        if rng.random() < 0.7:
            return damage.change_json(value.encode(), rng).decode(errors="replace")
        return damage.set_a_byte(value.encode(), rng).decode(errors="replace")
    if isinstance(value, bytes):
        return rng.choice(damage.BYTES)(value, rng)
    if isinstance(value, int):
        return rng.choice(
            [value + 1, value - 1, -value, value ^ 1 << rng.randrange(40), str(value)]
        )
    return value / 2 if isinstance(value, float) else value


def _remove(draft: Draft, rng: Random) -> None:
    """Delete a file."""
    if draft.files:
        del draft.files[rng.choice(sorted(draft.files))]


def _rename(draft: Draft, rng: Random) -> None:
    """Rename a file over another."""
    one, two = rng.choices(sorted(draft.files), k=2)
    draft.files[one] = draft.files[two]


def _add(draft: Draft, rng: Random) -> None:
    """Add a file that does not belong there."""
    name = rng.choice(sorted(draft.files))
    folder = os.path.dirname(name)
    other = rng.choice(
        [f"{name}-journal", os.path.join(folder, "x.parquet"), os.path.join(folder, "x")]
    )
    draft.files[other] = rng.choice([b"", b"x", draft.files[name]])


# journals and files of solutions, as disks and users may leave them
CHANGES = (
    *(damage.of_files(damage.flip_a_bit),) * 6,
    *(damage.of_files(change) for change in damage.BYTES),
    *(Change(change) for change in (_remove, _rename, _add)),
)
