"""The base of approximations of a kernel's space: a finite-dimensional subspace, or random features."""

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
    """Maps observations to rows of m numbers, which coefficients are multiplied by."""

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
    """K ≈ ΦΦᵀ on the observations of a training set."""

    factor: Factor
    """Φ."""
    map: ObservationMap
    """The same for new observations: scores are ``map.columns(x) @ factor.coefficients(w)``."""
    pivots: Array | None
    """Indices of the observations that form the basis; None if the basis is not made of them."""
    residual: Array | None
    """diag(K − ΦΦᵀ), (N,), if known: the part of ‖k(x, ·)‖² outside of the subspace."""


class Approximation(Checked, ABC):
    """Settings of an approximation."""

    @abstractmethod
    def on(
        self, kernel: Kernel, X: Any, random: np.random.RandomState, memory_limit: int | None = None
    ) -> FactoredKernel:
        """Approximate k on the observations X, in the precision of X.

        Matrices larger than the limit, in bytes, are kept in a file.
        """


class Landmarks(Checked, ABC):
    """A way to choose or make the observations of a basis."""

    @abstractmethod
    def choose(self, kernel: Kernel, X: Any, rank: int, random: np.random.RandomState) -> LandmarkBasis:
        """Return ``rank`` landmarks, or fewer if X has fewer observations."""


class LandmarkBasis(NamedTuple):
    """The observations of a basis."""

    observations: Any
    indices: Array | None
    """Their indices in X; None if they are not observations of X."""
