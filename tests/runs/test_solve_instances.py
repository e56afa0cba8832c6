"""First covers of many exact cover problems, of names and tables; test_count_file.py has files."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import bounded_problems, coloured_problems, problems, typed_rows
from hypothesis import given, strategies as st
from oracles import bounded_covers, covers

import batchsolve as bs
from batchsolve.formats.exact_cover_files import write_dlx
from batchsolve.runs.count import first_covers
from batchsolve.search import rows as row_search

NAMES = ["queens:6", "langford:3", "edgecovers:4", "dominoes:4x4", "queens:3", "langford:8"]


def first_cover(problem, **how):
    """Return the names of the options of the first cover in tree order."""
    found, _ = first_covers(problem, limit=1, **how)
    return list(map(problem.option_name, sorted(found[0].tolist()))) if found else None


def test_every_problem_has_its_first_cover(tmp_path):
    out = tmp_path / "out.csv"
    summary = bs.solve_file(NAMES, out, stats=True)
    rows = typed_rows(out)
    columns = "name items options cover status n_solutions engine message nodes seconds"
    assert list(rows[0]) == columns.split()
    for name, row in zip(NAMES, rows, strict=True):
        problem = bs.family(name)
        size = problem.n_items, problem.n_options
        assert (row["name"], row["items"], row["options"]) == (name, *size)
        assert json.loads(row["cover"] or "null") == first_cover(problem)
        n = min(2, bs.count(problem).count)
        assert (row["n_solutions"], row["status"]) == (n, ["unsolvable", "unique", "multiple"][n])
    assert (summary.rows, summary.unsolvable, summary.multiple) == (6, 1, 5)


CUTS = {"auto": {"budget": 3}, "dlx": {"split_depth": 2}, "bits": {"budget": 3}, "cells": {}}


@pytest.mark.parametrize("engine", CUTS)
def test_every_engine_and_every_cut_give_the_same_covers(engine, tmp_path):
    names = [name for name in NAMES if not name.startswith("edge")]
    out = tmp_path / "out.parquet"
    bs.solve_file([*names, "queens:10"], out, engine=engine, jobs=2, **CUTS[engine])
    for row in typed_rows(out):
        assert row["cover"] == first_cover(bs.family(row["name"]))


@pytest.mark.parametrize("how", [{}, {"budget": 1}, {"split_depth": 1}, {"jobs": 2, "budget": 2}])
def test_the_first_cover_of_items_with_bounds_is_the_same_for_every_cut(how, tmp_path):
    options, bounds = [["a"], ["a"], ["b"], ["a", "b"], ["b"]], {"a": (1, 3), "b": (0, 2)}
    drawn = [bs.ExactCover.from_options(options[:n], [*"ab"], bounds=bounds) for n in range(1, 6)]
    pq.write_table(pa.table({"problem": list(map(write_dlx, drawn))}), tmp_path / "in.parquet")
    for limit in (1, 2, 7):
        bs.solve_file(tmp_path / "in.parquet", tmp_path / "out.parquet", limit=limit, **how)
        found = [row["cover"] for row in typed_rows(tmp_path / "out.parquet")]
        assert found == list(map(first_cover, drawn))


of_all_kinds = problems() | coloured_problems() | bounded_problems()
written = of_all_kinds.filter(lambda p: p.n_primary and p.n_options)


@given(
    drawn=st.lists(written, max_size=5),
    limit=st.integers(1, 3),
    budget=st.sampled_from([None, 2]),
    few=st.sampled_from([2, row_search.BESIDE_NODES]),
)
def test_covers_are_those_of_the_oracle(tmp_path_factory, drawn, limit, budget, few):
    folder = tmp_path_factory.mktemp("drawn")
    texts = ["queens:4", *map(write_dlx, drawn)]
    pq.write_table(pa.table({"problem": texts}), folder / "in.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_search, "BESIDE_NODES", few)
        how = {"limit": limit, "budget": budget, "jobs": 1}
        bs.solve_file(folder / "in.parquet", folder / "out.parquet", **how)
    for problem, row in zip(drawn, typed_rows(folder / "out.parquet")[1:], strict=True):
        known = covers(problem) if problem.bounds is None else bounded_covers(problem)
        assert row["n_solutions"] == min(limit, len(known))
        assert row["cover"] == first_cover(problem)
        names = [list(map(problem.option_name, sorted(cover))) for cover in known]
        assert row["cover"] in (names or [None])


def test_a_corpus_of_grids_stays_one(tmp_path):
    path, out = tmp_path / "in.csv", tmp_path / "out.csv"
    path.write_text("id,problem\n1,1.....2..3.....4\n2,queens:6\n")
    bs.solve_file(path, out)
    header, first, _ = out.read_text().splitlines()
    assert header == "id,problem,solution,status,n_solutions,message"
    assert first == "1,1.....2..3.....4,1243342143122134,unique,1,"
    problem = "1 2 3 4 5\n1 2 3 4\n5 1 2 3\n5\n4\n4 5 1 2\n3 4 5 1"
    for n, text in enumerate(("1...\n..2.\n.3..\n...4", problem), 1):
        path.write_text(f'any\n"{text}"\n')
        bs.solve_file(path, tmp_path / "any.parquet", column="any")
        assert typed_rows(tmp_path / "any.parquet")[0]["n_solutions"] == n


def test_a_row_that_meets_its_node_limit_says_so(tmp_path):
    out = tmp_path / "out.parquet"
    bs.solve_file(["queens:12", "queens:4"], out, node_limit=5)
    first, second = typed_rows(out)
    assert (first["status"], first["message"]) == ("unfinished", "stopped after 5 nodes")
    assert (first["cover"], first["n_solutions"]) == (None, 0)
    assert second["status"] in ("multiple", "unfinished")
