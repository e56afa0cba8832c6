import json
import os
import platform
import shutil
from dataclasses import replace
from datetime import datetime
from itertools import count
from operator import attrgetter

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st
from invoking import invoke, press_in, refused

import batchsolve as bs
from batchsolve.core.interrupts import asking
from batchsolve.engines import native
from batchsolve.scaling import experiment as experiments, measure, report, speedup
from batchsolve.scaling.experiment import Experiment, read_experiment
from batchsolve.scaling.measure import Plan, ScalingError, read_workloads, run_plan
from batchsolve.scaling.report import speedup_figure, write_report
from batchsolve.scaling.simulation import forecast, measured_costs, simulate
from batchsolve.scaling.speedup import Series, doubts, fit, fits, rows_of
from batchsolve.workers import Pool

SCALE = ("scale", "--jobs", "1")
SMALL = Plan(jobs=(1, 2), split_depths=(None, 0, 2), repeat=2, budget=500)


@pytest.fixture(scope="module")
def experiment():
    workloads = [read_workloads(name)[0] for name in ("queens:8", "sudoku:2x2")]
    runs, logs = map(list, zip(*run_plan(workloads, SMALL), strict=True))
    return Experiment(runs, logs, experiments.about(["scale"], {}))


@pytest.fixture(scope="module", autouse=True)
def _no_pictures():
    """Draw no pictures, which take seconds; those of test_report.py are enough."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "can_draw", lambda: False)
        yield


def series_of(run, walls, cpu_share=1.0, **more):
    """Return a series of runs with these times, by number of workers."""
    number = count()
    runs = [
        replace(run, jobs=p, run=next(number), wall=w, busy=p * w, cpu=p * w * cpu_share, **more)
        for p, times in walls.items()
        for w in times
    ]
    return Series(runs)


def test_every_combination_runs_in_turn_with_equal_counts_and_nodes(experiment):
    assert len(experiment.runs) == 2 * 2 * 3 * 2
    assert [run.run for run in experiment.runs] == list(range(24))
    first, second = experiment.runs[:12], experiment.runs[12:]
    assert {run.repeat for run in first} == {0}
    key = attrgetter("problem", "jobs", "split_depth")
    assert list(map(key, first)) == list(map(key, second))
    assert len(set(map(key, first))) == 12
    found = {(run.problem, run.count, run.nodes) for run in experiment.runs}
    assert found == {("queens:8", 92, 1178), ("sudoku:2x2", 288, bs.count(bs.Sudoku(2, 2)).nodes)}
    assert all(run.complete for run in experiment.runs)


def test_tasks_add_up_to_their_run(experiment):
    for run, log in zip(experiment.runs, experiment.logs, strict=True):
        assert log["nodes"].sum() == run.nodes
        assert log["nodes"][log["split"]].sum() == run.split_nodes
        if run.split_depth is not None:  # else the first nodes may be all
            assert (run.split_nodes > 0) == (run.split_depth != 0)
        assert run.tasks == np.count_nonzero(log["worker"] >= 0)
        assert max(log["worker"]) < run.jobs
        mine = measure.of_workers(log)
        assert run.busy == pytest.approx(mine["seconds"].sum())
        assert run.busy_nodes == mine["nodes"].sum()
        assert run.busy <= run.jobs * run.wall * 1.01
        assert run.idle_share == pytest.approx(1 - run.busy / (run.jobs * run.wall), abs=0.01)
        assert run.task_median <= run.task_p90 <= run.task_p99 <= run.task_max
        assert 0 <= run.serial_share <= run.idle_share + 0.01
        assert run.peak_mb > 20


def test_what_is_written_is_what_was_measured(experiment, tmp_path):
    experiments.begin_experiment(tmp_path, experiment.about)
    experiments.write_experiment(tmp_path, experiment)
    again = read_experiment(str(tmp_path))
    assert again.runs == experiment.runs
    for log, before in zip(again.logs, experiment.logs, strict=True):
        assert log["nodes"].tolist() == before["nodes"].tolist()
    assert again.about == experiment.about
    tasks = pq.read_table(tmp_path / "subproblems.parquet")
    assert " ".join(tasks.column_names) == "run task begin seconds worker nodes stacks split"
    facts = json.loads((tmp_path / "machine.json").read_text())
    assert facts["command"] == "batchsolve scale"
    assert facts["packages"]["batchsolve"] == bs.__version__
    assert facts["host"] == platform.node()
    moment = datetime.fromisoformat(facts["date"])
    assert abs((datetime.now().astimezone() - moment).total_seconds()) < 3600
    assert experiments.runs_rows(experiment.runs)[0]["split_depth"] == "auto"
    with pytest.raises(bs.InputError, match="not empty"):
        experiments.directory_for(str(tmp_path))
    with pytest.raises(bs.InputError, match="is a file"):
        experiments.directory_for(str(tmp_path / "runs.csv"))


def test_runs_that_disagree_are_an_error(monkeypatch):
    search, calls = native.search_links, []

    def miscounts(problem, task):
        outcome = search(problem, task)
        calls.append(1)
        return replace(outcome, nodes=outcome.nodes + len(calls))

    monkeypatch.setattr(native, "search_links", miscounts)
    with pytest.raises(ScalingError, match="they must agree"):
        list(run_plan([read_workloads("queens:6")[0]], Plan(jobs=(1,), engines=("dlx",), repeat=2)))


def test_an_error_says_in_which_problem_it_is(tmp_path, monkeypatch):
    def message(*problems):
        return refused(*SCALE, *problems, "-o", tmp_path / "-".join(problems).replace("/", "-"))

    said = message("sudoku:2x2", "queens:5", "--engine", "lanes")
    assert said.startswith("batchsolve: queens:5: the engine 'lanes' solves grids of digits only")
    wrong = tmp_path / "grid.txt"
    wrong.write_text("11..............\n")
    assert message("queens:5", str(wrong)).startswith(f"batchsolve: {wrong}: ")
    assert message("datasets/sudoku4.csv#99").count("sudoku4.csv") == 1

    def fails(pool, problem, *others):
        if problem.n_items == read_workloads("queens:5")[0].problem.n_items:
            raise ScalingError("a worker died")
        return 0.0

    monkeypatch.setattr("batchsolve.scaling.measure._result_seconds", fails)
    assert message("queens:4", "queens:5", "-q").startswith("batchsolve: queens:5: a worker died")


def scale(home, *words):
    """Measure with one worker, unless the words say otherwise."""
    return invoke(*SCALE, *words, "-o", home)


@pytest.mark.parametrize("before", range(1, 8))
def test_scale_hears_an_interrupt_that_was_noted_at_the_next_result(before, tmp_path, monkeypatch):
    search, calls = native.search_links, []

    def interrupted(problem, task):
        calls.append(1)
        if len(calls) == before:
            press_in("distributed.gc")
        return search(problem, task)

    monkeypatch.setattr(native, "search_links", interrupted)
    result = scale(tmp_path / "x", "queens:8", "--engine", "dlx", "--budget", "100")
    assert result.exit_code == 130
    assert "0 runs made so far; go on with --resume" in result.stderr
    assert before <= len(calls) <= before + 1


def test_an_engine_whose_nodes_vary_is_only_held_to_its_count():
    grid = Plan(jobs=(1, 2), engines=("memo:8",), repeat=1)
    runs = [run for run, _ in run_plan([read_workloads("dominoes:4x4")[0]], grid)]
    assert {run.count for run in runs} == {36}


def test_weak_scaling_gives_every_worker_as_much():
    workload = read_workloads("datasets/sudoku4.csv", 40)[0]
    runs = [run for run, _ in run_plan([workload], Plan(jobs=(1, 2), repeat=1))]
    assert [run.stacks for run in runs] == [40, 80]  # of 50 rows, so some come twice
    assert [run.count for run in runs] == [40, 80]  # each has one solution
    assert {run.kind for run in runs} == {"weak"}
    same = read_workloads("queens:6", 3)[0]
    (run,) = (run for run, _ in run_plan([same], Plan(jobs=(2,), repeat=1)))
    assert (run.stacks, run.count) == (6, 6 * 4)


def test_the_rows_of_each_value_of_a_column_are_a_workload(tmp_path):
    grids = ["1.....2..3.....4", "1...............", "1.....2..3.....4"]
    rows = [f"{grid},{rating}" for grid, rating in zip(grids, ("1.2", "", "1.2"), strict=True)]
    path = tmp_path / "in.csv"
    path.write_text("\n".join(["puzzle,rating", *rows, ""]))
    one, other = read_workloads(str(path), 2, "rating")
    assert (one.name, other.name) == (f"{path}, rating 1.2", f"{path}, no rating")
    assert [one.stacks.roots.tolist(), other.stacks.roots.tolist()] == [[0, 2], [1]]
    with pytest.raises(bs.InputError, match="unknown column 'level'; choose from"):
        read_workloads(str(path), 2, "level")
    with pytest.raises(bs.InputError, match="only the rows of a corpus"):
        read_workloads("queens:6", 2, "level")


def test_a_run_that_visits_no_node_has_no_speed(tmp_path):
    said = refused(*SCALE, "queens:6", "--time-limit", "1e-9", "-o", tmp_path / "x")
    assert "before a node was visited" in said
    assert scale(tmp_path / "x", "queens:6", "--repeat", "1", "--resume").exit_code == 0


def test_speedups_are_ratios_of_medians(experiment):
    walls = {1: [8.0, 9.0, 100.0], 2: [5.0, 4.5, 1.0], 4: [3.0]}
    series = series_of(experiment.runs[0], walls)
    assert series.speedups() == pytest.approx({1: 1, 2: 2, 4: 3})
    assert Series([r for r in series.runs if r.jobs > 1]).speedups() == pytest.approx({2: 2, 4: 3})


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9)), min_size=1, max_size=20))
def test_the_length_of_a_union(intervals):
    begins, lengths = np.array(intervals, float).T
    units = {u for begin, length in intervals for u in range(begin, begin + length)}
    assert measure.covered(begins, begins + lengths) == len(units)


WORKERS = np.array([1, 2, 3, 4, 6, 8, 12, 16, 32])


@given(serial=st.floats(0, 1))
def test_amdahls_law_is_recovered(serial):
    found = fit("Amdahl", WORKERS, 1 / (serial + (1 - serial) / WORKERS))
    assert found.parameters[0] == pytest.approx(serial, abs=1e-6)
    assert found.error < 1e-6


@given(alpha=st.floats(0, 0.5), beta=st.floats(0, 0.05))
def test_the_universal_law_is_recovered(alpha, beta):
    ideal = WORKERS / (1 + alpha * (WORKERS - 1) + beta * WORKERS * (WORKERS - 1))
    found = fit("Universal Scalability", WORKERS, ideal)
    assert found.parameters == pytest.approx([alpha, beta], abs=1e-6)
    assert found.speedup(WORKERS) == pytest.approx(ideal, abs=1e-5)


def test_a_fit_is_the_best_near_noisy_points():
    rng = np.random.default_rng(0)
    noisy = WORKERS / (1 + 0.03 * (WORKERS - 1)) * rng.normal(1, 0.05, WORKERS.size)
    found = fit("Amdahl", WORKERS, noisy)

    def error(serial):  # the best speed of one worker is the mean in logarithms
        return np.std(np.log(noisy) - np.log(WORKERS / (1 + serial * (WORKERS - 1))))

    assert error(found.parameters[0]) <= min(map(error, np.linspace(0, 0.2, 2001))) + 1e-9
    assert found.low[0] < found.parameters[0] < found.high[0]


def test_intervals_hold_the_truth_as_often_as_they_say():
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(300):
        noisy = WORKERS / (1 + 0.05 * (WORKERS - 1)) * rng.normal(1, 0.02, WORKERS.size)
        found = fit("Amdahl", WORKERS, noisy / noisy[0])
        held += found.low[0] <= 0.05 <= found.high[0]
    assert 0.90 <= held / 300 <= 0.99


@pytest.mark.parametrize("law", speedup.LAWS)
def test_the_fewest_workers_may_be_many(law):
    true = WORKERS / (1 + 0.1 * (WORKERS - 1))
    found = fit(law, WORKERS[4:], 6 * true[4:] / true[4])
    assert found.parameters[0] == pytest.approx(0.1)
    assert found.speedup(WORKERS[4:]) == pytest.approx(6 * true[4:] / true[4])


def test_parameters_are_never_negative_and_need_enough_points():
    assert fit("Amdahl", [1, 2, 4], [1, 2.2, 4.4]).numbers(2).startswith("serial share 0 (")
    assert fit("Amdahl", [1, 2, 4], [1, 0.3, 0.2]).parameters[0] == pytest.approx(1)
    assert fit("Amdahl", [1, 2], [1, 1.9]) is None
    assert fit("Amdahl", [1, 2, 2], [1, 1.9, 1.8]) is None
    assert fit("Universal Scalability", [1, 2, 4], [1, 1.9, 3.5]) is None


def test_a_result_does_not_cost_what_the_first_waits_for(monkeypatch):
    """A scheduler has to hand out the problem before that."""
    workload = read_workloads("queens:8")[0]
    spent = iter([0.0, 1e9, 1e9])  # at the start, after the first result, at the end
    with Pool(2, "loky") as pool:
        monkeypatch.setattr(pool.workers, "scheduler_seconds", lambda: next(spent))
        assert 0 < measure._result_seconds(pool, workload.problem, workload.begin(2)) < 1
    assert list(spent) == []


def test_a_forecast_stands_beside_what_was_measured(experiment):
    (found,), left_out = forecast(read_workloads("queens:8")[0], experiment, [4, 64])
    assert left_out == []
    assert (found.nodes, found.nodes_known) == (1178, True)
    checks, curve = found.of("check"), found.of("curve")
    runs = [run for run in experiment.runs if run.problem == "queens:8"]
    assert len(checks) == 12
    for check, run in zip(checks, runs, strict=True):
        assert check["measured_seconds"] == pytest.approx(run.wall)
        assert check["error"] == check["simulated_seconds"] / check["measured_seconds"] - 1
        assert (check["workers"], check["setting"]) == (run.jobs, f"depth {run.depth}")
    assert [point["workers"] for point in curve] == [1, 2, 4, 8, 16, 32, 64]
    assert all(0 < point["efficiency"] <= 1.000001 for point in curve)
    assert measured_costs(runs) == found.costs
    assert found.workers == [4, 64]
    for workers in found.workers:
        walls = {p["setting"]: p["simulated_seconds"] for p in found.of("what if", workers)}
        assert walls["results cost no time"] <= max(walls.values())
        depths = {p["setting"]: p["simulated_seconds"] for p in found.of("depth", workers)}
        assert depths["auto"] == walls["automatic settings"]


@pytest.fixture
def simulated(monkeypatch):
    """Return the list of the simulations that are made from now on."""
    made = []

    def noted(nodes, workers, costs, shape, **rules):
        told = {name: rule for name, rule in rules.items() if rule is not None}
        made.append((workers, costs, *sorted(told.items())))
        return simulate(nodes, workers, costs, shape, **rules)

    monkeypatch.setattr("batchsolve.scaling.simulation.simulate", noted)
    return made


def test_each_simulation_is_made_once(experiment, simulated):
    forecast(read_workloads("queens:8")[0], experiment, [4])
    assert len({*simulated}) == len(simulated) > 10


def test_checks_of_a_forecast_have_the_budget_of_the_runs(experiment):
    tasks = []
    for budget in (None, 20):
        planned = replace(experiment, about={"plan": {"budget": budget}})
        (found,), _ = forecast(read_workloads("queens:8")[0], planned, [4])
        tasks.append([[p["tasks"] for p in found.of(part)] for part in ("check", "curve")])
    (few, curve), (many, same) = tasks
    assert (sum(many) > 2 * sum(few), same) == (True, curve)


def test_a_forecast_of_a_tree_that_was_not_finished_estimates_it(monkeypatch):
    monkeypatch.setattr("batchsolve.scaling.simulation.ENOUGH", 50)
    workload = read_workloads("queens:13")[0]
    # without a split, the first tasks are for workers, however slow the machine is
    plan = Plan(jobs=(1,), split_depths=(0,), repeat=1, time_limit=0.5, budget=500)
    runs, logs = map(list, zip(*run_plan([workload], plan), strict=True))
    measured = Experiment(runs, logs, {})
    assert not measured.runs[0].complete
    (found,), why = forecast(workload, measured, [8])
    assert (found.nodes_known, why) == (False, [])
    assert found.nodes == pytest.approx(bs.count(workload.problem).nodes, rel=0.3)
    monkeypatch.setattr("batchsolve.runs.estimate.SEARCHED_NODES", 1000)
    monkeypatch.setattr("batchsolve.runs.estimate.LEAST_PROBES", 10**6)
    _, (why,) = forecast(workload, measured, [8])
    assert "do not trust the forecast, nor its number of nodes: the interval of nodes" in why


def test_a_forecast_hears_an_interrupt_before_its_next_simulation(experiment, simulated):
    def check():
        if len(simulated) == 15:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), asking(check):
        forecast(read_workloads("queens:8")[0], experiment, [4])
    assert len(simulated) == 15


def test_scale_and_report_hear_an_interrupt_that_was_noted_in_their_report(tmp_path, monkeypatch):
    def interrupted(*arguments):
        press_in("distributed.gc")
        return write_report(*arguments)

    monkeypatch.setattr("batchsolve.scaling.report.write_report", interrupted)
    assert scale(tmp_path / "out", "queens:6", "--repeat", "1").exit_code == 130
    assert invoke("report", tmp_path / "out").exit_code == 130


def test_a_forecast_that_cannot_be_made_is_named_and_costs_nothing_else(tmp_path):
    words = "queens:9 queens:3 --engine dlx,memo -q --repeat 1 --forecast-workers 4"
    result = scale(tmp_path / "out", *words.split())
    assert result.exit_code == 0
    why = {line.split(": no forecast: ")[0]: line for line in result.stderr.splitlines()}
    assert "depend on the cuts of the search" in why["batchsolve: queens:9, memo, threading"]
    assert "hardly branches" in why["batchsolve: queens:3, dlx, threading"]
    assert "depend on the cuts of the search" in why["batchsolve: queens:3, memo, threading"]
    assert len(why) == 3
    assert "Best depth" in (tmp_path / "out" / "report.html").read_text()


def test_a_report_says_that_weak_scaling_has_no_forecast(tmp_path):
    home = tmp_path / "out"
    assert scale(home, "queens:6", "--weak", "3", "--repeat", "1").exit_code == 0
    result = invoke("report", home, "--forecast-workers", "4")
    assert (result.exit_code, result.stdout) == (0, f"{home}/report.html\n")
    assert "no forecast: it needs runs of one problem" in result.stderr


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt, 130), (bs.WorkersError, 2)])
def test_what_is_measured_is_kept_when_it_ends_early(tmp_path, monkeypatch, error, code):
    def measure_some(*arguments, **settings):
        for k, made in enumerate(run_plan(*arguments, **settings)):
            if k == 3:
                raise error
            yield made

    monkeypatch.setattr("batchsolve.scaling.measure.run_plan", measure_some)
    home = tmp_path / "out"
    command = ["scale", "queens:6", "--jobs", "1,2", "--repeat", "5", "-o", str(home)]
    result = invoke(*command)
    assert result.exit_code == code
    assert "3 runs made so far; go on with --resume" in result.stderr
    before = read_experiment(str(home))
    assert len(before.runs) == 3
    again = invoke("report", home)
    assert (again.exit_code, again.stdout) == (0, f"{home / 'report.html'}\n")
    assert "queens:6" in (home / "report.html").read_text()
    monkeypatch.setattr("batchsolve.scaling.measure.run_plan", run_plan)
    assert "go on with --resume" in invoke(*command).stderr
    other = invoke(*command, "--resume", "--budget", "77")
    assert (other.exit_code, other.stderr.count("budget = None, this one 77")) == (2, 1)
    assert invoke(*command, "--resume").exit_code == 0
    after = read_experiment(str(home))
    assert after.runs[:3] == before.runs
    made = [(run.run, run.repeat, run.jobs) for run in after.runs]
    assert made == [(k, k // 2, 1 + k % 2) for k in range(10)]
    assert [log["nodes"].sum() for log in after.logs] == [run.nodes for run in after.runs]


def test_a_report_drawn_again_is_the_same_and_its_forecast_of_the_same_rules(tmp_path, monkeypatch):
    monkeypatch.setattr("batchsolve.scaling.simulation.ENOUGH", 50)
    home, of_64 = tmp_path / "out", ["--forecast-workers", "64"]
    words = "--box 3x2 --rules x --budget 500 --repeat 1"
    assert scale(home, "." * 36, *words.split(), *of_64).exit_code == 0
    before = (home / "report.html").read_text()
    assert "64 workers" in before
    assert invoke("report", home).exit_code == 0
    assert "64 workers" not in (home / "report.html").read_text()
    assert invoke("report", home, *of_64).exit_code == 0
    assert (home / "report.html").read_text() == before


def remade(path, change):
    """Change the lines of a table of an experiment."""
    path.write_text("".join(change(path.read_text().splitlines(keepends=True))))


def put(path, **fields):
    """Change fields of the second run."""
    rows = pacsv.read_csv(path).to_pylist()
    rows[1] |= fields
    experiments.write_csv(path, [{k: str(v).lower() for k, v in row.items()} for row in rows])


THREE_RUNS = ("queens:6", "--repeat", "3")


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Return a function that copies the directory of an experiment of three runs."""
    home = tmp_path_factory.mktemp("measured") / "out"
    assert scale(home, *THREE_RUNS).exit_code == 0
    return lambda copy: shutil.copytree(home, copy)


