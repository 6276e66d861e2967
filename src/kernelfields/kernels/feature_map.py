"""Kernels of few features that can be computed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import numpy as np

from ..arrays import Array
from ._base import Kernel, not_negative
from .observations import Observations
from .scaled import Scaled


class FeatureMapKernel(Kernel):
    """k(x, x′) = ⟨φ(x), φ(x′)⟩ for a map φ to ℝᵐ.

    A subclass defines φ only. Models with fewer features than observations are solved in weights of the
    features, in time and memory of N m instead of N²: the same functions at the same price.
    """

    @abstractmethod
    def features(self, X: Observations) -> Array:
        """Return φ(x_i) as rows, (n, m), a new array in the precision of the observations."""

    def block(self, X: Observations, Y: Observations) -> Array:
        """Return ⟨φ(x_i), φ(y_j)⟩."""
        left = self.features(X)
        return left @ (left if Y is X else self.features(Y)).T

    def diagonal(self, X: Observations) -> Array:
        """Return ‖φ(x_i)‖²."""
        features = self.features(X)
        return np.einsum("ij,ij->i", features, features)


def features_of(kernel: Kernel) -> Callable[[Observations], Array] | None:
    """Return φ of a kernel that computes one, or of a multiple of such a kernel; None of others."""
    if isinstance(kernel, FeatureMapKernel):
        return kernel.features
    if not isinstance(kernel, Scaled) or not isinstance(kernel.kernel, FeatureMapKernel):
        return None
    inner, root = kernel.kernel, np.sqrt(not_negative(kernel, "factor"))
    return lambda X: inner.features(X) * float(root)
