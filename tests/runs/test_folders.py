"""Folders, patterns and addresses in; folders of Parquet files out, each part exactly once."""

import gzip
import os
import re
import shutil
import socket
import sys
import tarfile
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import permutations
from pathlib import Path
from random import Random
from types import SimpleNamespace
from unittest.mock import Mock

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from conftest import PUZZLE, SOLUTION, flip, interrupted_after
from cutting import content_of, contents, small_blocks
from invoking import invoke, invoke_as_user, refused

import batchsolve as bs
from batchsolve.runs import specs
from batchsolve.runs.convert import converted
from batchsolve.tables import places
from batchsolve.tables.places import files_of
from batchsolve.workers import Pool

PUZZLES = [SOLUTION[:k] + "." + SOLUTION[k + 1 :] for k in range(16)]


def rows(begin, end):
    return [f"{k},{PUZZLES[k % 16]}" for k in range(begin, end)]


@pytest.fixture
def corpora(tmp_path):
    """Make a folder with three files of one corpus, and files that `solve` must ignore."""
    folder = tmp_path / "corpora"
    (folder / "more").mkdir(parents=True)
    for name, (begin, end) in {"a.csv": (0, 40), "b.csv": (40, 50), "more/c.csv": (50, 90)}.items():
        (folder / name).write_text("\n".join(["id,puzzle", *rows(begin, end)]) + "\n")
    for name in ("_SUCCESS", ".crc", "more/.d.csv"):
        (folder / name).write_text("nothing")
    return folder


def ids(out):
    is_file = hasattr(out, "read") or str(out).endswith(".parquet")
    table = pq.read_table(out) if is_file else ds.dataset(out).to_table()
    assert set(table["solution"].to_pylist()) == {SOLUTION}
    return [int(k) for k in table["id"].to_pylist()]


@pytest.mark.parametrize("scheme", ["", "file://", "FILE://"])
def test_folders_and_patterns_stand_for_their_files(corpora, tmp_path, scheme):
    home = f"{scheme}{corpora}"
    every = [f"{home}/{name}" for name in ("a.csv", "b.csv", "more/c.csv")]
    assert files_of([home]) == every
    assert files_of([f"{home}/*.csv"]) == every[:2]
    assert files_of([f"{home}/**/*.csv"]) == every
    assert files_of([every[2], f"{home}/a*"]) == [every[2], every[0]]
    (corpora / "_d").mkdir()
    for name in ("_a.csv", "_d/e.csv"):
        (corpora / name).write_text("hidden")
    assert files_of([f"{home}/**/*.csv"]) == every
    assert files_of([f"{home}/_*.csv"]) == [f"{home}/_a.csv"]
    assert files_of([f"{home}/_d/*.csv"]) == [f"{home}/_d/e.csv"]
    (corpora / "more" / "a b é.csv").write_text("id,puzzle\n")
    name = "a%20b%20%C3%A9.csv" if scheme else "a b é.csv"
    assert files_of([f"{home}/m*/*b*.csv"]) == [f"{home}/more/{name}"]
    bs.solve_file(f"{home}/m*/*.csv", tmp_path / "out.parquet")
    assert ids(tmp_path / "out.parquet") == list(range(50, 90))
    with pytest.raises(bs.InputError, match="no file has a name like that"):
        files_of([f"{home}/*.tsv"])


def test_names_that_look_like_patterns_and_places_without_files(corpora, tmp_path):
    (corpora / "x[1].csv").write_text("a file whose name looks like a pattern")
    names = [f"{corpora}/{name}.csv" for name in ("x[1]", "[a]")]
    assert files_of(names) == [names[0], f"{corpora}/a.csv"]
    (tmp_path / "none").mkdir()
    with pytest.raises(bs.InputError, match="without files"):
        files_of([str(tmp_path / "none")])
    with pytest.raises(bs.InputError, match=r"nosuch://x: cannot be opened"):
        files_of(["nosuch://x"])