DAMAGE = {
    "no tasks": ("subproblems.parquet", lambda path: path.unlink()),
    "half of the tasks": ("subproblems.parquet", lambda path: os.truncate(path, 1000)),
    "no table": ("subproblems.parquet", lambda path: path.write_bytes(b"garbage")),
    "other columns": ("subproblems.parquet", lambda path: pq.write_table(pa.table({}), path)),
    "empty": ("runs.csv", lambda path: path.write_text("")),
    "another header": ("runs.csv", lambda path: path.write_text("x")),
    "no text": ("runs.csv", lambda path: path.write_bytes(b"\xff\xfe\x00")),
    "no runs": ("runs.csv", lambda path: remade(path, lambda lines: lines[:1])),
    "half a line": ("runs.csv", lambda path: remade(path, lambda all: [*all[:2], all[2][:40]])),
    "no number": ("runs.csv", lambda path: remade(path, lambda all: [*all[:2], "x" + all[2][1:]])),
    "no JSON": ("machine.json", lambda path: path.write_text("{")),
    "a list": ("machine.json", lambda path: path.write_text("[]")),
    "no plan": ("machine.json", lambda path: path.write_text('{"plan": 1}')),
    "no time": ("runs.csv", lambda path: put(path, wall="0")),
    "negative": ("runs.csv", lambda path: put(path, nodes="-5")),
    "unknown": ("runs.csv", lambda path: put(path, cpu="nan")),
    "no worker": ("runs.csv", lambda path: put(path, jobs="0")),
    "many workers": ("runs.csv", lambda path: put(path, jobs="99999999999999999999")),
    "neither": ("runs.csv", lambda path: put(path, complete="maybe")),
    "twice": ("runs.csv", lambda path: remade(path, lambda lines: [*lines, lines[-1]])),
    "a gap": ("runs.csv", lambda path: remade(path, lambda lines: [*lines[:2], *lines[3:]])),
}


