"""The code of the page on machine learning runs, with PyTorch and datasets where they are there."""

import doctest
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import DATASETS, dataset
from invoking import invoke
from test_pages import DOCS, without_times

import batchsolve as bs

PAGE = (DOCS / "guides" / "machine-learning.md").read_text(encoding="utf-8")
PLAIN, *WITH_TORCH = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
WITH_DATASETS = "".join(re.findall(r"^```pycon\n(.*?)^```$", PAGE, re.M | re.S))


FROM_TO = PAGE.partition("## From generate to evaluate")[2].partition("\n## ")[0]
[COMMANDS], [GUESS, IN_PYTHON], [PRINTED] = (
    re.findall(rf"^```{kind}\n(.*?)^```$", FROM_TO, re.M | re.S) for kind in ("sh", "py", "text")
)


def test_ten_commands_go_from_generate_to_evaluate(here, monkeypatch, capsys):
    monkeypatch.syspath_prepend(here)
    Path("guess.py").write_text(GUESS)
    lines = COMMANDS.splitlines()
    assert len(lines) == 10
    for line in lines:
        program, *words = line.split()
        if program == "python":
            monkeypatch.setattr("sys.argv", words)
            exec(compile(GUESS, words[0], "exec"), {"__name__": "__main__"})
        else:
            done = invoke(*words)
            assert done.exit_code == 0, line
    assert done.stdout == PRINTED
    assert "naked single" in Path("report.html").read_text()
    page = {}
    exec(IN_PYTHON, page)
    assert capsys.readouterr().out == PRINTED
    assert page["predictions"].equals(pq.read_table("predictions.parquet"))
    assert page["checked"].equals(pq.read_table("checked.parquet"))
    assert page["by_technique"].all.rows == 200


def test_commands_print_what_the_page_says(here):
    """Those whose input the page makes are run; times differ, of course."""
    blocks = re.findall(r"^```console\n(.*?)^```$", PAGE, re.M | re.S)
    [block] = [each for each in blocks if each.startswith("$ batchsolve generate")]
    shown = re.findall(r"^\$ batchsolve (.*)\n([^$]*)", block, re.M)
    assert len(shown) == 3
    for words, said in shown:
        assert without_times(invoke(*words.split()).stderr) == without_times(said)
    said = re.findall(r"^\$ batchsolve (\w+) .*--seed (\d+).*\n(.*)", "".join(blocks), re.M)
    assert [command for command, *_ in said] == ["partition", "augment", "generate", "generate"]
    assert all(f", seed {seed}; " in line for _, seed, line in said)


@pytest.fixture
def tables(here):
    """Go to a folder with the two tables that the page reads."""
    table = dataset("sudoku4.csv", "puzzle", "solution")
    table = table.append_column("clues", pa.array([4] * len(table)))
    pq.write_table(table.slice(10), "clean.parquet")
    pq.write_table(table.slice(0, 10), "test.parquet")
    return table


def test_the_dataset_has_the_rows_of_a_table(tables):
    page = {}
    exec(PLAIN, page)
    puzzles = page["Puzzles"](page["test"])
    assert len(puzzles) == 10
    for k in range(10):
        puzzle, solution = puzzles[k]
        text = tables["puzzle"][k].as_py()
        assert puzzle.tolist() == [0 if symbol == "." else int(symbol) for symbol in text]
        assert "".join(map(str, solution)) == tables["solution"][k].as_py()
        assert np.all((puzzle == 0) | (puzzle == solution))


def test_the_model_is_trained_and_evaluated(tables, capsys):
    pytest.importorskip("torch")
    page = {}
    for block in (PLAIN, *WITH_TORCH):
        exec(block, page)
    assert pq.read_table("predictions.parquet").column_names[-1] == "prediction"
    assert capsys.readouterr().out.splitlines()[-1].startswith("all")
    assert tuple(page["puzzles"].shape) == tuple(page["solutions"].shape) == (40, 16)


def test_a_stream_repeats_no_row_and_no_image(tables, monkeypatch):
    """A stand-in for PyTorch plays the workers; the real one runs above, where it is installed."""
    [block] = [each for each in WITH_TORCH if "IterableDataset" in each]
    worker = SimpleNamespace(id=0, num_workers=2)
    data = SimpleNamespace(IterableDataset=object, get_worker_info=lambda: worker)
    page = {"torch": SimpleNamespace(utils=SimpleNamespace(data=data)), "DataLoader": None}
    exec(PLAIN + block.partition("\n\n\nstream")[0], page)
    stream, seen = page["Images"]("clean.parquet", rows=7), []
    for stream.epoch in range(2):
        for worker.id in range(2):
            seen.append([(tuple(p.tolist()), tuple(s.tolist())) for p, s in stream])
    forms = [bs.canonical_forms(np.array([p for p, _ in each]), box="2x2").grids for each in seen]
    given = bs.canonical_forms(tables["puzzle"].to_pylist()[10:]).grids
    for epoch in (0, 2):  # every row once, by one of the workers
        both = [*map(bytes, forms[epoch]), *map(bytes, forms[epoch + 1])]
        assert sorted(both) == sorted(map(bytes, given))
    assert [len(each) for each in seen] == [21, 19, 21, 19]
    assert sum(one == other for one, other in zip(seen[0], seen[2], strict=True)) < 3


def test_the_examples_print_what_the_page_says(tables, tmp_path, monkeypatch):
    config = pytest.importorskip("datasets.config")  # the folder of that name has none
    monkeypatch.setattr(config, "HF_DATASETS_CACHE", tmp_path / "cache")
    bs.augment_file(DATASETS / "sudoku9.csv", "augmented.parquet", n=1)
    examples = doctest.DocTestParser().get_doctest(WITH_DATASETS, {}, "page", None, None)
    assert not doctest.DocTestRunner().run(examples).failed
