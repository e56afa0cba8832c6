"""The command line: help, rejected arguments and messages on standard error."""

import errno
import json
import os
import platform
import re
import shlex
import signal
import stat
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import fields
from textwrap import indent
from unittest.mock import Mock

import pyarrow as pa
import pytest
from click.shell_completion import ShellComplete
from conftest import PUZZLE as GRID, SOLUTION
from invoking import invoke, refused, run_python

from batchsolve.cli import all_commands, app
from batchsolve.cli.options import HEADINGS, Session, meanings_of
from batchsolve.engines import engine_names
from batchsolve.settings import FileSettings, PuzzleSettings, SearchSettings

COMMANDS = all_commands()


def shown(command):
    """Return the help of a command as one line."""
    result = invoke(command, "--help")
    assert result.exit_code == 0
    return " ".join(result.output.split())


@pytest.mark.parametrize("command", COMMANDS)
def test_help_says_what_every_option_does(command):
    text = shown(command)
    assert " ".join(COMMANDS[command].help.split()) in text
    for option in COMMANDS[command].params:
        assert option.help
        assert " ".join(option.help.split()) in text


@pytest.mark.parametrize("command", COMMANDS)
def test_an_option_given_twice_adds_up_or_is_refused(command):
    def given(*flags):
        how = {**app.context_settings, "resilient_parsing": True}  # click keeps the names of help
        return COMMANDS[command].make_context(command, [*flags], **how).params

    for option in COMMANDS[command].params:
        if option.param_type_name != "option":
            continue
        first, last = option.opts[0], option.opts[-1]
        if option.is_flag:  # the second says the same
            assert given(first) == given(first, last)
        elif option.multiple:
            assert given(first, "a", last, "b")[option.name] == ("a", "b")
        else:
            again = f"{last}=2" if last.startswith("--") else f"{last}2"
            assert f"{first} takes one value; give it once" in refused(command, first, 1, again)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_stands_once_under_a_heading(command):
    text = invoke(command, "-h", env={"COLUMNS": "80"}).output
    assert max(map(len, text.splitlines())) <= 80
    sections = dict(re.findall(r"^(\w[\w ]*):\n((?:  .*\n)+)", text, re.M))
    assert list(sections) == [heading for heading in HEADINGS if heading in sections]
    of_grids = ["count", "enumerate", "split", "estimate", "show", "convert", "scale"]
    assert command not in of_grids or "--alphabet" in sections["Notation of grids"]
    rows = re.findall(r"^  (\S.*?)(?:  |$)", "".join(sections.values()), re.M)
    shown = [word.strip(",") for row in rows for word in row.split() if word.startswith("-")]
    options = [each for each in COMMANDS[command].params if each.param_type_name == "option"]
    flags = [flag for each in options for flag in each.opts]
    assert sorted(shown) == sorted(["-h", "--help", *flags])


def test_the_list_of_commands_begins_with_solve_and_says_whole_sentences():
    tasks = invoke("--help", env={"COLUMNS": "80"}).output.partition("Tables of puzzles:\n")[2]
    assert re.findall("^  ([a-z]+)  ", tasks, re.M) == list(COMMANDS)
    assert sorted(app.commands) == sorted(COMMANDS)
    assert "..." not in tasks


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_in_the_help_are_commands_with_options_that_there_are(command):
    lines = map(str.strip, COMMANDS[command].epilog.splitlines())
    examples = [shlex.split(line) for line in lines if line.startswith("$ batchsolve ")]
    assert examples
    for _, program, name, *arguments in examples:
        assert (program, name) == ("batchsolve", name)
        flags = {flag for option in COMMANDS[name].params for flag in option.opts}
        assert {word for word in arguments if word.startswith("-") and word != "-"} <= flags
        assert " ".join([program, name]) in shown(command)


