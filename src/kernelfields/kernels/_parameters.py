"""Checks of hyper-parameters, made when a kernel is used, as in scikit-learn."""

from __future__ import annotations

from typing import Any

from ..checks import require_not_negative, require_positive, require_whole


def positive(kernel: Any, name: str) -> float:
    """Return a parameter that must be a number above zero."""
    return require_positive(_named(kernel, name), getattr(kernel, name))


def not_negative(kernel: Any, name: str) -> float:
    """Return a parameter that must be a number of at least zero."""
    return require_not_negative(_named(kernel, name), getattr(kernel, name))


def at_least_one(kernel: Any, name: str) -> int:
    """Return a parameter that must be a whole number of at least one."""
    return require_whole(_named(kernel, name), getattr(kernel, name), most=2**31 - 1)


def _named(kernel: Any, name: str) -> str:
    return f"{name} of {type(kernel).__name__}"
