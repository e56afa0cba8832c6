"""Three hosts on one machine that share nothing but an S3 server, and faults of them.

    python scripts/hosts.py up                 # head (10.77.0.1), node1 (.2) and node2 (.3)
    python scripts/hosts.py run node1 hostname
    python scripts/hosts.py fault cut node1    # and `fault none node1` to mend it
    python scripts/hosts.py traffic            # bytes that each host has sent and received
    python scripts/hosts.py down

A host has its own network, processes, name, clock offset, and one disk in memory for ``/tmp``,
``/root``, ``/home`` and ``/run``; the rest of the machine it can read only. The head runs an S3
server, moto, at ``http://head:9000`` with the bucket ``corpora``. It takes root, and util-linux and
iproute2; nothing is changed outside these namespaces but a folder in ``/run``.

=========  =====================================================================================
fault      effect
=========  =====================================================================================
lost       its power fails: its namespaces are gone, and others hear nothing
killed     all its processes are killed, and its system closes their connections
cut        its cable is out; what it does goes on
frozen     its processes are stopped
full       its disk has no byte left
busy       its S3 server answers 503
clock S    its clock is S seconds off, for commands that begin later
slow MS M  its packets arrive MS milliseconds late, at M megabits a second in each direction
none       all of these end; a host that was lost begins anew
=========  =====================================================================================
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

HERE = Path(__file__).resolve()
NAMES = ("head", "node1", "node2")
ADDRESSES = {name: f"10.77.0.{k}" for k, name in enumerate(NAMES, 1)}
SWITCH = "switch"
STATES = Path("/run/batchsolve-hosts")
DISK_MB = 512
OWN = ("tmp", "root", "home", "run", "var/tmp")  # folders of a host's disk
FILLER, BUSY = "/run/filler", "/run/busy"
REQUESTS = "/run/requests"  # to the S3 server, a line each
ASKED = "REMOTE_ADDR", "REQUEST_METHOD", "PATH_INFO", "HTTP_RANGE"
STORE_PORT = 9000
BUCKET = "corpora"
START_SECONDS = 30.0
NEEDED = ("ip", "tc", "unshare", "nsenter", "mount")
NAMESPACES = ("--net", "--uts", "--ipc", "--pid", "--mount")
KEYS = {
    "AWS_ACCESS_KEY_ID": "key",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "AWS_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",  # else clients look for a cloud for some seconds
}
CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static long off(void) { const char *s = getenv("CLOCK_OFF"); return s ? atol(s) : 0; }
int clock_gettime(clockid_t id, struct timespec *at) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int code = real(id, at);
    if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) at->tv_sec += off();
    return code;
}
int gettimeofday(struct timeval *at, void *zone) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}
"""