def test_the_list_of_engines_begins_with_auto_and_says_what_each_takes():
    said = {line.split()[0]: line for line in invoke("engines").output.splitlines()}
    assert list(said) == ["auto", *engine_names()]
    takes_all = [name for name, line in said.items() if "any exact cover" in line]
    assert takes_all == ["dlx", "bits", "memo"]
    assert "; exact covers without bounds or colours" in said["dancing-links"]
    assert "; grids of digits only" in said["lanes"]


def test_shells_can_complete_commands():
    assert "#compdef" in python(MAIN, _BATCHSOLVE_COMPLETE="zsh_source").stdout
    typed = {"COMP_WORDS": "batchsolve enum", "COMP_CWORD": "1"}
    done = python(MAIN, _BATCHSOLVE_COMPLETE="bash_complete", **typed)
    assert re.split("[,\n]", done.stdout)[:2] == ["plain", "enumerate"]


@pytest.mark.parametrize(
    "words", ["solve puzz", "solve x --output so", "count queens.d", "dedupe a.csv --against b"]
)
def test_shells_complete_the_names_of_files(words):
    *before, last = words.split()
    found = ShellComplete(app, {}, "batchsolve", "_").get_completions(before, last)
    assert [(each.type, each.value) for each in found] == [("file", last)]


@pytest.mark.parametrize("settings", [SearchSettings, FileSettings, PuzzleSettings, Session])
def test_each_setting_has_a_meaning(settings):
    assert list(meanings_of(settings)) == [declared.name for declared in fields(settings)]


def test_rows_have_other_defaults_and_no_time_limit():
    options = {option.name: option for option in COMMANDS["solve"].params}
    assert "time_limit" not in options
    assert (options["limit"].default, options["split_depth"].default) == (2, 0)


REFUSED = [
    ("sole", "(Did you mean one of: 'sample', 'scale', 'solve'?)"),
    ("count queens:4 --limit 0", "batchsolve: limit is 1 or more, not 0"),
    ("enumerate queens:4 --output - --node-limit 0", "batchsolve: node_limit is 1 or more, not 0"),
    ("solve puzzles.csv --budget 0", "batchsolve: budget is 1 or more, not 0"),
    (f"count queens:4 --budget {2**63}", "batchsolve: budget is at most"),
    ("count queens:4 --time-limit 0", "batchsolve: time_limit is more than 0 seconds, not 0"),
    ("solve puzzles.csv --split-depth -1", "batchsolve: split_depth is 0 or more, not -1"),
    ("solve puzzles.csv --chunk 0", "batchsolve: chunk is 1 or more, not 0"),
    ("count queens:4 --split-depth deep", "split_depth is a whole number, or 'auto', not 'deep'"),
    ("count queens:4 --box 6", "box is a pair, such as (2, 3) or 2x3, not '6'"),
    ("count queens:4 --box ٢x٢", "'٢x٢' ('٢' has digits other than 0 to 9)"),
    ("generate -n 1 --clues ٢٢..٢٦", "('٢٢' has digits other than 0 to 9)"),
    ("count queens:4 --limit few", "'few' is not a valid integer."),
    ("count queens:4 --symmetries no.json", "batchsolve: no.json: No such file or directory"),
    ("estimate queens:4 --seed -1", "a seed is 0 or more, not -1"),
    ("split queens:4 -o x --depth -1", "depth is 0 or more, not -1"),
    (f"split queens:4 -o x --depth {10**30}", f"depth is at most {2**62:,}, not {10**30:,}"),
    ("count queens:4 --run x --engine steam", "unknown engine 'steam'; choose from auto, dlx"),
    ("count queens:4 --engine bits:64", "unknown engine 'bits:64'"),  # only that of memo has a size
    ("count queens:4 --run x --engine lanes", "grids of digits only"),
    ("enumerate queens:4 -o x --engine memo", "only counts, and counts everything"),
    ("scale queens:4 -o x --jobs 2..1", "'2..1' goes down; write 1..2"),
    ("scale queens:4 -o x --jobs 1..999999999", "is more than 1000 numbers"),
    *((f"scale queens:6 --{name} 0 -o x", "1 or more") for name in ("jobs", "repeat", "weak")),
    ("scale queens:6 --jobs two -o x", "is not a number"),
    ("scale queens:6 --split-depth deep -o x", "is not a number"),
    ("scale queens:6 --backend carrier-pigeon -o x", "unknown backend"),
    ("scale queens:6 --engine steam -o x", "unknown engine"),
    ("scale queens:6 --by rating -o x", "give their number with --weak"),
    ("scale queens:6 --weak 1 --forecast-workers 8 -o x", "leave out"),
    *((f"scale queens:6 --latency {n} -o x", "0 to 1,000,000 s") for n in ("-1", "inf", "nan")),
    ("scale queens:6 --forecast-workers 0 -o x", "1 to 250,000, not 0"),
    ("scale queens:6 --forecast-workers 8,250001 -o x", "1 to 250,000, not 250,001"),
    ("scale queens:6 --scheduler tcp://localhost:1 -o x", "takes no address"),
    ("scale nothing:6 -o x", "no such file"),
    ("report .", "holds no experiment"),
]


