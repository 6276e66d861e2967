"""A step that lowers the function enough and flattens its slope: the strong Wolfe conditions."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ._base import LineLike

SUFFICIENT = 1e-4
FLATTER = 0.9


class LineTrial(NamedTuple):
    """A point on the ray."""

    step: float
    value: float
    slope: float
    point: Any


def wolfe(
    line: LineLike,
    start: Any,
    first: float = 1.0,
    *,
    rounding: float = 0.0,
    trials: int = 25,
    flatter: float = FLATTER,
) -> LineTrial | None:
    """Find a step with φ(t) ≤ φ(0) + c₁ t φ'(0) and |φ'(t)| ≤ c₂ |φ'(0)|, c₂ being ``flatter``.

    Near the minimum the first one drowns in rounding long before the slope does; a value that differs by
    rounding only, a share ``rounding`` of it, is then taken for one that fell, as Hager and Zhang's
    approximate conditions do.

    Brackets by doubling, then narrows by cubic interpolation kept away from the ends of the
    bracket. Gives the lowest trial that satisfies the first condition if the second cannot be had
    within ``trials`` evaluations, and None if not even that one.
    """
    origin = LineTrial(0.0, start.value, line.slope(start), start)
    if not origin.slope < 0:
        return None
    low, high, step = origin, None, first
    best: LineTrial | None = None
    for _ in range(trials):
        trial = _look(line, step)
        enough = trial.value <= origin.value + SUFFICIENT * step * origin.slope
        if enough and (best is None or trial.value < best.value):
            best = trial
        close = trial.value <= origin.value + rounding * abs(origin.value)
        if (enough or close) and abs(trial.slope) <= -flatter * origin.slope:
            return trial
        trial = trial._replace(point=None)  # only the best is ever asked for it: points are large
        if not enough or trial.value >= low.value:
            high = trial
        else:
            if trial.slope * ((high.step - low.step) if high else 1.0) >= 0:
                high = low
            low = trial
        if high is not None and abs(high.step - low.step) <= 1e-9 * max(high.step, low.step):
            break  # nothing lies between them
        step = 2.0 * step if high is None else _between(low, high)
    return best


def _look(line: LineLike, step: float) -> LineTrial:
    point = line.at(step)
    value = point.value
    if not math.isfinite(value):
        return LineTrial(step, math.inf, math.inf, point)
    return LineTrial(step, value, line.slope(point), point)


def _between(low: LineTrial, high: LineTrial) -> float:
    """Minimum of the cubic through both trials, at least a tenth of the bracket from its ends."""
    width = high.step - low.step
    middle = low.step + 0.5 * width
    if not math.isfinite(high.value):
        return low.step + 0.1 * width
    d1 = low.slope + high.slope - 3.0 * (low.value - high.value) / (low.step - high.step)
    square = d1 * d1 - low.slope * high.slope
    if square < 0:
        return middle
    d2 = math.copysign(math.sqrt(square), width)
    bottom = high.slope - low.slope + 2.0 * d2
    if bottom == 0:
        return middle
    step = high.step - width * (high.slope + d2 - d1) / bottom
    ends = sorted((low.step + 0.1 * width, high.step - 0.1 * width))
    return min(max(step, ends[0]), ends[1])
