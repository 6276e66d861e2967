"""Derivatives of gradients by differences, where formulas cost a sweep for every vertex."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..arrays import Array
from ..structures import Scores

STEP = 1e-4
"""Of the central difference: balances its own error, STEP², with rounding of the gradient over STEP."""


def derivative_along(
    gradient: Callable[[Scores], dict[str, Array]], scores: Scores, direction: Scores
) -> dict[str, Array]:
    """Return the derivative of a gradient along a direction, by a central difference: two more gradients."""
    largest = max((float(np.abs(values).max(initial=0.0)) for values in direction.values()), default=0.0)
    if largest == 0:
        return {clique: np.zeros(values.shape) for clique, values in scores.items()}
    step = STEP / largest
    up, down = (gradient(_moved(scores, direction, h)) for h in (step, -step))
    return {clique: (values - down[clique]) / (2 * step) for clique, values in up.items()}


def _moved(scores: Scores, direction: Scores, step: float) -> dict[str, Array]:
    return {
        clique: values.astype(np.float64) + step * direction[clique].astype(np.float64)
        for clique, values in scores.items()
    }