@pytest.mark.parametrize(("words", "why"), REFUSED)
def test_values_that_make_no_sense_are_refused(words, why, here):
    assert why in refused(*words.split())
    assert not list(here.iterdir())


def python(script, *arguments, **environment):
    """Run a Python script with arguments and environment variables."""
    return run_python("-c", script, *arguments, env=os.environ | environment)


def batchsolve(*words, **how):
    return run_python("-m", "batchsolve", *words, **how)


MAIN = "from batchsolve.__main__ import main; main()"


def main_and_then(code):
    """Return a script that runs a command, and then some lines, however the command has ended."""
    return f"try:\n    {MAIN}\nfinally:\n{indent(code, '    ')}"


UNNEEDED = [
    ("--help", {"numpy", "pyarrow", "joblib", "tqdm"}, "Usage: batchsolve"),
    ("solve --help", {"numpy", "pyarrow", "joblib", "tqdm"}, "Usage: batchsolve solve"),
    ("count queens:6", {"pyarrow", "joblib", "tqdm", "numpy.ma", "batchsolve.tables"}, "4\n"),
    ("count queens:10 --engine dlx --jobs 2", {"joblib"}, "724\n"),
    ("solve datasets/sudoku4.csv -o - --jobs 1", {"pandas"}, "puzzle,given_solution,"),
]


@pytest.mark.parametrize(("words", "modules", "printed"), UNNEEDED)
def test_a_command_imports_nothing_heavy_that_it_does_not_need(words, modules, printed):
    script = f"import sys\nloaded = {modules} & sys.modules.keys()\nassert not loaded, loaded"
    result = python(main_and_then(script), *words.split())
    assert (result.returncode, result.stdout.startswith(printed)) == (0, True), result.stderr


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="made for GNU's C library")
@pytest.mark.parametrize("named", [None, "mimalloc"])
def test_arrow_takes_its_memory_from_the_c_library_unless_told_otherwise(named, monkeypatch):
    monkeypatch.delenv("ARROW_DEFAULT_MEMORY_POOL", raising=False)
    script = main_and_then("import pyarrow\nprint(pyarrow.default_memory_pool().backend_name)")
    environment = {"ARROW_DEFAULT_MEMORY_POOL": named} if named else {}
    result = python(script, "count", "queens:4", "--engine", "dlx", **environment)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["2", named or "system"]


@pytest.mark.parametrize(("module", "words"), [("click", "--help"), ("numpy", "count queens:4")])
def test_an_interrupt_while_modules_are_imported_is_one_line(module, words):
    script = f"""
import signal, sys

class Press:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Press())
signal.signal(signal.SIGINT, signal.default_int_handler)
{MAIN}
"""
    result = python(script, *words.split())
    assert (result.returncode, result.stderr.strip()) == (130, "batchsolve: interrupted")


