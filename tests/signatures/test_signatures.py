"""Odd numbers for every numeric parameter of everything public: they work, or one sentence refuses them.

A sample here; all of them by ``make fuzz``, which sets KERNELFIELDS_SIGNATURES=all.
"""

from __future__ import annotations

import os
import random
from itertools import product

from ._run import Case, faults
from ._uses import USES, exempt
from ._walk import VALUES, parameters

SAMPLE = 260


def cases() -> list[Case]:
    """All values of all parameters that are tried."""
    known = [one for one in parameters() if one.target in USES]
    every = [Case(*one, index) for one, index in product(known, range(len(VALUES)))]
    return [
        case for case in every if (case.name, VALUES[case.index]) != ("symbols", [1])
    ]  # a list of symbols


def test_every_numeric_parameter_is_tried() -> None:
    untried = {p.target for p in parameters()} - set(USES)
    assert [target for target in sorted(untried) if not exempt(target)] == []


def test_odd_numbers_are_refused_in_a_sentence() -> None:
    every = cases()
    if os.environ.get("KERNELFIELDS_SIGNATURES") != "all":
        every = sorted(random.Random(14).sample(every, SAMPLE))
    wrong = faults(every)
    told = [f"{case.target}({case.name}={VALUES[case.index]!r}): {why}" for case, why in wrong.items()]
    assert not told, f"{len(told)} of {len(every)}:\n" + "\n".join(told)
