"""Progress bars for long runs, in a terminal or a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from batchsolve.errors import InputError, counted, quoted

if TYPE_CHECKING:
    from batchsolve.runs.solve_file import Progress
    from batchsolve.search.tree import TreeSearch

ROW_BAR: dict[str, Any] = {"unit": " rows", "unit_scale": True}
TREE_BAR: dict[str, Any] = {
    "total": 1.0,
    "bar_format": "{percentage:6.2f}% of the tree|{bar}| [{elapsed}<{remaining}{postfix}]",
}


def rows_on(bar: Any) -> Callable[[Progress], None]:
    """Return a callback of `solve_file` that shows rows on a tqdm bar made with `ROW_BAR`."""
    begun = False

    def update(progress: Progress) -> None:
        nonlocal begun
        totals = progress.totals
        if not begun:  # the rate leaves out the rows of the interrupted run
            bar.initial = bar.n = totals.rows
            begun = True
        bar.total = progress.expected_rows
        bar.set_postfix(unique=totals.unique, invalid=totals.invalid, refresh=False)
        bar.update(progress.new_rows)

    return update


def tree_on(bar: Any) -> Callable[[TreeSearch], None]:
    """Return a callback of `count` that shows the finished share on a bar made with `TREE_BAR`."""

    def update(search: TreeSearch) -> None:
        totals = search.totals
        rate = totals.nodes / max(totals.seconds, 1e-9)
        found = counted(totals.count, "solution")
        bar.set_postfix_str(f"{found}, {rate:,.0f} nodes/s", refresh=False)
        bar.update(search.finished_share - bar.n)

    return update


@contextmanager
def shown(
    on_progress: Callable[[Any], None] | bool | None,
    follow: Callable[[Any], Callable[[Any], None]],
    how: dict[str, Any],
) -> Iterator[Callable[[Any], None]]:
    """Yield the callback itself, one that draws a bar for True, or one that does nothing.

    Parameters
    ----------
    on_progress : callable or bool or None
    follow : callable
        `rows_on` or `tree_on`.
    how : dict
        `ROW_BAR` or `TREE_BAR`.
    """
    if on_progress is True:
        from tqdm.auto import tqdm  # shows a widget in a notebook

        with tqdm(**how) as bar:
            yield follow(bar)
    else:
        if on_progress and not callable(on_progress):
            raise InputError(f"on_progress is a function or True, not {quoted(on_progress)}")
        yield on_progress or (lambda progress: None)