def test_an_interrupt_before_the_command_line_runs_is_one_line():
    result = python("import batchsolve.__main__, signal\nsignal.raise_signal(signal.SIGINT)")
    assert (result.returncode, result.stderr.strip()) == (130, "batchsolve: interrupted")


SLOW = ["queens:1000", "latin:7 --by options", "latin:7 --memo --graph graph.zdd"]


@pytest.mark.parametrize("words", SLOW)
def test_a_time_limit_holds_while_a_problem_is_read_or_a_graph_drawn(words, here):
    command = ["count", *words.split(), "--time-limit"]
    late, as_json = invoke(*command, 0.1), invoke(*command, 0.1, "--json")
    why = "batchsolve: the time limit was reached before there was a result\n"
    assert (late.exit_code, late.stdout, late.stderr) == (1, "", why)
    facts = json.loads(as_json.stdout)
    assert (as_json.exit_code, facts["count"], facts["complete"]) == (1, 0, False)
    assert as_json.stderr == why
    assert not list(here.iterdir())
    command[1] = "queens:4"
    assert invoke(*command, 60).exit_code == 0


def test_what_dask_logs_is_not_printed():
    """Dask logs lost workers, perhaps after the command has ended."""
    pytest.importorskip("distributed")  # a wheel passes these tests without it
    script = """
import logging, distributed
logging.getLogger("asyncio").error("future exception was never retrieved")
logging.getLogger("tornado.application").error("exception in callback")
logging.getLogger("distributed.client").warning("Couldn't gather 1 keys, rescheduling")
"""
    result = python(main_and_then(script), "engines", "--json")
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.parametrize(("problem", "code"), [("queens:4", 0), ("queens:0", 2)])
def test_a_command_that_used_ray_ends_at_once(problem, code):
    """Python's own exit must not run, because threads of Ray crash in it after Ctrl-C."""
    script = f"""
import atexit, sys, types
sys.modules["ray"] = types.ModuleType("ray")
atexit.register(print, "Python ends")
{MAIN}
"""
    result = python(script, "count", problem, "--quiet")
    assert (result.returncode, result.stdout) == (code, "" if code else "2\n")


def test_main_leaves_an_ignored_interrupt_ignored():
    ignore = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    check = main_and_then("assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN")
    assert python(ignore + check, "--version").returncode == 0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a full disk")
@pytest.mark.parametrize("words", [["--version"], ["solve", "--help"]])
def test_help_that_cannot_be_printed_is_one_message(words):
    with open("/dev/full", "w") as full:
        done = batchsolve(*words, stdout=full)
    why = "batchsolve: standard output: cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (2, why)


@pytest.fixture
def folder(here):
    """Go to a folder with a file of some grids."""
    (here / "in.txt").write_text(f"{GRID}\n" * 20)
    return here


def with_closed(number, *arguments):
    """Run a command with one of its standard streams closed."""
    run = ["sh", "-c", f'exec "$@" {number}>&-', "sh", sys.executable, "-m", "batchsolve"]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    return subprocess.run([*run, *arguments], capture_output=True, text=True, env=environment)


@pytest.mark.parametrize(
    "words",
    ["solve in.txt", "solve in.txt -o x.csv --json", "enumerate queens:6 -o -", "solve --help"],
)
def test_closed_standard_output_is_one_message(words, folder):
    done = with_closed(1, *words.split())
    *_, last = done.stderr.splitlines()
    assert last == "batchsolve: standard output: cannot be written: Bad file descriptor"
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)


