"""Options that do not go together, or with a problem, are refused in one message."""

import os

import pytest
from invoking import refused

UNFINISHED = "names that end with .partial or .partial.journal"
GRAPH = "--graph goes with --memo, --memo-size and"
REFUSED = [
    ("count queens:6 queens:5 --run dir", "'--run': for one problem"),
    ("count queens:6 queens:5 --up-to-symmetry", "'--up-to-symmetry': for one problem"),
    ("count queens:6 --stats", "--stats is for a table of counts"),
    ("count queens:6 queens:5 --box 2x2", ": with these arguments, this command takes no --box"),
    ("count queens:6 queens:5 -o x.npy", ".npy holds nothing but solved grids"),
    # tables of counted subtrees
    ("count queens:6 --memo-size 8", "--memo-size needs --memo"),
    ("count queens:6 --memo --engine memo:8", "engine; leave out --engine, --branch: memo:8"),
    ("count queens:6 --memo --branch first", "leave out --engine, --branch: dlx:first"),
    ("count queens:6 --memo --memo-size 0", "the size of a table is 1 to 1,073,741,824 megabytes"),
    # graphs, and sums over them
    ("count queens:6 --graph x.zdd", GRAPH),
    ("count queens:6 --memo --graph x.zdd --limit 2", GRAPH),
    ("count queens:6 --memo --graph nowhere/x.zdd", "nowhere does not exist"),
    ("count queens:5 --memo --graph x.zdd --symmetries none.json", GRAPH),
    ("count latin:4 --memo --graph x.zdd --by options", GRAPH),
    ("count latin:4 --memo --graph x.zdd --jobs 2", GRAPH),
    ("count queens:4 --by cost", "the options have no costs"),
    ("count queens:4 --by options --limit 2", "--by goes with --memo-size and"),
    ("count queens:4 --by options --memo", "--by goes with --memo-size and"),
    ("count queens:4 queens:5 --by options", "'--by': for one problem, without -o"),
    ("count latin:4 --by options --backend loky", "--by goes with --memo-size"),
    ("graph queens:6 nothing.zdd", "nothing.zdd: No such file"),
    ("graph queens:6 SAVED --list --sample 2", "--list and --sample do not go together"),
    ("graph queens:6 SAVED --list --json", "--list and --sample print JSON lines anyway"),
    ("graph queens:6 SAVED --seed 2", "--seed and --distinct need --sample N"),
    ("graph queens:6 SAVED --with z9", "unknown option 'z9'; choose a name or a number"),
    ("graph queens:6 SAVED --with 36", "unknown option '36'; choose a name or a number"),
    ("sample queens:6 -o nowhere/x.jsonl", "nowhere does not exist"),
    ("sample queens:6 -o x.csv.partial", f"{UNFINISHED} are those of unfinished runs"),
    ("sample queens:6 -o x.csv.partial.journal", f"{UNFINISHED} are those of unfinished runs"),
    ("sample queens:6 -o x.csv", "x.csv: drawn solutions are plain JSON lines; name it .jsonl"),
    ("sample queens:6 -o x.jsonl.gz", ".gz: drawn solutions are plain JSON lines; name it .jsonl"),
    ("dedupe 1.....2..3.....4 -o x.txt", "(each perhaps with .gz, .bz2 or .zst) or .parquet"),
    ("solve x.csv -o x.txt", ".parquet or, of solutions alone, .npy; a folder of Parquet files"),
    ("solve - -", "standard input can be read once; name a file"),
    ("generate -n 3 --unlike - --unlike -", "standard input can be read once; name a file"),
    ("audit - -", "standard input can be read once; name a file"),
    # projections
    ("count queens:6 --project x", "no item is called 'x'; there are 'r4', 'c4'"),
    ("count edgecovers:4 --project 1 --engine cells", "takes no bounds of items"),
    ("count queens:6 --project r1 --limit 2", "--project goes with --engine, --time"),
    ("count queens:6 --project r1 --engine memo", "only counts"),
    ("count queens:6 queens:5 --project r1", "for one problem, without -o"),
    # drawings
    ("draw queens:4 -o out", "drawings are .svg or .html files"),
    ("draw - --found - -o out.svg", "the problem or its solutions, not both"),
    ("draw queens:4 --found x -o - --node-limit 5", "--found does not search"),
    ("draw queens:4 -o nowhere/out.svg", "nowhere/out.svg: the directory nowhere does not"),
    ("draw queens:4 -n 0 -o -", "--number is 1 to 10,000, not 0"),
]


@pytest.mark.parametrize(("words", "message"), REFUSED)
def test_options_that_do_not_suit(words, message, saved, here):
    assert message in refused(*words.replace("SAVED", str(saved)).split())
    assert not os.listdir(here)
