"""Results are sentences, in `str` and in `repr`; those of tables are tested with their calls."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import PUZZLE

import batchsolve as bs
from batchsolve.errors import InWords

COSTLY = bs.ExactCover.from_options([["a"], ["a"], ["a"]], costs=[3, 1, 2])
RATED = bs.RateSummary(rows=3, unique=3, techniques={"guess": 3})

SAID = {
    "estimate": (lambda: bs.estimate("queens:8"), "nodes: 1178, solutions: 92"),
    "sample": (lambda: bs.sample("queens:6", 3), "3 covers of 4"),
    "split": (lambda: bs.split("queens:6", depth=2), "18 stacks; 0 covers and 7 nodes above"),
    "cheapest": (lambda: bs.cheapest(COSTLY, 2), "2 cheapest covers; costs 1 to 2"),
    "count": (
        lambda: replace(bs.count(["queens:6"])[0], seconds=0),
        "4 solutions, complete; 107 nodes; 0.0 s by cells",
    ),
    "canonical_forms": (lambda: bs.canonical_forms([PUZZLE, "." * 16]), "2 canonical forms"),
    "rate": (lambda: RATED, "3 rows: 3 unique; 0.0 s, 0 rows/s"),
}


@pytest.mark.parametrize("call", SAID)
def test_results_are_said_in_one_line(call):
    result, words = SAID[call][0](), SAID[call][1]
    assert repr(result) == f"{type(result).__name__}({words})"
    assert "=" not in str(result)


def test_all_results_are_in_words():
    """No other public dataclass is a result that would be dumped field by field."""
    public = {name: getattr(bs, name) for name in bs.__all__}
    fields = {name for name, one in public.items() if hasattr(one, "__dataclass_fields__")}
    in_words = {name for name in fields if public[name].__repr__ is InWords.__repr__}
    records = {"Answer", "Cage", "FileSettings", "PricedCover", "Progress", "PuzzleSettings"}
    things = {"Picture", "Reading", "Rules", "SearchSettings", "Stacks", "Symmetries"}
    assert fields - in_words <= records | things


def test_a_drawn_seed_is_in_the_summary(tmp_path):
    source = tmp_path / "in.txt"
    source.write_text(f"{PUZZLE}\n12..............\n")
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
