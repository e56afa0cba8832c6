"""Parts of a table: no leak of either kind, the shares, and the same parts with any workers."""

import json
from itertools import chain, count
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from conftest import LIBRARIES, PUZZLE, dataset, frame_of, rows_of_csv, with_a_clue_more
from cutting import contents
from invoking import invoke, refused
from oracles import canonical_form

import batchsolve as bs
from batchsolve.runs import partition

NINES = dataset("sudoku9.csv", "puzzle", "solution").slice(0, 100)
SIXES = bs.generate_table(48, box=(2, 3), seed=1, clues=(9, 14))


def with_relatives(n):
    """Return puzzles with ids: some, images of the first of them, and these with a clue more."""
    some = NINES.slice(0, n)
    images = bs.augment(some.slice(0, n // 3), 2, seed=3).drop_columns("source_row")
    table = pa.concat_tables([some, images, with_a_clue_more(images)])
    table = table.take(np.random.default_rng(5).permutation(len(table)))
    clues = [81 - text.count(".") for text in table["puzzle"].to_pylist()]
    return table.append_column("id", pa.array(range(len(table)))).append_column("clues", [clues])


@pytest.mark.parametrize("seed", range(2))
def test_relatives_stay_together_and_shares_are_kept(seed):
    table = with_relatives(100)  # 33 groups of 5 rows, and 67 rows
    how = {"parts": {"train": 0.7, "dev": 0.1, "test": 0.2}, "seed": seed}
    made = bs.partition(table, **how)
    shares = {name: len(part) / 232 for name, part in made.items()}
    assert shares == pytest.approx(how["parts"], abs=1 / 232)
    ids = [part["id"].to_pylist() for part in made.values()]
    assert sorted(chain.from_iterable(ids)) == list(range(232))
    assert all(each == sorted(each) for each in ids)
    for one, other in (("train", "dev"), ("train", "test"), ("dev", "test")):
        assert bs.audit(made[one], made[other]).test.leaks == 0
    again = bs.partition(table.drop_columns("solution"), **how, jobs=2, chunk=9)
    assert [part["id"].to_pylist() for part in again.values()] == ids
    assert bs.partition(table, parts=how["parts"], seed=9)["test"]["id"].to_pylist() != ids[2]


def test_groups_are_those_of_canonical_forms_of_puzzles_and_solutions():
    """Every solution of 6×6 has many puzzles; the groups are found once more in plain Python."""
    sixes = SIXES.slice(0, 14)
    rows = zip(sixes["puzzle"].to_pylist(), sixes["solution"].to_pylist(), strict=True)
    parse = bs.Sudoku(2, 3).parse
    forms = [[canonical_form(parse(text), 2, 3)[0] for text in row] for row in rows]
    made = bs.partition(sixes.select(["puzzle"]), parts="a=0.5,b=0.5")
    parts = {text: name for name, part in made.items() for text in part["puzzle"].to_pylist()}
    part_of = [parts[text] for text in sixes["puzzle"].to_pylist()]
    of_form = {}
    for k, (puzzle, solution) in enumerate(forms):
        for form in (("puzzle", puzzle), ("solution", solution)):
            assert of_form.setdefault(form, part_of[k]) == part_of[k]
    assert len(made["a"]) == pytest.approx(7, abs=2)
    assert len(of_form) < 2 * 14  # some are related


def test_each_stratum_has_the_shares():
    table = with_relatives(90)
    made = bs.partition(table, parts={"train": 0.75, "test": 0.25}, by="clues", bins=[46])
    low = [np.count_nonzero(np.array(part["clues"]) < 46) for part in made.values()]
    for counts in (low, np.subtract([len(part) for part in made.values()], low)):
        assert counts[0] / sum(counts) == pytest.approx(0.75, abs=0.1)
    assert len(made["train"]) == pytest.approx(0.75 * len(table), abs=1)
    rare = table.slice(0, 40).set_column(3, "clues", [pa.array(range(40))])  # one row of each
    tests = [bs.partition(rare, by="clues", seed=k)["test"]["clues"].to_pylist() for k in range(3)]
    assert {*map(len, tests)} <= {7, 8, 9}
    assert tests[0] != tests[1]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".jsonl", ".tsv.gz", ".txt"])