def test_what_a_user_may_not_see_is_not_said_to_be_missing(corpora, here):
    (here / "in.txt").write_text("1.....2..3.....4\n")
    shutil.copytree(corpora, "corpora_of_others")
    commands = [
        "solve corpora -o out.csv",
        "solve corpora/more/*.csv -o out.csv",
        "count corpora/more/x.dlx",
        "draw queens:6 --found corpora/more -o out.svg",
        "solve in.txt -o corpora/more/x/out.csv",
        "solve in.txt -o corpora/more/x/out/",
    ]
    commands += [words.replace("corpora", "corpora_of_others") for words in commands]
    closed = ["corpora/more", "corpora_of_others"]
    for folder in closed:
        os.chmod(folder, 0)
    ends = invoke_as_user(*map(str.split, commands))
    for folder in closed:
        os.chmod(folder, 0o755)
    for code, out, message in ends:
        assert (code, out) == (2, "")
        why = r"batchsolve: corpora\S*: (cannot be read: )?Permission denied\n"
        assert re.fullmatch(why, message)


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_a_column_says_which_file_a_row_is_from(corpora, tmp_path, scheme):
    source = f"{scheme}{corpora}"
    bs.solve_file(source, tmp_path / "out.parquet", filename=True)
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column_names[:4] == ["id", "puzzle", "filename", "solution"]
    names = [name.removeprefix(source) for name in table["filename"].to_pylist()]
    assert names == ["/a.csv"] * 40 + ["/b.csv"] * 10 + ["/more/c.csv"] * 40
    with pytest.raises(bs.InputError, match="has a column filename; rename it"):
        bs.solve_file(tmp_path / "out.parquet", tmp_path / "again.csv", filename=True)


@pytest.mark.usefixtures("_all_recorded")
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_an_interrupted_run_goes_on_with_the_same_parts(here, suffix):
    source = here / f"in{suffix}"
    put(source, range(400))
    whole, out = here / "whole", here / "out"
    target = f"file://{out}" if suffix == ".parquet" else f"{out}/"

    with small_blocks(600):
        bs.solve_file(source, f"{whole}/")
        with pytest.raises(KeyboardInterrupt) as caught:
            bs.solve_file(source, target, on_progress=interrupted_after(150), jobs=1)
        kept = f"the rows done are kept in {target}; go on with `resume`"
        assert caught.value.__notes__ == [kept]
        assert list(here.glob("out*.partial.journal"))
        with pytest.raises(bs.OutputError, match="go on with that run and `resume`, or delete"):
            bs.solve_file(source, target)
        (out / ".unfinished-abc").write_text("a worker was killed here")
        first = []
        summary = bs.solve_file(source, target, resume=True, on_progress=first.append)
    assert contents(out) == contents(whole)
    assert (summary.rows, ids(out)) == (400, list(range(400)))
    assert first[0].new_rows == 0
    assert first[0].totals is summary
    assert not list(here.glob("out*.partial.journal"))


@pytest.fixture
def _all_recorded(monkeypatch):
    # record at once: a thread would wait for the disk, and the run might stop before it is done
    monkeypatch.setattr(specs.FileRun, "record_behind", lambda run, behind: run.record())


def interrupt(source, target, after=60, **settings):
    with pytest.raises(KeyboardInterrupt):
        bs.solve_file(source, target, on_progress=interrupted_after(after), jobs=1, **settings)


def put(path, order):
    """Write rows to a file whose size and time do not depend on their order."""
    name, data = str(path), "\n".join(["id,puzzle", *(rows(k, k + 1)[0] for k in order)]) + "\n"
    if name.endswith(".parquet"):
        clues = [[k, k + 1] for k in order]
        columns = {"id": order, "puzzle": [PUZZLES[k % 16] for k in order], "clues": clues}
        how = {"row_group_size": 50, "compression": "none", "use_dictionary": False}
        pq.write_table(pa.table(columns), name, **how)
    elif name.endswith(".gz"):
        path.write_bytes(gzip.compress(data.encode(), compresslevel=0, mtime=0))
    else:
        path.write_text(data)
    os.utime(path, (0, 0))


