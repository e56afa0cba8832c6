"""The fuzzer: some inputs with a fixed seed, and planted faults that it must find."""

import doctest
import os
import re
import signal
import time
from contextlib import nullcontext
from dataclasses import replace
from unittest.mock import patch

import fuzz as script
import numpy as np
import pytest
from fuzzing import grids, problems
from fuzzing.cases import Draft, misbehaved
from fuzzing.commands import Process, run_commands
from invoking import run_python
from puzzles import counting, draws

from batchsolve.engines import native
from batchsolve.problems.notation import Notation
from batchsolve.runs import journal, specs, split as job_array
from batchsolve.tables.sources import Block


def found(kind, what="", inputs=400, seed=1):
    """Return the first failure of a kind that the fuzzer finds in this process."""
    for case in script.chosen(seed, inputs, [kind]):
        failures = []
        script.fuzz(run_commands, seed, iter([case]), failures.append)
        if failures and what in failures[0].wrong:
            return failures[0]
    raise AssertionError(f"none of {inputs} inputs fails")


def test_some_inputs(capsys):  # scripts/sanitize has more
    assert script.main(["--inputs", "40", "--seed", "0"]) == 0, capsys.readouterr().out
    assert re.search(r"^all +40 +0  .*× 0.*× 1.*× 2$", capsys.readouterr().out, re.MULTILINE)


@pytest.mark.parametrize("module", [grids, problems, counting, draws])
def test_examples_of_slow_searches_and_of_draws(module):
    done = doctest.testmod(module)
    assert done.attempted
    assert not done.failed


def test_every_kind_is_drawn():
    kinds = {name for _, name in script.chosen(1, 200, [kind.name for kind in script.KINDS])}
    assert kinds == {kind.name for kind in script.KINDS}


def test_a_case_is_made_of_its_seed_and_number():
    for number in range(60):
        kind, drawn = script.draw(7, number)
        assert kind.name == script.kind_of(7, number)
        for each in (drawn, script.draw(7, number)[1]):
            text = each.text()
            assert text == drawn.text()
            assert each.on_disk(text) == drawn.on_disk(text)


def test_a_lost_row_is_found(monkeypatch):
    read = Block.rows

    def lose_the_third(self):
        table, faults = read(self)
        kept = [k for k in range(len(table)) if k != 2]
        return (table, faults) if faults else (table.take(kept), {})

    monkeypatch.setattr(Block, "rows", lose_the_third)
    [data] = found("table", "is lost", seed=3).draft.files.values()
    assert data.count(b"\n") <= 4  # a header, and the third of the remaining rows


def test_a_wrong_solution_is_found(monkeypatch):
    decode = Notation.decode

    def swap(self, grids, where=None):
        return decode(self, np.where((grids == 1) | (grids == 2), 3 - grids, grids), where)

    monkeypatch.setattr(Notation, "decode", swap)
    assert sum(map(len, found("table", "and the solution").draft.files.values())) < 300


def test_a_wrong_count_is_found(monkeypatch):
    search = native.search_links

    def count_twice(problem, task):
        outcome = search(problem, task)
        return replace(outcome, counts=outcome.counts * 2)

    monkeypatch.setattr(native, "search_links", count_twice)
    assert "count" in found("problem").wrong


def test_an_exception_is_found_and_its_input_made_small(monkeypatch):
    monkeypatch.setattr(job_array, "is_whole", lambda result: len(result["seal"]) > 0)
    failure = found("results", "raised ")
    assert "  batchsolve merge" in str(failure)
    assert f"input {failure.number} (results)" in str(failure)
    assert sum(map(len, failure.draft.files.values())) < 1350  # of 1,436


@pytest.fixture
def unsealed(monkeypatch):
    """Make the seals of all journals equal, and let runs resume with another input."""
    monkeypatch.setattr(specs.FileRun, "check_read", lambda run: None)
    monkeypatch.setattr(journal.Journal, "_seal", lambda journal: "")
    for begun in (script.kept.search, script.kept.corpus):
        begun.cache_clear()
    yield
    for begun in (script.kept.search, script.kept.corpus):
        begun.cache_clear()


@pytest.mark.parametrize(("kind", "seed"), [("search", 7), ("corpus", 9)])  # it is soon found
@pytest.mark.usefixtures("unsealed")
def test_damage_that_is_not_noticed_is_found(kind, seed):
    assert "run" in " ".join(found(kind, seed=seed).draft.files) or kind == "corpus"


def misbehave():
    """Make some commands hang, crash, or take more memory than there is."""
    for name, instead in {
        "runs.reading.describe": lambda problem: time.sleep(1000),
        "engines.engine_names": lambda: os.kill(os.getpid(), signal.SIGSEGV),
        "runs.run.describe_run": lambda directory: bytearray(1 << 40),
    }.items():
        patch(f"batchsolve.{name}", instead).start()


def test_the_end_of_the_process_is_a_failure_of_the_case():
    with Process(2.0, 1000, misbehave, Draft({}, [])) as process:
        for command, why in (
            (["show", "queens:4"], "hangs: 2 s were not enough"),
            (["engines"], "crashes (-11)"),
            (["runs", "x"], "out of memory"),
        ):
            outcome = process(Draft({}, [command]))
            wrong = outcome.ended or misbehaved(command, outcome.done[0])
            assert wrong.startswith(why)
            assert not outcome.ended or "batchsolve" in outcome.ended  # the traceback
            assert process(Draft({}, [["merge"]])).done[0].code == 2  # the next is unaffected


def test_a_wrong_total_is_found_and_kept_and_can_be_run_again(tmp_path, monkeypatch, capsys):
    read = job_array._read_result

    def read_twice(path):
        result = read(path)
        return {**result, "count": result["count"] * 2}

    monkeypatch.setattr(job_array, "_read_result", read_twice)
    monkeypatch.setattr(script, "Process", lambda *_: nullcontext(run_commands))
    arguments = ["--kinds", "results", "--keep", str(tmp_path / "kept"), "--seed", "1"]
    assert script.main(["--inputs", "5", *arguments]) == 1
    said = capsys.readouterr().out
    assert "said to be complete" in said
    number = re.search(r"again: --seed 1 --only (\d+)", said)[1]
    assert script.main(["--only", number, *arguments]) == 1
    assert f"input {number} (results): " in capsys.readouterr().out
    assert (tmp_path / "kept" / number / "failure.txt").read_text() in said


def test_an_unknown_kind_is_refused():
    done = run_python(script.__file__, "--kinds", "table,tables")
    assert done.returncode == 2
    assert "unknown kind 'tables'; choose from table, rules, problem" in done.stderr