@pytest.mark.parametrize("how", DAMAGE)
def test_damage_is_one_line_that_names_the_file(measured, how, tmp_path):
    home = measured(tmp_path / "out")
    name, damage = DAMAGE[how]
    damage(home / name)
    left = {path.name: path.read_bytes() for path in home.iterdir()}
    for result in (invoke("report", home), scale(home, *THREE_RUNS, "--resume")):
        assert (result.exit_code, result.stderr.count("\n")) == (2, 1), result.output
        assert result.stderr.startswith(f"batchsolve: {home / name}: is missing or damaged (")
        assert "put back a copy" in result.stderr
    assert {path.name: path.read_bytes() for path in home.iterdir()} == left


@pytest.mark.parametrize("more", [[], ["--weak", "2"]])
def test_a_problem_that_was_changed_is_not_gone_on_with(tmp_path, more):
    path, home = tmp_path / "p.txt", tmp_path / "out"
    path.write_text("1.....2..3......\n")
    assert scale(home, path, "--repeat", "1", *more).exit_code == 0
    path.write_text("12....2..3......\n")
    said = refused(*SCALE, path, "--repeat", "1", *more, "--resume", "-o", home)
    assert f"the experiment there has contents of {path} = '" in said


def test_a_directory_whose_name_is_no_text_is_refused(tmp_path):
    out = os.fsdecode(os.fsencode(tmp_path / "out") + b"\xff")
    said = refused(*SCALE, "queens:4", "--repeat", "1", "-o", out)
    assert "is not UTF-8; name another directory" in said
    assert os.listdir(tmp_path) == []


