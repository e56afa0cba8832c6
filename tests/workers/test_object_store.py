"""A corpus in an object store: the workers of a cluster read and write it themselves."""

import os
import re
import signal
from contextlib import ExitStack, chdir
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from unittest.mock import patch

import pyarrow.dataset as ds
import pytest
from conftest import hard_puzzles, interrupted_after, rows_of_csv
from cutting import small_blocks
from soak_jobs import dask_cluster

import batchsolve as bs
from batchsolve.errors import ServerError
from batchsolve.tables import places
from batchsolve.tables.corpus import Corpus
from batchsolve.tables.places import file_system, files_of

KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_REGION": "us-east-1"}


@pytest.fixture(scope="module")
def store():
    """Yield a function that returns the address of a path in a bucket of a local S3 server."""
    server_of = pytest.importorskip("moto.server").ThreadedMotoServer
    server = server_of(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    with ExitStack() as opened:
        opened.callback(server.stop)
        opened.enter_context(patch.dict(os.environ, KEYS))
        host, port = server.get_host_and_port()
        query = f"scheme=http&endpoint_override={host}:{port}&region=us-east-1"
        system, bucket = file_system(f"s3://corpora?allow_bucket_creation=true&{query}")
        system.create_dir(bucket)
        yield lambda path: f"s3://corpora/{path}?{query}"


def put(address, data):
    system, path = file_system(address)
    with system.open_output_stream(path, compression=None) as stream:
        stream.write(data)


def contents(address):
    """Return the bytes of every file at an address."""
    data = {}
    for one in files_of([address]):
        system, path = file_system(one)
        with system.open_input_file(path) as file:
            data[path.rpartition("/")[2]] = file.read()
    return data


@pytest.fixture(scope="module")
def corpus(store):
    """Put two files of puzzles into the store; return the folder's address and the solutions."""
    puzzles, solutions = hard_puzzles()
    texts, right = (["".join(map(str, grid)) for grid in grids] for grids in (puzzles, solutions))
    n = len(texts) // 2
    for name, rows in {"a": texts[:n], "b": texts[n:]}.items():
        put(store(f"in/{name}.csv"), ("puzzle\n" + "\n".join(rows) + "\n").encode())
    return store("in"), right


@pytest.fixture(scope="module")
def whole(store, corpus, tmp_path_factory):
    """Return the parts that one thread makes of the corpus."""
    with small_blocks(5000), chdir(tmp_path_factory.mktemp("whole")):
        bs.solve_file(corpus[0], store("whole"), jobs=1)
    return contents(store("whole"))


def test_two_dask_workers_write_the_same_parts_when_one_is_killed(store, corpus, whole, here):
    folder, right = corpus
    assert len(whole) > 8
    with small_blocks(5000), dask_cluster() as cluster:
        killed = []

        def kill(progress):
            if progress.totals.rows and not killed:
                killed.append(os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL))

        how = {"backend": "dask", "address": cluster.scheduler_address, "on_progress": kill}
        summary = bs.solve_file(folder, store("out"), **how)
    assert (len(killed), summary.rows, summary.unique) == (1, len(right), len(right))
    assert contents(store("out")) == whole
    system, path = file_system(store("out"))
    assert ds.dataset(path, filesystem=system).to_table()["solution"].to_pylist() == right


def test_a_run_is_resumed(store, corpus, whole, here):
    folder, right = corpus
    with small_blocks(5000):
        stop = interrupted_after(len(right) // 3)
        with pytest.raises(KeyboardInterrupt):
            bs.solve_file(folder, store("again"), jobs=1, on_progress=stop)
        [journal] = os.listdir()
        assert re.fullmatch(r"again-[0-9a-f]{8}\.partial\.journal", journal)
        assert 0 < len(contents(store("again"))) < len(whole)
        bs.solve_file(folder, store("other/again"))  # another folder with this name
        assert contents(store("other/again")) == whole
        bs.solve_file(folder, store("again"), resume=True)
        assert contents(store("again")) == whole
        assert os.listdir() == []
        with pytest.raises(bs.OutputError, match="is not empty"):
            bs.solve_file(folder, store("again"))


def test_files_of_a_store_are_read_as_those_of_a_disk(store, corpus, tmp_path, here):
    folder, right = corpus
    bs.solve_file(folder, tmp_path / "out.csv")
    assert [row["solution"] for row in rows_of_csv(tmp_path / "out.csv")] == right
    packed = store("packed/in.csv.gz")
    bs.solve_file(store("in/a.csv"), tmp_path / "a.csv.gz")
    put(packed, (tmp_path / "a.csv.gz").read_bytes())
    bs.solve_file(packed, tmp_path / "b.parquet", column="puzzle")
    with pytest.raises(bs.InputError, match=r"in/none.csv.*No such file"):
        bs.solve_file(store("in/none.csv"), tmp_path / "none.csv")
    with pytest.raises(bs.BatchsolveError, match=r"nowhere"):
        bs.solve_file(store("in").replace("corpora", "nowhere"), tmp_path / "none.csv")
    with pytest.raises(bs.OutputError, match=r"nowhere/out/.*: cannot be written") as no_bucket:
        bs.solve_file(store("in/a.csv"), store("out/").replace("corpora", "nowhere"))
    assert not hasattr(no_bucket.value, "__notes__")
    assert not list(tmp_path.glob("*.journal"))


class Busy(BaseHTTPRequestHandler):
    """Answers 503."""

    n_asked = 0

    def do_HEAD(self):
        type(self).n_asked += 1
        self.send_response(503)
        self.end_headers()

    def log_message(self, *_):
        pass


def test_a_busy_server_is_asked_again_and_blamed_instead_of_the_input(store, monkeypatch):
    monkeypatch.setattr(places, "S3_TRIES", 2)
    with ThreadingHTTPServer(("127.0.0.1", 0), Busy) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        query = f"scheme=http&endpoint_override=127.0.0.1:{server.server_port}&region=us-east-1"
        with pytest.raises(ServerError, match=r"b\.csv.*AWS Error .*503"):
            next(Corpus([f"s3://corpora/b.csv?{query}"]).batches())
        server.shutdown()
    assert Busy.n_asked == 2