RUNS = [(".csv", "out.csv"), (".csv.gz", "out/"), (".parquet", "out.csv"), (".parquet", "out/")]


@pytest.mark.usefixtures("_all_recorded")
@pytest.mark.parametrize(("suffix", "target"), RUNS)
def test_an_input_that_changed_keeping_size_and_time_is_noticed(tmp_path, suffix, target):
    source, order = tmp_path / f"in{suffix}", list(range(100, 400))
    whole, out = f"{tmp_path}/whole-{target}", f"{tmp_path}/{target}"
    swapped = [*order[:3], order[4], order[3], *order[5:]]
    with small_blocks(600):
        put(source, order)
        bs.solve_file(source, whole)
        interrupt(source, out)
        interrupt(source, out, 150, resume=True)
        if target == "out.csv":  # a chunk may end anywhere in a block
            interrupt(source, out, 200, resume=True, chunk=7)
        size = source.stat().st_size
        put(source, swapped)
        assert source.stat().st_size == size
        with pytest.raises(bs.JournalError, match=f"in{suffix}: the rows that .* were changed"):
            bs.solve_file(source, out, resume=True)
        put(source, order)
        assert bs.solve_file(source, out, resume=True).rows == 300
    read = contents if target == "out/" else content_of
    assert read(out) == read(whole)


@pytest.mark.usefixtures("_all_recorded")
def test_other_files_and_parts_that_were_damaged_or_deleted_are_noticed(corpora, tmp_path):
    out, other = tmp_path / "out", corpora / "d.csv"
    with small_blocks(400):
        interrupt(corpora, f"{out}/")
        shutil.copy(corpora / "a.csv", other)
        with pytest.raises(bs.JournalError, match="had inputs"):
            bs.solve_file(corpora, f"{out}/", resume=True)
        other.unlink()
        first = out / "part-000000.parquet"
        flip(first, Random(1))
        with pytest.raises(bs.JournalError, match=r"part-000000.parquet: does not hold what"):
            bs.solve_file(corpora, f"{out}/", resume=True)
        first.unlink()
        with pytest.raises(bs.JournalError, match=r"part-000000.parquet: is gone"):
            bs.solve_file(corpora, f"{out}/", resume=True)


def test_a_part_that_is_removed_during_the_run_is_missed(corpora, tmp_path):
    first, away = tmp_path / "out" / "part-000000.parquet", tmp_path / "away"
    out = f"{first.parent}/"

    def remove(progress):
        if first.exists():
            first.rename(away)

    with small_blocks(400), pytest.raises(bs.OutputError, match=r"part-000000.* was removed"):
        bs.solve_file(corpora, out, on_progress=remove, jobs=1)
    with pytest.raises(bs.JournalError, match="is gone; delete"):
        bs.solve_file(corpora, out, resume=True)
    away.rename(first)
    assert bs.solve_file(corpora, out, resume=True).rows == ds.dataset(out).count_rows()


KINDS = {"out.parquet": "a .parquet file", "out.parquet/": "a folder"}


@pytest.mark.usefixtures("_all_recorded")
@pytest.mark.parametrize(("begun", "other"), list(permutations(KINDS)))
def test_a_file_is_not_resumed_as_a_folder(begun, other, corpora, here):
    """Their journals have one name, and each would leave out the rows that the other wrote."""
    with small_blocks(400):
        interrupt(corpora, begun)
        if begun.endswith("/"):
            os.rename("out.parquet", "moved")
        kept = sorted(os.listdir())
        why = f"the interrupted run had output = '{KINDS[begun]}', this one has '{KINDS[other]}'"
        with pytest.raises(bs.JournalError, match=why):
            bs.solve_file(corpora, other, resume=True)
        assert sorted(os.listdir()) == kept
        if begun.endswith("/"):
            os.rename("moved", "out.parquet")
        bs.solve_file(corpora, begun, resume=True)
    assert ids(Path(begun)) == list(range(90))


