"""Files of a job array: malformed or damaged stacks and results raise one clear error."""

import json
import os
import random
from functools import partial, reduce
from operator import getitem
from unittest.mock import patch

import pytest
from conftest import PUZZLE, flip
from invoking import invoke, refused

from batchsolve import InputError, OutputError, Stacks
from batchsolve.engines import native
from batchsolve.problems.families import queens
from batchsolve.runs import split as splitting
from batchsolve.runs.count import count
from batchsolve.runs.split import merge_results, read_part, result_of_part, write_parts

PROBLEM = queens(6)
DEEP = "[" * 100_000 + "]" * 100_000
WRONG = ["null", '"x"', '"1"', "1.5", "[]", "{}", "[[]]", "-1", "1e99", "NaN", "9" * 5000, DEEP]


@pytest.fixture
def array(tmp_path):
    """Return the files of the stacks of a split, and the files of their results."""
    write_parts(PROBLEM, str(tmp_path / "parts"), depth=1, files=2)
    parts = sorted((tmp_path / "parts").iterdir())
    results = [tmp_path / f"{part.stem}.json" for part in parts]
    for part, result in zip(parts, results, strict=True):
        result.write_text(invoke("count", "queens:6", "--stacks", part, "-j", 1, "--json").stdout)
    return parts, results


def with_field(record, path, text):
    """Return a record as JSON, with the text of one field replaced; None takes the field away."""
    changed = json.loads(json.dumps(record))
    *outer, name = path.split(".")
    place = reduce(getitem, outer, changed)
    place[name] = "?"
    if text is None:
        del place[name]
    return json.dumps(changed).replace('"?"', str(text))


HEADER = ["batchsolve", "version", "problem", "split", "part", "of", "count", "nodes", "seal"]
RESULT = ["above", "above.count", "above.nodes", "complete", *HEADER[2:]]
STACKS = [f"[{10**30}]", "[-1]", '["1"]', "[1.5]", "[4000000000]", "[0, 1]"]
CHANGED = [  # the record, its field, and values beside `WRONG`
    *(("result", field, ["true", "0", "1000000000000"]) for field in RESULT),
    *(("header", field, ["true", "5"]) for field in HEADER),
    *(("stack", field, STACKS) for field in ("root", "stack")),
]


@pytest.mark.parametrize(("kind", "field", "more"), CHANGED)
def test_a_file_with_another_value_is_refused(array, kind, field, more):
    (part, _), (first, second) = array
    path, command = part, ["count", "queens:6", "--stacks", part, "-j", "1"]
    if kind == "result":
        path, command = first, ["merge", first, second]
    lines, k = path.read_text().splitlines(), int(kind == "stack")
    good = json.loads(lines[k])
    for text in [None, *WRONG, *more]:
        lines[k] = with_field(good, field, text)
        is_same = len(lines[k]) < 5000 and json.loads(lines[k]) == good
        if is_same or (field, text) == ("root", "-1"):
            continue  # a root may be any 64 bits; the seal shows the change
        path.write_text("\n".join(lines) + "\n")
        done = invoke(*command)
        assert done.exit_code == 2, text
        assert done.stderr.startswith(f"batchsolve: {path}: "), text
        assert done.stderr.count("\n") == 1, text


def test_parts_add_up_to_the_whole(array):
    parts, results = array
    names, whole = list(map(str, results)), count(PROBLEM, jobs=1)
    merged = merge_results(names)
    assert (merged["count"], merged["nodes"], merged["complete"]) == (4, whole.nodes, True)
    assert merge_results([*names, names[1]])["doubled"] == [1]
    with pytest.raises(InputError, match="belong to another problem"):
        read_part(str(parts[0]), queens(5))
    with pytest.raises(OutputError, match="is not empty"):
        write_parts(PROBLEM, str(parts[0].parent), depth=1)
    with pytest.raises(InputError, match="not a result of"):
        merge_results([str(parts[0])])


def test_a_part_whose_time_was_up_before_it_was_read_is_missing(array, tmp_path):
    (part, _), (_, second) = array
    late = tmp_path / "late.json"
    words = ["count", "queens:6", "--stacks", part, "--json", "--time-limit", "1e-9"]
    late.write_text(invoke(*words).stdout)
    merged = merge_results([str(late), str(second)])
    assert (merged["missing"], merged["complete"]) == ([0], False)
    assert merged["count"] == json.loads(second.read_text())["count"]
    with pytest.raises(InputError, match="no results to merge"):
        merge_results([str(late)])


def test_stacks_of_no_split_are_refused(tmp_path):
    (tmp_path / "stacks.jsonl").write_text(Stacks.from_lists([[0]]).to_jsonl(PROBLEM))
    why = "stacks.jsonl: these stacks are not of a split; name a file that split has written"
    assert why in refused("count", "queens:6", "--stacks", tmp_path / "stacks.jsonl")


def test_stacks_of_other_clues_are_refused(tmp_path):
    other, part = "." * 16, tmp_path / "0000.jsonl"
    assert invoke("split", other, "--depth", 1, "--files", 1, "-o", tmp_path).exit_code == 0
    assert invoke("count", other, "--stacks", part).stdout == "288\n"
    why = "0000.jsonl: these stacks are of other clues; name the problem that was split"
    assert why in refused("count", PUZZLE, "--stacks", part)


