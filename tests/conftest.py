import csv
import gc
import io
import json
import os
import random
import shutil
import signal
import sys
import threading
from contextlib import suppress
from functools import cache
from inspect import signature
from itertools import count
from pathlib import Path
from weakref import WeakSet

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from hypothesis import settings, strategies as st

from batchsolve import ExactCover, Stacks, Sudoku, solution_graph, solve_table
from batchsolve.engines import Task, get_engine
from batchsolve.errors import warn_once

# the same few examples in every run; HYPOTHESIS_PROFILE=thorough tries many others
settings.register_profile("fixed", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("few", deadline=None, derandomize=True, max_examples=5)
settings.register_profile("thorough", deadline=None, max_examples=400)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))

DATASETS = Path(__file__).resolve().parent.parent / "datasets"
PUZZLE, SOLUTION = "1.....2..3.....4", "1243342143122134"
SOLVED = "123456789456789123789123456214365897365897214897214365531642978642978531978531642"
EASY = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79"
WHOLE = Stacks.from_lists([[]])

# without this, a failed assertion there does not say why
pytest.register_assert_rewrite("backends", "rooted")

# without this, workers of Ray have a low priority and wait for all other tests
os.environ.update(RAY_worker_niceness="0")

# tests make some thousand journals, and a disk takes longer to sync them than all else takes
IN_MEMORY = "/dev/shm"
if os.access(IN_MEMORY, os.W_OK) and shutil.disk_usage(IN_MEMORY).free > 4 << 30:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", IN_MEMORY)

# otherwise processes with hypothesis and Ray spend a tenth of the time on garbage
gc.set_threshold(100_000, 50, 100)


@pytest.fixture(autouse=True)
def _warnings_are_given_again():
    warn_once.cache_clear()


def pytest_configure(config):
    """Make pytest-xdist start files in the order that this file sets."""
    config.option.loadscopereorder = False


def pytest_collection_modifyitems(items):
    """Start with slow tests.

    A long file must not be left over when the others are done. Tests of workers wait for processes
    much of their time: they run beside tests that compute, one file in three.
    """
    first = {"engines": 0, "problems": 1, "runs": 2}
    items.sort(key=lambda item: first.get(item.path.parent.name, 3))
    files = list(dict.fromkeys(item.path for item in items))
    waiting = [path for path in files if path.parent.name == "workers"]
    places = {path: k for k, path in enumerate(path for path in files if path not in waiting)}
    places |= {path: 6 + 2 * k for k, path in enumerate(waiting)}
    items.sort(key=lambda item: places[item.path])


