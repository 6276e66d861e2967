"""What a kernel is: a positive semi-definite function of two observations.

Formulas live here and in the files beside this one; how Gram matrices are computed, stored and
multiplied is the business of ``gram``. Settings are constructor arguments and plain attributes, as in
scikit-learn, so that ``get_params`` and ``set_params`` reach them through an estimator
(``kernel__gamma``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from ..parameters import Parameterised

Array = npt.NDArray[Any]
Observations = Any
"""(n, D) array, scipy-sparse matrix, or whatever else a kernel compares, one observation per row."""


class Kernel(Parameterised, ABC):
    """k(x, x′)."""

    @abstractmethod
    def block(self, X: Observations, Y: Observations) -> Array:
        """Give k(x_i, y_j) for all pairs, (n, m), in the precision of the observations."""

    @abstractmethod
    def diagonal(self, X: Observations) -> Array:
        """Give k(x_i, x_i), (n,)."""

    def __call__(self, X: Observations, Y: Observations | None = None) -> Array:
        """Give the Gram matrix of X with Y, or with itself."""
        return self.block(X, X if Y is None else Y)


class ProductKernel(Kernel):
    """A function of inner products: k(x, x′) = κ(⟨x, x′⟩, ‖x‖², ‖x′‖²).

    All that is specific is κ, applied in place to a block of inner products, which the Gram engine
    computes by BLAS, or in the core where observations are sparse.
    """

    @abstractmethod
    def apply(self, products: Array, left: Array, right: Array) -> None:
        """Overwrite ⟨x_i, y_j⟩ by k(x_i, y_j); ``left`` holds ‖x_i‖² (n,), ``right`` ‖y_j‖² (m,)."""

    def block(self, X: Observations, Y: Observations) -> Array:
        """Give k(x_i, y_j)."""
        products = inner_products(X, Y)
        self.apply(products, squared_norms(X), squared_norms(Y))
        return products

    def diagonal(self, X: Observations) -> Array:
        """κ(‖x‖², ‖x‖², ‖x‖²), one by one."""
        squares = squared_norms(X)
        result = np.empty_like(squares)
        for i, square in enumerate(squares):
            one = np.full((1, 1), square)
            self.apply(one, squares[i : i + 1], squares[i : i + 1])
            result[i] = one[0, 0]
        return result


def inner_products(X: Observations, Y: Observations) -> Array:
    """⟨x_i, y_j⟩, dense."""
    product = X @ Y.T
    return np.ascontiguousarray(product.toarray() if hasattr(product, "toarray") else product)


def squared_norms(X: Observations) -> Array:
    """‖x_i‖²."""
    if hasattr(X, "multiply"):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", X, X)
