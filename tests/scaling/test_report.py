import base64
import json
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from itertools import product
from pathlib import Path

import bench_engines
import numpy as np
import pyarrow.csv as pacsv
import pytest
from invoking import invoke, refused
from test_scaling import series_of

from batchsolve.formats.pictures import charts
from batchsolve.formats.whole_files import whole_file
from batchsolve.scaling import report
from batchsolve.scaling.experiment import Experiment, read_experiment
from batchsolve.scaling.report import render
from batchsolve.scaling.speedup import Series, not_told_apart, rows_of, speedup_intervals

PICTURES = ("speedup", "efficiency", "depth", "sizes", "forecast1")
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")


class Page(HTMLParser):
    """A parser of a page: its tags, checked for balance, and the text outside of style."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.text = [], [], ""
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "img", "br", "link", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data + " "


@pytest.fixture(scope="module", autouse=True)
def _short_runs_are_enough():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("batchsolve.scaling.speedup.LEAST_SECONDS", 0.0)
        yield


@pytest.fixture(scope="module")
def home(tmp_path_factory, _short_runs_are_enough):
    out = tmp_path_factory.mktemp("scale") / "made" / "here"
    how = "--jobs 1..3 --repeat 1 --split-depth 1,auto --budget 300 --forecast-workers 16,1000"
    result = invoke("scale", "queens:8", "-o", out, *how.split())
    assert (result.exit_code, result.stdout) == (0, f"{out / 'report.html'}\n"), result.output
    return out


def test_the_report_is_one_balanced_page_that_needs_nothing_else(home):
    html = (home / "report.html").read_text()
    page = Page(html)
    names = [tag for tag, _ in page.tags]
    assert names[:2] == ["html", "head"]
    view = {"name": "viewport", "content": "width=device-width, initial-scale=1"}
    assert ("meta", view) in page.tags
    assert "script" not in names
    assert "link" not in names
    sources = [a["src"] for tag, a in page.tags if tag == "img"]
    assert all(source.startswith("data:") for source in sources)
    assert "http://" not in re.sub(r'src="[^"]*"', "", html)


def test_the_report_says_what_was_measured(home):
    page = Page((home / "report.html").read_text())
    for words in (
        *("Scaling of queens:8", "Speed-up", "Fitted curves", "Amdahl", "Assumptions"),
        *("1,178", "92", "16 workers", "1,000 workers", "automatic settings", "Best depth"),
        "The simulated time differs from the measured one by",
    ):
        assert words in page.text, words
    experiment = read_experiment(str(home))
    assert experiment.about["command"] in page.text
    assert sum(tag == "tr" for tag, _ in page.tags) > 2 * len(experiment.runs)


def test_pictures_lie_beside_the_report_and_in_it_and_are_always_the_same(home):
    html = (home / "report.html").read_text()
    for name in PICTURES:
        assert (home / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (home / f"{name}.pdf").read_bytes().startswith(b"%PDF")
        svg = (home / f"{name}.svg").read_bytes()
        assert b"<svg" in svg
        assert base64.b64encode(svg).decode() in html
    figure = report.speedup_figure(read_experiment(str(home)).series())
    for form in ("svg", "pdf"):
        assert charts.content(figure, form) == (home / f"speedup.{form}").read_bytes()


@pytest.fixture(scope="module")
def several(home):
    """Return four series: two good ones that nearly agree, one doubtful, one too short."""
    made = read_experiment(str(home)).runs[0]
    good = {1: [4.0, 4.1, 3.9], 2: [2.0, 2.1, 2.05], 4: [1.1, 1.14, 1.12], 8: [0.6, 0.62, 0.61]}
    odd = good | {4: [1.1, 1.1, 1.11, 5.0]}
    short = {jobs: [0.01 * wall for wall in times] for jobs, times in good.items()}
    named = {"one": good, "two": good, "odd": odd, "a-name-that-has-no-end-" * 2: short}
    return [series_of(made, walls, problem=name) for name, walls in named.items()]


def least_seconds(monkeypatch):
    monkeypatch.setattr("batchsolve.scaling.speedup.LEAST_SECONDS", 0.5)


def test_speedup_shows_points_ideal_and_fits(home):
    assert report.speedup_figure([]) is report.depth_figure([]) is None
    series = read_experiment(str(home)).series()
    (axes,) = report.speedup_figure(series).axes
    assert axes.get_lines()[0].get_label() == "ideal"
    laws = [line.get_label() for line in axes.get_lines() if "share" in str(line.get_label())]
    assert len(laws) == len(series) == 2
    assert all(law.startswith("Amdahl: serial share") for law in laws)
    names = [bars.get_label().partition(",")[0] for bars in axes.containers]
    assert names == ["depth 1", "depth auto"]
    for one, bars in zip(series, axes.containers, strict=True):
        assert bars.lines[0].get_ydata() == pytest.approx(list(one.speedups().values()))


@pytest.mark.parametrize("per_worker", [False, True])
def test_points_have_ranges_within_the_axes_and_a_legend_below(several, per_worker, monkeypatch):
    least_seconds(monkeypatch)
    figure = report.speedup_figure(several, per_worker=per_worker)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    inside = axes.get_window_extent()
    assert len(axes.containers) == 3  # the series that is too short has no bars
    for one, bars in zip(several, axes.containers, strict=False):
        points, _, (ranges,) = bars.lines
        places = points.get_transform().transform(points.get_xydata())
        assert all(inside.contains(*place) for place in places)
        shares = np.array(one.workers) if per_worker else 1
        intervals = {1: (1, 1), **speedup_intervals(one)}
        assert all(low < high for jobs, (low, high) in intervals.items() if jobs > 1)
        for segment in ranges.get_segments():
            ends = ranges.get_transform().transform(segment)
            assert all(inside.contains(*end) for end in ends)
        highest = [segment[:, 1].max() for segment in ranges.get_segments()]
        expected = np.array([intervals[jobs][1] for jobs in one.workers])
        assert highest == pytest.approx(list(expected / shares))
    [legend] = figure.legends
    below, whole = legend.get_window_extent(), figure.bbox
    assert below.y1 <= inside.y0
    for box in [inside, below, figure.get_tightbbox().transformed(figure.dpi_scale_trans)]:
        assert whole.x0 <= box.x0 < box.x1 <= whole.x1 + 1
        assert whole.y0 <= box.y0 < box.y1 <= whole.y1 + 1


def test_intervals_are_of_both_medians_and_one_run_has_none(home, several):
    intervals = speedup_intervals(several[0])
    assert list(intervals) == [2, 4, 8]
    assert intervals[2] == pytest.approx((3.9 / 2.1, 4.1 / 2.0))
    assert intervals == speedup_intervals(several[1])
    assert speedup_intervals(read_experiment(str(home)).series()[0]) == {}


def test_settings_that_cannot_be_told_apart_are_named(several, monkeypatch):
    least_seconds(monkeypatch)
    first = several[0]
    rival = Series([replace(run, engine="bits", wall=run.wall * 1.01) for run in first.runs])
    slow = Series([replace(run, engine="cells", wall=run.wall * 1.5) for run in first.runs])
    counts = ("1 worker", "2 workers", "4 workers", "8 workers")
    alike = [f"{count}: {first.name}, and {rival.name}" for count in counts]
    assert list(not_told_apart([rival, first, slow])) == alike
    even = series_of(first.runs[0], {1: [2.0, 2.2, 2.1], 2: [2.0, 2.1, 2.2], 4: [1.0, 1.1, 1.0]})
    assert list(not_told_apart([even])) == [f"{even.name}: 1 worker and 2 workers"]
    page = render(Path(), Experiment(even.runs, [], {}), [], [])
    assert f"Cannot be told apart: {even.name}: 1 worker and 2 workers." in page
    assert "1.00 (0.91 – 1.10)" in page


def test_problems_of_one_file_name_and_backends_are_told_apart(home):
    made = read_experiment(str(home))
    kinds = [("a/x.dlx", "threading"), ("b/x.dlx", "loky"), ("b/x.dlx", "threading")]
    each = product(kinds, made.runs)
    runs = [replace(run, problem=name, backend=backend) for (name, backend), run in each]
    experiment = Experiment(runs, made.logs * 3, {})
    names = [one.name for one in experiment.series()[::2]]
    assert names == [f"{name}, auto, {backend}, depth 1" for name, backend in kinds]
    (axes,) = report.depth_figure(experiment.series()).axes
    assert len(axes.containers) == 3 * 3  # of 1, 2 and 3 workers
    assert len(report.sizes_figure(experiment).axes) == 3 * 3


def test_tables_of_speed_up_and_of_forecasts(home, several, monkeypatch):
    experiment = read_experiment(str(home))
    rows = pacsv.read_csv(home / "speedup.csv").to_pylist()
    settings = [(row["split_depth"], row["workers"], row["runs"]) for row in rows]
    assert settings == [(depth, jobs, 1) for depth in ("1", "auto") for jobs in (1, 2, 3)]
    assert rows[1]["speedup"] == pytest.approx(experiment.series()[0].speedups()[2])
    assert rows[1]["efficiency"] == pytest.approx(rows[1]["speedup"] / 2)
    assert rows[1]["speedup_low"] is None  # one run has no interval
    least_seconds(monkeypatch)
    kept = [rows_of(one) for one in (several[0], several[3])]
    good, short = ({row["workers"]: row for row in rows} for rows in kept)
    assert good[4]["efficiency_low"] == pytest.approx(3.9 / 1.14 / 4)
    assert (short[2]["speedup"], short[2]["no_speedup"]) == (None, "too short")
    rows = pacsv.read_csv(home / "forecast.csv").to_pylist()
    assert [row["measured_seconds"] for row in rows[:6]] == [run.wall for run in experiment.runs]
    curve = [row["workers"] for row in rows if row["part"] == "curve"]
    assert curve == [2**k for k in range(10)] + [1000]
    what_if = {row["setting"] for row in rows if row["part"] == "what if"}
    usual, *others = "automatic settings", "results cost no time", "no time between tasks"
    assert what_if == {usual, *others, "tasks as for few workers"}
    assert {row["workers"] for row in rows if row["part"] in ("depth", "budget")} == {16, 1000}


def test_what_is_doubtful_is_pale_or_not_drawn_and_the_picture_says_why(several, monkeypatch):
    least_seconds(monkeypatch)
    figure = report.speedup_figure(several)
    (axes,) = figure.axes
    looks = [(bars.get_label(), bars.lines[0].get_alpha()) for bars in axes.containers]
    assert looks == [("one", 1), ("two", 1), ("odd, doubtful: outliers", pytest.approx(0.35))]
    note = figure.get_supxlabel().replace("\n", " ")
    assert note.startswith("Not drawn, because the runs are too short: a-name-that-")


def test_series_of_a_picture_differ_in_colour_and_marker():
    looks = [charts.look_of(k) for k in range(14)]
    assert len({look["color"] for look in looks[:7]}) == 7
    assert len({(look["color"], look["marker"]) for look in looks}) == 14


@pytest.mark.parametrize("name", ["report.html", "speedup.csv"])
def test_files_of_a_report_have_one_writer_and_appear_whole(home, tmp_path, monkeypatch, name):
    monkeypatch.setattr(report, "can_draw", lambda: False)
    copy = shutil.copytree(home, tmp_path / "copy")
    before = (copy / name).read_bytes()
    with whole_file(copy / name) as file:
        assert f"{name}: is being written by another run" in refused("report", copy)
        assert (copy / name).read_bytes() == before
        file.write(before)


def test_engines_that_were_given_up_have_a_bar_that_says_so(tmp_path, monkeypatch):
    seconds = {"auto": 0.5, "sat": None, "dlx": 0.25, "ortools": None}
    problems = {"queens:8": {"covers": 92, "seconds": seconds}}
    path = tmp_path / "engines.json"
    path.write_text(json.dumps({"command": "bench.py queens:8 --most 12", "problems": problems}))
    (axes,) = bench_engines.picture(json.loads(path.read_text())).axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == ["dlx", "auto", "sat", "ortools"]
    assert [text.get_text() for text in axes.texts] == ["0.25", "0.50", *["over 12 s"] * 2]
    assert [bar.get_width() for bar in axes.patches] == [0.25, 0.5, 12, 12]
    assert axes.get_title(loc="left").endswith("queens:8: 92 covers")
    monkeypatch.setattr("sys.argv", ["bench_engines.py", "--draw", str(path)])
    bench_engines.main()
    assert b"<svg" in path.with_suffix(".svg").read_bytes()


@pytest.mark.parametrize("limits", [(0.17, 0.26), (0.9, 9.5), (0.08, 48), (1e-5, 2)])
def test_logarithmic_axes_have_numbers_in_every_range(limits):
    figure, (axes,) = charts.new_figure("", "")
    axes.set(xscale="log", xlim=limits)
    charts.make_logarithmic(axes, "x")
    figure.draw_without_rendering()
    low, high = limits
    seen = [t.get_text() for t in axes.get_xticklabels() if low <= t.get_position()[0] <= high]
    assert 3 <= len(set(seen)) <= 10


def test_without_matplotlib_the_report_says_how_to_get_it_and_names_are_escaped(here, monkeypatch):
    Path("a<b&c.txt").write_text("1.....2..3.....4\n")
    monkeypatch.setattr(report, "can_draw", lambda: False)
    done = invoke("scale", "a<b&c.txt", "-o", "out", "--repeat", "1")
    assert done.exit_code == 0, done.output
    html = Path("out", "report.html").read_text()
    page = Page(html)
    assert "pip install 'batchsolve[plot]'" in page.text
    assert "img" not in [tag for tag, _ in page.tags]
    files = "machine.json report.html runs.csv speedup.csv subproblems.parquet"
    assert {path.name for path in Path("out").iterdir()} == set(files.split())
    assert "a<b&c.txt" in page.text
    assert "a<b" not in html


@pytest.mark.skipif(BROWSER is None, reason="no headless browser")
def test_a_browser_shows_it_at_the_width_of_a_phone(home, tmp_path):
    page = (home / "report.html").read_text()
    probe = "<script>document.title = document.documentElement.scrollWidth</script></body>"
    copy = tmp_path / "probe.html"
    # a frame, because browsers refuse windows as narrow as a phone
    frame = page.replace("</body>", probe).replace("&", "&amp;").replace('"', "&quot;")
    copy.write_text(
        f'<iframe id="f" width="390" height="800" srcdoc="{frame}"></iframe><p id="w"></p><script>'
        'f.onload = () => { w.textContent = "width " + f.contentDocument.title }</script>'
    )
    command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu"]
    command.append("--virtual-time-budget=5000")  # until the frame is laid out
    command += ["--dump-dom", f"--user-data-dir={tmp_path}/profile", copy.as_uri()]
    how = {"capture_output": True, "text": True, "timeout": 120, "check": True}
    shown = subprocess.run(command, **how).stdout
    (width,) = re.findall(r"width (\d+)", shown.rpartition("</iframe>")[2])
    assert int(width) <= 390
