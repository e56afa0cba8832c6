"""Three hosts that share nothing but an S3 server; needs root, and namespaces of Linux."""

import hashlib
import json
import os
from pathlib import Path

import pytest
from host_clusters import Cluster, batchsolve, put, stored
from hosts import ADDRESSES, REQUESTS, STATES, Hosts, address, missing

import batchsolve as bs

CORPUS = Path(__file__).parents[2] / "datasets" / "sudoku9.csv"
QUEENS, N_QUEENS = "queens:11", 2680


@pytest.fixture(scope="module")
def hosts():
    """Yield three hosts, where this process may start them."""
    if why := missing():
        pytest.skip(why)
    pytest.importorskip("moto.server")
    hosts = Hosts(f"test-{os.getpid()}")
    with hosts:
        yield hosts
    assert not (STATES / f"test-{os.getpid()}").exists()


def facts(done):
    """Return what a command says as JSON."""
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_hosts_share_nothing_but_the_network(hosts):
    done = hosts.run("node1", "sh", "-c", "hostname; pwd; echo mine > /tmp/a; echo > /etc/a")
    assert done.stdout == "node1\n/root\n"
    assert "Read-only" in done.stderr
    assert hosts.run("node2", "cat", "/tmp/a").returncode == 1
    assert hosts.run("node1", "cat", "/tmp/a").stdout == "mine\n"
    assert hosts.traffic()["node1"]["sent_bytes"] < 10_000


def askers(hosts, method, folder):
    """Return the hosts that have sent such requests for files of a folder to the S3 server."""
    asked = map(str.split, hosts.run("head", "cat", REQUESTS).stdout.splitlines())
    found = {who for who, how, path, _ in asked if how == method and f"/{folder}/" in path}
    return {name for name, number in ADDRESSES.items() if number in found}


def test_dask_on_hosts_gives_the_same_bytes_and_counts(hosts, tmp_path, monkeypatch):
    """For Ray, see test_recipes.py."""
    cluster = Cluster(hosts, "dask")
    cluster.start()
    how = "--engine", "dlx", "--json", "--quiet", *cluster.options
    listed = facts(batchsolve(hosts, "enumerate", QUEENS, "-o", "run", *how))
    assert (listed["count"], listed["complete"], listed["failures"]) == (N_QUEENS, True, [])
    put(hosts, CORPUS, "in", files=10)  # several for either node, however slow
    how = "--json", "--quiet", *cluster.options
    solved = facts(batchsolve(hosts, "solve", address("in"), "-o", address("out"), *how))
    assert (solved["rows"], solved["unique"], solved["disagree"]) == (10_000, 10_000, 0)
    assert askers(hosts, "GET", "in") >= {"node1", "node2"}
    assert askers(hosts, "PUT", "out") == {"node1", "node2"}  # and not by way of the command
    header, *rows = CORPUS.read_text().splitlines(True)
    (tmp_path / "in").mkdir()
    for k in range(10):
        text = header + "".join(rows[1000 * k : 1000 * (k + 1)])
        (tmp_path / "in" / f"{k:03d}.csv").write_text(text)
    monkeypatch.chdir(tmp_path)  # for the journal
    bs.solve_file((tmp_path / "in").as_uri(), (tmp_path / "out").as_uri(), jobs=1)
    files = (tmp_path / "out").iterdir()
    here = {each.name: hashlib.sha256(each.read_bytes()).hexdigest()[:16] for each in files}
    assert stored(hosts, "out") == here