# ---- doubtful measurements are reported as such ---------------------------------------------


def page_of(series, experiment, folder):
    """Return the report on a series whose runs have one log."""
    doubtful = Experiment(series.runs, experiment.logs[:1] * len(series.runs), {})
    return write_report(folder, doubtful, []).read_text()


GOOD = {1: [4.0, 4.1, 4.0], 2: [2.0, 2.05, 2.0], 4: [1.1, 1.1, 1.1], 8: [0.7, 0.69, 0.71]}


def test_good_measurements_are_not_doubted(experiment):
    series = series_of(experiment.runs[0], GOOD)
    assert list(doubts(series)) == []
    assert [fit.law for fit in fits(series)] == ["Amdahl", "Universal Scalability"]


def test_short_runs_are_no_speed_up(experiment, tmp_path):
    series = series_of(experiment.runs[0], {1: [0.03], 2: [0.05], 4: [0.04], 8: [0.05]})
    assert speedup.hindrance(series)[0] == "too short"
    assert speedup.hindrance(series_of(experiment.runs[0], GOOD, nodes=0))[0] == "no nodes"
    [(_, doubt)] = doubts(series)
    assert "its runs end within 0.03 s, so a speed-up would mean nothing" in doubt
    assert fits(series) == []
    assert speedup_figure([series]) is None
    page = page_of(series, experiment, tmp_path)
    assert page.count("<td>too short</td>") == 2 * 4
    assert "would mean nothing" in page
    assert "rms error" not in page


