"""The evidence of a model and its gradient, read off while the model is fitted."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..posterior import (
    Curvature,
    EvidenceSlope,
    PosteriorDraws,
    PosteriorMethod,
    UnitProblem,
    log_determinant,
)
from ..posterior.curvature import solve

DRAWS = 2
"""Random vectors of the gradient; one alone led astray where few positions are unsure."""
TOL = 1e-2
"""Relative residual of what is drawn: its square, times tr A, is in the gradient."""
ROUGH = 3e-2
"""That of steps and corrections."""
MAX_ITER = 300
"""Of conjugate gradients."""


class EvidenceProbe(PosteriorMethod):
    """Estimates Laplace's evidence at the mode, with the same random vectors at every setting.

    Differences between settings are then far more precise than the evidence itself.

    Parameters
    ----------
    probes, steps : int
        Random vectors and Lanczos steps of the determinant.
    seed : int
        Of all random vectors.
    """

    n_samples = 1

    def __init__(self, probes: int, steps: int, seed: int) -> None:
        self.probes, self.steps, self.seed = probes, steps, seed
        self.log_evidence, self.error = -np.inf, np.inf
        self.slope: EvidenceSlope | None = None
        self.energies: dict[str, float] = {}
        self.squares: dict[str, float] = {}

    def of(self, unit: UnitProblem, mode: Array, rng: np.random.Generator) -> PosteriorDraws:
        """Keep evidence and gradient, and draw nothing."""
        mode = _polished(unit, mode)
        curvature = Curvature(unit, [unit.scores(mode)])
        value, error = log_determinant(curvature, self.probes, self.steps, self.seed)
        self.log_evidence = -_objective(unit, mode) - 0.5 * value
        self.error = 0.5 * error
        same = np.random.default_rng(self.seed)
        self.slope = EvidenceSlope.at(curvature, same, DRAWS, TOL, ROUGH, MAX_ITER)
        self.energies = self.slope.energies(unit)
        self.squares = {name: float(mode[place] @ mode[place]) for name, place in unit.slices.items()}
        return PosteriorDraws(mode, mode[None], self.log_evidence, self.error)


def _polished(unit: UnitProblem, mode: Array) -> Array:
    """Return the mode after a step of Newton's method.

    Gradients of the evidence take it that the gradient of the likelihood is û, which a fit to a gap of a
    hundredth is far from along flat directions.
    """
    theta = unit.scores(mode)
    gradient = mode + unit.pulled(unit.loss.at(theta).gradient)
    step = solve(Curvature(unit, [theta]).times, gradient, ROUGH, MAX_ITER)
    better = mode - step
    return better if _objective(unit, better) <= _objective(unit, mode) else mode


def _objective(unit: UnitProblem, u: Array) -> float:
    return 0.5 * float(u @ u) - unit.log_likelihood(u)


class PriorProbe(PosteriorMethod):
    """Reads off what a gradient says of another prior; the fit beside it may end at once."""

    n_samples = 1

    def __init__(self, slope: EvidenceSlope) -> None:
        self.slope, self.energy = slope, 0.0

    def of(self, unit: UnitProblem, mode: Array, rng: np.random.Generator) -> PosteriorDraws:
        """Keep the sum over all parts, and draw nothing."""
        self.energy = sum(self.slope.energies(unit).values())
        return PosteriorDraws(mode, mode[None], None, None)