@pytest.mark.usefixtures("_all_recorded", "here")
def test_a_file_is_not_resumed_in_another_format(corpora):
    with small_blocks(400):
        interrupt(corpora, "out.csv")
    for end in ("partial", "partial.journal"):
        os.rename(f"out.csv.{end}", f"out.csv.gz.{end}")
    why = "had output = 'a .csv file', this one has 'a .csv.gz file'"
    with pytest.raises(bs.JournalError, match=why):
        bs.solve_file(corpora, "out.csv.gz", resume=True)


@pytest.mark.usefixtures("here")
def test_a_run_that_is_interrupted_while_its_workers_end_is_only_to_be_ended(corpora, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Pool, "__exit__", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            bs.solve_file(corpora, "out/", jobs=1)
    whole = contents(Path("out"))
    assert bs.solve_file(corpora, "out/", resume=True).rows == 90
    assert (contents(Path("out")), os.path.exists("out.partial.journal")) == (whole, False)


def test_outputs_that_cannot_be_written_are_refused(corpora, tmp_path):
    (deep := tmp_path / "full" / ("d" * 200) / ("e" * 200)).mkdir(parents=True)
    (tmp_path / "full" / "mine.txt").write_text("mine")
    (tmp_path / "there.csv").mkdir()
    wrong = {
        f"{tmp_path}/full": "is not empty, and has no journal .*, as after the end of a run",
        f"{tmp_path}/no/out/": "the directory .*/no does not exist",
        f"{tmp_path}/no/out.csv": "the directory .*/no does not exist",
        f"{tmp_path}/out.txt": r"the name must say the format: .*\.csv.*\.parquet",
        f"{tmp_path}/out.parquet.gz": "the name must say the format",
        f"{tmp_path}/full/mine.txt/": "is a file; name a folder",
        f"{tmp_path}/there.csv": "is a directory",
        f"file://{tmp_path}/out.csv": "leave out .csv",
        f"{corpora}/solved/": "lies in",
        f"{corpora}/solved.csv": "lies in",
        f"{deep}/{'x' * 100}.csv": "a path may have 504 bytes",
    }
    for target, why in wrong.items():
        with pytest.raises(bs.BatchsolveError, match=why):
            bs.solve_file(corpora, target)
    with pytest.raises(bs.InputError, match="leave out the chunk"):
        bs.solve_file(corpora, f"{tmp_path}/out/", chunk=10)
    assert sorted(os.listdir(tmp_path)) == ["corpora", "full", "there.csv"]


@pytest.mark.parametrize("out", ["file:out.parquet", "file:out/", "run:out/"])
def test_a_name_may_begin_as_an_address_does(out, corpora, here):
    assert bs.solve_file(corpora, out).rows == 90
    assert ids(here / out) == list(range(90))
    with bs.Run("file:run", "queens:4") as run:
        assert run.search().count == 2
    assert sorted(os.listdir()) == sorted(["corpora", "file:run", out.rstrip("/")])


def test_a_current_folder_that_was_removed_is_said_to_be(corpora, tmp_path, monkeypatch):
    (gone := tmp_path / "gone").mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    commands = f"solve {corpora} -o x.csv", f"dedupe {corpora} -o x.csv", "count queens:4 --run x"
    for line in (*commands, f"count queens:4 -o {tmp_path}/out.csv"):
        assert ": the current folder no longer exists" in refused(*line.split())
    assert bs.solve_file(corpora, tmp_path / "out.csv").rows == 90


@pytest.mark.parametrize("out", ["out.csv", "out.parquet", "out.svg"])
def test_an_output_keeps_the_mode_of_the_file_that_it_replaces(out, corpora, here):
    (here / out).touch(mode=0o600)
    if out == "out.svg":
        bs.draw("queens:4").save(out)
    else:
        bs.solve_file(corpora, out)
    assert (here / out).stat().st_mode & 0o777 == 0o600
    assert (here / out).stat().st_size


def test_names_of_folders_and_of_the_files_in_them_need_not_be_utf_8(corpora, tmp_path):
    try:
        (folder := tmp_path / os.fsdecode(b"caf\xe9")).mkdir()
    except OSError:
        pytest.skip("this file system refuses such names")
    with small_blocks(400):
        n_rows = bs.solve_file(corpora / "a.csv", f"{folder}/").rows
    parts = [pq.read_table(pa.BufferReader(each)) for each in contents(folder).values()]
    assert sum(map(len, parts)) == n_rows > 0
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / os.fsdecode(b"\xe9.txt")).write_text("mine")
    with pytest.raises(bs.OutputError, match="is not empty"):
        bs.solve_file(corpora / "a.csv", f"{folder}/")