@pytest.fixture(autouse=True, scope="session")
def _hear_interrupts():
    """Undo what a shell does to background commands: it makes them ignore Ctrl-C.

    Processes that tests start inherit ignored signals.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def changed(problem, **parts):
    """Return a copy of a problem with some other parts, for example other costs."""
    own = {name: getattr(problem, name) for name in signature(ExactCover).parameters}
    return ExactCover(**own | parts)


@st.composite
def problems(draw, most_items=7, most_options=14, most_colors=0):
    """Draw small random problems with primary and secondary items, and perhaps colours."""
    n_items = draw(st.integers(1, most_items))
    n_primary = draw(st.integers(0, n_items))
    option = st.sets(st.integers(0, n_items - 1), min_size=1, max_size=4).map(sorted)
    options = draw(st.lists(option, max_size=most_options))
    indptr = np.cumsum([0, *map(len, options)])
    indices = [i for items in options for i in items]
    color = st.integers(0, most_colors)
    colors = [draw(color) if most_colors and i >= n_primary else 0 for i in indices]
    return ExactCover(indptr, indices, n_items, n_primary, colors=colors)


def coloured_problems():
    """Return a strategy for small random problems with at least one colour."""
    return problems(most_colors=2).filter(lambda problem: problem.colors is not None)


@st.composite
def problems_with_costs(draw):
    """Draw small random problems with costs, and perhaps bounds, secondary items and colours."""
    problem = draw(problems(5, 9, 2) | bounded_problems())
    n = problem.n_options
    return changed(problem, costs=draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))


@st.composite
def bounded_problems(draw):
    """Draw small random problems with bounds, and perhaps secondary items and colours.

    Half of them have an item that all options have.
    """
    problem = draw(problems(5, 9, 2).filter(lambda problem: problem.n_primary > 0))
    if draw(st.booleans()):
        begins = problem.indptr[:-1]
        problem = ExactCover(
            problem.indptr + np.arange(problem.n_options + 1),
            np.insert(problem.indices + 1, begins, 0),
            problem.n_items + 1,
            problem.n_primary + 1,
            colors=None if problem.colors is None else np.insert(problem.colors, begins, 0),
        )
    n = problem.n_primary
    lows = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    return changed(problem, bounds=[(low, max(1, low + draw(st.integers(0, 2)))) for low in lows])


def small_grids(most_clues, least=0, most=8):
    """Return a strategy for 4×4 grids, each with some clues, which may clash; shape (n, 16)."""
    clues = st.dictionaries(st.integers(0, 15), st.integers(1, 4), max_size=most_clues)

    def filled(rows):
        cells = [[row.get(cell, 0) for cell in range(16)] for row in rows]
        return np.array(cells, np.uint8).reshape(-1, 16)

    return st.lists(clues, min_size=least, max_size=most).map(filled)


def wide(*sizes):
    """Return a problem whose items have these numbers of options, of nothing else."""
    names = [str(i) for i in range(len(sizes))]
    options = [[name] for name, n in zip(names, sizes, strict=True) for _ in range(n)]
    return ExactCover.from_options(options, names)


def n_covers(problem, stack=()):
    """Return the number of covers, as `dlx` finds it."""
    task = Task.of(Stacks.from_lists([list(stack)]))
    return int(get_engine("dlx").search(problem, task).counts[0])


def search_in(run, **how):
    """Open a run, search, and close it; return the result."""
    with run:
        return run.search(**how)


def rows_of_csv(path):
    """Return the rows of a CSV file, each as a dict."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def typed_rows(path, *texts):
    """Return the rows of a table of any format, each as a dict; these columns of CSV are texts."""
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_bytes().splitlines()]
    if path.suffix not in (".csv", ".tsv"):
        return pq.read_table(path).to_pylist()
    kinds = dict.fromkeys(texts, pa.string())
    how = pacsv.ConvertOptions(column_types=kinds, strings_can_be_null=True)
    parse = pacsv.ParseOptions(delimiter="\t" if path.suffix == ".tsv" else ",")
    return pacsv.read_csv(path, parse_options=parse, convert_options=how).to_pylist()


def dataset(name, *columns):
    """Return columns of a data set as a table of texts."""
    texts = dict.fromkeys(columns, pa.string())
    how = pacsv.ConvertOptions(column_types=texts, include_columns=columns)
    return pacsv.read_csv(DATASETS / name, convert_options=how)


def with_a_clue_more(table):
    """Return puzzles and solutions with one clue more in each puzzle."""
    rows = zip(table["puzzle"].to_pylist(), table["solution"].to_pylist(), strict=True)
    more = [p[: p.index(".")] + s[p.index(".")] + p[p.index(".") + 1 :] for p, s in rows]
    return table.set_column(0, "puzzle", [more])


def npy(values):
    """Return the bytes of a file of NumPy with an array of these values."""
    np.save(file := io.BytesIO(), np.asarray(values))
    return file.getvalue()


def flip(path, rng):
    """Flip one random bit of a file, but not where pages are empty."""
    data = bytearray(path.read_bytes())
    data[rng.choice([k for k, byte in enumerate(data) if byte])] ^= 1 << rng.randrange(8)
    path.write_bytes(data)


LIBRARIES = ["pandas", "polars", "pyarrow"]


