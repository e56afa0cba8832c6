"""Doubtful measurements are reported as such."""

from dataclasses import replace
from itertools import count

import pytest

from batchsolve.scaling import report, speedup as module
from batchsolve.scaling.experiment import Experiment
from batchsolve.scaling.measure import Plan, read_workloads, run_plan
from batchsolve.scaling.report import speedup_figure, write_report
from batchsolve.scaling.speedup import Series, doubts, fits, hindrance, outliers, speedup_rows


@pytest.fixture(autouse=True)
def _no_pictures(monkeypatch):
    monkeypatch.setattr(report, "can_draw", lambda: False)


@pytest.fixture(scope="module")
def made():
    """A run, and its log."""
    return next(run_plan([read_workloads("queens:6")[0]], Plan(jobs=(1,), repeat=1)))


def series_of(run, walls, cpu_share=1.0, **more):
    """Return a series of runs with these times, by number of workers."""
    number = count()
    runs = [
        replace(run, jobs=p, run=next(number), wall=w, busy=p * w, cpu=p * w * cpu_share, **more)
        for p, times in walls.items()
        for w in times
    ]
    return Series(runs)


def page_of(series, made, folder):
    """Return the report on a series whose runs have one log."""
    experiment = Experiment(series.runs, [made[1]] * len(series.runs), {})
    return write_report(folder, experiment, []).read_text()


GOOD = {1: [4.0, 4.1, 4.0], 2: [2.0, 2.05, 2.0], 4: [1.1, 1.1, 1.1], 8: [0.7, 0.69, 0.71]}


def test_good_measurements_are_not_doubted(made):
    series = series_of(made[0], GOOD)
    assert list(doubts(series)) == []
    assert [fit.law for fit in fits(series)] == ["Amdahl", "Universal Scalability"]


def test_short_runs_are_no_speed_up(made, tmp_path):
    series = series_of(made[0], {1: [0.03], 2: [0.05], 4: [0.04], 8: [0.05]})
    assert hindrance(series)[0] == "too short"
    [(_, doubt)] = doubts(series)
    assert "its runs end within 0.03 s, so a speed-up would mean nothing" in doubt
    assert fits(series) == []
    assert speedup_figure([series]) is None
    page = page_of(series, made, tmp_path)
    assert page.count("<td>too short</td>") == 2 * 4
    assert "would mean nothing" in page
    assert "rms error" not in page


def test_runs_of_an_engine_without_nodes_show_no_speed_up_once_one_is_stopped(made, tmp_path):
    whole = [replace(run, engine="memo") for run in series_of(made[0], GOOD).runs]
    assert list(doubts(Series(whole))) == []
    assert Series(whole).speedups()[2] == pytest.approx(2)
    series = Series([*whole[:-1], replace(whole[-1], complete=False)])
    assert {row["speedup"] for row in speedup_rows(series)} == {None}
    [(_, doubt)] = doubts(series)
    assert "nodes of the engine 'memo' do not show how much of the work it did" in doubt
    assert fits(series) == []
    assert speedup_figure([series]) is None
    assert page_of(series, made, tmp_path).count("<td>stopped</td>") == 2 * 4
    by_nodes = Series([replace(run, engine="dlx", complete=False) for run in whole])
    assert list(doubts(by_nodes)) == []
    assert by_nodes.speedups()[2] == pytest.approx(2)


def test_outliers_are_named(made):
    [(_, doubt)] = doubts(series_of(made[0], GOOD | {2: [2.0, 2.01, 2.02, 2.0, 5.0]}))
    assert doubt.startswith("with 2 workers, 1 of 5 runs took much longer or shorter")
    assert "2.01 s: 5 s; measure again" in doubt


@pytest.mark.parametrize(
    ("walls", "places"),
    [
        ([1.0], []),
        ([1.0, 2.0], []),
        ([1.0, 1.0, 1.04], []),
        ([1.0, 1.0, 1.06], [2]),
        ([1.0, 1.1, 1.2, 1.3, 1.4], []),
    ],
)
def test_times_that_are_near_or_few_are_no_outliers(walls, places):
    assert outliers(walls) == places


def test_processors_that_are_shared_are_noticed(made):
    found = list(doubts(series_of(made[0], GOOD, cpu_share=0.6)))
    assert len(found) == len(GOOD)
    assert found[0][1].startswith("with 1 worker, tasks had processors for 60% of the time")
    assert list(doubts(series_of(made[0], GOOD, cpu_share=module.KNOWN_CPU / 2))) == []


def test_too_few_workers_make_no_curve_and_the_report_says_how_many_do(made, tmp_path):
    series = series_of(made[0], {jobs: GOOD[jobs] for jobs in (1, 2)})
    assert fits(series) == []
    page = page_of(series, made, tmp_path)
    assert "Amdahl: 1 more; Universal Scalability: 2 more" in page
    assert "rms error" not in page