def test_counts_may_be_long(array):
    parts, (first, second) = array
    _, header = read_part(str(parts[0]), PROBLEM)
    result = {"count": 10**3999, "nodes": 7, "complete": True}
    first.write_text(json.dumps(result_of_part(header, result)))
    done = invoke("merge", first, second, "--json")
    assert (done.exit_code, json.loads(done.stdout)["count"]) == (0, 10**3999 + 2)


def test_a_stack_that_is_gone_is_noticed(array):
    (part, _), _ = array
    header, _, *rest = part.read_text().splitlines(keepends=True)
    part.write_text(header + "".join(rest))
    with pytest.raises(InputError, match=r"0000\.jsonl: the stacks are damaged.*; split again"):
        read_part(str(part), PROBLEM)


def test_flipped_bits_never_change_a_total(array):
    parts, results = array
    rng, names = random.Random(7), list(map(str, results))
    total, read_first = merge_results(names), partial(read_part, str(parts[0]), PROBLEM)
    for path, read in ((results[0], partial(merge_results, names)), (parts[0], read_first)):
        good, right = path.read_bytes(), read()
        n_refused = 0
        for _ in range(120):
            path.write_bytes(good)
            flip(path, rng)
            try:
                found = read()
            except InputError:
                n_refused += 1
            else:  # a harmless change: in a field that is not added up, or in a blank
                assert path is results[0]
                assert found == right == total
        assert n_refused > 40
        path.write_bytes(good)


def test_a_split_is_made_in_steps_between_which_ctrl_c_is_heard(monkeypatch):
    whole = splitting.split("queens:6", depth=4)
    monkeypatch.setattr(splitting, "BLOCK", 3)
    with patch.object(native, "search_links", wraps=native.search_links) as search:
        parts = splitting.split("queens:6", depth=4, engine="dlx")
    lists = [stack.tolist() for stack in parts.stacks]
    assert lists == [stack.tolist() for stack in whole.stacks]
    assert (parts.count, parts.nodes) == (whole.count, whole.nodes)
    steps = [call.args[1] for call in search.call_args_list]
    assert len(steps) > 4
    assert all(len(step.stacks) <= 3 and step.depth == 1 for step in steps)


def test_a_quiet_split_prints_nothing(tmp_path):
    split = "split", "queens:4", "--depth", 1, "-o"
    assert (invoke(*split, tmp_path / "a", "-q").output, len(os.listdir(tmp_path / "a"))) == ("", 4)
    assert json.loads(invoke(*split, tmp_path / "b", "-q", "--json").stdout)["files"] == 4


def covers_of(lines):
    return sorted(sorted(json.loads(line)["options"]) for line in lines)


@pytest.mark.parametrize(("name", "depth"), [("queens:6", 2), ("dominoes:3x4", 5), ("queens:4", 9)])
def test_the_lists_of_parts_hold_every_solution_once(name, depth, tmp_path):
    cut = "--depth", depth, "--files", 3
    facts = invoke("split", name, *cut, "-o", tmp_path / "parts", "--json")
    assert json.loads(facts.stdout)["count"] == 0
    found, results = [], []
    for k, path in enumerate(sorted((tmp_path / "parts").iterdir())):
        results += [tmp_path / f"{k}.json"]
        how = ("enumerate", name, "--stacks", path, "--json", "-o")
        if k == 1:  # a run, in two steps
            assert invoke(*how, tmp_path / "run", "--limit", 1).exit_code in (0, 1)
            done = invoke(*how, tmp_path / "run", "--resume")
            results[-1].write_text(done.stdout)
            assert invoke("export", tmp_path / "run", "-o", tmp_path / "run.jsonl").exit_code == 0
            found += (tmp_path / "run.jsonl").read_text().splitlines()
        else:
            done = invoke(*how, "-")
            results[-1].write_text(f"batchsolve: a warning {{of k={k}}}\n{done.stderr}")
            found += done.stdout.splitlines()
        assert done.exit_code == 0
    whole = invoke("enumerate", name, "-o", "-", "--quiet").stdout.splitlines()
    assert covers_of(found) == covers_of(whole)
    merged = json.loads(invoke("merge", *results, "--json").stdout)
    counted = count(name, engine="dlx", jobs=1)
    assert (merged["count"], merged["nodes"]) == (counted.count, counted.nodes)
    assert merged["complete"]
    merged = json.loads(invoke("merge", *results[1:], "--json").stdout)
    assert (merged["complete"], merged["missing"]) == (False, [0])


def test_parts_that_would_not_list_every_solution_are_refused(tmp_path):
    (tmp_path / "a.dlx").write_text("0:1|a b\na\nb\na b\n")
    split = invoke("split", tmp_path / "a.dlx", "--depth", 5, "-o", tmp_path / "parts", "--json")
    assert json.loads(split.stdout)["count"] == 3
    part = tmp_path / "parts" / "0000.jsonl"
    why = "3 solutions above the depth of the split would be in no list"
    assert why in refused("enumerate", tmp_path / "a.dlx", "--stacks", part, "-o", "-")
    assert invoke("count", tmp_path / "a.dlx", "--stacks", part).stdout == "0\n"
    best = invoke("enumerate", "queens:4", "--stacks", part, "--best", 1, "-o", "-")
    assert "--best does not go with --stacks" in best.stderr