def missing() -> str:
    """Return what hosts lack on this machine; empty if they can be started."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "hosts need root"
    if lacking := [name for name in NEEDED if shutil.which(name) is None]:
        return f"hosts need {', '.join(lacking)}"
    tried = subprocess.run(["unshare", *NAMESPACES, "--fork", "true"], capture_output=True)
    return "" if tried.returncode == 0 else "this machine allows no namespaces"


def _do(*words: str, **how: Any) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True, **how).stdout


class Hosts:
    """Three hosts.

    Parameters
    ----------
    name : str
        Tells several sets of hosts on one machine from each other.
    """

    def __init__(self, name: str = "hosts") -> None:
        self._folder = STATES / name

    def __enter__(self) -> Hosts:
        self.up()
        return self

    def __exit__(self, *error: Any) -> None:
        self.down()

    def up(self) -> None:
        """Start the hosts, and the S3 server where moto is installed."""
        self.down()
        self._folder.mkdir(parents=True)
        try:
            self._start(SWITCH)
            self._in_switch("ip", "link", "add", "lan", "type", "bridge")
            self._in_switch("ip", "link", "set", "lan", "up")
            for name in NAMES:
                self._join(name)
        except BaseException:
            self.down()
            raise

    def down(self) -> None:
        """End the hosts and all of their processes; do nothing if there are none."""
        for name in (*NAMES, SWITCH):
            self._end(name)
        shutil.rmtree(self._folder, ignore_errors=True)
        with suppress(OSError):
            STATES.rmdir()

    def popen(self, host: str, *command: str, **how: Any) -> subprocess.Popen[Any]:
        """Start a command on a host; the keywords are those of `subprocess.Popen`."""
        env = {**os.environ, **how.pop("env", {}), **KEYS, "HOME": "/root", "TMPDIR": "/tmp"}
        env["PATH"] = f"{sys.prefix}/bin:{env.get('PATH', os.defpath)}"
        env["PYTHONPATH"] = f"{env.get('PYTHONPATH', '')}:{HERE.parents[1]}".strip(":")
        if (off := self._folder / f"{host}.clock").exists():
            env |= {"LD_PRELOAD": str(self._clock()), "CLOCK_OFF": off.read_text()}
        enter = ["nsenter", "-t", str(self._pid(host)), "-n", "-m", "-u", "-i", "-p"]
        return subprocess.Popen(
            [*enter, "sh", "-c", 'cd && exec "$@"', "sh", *command], env=env, **how
        )

    def run(self, host: str, *command: str, **how: Any) -> subprocess.CompletedProcess[str]:
        """Run a command on a host to its end, and keep what it prints."""
        timeout = how.pop("timeout", None)
        pipe = subprocess.PIPE
        with self.popen(host, *command, stdout=pipe, stderr=pipe, text=True, **how) as process:
            out, err = process.communicate(timeout=timeout)
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    def fault(self, kind: str, host: str, *values: str) -> None:
        """Cause a fault of a host; see the table of this module."""
        if kind not in self.faults:
            raise SystemExit(f"unknown fault {kind!r}; choose from {', '.join(self.faults)}")
        self.faults[kind](self, host, *values)

    def traffic(self) -> dict[str, dict[str, int]]:
        """Return the bytes and packets that each host has sent and received."""
        links = json.loads(self._in_switch("ip", "-s", "-j", "link"))
        seen = {link["ifname"]: link["stats64"] for link in links}
        return {
            name: {
                f"{way}_{what}": seen[name][side][what]
                for way, side in (("sent", "rx"), ("received", "tx"))  # as the switch sees it
                for what in ("bytes", "packets")
            }
            for name in NAMES
            if name in seen
        }

    # ---- one host -------------------------------------------------------------------------

    def _pid(self, host: str) -> int:
        """Return the process that all others of a host descend from."""
        try:
            return int((self._folder / host).read_text())
        except FileNotFoundError:
            raise SystemExit(f"there is no host {host!r}; `hosts.py up` starts them") from None

    def _start(self, host: str) -> None:
        state = self._folder / host
        command = [sys.executable, str(HERE), "_init", host, str(state)]
        begun = subprocess.Popen(
            ["unshare", *NAMESPACES, "--fork", "--propagation", "private", *command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
        )
        assert begun.stdout is not None
        with begun.stdout as told:
            pid = told.readline().strip()
        if not pid:
            raise SystemExit(f"the host {host} did not start")
        state.write_text(pid)

    def _join(self, host: str) -> None:
        self._start(host)
        self._plug(host)
        if host == NAMES[0]:
            self._serve(host)

    def _end(self, host: str) -> None:
        with suppress(SystemExit, ProcessLookupError):
            pid = self._pid(host)
            if f"_init\0{host}\0{self._folder / host}".encode() in _command(pid):
                os.kill(pid, signal.SIGKILL)  # and with it all processes of its namespace
                self._wake(pid)
                _wait_for(lambda: not _command(pid), f"the end of {host}")
        for path in self._folder.glob(f"{host}*"):
            path.unlink()

    def _serve(self, host: str) -> None:
        with suppress(ImportError):
            import moto  # noqa: F401

            self.popen(
                host,
                *(sys.executable, str(HERE), "_store"),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            ready = [sys.executable, str(HERE), "_bucket"]
            if (made := self.run(host, *ready)).returncode:
                raise SystemExit(f"the S3 server did not start: {made.stderr}")

    # ---- the network ----------------------------------------------------------------------

    def _in_switch(self, *words: str) -> str:
        return _do("nsenter", "-t", str(self._pid(SWITCH)), "-n", *words)

    def _in_net(self, host: str, *words: str) -> str:
        return _do("nsenter", "-t", str(self._pid(host)), "-n", *words)

    def _plug(self, host: str) -> None:
        """Connect a host to the switch by a fast cable."""
        there = ["type", "veth", "peer", "name", "eth0", "netns", str(self._pid(host))]
        self._in_switch("ip", "link", "add", host, *there)
        self._address(host)

    def _unplug(self, host: str) -> None:
        with suppress(subprocess.CalledProcessError):
            self._in_switch("ip", "link", "del", host)

    def _address(self, host: str) -> None:
        """Give the two ends of a cable what the last one had, so that connections last."""
        number = ADDRESSES[host].rpartition(".")[2]
        own = f"02:00:00:00:00:{int(number):02x}"
        self._in_switch("ip", "link", "set", host, "master", "lan", "up")
        self._in_net(host, "ip", "link", "set", "eth0", "address", own, "up")
        self._in_net(host, "ip", "address", "add", f"{ADDRESSES[host]}/24", "dev", "eth0")

    # ---- faults ---------------------------------------------------------------------------

    def _lose(self, host: str) -> None:
        self._unplug(host)  # first, or its system would close its connections
        self._end(host)

    def _kill(self, host: str) -> None:
        self.run(host, "kill", "-KILL", "-1")

    def _freeze(self, host: str) -> None:
        self.run(host, "kill", "-STOP", "-1")

    def _cut(self, host: str) -> None:
        self._in_switch("ip", "link", "set", host, "down")

    def _fill(self, host: str) -> None:
        self.run(host, "sh", "-c", f"cat /dev/zero > {FILLER}")

    def _be_busy(self, host: str) -> None:
        self.run(host, "touch", BUSY)

    def _set_clock(self, host: str, seconds: str) -> None:
        (self._folder / f"{host}.clock").write_text(str(int(seconds)))

    def _clock(self) -> Path:
        library = self._folder / "clock.so"
        if not library.exists():
            how = ["cc", "-shared", "-fPIC", "-O2", "-x", "c", "-", "-o", str(library), "-ldl"]
            _do(*how, input=CLOCK)
        return library

    def _slow(self, host: str, milliseconds: str, megabits: str) -> None:
        """Delay packets by netem; where the kernel lacks it, by a process between two cables."""
        self._mend_cable(host)
        (self._folder / f"{host}.slow").touch()
        rate = f"{float(megabits)}mbit"
        both = "tc", "qdisc", "add", "dev"
        netem = "root", "netem", "limit", "1000", "rate", rate
        try:
            self._in_net(host, *both, "eth0", *netem, "delay", f"{float(milliseconds)}ms")
            self._in_switch(*both, host, *netem)
        except subprocess.CalledProcessError:
            self._unplug(host)
            relay = [sys.executable, str(HERE.with_name("slow_link.py"))]
            enter = ["nsenter", "-t", str(self._pid(SWITCH)), "-n", "-p"]
            subprocess.Popen(
                [*enter, *relay, host, inside := f"{host}-eth0", milliseconds, megabits],
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
            _wait_for(lambda: inside in self._in_switch("ip", "link"), "the slow link")
            there = "netns", str(self._pid(host)), "name", "eth0"
            self._in_switch("ip", "link", "set", inside, *there)
            self._address(host)

    def _mend_cable(self, host: str) -> None:
        self._unplug(host)
        self._plug(host)

    def _heal(self, host: str) -> None:
        if not (self._folder / host).exists():
            self._join(host)
            return
        (self._folder / f"{host}.clock").unlink(missing_ok=True)
        slow = self._folder / f"{host}.slow"
        if slow.exists():
            self._mend_cable(host)
            slow.unlink()
        self._in_switch("ip", "link", "set", host, "up")
        self.run(host, "rm", "-f", FILLER, BUSY)
        self.run(host, "kill", "-CONT", "-1")
        self._wake(self._pid(host))

    def _wake(self, pid: int) -> None:
        """Let `nsenter` go on, which halts when what it has started does; else it awaits no end."""
        ours = f"nsenter\0-t\0{pid}\0".encode()
        for number in filter(str.isdecimal, os.listdir("/proc")):
            if _command(int(number)).startswith(ours):
                with suppress(ProcessLookupError):
                    os.kill(int(number), signal.SIGCONT)

    faults: ClassVar[dict[str, Callable[..., None]]] = {
        "lost": _lose,
        "killed": _kill,
        "cut": _cut,
        "frozen": _freeze,
        "full": _fill,
        "busy": _be_busy,
        "clock": _set_clock,
        "slow": _slow,
        "none": _heal,
    }


def _command(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def _wait_for(come: Any, what: str) -> None:
    end = time.monotonic() + START_SECONDS
    while not come():
        if time.monotonic() > end:
            raise SystemExit(f"{what} did not come in {START_SECONDS:g} s")
        time.sleep(0.01)


# ---- in a host ------------------------------------------------------------------------------


@contextmanager
def _kept(paths: Sequence[str]) -> Iterator[dict[str, str]]:
    """Yield names of folders by which they are found when another folder hides them."""
    numbers = {path: os.open(path, os.O_PATH) for path in paths}
    try:
        yield {path: f"/proc/self/fd/{number}" for path, number in numbers.items()}
    finally:
        for number in numbers.values():
            os.close(number)


def _needed_folders() -> list[str]:
    """Return the folders of Python and of its packages that a host's own folders would hide."""
    paths = {sys.prefix, sys.base_prefix, str(HERE.parents[1]), *filter(os.path.isdir, sys.path)}
    paths |= {path for path in os.environ.get("PYTHONPATH", "").split(":") if os.path.isdir(path)}
    hidden = sorted({path for path in paths if path.startswith(tuple(f"/{own}/" for own in OWN))})
    return [path for path in hidden if not any(path.startswith(f"{other}/") for other in hidden)]


