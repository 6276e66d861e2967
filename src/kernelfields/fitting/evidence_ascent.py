"""A climb in the logarithms of a few settings, each look at which is expensive."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from ..arrays import Array

FARTHEST = float(np.log(10.0))
"""Largest change of the logarithm of a setting at once."""
SHRINK = 0.25
"""Share of a step that is tried where the whole of it went too far."""


class Rise(NamedTuple):
    """What was seen at some settings."""

    settings: dict[str, float]
    value: float
    gradient: dict[str, float]
    """In the logarithms; settings that nothing depends on are left out, and stay as they are."""
    scale: dict[str, float]
    """About how much the gradient falls with a logarithm: what the first step is measured by."""


def ascend(
    look: Callable[[dict[str, float]], Rise], start: Mapping[str, float], most: int, enough: float
) -> Rise:
    """Return the best that was seen in so many looks, by the quasi-Newton method of Broyden and others.

    A rise below ``enough``, seen or foreseen, ends the climb, as does a step that falls twice.
    """
    best = look(dict(start))
    names = list(best.gradient)
    inverse = np.diag([1.0 / max(best.scale[name], abs(best.gradient[name]), 1e-12) for name in names])
    looks, share = 1, 1.0
    while looks < most and names:
        slope = np.array([best.gradient[name] for name in names])
        step = share * np.clip(inverse @ slope, -FARTHEST, FARTHEST)
        if step @ slope / 2 <= enough:
            break
        moved = zip(names, np.exp(step), strict=True)
        seen = look({**best.settings, **{name: best.settings[name] * float(f) for name, f in moved}})
        looks += 1
        change = slope - np.array([seen.gradient[name] for name in names])
        inverse = _updated(inverse, step, change)
        rise = seen.value - best.value
        if rise > 0:
            best, share = seen, 1.0
            if rise < enough:
                break
        elif share < 1:
            break
        else:
            share = SHRINK
    return best


def _updated(inverse: Array, step: Array, change: Array) -> Array:
    """Return the inverse of minus the second derivatives, as one step corrects it [nocedal2006, 6.17]."""
    product = float(step @ change)
    if product <= 1e-10 * float(np.linalg.norm(step) * np.linalg.norm(change)):
        return inverse  # not concave along the step: what was known stays
    left = np.eye(len(step)) - np.outer(step, change) / product
    return np.asarray(left @ inverse @ left.T + np.outer(step, step) / product)