def test_files_have_the_format_of_the_input_and_the_same_bytes(suffix, tmp_path):
    table = with_relatives(30)
    name = str(tmp_path / f"in{suffix}")
    if suffix == ".txt":
        Path(name).write_text("\n".join(table["puzzle"].to_pylist()))
    else:
        pacsv.write_csv(table, tmp_path / "given.csv")
        bs.dedupe(tmp_path / "given.csv", name, mark=True)
    written = []
    for k, how in enumerate([{}, {"jobs": 2, "chunk": 5}, {"backend": "loky", "jobs": 2}]):
        summary = bs.partition(name, tmp_path / f"{k}", by=None, seed=4, **how)
        assert summary.parts == {"train": 56, "test": 14}
        assert (summary.groups, summary.largest) == (10, 5)
        kept = ".csv" if suffix == ".txt" else suffix
        files = contents(tmp_path / f"{k}")
        assert sorted(files) == [f"test{kept}", f"train{kept}"]
        written.append(files)
    if not suffix.endswith("gz"):  # whose blocks are compressed apart
        assert written[0] == written[1] == written[2]


def test_hard_cases_are_said(tmp_path, caplog):
    caplog.set_level("INFO")
    images = bs.augment(pa.table({"puzzle": [PUZZLE]}), 9, seed=1)
    made = bs.partition(images, parts={"a": 0.5, "b": 0.5})
    assert [len(part) for part in made.values()] == [9, 0]  # one group
    assert "9 a (100.0 %), 0 b (0.0 %), 1 group of up to 9 rows" in caplog.text
    malformed = pa.table({"puzzle": [PUZZLE, "12", "11..............", "12"]})
    made = bs.partition(malformed, parts="a=0.5,b=0.5")
    assert "3 invalid, seed " in caplog.text
    both = made["a"]["puzzle"].to_pylist() + made["b"]["puzzle"].to_pylist()
    assert sorted(both) == sorted(malformed["puzzle"].to_pylist())
    empty = bs.partition(malformed.slice(0, 0))
    columns = {name: (len(part), part.column_names) for name, part in empty.items()}
    assert columns == dict.fromkeys(("train", "test"), (0, ["puzzle"]))
    (tmp_path / "empty.csv").write_text("id,puzzle\n")
    assert invoke("partition", tmp_path / "empty.csv", "-o", tmp_path / "parts").exit_code == 1
    assert (tmp_path / "parts" / "test.csv").read_text() == "id,puzzle\n"
    ruled = pa.table({"puzzle": [PUZZLE] * 2, "rules": ["x", ""]})
    assert [len(part) for part in bs.partition(ruled, parts="a=0.5,b=0.5").values()] == [1, 1]


def test_the_command_says_what_it_did(tmp_path):
    table = with_relatives(30)
    pacsv.write_csv(table, tmp_path / "in.csv")
    words = ["partition", tmp_path / "in.csv", "-o", tmp_path / "parts", "--seed", 4]
    done, said = invoke(*words), "70 rows: 56 train (80.0 %), 14 test (20.0 %), 10 groups of up to"
    assert (done.exit_code, done.stderr[: len(said)]) == (0, said)
    assert len(rows_of_csv(tmp_path / "parts" / "test.csv")) == 14
    facts = json.loads(invoke(*words, "--by", "clues", "--json", "-j", 2).stdout)
    assert (facts["backend"], facts["jobs"], facts["engine"]) == ("threading", 2, "lanes")
    assert sum(facts["strata"]["45"].values()) == table["clues"].to_pylist().count(45)


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_parts_of_tables_can_be_files(library, tmp_path):
    table = with_relatives(30)
    frame = frame_of(library, table)
    made = bs.partition(frame, seed=4)
    assert bs.partition(frame, tmp_path / "parts", seed=4).parts == {"train": 56, "test": 14}
    for name, part in bs.partition(table, seed=4).items():
        assert type(made[name]) is type(frame)
        for other in (made[name], pq.read_table(tmp_path / "parts" / f"{name}.parquet")):
            assert pa.table(other).select(part.column_names).to_pydict() == part.to_pydict()
    pacsv.write_csv(table, tmp_path / "in.csv")
    bs.partition((each for each in [tmp_path / "in.csv"]), tmp_path / "csv", seed=4)
    assert len(rows_of_csv(tmp_path / "csv" / "test.csv")) == 14