def _own_disk(host: str) -> None:
    """Give this process and its children a private disk, and all else for reading only."""
    state = str(STATES)
    with _kept([*_needed_folders(), state]) as kept:
        how = {"pass_fds": [int(each.rpartition("/")[2]) for each in kept.values()]}
        _do("mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m,mode=755", "disk", "/mnt")
        for own in OWN:
            os.makedirs(f"/mnt/{own}")
            os.chmod(f"/mnt/{own}", 0o1777 if own.endswith("tmp") else 0o755)
            _do("mount", "--bind", f"/mnt/{own}", f"/{own}")
        for path, source in kept.items():
            os.makedirs(path)
            _do("mount", "--no-canonicalize", "--bind", source, path, **how)
            _do("mount", "-o", "remount,ro,bind", path)
        Path("/run/addresses").write_text(
            "127.0.0.1 localhost\n" + "".join(f"{ADDRESSES[n]} {n}\n" for n in NAMES)
        )
        _do("mount", "--bind", "/run/addresses", "/etc/hosts")
        _do("mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m,mode=1777", "shm", "/dev/shm")
        _do("umount", "/mnt")
        _do("mount", "-o", "remount,ro,bind", "/")


def _init(host: str, state: str) -> None:
    """Be the first process of a host: prepare it, and wait for its end."""
    pid = os.readlink("/proc/self")  # as it is called outside
    _do("ip", "link", "set", "lo", "up")
    if host != SWITCH:
        _do("hostname", host)
        _own_disk(host)
    _do("mount", "-t", "proc", "proc", "/proc")
    print(pid, flush=True)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    while True:
        try:
            os.wait()  # for orphans
        except ChildProcessError:
            time.sleep(0.2)