def frame_of(library, table):
    """Return a table of Arrow as one of a library, which may be missing."""
    module = pytest.importorskip(library)
    return table if library == "pyarrow" else module.DataFrame(table.to_pydict())


def write_table(table, path):
    """Write a table as CSV, Parquet or JSON lines, as the name says."""
    if path.suffix == ".csv":
        pacsv.write_csv(table, path)
    elif path.suffix == ".parquet":
        pq.write_table(table, path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))


def answers_to(columns, field=None, **how):
    """Return the answers to a table, or to its columns: rows as dicts, or the values of a field."""
    rows = solve_table(pa.table(columns), **how).to_pylist()
    return rows if field is None else [row[field] for row in rows]


@cache
def hard_puzzles():
    """Return 9×9 puzzles that need many guesses, and their solutions."""
    rows = rows_of_csv(DATASETS / "hard9.csv")
    parse = Sudoku(3, 3).parse
    return tuple(np.array([parse(row[name]) for row in rows]) for name in ("puzzle", "solution"))


def mixed_puzzles(n):
    """Return CSV of puzzles from very easy to broken, and notes with commas and quotes."""
    rng, rows = random.Random(1), ["id,puzzle,note"]
    for k in range(n):
        share = rng.choice([0.35, 0.5, 0.6, 0.65])
        grid = "".join("." if rng.random() < share else d for d in SOLVED)
        if k % 41 == 7:
            grid = "55" + grid[2:]
        if k % 53 == 11:
            grid = grid[:-1]
        note = ('"say ""x"""', "plain", '"a,b"', "")[k % 4]
        rows.append(f"{k},{grid},{note}")
    return "\n".join([*rows, ""])


def interrupted_after(n_rows):
    """A listener to progress that interrupts a run once more rows than these are written."""

    def stop(progress):
        if progress.totals.rows > n_rows:
            raise KeyboardInterrupt

    return stop


class Interrupted:
    """A tracer that raises KeyboardInterrupt before one bytecode of the traced call.

    Python raises it for a signal at such places, in the standard library too. Pass it to
    `sys.settrace`. The start of a thread is spared, because only Python itself could make it
    safe. Calls made while objects are freed are spared, because Python swallows their errors.
    """

    def __init__(self, before):
        self.left = before

    def __call__(self, frame, event, argument):
        if _is_spared(frame):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self


_SPARED = {threading.Thread.start.__code__, WeakSet()._remove.__code__}


def interrupted_at_each_moment(go):
    """Call `go` in threads, each with the next `Interrupted`, until it returns something true.

    `go` traces a call with it. Return what it returns.
    """
    if sys.version_info[:2] == (3, 12):
        pytest.skip("Python 3.12 traces the bytecodes of threads only by chance, or crashes")
    ends = []

    def run(interrupted):
        ends.append(None)
        with suppress(KeyboardInterrupt):
            ends[-1] = go(interrupted)

    for before in count(1):
        thread = threading.Thread(target=run, args=[Interrupted(before)], daemon=True)
        thread.start()
        thread.join(30)
        assert not thread.is_alive(), f"stuck after {before} bytecodes"
        if ends[-1]:
            break
    assert len(ends) > 50
    return ends[-1]


def _is_spared(frame):
    while frame is not None and frame.f_code not in _SPARED:
        frame = frame.f_back
    return frame is not None


@pytest.fixture(scope="session")
def saved(tmp_path_factory):
    """Return a file of the graph of ``queens:6``."""
    path = tmp_path_factory.mktemp("saved") / "queens.zdd"
    solution_graph("queens:6").save(path)
    return path


@pytest.fixture
def typed(monkeypatch):
    """Return a function that puts a text on standard input."""

    def give(text):
        file = io.BufferedReader(io.BytesIO(text.encode()))
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(file))

    return give


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Go to a new folder; return it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def _garbage_stays():
    """Disable garbage collection, which may call anything at any moment."""
    gc.disable()
    yield
    gc.enable()
