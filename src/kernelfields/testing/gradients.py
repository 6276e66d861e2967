"""Derivatives against differences.

Points and directions are arrays, mappings from names to arrays (scores), or any elements that can be
added and multiplied by numbers (a space's own). The difference has five points,

    f'(0) ≈ [8 (f(h) − f(−h)) − (f(2h) − f(−2h))] / 12h,

exact up to h⁴, so that steps can be large enough for rounding not to matter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Inner = Callable[[Any, Any], float]

STEP = 1e-3


def check_gradient(
    value: Callable[[Any], Any],
    gradient: Callable[[Any], Any],
    at: Any,
    direction: Any,
    *,
    inner: Inner | None = None,
    step: float = STEP,
    tolerance: float = 1e-7,
) -> None:
    """Assert that ⟨gradient(at), direction⟩ is the derivative of ``value`` along ``direction``.

    Parameters
    ----------
    value, gradient : callables of one point
    at, direction : array, mapping of arrays, or elements
    inner : callable, optional
        The inner product that ``gradient`` refers to; the Euclidean one if not given.
    step : float
        h, relative to ``direction``.
    tolerance : float
        Largest error allowed, relative to the derivative where that is above one.

    Examples
    --------
    >>> import numpy as np
    >>> x, d = np.array([1.0, 2.0]), np.array([0.5, -1.0])
    >>> check_gradient(lambda w: (w**2).sum(), lambda w: 2 * w, x, d)
    """
    claimed = (inner or _euclidean)(gradient(at), direction)
    _compare("derivative of the value", _difference(value, at, direction, step), claimed, tolerance)


def check_derivative(
    function: Callable[[Any], Any],
    derivative: Callable[[Any, Any], Any],
    at: Any,
    direction: Any,
    *,
    step: float = STEP,
    tolerance: float = 1e-7,
) -> None:
    """Assert that ``derivative(at, direction)`` is the derivative of ``function``, entry by entry.

    ``function`` may return numbers, arrays, or mappings of arrays.
    """
    _compare("derivative", _difference(function, at, direction, step), derivative(at, direction), tolerance)


def check_hessian(
    gradient: Callable[[Any], Any],
    product: Callable[[Any, Any], Any],
    at: Any,
    direction: Any,
    other: Any,
    *,
    inner: Inner | None = None,
    step: float = STEP,
    tolerance: float = 1e-7,
) -> None:
    """Assert that ``product(at, direction)`` differentiates the gradient, and is self-adjoint.

    The derivative is tested along a second direction ``other``, in the inner product of the
    gradient: ⟨H d, e⟩ = d/dh ⟨∇f(at + h d), e⟩ = ⟨d, H e⟩.
    """
    pair = inner or _euclidean
    claimed = pair(product(at, direction), other)
    found = _difference(lambda w: pair(gradient(w), other), at, direction, step)
    _compare("Hessian product", found, claimed, tolerance)
    _compare("transposed Hessian product", claimed, pair(product(at, other), direction), tolerance)


def _difference(function: Callable[[Any], Any], at: Any, direction: Any, h: float) -> Any:
    one, minus, two, minus_two = (function(_moved(at, direction, k * h)) for k in (1, -1, 2, -2))
    if isinstance(one, Mapping):
        return {name: _formula(one[name], minus[name], two[name], minus_two[name], h) for name in one}
    return _formula(one, minus, two, minus_two, h)


def _formula(one: Any, minus: Any, two: Any, minus_two: Any, h: float) -> Any:
    one, minus, two, minus_two = (np.asarray(x, dtype=np.longdouble) for x in (one, minus, two, minus_two))
    return (8 * (one - minus) - (two - minus_two)) / (12 * h)


def _moved(at: Any, direction: Any, step: float) -> Any:
    if isinstance(at, Mapping):
        return {name: at[name] + step * direction[name] for name in at}
    return at + direction * step


def _euclidean(a: Any, b: Any) -> float:
    if isinstance(a, Mapping):
        return sum(_euclidean(a[name], b[name]) for name in a)
    return float(np.sum(np.asarray(a) * np.asarray(b)))


def _compare(what: str, found: Any, claimed: Any, tolerance: float) -> None:
    if isinstance(found, Mapping):
        for name in found:
            _compare(f"{what} ({name})", found[name], claimed[name], tolerance)
        return
    found, claimed = np.asarray(found, dtype=float), np.asarray(claimed, dtype=float)
    if found.shape != claimed.shape:
        raise AssertionError(f"{what} has shape {claimed.shape}, expected {found.shape}.")
    error = np.abs(found - claimed) / np.maximum(1, np.abs(found))
    if error.size and not error.max() <= tolerance:
        worst = np.unravel_index(np.argmax(np.where(np.isnan(error), np.inf, error)), error.shape)
        place = f" at {tuple(map(int, worst))}" if worst else ""
        raise AssertionError(
            f"{what}{place} is given as {claimed[worst]:.12g}, differences say {found[worst]:.12g}: "
            f"error {error[worst]:.2g}, allowed {tolerance:.2g}."
        )
