"""Kernels of scikit-learn's Gaussian processes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array
from ._base import Kernel
from .observations import Observations, dense_rows, precision


class GaussianProcessKernel(Kernel):
    """Any kernel of ``sklearn.gaussian_process.kernels``.

    Noise terms (``WhiteKernel``) distinguish an observation from an equal one, which no function of two
    observations can do: `check_gram` refuses such kernels.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel
        Its hyper-parameters are not tuned; ``kernel__kernel__length_scale`` sets one.

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RationalQuadratic
    >>> GaussianProcessKernel(RationalQuadratic(alpha=2.0))([[0.0], [1.0]]).round(2)
    array([[1.  , 0.64],
           [0.64, 1.  ]])
    """

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def block(self, X: Observations, Y: Observations) -> Array:
        """Return k(x, x′)."""
        left, right = dense_rows(X), dense_rows(Y)
        return np.array(self.kernel(left, right), dtype=precision(left, right))

    def diagonal(self, X: Observations) -> Array:
        """Return k(x, x)."""
        found = dense_rows(X)
        return np.array(self.kernel.diag(found), dtype=precision(found))
