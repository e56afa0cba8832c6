"""Every engine and every command answers what ``tests/answers.csv`` has recorded.

``scripts/record_answers.py`` writes the table, and says with ``--check`` which cases differ.
"""

import os

import pytest
from answers import all_cases, table

RECORDED = table.read()
MANY = 100  # cases of an engine; with few examples, as in CI on the sanitized core, half of them


@pytest.fixture(scope="module")
def cases():
    """Return all cases; to make them takes longer than to collect all tests."""
    return sorted(all_cases.cases(), key=table.key_of)


@pytest.mark.parametrize("engine", dict.fromkeys(engine for engine, _ in RECORDED))
def test_answers_are_as_recorded(engine, cases):
    mine = [case for case in cases if case.engine == engine]
    if len(mine) > MANY and os.environ.get("HYPOTHESIS_PROFILE") == "few":
        mine = mine[::2]
    different = list(table.differences(mine, RECORDED))
    if different:
        pytest.fail("\n".join(different), pytrace=False)


def test_all_answers_recorded_have_a_case(cases):
    assert {table.key_of(case) for case in cases} == RECORDED.keys()
    assert len(cases) == len(RECORDED)