@pytest.mark.parametrize("command", [["show", "queens:6"], ["count", "queens:6", "--quiet"]])
def test_a_reader_that_has_seen_enough_ends_a_command_without_an_error_message(command):
    reading, writing = os.pipe()
    os.close(reading)
    done = batchsolve(*command, stdout=writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (2, "")


def test_work_is_done_with_standard_error_closed(folder):
    done = with_closed(2, "solve", "in.txt", "-o", "out.csv", "--backend", "loky", "-j", "1")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len((folder / "out.csv").read_text().splitlines()) == 21
    assert with_closed(2, "count", "queens:6").stdout == "4\n"
    assert with_closed(2, "solve", "nothing.csv").returncode == 2
    assert with_closed("2>&- 1", "count", "queens:6").returncode == 2


def test_output_needs_no_encoding_with_all_characters(here, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "latin-1")
    done = batchsolve("count", "--help")
    assert (done.returncode, "\\u2026" in done.stdout) == (0, True)
    (here / "é.tiling").write_text("board: 1x2\npiece é: XX\n")
    done = batchsolve("draw", "é.tiling", "-o", "-", text=False)
    assert (done.returncode, "é" in done.stdout.decode()) == (0, True)


def test_runs_may_have_names_that_arrow_lacks(folder):
    assert invoke("enumerate", "queens:5", "-o", "r\udcff", "-q").exit_code == 0
    assert invoke("export", "r\udcff", "-o", "x.csv").exit_code == 0
    assert len((folder / "x.csv").read_text().splitlines()) == 11


def test_weights_may_be_larger_than_floats(folder, monkeypatch):
    monkeypatch.setattr("batchsolve.runs.estimate.PROBES_AT_ONCE", 2)
    names = [f"a{k}" for k in range(275)]
    (folder / "x.dlx").write_text("\n".join([" ".join(names), *names * 16]))
    done = invoke("sample", "x.dlx", "-n", "3", "--weighted", "-o", "x.jsonl")
    assert (done.exit_code, "from about 2^1100" in done.stderr) == (0, True)


@pytest.mark.parametrize(("words", "code"), [(["count", "queens:6"], 0), (["solve", "no.csv"], 2)])
def test_a_full_disk_behind_standard_error_changes_no_exit_code(words, code):
    with open("/dev/full", "w") as full:
        done = batchsolve(*words, stderr=full)
    assert done.returncode == code


OUT_OF_MEMORY = "out of memory; give fewer --jobs, or more memory"
CUT_OFF = (
    "a file is cut off (marshal data too short); if it is none of yours, delete the folders "
    "__pycache__ of this installation"
)
UNWRITTEN = "standard output: cannot be written"


OF_THE_MACHINE = [
    (MemoryError(), OUT_OF_MEMORY),
    (RuntimeError("can't start new thread"), OUT_OF_MEMORY),
    (pa.ArrowException("Unknown error: Failed to launch worker thread: Res"), OUT_OF_MEMORY),
    (EOFError("marshal data too short"), CUT_OFF),
    (OSError(errno.EFBIG, "File too large"), f"{UNWRITTEN}: File too large"),
]


@pytest.mark.parametrize(("error", "why"), OF_THE_MACHINE)
def test_errors_of_the_machine_are_one_message(monkeypatch, error, why):
    monkeypatch.setattr("batchsolve.runs.count.count", Mock(side_effect=error))
    assert refused("count", "queens:6") == f"batchsolve: {why}"


@pytest.mark.usefixtures("folder")
def test_memory_that_runs_out_in_a_worker_is_one_message_too(monkeypatch):
    error = pa.ArrowMemoryError("malloc of size 75497472 failed")
    monkeypatch.setattr("batchsolve.runs.outputs._encoded", Mock(side_effect=error))
    result = invoke("solve", "in.txt", "-o", "out.csv")
    kept = "the rows done are kept in out.csv.partial; go on with --resume"
    said = f"batchsolve: {OUT_OF_MEMORY}\nbatchsolve: {kept}\n"
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", said)


def test_a_level_that_was_not_built_is_one_message():
    done = batchsolve("count", "queens:4", env=os.environ | {"BATCHSOLVE_LEVEL": "x"})
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("batchsolve: the native core for the level 'x' is not in ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", ["solve", "count"])
def test_closed_standard_input_is_one_message(command):
    done = with_closed(0, command, "-")
    why = "batchsolve: standard input: Bad file descriptor\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", why)


