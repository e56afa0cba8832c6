"""Threads and processes give the same results, also when they die. Clusters have files alone."""

import os
import signal
import time

import pytest
from backends import OfEveryBackend, right
from rooted import by_root, tasks, work

import batchsolve as bs
from batchsolve import errors
from batchsolve.workers import BACKENDS, Pool, get_workers


@pytest.fixture(params=[name for name in BACKENDS if name not in ("dask", "ray")])
def workers(request):
    return {"backend": request.param, "jobs": 2}


class TestThisMachine(OfEveryBackend):
    pass


def test_workers_that_die_between_rounds_are_replaced():
    with Pool(2, "loky") as pool:
        for seconds in (0.0, 0.3):
            done = list(pool.start(work(), tasks()))
            for pid in {int(each.worker.split("/")[0]) for each in done}:
                os.kill(pid, signal.SIGKILL)
            time.sleep(seconds)
            for _ in range(2):
                assert by_root(pool.start(work(), tasks())) == right()


def test_threads_go_on_after_rounds_that_were_given_up():
    """Also if no result was asked for."""
    with Pool(2) as pool:
        for _ in range(2):
            next(running := pool.start(work(), tasks()))
            running.close()
            pool.start(work(), tasks()).close()
            assert by_root(pool.start(work(), tasks())) == right()


def test_an_error_of_the_tasks_themselves_is_raised():
    def some():
        yield from list(tasks())[:3]
        raise bs.InputError("the file ends in the middle")

    for jobs in (1, 2):
        with Pool(jobs) as pool, pytest.raises(bs.InputError, match="ends in the middle"):
            list(pool.start(work(), some()))


def test_a_result_of_a_round_that_was_given_up_does_not_disturb_the_next():
    """It may come in after joblib has forgotten that round, and before the next begins."""
    with Pool(2, "loky") as pool:
        assert by_root(pool.start(work(), tasks())) == right()
        parallel = pool.workers._parallel
        late = []
        add = parallel._register_new_job
        parallel._register_new_job = lambda job: (late.append(job), add(job))
        next(running := pool.start(work(), tasks()))
        running.close()
        parallel._jobs.append(late[-1])
        assert by_root(pool.start(work(), tasks())) == right()


def test_a_round_that_ends_too_early_is_completed():
    """As it does when a result of an earlier one is counted."""
    with Pool(2, "loky") as pool:
        running = pool.start(work(), tasks())
        pool.workers._parallel.n_completed_tasks += 3
        assert by_root(running) == right()
        assert by_root(pool.start(work(), tasks())) == right()


def test_backends_that_cannot_be_used_are_refused(monkeypatch):
    with pytest.raises(bs.InputError, match="'loky' runs on this machine only; it takes no addr"):
        get_workers("loky", address="tcp://127.0.0.1:8786")
    with pytest.raises(bs.InputError, match="uses every worker that the cluster has; leave out"):
        get_workers("dask", jobs=2, address="tcp://127.0.0.1:8786")
    monkeypatch.setattr(errors, "find_spec", lambda module: None)
    for backend, module in (("dask", "distributed"), ("ray", "ray")):
        needs = rf"the backend '{backend}' needs the module '{module}', which is not installed: "
        with pytest.raises(bs.InputError, match=needs + rf"pip install 'batchsolve\[{backend}\]'"):
            get_workers(backend)
