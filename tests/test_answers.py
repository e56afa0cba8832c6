"""Every engine and every command answers what ``tests/answers.csv`` has recorded.

``scripts/record_answers.py`` writes the table, and says with ``--check`` which cases differ.
"""

from itertools import groupby

import pytest
from answers import all_cases, table

CASES = sorted(all_cases.cases(), key=table.key_of)
BY_ENGINE = {name: list(some) for name, some in groupby(CASES, lambda case: case.engine)}


@pytest.fixture(scope="module")
def recorded():
    return table.read()


@pytest.mark.parametrize("engine", BY_ENGINE)
def test_answers_are_as_recorded(engine, recorded):
    different = list(table.differences(BY_ENGINE[engine], recorded))
    if different:
        pytest.fail("\n".join(different), pytrace=False)


def test_all_answers_recorded_have_a_case(recorded):
    assert {table.key_of(case) for case in CASES} == recorded.keys()
    assert len(CASES) == len(recorded)
