"""The undocumented parts of joblib, Dask and Ray that `batchsolve/workers/private.py` uses."""

import ast
import inspect
import pkgutil
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from itertools import count

import pytest

from batchsolve.workers import private
from batchsolve.workers.base import ClusterWorkers
from batchsolve.workers.private import Parallel

SEEN_IN = {"joblib": "1.6.0", "distributed": "2026.8.0", "ray": "2.60.0"}

# the names that we use of each owner: a module, or a class as ``module:class``
USES = {
    "joblib.parallel:Parallel": "_lock _jobs _ready_batches _call_id _aborting n_dispatched_tasks "
    "n_completed_tasks print_progress dispatch_next _warn_exit_early",
    "joblib.parallel:ParallelBackendBase": "effective_n_jobs submit retrieve_result_callback "
    "abort_everything terminate supports_retrieve_callback supports_return_generator",
    "joblib.parallel:LokyBackend": "_workers configure terminate abort_everything",
    "joblib.externals.loky.reusable_executor": "_executor_lock _executor _executor_kwargs",
    "joblib.executor": "_executor_args",
    "joblib.executor:MemmappingExecutor": "terminate kill_workers _flags "
    "_executor_manager_thread _processes _call_queue _result_queue",
    "joblib.externals.loky.process_executor": "_global_shutdown",
    "joblib.externals.loky.process_executor:_ExecutorFlags": "broken",
    "joblib.externals.loky.backend.queues:SimpleQueue": "_writer",
    "joblib.externals.loky.backend.queues:Queue": "_reader _thread",
    "distributed.utils": "silence_logging_cmgr",
    "distributed.utils:SyncMethodMixin": "callback_timeout",
    "distributed.deploy.spec:SpecCluster": "shutdown_on_close",
    "ray._private.authentication.authentication_utils": "is_token_auth_enabled",
}


def names_in(code):
    """Return the attributes that code sets or reads and its parameters, with functions in it."""
    inner = [names_in(const) for const in code.co_consts if inspect.iscode(const)]
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return {*code.co_names, *parameters}.union(*inner)


def names_of(owner):
    """Return the attributes of a module or a class, and the names in its methods."""
    values = [value for base in getattr(owner, "__mro__", ()) for value in vars(base).values()]
    functions = [getattr(value, "__func__", value) for value in values]
    codes = [function.__code__ for function in functions if inspect.isfunction(function)]
    return set(dir(owner)).union(*map(names_in, codes))


def library_of(owner):
    return re.split("[.:]", owner)[0]


def missing(owner, names):
    """Return the names that the installed version of an owner lacks."""
    try:
        known = names_of(pkgutil.resolve_name(owner))
    except (ImportError, AttributeError):
        known = set()
    return [name for name in names.split() if name not in known]


@pytest.mark.parametrize("owner", USES)
def test_the_library_has_what_we_use(owner):
    pytest.importorskip(library := library_of(owner))
    why = f"{library} {version(library)} is unlike {SEEN_IN[library]}: find another way"
    assert missing(owner, USES[owner]) == [], why


@pytest.mark.parametrize("owner", ["joblib.parallel:Parallel", "joblib.gone", "joblib:Gone"])
def test_a_name_that_is_gone_is_noticed(owner):
    assert "_gone" in missing(owner, "_gone n_jobs")


def test_the_list_has_every_private_name():
    """In the file, only names of the libraries begin with an underscore."""
    tree = ast.parse(inspect.getsource(private))
    fields = ("attr", "id", "name", "module")
    names = {getattr(node, field, None) or "" for node in ast.walk(tree) for field in fields}
    private_names = {name for name in names if re.search(r"(^|\.)_[a-z]", name)}
    listed = {part for o, names in USES.items() for part in (*names.split(), re.sub(":.*", "", o))}
    assert "_call_id" in private_names
    assert private_names <= listed


class Telling(Parallel):
    def __init__(self, **how):
        super().__init__(**how)
        self.called = set()

    def print_progress(self):
        self.called.add("print_progress")
        super().print_progress()

    def _warn_exit_early(self):
        self.called.add("_warn_exit_early")


OVER = threading.Event()  # set to end calls of `wait_unless`


def wait_unless(at_once):
    return at_once or OVER.wait()


class InThreads(ClusterWorkers):
    """Workers that are threads, in place of those of a cluster."""

    prepare = staticmethod(lambda version, is_ours: None)

    def _join(self, opened):
        self.threads = opened.enter_context(ThreadPoolExecutor(self.jobs))
        opened.callback(OVER.set)
        self.cancelled = []

    def _submit(self, call):
        return self.threads.submit(call)

    def _cancel(self, calls):
        self.cancelled += calls

    def _there(self):
        return {"here"}


@pytest.fixture
def workers(monkeypatch):
    monkeypatch.setattr(private, "Parallel", Telling)
    OVER.clear()
    with InThreads(2) as workers:
        yield workers


def test_joblib_calls_what_we_override(workers):
    parallel = workers._parallel
    assert sorted(workers.run(abs, zip(range(9)))) == list(range(9))
    assert (parallel.called, workers.cancelled) == ({"print_progress"}, [])
    next(abandoned := workers.run(wait_unless, iter([(True,), *[(False,)] * 9])))
    abandoned.close()
    assert [each.done() for each in workers.cancelled] == [False] * 4
    workers.run(wait_unless, iter([(False,)] * 9))  # no result of which is asked for
    assert "_warn_exit_early" in parallel.called


def test_no_call_of_an_abandoned_round_is_handed_out(workers):
    """joblib draws calls ahead, one for each worker."""
    handed_out = []
    submit = workers._backend.hand_out
    workers._backend.hand_out = lambda call: handed_out.append(call) or submit(call)
    next(abandoned := workers.run(wait_unless, iter([(True,), *[(False,)] * 9])))
    abandoned.close()
    OVER.set()
    handed_out.clear()
    assert list(workers.run(abs, iter([(-7,)]))) == [7]
    assert len(handed_out) == 1


def test_calls_that_are_out_can_be_failed(workers):
    running = workers.run(wait_unless, iter([(False,)] * 2))
    threading.Timer(0.1, workers._backend.fail, [LookupError("no worker is left")]).start()
    with pytest.raises(LookupError, match="no worker is left"):
        next(running)
    assert len(workers.cancelled) == 2


@pytest.mark.parametrize("nth", [1, 7])
def test_an_error_of_handing_out_a_call_is_raised(workers, nth):
    submit, handed_out = workers._backend.hand_out, count(1)

    def hand_out(call):
        if next(handed_out) == nth:
            raise LookupError("no way to the cluster")
        return submit(call)

    workers._backend.hand_out = hand_out
    with pytest.raises(LookupError, match="no way to the cluster"):
        list(workers.run(abs, zip(range(9))))
    assert sorted(workers.run(abs, zip(range(9)))) == list(range(9))