EVIL = "n\na\x1b]0;b\x07\x9b2J\u202e"


@pytest.mark.parametrize(
    "words",
    ["count X", "count X.dlx", "solve X.csv", "show X.csv X", "X", "runs X", "dedupe in.txt -oX/a"],
)
def test_control_characters_of_names_do_not_reach_the_terminal(words, folder):
    (folder / f"{EVIL}.dlx").write_text(f"a b\n{EVIL}\n")
    done = invoke(*(word.replace("X", EVIL) for word in words.split()))
    assert (done.exit_code, "n\\na\\x1b]0;b\\x07\\x9b2J\\u202e" in done.output) == (2, True)
    assert not set(done.output) & set(EVIL[3:]) - set("]0;b2J")


def test_a_drawing_is_escaped_on_a_terminal_only(tmp_path):
    pty = pytest.importorskip("pty")
    (tmp_path / "\x9b.txt").write_text(GRID)
    command = [sys.executable, "-m", "batchsolve", "draw", "\x9b.txt", "-o", "-"]
    piped = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True).stdout
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, cwd=tmp_path, stdout=theirs) as drawing:
        os.close(theirs)
        shown = b""
        with suppress(OSError):  # the end of the terminal's stream
            while data := os.read(ours, 1 << 16):
                shown += data
    os.close(ours)
    assert drawing.returncode == 0
    assert ("\x9b".encode() in piped, "\x9b".encode() in shown) == (True, False)


WRITING = [
    "solve in.txt -o out.csv",
    "dedupe in.txt -o out.csv",
    "sample queens:6 -o out.jsonl",
    "draw queens:6 -o out.svg",
    "count queens:6 --memo --graph out.zdd",
]


@pytest.mark.parametrize("words", WRITING)
def test_outputs_follow_links_and_spare_what_is_no_file(words, folder):
    *words, out = words.split()
    pipe, link, target = (folder / f"{name}-{out}" for name in ("pipe", "link", "target"))
    os.mkfifo(pipe)
    assert "is a device or a pipe, not a file" in refused(*words, pipe)
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)
    target.write_text("before")
    os.symlink(target, link)
    assert invoke(*words, link).exit_code == 0
    assert os.path.islink(link)
    assert target.read_text() != "before"
    assert not list(folder.glob("*.partial*"))


PREDICTED = f"puzzle,prediction\n{GRID},{SOLUTION}\n"
REPLACED = [
    "evaluate rows.csv --html rows.csv",
    "evaluate rows.csv --plot rows.svg --regions rows.svg",
    "evaluate rows.csv --html regions.txt --regions regions.txt",
    "evaluate folder --html folder/rows.csv",
    "solve rows.csv --regions other.csv -o other.csv",
    "dedupe rows.csv --against other.csv -o other.csv",
    "generate --unlike rows.csv -o rows.csv",
    "generate --unlike folder -o folder/rows.csv",
    "generate --constraints rules.csv -o rules.csv",
    "partition test.csv -o .",
    "sample grid.txt -o grid.txt",
    "sample rows.csv#1 -o rows.csv",
    "convert dlx:cover.json -o cover.json",
    "draw grid.svg -o grid.svg",
    "draw grid.txt --found found.svg -o found.svg",
    "count grid.txt --memo --graph grid.txt",
    "graph grid.txt all.zdd -o all.zdd",
    "split grid.txt --depth 1 -o grid.txt",
    "enumerate grid.txt -o grid.txt",
]


