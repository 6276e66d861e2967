"""The gradient of Laplace's evidence in whatever the prior depends on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..structures import Scores
from .curvature import Curvature, solve
from .unit_problem import UnitProblem

STEP = 1e-2
"""Largest change of a score, for the third derivatives of log-partition functions."""


class EvidenceSlope(NamedTuple):
    """d log p(y|x) = ½ aᵀ dK a − ½ tr(S dK) − ½ bᵀ dK a for a change dK of the prior covariance K of scores.

    a = ∇log p(y|θ̂) has û = Jᵀa at the mode; S = (W⁻¹ + K)⁻¹; b = (1 + WK)⁻¹ ∂ log|1 + WK|/∂θ is what follows
    from W being that of the mode, which moves [rasmussen2006, 5.5.1]. K = JJᵀ is never written out: products
    of these vectors by Jᵀ say all, and are taken in the coordinates of any prior.
    """

    observed: Scores
    """a."""
    noise: Sequence[Scores]
    """Vectors with the covariance S."""
    response: Scores
    """b."""

    @classmethod
    def at(
        cls,
        curvature: Curvature,
        rng: np.random.Generator,
        draws: int,
        tol: float,
        response_tol: float,
        max_iter: int,
    ) -> EvidenceSlope:
        """Return the vectors at the mode, from some draws of N(0, A⁻¹).

        With x = A⁻¹(n + Jᵀz), n white and z of covariance W, x has the covariance A⁻¹, and z − WJx has S. Of
        A⁻¹ the third derivatives need E[dW[Jx] Jx], two products of W each. Conjugate gradients end at a
        relative residual of ``tol`` for x, and of ``response_tol`` for b.
        """
        unit, theta = curvature.unit, curvature.thetas[0]
        noise, thirds = [], []
        for _ in range(draws):
            drawn = curvature.drawn(theta, rng)
            right = rng.standard_normal(unit.size) + unit.pulled(drawn)
            along = unit.along(solve(curvature.times, right, tol, max_iter))
            noise.append(_less(drawn, unit.loss.curvature(theta, along)))
            thirds.append(_third(unit, theta, along))
        third = {name: np.asarray(sum(one[name] for one in thirds) / draws) for name in thirds[0]}
        along = unit.along(solve(curvature.times, unit.pulled(third), response_tol, max_iter))
        response = _less(third, unit.loss.curvature(theta, along))
        observed = {name: -values for name, values in unit.loss.at(theta).gradient.items()}
        return cls(observed, noise, response)

    def energies(self, unit: UnitProblem) -> dict[str, float]:
        """Return ½ aᵀKa − ½ tr(SK) − ½ bᵀKa, by parts of K, for the prior of a problem.

        The derivative in log λ_τ is minus the part of τ, for K_τ is in proportion to 1/λ_τ; that in a setting
        of a kernel is the derivative of the sum over the parts, these vectors being held.
        """
        a, b = unit.pulled(self.observed), unit.pulled(self.response)
        squares = np.mean([np.square(unit.pulled(one)) for one in self.noise], axis=0)
        each = 0.5 * (a * a - squares - a * b)
        return {name: float(each[place].sum()) for name, place in unit.slices.items()}


def _third(unit: UnitProblem, theta: Scores, along: Scores) -> dict[str, Array]:
    """Return the derivative of W(θ)v along v, by a central difference."""
    largest = max((float(np.abs(values).max(initial=0.0)) for values in along.values()), default=0.0)
    step = STEP / max(largest, np.finfo(np.float64).tiny)
    forward, backward = (
        unit.loss.curvature(
            {**theta, **{name: theta[name] + move * values for name, values in along.items()}}, along
        )
        for move in (step, -step)
    )
    return {name: (forward[name] - backward[name]) / (2 * step) for name in forward}


def _less(left: Scores, right: Scores) -> dict[str, Array]:
    return {name: left[name] - right[name] for name in left}
