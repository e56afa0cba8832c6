"""Faults of a cluster whose machines share nothing: a soak of the three hosts of `hosts`.

A case is a command of one job on a fresh cluster of Dask or Ray, and one fault at a random moment.
The command must end by itself, with the right result, or with a documented error and exit code 2;
then the fault is mended, and ``--resume`` on the head alone must give that result: the same bytes
in the S3 server, the same solutions, the same sums. The seed and the number of a case determine all
of it, so a case can be repeated alone::

    python scripts/soak_hosts.py --faults 100 --seed 1
    python scripts/soak_hosts.py --seed 1 --case 17

Nodes note the tasks that they begin and end, so that a case tells how many were done by both. The
run is added to those in ``benchmarks/results/hosts_faults.json``.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import count, product
from pathlib import Path
from typing import Any

from host_clusters import HEAD, NODES, REPOSITORY, Cluster, batchsolve, put, stored
from hosts import Hosts, address
from measuring import about

HANG_SECONDS = 240.0  # Ray takes 20 s to notice a loss, and batchsolve waits 60 s for another
BACK_SECONDS = 4.0  # until a lost machine joins again
AWAY_SECONDS = 30.0  # for a cable that is out, or a machine that is halted
BUSY_SECONDS = 20.0  # for an S3 server that answers 503
TWICE_SECONDS = 150.0  # until another worker does the tasks of one that is cut off; Ray takes 80
LATE_SECONDS = 20.0  # for a worker that is back to end its tasks, or to be ended itself
TOO_LATE = "too late"  # the command had ended before its fault
ERROR = 2  # exit code of an error
NOTES = "/root/notes"
# a module that Python loads when it starts
NOTING = f"""
import hashlib, pickle
from batchsolve import workers
def note(word, task):
    with open({NOTES!r}, "a") as file:
        print(word, hashlib.sha256(pickle.dumps(task)).hexdigest(), file=file)
def noted(do, number, task, attempt=workers.attempt):
    note("begun", task)
    done = attempt(do, number, task)
    note("ended", task)
    return done
