"""Expected kernels: observations in which numbers are missing, compared as distributions."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import Array
from ..checks import require_not_negative, shown
from ..errors import InputError
from ..incomplete import JointGaussian, complete_rows, fit_gaussian
from ._base import Kernel, tiled_diagonal, with_parts
from .data_kernel import DataKernel
from .gaussian_moments import GaussianRows, expectation, require_expectation
from .observations import Observations, precision, rows, same_width

COVARIANCES = ("full", "diagonal")


class Expected(DataKernel):
    """k(x, x′) = E[k₁(z, z′)] over what is missing of x and x′ (NaN), which is Gaussian given the rest.

    Columns are taken to be jointly Gaussian, with the mean and covariance of all observations of the training
    set, by expectation maximisation [dempster1977]. An observation with missing numbers then stands for a
    distribution P_x, that of its completions z, and the kernel is the inner product of the mean embeddings of
    P_x and P_x′ [smola2007]: positive semi-definite, and k₁ where nothing is missing. What is unsure is less
    like everything, itself included: a model relies on it less than on a number that was filled in.

    For k₁ linear (where it is the same as filling in means), polynomial of degree 2, `RBF`, constant, and
    sums, multiples, `Columns`, `Rescaled` and `Standardized` of these.

    Parameters
    ----------
    kernel : Kernel
        k₁; one that looks at observations first sees them with means filled in.
    covariance : "full" or "diagonal"
        Whether columns depend on each other. With "full", an `RBF` takes O(D³) for every pair of
        patterns of missing numbers: for up to some thirty columns. With "diagonal" it takes O(D).
    prior : float
        How many observations the prior, columns that do not depend on each other, counts for.

    Examples
    --------
    >>> from kernelfields.kernels import RBF
    >>> X = [[0.0], [1.0], [2.0], [float("nan")]]
    >>> Expected(RBF(gamma=0.5)).on(X)([[1.0]], X).round(3)
    array([[0.607, 1.   , 0.607, 0.775]])
    """

    def __init__(self, kernel: Kernel, covariance: str = "full", prior: float = 1.0) -> None:
        self.kernel = kernel
        self.covariance = covariance
        self.prior = prior

    @property
    def takes_missing(self) -> bool:
        """It is made for them."""
        return True

    def on(self, observations: Observations) -> Kernel:
        """Return the expectation under the Gaussian of these observations."""
        if self.covariance not in COVARIANCES:
            raise InputError(
                f"covariance of Expected is {shown(self.covariance)}; it must be 'full' or 'diagonal'."
            )
        prior = require_not_negative("prior of Expected", self.prior)
        found = _dense(observations).astype(np.float64)
        gaussian = fit_gaussian(found, full=self.covariance == "full", prior=prior)
        inner = self.kernel.on(complete_rows(found, gaussian).means)
        require_expectation(inner)
        return GaussianExpectation(inner, *gaussian)


class GaussianExpectation(Kernel):
    """k(x, x′) = E[k₁(z, z′)], z and z′ independent completions of x and x′ under N(m, Σ): see `Expected`.

    Parameters
    ----------
    kernel : Kernel
        k₁.
    mean : (D,) array
        m.
    covariance : (D, D) or (D,) array
        Σ, or the variances of independent columns.

    Examples
    --------
    >>> from kernelfields.kernels import Linear
    >>> GaussianExpectation(Linear(), [1.0, 2.0], [1.0, 1.0])([[float("nan"), 3.0]])
    array([[10.]])
    """

    def __init__(self, kernel: Kernel, mean: Any, covariance: Any) -> None:
        self.kernel = kernel
        self.mean = mean
        self.covariance = covariance

    @property
    def universal(self) -> bool:  # type: ignore[override]
        """As k₁, of distributions with nothing missing."""
        return self.kernel.universal

    @property
    def takes_missing(self) -> bool:
        """It is made for them."""
        return True

    def on(self, observations: Observations) -> Kernel:
        """Return the expectation of k₁ as it is on completed observations."""
        return with_parts(self, {"kernel": self.kernel.on(self._completed(observations).means)})

    def block(self, X: Observations, Y: Observations) -> Array:
        """Return E[k₁(z_i, z′_j)]."""
        left = self._completed(X)
        right = left if Y is X else self._completed(Y)
        return expectation(self.kernel, left, right).astype(precision(X, Y), copy=False)

    def diagonal(self, X: Observations) -> Array:
        """Return E[k₁(z, z′)] of two independent completions, which is below E[k₁(z, z)]."""
        found = rows(X)
        return tiled_diagonal(self, found, found.shape[0]).astype(precision(found), copy=False)

    def _completed(self, X: Observations) -> GaussianRows:
        found = _dense(X)
        gaussian = JointGaussian(*(np.asarray(one, dtype=np.float64) for one in (self.mean, self.covariance)))
        D = len(gaussian.mean)
        if gaussian.covariance.shape not in ((D,), (D, D)):
            raise InputError(
                f"covariance of GaussianExpectation has shape {gaussian.covariance.shape}, expected ({D},) "
                f"or ({D}, {D})."
            )
        same_width(found, gaussian.mean[None])
        return GaussianRows(*complete_rows(found, gaussian))


def _dense(X: Observations) -> Array:
    found = rows(X)
    return found.toarray() if sp.issparse(found) else found