@pytest.mark.parametrize("address", [False, True])
def test_a_folder_that_no_journal_tells_of_is_left_alone(corpora, here, address):
    out = here / "out"  # the journal of an address is in the working directory
    target = f"file://{out}" if address else f"{out}/"
    with small_blocks(400):
        bs.solve_file(corpora / "a.csv", target)
    whole = contents(out)
    for source in ("a.csv", "b.csv"):
        with pytest.raises(bs.OutputError, match=r"is not empty, and has no journal"):
            bs.solve_file(corpora / source, target)
        with pytest.raises(bs.OutputError, match=r"and has no journal \(.*journal\)"):
            bs.solve_file(corpora / source, target, resume=True)
    assert contents(out) == whole
    assert sorted(whole) == [f"part-{k:06d}.parquet" for k in range(2)]


def test_a_corpus_without_rows_is_one_part_without_rows(tmp_path):
    (tmp_path / "in.csv").write_text("id,puzzle\n")
    bs.solve_file(tmp_path / "in.csv", f"{tmp_path}/out/")
    assert os.listdir(tmp_path / "out") == ["part-000000.parquet"]
    assert ds.dataset(tmp_path / "out").to_table().column_names[:3] == ["id", "puzzle", "solution"]


@pytest.mark.parametrize("n_groups", [1, 3, 40])
def test_row_groups_are_read_by_workers_or_in_parts(tmp_path, n_groups):
    table = pa.table({"id": list(range(400)), "puzzle": PUZZLES * 25})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=400 // n_groups)
    with small_blocks(1000):
        bs.solve_file(tmp_path / "in.parquet", tmp_path / "out.parquet")
        bs.solve_file(tmp_path / "in.parquet", f"{tmp_path}/parts/")
    assert ids(tmp_path / "out.parquet") == ids(tmp_path / "parts") == list(range(400))


def test_how_many_rows_there_will_be_is_known_from_the_first_on(tmp_path):
    (tmp_path / "in.csv").write_text("\n".join(["puzzle", *PUZZLES * 500, ""]))
    seen = []
    with small_blocks(10_000):
        bs.solve_file(tmp_path / "in.csv", tmp_path / "out.csv", on_progress=seen.append)
    assert seen[0].expected_rows is None
    assert all(7_900 <= progress.expected_rows <= 8_010 for progress in seen[1:])
    assert seen[-1].expected_rows == 8_000


BROKEN = {
    "stalls": "its server has sent nothing for 1 seconds",
    "drops": "Server disconnected",
    "busy": "its server answered 503 Service Unavailable",
    "forbids": "its server answered 403 Forbidden",
}


