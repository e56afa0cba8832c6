"""Options with all sorts of values, for every command."""

from __future__ import annotations

import json
from functools import cache
from random import Random

from fuzzing.cases import FINE, Case, Change, Draft, Outcome
from fuzzing.grids import known_puzzles

PROBLEM, COVERS, COVERS_UP_TO_SYMMETRY = "queens:6", 4, 1
TABLE = "".join(f"{known.puzzle}\n" for known in known_puzzles(16)[:5])
COMMANDS = [
    *(["solve", "in.csv", "-o", "out.csv", "-j", "1"], ["solve", "in.csv"]),
    ["dedupe", "in.csv", "-o", "out.csv", "--against", "in.csv", "-j", "1"],
    *(["count", PROBLEM, "--json", "-j", "1"], ["count", PROBLEM, "--json", "-j", "1"]),
    *(["enumerate", PROBLEM, "-o", "run", "-j", "1"], ["enumerate", PROBLEM, "-o", "-", "-j", "1"]),
    *(["export", "run", "-o", "out.csv"], ["runs", "run"], ["merge", "in.csv"], ["engines"]),
    *(["show", PROBLEM], ["show", "in.csv#1"], ["estimate", PROBLEM, "--probes", "5"]),
    *(["split", PROBLEM, "--depth", "1", "-o", "parts"], []),
    ["scale", PROBLEM, "-j", "1", "--repeat", "1", "--time-limit", "0.1", "-o", "scaling"],
]
WILD = (
    *("", " ", "x", "-", "--", ".", "..", "é", "\udcff", "#", "in.csv#", "in.csv#0", "in.csv#1=x"),
    *("0", "1", "-1", "2", "1.5", "+1", " 1", "1_000", "١", "0x10", "1e3", "1e400"),
    *("nan", "inf", "-inf", "999999999", "1000000000", str(2**31), str(2**62), str(2**63)),
    *(str(2**64), "1" + "0" * 30, "9" * 5000, "x" * 300),
    *("1..3", "2..1", "1..999999999", "1,2", "1,,2", ",", "..", "auto", "auto,auto", "0..", "1.."),
    *("2x2", "0x0", "2x", "x2", "-1x4", "1x1", "99999x99999", "3x3x3"),
    *("1-4", "A-P", "numbers", "1-", "dlx", "bits", "memo:0", "memo:-1", "memo:x", "memo:1"),
    *(f"memo:{10**30}", "algorithm-x", "sat"),
    *("queens:0", "queens:-1", "queens:99999999999", "queens:x", "queens", "latin:1", "sudoku:1x1"),
    *("langford:1", "dominoes:0x5", "pentominoes:3x3", "sudoku:99x99", "queens:1", "dominoes:1x1"),
    *("in.csv", "no.csv", "out.parquet", "out.csv.gz", "out.txt", "no/out.csv", "run"),
    *("\n", "a\nb"),
)
# options that start processes or clusters
NOT_CHANGED = ("--backend", "--scheduler")


@cache
def _options() -> dict[str, list[str]]:
    """Return for every command its options that take a value, and its flags."""
    from batchsolve.cli import all_commands

    found = {}
    for name, command in all_commands().items():
        flags = [each.opts[0] for each in command.params if each.param_type_name == "option"]
        found[name] = [flag for flag in flags if flag not in NOT_CHANGED]
    return found


def begin(rng: Random) -> Case:
    """Make a case that runs a command, usually with an option it does not expect."""
    words = rng.choice(COMMANDS)
    return Case(Draft({"in.csv": TABLE.encode()}, [list(words)]), CHANGES, _wrong)


def _set_an_option(draft: Draft, rng: Random) -> None:
    words = draft.commands[0]
    names = _options().get(words[0] if words else "", ["--help", "--version", "-j"])
    words += rng.choice([[rng.choice(names), rng.choice(WILD)], [rng.choice([*names, "--no"])]])


def _change_a_word(draft: Draft, rng: Random) -> None:
    words = draft.commands[0]
    if words:
        words[rng.randrange(len(words))] = rng.choice(WILD)


def _change_an_argument(draft: Draft, rng: Random) -> None:
    words = draft.commands[0]
    if len(words) > 1:
        words[1] = rng.choice(WILD)


def _leave_out_a_word(draft: Draft, rng: Random) -> None:
    words = draft.commands[0]
    if words:
        del words[rng.randrange(len(words))]


def _add_a_word(draft: Draft, rng: Random) -> None:
    draft.commands[0].insert(rng.randrange(len(draft.commands[0]) + 1), rng.choice(WILD))


CHANGES = (
    *(Change(_set_an_option),) * 6,
    *(Change(_change_an_argument),) * 2,
    *(Change(each) for each in (_change_a_word, _leave_out_a_word, _add_a_word)),
)


def _wrong(draft: Draft, outcome: Outcome) -> str:
    """Return the fault of a count that claims to be complete."""
    [done] = outcome.done
    words = draft.commands[0]
    if words[:2] != ["count", PROBLEM] or done.code != FINE or "--json" not in words:
        return ""
    if not done.out.startswith("{"):  # the help
        return ""
    facts = json.loads(done.out)
    right = COVERS_UP_TO_SYMMETRY if "--up-to-symmetry" in words else COVERS
    if facts["count"] != right or not facts["complete"]:
        return f"{PROBLEM} has {right} covers; exit code 0, and {facts['count']} are counted"
    return ""
