"""Kernels and Gram matrices as kernel models ask for them."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..gram import Gram, StoredGram
from ..kernels import RBF, Kernel, Linear, Polynomial
from ..structures._base import Array
from ._tables import choose

# Stand-ins for kernels.as_kernel, sums of kernels, kernels.check_gram, gram.gram_of and gram.kernel_times.

KERNELS: Mapping[str, Kernel] = {"rbf": RBF(), "linear": Linear(), "polynomial": Polynomial()}

ROWS = 1024


def as_kernel(spec: Any) -> Kernel:
    """Give a kernel by name, or a copy of the one given."""
    return copy.deepcopy(choose(KERNELS, spec, "kernel"))


class WeightedSum(Kernel):
    """Σ_i w_i k_i."""

    def __init__(self, kernels: Sequence[Kernel], weights: Sequence[float]) -> None:
        self.kernels = kernels
        self.weights = weights

    def block(self, X: Any, Y: Any) -> Array:
        """Add up blocks."""
        pairs = zip(self.weights, self.kernels, strict=True)
        return np.asarray(sum(weight * kernel.block(X, Y) for weight, kernel in pairs))

    def diagonal(self, X: Any) -> Array:
        """Add up diagonals."""
        pairs = zip(self.weights, self.kernels, strict=True)
        return np.asarray(sum(weight * kernel.diagonal(X) for weight, kernel in pairs))


def weighted_sum(kernels: Sequence[Kernel], weights: Sequence[float]) -> Kernel:
    """Σ_i w_i k_i."""
    return WeightedSum(kernels, weights)


def gram_of(kernel: Kernel, X: Any, dtype: Any, memory_limit: Any) -> Gram:
    """K on all pairs of observations."""
    return StoredGram(np.asarray(kernel(X), dtype=dtype))


def kernel_times(kernel: Kernel, X: Any, basis: Any, columns: Array) -> Array:
    """Σ_o k(x_i, basis_o) columns_o for every x_i, some rows at a time; float64."""
    result = np.zeros((X.shape[0], columns.shape[1]))
    for start in range(0, X.shape[0], ROWS):
        block = kernel.block(X[start : start + ROWS], basis)
        result[start : start + ROWS] = block @ columns.astype(block.dtype)
    return result
