"""Checks of single arguments."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from kernelfields.checks import (
    FEW,
    all_finite,
    never_falls,
    require_flag,
    require_not_negative,
    require_number,
    require_positive,
    require_share,
    require_whole,
    shown,
)
from kernelfields.errors import InputError

NO_NUMBERS = [None, "3", [3], True, np.True_, 3j, np.array([3.0]), float("nan"), float("inf"), 10**400]


@pytest.mark.parametrize("value", [1, np.int8(1), np.uint64(2**63 - 1), 7])
def test_whole_numbers_are_taken(value: Any) -> None:
    found = require_whole("k", value)
    assert type(found) is int
    assert found == value


@pytest.mark.parametrize("value", [*NO_NUMBERS, 0, -1, 1.0, 2.5, Fraction(3), np.uint64(2**63), 2**63])
def test_other_things_are_no_whole_numbers(value: Any) -> None:
    with pytest.raises(InputError, match=r"^k is .*; it must be a whole number from 1 "):
        require_whole("k", value)


def test_both_bounds_are_named_where_the_upper_one_matters() -> None:
    assert require_whole("order", 2, 1, 2) == 2
    with pytest.raises(InputError, match=r"^order is 3; it must be a whole number from 1 to 2\.$"):
        require_whole("order", 3, 1, 2)


@pytest.mark.parametrize("check", [require_number, require_positive, require_not_negative, require_share])
@pytest.mark.parametrize("value", NO_NUMBERS)
def test_other_things_are_no_numbers(check: Callable[[str, Any], float], value: Any) -> None:
    with pytest.raises(InputError, match=r"^tol is .*; it must be a .*number"):
        check("tol", value)


@pytest.mark.parametrize(
    ("check", "inside", "outside"),
    [
        (require_number, [-1e308, 0, np.float32(0.5)], []),
        (require_positive, [5e-324, 1, Fraction(1, 2)], [0, -1.0, -0.0]),
        (require_not_negative, [0, 0.0, 1e308], [-5e-324, -1]),
        (require_share, [0, 1, 0.5], [-0.1, 1.1]),
        (lambda name, value: require_share(name, value, zero=False), [1, 1e-300], [0, 1.1]),
    ],
)
def test_bounds_of_numbers(check: Any, inside: list[Any], outside: list[Any]) -> None:
    for value in inside:
        found = check("tol", value)
        assert type(found) is float
        assert found == value
    for value in outside:
        with pytest.raises(InputError, match=r"^tol is "):
            check("tol", value)


def test_flags_are_true_or_false() -> None:
    assert require_flag("bias", np.False_) is False
    for value in (1, 0, "no", None, []):
        with pytest.raises(InputError, match=r"^bias is .*; it must be True or False\.$"):
            require_flag("bias", value)


def test_long_values_are_shortened() -> None:
    with pytest.raises(InputError) as caught:
        require_whole("k", "x" * 10**6)
    assert len(str(caught.value)) < 200


SIZES = [0, 1, 2, FEW - 1, FEW, FEW + 1, 500]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_all_finite(size, dtype):
    values = np.linspace(-1, 1, size).astype(dtype)
    values[:1] = np.finfo(dtype).max
    assert all_finite(values)
    assert all_finite(values.reshape(1, size))
    for place in {0, size // 2, size - 1} if size else ():
        for bad in (np.nan, np.inf, -np.inf):
            spoilt = values.copy()
            spoilt[place] = bad
            assert not all_finite(spoilt)


@pytest.mark.parametrize("size", SIZES)
def test_never_falls(size):
    numbers = np.repeat(np.arange(size), 2)[:size]
    assert never_falls(numbers)
    for place in {1, size // 2, size - 1} if size > 1 else ():
        falling = numbers.copy()
        falling[place] = -1
        assert not never_falls(falling)


def test_values_are_shown_in_one_line() -> None:
    for value in (np.eye(9), [np.eye(9)], "two\nlines", np.arange(10**6)):
        assert "\n" not in shown(value)
        assert len(shown(value)) <= 120
