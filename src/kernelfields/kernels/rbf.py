"""The Gaussian kernel."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..checks import Table, choose
from ._base import ProductKernel, positive
from .data_kernel import refuse
from .observations import MEDIAN, Observations, euclidean, median_distance, rows, squared_distances

SCALE = "scale"


class RBF(ProductKernel):
    """k(x, x′) = exp(−γ‖x − x′‖²).

    Universal: with it a model can come arbitrarily close to any bounded continuous density
    [altun2006, Prop. 3]. The first choice for real-valued observations. Distances are computed from inner
    products, which loses digits far from the origin: centre observations, above all in float32.

    Parameters
    ----------
    gamma : float, "median" or "scale"
        γ > 0, the inverse squared width; or a rule by which the observations of a training set decide about
        it. "median" is 1 over the median of ‖x − x′‖² over pairs of different observations, up to 1,000 of
        them, spread evenly over all: it follows the unit of the columns, does not depend on their offsets or
        on a few outliers, and stands behind the name "rbf". "scale" is 1/(D·Var) of the D
        columns, with the variance of all of their entries, as scikit-learn has it, sequences without labels
        included. Both are 1 if all observations are equal.
    factor : float
        γ is multiplied by it: ``RBF("median", factor=4.0)`` is half as wide as ``RBF("median")``.

    Examples
    --------
    >>> RBF(gamma=0.5)([[0.0], [1.0]]).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    >>> RBF(gamma="scale").on([[0.0], [4.0]])
    RBF(gamma=0.25)
    >>> RBF(gamma="median").on([[0.0], [2.0], [4.0]])
    RBF(gamma=0.25)
    """

    universal = True

    def __init__(self, gamma: float | str = 1.0, factor: float = 1.0) -> None:
        self.gamma = gamma
        self.factor = factor

    @property
    def looks_first(self) -> bool:
        """Whether observations decide about γ."""
        return isinstance(self.gamma, str)

    @property
    def uses_unlabelled(self) -> bool:
        """Whether γ is "scale"; a model by name is no other for sequences that it cannot learn from."""
        return self.gamma == SCALE

    def on(self, observations: Observations) -> RBF:
        """Return the kernel with γ as a number."""
        if not isinstance(self.gamma, str):
            return self
        return RBF(positive(self, "factor") * choose(RULES, self.gamma, "gamma")(observations))

    @property
    def inverse_width(self) -> float:
        """γ as a number, which `on` makes of a rule."""
        if self.looks_first:
            refuse(self)
        return positive(self, "factor") * positive(self, "gamma")

    def diagonal(self, X: Observations) -> Array:
        """Return ones."""
        if self.looks_first:
            refuse(self)
        found = rows(X)
        return np.ones(found.shape[0], found.dtype)

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


def median_of(X: Observations) -> float:
    """Return 1 / median ‖x − x′‖² over pairs of different observations, 1 if all are equal."""
    return 1 / median_distance(X, euclidean) ** 2


RULES: Table[Callable[[Observations], float]] = Table(entries={MEDIAN: median_of, SCALE: scale_of})
"""What γ may be set to where observations are to decide about it."""
