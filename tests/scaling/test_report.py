import base64
import importlib.util
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest
from typer.testing import CliRunner

from batchsolve.cli import app
from batchsolve.scaling import plots
from batchsolve.scaling.experiment import read_experiment

PICTURES = ("speedup", "efficiency", "depth", "sizes", "gantt", "forecast1")
with_matplotlib = pytest.mark.skipif(
    importlib.util.find_spec("matplotlib") is None, reason="matplotlib is an extra"
)
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser")
VOID = {"meta", "img", "br", "link", "hr"}


class Page(HTMLParser):
    """The tags of a page, checked for balance, and the text outside of style."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.text = [], [], ""
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data + " "


def scale(out, *more):
    arguments = ["scale", "queens:8", "-o", str(out), "--jobs", "1..3", "--repeat", "1", *more]
    return CliRunner().invoke(app, arguments)


@pytest.fixture(scope="module", autouse=True)
def _short_runs_are_enough():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("batchsolve.scaling.doubts.LEAST_SECONDS", 0.0)
        yield


@pytest.fixture(scope="module")
def home(tmp_path_factory, _short_runs_are_enough):
    out = tmp_path_factory.mktemp("scale") / "made" / "here"
    result = scale(
        out, "--split-depth", "1,auto", "--budget", "300", "--forecast-workers", "16,1000"
    )
    assert result.exit_code == 0, result.output
    assert result.stdout.strip() == str(out / "report.html")
    return out


def test_the_report_is_one_balanced_page_that_needs_nothing_else(home):
    html = (home / "report.html").read_text()
    page = Page(html)
    names = [tag for tag, _ in page.tags]
    assert names[:2] == ["html", "head"]
    assert ("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}) in (
        page.tags
    )
    assert "script" not in names
    assert "link" not in names
    sources = [a["src"] for tag, a in page.tags if tag == "img"]
    assert all(source.startswith("data:") for source in sources)
    assert "http://" not in re.sub(r'src="[^"]*"', "", html)


def test_the_report_says_what_was_measured(home):
    page = Page((home / "report.html").read_text())
    for words in (
        "Scaling of queens:8",
        "Speed-up",
        "Fitted curves",
        "Amdahl",
        "Assumptions",
        "1,178",
        "92",
        "16 workers",
        "1,000 workers",
        "The simulated time differs from the measured one by",
        "automatic settings",
        "Best depth",
    ):
        assert words in page.text, words
    experiment = read_experiment(str(home))
    assert experiment.about["command"] in page.text
    n_rows = sum(tag == "tr" for tag, _ in page.tags)
    assert n_rows > 2 * len(experiment.runs)


@with_matplotlib
def test_pictures_lie_beside_the_report_and_in_it(home):
    html = (home / "report.html").read_text()
    for name in PICTURES:
        assert (home / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        svg = (home / f"{name}.svg").read_bytes()
        assert b"<svg" in svg
        assert base64.b64encode(svg).decode() in html


@with_matplotlib
def test_speedup_shows_points_ideal_and_fits(home):
    series = read_experiment(str(home)).series()
    (axes,) = plots.speedup_figure(series).axes
    labels = [line.get_label() for line in axes.get_lines()]
    assert labels[0] == "ideal"
    assert sum(label.startswith("queens:8") for label in labels) == 2
    assert sum(label.startswith("Amdahl: serial share") for label in labels) == 2
    for one, line in zip(series, axes.get_lines()[1::2], strict=True):
        assert line.get_ydata() == pytest.approx(list(one.speedups().values()))


@with_matplotlib
def test_the_gantt_chart_has_a_bar_for_every_task(home):
    experiment = read_experiment(str(home))
    (axes,) = plots.gantt_figure(experiment).axes
    bars = sum(len(bars.get_paths()) for bars in axes.collections)
    assert bars == len(experiment.logs[experiment.widest().run].begin)


@with_matplotlib
def test_there_is_no_curve_over_one_number_of_workers():
    assert plots.speedup_figure([]) is None
    assert plots.depth_figure([]) is None


def test_without_matplotlib_the_report_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setattr(plots, "available", lambda: False)
    out = tmp_path / "out"
    result = scale(out)
    assert result.exit_code == 0
    page = Page((out / "report.html").read_text())
    assert "pip install 'batchsolve[plot]'" in page.text
    assert "img" not in [tag for tag, _ in page.tags]
    assert sorted(path.name for path in out.iterdir()) == [
        "machine.json",
        "report.html",
        "runs.csv",
        "subproblems.parquet",
    ]


def test_names_of_problems_are_escaped(tmp_path):
    path = tmp_path / "a<b&c.txt"
    path.write_text("1.....2..3.....4\n")
    out = tmp_path / "out"
    result = CliRunner().invoke(app, ["scale", str(path), "-o", str(out), "--repeat", "1"])
    assert result.exit_code == 0, result.output
    assert "a<b&c.txt" in Page((out / "report.html").read_text()).text
    assert "a<b" not in (out / "report.html").read_text()


@pytest.mark.skipif(BROWSER is None, reason="no headless browser")
def test_a_browser_shows_it_at_the_width_of_a_phone(home, tmp_path):
    page = (home / "report.html").read_text()
    probe = "<script>document.title = document.documentElement.scrollWidth</script></body>"
    copy = tmp_path / "probe.html"
    # a frame, for browsers refuse windows as narrow as a phone
    frame = page.replace("</body>", probe).replace("&", "&amp;").replace('"', "&quot;")
    copy.write_text(
        f'<iframe id="f" width="390" height="800" srcdoc="{frame}"></iframe><p id="w"></p><script>'
        'f.onload = () => { w.textContent = "width " + f.contentDocument.title }</script>'
    )
    command = [BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu"]
    command.append("--virtual-time-budget=5000")  # until the frame is laid out
    shown = subprocess.run(
        [*command, "--dump-dom", f"--user-data-dir={tmp_path}/profile", copy.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout
    (width,) = re.findall(r"width (\d+)", shown.rpartition("</iframe>")[2])
    assert int(width) <= 390
