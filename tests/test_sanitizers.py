"""The sanitized build, which `scripts/sanitize` makes, catches what it is there for."""

import pytest
from invoking import run_python

from batchsolve.core import LEVEL

OVERRUN = """
import numpy as np
from batchsolve.core import native
print(native.element_at(np.zeros(8, np.uint8), 7), flush=True)
native.element_at(np.zeros(8, np.uint8), 8)
"""


@pytest.mark.skipif(LEVEL != "sanitized", reason="this is not the sanitized build")
def test_a_planted_overrun_is_caught():
    done = run_python("-c", OVERRUN)
    assert done.returncode != 0
    assert done.stdout == "0\n"
    assert "Assertion" in done.stderr or "Sanitizer" in done.stderr
