"""Plots of an evaluation, with matplotlib (the extra ``plot``): right rows by stratum.

The strata of one column are points with their intervals, one below the other; those of two columns
are the cells of a table, the darker the more rows are right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from batchsolve.errors import InputError, counted
from batchsolve.pictures import charts
from batchsolve.tables.judged import Stratum

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_DRAWN = 100  # strata below each other, or side by side
ROW, COLUMN = 0.24, 0.75  # inches
MOST_LETTERS = 30  # of the name of a stratum
DARK = 0.55  # shares above which numbers are white
BARS = "bars: 95 % intervals (Wilson)"
BRACKETS = "brackets: 95 % intervals (Wilson)"


def strata_figure(strata: Mapping[str, Stratum], total: Stratum, by: str) -> Figure:
    """Draw the share of right rows of each stratum and of all rows, with intervals of 95 %.

    Parameters
    ----------
    strata : mapping of str to Stratum
        The first is at the top; if there is none, all rows are.
    total : Stratum
        All rows.
    by : str
        The column of the strata.
    """
    from matplotlib.ticker import PercentFormatter

    each = dict(strata) or {"all rows": total}
    _check_fits(len(each))
    title = f"{_percent(total)} of {counted(total.judged, 'row')} right"
    figure, (axes,) = charts.new_figure(title, "", height=charts.AROUND + ROW * len(each))
    if strata and total.judged:
        axes.axvline(total.right / total.judged, color=charts.GREY, linestyle="--", zorder=0)
    for y, stratum in enumerate(each.values()):
        if stratum.judged:
            share, (low, high) = stratum.right / stratum.judged, stratum.interval("right")
            around = [[max(0.0, share - low)], [max(0.0, high - share)]]
            axes.errorbar(share, y, xerr=around, fmt="o", color=charts.COLORS[0], capsize=3)
    names = [f"{_short(name)} ({one.judged:,})" for name, one in each.items()]
    axes.set_yticks(range(len(each)), names)
    axes.set(xlim=(-0.02, 1.02), ylim=(len(each) - 0.5, -0.5))
    axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    charts.name_axes(axes, "rows right", f"{by} (rows)" if by else "", BARS)
    return figure


def strata_table(
    strata: Mapping[tuple[str, str], Stratum], values: Sequence[Sequence[str]], by: Sequence[str]
) -> Figure:
    """Draw the strata of two columns as a table, with the share of right rows and its interval.

    Parameters
    ----------
    strata : mapping of (str, str) to Stratum
        Combinations without rows may be missing.
    values : sequence of sequence of str, length 2
        The values of the first column, from the top, and of the second, from the left.
    by : sequence of str, length 2
        The columns.
    """
    rows, columns = values
    _check_fits(max(len(rows), len(columns)))
    height = charts.AROUND + 1.7 * ROW * len(rows)
    figure, (axes,) = charts.new_figure("Rows right", "", height=height)
    figure.set_figwidth(max(charts.WIDTH, 1.5 + COLUMN * len(columns)))
    shares = np.full((len(rows), len(columns)), np.nan)
    for (row, column), stratum in strata.items():
        if stratum.judged:
            y, x = rows.index(row), columns.index(column)
            shares[y, x] = stratum.right / stratum.judged
            low, high = (100 * bound for bound in stratum.interval("right"))
            text = f"{_percent(stratum)}\n({low:.0f}–{high:.0f})"
            color = "white" if shares[y, x] > DARK else "black"
            style: Any = {"ha": "center", "va": "center", "fontsize": charts.SMALL - 1}
            axes.text(x, y, text, color=color, **style)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    axes.grid(False)
    axes.set_yticks(range(len(rows)), [_short(name) for name in rows])
    names = [_short(name) for name in columns]
    axes.set_xticks(range(len(columns)), names, rotation=30, ha="right")
    charts.name_axes(axes, by[1], by[0], BRACKETS)
    return figure


def _check_fits(n: int) -> None:
    if n > MOST_DRAWN:
        raise InputError(
            f"{n:,} strata do not fit into a plot, which holds {MOST_DRAWN}; give the bounds of "
            f"ranges with `bins`"
        )


def _percent(stratum: Stratum) -> str:
    return f"{100 * stratum.right / stratum.judged:.1f} %" if stratum.judged else "–"


def _short(name: str) -> str:
    text = name if len(name) <= MOST_LETTERS else f"{name[:MOST_LETTERS]}…"
    return text.replace("$", r"\$")  # no formula
