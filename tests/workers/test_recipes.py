"""The recipes of docs/clusters.md do as the page says, word for word."""

import os
import time

import pytest
from recipes import PAGE, ROOT, blocks, in_background, lines, run_alone, until

N_QUEENS = "365596\n"  # of 14 queens
NO_TOKEN = "Token authentication is enabled but no authentication token was found"
WRONG_TOKEN = "InvalidAuthToken"
ASKS_TWICE = "RAY_NUM_REDIS_GET_RETRIES=2"  # and not for 20 s
UNPICKLED = "result command\ntask worker\nwork worker\n"  # as the page says
TESTS = ROOT / "tests"


def where_unpickled(backend, address):
    return f'python "$TESTS/unpickling.py" {backend} {address} > sent 2>&1'


REFUSED = """
mkdir -p other own/.config/dask
openssl req -x509 -newkey rsa:2048 -nodes -days 365 -subj /CN=batchsolve \\
    -keyout own.key -out own.pem
sed "s,{cert.*},{cert: $PWD/own.pem\\, key: $PWD/own.key}," \\
    ~/.config/dask/tls.yaml > own/.config/dask/tls.yaml
refused() {
    export HOME=$PWD/$2
    batchsolve count queens:6 --backend dask --scheduler $3://head:8786 > $1.command 2>&1 ||
        echo "exit code $?" >> $1.command
    dask worker $3://head:8786 --nthreads 1 --no-nanny > $1.worker 2>&1 &
    timeout 150 sh -c "until grep -q '$4' $1.worker; do sleep 0.1; done"
}
refused none other tls "failed to start" & first=$!
refused own own tls "Waiting" & second=$!
refused plain other tcp "Waiting" & third=$!
wait $first; wait $second; wait $third
"""


@pytest.fixture(scope="module")
def with_tls(tmp_path_factory):
    """The home of a machine on which the recipe for Dask was followed, and then not."""
    folder = tmp_path_factory.mktemp("dask")
    certificate, start = blocks("Dask")
    scheduler, worker, count = lines(start)
    run_alone(
        folder,
        certificate,
        in_background(scheduler, "scheduler.log"),
        until("scheduler.log", "Scheduler at: *tls://"),
        in_background(worker, "worker.log"),
        until("scheduler.log", "Starting worker compute"),
        f"{count} --quiet > count 2> said",
        REFUSED,
        where_unpickled("dask", "tls://head:8786"),  # the cluster works on after the refusals
    )
    return folder / "home"


def test_the_recipe_for_dask_gives_a_cluster_with_tls(with_tls):
    assert (with_tls / "count").read_text() == N_QUEENS
    assert (with_tls / "said").read_text() == ""  # no warning of open ports
    assert (with_tls / ".config/dask/key.pem").stat().st_mode & 0o077 == 0
    assert (with_tls / "sent").read_text() == UNPICKLED


REFUSALS = [
    ("none", "TLS expects a `ssl_context`", "names no certificate of the client", ""),
    ("own", "Waiting to connect", "no Dask scheduler answers", "CERTIFICATE_VERIFY_FAILED"),
    ("plain", "Waiting to connect", "no Dask scheduler answers", "WRONG_VERSION_NUMBER"),
]


@pytest.mark.parametrize(("who", "worker", "command", "scheduler"), REFUSALS)
def test_both_sides_say_who_lacks_our_certificate(with_tls, who, worker, command, scheduler):
    log = (with_tls / "scheduler.log").read_text()
    assert worker in (with_tls / f"{who}.worker").read_text()
    assert "Registered to" not in (with_tls / f"{who}.worker").read_text()
    said = (with_tls / f"{who}.command").read_text()
    assert command in said
    assert said.endswith("exit code 2\n")
    assert scheduler in log
    page = PAGE.read_text()
    assert all(each.replace("`", "") in page for each in (worker, command, scheduler))


class Shells:
    """Shells on three hosts that share nothing, in which the commands of a recipe are given."""

    def __init__(self, hosts):
        self.hosts = hosts

    def sh(self, host, command, code=0):
        """Run a command to its end; check its exit code."""
        done = self.hosts.run(host, "bash", "-ec", command, timeout=160)
        assert done.returncode == code, f"{host}: {command}\n{done.stdout}\n{done.stderr}"
        return done

    def begin(self, host, command, text):
        """Start a command, and wait until its log has a text."""
        with open(os.devnull, "w") as null:
            self.hosts.popen(host, "bash", "-c", f"{command} > log 2>&1", stdout=null, stderr=null)
        self.sh(host, until("log", text))

    def copy(self, path, host):
        """Copy a text file from the head to the same place of another host."""
        content = self.sh("head", f"cat {path}").stdout
        self.sh(host, f"mkdir -p $(dirname {path}); cat > {path} <<'END'\n{content}\nEND")


@pytest.fixture
def shells():
    """Yield shells on three hosts."""
    module = pytest.importorskip("hosts")
    if why := module.missing():
        pytest.skip(why)
    with module.Hosts("recipes") as hosts:
        yield Shells(hosts)


def test_the_recipe_for_dask_joins_hosts_that_share_nothing(shells):
    """The three files are copied to a host; one without them is refused, as above."""
    certificate, start = blocks("Dask")
    scheduler, worker, count = lines(start)
    shells.sh("head", f"umask 077; {certificate}")
    for name in ("cert.pem", "key.pem", "tls.yaml"):
        shells.copy(f"~/.config/dask/{name}", "node1")
    shells.begin("head", scheduler, "Scheduler at: *tls://")
    shells.begin("node1", worker, "Starting established connection to tls:")
    assert shells.sh("head", f"{count} --quiet").stdout == N_QUEENS


def test_the_recipe_for_ray_joins_hosts_that_share_nothing(shells):
    """The token is copied to a host; others, without it or with another, are refused."""
    pytest.importorskip("ray")
    (recipe,) = blocks("Ray")
    mode, token, head, other, count = lines(recipe)
    on_head = f"{mode}; export TESTS={TESTS} PYTHONPATH=$PYTHONPATH:{TESTS}"
    shells.sh("head", f"{on_head}; {token}; {head} > log 2>&1")
    assert shells.sh("head", "stat -c %a ~/.ray/auth_token").stdout == "600\n"
    found = shells.sh("head", f"{on_head}; {where_unpickled('ray', 'head:6379')}; cat sent")
    assert found.stdout == UNPICKLED
    shells.copy("~/.ray/auth_token", "node1")
    shells.sh("node1", f"{mode}; {other} > log 2>&1")
    counted = shells.sh("head", f"{mode}; {count} --quiet")
    assert counted.stdout == N_QUEENS
    assert "whoever reaches its ports" not in counted.stderr
    asks = (
        f"export {ASKS_TWICE}; {mode}; batchsolve count queens:6 --backend ray --address head:6379"
    )
    for key, why in (("", NO_TOKEN), ("RAY_AUTH_TOKEN=notournotournotournotour ", WRONG_TOKEN)):
        said = shells.sh("node2", asks.replace("batchsolve", f"{key}batchsolve"), 2).stderr
        assert why in said
        assert said.splitlines()[-1].startswith("batchsolve: head:6379: no Ray cluster answers")
        assert "give the cluster's token" in said.splitlines()[-1]
        assert why in PAGE.read_text()
    assert NO_TOKEN in shells.sh("node2", f"{mode}; {other}", 1).stderr
    deadline = time.monotonic() + 60
    status = ""
    while status.count("1 node_") != 2:  # it is said some seconds later
        assert time.monotonic() < deadline, status
        status = shells.sh("head", f"{mode}; ray status --address head:6379").stdout
