"""The trial of engines that search one tree: they take turns, and the fastest goes on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from batchsolve.engines import Engine
from batchsolve.settings import UNLIMITED

TRIAL_NODES = (1_000, 10_000, 40_000, 160_000)  # of each lap; hundredths of a second
FAR_BEHIND = 2  # times slower than the fastest


class Trial:
    """Engines that take turns until it is known which is the fastest.

    An iterator of the engine of the next task, and how many nodes the task may visit. The first lap
    loads kernels and builds arrays. Later laps have longer tasks, because in the search the
    preparation of a task counts less. Engines that fall far behind drop out.

    Parameters
    ----------
    engines : sequence of Engine
    budget : int, optional
        Nodes that any task may visit.

    Attributes
    ----------
    rates : dict of str to float
        Nodes per second of each engine, by its name; 0 while unknown.
    """

    def __init__(self, engines: Sequence[Engine], budget: int | None = None) -> None:
        self._running, self._budget = list(engines), budget or UNLIMITED
        self.rates = {engine.name: 0.0 for engine in engines}
        self._turn: tuple[Engine, int] | None = None
        self._measured: dict[str, float] = {}  # in this lap

    def __iter__(self) -> Iterator[tuple[Engine, int]]:
        for lap, most_nodes in enumerate(TRIAL_NODES):
            if len(self._running) == 1:
                break
            self._measured = {}
            for engine in self._running:
                nodes = min(most_nodes, self._budget)
                self._turn = (engine, nodes) if lap > 0 else None
                yield engine, nodes
            self._turn = None
            self.rates |= self._measured
            best = max(self._measured.values(), default=0.0)
            self._running = [
                engine
                for engine in self._running
                if self._measured.get(engine.name, best) * FAR_BEHIND >= best
            ]

    def learn(self, n_nodes: int, seconds: float) -> None:
        """Take the nodes and the time of the task that was last asked for."""
        if self._turn is not None:
            engine, most_nodes = self._turn
            if 2 * n_nodes >= most_nodes:  # fewer would tell little
                self._measured[engine.name] = n_nodes / max(seconds, 1e-9)

    @property
    def fastest(self) -> Engine:
        """The fastest engine, as far as is known."""
        return max(self._running, key=lambda engine: self.rates[engine.name])
