"""A short soak; and checks that the soak notices what it looks for."""

import json
import os
import re
from itertools import count

import pytest
import soak
from soak_jobs import Job, counting

needs_proc = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="finds processes there")


def choice(jobs, backends):
    return soak.Choice(jobs, backends, soak.SIGNALS, soak.VICTIMS, soak.MOMENTS)


@needs_proc
def test_a_few_kills(tmp_path):
    chosen = choice(["count"], ["loky"])
    run = soak.Soak(2, tmp_path, chosen.backends)  # one case has two kills
    run.prepare(chosen.jobs, chosen.backends)
    cases = list(run.run_all((chosen.draw(2, number) for number in count()), 2))
    assert [case.failure for case in cases] == [""] * len(cases)
    assert run.kills >= 2
    results = soak.report(run, 1.0)
    assert (results["failures"], results["hangs"]) == ([], 0)
    assert json.loads(soak.as_text(results)) == results
    counted = [sum(told.values()) for told in soak.sums_of(run.table, 1).values()]
    assert sum(counted) == sum(min(len(case.told), len(case.kills)) for case in cases)


def test_cases_are_drawn_from_the_seed_and_their_number_alone():
    chosen = choice(list(soak.JOBS), list(soak.BACKENDS))
    drawn = [chosen.draw(3, number) for number in range(300)]
    assert drawn == [chosen.draw(3, number) for number in range(300)]
    assert {case.job for case in drawn} == set(soak.JOBS)
    assert {case.backend for case in drawn} == set(soak.BACKENDS)
    kills = [(case.backend, kill) for case in drawn for kill in case.kills]
    assert {kill.moment for _, kill in kills} == {*soak.MOMENTS, "resume"}
    assert {kill.victim for _, kill in kills} == set(soak.VICTIMS)
    for backend, kill in kills:
        assert kill.victim != "node" or (backend, kill.signal) == ("ray-cluster", "SIGKILL")
        assert kill.victim in ("parent", "group") or backend != "threading"


PROGRAMS = [
    ("print('right')", "", False),
    ("print('wrong')", "came to wrong", False),
    ("raise ValueError('a bug')", "exit code 1 and not in .*ValueError: a bug", False),
    ("import sys; print('Traceback', file=sys.stderr)", "exit code 0 .*Traceback", False),
    ("open(sys.argv[1] + '/out.partial', 'w')", r"left behind: \['out.partial'\]", False),
    ("subprocess.Popen(['sleep', '600'])", "processes are left: .*sleep 600", False),
    ("import time; time.sleep(600)", "hung for 1 s: .*Fatal Python error: Aborted", True),
]


@needs_proc
@pytest.mark.parametrize(("program", "failure", "hung"), PROGRAMS)
def test_what_is_wrong_is_noticed(tmp_path, monkeypatch, program, failure, hung):
    monkeypatch.setattr(soak, "jobs_in", lambda folder: {})
    monkeypatch.setattr(soak, "EAGER", f"import subprocess, sys\n{program}")
    monkeypatch.setattr(soak, "HANG_SECONDS", 1.0)
    monkeypatch.setattr(soak, "LEAVE_SECONDS", 0.5)
    run = soak.Soak(1, tmp_path, ["threading"])
    run.jobs["fake"] = Job(lambda folder, _: [str(folder)], lambda *told: told[-1].strip(), ())
    run.wanted["fake"] = "right" if "wrong" in program or "right" in program else ""
    case = run.run(soak.Case(0, "fake", "threading", True, []))
    assert case.hung == hung
    assert bool(case.failure) == bool(failure) == bool(run.failures)
    assert re.search(failure, case.failure, re.DOTALL)
    assert not [name for name in os.listdir(tmp_path) if name.startswith("case")]
    assert not [each for each in soak.processes() if str(tmp_path) in each.command]


@needs_proc
def test_a_wrong_result_of_a_run_that_was_killed_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(soak, "jobs_in", lambda folder: {"count": counting("queens:12")})
    run = soak.Soak(1, tmp_path, ["threading"])
    run.prepare(["count"], ["threading"])
    run.wanted["count"] = run.wanted["count"].replace("14200", "14199")
    kills = [soak.Kill("SIGKILL", "parent", "uniform", 0.3)]
    case = run.run(soak.Case(0, "count", "threading", False, kills))
    assert case.told == ["resumed", "too late"]
    assert "came to 14200 in 241498 nodes, all, and not to 14199" in case.failure
