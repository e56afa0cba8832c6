"""Summaries are sentences, in `str` and in `repr`; in the log, see test_progress.py."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from conftest import EASY

import batchsolve as bs
from batchsolve.errors import InWords

PUZZLES = ["1.....2..3.....4", "12..............", "11.............."]
TABLE = pa.table({"puzzle": PUZZLES})
COSTLY = bs.ExactCover.from_options([["a"], ["a"], ["a"]], costs=[3, 1, 2])

SAID = {
    "solve_batch": (lambda: bs.solve_batch(PUZZLES), "3 rows: 1 invalid, 1 multiple, 1 unique"),
    "audit": (lambda: bs.audit(TABLE, TABLE), "3 rows to train with, 3 to test; 2 test rows leak"),
    "evaluate": (
        lambda: bs.evaluate(TABLE.append_column("prediction", TABLE["puzzle"])),
        "3 rows: 0 right, 0.0 % (0.0–65.8)",
    ),
    "estimate": (lambda: bs.estimate("queens:8"), "nodes: 1178, solutions: 92"),
    "sample": (lambda: bs.sample("queens:6", 3), "3 covers of 4"),
    "split": (lambda: bs.split("queens:6", depth=2), "18 stacks; 0 covers and 7 nodes above"),
    "cheapest": (lambda: bs.cheapest(COSTLY, 2), "2 cheapest covers; costs 1 to 2"),
    "count": (
        lambda: replace(bs.count(["queens:6"])[0], seconds=0),
        "4 solutions, complete; 107 nodes; 0.0 s by cells",
    ),
    "canonical_forms": (lambda: bs.canonical_forms(PUZZLES[:2]), "2 canonical forms"),
}


@pytest.mark.parametrize("call", SAID)
def test_results_are_said_in_one_line(call):
    result, words = SAID[call][0](), SAID[call][1]
    assert isinstance(result, InWords)
    assert repr(result) == f"{type(result).__name__}({words})"
    assert "=" not in str(result)


def test_all_results_are_in_words():
    """No other public dataclass is a result that would be dumped field by field."""
    fields = {name for name in bs.__all__ if hasattr(getattr(bs, name), "__dataclass_fields__")}
    in_words = {name for name in fields if issubclass(getattr(bs, name), InWords)}
    records = {"Answer", "Cage", "FileSettings", "PricedCover", "Progress", "PuzzleSettings"}
    things = {"Picture", "Reading", "Rules", "SearchSettings", "Stacks", "Symmetries"}
    assert fields - in_words <= records | things


def rated(folder):
    return bs.rate_file(pa_written(folder, [EASY]), folder / "out.csv")


def pa_written(folder, puzzles):
    (folder / "in.txt").write_text("\n".join(puzzles))
    return folder / "in.txt"


FILES = {
    "rate_file": (rated, "RateSummary(1 row: 1 unique; "),
    "augment_file": (
        lambda f: bs.augment_file(pa_written(f, PUZZLES), f / "out.csv", 2, seed=5),
        "AugmentSummary(3 rows: 4 images, 1 invalid (row 3: ",
    ),
    "dedupe": (
        lambda f: bs.dedupe(pa_written(f, [*PUZZLES, PUZZLES[0]]), f / "out.csv"),
        "DedupeSummary(4 rows: 3 kept (1 of them invalid), 1 repeated; ",
    ),
    "generate_file": (
        lambda f: bs.generate_file(f / "out.csv", 2, box="2x2", seed=5),
        "GenerateSummary(2 rows: 2 unique, seed 5; ",
    ),
    "partition": (
        lambda f: bs.partition(pa_written(f, PUZZLES), f / "parts", seed=5),
        "PartitionSummary(3 rows: 2 train (66.7 %), 1 test (33.3 %), 1 invalid, seed 5; ",
    ),
}


@pytest.mark.parametrize("call", FILES)
def test_summaries_of_files_are_short(call, tmp_path):
    summary = FILES[call][0](tmp_path)
    assert repr(summary).startswith(FILES[call][1])
    assert repr(summary).endswith(" rows/s)")
    assert str(summary).startswith(repr(summary).partition("(")[2][:-1])


def test_a_drawn_seed_is_in_the_summary(tmp_path):
    source = pa_written(tmp_path, PUZZLES[:2])
    first = bs.augment_file(source, tmp_path / "a.csv", 3, seed=None)
    assert bs.augment_file(source, tmp_path / "b.csv", 3, seed=first.seed).images == first.images
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    made = bs.generate_file(tmp_path / "c.csv", 3, box="2x2", seed=None)
    assert f", seed {made.seed}; " in str(made)
    again = bs.generate_table(3, box="2x2", seed=made.seed)
    assert again["puzzle"].to_pylist()[0] in (tmp_path / "c.csv").read_text()
    parts = bs.partition(source, tmp_path / "p", parts="a=0.5,b=0.5", seed=None)
    assert f", seed {parts.seed}; " in str(parts)
    assert np.uint64(parts.seed) == parts.seed