def _store() -> None:
    """Serve S3, from memory."""
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import run_simple

    served = DomainDispatcherApplication(create_backend_app)
    asked = open(REQUESTS, "a")  # noqa: SIM115  as long as the server runs

    def answer(environ: dict[str, Any], start: Any) -> Any:
        print(*(environ.get(name, "-") for name in ASKED), file=asked, flush=True)
        if os.path.exists(BUSY):
            start("503 Slow Down", [("Content-Type", "application/xml")])
            return [b"<Error><Code>SlowDown</Code><Message>busy</Message></Error>"]
        return served(environ, start)

    run_simple("0.0.0.0", STORE_PORT, answer, threaded=True)


def _bucket() -> None:
    """Make the bucket, as soon as the server is there."""
    url = f"http://127.0.0.1:{STORE_PORT}/{BUCKET}"

    def made() -> bool:
        with suppress(OSError):
            urllib.request.urlopen(urllib.request.Request(url, method="PUT"), timeout=5).close()
            return True
        return False

    _wait_for(made, "the S3 server")


def address(path: str) -> str:
    """Return the address of a path in the bucket, as every host opens it."""
    query = f"scheme=http&endpoint_override={NAMES[0]}:{STORE_PORT}&region=us-east-1"
    return f"s3://{BUCKET}/{path}?{query}"


def main() -> int:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--name", default="hosts", help="of this set of hosts")
    parser.add_argument("what", choices=["up", "run", "fault", "traffic", "down"])
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="HOST COMMAND… | KIND HOST")
    chosen = parser.parse_args()
    hosts, words = Hosts(chosen.name), chosen.words
    if why := missing():
        parser.error(why)
    if chosen.what == "run":
        return hosts.popen(*words).wait()
    if chosen.what == "traffic":
        print(json.dumps(hosts.traffic(), indent=1))
    else:
        getattr(hosts, chosen.what)(*words)
    return 0


if __name__ == "__main__":
    inside: dict[str, Callable[..., None]] = {"_init": _init, "_store": _store, "_bucket": _bucket}
    if sys.argv[1:] and sys.argv[1] in inside:
        inside[sys.argv[1]](*sys.argv[2:])
    else:
        sys.exit(main())
