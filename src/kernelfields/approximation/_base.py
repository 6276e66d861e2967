"""What stands for a kernel's space: a finite-dimensional subspace, or features that imitate it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, final

import numpy as np

from ..arrays import Array
from ..checks import Checked
from ..kernels import Kernel
from ..spaces import Factor
from .columns import blocks


class ObservationMap(ABC):
    """Observations as rows of m numbers: what coefficients are multiplied with."""

    size: int
    """m."""

    @abstractmethod
    def columns(self, X: Any) -> Array:
        """Return the (n, m) array of some observations, all at once."""

    @final
    def times(self, X: Any, coefficients: Array) -> Array:
        """Return columns times coefficients, (n, r) float64, computed some rows at a time."""
        result = np.zeros((X.shape[0], coefficients.shape[1]))
        for rows in blocks(X.shape[0], self.size):
            block = self.columns(X[rows])
            result[rows] = block @ coefficients.astype(block.dtype)
        return result


class FactoredKernel(NamedTuple):
    """An approximation on the observations of a training set."""

    factor: Factor
    """Φ."""
    map: ObservationMap
    """The same for observations to come: scores are ``map.columns(x) @ factor.coefficients(w)``."""
    pivots: Array | None
    """Which observations are the basis; None if the basis is made of others, or there is none."""
    residual: Array | None
    """diag(K − ΦΦᵀ), (N,), where it is known: what is left of ‖k(x, ·)‖² outside of the subspace."""


class Approximation(Checked, ABC):
    """Settings of an approximation."""

    @abstractmethod
    def on(
        self, kernel: Kernel, X: Any, random: np.random.RandomState, memory_limit: int | None = None
    ) -> FactoredKernel:
        """Approximate k on the observations X, in the precision of X.

        What exceeds the limit, in bytes, goes to a file.
        """


class Landmarks(Checked, ABC):
    """How the observations of a basis are chosen or made."""

    @abstractmethod
    def choose(self, kernel: Kernel, X: Any, rank: int, random: np.random.RandomState) -> LandmarkBasis:
        """Return ``rank`` of them, or fewer if X has fewer."""


class LandmarkBasis(NamedTuple):
    """A basis."""

    observations: Any
    indices: Array | None
    """Which observations these are; None if they were made."""
