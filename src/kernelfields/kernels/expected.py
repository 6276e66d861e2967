"""Expected kernels: observations in which numbers are missing, compared as distributions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..arrays import Array
from ..checks import require_not_negative, shown
from ..errors import InputError
from ..incomplete import JointGaussian, complete_rows, fit_gaussian
from ._base import Kernel, not_negative, positive, tiled_diagonal, with_parts
from .columns import Columns
from .constant import Constant
from .data_kernel import DataKernel
from .linear import Linear
from .observations import Observations, precision, rows, same_width
from .polynomial import Polynomial
from .rbf import RBF
from .rescaled import Rescaled
from .scaled import Scaled
from .sum import Sum

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


CHUNK = 2**22
"""Numbers of a batch of covariances."""


class GaussianRows(NamedTuple):
    """Observations z_i ~ N(m_i, S_i), independent of each other, with few different S."""

    means: Array
    """m, (n, D)."""
    covariances: Array
    """(P, D, D), or (P, D) where all are diagonal."""
    patterns: Array
    """(n,): S_i = covariances[patterns[i]]."""

    @property
    def diagonal(self) -> bool:
        """Whether covariances are."""
        return self.covariances.ndim == 2

    def cut(self, columns: Any) -> GaussianRows:
        """Return the distribution of some columns."""
        covariances = self.covariances[:, columns]
        return GaussianRows(
            self.means[:, columns],
            covariances if self.diagonal else covariances[:, :, columns],
            self.patterns,
        )

    def rescaled(self, centre: Array, scale: Array) -> GaussianRows:
        """Return the distribution of (z − m)/s."""
        squares = scale**2 if self.diagonal else np.outer(scale, scale)
        return GaussianRows((self.means - centre) / scale, self.covariances / squares, self.patterns)


def expectation(kernel: Kernel, left: GaussianRows, right: GaussianRows) -> Array:
    """Return E[k(z_i, z′_j)] for all pairs, (n, m), of independent z and z′."""
    if isinstance(kernel, Sum):
        return expectation(kernel.left, left, right) + expectation(kernel.right, left, right)
    if isinstance(kernel, Scaled):
        return not_negative(kernel, "factor") * expectation(kernel.kernel, left, right)
    if isinstance(kernel, Columns):
        chosen = kernel.columns if isinstance(kernel.columns, slice) else np.asarray(kernel.columns)
        return expectation(kernel.kernel, left.cut(chosen), right.cut(chosen))
    if isinstance(kernel, Rescaled):
        D = left.means.shape[1]
        centre = np.zeros(D) if kernel.centre is None else np.asarray(kernel.centre, dtype=np.float64)
        scale = np.ones(D) if kernel.scale is None else np.asarray(kernel.scale, dtype=np.float64)
        return expectation(kernel.kernel, left.rescaled(centre, scale), right.rescaled(centre, scale))
    if isinstance(kernel, Constant):
        return np.full((len(left.means), len(right.means)), not_negative(kernel, "value"))
    if isinstance(kernel, RBF):
        return _rbf(kernel.inverse_width, left, right)
    require_expectation(kernel)
    return _polynomial(kernel, left, right)


def require_expectation(kernel: Kernel) -> None:
    """Refuse a kernel whose expectation has no closed form here."""
    if isinstance(kernel, Linear | RBF | Constant) or (isinstance(kernel, Polynomial) and kernel.degree <= 2):
        return
    if isinstance(kernel, Sum):
        for part in kernel.parts:
            require_expectation(part)
    elif isinstance(kernel, Scaled | Columns | Rescaled):
        require_expectation(kernel.kernel)
    else:
        raise InputError(
            f"Expected has no formula for {shown(kernel)}: it takes Linear, Polynomial up to degree 2, RBF, "
            "and sums, multiples, Columns and Standardized of these."
        )


def _polynomial(kernel: Kernel, left: GaussianRows, right: GaussianRows) -> Array:
    """E[(γ⟨z, z′⟩ + c)^d], with E⟨z, z′⟩ = ⟨m, m′⟩ and E⟨z, z′⟩² = tr((S + mmᵀ)(S′ + m′m′ᵀ))."""
    products = left.means @ right.means.T
    if isinstance(kernel, Linear):
        return products
    gamma, offset = positive(kernel, "gamma"), not_negative(kernel, "offset")
    if kernel.get_params(deep=False)["degree"] == 1:
        return gamma * products + offset
    squares = products**2 + _traces(left, right) + _forms(left, right) + _forms(right, left).T
    return gamma**2 * squares + 2 * gamma * offset * products + offset**2


def _traces(left: GaussianRows, right: GaussianRows) -> Array:
    """tr(S S′) for all pairs."""
    flat = [one.covariances.reshape(len(one.covariances), -1) for one in (left, right)]
    return (flat[0] @ flat[1].T)[np.ix_(left.patterns, right.patterns)]


def _forms(means: GaussianRows, spread: GaussianRows) -> Array:
    """mᵀ S′ m for all pairs."""
    m = means.means
    if spread.diagonal:
        return (m**2 @ spread.covariances.T)[:, spread.patterns]
    found = [((m @ S) * m).sum(axis=1) for S in spread.covariances]
    return np.stack(found, axis=1)[:, spread.patterns] if found else np.zeros((len(m), 0))


def _rbf(gamma: float, left: GaussianRows, right: GaussianRows) -> Array:
    """E exp(−γ‖z − z′‖²) = |I + 2γV|^(−1/2) exp(−γ δᵀ (I + 2γV)⁻¹ δ), δ = m − m′ and V = S + S′."""
    result = np.empty((len(left.means), len(right.means)))
    D, n = right.means.shape[1], max(1, len(right.means))
    compute = _rbf_diagonal if right.diagonal else _rbf_full
    step = max(1, CHUNK // (n * max(1, D) * (1 if right.diagonal else max(1, D))))
    for start in range(0, len(left.means), step):
        some = slice(start, start + step)
        part = GaussianRows(left.means[some], left.covariances, left.patterns[some])
        result[some] = compute(gamma, part, right)
    return result


def _rbf_diagonal(gamma: float, left: GaussianRows, right: GaussianRows) -> Array:
    sums = left.covariances[left.patterns][:, None] + right.covariances[right.patterns][None]
    widths = 1 + 2 * gamma * sums
    apart = (left.means[:, None] - right.means[None]) ** 2
    return np.exp(-gamma * (apart / widths).sum(axis=2) - 0.5 * np.log(widths).sum(axis=2))


def _rbf_full(gamma: float, left: GaussianRows, right: GaussianRows) -> Array:
    """One factor for every pair of patterns that occurs, whatever the number of observations."""
    D = left.means.shape[1]
    own, place = np.unique(left.patterns, return_inverse=True)
    result = np.empty((len(left.means), len(right.means)))
    for a, pattern in enumerate(own):
        rows = np.flatnonzero(place.reshape(-1) == a)
        widths = np.eye(D) + 2 * gamma * (left.covariances[pattern] + right.covariances)
        factors = np.linalg.cholesky(widths)
        logs = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
        chosen = factors[right.patterns]
        for i in rows:
            whitened = _solved(chosen, left.means[i] - right.means)
            result[i] = np.exp(-gamma * (whitened**2).sum(axis=1) - logs[right.patterns])
    return result


def _solved(factors: Array, right: Array) -> Array:
    """Return L⁻¹ r of every triangular factor and its row, row by row of the factors: all at once."""
    result = np.empty_like(right)
    for k in range(right.shape[1]):
        before = np.einsum("mj,mj->m", factors[:, k, :k], result[:, :k])
        result[:, k] = (right[:, k] - before) / factors[:, k, k]
    return result
