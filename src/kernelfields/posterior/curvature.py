"""The precision of a Gaussian posterior, by products alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..arrays import Array
from ..structures import Scores
from .unit_problem import UnitProblem

DRAWS = 8
"""Labellings whose sum stands for Gaussian noise: their covariance is exact, their shape nearly so."""


class Curvature:
    """A = 1 + JᵀWJ, W the covariance of parts at some scores, or its mean over several; J = ∂θ/∂u.

    At the mode, A⁻¹ is the covariance of Laplace's approximation; with scores drawn from a Gaussian q, it is
    that of the best Gaussian, which has A = 1 + E_q[JᵀWJ] [opper2009].

    Parameters
    ----------
    unit : UnitProblem
        The objective.
    thetas : sequence of scores
        Where W is taken, fixed scores included.
    """

    def __init__(self, unit: UnitProblem, thetas: Sequence[Scores]) -> None:
        self.unit = unit
        self.thetas = list(thetas)
        self.size = unit.size

    def times(self, u: Array) -> Array:
        """Return A u."""
        loss, along = self.unit.loss, self.unit.along(u)
        total = _mean([loss.curvature(theta, along) for theta in self.thetas])
        return u + self.unit.pulled(total)

    def noise(self, rng: np.random.Generator) -> Array:
        """Return Jᵀz with z of covariance W: parts of drawn outputs, less what is expected of them.

        The covariance of parts(y) under the model is W itself, so that no root of it is needed.
        """
        return self.unit.pulled(_mean([self.drawn(theta, rng) for theta in self._some(rng)], DRAWS**0.5))

    def _some(self, rng: np.random.Generator) -> list[Scores]:
        return [self.thetas[k] for k in rng.integers(len(self.thetas), size=DRAWS)]

    def drawn(self, theta: Scores, rng: np.random.Generator) -> dict[str, Array]:
        """Return parts(y) − μ for one drawn y; instances that count w times have √w of it."""
        loss = self.unit.loss
        structure: Any = loss.structure
        weights = None if loss.weights is None else np.sqrt(loss.weights)
        outputs = structure.sample(theta, 1, int(rng.integers(2**31 - 1)))[0]
        expected = structure.gathered(structure.marginals(theta, weights).parts)
        result = {clique: values.astype(np.float64) for clique, values in expected.items()}
        structure.subtract_parts(result, outputs, weights)
        return {clique: -values for clique, values in result.items()}

    def matrix(self) -> Array:
        """Return A, column by column; for few coordinates."""
        return np.stack([self.times(unit) for unit in np.eye(self.size)], axis=1)


def _mean(several: Sequence[Scores], count: float | None = None) -> dict[str, Array]:
    """Return the mean of scores; the sum over another number, if one is given."""
    share = 1.0 / (len(several) if count is None else count)
    result = {clique: np.asarray(values * share) for clique, values in several[0].items()}
    for other in several[1:]:
        for clique, values in other.items():
            result[clique] += values * share
    return result


def solve(
    times: Callable[[Array], Array], right: Array, tol: float, max_iter: int, start: Array | None = None
) -> Array:
    """Return x with ‖A x − b‖ ≤ tol ‖b‖, by conjugate gradients, or what was reached by then."""
    x = np.zeros_like(right) if start is None else start.copy()
    residual = right - times(x) if start is not None else right.copy()
    direction, square = residual.copy(), float(residual @ residual)
    limit = (tol * float(np.linalg.norm(right))) ** 2
    for _ in range(max_iter):
        if square <= limit:
            break
        image = times(direction)
        step = square / float(direction @ image)
        x += step * direction
        residual -= step * image
        last, square = square, float(residual @ residual)
        direction = residual + (square / last) * direction
    return x
