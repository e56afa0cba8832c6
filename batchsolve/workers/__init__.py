"""The backends that run workers. Only this package imports joblib."""

from __future__ import annotations

from importlib import import_module

from batchsolve.errors import InputError, check_installed
from batchsolve.settings import whole_number
from batchsolve.workers.base import Workers

# name -> module and class; imported on demand, because some need packages that may be missing
_BACKENDS = {
    "threading": ("batchsolve.workers.threads", "Threads"),
    "loky": ("batchsolve.workers.processes", "Processes"),
    "dask": ("batchsolve.workers.dask", "DaskWorkers"),
    "ray": ("batchsolve.workers.ray", "RayWorkers"),
}
_NEEDS = {"dask": "distributed", "ray": "ray"}  # backend (also the name of its extra) -> module

BACKENDS = tuple(_BACKENDS)
MOST_JOBS = 10_000  # which are more than any one machine runs at once


def get_workers(backend: str, jobs: int | None = None, address: str | None = None) -> Workers:
    """Return workers of a backend, not yet started.

    Parameters
    ----------
    backend : {"threading", "loky", "dask", "ray"}
    jobs : int, optional
        Number of workers; by default the number of cores, or all workers of a cluster.
    address : str, optional
        The scheduler of a cluster; by default a cluster on this machine is started.

    Raises
    ------
    InputError
        If the backend is unknown, lacks a module, or does not take an address or a number of
        workers.

    Examples
    --------
    >>> get_workers("threading", jobs=2).jobs
    2
    """
    if backend not in _BACKENDS:
        raise InputError(f"unknown backend {backend!r}; choose from {', '.join(BACKENDS)}")
    if jobs is not None:
        jobs = whole_number("the number of jobs", jobs, 1, MOST_JOBS)
    if backend in _NEEDS:
        check_installed(f"the backend {backend!r}", _NEEDS[backend], extra=backend)
    module, name = _BACKENDS[backend]
    workers: type[Workers] = getattr(import_module(module), name)
    if address is not None and not workers.joins_clusters:
        raise InputError(f"the backend {backend!r} runs on this machine only; it takes no address")
    if address is not None and jobs is not None and workers.width_is_the_clusters:
        raise InputError(
            f"the backend {backend!r} uses every worker that the cluster has; leave out jobs={jobs}"
        )
    return workers(jobs, address)
