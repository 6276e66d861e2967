"""The Gaussian kernel."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..arrays import Array
from ._base import ProductKernel, positive
from .data_kernel import refuse
from .observations import Observations, rows, squared_distances

SCALE = "scale"
"""What γ is set to where observations are to decide about it."""


class RBF(ProductKernel):
    """k(x, x′) = exp(−γ‖x − x′‖²).

    Universal: with it a model can come arbitrarily close to any bounded continuous density
    [altun2006, Prop. 3]. The first choice for real-valued observations. Distances are computed from inner
    products, which loses digits far from the origin: centre observations, above all in float32.

    Parameters
    ----------
    gamma : float or "scale"
        γ > 0, the inverse squared width; or 1/(D·Var) of the D columns of all observations of a training
        set, with the variance of all of their entries, as scikit-learn has it, and 1 if they are all equal.

    Examples
    --------
    >>> RBF(gamma=0.5)([[0.0], [1.0]]).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    >>> RBF(gamma="scale").on([[0.0], [4.0]])
    RBF(gamma=0.25)
    """

    universal = True

    def __init__(self, gamma: float | str = 1.0) -> None:
        self.gamma = gamma

    @property
    def looks_first(self) -> bool:
        """Whether observations decide about γ."""
        return self.gamma == SCALE

    def on(self, observations: Observations) -> RBF:
        """Return the kernel with γ as a number."""
        return RBF(scale_of(observations)) if self.looks_first else self

    @property
    def inverse_width(self) -> float:
        """γ as a number, which `on` makes of "scale"."""
        if self.looks_first:
            refuse(self)
        return positive(self, "gamma")

    def apply(self, products: Array, left: Array, right: Array) -> None:
        """Overwrite ⟨x, x′⟩ by exp(−γ‖x − x′‖²)."""
        gamma = self.inverse_width
        squared_distances(products, left, right)
        products *= -gamma
        np.exp(products, out=products)


def scale_of(X: Observations) -> float:
    """Return 1/(D·Var) of the entries of observations, 1 if they are all equal or there are none."""
    found = rows(X)
    size = found.shape[0] * found.shape[1]
    entries = np.asarray(found.data if sparse.issparse(found) else found, dtype=np.float64)
    mean = entries.sum() / max(size, 1)
    zeros = size - entries.size  # those that a sparse matrix does not hold
    variance = (np.square(entries - mean).sum() + zeros * mean**2) / max(size, 1)
    return 1.0 if variance == 0 else float(1 / (found.shape[1] * variance))
