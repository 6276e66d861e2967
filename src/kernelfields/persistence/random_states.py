"""Generators of random numbers as parts of a model file."""

from __future__ import annotations

import numpy as np

from ..errors import InputError
from .objects import Check, Parts, StoredClass


def _random_parts(found: np.random.RandomState) -> Parts:
    name, key, *rest = found.get_state(legacy=True)
    if name != "MT19937":
        raise InputError("random_state is a generator other than MT19937, which a model file cannot hold.")
    return {"key": key, "rest": [int(rest[0]), int(rest[1]), float(rest[2])]}


def _random_state(parts: Parts, _: Check) -> np.random.RandomState:
    result = np.random.RandomState(0)
    result.set_state(("MT19937", parts["key"], *parts["rest"]))
    return result


RANDOM_STATE = StoredClass("RandomState", np.random.RandomState, _random_parts, _random_state)
