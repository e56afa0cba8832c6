from types import SimpleNamespace

import pytest

from batchsolve.search.tree import FAR_BEHIND, TRIAL_NODES, Trial

SPEEDS = {"slow": 1.0, "fast": 1.5, "far behind": 0.5 / FAR_BEHIND}


def tried(budget=None):
    """Have engines of these speeds take turns; return the trial and the turns."""
    trial = Trial([SimpleNamespace(name=name) for name in SPEEDS], budget)
    turns = []
    for engine, nodes in trial:
        turns.append((engine.name, nodes))
        trial.learn(nodes, nodes / SPEEDS[engine.name])
    return trial, turns


@pytest.mark.parametrize("budget", [None, 100, 20_000])
def test_the_fastest_goes_on_whatever_the_budget(budget):
    trial, turns = tried(budget)
    assert trial.fastest.name == "fast"
    assert trial.rates["fast"] == pytest.approx(1.5)
    assert max(nodes for _, nodes in turns) == min(budget or TRIAL_NODES[-1], TRIAL_NODES[-1])


def test_engines_far_behind_drop_out_after_the_first_lap_that_counts():
    _, turns = tried()
    laps = [name for name, _ in turns].count
    assert laps("far behind") == 2
    assert laps("fast") == laps("slow") == len(TRIAL_NODES)


def test_tasks_that_end_early_tell_nothing():
    trial = Trial([SimpleNamespace(name=name) for name in SPEEDS])
    for _, nodes in trial:
        trial.learn(nodes // 2 - 1, 1.0)
    assert set(trial.rates.values()) == {0.0}


def test_one_engine_needs_no_trial():
    assert list(Trial([SimpleNamespace(name="alone")])) == []