workers.attempt = noted
"""
CORPUS = REPOSITORY / "datasets" / "sudoku9.csv"
FILES, TIMES = 40, 10  # of the corpus, which has its rows so often

JOBS = {
    "solve": ["solve", address("in"), "-o", address("out"), "--engine", "dlx"],
    "count": ["count", "queens:14", "--run", "run", "--engine", "dlx"],
    "enumerate": ["enumerate", "queens:14", "-o", "run", "--engine", "dlx"],
}
KINDS = {"dask": 3, "ray": 1}  # and the weight of each
SPANS = {"first": (0.0, 0.15), "middle": (0.3, 0.7), "end": (0.8, 1.0)}  # of the usual duration


@dataclass
class Case:
    """A command on a cluster, and a fault.

    Attributes
    ----------
    number : int
    kind, job, fault, moment : str
    when : float
        The share of the usual duration of the command that has passed.
    told : str
        How the command ended.
    twice : int
        The tasks that both nodes have done.
    seconds : float
        Of the command, until it ended.
    said : str
        Its messages.
    failure : str
        The fault; empty if all was right.
    """

    number: int
    kind: str
    job: str
    fault: str
    moment: str
    when: float
    told: str = ""
    twice: int = 0
    seconds: float = 0.0
    said: str = ""
    failure: str = ""


class Trial:
    """A fresh cluster on fresh hosts, on which a fault is tried.

    Methods of `EARLY` are called before the workers join, and those of `LATE` while they work.
    """

    def __init__(self, hosts: Hosts, kind: str) -> None:
        self.hosts, self.cluster, self.node = hosts, Cluster(hosts, kind), NODES[0]

    def start(self, fault: str) -> None:
        """Start the cluster, with a fault that comes before."""
        notes = {"PYTHONPATH": "/root/noting"}
        for node in NODES:
            put = 'mkdir noting; printf %s "$0" > noting/sitecustomize.py'
            self.hosts.run(node, "sh", "-c", put, NOTING)
        early = EARLY[fault](self) if fault in EARLY else {}
        self.cluster.start(dict.fromkeys(NODES, notes) | {self.node: {**notes, **early}})

    def noted(self, node: str, word: str) -> set[str]:
        """Return the tasks that a node has begun, or ended; none if it was lost."""
        with suppress(SystemExit):
            lines = self.hosts.run(node, "cat", NOTES).stdout.splitlines()
            return {
                task for first, _, task in (line.partition(" ") for line in lines) if first == word
            }
        return set()

    def done_by(self, *nodes: str) -> set[str]:
        """Return the tasks that several nodes have done."""
        return set.intersection(*(self.noted(node, "ended") for node in nodes))

    def lost(self) -> None:
        """Cut the power of the node."""
        self.hosts.fault("lost", self.node)

    def lost_and_back(self) -> None:
        """Cut the power of the node; then it begins anew."""
        self.hosts.fault("lost", self.node)
        time.sleep(BACK_SECONDS)
        self.hosts.fault("none", self.node)
        self.cluster.join(self.node)

    def killed(self) -> None:
        """Kill all processes of the node."""
        self.hosts.fault("killed", self.node)

    def both_lost(self) -> None:
        """Cut the power of both nodes; one begins anew."""
        for node in NODES:
            self.hosts.fault("lost", node)
        time.sleep(BACK_SECONDS)
        self.hosts.fault("none", self.node)
        self.cluster.join(self.node)

    def cut_off(self) -> None:
        """Take the node's cable out for a while; its results come late, or twice."""
        self.hosts.fault("cut", self.node)
        time.sleep(AWAY_SECONDS)
        self.hosts.fault("none", self.node)

    def answers_twice(self) -> None:
        """Take the node's cable out until the other has done a task of it; then let it end, too."""
        _wait(lambda: self.noted(self.node, "begun") > self.noted(self.node, "ended"), LATE_SECONDS)
        self.hosts.fault("cut", self.node)

        def given() -> set[str]:
            return self.noted(self.node, "begun") & self.noted(NODES[1], "ended")

        _wait(lambda: bool(given()), TWICE_SECONDS)
        self.hosts.fault("none", self.node)
        _wait(lambda: given() <= self.noted(self.node, "ended"), LATE_SECONDS)

    def frozen(self) -> None:
        """Halt the node for a while, with open connections."""
        self.hosts.fault("frozen", self.node)
        time.sleep(AWAY_SECONDS)
        self.hosts.fault("none", self.node)

    def slow(self) -> None:
        """Make the node's cable slow."""
        self.hosts.fault("slow", self.node, "50", "10")

    def full(self) -> None:
        """Fill the node's disk."""
        self.hosts.fault("full", self.node)

    def head_full(self) -> None:
        """Fill the disk of the command's machine, where it keeps its run."""
        self.hosts.fault("full", HEAD)

    def scheduler_dies(self) -> None:
        """Kill the scheduler."""
        self.cluster.kill_scheduler()

    def store_busy(self) -> None:
        """Have the S3 server answer 503 for a while."""
        self.hosts.fault("busy", HEAD)
        time.sleep(BUSY_SECONDS)
        self.hosts.fault("none", HEAD)

    def clock(self) -> dict[str, str]:
        """Set the node's clock an hour late."""
        self.hosts.fault("clock", self.node, "-3600")
        return {}

    def level(self) -> dict[str, str]:
        """Have the node use another level of vectors."""
        return {"BATCHSOLVE_LEVEL": "baseline"}

    def version(self) -> dict[str, str]:
        """Give the node another version of this package."""
        copied = f"mkdir other && cp -r {REPOSITORY}/batchsolve other && sed -i "
        change = "'s/^__version__.*/__version__ = \"0.0.9\"/' other/batchsolve/__init__.py"
        self.hosts.run(self.node, "sh", "-c", copied + change)
        return {"PYTHONPATH": "/root/other"}


Late = Callable[[Trial], None]
LATE: dict[str, Late] = {
    "lost": Trial.lost,
    "lost and back": Trial.lost_and_back,
    "killed": Trial.killed,
    "both lost, one back": Trial.both_lost,
    "cut off for 30 s": Trial.cut_off,
    "answers twice": Trial.answers_twice,
    "frozen for 30 s": Trial.frozen,
    "slow cable": Trial.slow,
    "disk full": Trial.full,
    "disk of the command full": Trial.head_full,
    "scheduler dies": Trial.scheduler_dies,
    "S3 busy for 20 s": Trial.store_busy,
}
EARLY: dict[str, Callable[[Trial], dict[str, str]]] = {
    "clock an hour off": Trial.clock,
    "another vector level": Trial.level,
    "another version": Trial.version,
}
FAULTS = (*LATE, *EARLY)
# what a command may say when it ends with an error; "answers" if it had not yet joined the cluster
DOCUMENTED = (
    *("no worker is left", "the scheduler is lost", "the head is lost", "No space left"),
    *("no Dask scheduler answers", "no Ray cluster answers"),
    *("has batchsolve 0.0.9", "is full", "SLOW_DOWN", "503"),
)


def _wait(come: Callable[[], bool], seconds: float) -> None:
    """Wait until something has come, but no longer than some seconds."""
    end = time.monotonic() + seconds
    while not come() and time.monotonic() < end:
        time.sleep(0.5)


class WrongError(Exception):
    """A fault of the program under test."""


