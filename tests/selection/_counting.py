"""Kernels that say what was asked of them."""

from __future__ import annotations

import numpy as np

from kernelfields.kernels import RBF, Kernel


class CountingKernel(Kernel):
    """RBF with a count of the values computed; no function of products to those who ask."""

    def __init__(self, gamma=0.5):
        self.gamma = gamma
        self.values = 0
        self.largest = 0

    def block(self, X, Y):
        result = RBF(self.gamma).block(X, Y)
        self.values += result.size
        self.largest = max(self.largest, result.size)
        return result

    def diagonal(self, X):
        return np.ones(len(X))


def gram_of_factor(found):
    """ΦΦᵀ, by multiplying the factor with unit vectors."""
    phi = found.factor.times(np.eye(found.factor.shape[1]))
    return phi @ phi.T