def test_runs_of_an_engine_without_nodes_show_no_speed_up_once_one_is_stopped(experiment, tmp_path):
    whole = [replace(run, engine="memo") for run in series_of(experiment.runs[0], GOOD).runs]
    assert list(doubts(Series(whole))) == []
    assert Series(whole).speedups()[2] == pytest.approx(2)
    series = Series([*whole[:-1], replace(whole[-1], complete=False)])
    assert {row["speedup"] for row in rows_of(series)} == {None}
    [(_, doubt)] = doubts(series)
    assert "nodes of the engine 'memo' do not show how much of the work it did" in doubt
    assert fits(series) == []
    assert speedup_figure([series]) is None
    assert page_of(series, experiment, tmp_path).count("<td>stopped</td>") == 2 * 4
    by_nodes = Series([replace(run, engine="dlx", complete=False) for run in whole])
    assert list(doubts(by_nodes)) == []
    assert by_nodes.speedups()[2] == pytest.approx(2)


def test_outliers_are_named(experiment):
    [(_, doubt)] = doubts(series_of(experiment.runs[0], GOOD | {2: [2.0, 2.01, 2.02, 2.0, 5.0]}))
    assert doubt.startswith("with 2 workers, 1 of 5 runs took much longer or shorter")
    assert "2.01 s: 5 s; measure again" in doubt


def test_times_that_are_near_or_few_are_no_outliers():
    assert speedup.outliers([1.0, 1.0, 1.06]) == [2]
    for walls in ([1.0], [1.0, 2.0], [1.0, 1.0, 1.04], [1.0, 1.1, 1.2, 1.3, 1.4]):
        assert speedup.outliers(walls) == []


def test_processors_that_are_shared_are_noticed(experiment):
    found = list(doubts(series_of(experiment.runs[0], GOOD, cpu_share=0.6)))
    assert len(found) == len(GOOD)
    assert found[0][1].startswith("with 1 worker, tasks had processors for 60% of the time")
    for backend, n in {"threading": len(GOOD), "loky": len(GOOD), "dask": 0, "ray": 0}.items():
        series = series_of(experiment.runs[0], GOOD, cpu_share=0.15, backend=backend)
        assert len(list(doubts(series))) == n


def test_too_few_workers_make_no_curve_and_the_report_says_how_many_do(experiment, tmp_path):
    series = series_of(experiment.runs[0], {jobs: GOOD[jobs] for jobs in (1, 2)})
    assert fits(series) == []
    page = page_of(series, experiment, tmp_path)
    assert "Amdahl: 1 more; Universal Scalability: 2 more" in page
    assert "rms error" not in page