class Soak:
    """A soak: it runs cases and tallies their results.

    Parameters
    ----------
    name : str
        Of its hosts.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self.wanted: dict[str, str] = {}  # job -> its result without a fault
        self.usual: dict[tuple[str, str], tuple[float, float]] = {}  # kind, job -> begin, seconds
        self.cases: list[Case] = []

    @property
    def n_faults(self) -> int:
        """The number of faults that came while a command ran."""
        return sum(case.told != TOO_LATE for case in self.cases)

    def prepare(self, kinds: list[str], jobs: list[str]) -> None:
        """Run all jobs without faults, on the head alone and on clusters."""
        with Hosts(self._name) as hosts:
            self._put(hosts)
            for job in jobs:
                self._undisturbed(hosts, job, [])
                self.wanted[job] = self._result(hosts, job)
        for kind in kinds:
            with Hosts(self._name) as hosts:
                self._put(hosts)
                cluster = Cluster(hosts, kind)
                cluster.start()
                for job in jobs:
                    self.usual[kind, job] = self._undisturbed(hosts, job, cluster.options)
                    if self._result(hosts, job) != self.wanted[job]:
                        raise SystemExit(f"{kind}, undisturbed: {job} gives another result")

    def _put(self, hosts: Hosts) -> None:
        put(hosts, CORPUS, "in", FILES, TIMES)

    def _undisturbed(self, hosts: Hosts, job: str, workers: list[str]) -> tuple[float, float]:
        hosts.run(HEAD, "sh", "-c", "rm -rf run")
        folder = address(f"out{len(workers)}")
        words = [folder if word == address("out") else word for word in JOBS[job]]
        begin = time.monotonic()
        done = batchsolve(hosts, *words, "--quiet", "--json", *workers)
        if done.returncode:
            raise SystemExit(f"{job}, undisturbed: {done.stderr}")
        self._facts = done.stdout
        self._folder = f"out{len(workers)}"
        seconds = json.loads(done.stdout)["seconds"]
        return time.monotonic() - begin - seconds, seconds

    def _result(self, hosts: Hosts, job: str, facts: str = "", folder: str = "") -> str:
        """Return what has come of a job, in a form that equal results share."""
        if job == "solve":
            return str(stored(hosts, folder or self._folder))
        if job == "enumerate":
            made = batchsolve(hosts, "export", "run", "-o", "/root/all.csv")
            if made.returncode:
                raise WrongError(f"the run cannot be exported: {made.stderr}")
            told = hosts.run(HEAD, "sha256sum", "/root/all.csv").stdout.split()[0]
            hosts.run(HEAD, "rm", "/root/all.csv")
            return told
        found = json.loads(facts or self._facts)
        return f"{found['count']} in {found['nodes']} nodes, {found['failures'] or 'all'}"

    def run(self, case: Case) -> Case:
        """Run a case, and note its result."""
        with Hosts(self._name) as hosts:
            self._put(hosts)
            trial = Trial(hosts, case.kind)
            trial.start(case.fault)
            try:
                found = self._through(case, trial)
                case.twice = len(trial.done_by(*NODES))
                if found != self.wanted[case.job]:
                    raise WrongError(f"came to {found}, and not to {self.wanted[case.job]}")
            except (WrongError, ValueError, KeyError) as error:
                case.failure = f"{type(error).__name__}: {error}"
        self.cases.append(case)
        return case

    def _through(self, case: Case, trial: Trial) -> str:
        """Run the command of a case through its fault, and resume it; return its result."""
        code, printed = self._command(case, trial)
        case.told = case.told or "by itself"
        if case.told == TOO_LATE:  # this machine has become faster
            begins, _ = self.usual[case.kind, case.job]
            self.usual[case.kind, case.job] = begins, json.loads(printed)["seconds"]
        if code == ERROR:
            case.told = "resumed"
            for host in (HEAD, *NODES):
                trial.hosts.fault("none", host)
            how = "--quiet", "--json", "--resume", "--jobs", "2"
            again = batchsolve(trial.hosts, *JOBS[case.job], *how)
            printed, code = again.stdout, again.returncode
            case.said += again.stderr
        if code or "Traceback" in case.said:
            raise WrongError(f"exit code {code}")
        return self._result(trial.hosts, case.job, printed, "out")

    def _command(self, case: Case, trial: Trial) -> tuple[int, str]:
        words = [sys.executable, "-m", "batchsolve", *JOBS[case.job], "--quiet", "--json"]
        begin = time.monotonic()
        pipe: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        process = trial.hosts.popen(HEAD, *words, *trial.cluster.options, **pipe)
        over = threading.Event()

        def disturb() -> None:
            begins, lasts = self.usual[case.kind, case.job]
            if over.wait(begins + case.when * lasts):
                case.told = TOO_LATE
            else:
                LATE[case.fault](trial)

        thread = threading.Thread(target=disturb if case.fault in LATE else over.wait)
        thread.start()
        try:
            printed, case.said = process.communicate(timeout=HANG_SECONDS)
        except subprocess.TimeoutExpired:
            trial.hosts.fault("killed", HEAD)
            case.said = process.communicate()[1]
            case.told = "hung"
            raise WrongError(f"hung for {HANG_SECONDS:.0f} s") from None
        finally:
            case.seconds = round(time.monotonic() - begin, 1)
            over.set()
            thread.join()
        case.said = "\n".join(line for line in case.said.splitlines() if "whoever" not in line)
        if process.returncode not in (0, ERROR):
            raise WrongError(f"exit code {process.returncode}")
        if process.returncode and not any(words in case.said for words in DOCUMENTED):
            raise WrongError("an error that is not documented")
        return process.returncode, printed


def draw(seed: int, number: int, kinds: list[str], jobs: list[str], faults: list[str]) -> Case:
    """Return the case of a number."""
    rng = random.Random(f"{seed}/{number}")
    [kind] = rng.choices(kinds, [KINDS[name] for name in kinds])
    moment = rng.choice([*SPANS])
    when = rng.uniform(*SPANS[moment])
    return Case(number, kind, rng.choice(jobs), rng.choice(faults), moment, round(when, 3))


def sums_of(cases: list[Case], *names: str) -> dict[str, dict[str, int]]:
    """Return how often each fate came, by some attributes of cases."""
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    for case in cases:
        fate = "failed" if case.failure else case.told
        sums[", ".join(getattr(case, name) for name in names)][fate] += 1
    return {name: dict(told) for name, told in sorted(sums.items())}


def with_run(before: dict[str, Any], run: dict[str, Any]) -> dict[str, Any]:
    """Return the record of earlier soaks, with one more run and the sums of all."""
    runs = [*before.get("runs", []), run]
    fates = [case["told"] for each in runs for case in each["cases"]]
    sums = {
        "random faults": sum(each["faults"] for each in runs),
        "came too late": fates.count(TOO_LATE),
        "hangs": fates.count("hung"),
        "failures": [case for each in runs for case in each["failures"]],
    }
    return {**before, **sums, "runs": runs}


def report(soak: Soak, seed: int, seconds: float) -> dict[str, Any]:
    """Return all results of a soak."""
    return {
        **about(),
        "seed": seed,
        "faults": soak.n_faults,
        "seconds": round(seconds),
        "hangs": sum(case.told == "hung" for case in soak.cases),
        "failures": [asdict(case) for case in soak.cases if case.failure],
        "usual seconds": {" ".join(key): round(value[1], 1) for key, value in soak.usual.items()},
        "by fault": sums_of(soak.cases, "kind", "fault"),
        "by job": sums_of(soak.cases, "kind", "job"),
        "by moment": sums_of(soak.cases, "moment"),
        "cases": [asdict(case) for case in soak.cases],
    }


def main() -> int:
    """Run the soak that the command line describes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--faults", type=int, default=100, help="stop after this many")
    parser.add_argument("--minutes", type=float, help="stop after this many")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--case", type=int, nargs="+", help="run these cases alone")
    parser.add_argument("--each", action="store_true", help="try every fault once, not at random")
    for name, all_of_them in (("kinds", KINDS), ("jobs", JOBS), ("names", FAULTS)):
        parser.add_argument(f"--{name}", default=";".join(all_of_them), metavar="A;B")
    parser.add_argument("--name", default="soak", help="of its hosts")
    where = "benchmarks/results/hosts_faults.json"
    parser.add_argument("--out", default=where, help="the run is added to those in this file")
    chosen = parser.parse_args()
    begin = time.monotonic()
    end = begin + 60 * chosen.minutes if chosen.minutes else float("inf")
    kinds, jobs, faults = (getattr(chosen, n).split(";") for n in ("kinds", "jobs", "names"))
    out = Path(chosen.out)
    before = json.loads(out.read_text()) if out.exists() else {}
    soak = Soak(chosen.name)
    soak.prepare(kinds, jobs)

    def cases() -> Iterator[Case]:
        if chosen.each:
            for number, (kind, fault, job) in enumerate(product(kinds, faults, jobs)):
                yield Case(number, kind, job, fault, "middle", 0.3)
            return
        numbers = count() if chosen.case is None else chosen.case
        yield from (draw(chosen.seed, number, kinds, jobs, faults) for number in numbers)

    with suppress(KeyboardInterrupt):
        for case in cases():
            soak.run(case)
            print(json.dumps(asdict(case), indent=1), flush=True)
            if chosen.case is None:
                run = report(soak, chosen.seed, time.monotonic() - begin)
                out.write_text(f"{json.dumps(with_run(before, run), indent=1)}\n")
            if time.monotonic() > end or soak.n_faults >= chosen.faults:
                break
    failed = [case for case in soak.cases if case.failure]
    print(f"{soak.n_faults} faults, {len(failed)} failures")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
