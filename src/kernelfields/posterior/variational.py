"""The best Gaussian below the evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..checks import require_positive, require_whole
from ..objective import Problem
from ..solvers import LBFGS, Stop
from ._base import PosteriorDraws, PosteriorMethod
from .averaged_loss import AveragedLoss
from .curvature import Curvature
from .determinant import spectrum
from .laplace import deviations
from .unit_problem import UnitProblem


@dataclass(frozen=True)
class Variational(PosteriorMethod):
    """q = N(m, A⁻¹), the Gaussian with the highest bound  E_q[log p(y|x, f)] − KL(q‖prior) ≤ log p(y|x).

    At the best q, A = 1 + E_q[JᵀWJ] and m minimises E_q[loss] + ½‖m‖² [opper2009]. Both are met in turn:
    the expectation is a mean over draws m + g_s, whose m is found by the solver of the mode, a convex
    problem; the covariance then goes a step towards what these draws say, which is the natural gradient
    [khan2017]. Unlike Laplace's approximation it sees what the likelihood is away from the mode.

    The bound is that of the draws in the end, fresh ones, with a standard error of its random vectors.

    Parameters
    ----------
    n_samples : int
        Functions to draw in the end.
    rounds : int
        How often mean and covariance are met.
    draws : int
        Draws that stand for the expectation, in pairs of opposite ones. The mean fits those that it sees:
        few of them make for a mean that is too sure.
    tol : float
        Relative gap of the mean, in every round. The loss is flat around the mean: at 10⁻² the mean stays on
        the side that it came from, and probabilities are off by 0.01.
    probes, steps : int
        Random vectors and Lanczos steps of the determinant in the bound.
    max_iter : int
        Of conjugate gradients, and of the search for the mean.
    """

    n_samples: int = 16
    rounds: int = 4
    draws: int = 8
    tol: float = 1e-4
    probes: int = 4
    steps: int = 30
    max_iter: int = 200

    def __post_init__(self) -> None:
        """Refuse numbers that mean nothing."""
        for name in ("n_samples", "rounds", "draws", "probes", "steps", "max_iter"):
            require_whole(name, getattr(self, name))
        require_positive("tol", self.tol)

    def of(self, unit: UnitProblem, mode: Array, rng: np.random.Generator) -> PosteriorDraws:
        """Meet mean and covariance in turn, then draw."""
        mean, thetas = mode, [unit.scores(mode)]
        for round_ in range(self.rounds):
            half = self._noise(Curvature(unit, thetas), (self.draws + 1) // 2, rng)
            noise = np.concatenate([half, -half])  # pairs, so that the mean cannot lean on their sum
            mean = self._mean(unit, mean, noise)
            fresh = [unit.scores(mean + one) for one in noise]
            # Half of the curvature is that of rounds before: a whole step may swing from wide to narrow.
            thetas = fresh if round_ == 0 else [*thetas[len(thetas) // 2 :], *fresh]
        curvature = Curvature(unit, thetas)
        draws = mean + self._noise(curvature, self.n_samples, rng)
        found = spectrum(curvature, self.probes, self.steps, int(rng.integers(2**31 - 1)))
        likelihoods = [unit.log_likelihood(one) for one in draws]
        n_effective = sum(found.n_effective.values())
        # KL(q‖prior) = ½(tr A⁻¹ − d + ‖m‖² + log|A|), and tr A⁻¹ = d − Σγ
        divergence = 0.5 * (float(mean @ mean) - n_effective + found.log_determinant)
        error = float(np.hypot(0.5 * found.error, np.std(likelihoods) / np.sqrt(len(draws))))
        return PosteriorDraws(mean, draws, float(np.mean(likelihoods)) - divergence, error, True, found)

    def _noise(self, curvature: Curvature, count: int, rng: np.random.Generator) -> Array:
        return deviations(curvature, count, rng, self.tol, self.max_iter)

    def _mean(self, unit: UnitProblem, start: Array, noise: Array) -> Array:
        """Return the coordinates that minimise the expected loss plus ½‖m‖²."""
        loss = AveragedLoss(unit.loss, [unit.along(one) for one in noise])
        problem = Problem.of(loss, unit.problem.terms, unit.data.offset, unit.data.dtype)
        stop = Stop(gap=self.tol, gradient=1e-2 * self.tol, iterations=self.max_iter)
        found = LBFGS().minimize(problem, unit.element(start), stop)
        return np.asarray(found.point.element, dtype=np.float64) / unit.scale
