import pytest
from hypothesis import given, strategies as st
from test_engines import run_out
from test_residuals import WHOLE, outcome_of

from batchsolve import ExactCover
from batchsolve.engines import cells


@pytest.mark.parametrize("n_options", [127, 128, 300])
def test_cells_hold_as_many_options_as_an_item_has(n_options):
    options = [[o % 2, *([2] if o % 3 else [])] for o in range(2 * n_options)]
    problem = ExactCover.from_options(options, primary=[0, 1, 2])
    expected = sum(bool(a % 3) != bool(b % 3) for a in range(0, 2 * n_options, 2)
                   for b in range(1, 2 * n_options, 2))  # fmt: skip
    mine = outcome_of("cells", problem, keep=100)
    assert mine == outcome_of("dlx", problem, keep=100)
    assert mine[0] == [expected]


@given(data=st.data())
def test_options_of_any_length(data):
    options = [range(k, n) for k in range(20) for n in range(k + 1, 21)]
    chosen = data.draw(st.lists(st.sampled_from(options), min_size=1, max_size=60))
    n_primary = data.draw(st.integers(0, 20))
    problem = ExactCover.from_options(
        chosen, primary=range(n_primary), secondary=range(n_primary, 20)
    )
    assert outcome_of("cells", problem, keep=50) == outcome_of("dlx", problem, keep=50)


def test_more_items_than_cells_have_numbers_are_left_to_dancing_links(monkeypatch):
    problem = ExactCover.from_options([["a"], ["b"], ["a", "b"]])
    monkeypatch.setattr(cells, "MOST_ITEMS", 1)
    monkeypatch.setattr(cells, "_search", None)
    counts, _, found = run_out("cells", problem, WHOLE)
    assert counts == {0: 2}
    assert [cover for _, cover in found] == [(0, 1), (2,)]


def test_a_path_with_many_branches():
    options = [[i] for i in range(40) for _ in range(2)]
    problem = ExactCover.from_options(options, primary=range(40))
    settings = {"budget": 3000, "keep": 3}
    assert outcome_of("cells", problem, **settings) == outcome_of("dlx", problem, **settings)
