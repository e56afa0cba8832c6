"""Common parts of pictures: size, colours, legends, files; and the plot of an evaluation.

They are drawn with matplotlib (the extra ``plot``). A picture is as wide as a phone's screen. The
report of scaling sets two side by side where there is room, so text has the same size on every
screen.

The plot of an evaluation shows the shares of right rows: strata are points with their intervals,
one below the other.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

from batchsolve.errors import InputError, check_installed, counted, percent, printable
from batchsolve.settings.arguments import FileName, path_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from batchsolve.tables.judged import Stratum

WIDTH, HEIGHT = 4.2, 3.2  # inches
AROUND = 1.2  # height of title and axis, in inches
TITLE, TEXT, SMALL = 11, 9.5, 8.5  # points; on a phone a point is a little more than a pixel
LINE = 62  # characters in a line of full width
ABOVE = LINE - 8  # and in one beside the axis
LINE_HEIGHT = SMALL * 1.25 / 72  # inches
# the palette of M. Okabe and K. Ito, safe for colour-blind readers, without its yellow
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = "os^DvPX"
GREY, DARK_GREY = "0.6", "0.35"
FORMATS = ("svg", "png", "pdf")

MOST_DRAWN = 100  # strata below each other
ROW = 0.24  # inches
MOST_LETTERS = 30  # of the name of a stratum
BARS = "bars: 95 % intervals (Wilson)"


def look_of(k: int, *, pale: bool = False) -> dict[str, Any]:
    """Return the colour and the marker of the k-th series; doubtful measurements are pale."""
    marker = MARKERS[(k + k // len(COLORS)) % len(MARKERS)]
    return {"color": COLORS[k % len(COLORS)], "marker": marker, "alpha": 0.35 if pale else 1.0}


def new_figure(title: str, subtitle: str, rows: int = 1, height: float = HEIGHT) -> Any:
    """Return a figure with a title, and its axes, stacked vertically."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    figure.suptitle(title, x=0.02, ha="left", fontsize=TITLE, fontweight="bold")
    axes = figure.subplots(rows, sharex=True, squeeze=False)[:, 0]
    for panel in axes:
        panel.grid(alpha=0.3)
        panel.set_axisbelow(True)
        panel.tick_params(labelsize=SMALL)
        panel.spines[["top", "right"]].set_visible(False)
    if subtitle:
        write_above(axes[0], wrapped(subtitle, ABOVE))
    return figure, axes


def name_axes(axes: Axes, x: str, y: str, note: str = "") -> None:
    """Name the axes, and write a note below the picture."""
    axes.set_xlabel(x, fontsize=TEXT)
    axes.set_ylabel(y, fontsize=TEXT)
    if note:
        text = wrapped(note, LINE)
        figure: Any = axes.figure
        figure.supxlabel(text, x=0.02, ha="left", fontsize=SMALL).set_color(DARK_GREY)
        figure.set_figheight(figure.get_figheight() + LINE_HEIGHT * (1 + text.count("\n")))


def wrapped(text: str, width: int) -> str:
    """Return a text with its lines wrapped to a width."""
    return "\n".join(textwrap.fill(line, width) for line in text.splitlines())


def distinct_names(rows: Sequence[Sequence[str]]) -> tuple[list[str], str]:
    """Return a name for each row, made of the parts in which rows differ, and the common parts.

    Examples
    --------
    >>> distinct_names([("queens:8", "dlx", "2 workers"), ("queens:8", "bits", "2 workers")])
    (['dlx', 'bits'], 'queens:8, 2 workers')
    >>> distinct_names([("queens:8", "dlx")])
    (['queens:8'], 'dlx')
    """
    differ = [len(set(column)) > 1 for column in zip(*rows, strict=True)]
    if not any(differ):
        differ[0] = True  # a single row, or equal rows, need a name too

    def joined(row: Sequence[str], which: bool) -> str:
        return ", ".join(part for part, d in zip(row, differ, strict=True) if part and d == which)

    return [joined(row, True) for row in rows], joined(rows[0], False)


def draw_measured(
    axes: Axes,
    points: Mapping[int, float],
    ranges: Mapping[int, tuple[float, float]],
    look: Mapping[str, Any],
    name: str,
    joined: Sequence[int] = (),
) -> None:
    """Draw measured points with their ranges, and a line through the points in `joined`."""
    around = [[abs(ranges[x][end] - y) for x, y in points.items()] for end in (0, 1)]
    bars: dict[str, Any] = {"linestyle": "", "markersize": 5, "capsize": 3, "zorder": 3}
    axes.errorbar(list(points), list(points.values()), around, label=name, **bars, **look)
    axes.plot(joined, [points[x] for x in joined], **{**look, "marker": ""})


def begin_at_zero(axes: Axes) -> None:
    """Make the y axis reach from 0 to a little above the greatest number drawn."""
    axes.set_ylim(0, 1.08 * axes.dataLim.y1)


