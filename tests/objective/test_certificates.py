"""Certificates of random problems against optima found by enumeration.

Some problems here; ``make certificates`` takes ten thousand.
"""

import os

import pytest

from kernelfields.errors import InputError
from tests.objective._certificates import case_of, violations

COUNT = int(os.environ.get("KERNELFIELDS_CERTIFICATES", "40"))
CHUNK = 20


@pytest.mark.parametrize("first", range(0, COUNT, CHUNK))
def test_bounds_hold_and_wide_gaps_are_warned_about(first):
    wrong, refused, checked = {}, [], 0
    for seed in range(first, min(first + CHUNK, COUNT)):
        case = case_of(seed)
        try:
            found, _, _ = violations(case)
        except InputError as error:
            refused.append(str(error))
            continue
        checked += 1
        if found:
            wrong[seed] = (case.kind, case.kernel, case.settings, found)
    assert not wrong
    # of float32 features so large that distances drown in their rounding
    assert all("loses its digits" in message for message in refused)
    assert checked > 0.8 * min(CHUNK, COUNT - first)


@pytest.mark.parametrize("seed", [91, 909])
def test_problems_that_were_once_wrong(seed):
    """Scores of a million, whose differences are rounding; a linear kernel on observations in double."""
    assert violations(case_of(seed))[0] == []
