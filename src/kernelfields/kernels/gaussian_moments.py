"""Expectations of kernels of independent Gaussian observations, in closed form."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..checks import shown
from ..errors import InputError
from ._base import Kernel, not_negative, positive
from .columns import Columns
from .constant import Constant
from .linear import Linear
from .polynomial import Polynomial
from .rbf import RBF
from .rescaled import Rescaled
from .scaled import Scaled
from .sum import Sum

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
