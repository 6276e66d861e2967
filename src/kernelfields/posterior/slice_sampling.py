"""Elliptical slice sampling: draws from the posterior itself, for small training sets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..checks import require_whole
from ._base import PosteriorDraws, PosteriorMethod
from .unit_problem import UnitProblem

FULL = 2 * np.pi


@dataclass(frozen=True)
class SliceSampling(PosteriorMethod):
    """A Markov chain whose draws are those of p(f|S), by ellipses through the prior [murray2010].

    From u it goes along u cos φ + ν sin φ, ν a draw from the prior, to a point whose likelihood is above a
    random share of the present one. There is nothing to tune, no step is refused, and no approximation is
    made but for the length of the chain. Each step takes some evaluations of the likelihood.

    Parameters
    ----------
    n_samples : int
        Functions to keep, evenly spaced along the chain.
    thin : int
        Steps between two of them.
    burn_in : int
        Steps before the first.
    """

    n_samples: int = 64
    thin: int = 50
    burn_in: int = 1000

    def __post_init__(self) -> None:
        """Refuse numbers that mean nothing."""
        require_whole("n_samples", self.n_samples)
        require_whole("thin", self.thin)
        require_whole("burn_in", self.burn_in, 0)

    def of(self, unit: UnitProblem, mode: Array, rng: np.random.Generator) -> PosteriorDraws:
        """Walk from the mode on."""
        u, value = mode, unit.log_likelihood(mode)
        kept = []
        for step in range(self.burn_in + self.n_samples * self.thin):
            u, value = elliptical_step(unit, u, value, rng)
            if step >= self.burn_in and (step - self.burn_in + 1) % self.thin == 0:
                kept.append(u)
        draws = np.stack(kept)
        return PosteriorDraws(draws.mean(axis=0), draws, None, None)


def elliptical_step(
    unit: UnitProblem, u: Array, value: float, rng: np.random.Generator
) -> tuple[Array, float]:
    """Return the next point of the chain, and its log-likelihood."""
    other = rng.standard_normal(len(u))
    least = value + np.log(rng.uniform(np.finfo(np.float64).tiny, 1.0))
    angle = rng.uniform(0.0, FULL)
    low, high = angle - FULL, angle
    while True:
        point = np.cos(angle) * u + np.sin(angle) * other
        found = unit.log_likelihood(point)
        if found > least:
            return point, found
        # Angle 0 is the present point, which is always good enough.
        low, high = (angle, high) if angle < 0 else (low, angle)
        angle = rng.uniform(low, high)
