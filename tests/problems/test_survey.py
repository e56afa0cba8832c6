"""The counts of a survey, against plain Python."""

import re

import pyarrow as pa
from hypothesis import given, strategies as st

from batchsolve.problems.survey import survey

SIGNS = st.text(st.sampled_from(" ,;\t\n.019?Az~\x7f\x00é€"), max_size=90)


def facts_of(text):
    """Return the facts of a value."""
    value = text.encode().strip(bytes(range(1, 33)))
    tokens = [token for token in re.split(rb"[ ,;\t]", value) if token]
    used = sum(1 << byte for byte in {min(byte, 127) for byte in b"".join(tokens)})
    is_separated = b"".join(tokens) != value
    has_long = any(len(token) > 3 for token in tokens)
    return len(value), len(tokens) * is_separated, used % 2**64, used >> 64, has_long


@given(st.lists(SIGNS | st.none(), max_size=9), st.integers(0, 3))
def test_facts_are_those_of_each_value(texts, first):
    column = pa.array(texts, pa.string())[first:]
    found = zip(*(each.tolist() for each in survey(column)), strict=True)
    assert list(found) == [facts_of(text or "") for text in texts[first:]]
