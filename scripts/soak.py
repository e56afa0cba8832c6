"""Kill runs, resume them, and check their results: a soak.

A case is a command of one job on one backend. At a random moment of the run, a signal goes to its
process, to one worker, to all workers, or to the whole group as from a terminal; a second kill may
follow while the run continues with ``--resume``. The end must have the same bytes, the same set of
solutions and the same sums as a run without a kill; each exit code must be the documented one, with
no traceback; and no files or processes may stay behind. The seed and the number of a case determine
all of it, so a case can be repeated alone::

    python scripts/soak.py --kills 1000 --seed 1
    python scripts/soak.py --seed 1 --case 417

The table goes to ``benchmarks/results/soak.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, field, fields
from itertools import count, islice
from pathlib import Path
from typing import Any

from measuring import about
from soak_jobs import HOME, Cluster, is_worker, jobs_in, processes

HANG_SECONDS = 180.0  # three times as long as a backend waits for another worker
LEAVE_SECONDS = 100.0  # for processes that outlive their command; agents of Ray take 63
LOOK_SECONDS = 0.02
MOST_RESUMES = 6
AGAIN = 0.6  # chance of another kill while the run is resumed
ERROR = 2  # exit code of an error
OF_SIGNAL = {"SIGINT": 130, "SIGTERM": 143}

BACKENDS = {  # and the weight of each; clusters take seconds to start
    "threading": 56,
    "loky": 28,
    "dask": 3,
    "dask-cluster": 6,
    "ray": 2,
    "ray-cluster": 5,
}
JOBS = (
    *("solve-csv", "solve-gz", "solve-parquet", "solve-jsonl", "solve-folder", "solve-canonical"),
    *("augment", "dedupe", "dedupe-symmetry"),
    *("enumerate", "enumerate-bounds", "enumerate-best", "enumerate-symmetry", "count", "scale"),
    *("count-instances", "solve-instances"),
)
SIGNALS = ("SIGKILL", "SIGTERM", "SIGINT")
VICTIMS = ("parent", "worker", "workers", "group", "node")
ENDED = "is not empty, and has no journal"  # the message about the folder of a finished run
MOMENTS = ("first", "uniform", "end")  # of a run that begins; another is "resume"
SPANS = {"first": (0.0, 0.1), "end": (0.7, 1.0)}  # seconds, and shares of the usual duration

# Every step is recorded at once, not one a second: a short run gets many gaps for a kill to hit.
EAGER = """
from unittest.mock import patch
import batchsolve.__main__ as program
patch("batchsolve.runs.specs.JOURNAL_SECONDS", 0).start()
patch("batchsolve.search.tree.STEP_SECONDS", 0).start()
program.main()
"""


@dataclass(frozen=True)
class Kill:
    """A signal, its victim and its moment.

    Attributes
    ----------
    signal, victim, moment : str
    when : float
        Seconds after the start if the moment is ``first``, else a share of the usual duration.
    """

    signal: str
    victim: str
    moment: str
    when: float

    def __str__(self) -> str:
        return f"{self.signal} to {self.victim}, {self.moment} {self.when:.3f}"


@dataclass
class Case:
    """One job on one backend, with its kills.

    Attributes
    ----------
    number : int
    job, backend : str
    eager : bool
        True if every step is recorded at once.
    kills : list of Kill
        One for the first command, and perhaps some for the commands that resume it.
    told : list of str
        The fate of each command.
    failure : str
        The fault; empty if all was right.
    hung : bool
    """

    number: int
    job: str
    backend: str
    eager: bool
    kills: list[Kill]
    told: list[str] = field(default_factory=list)
    failure: str = ""
    hung: bool = False

    @property
    def name(self) -> str:
        """The job and the backend."""
        return f"{self.job}/{self.backend}"


@dataclass(frozen=True)
class Choice:
    """The values to draw cases from; see the constants of these names."""

    jobs: list[str]
    backends: list[str]
    signals: list[str]
    victims: list[str]
    moments: list[str]

    def draw(self, seed: int, number: int) -> Case:
        """Return the case of a number."""
        rng = random.Random(f"{seed}/{number}")
        [backend] = rng.choices(self.backends, [BACKENDS[name] for name in self.backends])
        job, eager, kills = rng.choice(self.jobs), rng.random() < 0.5, list[Kill]()
        while not kills or (rng.random() < AGAIN and len(kills) < MOST_RESUMES):
            moment = "resume" if kills else rng.choice(self.moments)
            when = rng.random()
            if moment in SPANS:
                begin, end = SPANS[moment]
                when = begin + (end - begin) * when
            victims = list(self.victims)
            if backend != "ray-cluster":
                victims = [name for name in victims if name != "node"]
            if backend == "threading" or moment == "first":  # no workers, or none yet
                victims = [name for name in victims if name in ("parent", "group")] or ["parent"]
            victim = rng.choice(victims)
            how = "SIGKILL" if victim == "node" else rng.choice(self.signals)
            kills.append(Kill(how, victim, moment, when))
        return Case(number, job, backend, eager, kills)


class WrongError(Exception):
    """A fault of the program under test."""


class Soak:
    """A soak: it runs cases and tallies their results.

    Parameters
    ----------
    seed : int
    home : Path
        An empty folder.
    backends : list of str
    """

    def __init__(self, seed: int, home: Path, backends: list[str]) -> None:
        self.seed, self.home, self.backends = seed, home, backends
        (home / "inputs").mkdir()
        self.jobs = jobs_in(home / "inputs")
        self.wanted: dict[str, str] = {}  # job -> its result without kills
        self.seconds: dict[str, deque[float]] = defaultdict(lambda: deque(maxlen=9))
        self.table: Counter[tuple[str, ...]] = Counter()
        self.failures: list[dict[str, Any]] = []
        self.kills = self.cases = 0
        self._clusters: dict[str, Cluster] = {}
        self._alone = {name: threading.Lock() for name in backends if "-" in name}
        self._lock = threading.Lock()

    def prepare(self, names: list[str], backends: list[str], at_once: int = 1) -> None:
        """Run all jobs without kills; record the result of each and its duration on a backend."""
        for backend in backends:
            if "-" in backend:
                self._clusters[backend] = Cluster(backend.partition("-")[0])
        here = [Case(-1, job, backends[0], False, []) for job in names]
        there = [Case(-1, names[0], backend, False, []) for backend in backends[1:]]
        with ThreadPoolExecutor(at_once) as threads:
            for case in threads.map(self.run, here + there):
                if case.failure:
                    raise SystemExit(f"{case.name}, undisturbed: {case.failure}")

    def close(self) -> None:
        """Stop the clusters."""
        for cluster in self._clusters.values():
            cluster.close()

    def run_all(self, cases: Iterator[Case], kills: int, at_once: int = 1) -> Iterator[Case]:
        """Run cases until `kills` signals were sent; yield each case when it ends."""
        with ThreadPoolExecutor(at_once) as threads:
            running = {threads.submit(self.run, case) for case in islice(cases, at_once)}
            while running:
                ended, running = wait(running, return_when=FIRST_COMPLETED)
                for future in ended:
                    if self.kills < kills:
                        running.add(threads.submit(self.run, next(cases)))
                    yield future.result()

    def run(self, case: Case) -> Case:
        """Run a case, and tally its result."""
        with self._alone.get(case.backend, nullcontext()):
            cluster = self._clusters.get(case.backend)
            with cluster.mended() if cluster else nullcontext():
                self._in_folder(case)
        with self._lock:
            self.cases += bool(case.kills)
            for kill, told in zip(case.kills, case.told, strict=False):
                row = (case.job, case.backend, kill.signal, kill.victim, kill.moment)
                self.table[*row, told] += 1
                self.kills += told != "too late"
            if case.failure:
                self.failures.append(asdict(case))
        return case

    def _in_folder(self, case: Case) -> None:
        folder = self.home / f"case{case.number}-{case.job}-{case.backend}-{case.eager}"
        folder.mkdir()
        try:
            result = self._through(case, folder)
            wanted = self.wanted.setdefault(case.job, result)
            if result != wanted:
                raise WrongError(f"came to {result}, and not to {wanted}")
        except (WrongError, OSError, ValueError) as error:
            case.failure = f"{type(error).__name__}: {error}"
        shutil.rmtree(folder)

    def _through(self, case: Case, folder: Path) -> str:
        """Run a command until it ends by itself, through all kills; return its result."""
        job = self.jobs[case.job]
        for begun in count():
            kill = case.kills[begun] if begun < len(case.kills) else None
            if begun > len(case.kills):
                raise WrongError("does not end with the output of a run without kills")
            code, printed = self._command(case, folder, begun, kill)
            if code == job.code:
                break
        result = job.result(folder, begun, printed)
        left = set(os.listdir(folder)) - {"messages", *(job.files or ())}
        if job.files is not None and left:
            raise WrongError(f"left behind: {sorted(left)}")
        return result

    def _command(self, case: Case, folder: Path, begun: int, kill: Kill | None) -> tuple[int, str]:
        """Run a command once; return its exit code and output."""
        start = time.monotonic()
        with open(folder / "messages", "w+") as messages, tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(
                self._line(case, self.jobs[case.job].arguments(folder, begun)),
                stdout=output,
                stderr=messages,
                start_new_session=True,
                env={**os.environ, "PYTHONFAULTHANDLER": "1"},
            )
            try:
                sent = kill is not None and self._kill(process, kill, case)
                code = process.wait(HANG_SECONDS)
                if not sent and begun == 0:
                    for name in (case.name, case.backend):
                        self.seconds[name].append(time.monotonic() - start)
                self._check_nobody_left(process.pid)
            except subprocess.TimeoutExpired:
                case.hung = True
                process.send_signal(signal.SIGABRT)  # it logs what each thread waits for
                process.wait()
                code = -signal.SIGABRT
            finally:
                kill_session(process.pid)
            messages.seek(0)
            output.seek(0)
            said, printed = messages.read(), output.read()
        if begun and ENDED in said:  # the kill before came after the last step
            code = self.jobs[case.job].code
        self._tell(case, kill, sent, code, said)
        if sent and code == 1 and before_the_program(said):  # perhaps Python's own
            code = ERROR
        return code, printed

    def _line(self, case: Case, arguments: list[str]) -> list[str]:
        """Return the whole command line."""
        program = ["-c", EAGER] if case.eager else ["-m", "batchsolve"]
        kind = case.backend.partition("-")[0]
        workers = ["--jobs", "2"]
        if case.backend in self._clusters:
            workers = workers if kind == "ray" else []
            workers += ["--scheduler", self._clusters[case.backend].address]
        return [sys.executable, *program, *arguments, "--quiet", "--backend", kind, *workers]

    def _kill(self, process: subprocess.Popen[Any], kill: Kill, case: Case) -> bool:
        """Wait for the moment, and kill; return False if no victim was left."""
        usual = statistics.median(self.seconds[case.name] or self.seconds[case.backend])
        wait = kill.when if kill.moment == "first" else kill.when * usual
        with suppress(subprocess.TimeoutExpired):
            process.wait(wait)
        if kill.victim == "node" and process.poll() is None:
            self._clusters[case.backend].lose_node()
            return True
        how, n_sent = getattr(signal, kill.signal), 0
        victims = [process.pid]
        if kill.victim in ("worker", "workers"):
            victims = self._workers(process.pid, case.backend)
            victims = victims[: 1 if kill.victim == "worker" else None]
        for pid in victims:
            if process.poll() is not None:
                break
            with suppress(ProcessLookupError):
                (os.killpg if kill.victim == "group" else os.kill)(pid, how)
                n_sent += 1
        return n_sent > 0

    def _workers(self, parent: int, backend: str) -> list[int]:
        if backend in self._clusters:
            return self._clusters[backend].workers()
        return [each.pid for each in processes() if each.session == parent and is_worker(each)]

    def _check_nobody_left(self, session: int) -> None:
        deadline = time.monotonic() + LEAVE_SECONDS
        while left := [each.command for each in processes() if each.session == session]:
            if time.monotonic() > deadline:
                raise WrongError(f"processes are left: {left}")
            time.sleep(LOOK_SECONDS)

    def _tell(self, case: Case, kill: Kill | None, sent: bool, code: int, said: str) -> None:
        """Note the end of a command; raise unless it is as documented."""
        told = "resumed" if sent else "too late"
        whole = self.jobs[case.job].code
        if sent and code == whole:
            told = "by itself"
        allowed = {whole}
        if kill is not None and sent:
            at_once = -getattr(signal, kill.signal)
            of_parent = OF_SIGNAL.get(kill.signal, at_once)
            allowed.add(of_parent if kill.victim in ("parent", "group") else ERROR)
            if kill.signal == "SIGINT" and before_the_program(said):
                allowed |= {at_once, 1}
            elif kill.signal == "SIGTERM":  # outside of the search; 143 in a shell
                allowed.add(at_once)
        wrong = code not in allowed or case.hung
        wrong |= "Traceback" in said and not before_the_program(said)
        case.told.append("failed" if wrong else told)
        if case.hung:
            raise WrongError(f"hung for {HANG_SECONDS:.0f} s: {said[-8000:]}")
        if wrong:
            raise WrongError(f"exit code {code} and not in {sorted(allowed)}: {said[-3000:]}")


def before_the_program(said: str) -> bool:
    """Return True if the messages are empty, or a Ctrl-C traceback from before the program.

    Ctrl-C gives such a traceback until the first two files of the package are read; while Python
    shuts down, Ctrl-C ends it at once, with 130 in a shell.
    """
    ours = rf"{re.escape(str(HOME))}/batchsolve/(?!__init__\.py|__main__\.py)"
    return not said or ("KeyboardInterrupt" in said and not re.search(ours, said))


def kill_session(session: int) -> None:
    """Kill the remaining processes of a command."""
    for each in list(processes()):
        if each.session == session:
            with suppress(ProcessLookupError):
                os.kill(each.pid, signal.SIGKILL)


def rows_of(table: Counter[tuple[str, ...]]) -> list[dict[str, Any]]:
    """Return the table: a row for each job, backend, signal, victim and moment."""
    rows: dict[tuple[str, ...], dict[str, int]] = defaultdict(dict)
    for (*what, told), n in sorted(table.items()):
        rows[tuple(what)][told] = n
    names = ("job", "backend", "signal", "victim", "moment")
    return [{**dict(zip(names, what, strict=True)), **told} for what, told in rows.items()]


def sums_of(table: Counter[tuple[str, ...]], *places: int) -> dict[str, dict[str, int]]:
    """Return the sums of the table over all but some of its columns."""
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    for (*what, told), n in sorted(table.items()):
        sums[", ".join(what[place] for place in places)][told] += n
    return {name: dict(told) for name, told in sums.items()}


def report(soak: Soak, seconds: float) -> dict[str, Any]:
    """Return all results of a soak."""
    return {
        **about(),
        "seed": soak.seed,
        "cases": soak.cases,
        "kills": soak.kills,
        "seconds": round(seconds),
        "hangs": sum(failure["hung"] for failure in soak.failures),
        "failures": soak.failures,
        "by job": sums_of(soak.table, 0),
        "by backend": sums_of(soak.table, 1),
        "by signal and victim": sums_of(soak.table, 2, 3),
        "by moment": sums_of(soak.table, 4),
        "table": rows_of(soak.table),
    }


def as_text(results: dict[str, Any]) -> str:
    """Return the report as JSON, with a line for each row of the table."""
    rest = json.dumps({**results, "table": []}, indent=1)
    rows = ",\n".join("  " + json.dumps(row) for row in results["table"])
    return rest.removesuffix("[]\n}") + f"[\n{rows}\n ]\n}}\n"


def main() -> int:
    """Run the soak that the command line describes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=1000, help="stop after this many")
    parser.add_argument("--minutes", type=float, help="stop after this many")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, help="run this case alone")
    for name, all_of_them in (
        ("jobs", JOBS),
        ("backends", BACKENDS),
        ("signals", SIGNALS),
        ("victims", VICTIMS),
        ("moments", MOMENTS),
    ):
        parser.add_argument(f"--{name}", default=",".join(all_of_them), metavar="LIST")
    parser.add_argument("--at-once", type=int, default=1, help="cases that run side by side")
    parser.add_argument("--folder", help="where the runs write to")
    parser.add_argument("--out", default="benchmarks/results/soak.json")
    chosen = parser.parse_args()
    # commands inherit it, even under nohup
    signal.signal(signal.SIGINT, signal.default_int_handler)
    begin = time.monotonic()
    end = begin + 60 * chosen.minutes if chosen.minutes else float("inf")
    named = {f.name: getattr(chosen, f.name).split(",") for f in fields(Choice)}
    choice = Choice(**named)
    with tempfile.TemporaryDirectory(prefix="soak-", dir=chosen.folder) as home:
        soak = Soak(chosen.seed, Path(home), choice.backends)
        cases = (choice.draw(chosen.seed, number) for number in count())
        try:
            if chosen.case is not None:
                case = choice.draw(chosen.seed, chosen.case)
                soak.prepare([case.job], [case.backend])
                print(json.dumps(asdict(soak.run(case)), indent=1))
                return int(bool(case.failure))
            soak.prepare(choice.jobs, choice.backends, chosen.at_once)

            for case in soak.run_all(cases, chosen.kills, chosen.at_once):
                killed = "; ".join(map(str, case.kills))
                print(f"{soak.kills} kills; case {case.number}, {case.name}: {killed}: {case.told}")
                if case.failure:
                    print(f"case {case.number} failed: {case.failure}", file=sys.stderr, flush=True)
                Path(chosen.out).write_text(as_text(report(soak, time.monotonic() - begin)))
                if time.monotonic() > end:
                    break
        finally:
            soak.close()
    print(f"{soak.kills} kills in {soak.cases} cases, {len(soak.failures)} failures")
    return int(bool(soak.failures))


if __name__ == "__main__":
    sys.exit(main())
