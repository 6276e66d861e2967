"""Checks of hyper-parameters, made when a kernel is used, as scikit-learn has it."""

from __future__ import annotations

from math import isfinite
from numbers import Integral, Real
from typing import Any

from ..errors import InputError


def positive(kernel: Any, name: str) -> float:
    """Give a parameter that must be a number above zero."""
    return _number(kernel, name, "> 0", lambda value: value > 0)


def not_negative(kernel: Any, name: str) -> float:
    """Give a parameter that must be a number from zero on."""
    return _number(kernel, name, "≥ 0", lambda value: value >= 0)


def at_least_one(kernel: Any, name: str) -> int:
    """Give a parameter that must be a whole number from one on."""
    value = getattr(kernel, name)
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise InputError(f"{type(kernel).__name__} needs a whole number {name} ≥ 1, not {value!r}.")
    return int(value)


def _number(kernel: Any, name: str, wanted: str, fits: Any) -> float:
    """A Python float, because NumPy's would turn arithmetic in float32 into float64."""
    value = getattr(kernel, name)
    if not isinstance(value, Real) or isinstance(value, bool) or not (isfinite(value) and fits(value)):
        raise InputError(f"{type(kernel).__name__} needs a number {name} {wanted}, not {value!r}.")
    return float(value)
