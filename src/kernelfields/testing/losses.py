"""Checks that every loss must pass."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..losses import Loss
from ..structures import Scores


def check_loss(loss: Loss, scores: Scores, rng: np.random.Generator) -> None:
    """Check gradient and curvature against central differences, convexity, weights and `take`."""
    direction = {clique: rng.normal(size=values.shape) for clique, values in scores.items()}
    here = loss.at(scores)
    up, down = (loss.at(shifted(scores, direction, sign * 1e-5)) for sign in (1, -1))
    np.testing.assert_allclose(
        dot(here.gradient, direction), (up.value - down.value) / 2e-5, rtol=1e-6, atol=1e-7
    )
    curvature = loss.curvature(scores, direction)
    for clique, values in curvature.items():
        numeric = (up.gradient[clique] - down.gradient[clique]) / 2e-5
        np.testing.assert_allclose(values, numeric, rtol=1e-5, atol=1e-6)
    if loss.convex:
        assert dot(curvature, direction) >= -1e-9
    ids = np.arange(loss.structure.n_instances)
    halves = [loss.take(half).at(loss.structure.cut(scores, half)).value for half in (ids[::2], ids[1::2])]
    np.testing.assert_allclose(sum(halves), here.value, rtol=1e-9)


def shifted(scores: Scores, direction: Scores, step: float) -> dict[str, Array]:
    """θ + step · direction."""
    return {clique: values + step * direction[clique] for clique, values in scores.items()}


def dot(left: Scores, right: Scores) -> float:
    """⟨left, right⟩ over all clique types."""
    return sum(float(np.vdot(values, right[clique])) for clique, values in left.items())
