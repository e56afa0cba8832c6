"""The undocumented parts of joblib, Dask and Ray that `batchsolve/workers/private.py` uses."""

import ast
import inspect
import pkgutil
import re
import threading
from importlib.metadata import version
from typing import NamedTuple

import joblib
import pytest

from batchsolve.workers import private
from batchsolve.workers.private import EagerPool, Parallel, PoolBackend
from batchsolve.workers.threads import _ThreadPool


class PrivateUse(NamedTuple):
    """Undocumented names of a library that we use.

    Attributes
    ----------
    owner : str
        The module or the class that has the names: ``module`` or ``module:class``.
    names : str
        The names, with spaces between them.
    why : str
        The reason.
    """

    owner: str
    names: str
    why: str


SEEN_IN = {"joblib": "1.6.0", "distributed": "2026.8.0", "ray": "2.60.0"}

USES = (
    PrivateUse(
        "joblib.parallel:Parallel",
        "_lock _jobs _call_id",
        "joblib fails on results of a round that was abandoned, unless we make it forget them",
    ),
    PrivateUse(
        "joblib.parallel:Parallel",
        "_aborting n_dispatched_tasks n_completed_tasks print_progress",
        "joblib itself looks for results only every 10 ms",
    ),
    PrivateUse(
        "joblib.parallel:Parallel",
        "_warn_exit_early",
        "joblib warns of abandoned calls, as after Ctrl-C, and no option prevents it",
    ),
    PrivateUse(
        "joblib.parallel:ThreadingBackend",
        "_pool _get_pool apply_async close terminate abort_everything",
        "joblib takes no other pool; its own passes on calls and results in two more threads",
    ),
    PrivateUse(
        "joblib.parallel:LokyBackend",
        "_workers configure",
        "joblib takes no executor of our own",
    ),
    PrivateUse(
        "joblib.externals.loky.reusable_executor",
        "_executor_lock _executor _executor_kwargs",
        "loky keeps one executor, the user's; if ours replaced it, a `Parallel` that the user "
        "still has in use would hand its calls to our workers, or wait for ever",
    ),
    PrivateUse(
        "joblib.executor", "_executor_args", "joblib reuses the executor for equal arguments"
    ),
    PrivateUse(
        "joblib.executor:MemmappingExecutor",
        "terminate kill_workers _flags _executor_manager_thread _processes _call_queue "
        "_result_queue",
        "loky misses the death of a worker that held a lock or had sent half of a result",
    ),
    PrivateUse(
        "joblib.externals.loky.process_executor:_ExecutorFlags",
        "broken",
        "the executor has broken, but its thread may still wait",
    ),
    PrivateUse(
        "joblib.externals.loky.backend.queues:SimpleQueue",
        "_writer",
        "closing this end wakes a thread that waits for the other half of a result",
    ),
    PrivateUse(
        "joblib.externals.loky.backend.queues:Queue",
        "_reader",
        "closing this end wakes a thread that writes to dead workers",
    ),
    PrivateUse(
        "joblib.externals.loky.backend.resource_tracker",
        "register unregister",
        "after this process is killed, loky's tracker removes folders; Python's cannot",
    ),
    PrivateUse(
        "joblib._dask:DaskDistributedBackend",
        "client waiting_futures abort_everything effective_n_jobs submit",
        "joblib exports this backend only by its name; it waits for ever for tasks that Dask has "
        "given up",
    ),
    PrivateUse(
        "distributed.client:as_completed", "futures", "these calls are out, and we cancel them"
    ),
    PrivateUse(
        "distributed.client:Client",
        "scheduler_comm status",
        "Dask silently connects again to a scheduler that was restarted and has no work",
    ),
    PrivateUse(
        "distributed.utils:SyncMethodMixin",
        "callback_timeout",
        "a question to a lost scheduler would wait for ever",
    ),
    PrivateUse(
        "distributed.deploy.spec:SpecCluster",
        "shutdown_on_close",
        "at exit, Dask would print a traceback for a cluster whose start was interrupted",
    ),
    PrivateUse(
        "ray.util.multiprocessing:Pool",
        "_start_actor_pool _pool_actor _actor_pool _new_actor_entry",
        "Ray's pool waits until all actors have started, but some may never start",
    ),
    PrivateUse(
        "ray.util.multiprocessing.pool",
        "ResultThread",
        "Ray's pools leave threads behind, which would ask for results after its shutdown",
    ),
    PrivateUse(
        "ray._private.authentication.authentication_utils",
        "is_token_auth_enabled",
        "without tokens, everyone who reaches Ray's ports can run code, and we warn of that",
    ),
)


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


def library_of(use):
    return re.split("[.:]", use.owner)[0]


def complaint(use):
    """Return a message if the installed version lacks names of a use; empty if it has them."""
    library = library_of(use)
    try:
        known = names_of(pkgutil.resolve_name(use.owner))
    except (ImportError, AttributeError):
        known = set()
    missing = [name for name in use.names.split() if name not in known]
    if not missing:
        return ""
    return (
        f"{library} {version(library)}: {use.owner} has no {', '.join(missing)}, unlike {library} "
        f"{SEEN_IN[library]}; find another way in batchsolve/workers/private.py ({use.why})"
    )


@pytest.mark.parametrize("use", USES, ids=lambda use: f"{use.owner} {use.names}")
def test_the_library_has_what_we_use(use):
    pytest.importorskip(library_of(use))
    assert not complaint(use), complaint(use)


@pytest.mark.parametrize("owner", ["joblib.parallel:Parallel", "joblib.gone", "joblib:Gone"])
def test_a_complaint_names_the_library_its_version_and_the_use(owner):
    assert complaint(PrivateUse(owner, "_gone n_jobs", "of a reason")).startswith(
        f"joblib {joblib.__version__}: {owner} has no _gone"
    )


def test_the_list_has_every_private_name():
    """In the file, only names of the libraries begin with an underscore."""
    tree = ast.parse(inspect.getsource(private))
    names = {
        getattr(node, field, None) or ""
        for node in ast.walk(tree)
        for field in ("attr", "id", "name", "module")
    }
    private_names = {name for name in names if re.search(r"(^|\.)_[a-z]", name)}
    listed = {part for use in USES for part in (*use.names.split(), re.sub(":.*", "", use.owner))}
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
        return _ThreadPool(2)

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