@pytest.mark.parametrize("words", REPLACED)
def test_no_output_replaces_an_input(words, here):
    for name in re.findall(r"[a-z]+\.[a-z]+", words):
        content = f"{GRID}\n" if name.startswith("grid") else PREDICTED
        (here / name).write_text("AABB" * 4 if "regions" in words else content)
    if "folder" in words:
        (here / "folder").mkdir()
        (here / "folder" / "rows.csv").write_text(PREDICTED)
    before = {path: path.read_bytes() for path in here.rglob("*.*")}
    said = refused(*words.split())
    assert re.search("is both input and output; write|all of which is input; write", said)
    assert {path: path.read_bytes() for path in here.rglob("*.*")} == before


MISNAMED = [
    ("evaluate rows.csv --html x.csv --rows x.csv", "x.csv: is both --html and --rows; name"),
    ("evaluate rows.csv --html x.svg --plot ./x.svg", "./x.svg: is both --html and --plot; n"),
    ("evaluate rows.csv --html -", "-: is not printed here; name a file"),
    ("count queens:4 --memo --graph -", "-: is not printed here; name a file"),
    ("count queens:4 --run -", "-: the directory of a run is on disk; name one there"),
    ("count queens:4 --run s3://a/b", "s3://a/b: the directory of a run is on disk; name"),
    ("split queens:8 --depth 1 -o s3://a/b", "s3://a/b: the folder of the parts is on disk;"),
    ("scale queens:6 -o s3://a/b", "s3://a/b: the folder of an experiment is on disk; name"),
    ("draw sudoku:2x2 -o s3://a/b.svg", "s3://a/b.svg: is an address; this output is written"),
    ("partition rows.csv -o -", "-: the folder of the parts is on disk; name one there"),
    ("dedupe rows.csv -o memory://a", "memory://a: memory ends with the command; name a file"),
    ("solve rows.csv -o HTTPS://a/b.csv", "HTTPS://a/b.csv: http takes no files; name a fol"),
    ("partition rows.csv -o s3://a/b", "s3://a/b: the folder of the parts is on disk; name"),
    ("split queens:8 --depth 1 -o ''", "the folder of the parts needs a name, not ''"),
    ("report ''", "the folder of an experiment needs a name, not ''"),
    ("runs ''", "the directory of a run needs a name, not ''"),
    ("count queens:6 -o ''", "the output needs a name, not ''"),
    ("count queens:6 --run run -j 0", "the number of jobs is 1 to 10,000, not 0"),
    ("enumerate queens:6 -o run --backend x", "unknown backend 'x'; choose from threading"),
]


@pytest.mark.parametrize(("words", "why"), MISNAMED)
def test_outputs_have_names_of_their_own(words, why, here):
    (here / "rows.csv").write_text(PREDICTED)
    assert refused(*shlex.split(words)).startswith(f"batchsolve: {why}")
    assert os.listdir(here) == ["rows.csv"]


def test_commands_work_without_docstrings():
    ended = run_python("-OO", "-m", "batchsolve", "count", "queens:4", "-q")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "2\n", "")


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="finds processes by their environment")
@pytest.mark.parametrize("words", ["solve in.txt -o out.csv", "count queens:8 --backend loky -j 2"])
def test_a_command_leaves_no_process_behind(words, folder):
    """Also none in a new session; the environment tells whose it is."""
    batchsolve(*words.split(), env=os.environ | {"OF_TEST": str(folder)}, check=True)
    until = time.monotonic() + 10  # helpers of Python end once their pipe is closed
    while (left := processes_with("OF_TEST", str(folder))) and time.monotonic() < until:
        time.sleep(0.02)
    assert left == []


def processes_with(name, value):
    """Return the processes that have a variable in their environment."""
    each = pytest.importorskip("psutil").process_iter(["pid", "environ"])
    return [one.pid for one in each if (one.info["environ"] or {}).get(name) == value]
