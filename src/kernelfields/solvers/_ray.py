"""The lowest of the multiples of a point."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np

MOST = 5
"""Looks at the loss."""
SPAN = 2.0
"""Factors are between one over this and this."""
LITTLE = 0.1
"""Share of what is too much that must be left to gain for another look."""


def lowest_on_ray(
    loss: Callable[[float], tuple[float, float]], penalty: float, enough: float
) -> tuple[float, float]:
    """Return about the least loss(c) + c²·``penalty`` over factors c > 0, and c, by cutting planes.

    ``loss`` returns value and derivative; it is convex and not negative, so that tangents and zero are
    below it. Where they show that ``enough`` is out of reach, the search ends, most times after one look.
    """
    lines, best, scale = [(0.0, 0.0)], (np.nan, 1.0), 1.0
    for _ in range(MOST):
        value, slope = loss(scale)
        here = (value + scale**2 * penalty, scale)
        best = best if here[0] >= best[0] else here
        lines.append((value - slope * scale, slope))
        least, scale = _lowest_of_model(lines, penalty)
        far = best[0] - enough
        if far <= 0 or not least <= enough + LITTLE * far or best[0] - least <= LITTLE * far:
            break
    return best


def _lowest_of_model(lines: list[tuple[float, float]], penalty: float) -> tuple[float, float]:
    """Return the least of c²·penalty + max_j (a_j + b_j c), and c: a corner or the vertex of a parabola."""
    corners = [(a - c) / (d - b) for (a, b), (c, d) in combinations(lines, 2) if b != d]
    vertices = [-b / (2 * penalty) for _, b in lines] if penalty > 0 else []
    scales = np.clip([1.0, *corners, *vertices], 1 / SPAN, SPAN)
    values = scales**2 * penalty + np.max([a + b * scales for a, b in lines], axis=0)
    k = int(np.argmin(values))
    return float(values[k]), float(scales[k])