def make_logarithmic(axes: Axes, which: str, base: int = 10, whole: bool = False) -> None:
    """Make the x or the y axis logarithmic, with numbers written out and some in every range.

    If they are `whole`, as counts are, none has a fraction, and a small panel has room for them.
    """
    from matplotlib import ticker

    axes.set(**{f"{which}scale": "log"})
    axis = getattr(axes, f"{which}axis")
    low, high = sorted(axis.get_view_interval())
    if high < base * low:
        axis.set_major_locator(ticker.MaxNLocator(2 if whole else 4, integer=whole))
    else:
        max_ratio = 15 if whole else 100 if low < 0.001 else 1000  # small numbers are long
        between = (1, 2, 5) if base == 10 and high < max_ratio * low else (1,)
        axis.set_major_locator(ticker.LogLocator(base, between, numticks=20))
    if high < base * low or base != 10:
        axis.set_minor_locator(ticker.NullLocator())
    axis.set_major_formatter(lambda x, _: f"{x:,.12f}".rstrip("0").rstrip("."))
    axis.set_minor_formatter(ticker.NullFormatter())


def write_above(axes: Axes, text: str) -> None:
    """Write a text above the left end of the axes, below earlier texts."""
    before = axes.get_title(loc="left")
    lines = f"{before}\n{text}" if before else text
    axes.set_title(lines, loc="left", fontsize=SMALL, color=DARK_GREY, pad=3)


def write_legend(figure: Figure, axes: Axes) -> None:
    """Write the legend below the picture, and make room for it."""
    lines, names = axes.get_legend_handles_labels()
    names = [wrapped(name, ABOVE) for name in names]
    n_lines = len(names) + sum(name.count("\n") for name in names)
    figure.set_figheight(figure.get_figheight() + 1.4 * LINE_HEIGHT * n_lines)
    figure.legend(lines, names, loc="outside lower left", fontsize=SMALL, frameon=False)


def plot_format_of(path: FileName) -> str:
    """Return the format of a plot, which the suffix of its file names.

    Examples
    --------
    >>> plot_format_of("accuracy.svg")
    'svg'
    >>> plot_format_of("accuracy.jpg")
    Traceback (most recent call last):
        ...
    batchsolve.errors.InputError: accuracy.jpg: the name of a plot ends with .svg, .png or .pdf
    """
    name = path_of("the plot", path)
    check_installed("a plot", "matplotlib", extra="plot")
    form = os.path.splitext(name.lower())[1][1:]
    if form not in FORMATS:
        raise InputError(f"{name}: the name of a plot ends with .svg, .png or .pdf")
    return form


def content(figure: Figure, form: str) -> bytes:
    """Return the bytes of a file of a figure, the same for the same data: svg, png or pdf."""
    import matplotlib as mpl
    from matplotlib.text import Text

    # leave out the date, and make names reproducible
    date, file = "CreationDate" if form == "pdf" else "Date", BytesIO()
    for text in figure.findobj(Text):  # names are not formulas, and SVG has no control characters
        text.set(parse_math=False, text=printable(text.get_text(), but="\n"))
    with mpl.rc_context({"svg.hashsalt": "batchsolve", "text.parse_math": False}):
        # lay it out once, as each layout would begin with the one before
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        figure.savefig(file, format=form, metadata={date: None}, dpi=200)
    return file.getvalue()


# ---- shares of right rows -------------------------------------------------------------------


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

    rows = dict(strata) or {"all rows": total}
    if len(rows) > MOST_DRAWN:
        raise InputError(
            f"{len(rows):,} strata do not fit into a plot, which holds {MOST_DRAWN}; give one "
            f"column, or the bounds of ranges with `bins`"
        )
    of_all = f"{percent(total.right, total.judged, 1)} %" if total.judged else "–"
    title = f"{of_all} of {counted(total.judged, 'row')} right"
    column = f"{by} (rows)" if by else ""
    height = AROUND + LINE_HEIGHT * len(wrapped(column, ABOVE).splitlines())
    figure, (axes,) = new_figure(title, column, height=height + ROW * len(rows))
    if strata and total.judged:
        axes.axvline(total.right / total.judged, color=GREY, linestyle="--", zorder=0)
    for y, stratum in enumerate(rows.values()):
        if stratum.judged:
            share, (low, high) = stratum.right / stratum.judged, stratum.interval("right")
            around = [[max(0.0, share - low)], [max(0.0, high - share)]]
            axes.errorbar(share, y, xerr=around, fmt="o", color=COLORS[0], capsize=3)
    names = [f"{_short(name)} ({stratum.judged:,})" for name, stratum in rows.items()]
    axes.set_yticks(range(len(rows)), names)
    axes.set(xlim=(-0.02, 1.02), ylim=(len(rows) - 0.5, -0.5))
    axes.xaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    name_axes(axes, "rows right", "", BARS)
    return figure


def _short(name: str) -> str:
    text = printable(name)
    return text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]}…"
