"""Files of a job array: stacks for ``count --stacks``, and results for ``merge``."""

from __future__ import annotations

import json
from functools import cache
from random import Random
from typing import NamedTuple

from fuzzing import damage
from fuzzing.cases import FINE, INCOMPLETE, REFUSED, Case, Change, Draft, Files, Outcome
from fuzzing.commands import run_commands
from fuzzing.grids import solutions

PROBLEM = "sudoku:2x2"
OTHER = "queens:5"


class Split(NamedTuple):
    """The parts of a split, and their results and counts."""

    parts: Files
    results: Files
    counts: dict[str, int]  # part -> its count


@cache
def split_of(problem: str) -> Split:
    """Split a problem and count every part."""
    made = run_commands(
        Draft({}, [["split", problem, "--depth", "2", "--files", "4", "-o", "parts", "--json"]])
    )
    parts = made.files
    commands = [["count", problem, "--stacks", name, "--json", "-q", "-j", "1"] for name in parts]
    done = run_commands(Draft(parts, commands)).done
    counts = {name: json.loads(each.out)["count"] for name, each in zip(parts, done, strict=True)}
    # fixed values for the fields that no seal covers
    lines = [{**json.loads(each.out), "seconds": 0.25} for each in done]
    results = {f"{k}.json": json.dumps(line).encode() for k, line in enumerate(lines)}
    return Split(parts, results, counts)


@cache
def whole_count() -> int:
    """Return the number of solutions of the empty grid, by another search."""
    return sum(1 for _ in solutions([0] * 16))


def begin_stacks(rng: Random) -> Case:
    """Make a case that counts one part."""
    split = split_of(PROBLEM)
    name = rng.choice(sorted(split.parts))
    command = ["count", PROBLEM, "--stacks", name, "--json", "-q", "-j", "1"]

    def wrong(draft: Draft, outcome: Outcome) -> str:
        [done] = outcome.done
        if done.code == REFUSED:
            return "" if draft.spoiled else f"a good part is refused: {done.err}"
        facts = json.loads(done.out)
        # a seal does not cover other parts, so this must be a part, and have its name
        if facts["part"] != int(name[-10:-6]) or facts["count"] != split.counts[name]:
            return f"part {facts['part']} has {facts['count']} covers, not {split.counts[name]}"
        return ""

    return Case(Draft({name: split.parts[name]}, [command]), JSON, wrong)


def begin_results(rng: Random) -> Case:
    """Make a case that merges all parts."""
    split = split_of(PROBLEM)
    total = whole_count()
    command = ["merge", *sorted(split.results), "--json"]

    def wrong(draft: Draft, outcome: Outcome) -> str:
        [done] = outcome.done
        if done.code == REFUSED:
            return "" if draft.spoiled else f"good results are refused: {done.err}"
        facts = json.loads(done.out)
        # a change may have renamed another file to this one
        part_of = {data: int(name[0]) for name, data in split.results.items()}
        there = {part_of.get(draft.files.get(word, b"")) for word in draft.commands[0]}
        if done.code == FINE and facts["count"] != total:
            return f"the total is {total}, and {facts['count']} is said to be complete"
        if done.code == INCOMPLETE and not facts["missing"]:
            return f"not complete, but nothing is missing: {facts}"
        if wrong := there.intersection(facts["missing"]):
            return f"the parts {wrong} are there, and {facts['missing']} are missing"
        return ""

    return Case(Draft(dict(split.results), [command]), (*JSON, *NAMES * 3), wrong)


def _leave_out(draft: Draft, rng: Random) -> None:
    """Leave one of the named files out."""
    words = draft.commands[0]
    if len(words) > 2:
        del words[rng.randrange(1, len(words) - 1)]


def _name_twice(draft: Draft, rng: Random) -> None:
    """Repeat the name of one of the files."""
    words = draft.commands[0]
    words.insert(1, rng.choice(words[1:]))


def _mix(draft: Draft, rng: Random) -> None:
    """Add a result of another problem."""
    others = split_of(OTHER).results
    name = rng.choice(sorted(others))
    draft.files["other.json"] = others[name]
    draft.commands[0].insert(rng.randrange(1, len(draft.commands[0])), "other.json")


def _swap(draft: Draft, rng: Random) -> None:
    """Swap the names of two files."""
    one, two = rng.choices(sorted(draft.files), k=2)
    draft.files[one], draft.files[two] = draft.files[two], draft.files[one]


JSON = (
    *(damage.of_files(damage.change_json),) * 8,
    *(damage.of_files(change) for change in (*damage.BYTES, *damage.TEXT)),
)
NAMES = tuple(Change(change) for change in (_leave_out, _name_twice, _mix, _swap))