def test_shares_of_single_precision_add_up():
    parts = {"a": np.float32(0.1), "b": np.float32(0.9)}
    assert sum(map(len, bs.partition(SIXES.slice(0, 40), parts=parts).values())) == 40


def test_no_part_of_an_earlier_run_stays_beside_the_new_parts(tmp_path):
    """Its rows could be those of the new training part."""
    pacsv.write_csv(with_relatives(9), tmp_path / "in.csv")
    words = ["partition", tmp_path / "in.csv", "-o", tmp_path / "pp", "--parts"]
    assert invoke(*words, "train=0.8,test=0.2").exit_code == 0
    before = contents(tmp_path / "pp")
    said = refused(*words, "train=0.5,dev=0.5")
    assert said.startswith(f"batchsolve: {tmp_path}/pp/test.csv: is another table in the folder of")
    assert said.endswith("in common with them; move or delete it, or name another folder")
    assert contents(tmp_path / "pp") == before
    (tmp_path / "pp" / "test.csv").unlink()
    (tmp_path / "pp" / "README.md").write_text("made by partition")
    assert invoke(*words, "train=0.5,dev=0.5").exit_code == 0
    with pytest.raises(bs.OutputError, match=r"pp/dev.csv: is another table"):
        bs.partition(with_relatives(9), tmp_path / "pp", parts="train=0.5,dev=0.5")  # Parquet
    with pytest.raises(bs.OutputError, match=r"README.md: cannot be written: File exists"):
        bs.partition(tmp_path / "in.csv", tmp_path / "pp" / "README.md")
    bs.partition(tmp_path / "in.csv", tmp_path)  # the input may lie there


@pytest.mark.parametrize("function", ["table_or_file", "_drawn"])
def test_parts_of_two_runs_are_never_together(function, tmp_path, monkeypatch):
    """A run ends before its last part is written, or its input is replaced between its passes."""
    given, out = tmp_path / "in.csv", tmp_path / "pp"
    pacsv.write_csv(with_relatives(9), given)
    bs.partition(given, out, seed=1)
    before, n_calls, usual = contents(out), count(1), getattr(partition, function)

    def disturbed(*how):
        if function == "_drawn":
            given.write_text(given.read_text() + "\n")
        elif next(n_calls) == 2:
            raise OSError(28, "No space left on device")
        return usual(*how)

    monkeypatch.setattr(partition, function, disturbed)
    with pytest.raises((OSError, bs.InputError), match=r"No space|in\.csv: was changed while"):
        bs.partition(given, out, seed=2)
    assert contents(out) == before
    monkeypatch.undo()
    bs.partition(given, out, seed=2)
    assert contents(out) != before


def test_blocks_of_blank_lines_are_in_no_stratum(tmp_path):
    (tmp_path / "in.csv").write_text("puzzle,level\n1.....2..3.....4,a\n\n12....2..3.....4,b\n")
    summary = bs.partition(tmp_path / "in.csv", tmp_path / "pp", by="level", seed=1, chunk=1)
    assert summary.rows == 2


def test_the_text_of_a_grid_is_a_row(tmp_path):
    assert bs.partition(PUZZLE, tmp_path / "pp").rows == 1