class Server(SimpleHTTPRequestHandler):
    """A server of ranges of bytes, whose answers are odd as the name of a folder says.

    All count their requests.
    """

    def do_HEAD(self):
        kind, self.path = self.path[1:].split("/", 1)
        if kind in ("ftp", "loop"):
            to = {"ftp": "ftp://a/b.csv", "loop": f"/loop/{self.path}"}[kind]
            self.answer(302, {"Location": to, "Content-Length": 0})
        elif kind == "whole":
            super().do_HEAD()
        else:
            size = os.path.getsize(self.translate_path(self.path))
            size += {"more": 10, "fewer": -10}.get(kind, 0)
            self.answer(200, {"Content-Length": size, "Accept-Ranges": "bytes"})

    def do_GET(self):
        kind, path = self.path[1:].split("/", 1)
        if kind in ("ftp", "loop"):
            return self.do_HEAD()
        self.path = path
        self.server.n_requests += 1
        fault, n = re.match(r"([a-z]+)(\d*)", kind).groups()
        is_late = self.server.n_requests >= int(n or 0) and not self.server.go_on.is_set()
        if fault == "stalls" and is_late:
            self.server.go_on.wait()
        if fault == "drops" and is_late:
            return self.connection.shutdown(socket.SHUT_RDWR)
        if fault in ("busy", "forbids") and is_late:
            return self.answer(int(BROKEN[fault][20:23]), {"Content-Length": 0})
        if kind == "whole" or "Range" not in self.headers:
            return super().do_GET()
        begin, end = map(int, self.headers["Range"].removeprefix("bytes=").split("-"))
        data = Path(self.translate_path(path)).read_bytes()
        part = sent = data[begin : end + 1]
        if kind in ("cut", f"short{self.server.n_requests}"):
            sent = part[: min(10, len(part) // 2)]
        place = f"bytes {begin}-{begin + len(part) - 1}/{len(data)}"
        announced = len(part if kind == "cut" else sent)
        self.answer(206, {"Content-Range": place, "Content-Length": announced})
        self.wfile.write(sent)

    def answer(self, code, headers):
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture
def odd(corpora):
    """Return the server of the folder, which stalls until `go_on`, and its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Server, directory=str(corpora))) as server:
        server.go_on, server.n_requests = threading.Event(), 0
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server, f"http://127.0.0.1:{server.server_port}"
        server.go_on.set()
        server.shutdown()


def test_a_corpus_is_read_over_http(odd, tmp_path):
    files = [f"{odd[1]}/usual/{name}" for name in ("a.csv", "more/c.csv")]
    bs.solve_file(files, tmp_path / "out.parquet", filename=True)
    assert ids(tmp_path / "out.parquet") == [*range(40), *range(50, 90)]
    names = pq.read_table(tmp_path / "out.parquet")["filename"].to_pylist()
    assert names == [files[0]] * 40 + [files[1]] * 40
    with pytest.raises(bs.InputError, match=r"none.csv: 404, message='File not found'"):
        bs.solve_file(f"{odd[1]}/whole/none.csv", tmp_path / "none.csv")
    with pytest.raises(bs.InputError, match=r"a.csv: Cannot connect to host"):
        bs.solve_file("http://127.0.0.1:1/a.csv", tmp_path / "none.csv")


WHOLE = "its server sends files only from their beginning to their end; download it, or pipe it"
SAID = {
    "ftp": "its server redirects to ftp://a/b.csv, which is not an address of http",
    "loop": "its server redirects without end",
    "whole": f"{WHOLE} to - (as by curl)",
    "cut": "its server sent fewer bytes than it announced",
    "more": "its server sent 800 of 810 bytes",
    "fewer": "its server announced 790 bytes, and sends more or fewer",
}


@pytest.mark.parametrize("kind", SAID)
def test_odd_answers_of_a_server_are_told(odd, tmp_path, kind):
    path = f"{odd[1]}/{kind}/a.csv"
    result = invoke("solve", path, "-o", tmp_path / "out.csv")
    assert (result.exit_code, result.stderr) == (2, f"batchsolve: {path}: {SAID[kind]}\n")


def n_requests_of(server, address, out):
    """Solve a file without oddities; return the number of requests."""
    bs.solve_file(f"{address}/usual/a.csv", out, jobs=1)
    n, server.n_requests = server.n_requests, 0
    return n


def test_no_row_is_lost_if_an_answer_is_short(odd, tmp_path):
    server, address = odd
    usual, errors = tmp_path / "usual.csv", []
    with small_blocks(400):
        n = n_requests_of(server, address, usual)
        for number in range(1, n + 1):
            path, out = f"{address}/short{number}/a.csv", tmp_path / f"{number}.csv"
            server.n_requests = 0
            try:
                bs.solve_file(path, out, jobs=1)
            except bs.InputError as error:
                errors.append(str(error))
            else:
                assert out.read_bytes() == usual.read_bytes()
    assert len(errors) == n - 2  # the first bytes are enough to tell of compression, twice
    assert all(re.search(r"a\.csv: its server (sent|announced) ", error) for error in errors)


def test_waiting_for_a_server_is_told_once(odd, tmp_path, monkeypatch, caplog):
    server, address = odd
    monkeypatch.setattr(places, "SAID_AFTER", 0.01)
    warn_once = places.warn_once

    def heard(said):
        warn_once(said)
        server.go_on.set()

    monkeypatch.setattr(places, "warn_once", heard)
    bs.solve_file(f"{address}/stalls/a.csv", tmp_path / "out.csv", jobs=1)
    said = [r.getMessage() for r in caplog.records if "waiting" in r.getMessage()]
    assert said == [f"waiting for the server of {address}/stalls/a.csv …"]


@pytest.mark.parametrize("kind", BROKEN)
def test_a_server_that_fails_is_given_up_and_the_run_resumed(odd, tmp_path, monkeypatch, kind):
    server, address = odd
    monkeypatch.setattr(places, "GIVEN_UP_AFTER", 0.6)
    with small_blocks(250):
        n = n_requests_of(server, address, tmp_path / "usual.csv")
        path, out = f"{address}/{kind}{n}/a.csv", tmp_path / "out.csv"
        result = invoke("solve", path, "-o", out, "-j", "1")
        said = f"batchsolve: {path}: {BROKEN[kind]}\n"
        kept = f"batchsolve: the rows done are kept in {out}.partial; go on with --resume\n"
        assert (result.exit_code, result.stderr) == (2, said + kept)
        server.go_on.set()
        assert invoke("solve", path, "-o", out, "-j", "1", "--resume").exit_code == 0
    assert out.read_bytes() == (tmp_path / "usual.csv").read_bytes()


@pytest.mark.parametrize("kind", BROKEN)
def test_a_problem_file_that_is_not_sent_is_no_invalid_row(odd, tmp_path, monkeypatch, kind):
    server, address = odd
    monkeypatch.setattr(places, "GIVEN_UP_AFTER", 0.6)
    (tmp_path / "corpora" / "q.dlx").write_bytes(converted("queens:6", "dlx"))
    files, out = [f"{address}/{kind}/q.dlx", f"{address}/usual/q.dlx"], tmp_path / "out.csv"
    result = invoke("count", *files, "-o", out)
    assert result.exit_code == 2
    assert f"q.dlx: {BROKEN[kind]}" in result.stderr
    server.go_on.set()
    assert bs.count_file(files, out, resume=True).multiple == 2
    assert bs.count(files[1]).count == 4


@pytest.mark.skipif(os.name == "nt", reason="names of files are UTF-16 there")
def test_a_name_that_is_not_utf_8_is_escaped_in_tables_and_messages(tmp_path):
    path, out = (tmp_path / os.fsdecode(name) for name in (b"\xff.csv", b"\xff.parquet"))
    shown = f"{tmp_path}/\\xff.csv"
    path.write_text(f"puzzle\n{PUZZLE}\n{PUZZLE}\n12\n")
    bs.solve_file(path, out, filename=True)
    assert pq.read_table(pa.BufferReader(out.read_bytes()))["filename"].to_pylist() == [shown] * 3
    bs.dedupe(path, tmp_path / "out.csv", mark=True)
    assert (tmp_path / "out.csv").read_text().splitlines()[2] == f"{PUZZLE},{shown}#1"
    for row, why in ((3, "#3: 2 characters"), (4, ": there is no row 4; the last one is 3")):
        with pytest.raises(bs.InputError, match=f"^{re.escape(shown + why)}"):
            bs.read_problem(f"{path}#{row}")


def test_addresses_of_other_schemes_are_opened_by_fsspec(corpora, tmp_path, monkeypatch):
    """Like ``hf://``, which a class in the package huggingface_hub opens."""
    fsspec = pytest.importorskip("fsspec")
    from fsspec.implementations.memory import MemoryFileSystem

    class Hub(MemoryFileSystem):
        protocol = "hub"
        store, pseudo_dirs = {}, [""]

        @classmethod
        def _strip_protocol(cls, path):
            return super()._strip_protocol(path.replace("hub://", "memory://"))

    fsspec.register_implementation("hub", Hub, clobber=True)
    for name in ("a.csv", "b.csv"):
        Hub().pipe(f"datasets/nobody/{name}", (corpora / name).read_bytes())
    bs.solve_file([corpora / "a.csv", corpora / "b.csv"], tmp_path / "here.csv")
    for inputs in ("hub://datasets/nobody", "hub://datasets/nobody/*.csv"):
        bs.solve_file(inputs, tmp_path / "there.csv", jobs=2)
        assert (tmp_path / "there.csv").read_bytes() == (tmp_path / "here.csv").read_bytes()
    monkeypatch.setattr(Hub, "info", Mock(side_effect=LookupError("no route")))
    with pytest.raises(bs.OutputError, match=r"^hub://nobody: cannot be written: no route$"):
        bs.solve_file(corpora / "a.csv", "hub://nobody")


def test_files_that_share_a_position_are_read_in_any_order(tmp_path, request):
    """Those of fsspec in memory are one object each; members of an archive are read in turn."""
    fsspec = pytest.importorskip("fsspec")
    data = b"".join(b"%05d\n" % k for k in range(400))
    (tmp_path / "in.txt").write_bytes(data)
    with tarfile.open(tmp_path / "in.tar", "w") as tar:
        tar.add(tmp_path / "in.txt", "in.txt")
    fsspec.filesystem("memory").pipe("/in.txt", data)

    def read(begin):
        with places.open_to_read(address) as file:
            file.seek(begin)
            return b"".join(file.read(6) for _ in range(200))

    request.addfinalizer(partial(sys.setswitchinterval, sys.getswitchinterval()))
    sys.setswitchinterval(1e-6)  # so that threads take turns within a read
    begins = [1_200 * (k % 2) for k in range(16)]
    for address in ("memory://in.txt", f"tar://in.txt::{tmp_path / 'in.tar'}"):
        with ThreadPoolExecutor(4) as executor:
            found = list(executor.map(read, begins))
        assert found == [data[begin : begin + 1_200] for begin in begins]
        with places.open_to_read(address) as one, places.open_to_read(address) as other:
            assert [file.read(6) for file in (one, other, one)] == [data[:6], data[:6], data[6:12]]
            assert one.size() == other.size() == len(data)


def test_worker_processes_lose_no_rows_though_each_has_its_own_memory(corpora, tmp_path):
    memory = pytest.importorskip("fsspec").filesystem("memory")
    in_processes = {"backend": "loky", "jobs": 2}
    assert bs.solve_file(corpora / "a.csv", "memory://out", **in_processes).rows == 40
    with memory.open("out/part-000000.parquet") as file:
        assert ids(file) == list(range(40))
    memory.pipe("/a.csv", (corpora / "a.csv").read_bytes())
    with pytest.raises(bs.InputError, match=r"^memory://a.csv: is not in the memory of this pro"):
        bs.solve_file("memory://a.csv", tmp_path / "out.csv", **in_processes)


def test_what_an_address_needs_is_said(monkeypatch, tmp_path):
    missing = Mock(side_effect=ImportError("No module named 'huggingface_hub'"))
    monkeypatch.setitem(sys.modules, "fsspec.core", SimpleNamespace(url_to_fs=missing))
    with pytest.raises(bs.InputError, match="pip install fsspec huggingface_hub"):
        bs.solve_file("hf://datasets/nobody/nothing/in.csv", tmp_path / "out.csv")
