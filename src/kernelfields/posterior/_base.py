"""What a posterior approximation is: a way to draw functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from .determinant import PrecisionSpectrum
from .unit_problem import UnitProblem


class PosteriorDraws(NamedTuple):
    """Functions drawn from p(f|S), and what is known about the whole of it."""

    centre: Array
    """(d,) coordinates u of its mean, or of its mode."""
    draws: Array
    """(S, d) coordinates of functions."""
    log_evidence: float | None
    """log p(y|x), or what stands for it; None where it is not estimated."""
    evidence_error: float | None
    """Standard error of that estimate, of random vectors alone."""
    bound: bool = False
    """Whether it is a lower bound, but for that error."""
    spectrum: PrecisionSpectrum | None = None
    """Of the precision, where it is known."""


class PosteriorMethod(ABC):
    """A way to approximate p(f|S) ∝ p(y|x, f) exp(−½‖f‖²); its settings are its fields."""

    n_samples: int

    @abstractmethod
    def of(self, unit: UnitProblem, mode: Array, rng: np.random.Generator) -> PosteriorDraws:
        """Return functions drawn from the posterior, from the coordinates u of its mode."""
