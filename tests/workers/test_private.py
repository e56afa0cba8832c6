"""The undocumented parts of joblib, Dask and Ray that `batchsolve/workers/private.py` uses."""

import ast
import inspect
import pkgutil
import re
import threading
from importlib.metadata import version
from multiprocessing.pool import ThreadPool

import joblib
import pytest

from batchsolve.workers import private
from batchsolve.workers.private import EagerPool, Parallel, PoolBackend

SEEN_IN = {"joblib": "1.6.0", "distributed": "2026.8.0", "ray": "2.60.0"}

# the names that we use of each owner: a module, or a class as ``module:class``
USES = {
    "joblib.parallel:Parallel": "_lock _jobs _call_id _aborting n_dispatched_tasks "
    "n_completed_tasks print_progress _warn_exit_early",
    "joblib.parallel:ThreadingBackend": "_pool _get_pool apply_async close terminate "
    "abort_everything",
    "joblib.parallel:LokyBackend": "_workers configure",
    "joblib.externals.loky.reusable_executor": "_executor_lock _executor _executor_kwargs",
    "joblib.executor": "_executor_args",
    "joblib.executor:MemmappingExecutor": "terminate kill_workers _flags "
    "_executor_manager_thread _processes _call_queue _result_queue",
    "joblib.externals.loky.process_executor:_ExecutorFlags": "broken",
    "joblib.externals.loky.backend.queues:SimpleQueue": "_writer",
    "joblib.externals.loky.backend.queues:Queue": "_reader",
    "joblib._dask:DaskDistributedBackend": "client waiting_futures abort_everything "
    "effective_n_jobs submit",
    "distributed.client:as_completed": "futures",
    "distributed.client:Client": "scheduler_comm status",
    "distributed.utils:SyncMethodMixin": "callback_timeout",
    "distributed.deploy.spec:SpecCluster": "shutdown_on_close",
    "ray.util.multiprocessing:Pool": "_start_actor_pool _pool_actor _actor_pool _new_actor_entry",
    "ray.util.multiprocessing.pool": "ResultThread",
    "ray._private.authentication.authentication_utils": "is_token_auth_enabled",
}


def names_in(code):
    """Return the attributes that code sets or reads and its parameters, with functions in it."""
    inner = [names_in(const) for const in code.co_consts if inspect.iscode(const)]
    parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return {*code.co_names, *parameters}.union(*inner)


def names_of(owner):
    """Return the attributes of a module or a class, and the names in its methods."""
    functions = [
        getattr(value, "__func__", value)
        for base in getattr(owner, "__mro__", ())
        for value in vars(base).values()
    ]
    codes = [function.__code__ for function in functions if inspect.isfunction(function)]
    return set(dir(owner)).union(*map(names_in, codes))


def library_of(owner):
    return re.split("[.:]", owner)[0]


def complaint(owner, names):
    """Return a message if the installed version lacks names of an owner; empty if it has them."""
    library = library_of(owner)
    try:
        known = names_of(pkgutil.resolve_name(owner))
    except (ImportError, AttributeError):
        known = set()
    missing = [name for name in names.split() if name not in known]
    if not missing:
        return ""
    return (
        f"{library} {version(library)}: {owner} has no {', '.join(missing)}, unlike {library} "
        f"{SEEN_IN[library]}; find another way in batchsolve/workers/private.py"
    )


@pytest.mark.parametrize("owner", USES)
def test_the_library_has_what_we_use(owner):
    pytest.importorskip(library_of(owner))
    assert not (said := complaint(owner, USES[owner])), said


@pytest.mark.parametrize("owner", ["joblib.parallel:Parallel", "joblib.gone", "joblib:Gone"])
def test_a_complaint_names_the_library_its_version_and_the_use(owner):
    said = f"joblib {joblib.__version__}: {owner} has no _gone"
    assert complaint(owner, "_gone n_jobs").startswith(said)


def test_the_list_has_every_private_name():
    """In the file, only names of the libraries begin with an underscore."""
    tree = ast.parse(inspect.getsource(private))
    names = {
        getattr(node, field, None) or ""
        for node in ast.walk(tree)
        for field in ("attr", "id", "name", "module")
    }
    private_names = {name for name in names if re.search(r"(^|\.)_[a-z]", name)}
    listed = {part for o, names in USES.items() for part in (*names.split(), re.sub(":.*", "", o))}
    assert "_call_id" in private_names
    assert private_names <= listed


def test_joblib_calls_what_we_override():
    called = []

    class Telling(Parallel):
        def print_progress(self):
            called.append("print_progress")
            super().print_progress()

        def _warn_exit_early(self):
            called.append("_warn_exit_early")

    def start_pool():
        called.append("_get_pool")
        return ThreadPool(2)

    backend = PoolBackend(start_pool)
    with Telling(n_jobs=2, backend=backend, return_as="generator_unordered") as parallel:
        assert sorted(parallel(joblib.delayed(abs)(k) for k in range(3))) == [0, 1, 2]
        assert set(called) == {"_get_pool", "print_progress"}
        over = threading.Event()
        next(abandoned := parallel(joblib.delayed(call)() for call in (int, over.wait)))
        abandoned.close()
        over.set()
        assert "_warn_exit_early" in called
        assert backend.pool is None  # joblib has called `abort_everything`


def test_ray_calls_what_we_override():
    pool = pytest.importorskip("ray.util.multiprocessing").Pool
    assert "_start_actor_pool" in names_in(pool.__init__.__code__)
    theirs = inspect.signature(pool._start_actor_pool).parameters
    assert list(theirs) == list(inspect.signature(EagerPool._start_actor_pool).parameters)
