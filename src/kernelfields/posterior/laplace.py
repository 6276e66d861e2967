"""Laplace's approximation: a Gaussian with the curvature of the mode."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from ..arrays import Array
from ..checks import require_flag, require_not_negative, require_positive, require_whole
from ._base import PosteriorDraws, PosteriorMethod
from .curvature import Curvature, solve
from .determinant import SMALL, PrecisionSpectrum, spectrum
from .unit_problem import UnitProblem


@dataclass(frozen=True)
class Laplace(PosteriorMethod):
    """p(f|S) ≈ N(f̂, H⁻¹) with H = λ + ΦᵀWΦ at the mode f̂ [altun2006, 1.2.4; altun2004gp, 3].

    W is the covariance of the parts of p(y|x, f̂), of which inference returns products. Functions are drawn
    as H⁻¹(prior noise + Φᵀ(parts(y) − μ)), y drawn from the model: that right-hand side has the covariance H.
    Where coordinates are few, H is factorised instead.

    The log-evidence is −R(f̂) − ½ log|H/λ|.

    Probabilities that are averaged over the draws are less extreme than those of the mode. At confident modes
    W is nearly zero, and the approximation much wider than the posterior: compare with `Variational`,
    or let ``scale`` say how much of it to take.

    Parameters
    ----------
    n_samples : int
        Functions to draw.
    scale : float
        Share of the covariance that draws have: 1 is Laplace's, 0 the mode alone.
    folds : int, optional
        Choose ``scale``, and a temperature of all scores, by folds of the training set: what makes the labels
        of each most probable to models fitted to the others. No held-out data are needed; the fit takes that
        many times as long.
    evidence : bool
        Whether to estimate the evidence, which takes about as long as ten draws.
    probes, steps : int
        Random vectors and Lanczos steps of that estimate.
    tol : float
        Relative residual of conjugate gradients.
    max_iter : int
        Of conjugate gradients.
    """

    n_samples: int = 16
    scale: float = 1.0
    folds: int | None = None
    evidence: bool = True
    probes: int = 4
    steps: int = 30
    tol: float = 1e-2
    max_iter: int = 200

    def __post_init__(self) -> None:
        """Refuse numbers that mean nothing."""
        for name in ("n_samples", "probes", "steps", "max_iter"):
            require_whole(name, getattr(self, name))
        require_not_negative("scale", self.scale)
        require_positive("tol", self.tol)
        require_flag("evidence", self.evidence)
        if self.folds is not None:
            require_whole("folds", self.folds, 2)

    def of(self, unit: UnitProblem, mode: Array, rng: np.random.Generator) -> PosteriorDraws:
        """Draw functions around the mode, and estimate the evidence."""
        curvature = Curvature(unit, [unit.scores(mode)])
        draws = mode[None]
        if self.scale > 0:
            width = float(np.sqrt(self.scale))
            draws = mode + width * deviations(curvature, self.n_samples, rng, self.tol, self.max_iter)
        if not self.evidence:
            return PosteriorDraws(mode, draws, None, None)
        found = spectrum(curvature, self.probes, self.steps, int(rng.integers(2**31 - 1)))
        value = laplace_evidence(unit, mode, found)
        return PosteriorDraws(mode, draws, value, 0.5 * found.error, spectrum=found)


def laplace_evidence(unit: UnitProblem, mode: Array, found: PrecisionSpectrum) -> float:
    """Return log p(y|x, û) − ½‖û‖² − ½ log|A|: the prior is N(0, 1) in these coordinates."""
    return unit.log_likelihood(mode) - 0.5 * float(mode @ mode) - 0.5 * found.log_determinant


def deviations(
    curvature: Curvature, count: int, rng: np.random.Generator, tol: float, max_iter: int
) -> Array:
    """Return draws from N(0, A⁻¹), (count, d)."""
    if curvature.size <= SMALL:
        factor = np.linalg.cholesky(curvature.matrix())
        # A = C Cᵀ, so that C⁻ᵀ times white noise has the covariance A⁻¹
        white = rng.standard_normal((curvature.size, count))
        return np.asarray(scipy.linalg.solve_triangular(factor.T, white, lower=False).T)
    rows = []
    for _ in range(count):
        right = rng.standard_normal(curvature.size) + curvature.noise(rng)
        rows.append(solve(curvature.times, right, tol, max_iter))
    return np.stack(rows)
