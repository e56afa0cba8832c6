"""Commands that write a table write the same bytes with any workers, and if interrupted."""

from functools import partial
from itertools import product
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from conftest import EASY, interrupted_after
from cutting import content_of, small_blocks

import batchsolve as bs
from batchsolve.runs import outputs, specs

CHAIN = "5.169..3.36..4...2........64..2.53......3.27.9..8...4..95324...27..5...4..497.5.3"
SMALL = "1.....2..3.....4"
DRAWN = {"jigsaw": True, "cages": (2, 4), "marks": "parity", "lines": "thermo+renban"}
FOURS = [SMALL, "12" + "." * 14, "11..............", "12"]
CAGES = [f"{'.' * 16},AABB............,A={3 + k % 6} B=6,{'x' * (k % 5 == 4)}" for k in range(60)]
SOLVED = ["a,12,", f"b,{SMALL},1243342143122134", f'"c,d",{"." * 16},']
INPUTS = {
    "solve": ["puzzle", *[*FOURS, "." * 81, EASY] * 20],
    "solve by rules": ["puzzle,cages,sums,rules", *CAGES],
    "augment": ["id,puzzle,solution", *SOLVED * 20],
    "rate": ["puzzle", *[EASY, CHAIN, EASY[:80]] * 12],
    "generate": [],
    "count": ["id,problem", *["1,queens:7", "2,langford:4", "3,queens:x"] * 20],
}


FORMATS = [".jsonl.zst", ".tsv.bz2", ".parquet"]


def generate(_, out, **how):
    return bs.generate_file(out, 60, **how)


AUGMENTED = {"original": True, "seed": 9, "backend": "loky"}
WHOLE = {"budget": 10**6}  # on a slow machine rows would be cut, and visit more nodes to a limit
COMMANDS = {  # the function, its settings, and a setting of another run
    "solve": (bs.solve_file, {"canonical": True, **WHOLE}, {"limit": 3}),
    "solve by rules": (bs.solve_file, {"backend": "loky", **WHOLE}, {"rule_columns": "none"}),
    "augment": (partial(bs.augment_file, n=5), AUGMENTED, {"seed": 8}),
    "rate": (bs.rate_file, {"backdoor": True}, {"steps": True}),
    "generate": (generate, {"box": (2, 2), "seed": 3, **DRAWN}, {"seed": 4}),
    "count": (bs.count_file, {"jobs": 2}, {"limit": 9}),
}


OF_A_RUN = {"jobs", "backend", "seconds", "rows_per_second"}


def totals(summary):
    """Return what a summary says of the rows."""
    return {name: value for name, value in vars(summary).items() if name not in OF_A_RUN}


def bytes_of(output):
    path = Path(output)
    return [content_of(each) for each in (sorted(path.iterdir()) if path.is_dir() else [path])]


CASES = [*product(COMMANDS, [".csv.gz", "/"]), *product(["solve"], FORMATS)]


@pytest.mark.parametrize(("command", "suffix"), CASES)
def test_workers_blocks_and_interruptions_change_no_byte(command, suffix, tmp_path, monkeypatch):
    function, how, other = COMMANDS[command]
    [setting] = other
    monkeypatch.setattr(specs, "JOURNAL_SECONDS", 0)
    monkeypatch.setattr(outputs, "ROW_GROUP", 50)
    (tmp_path / "in.csv").write_text("\n".join([*INPUTS[command], ""]))
    make = partial(function, tmp_path / "in.csv")
    one, two, cut = (f"{tmp_path}/{name}{suffix}" for name in ("one", "two", "cut"))
    alone = {**how, "jobs": 1, "backend": "threading"}
    with small_blocks(1000):
        first = make(one, **alone)
        make(two, **how, **({} if suffix == "/" else {"chunk": 7}))
        with pytest.raises(KeyboardInterrupt):
            make(cut, **alone, on_progress=interrupted_after(20))
        with pytest.raises(bs.JournalError, match=f"the interrupted run had {setting} = "):
            make(cut, **how | other, resume=True)
        again = make(cut, **how, resume=True)
    assert bytes_of(one) == bytes_of(two) == bytes_of(cut)
    assert sum(map(len, bytes_of(one))) > 100
    if suffix == ".parquet":
        assert pq.read_metadata(one).row_group(0).num_rows == 50
    assert totals(first) == totals(again)
