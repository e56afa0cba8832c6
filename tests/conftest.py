import pytest
from hypothesis import settings
from hypothesis import strategies as st

from batchsolve import ExactCover

settings.register_profile("fixed", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("fixed")


@st.composite
def problems(draw, most_items=7, most_options=14):
    """Small random problems with primary and secondary items."""
    n_items = draw(st.integers(1, most_items))
    n_primary = draw(st.integers(0, n_items))
    option = st.sets(st.integers(0, n_items - 1), min_size=1, max_size=4).map(sorted)
    options = draw(st.lists(option, max_size=most_options))
    indptr = [0]
    for items in options:
        indptr.append(indptr[-1] + len(items))
    return ExactCover(indptr, [i for items in options for i in items], n_items, n_primary)


@pytest.fixture
def one_puzzle():
    """A 9×9 puzzle with one solution, and that solution."""
    solution = "123456789456789123789123456214365897365897214897214365531642978642978531978531642"
    puzzle = "".join("." if (k * k // 5 + k) % 2 else d for k, d in enumerate(solution))
    return puzzle, solution
