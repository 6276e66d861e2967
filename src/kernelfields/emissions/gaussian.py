"""Gaussian families: spherical, diagonal, full and tied covariances."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ._gaussian_base import GaussianFamily, Moments


class DiagonalGaussian(GaussianFamily):
    """Gaussians with independent columns: a variance for every state and column.

    Parameters
    ----------
    prior_scale : float
        Added to Σ weight (x − mean)² of every column, so that no state shrinks to a point; hmmlearn also
        adds 0.01 (``covars_prior``). Choose it small compared with the variances of the data.
    prior_weight : float
        Added to the weight of every state.
    """

    full = False

    def __init__(self, prior_scale: float = 0.01, prior_weight: float = 0.0) -> None:
        self.prior_scale = prior_scale
        self.prior_weight = prior_weight

    def covariances(self, moments: Moments) -> Array:
        """Return variances, (L, D)."""
        return self.spread(moments, _counts(moments))

    def free(self, n_states: int, n_columns: int) -> int:
        """Return L·D."""
        return n_states * n_columns

    def distinct(self, covariances: Array) -> Array:
        """Return all variances: no two are the same parameter."""
        return covariances


class SphericalGaussian(GaussianFamily):
    """Gaussians with one variance for all columns of a state.

    Parameters
    ----------
    prior_scale, prior_weight : float
        As for `DiagonalGaussian`, column by column.
    """

    full = False

    def __init__(self, prior_scale: float = 0.01, prior_weight: float = 0.0) -> None:
        self.prior_scale = prior_scale
        self.prior_weight = prior_weight

    def covariances(self, moments: Moments) -> Array:
        """Return the mean variance of a state's columns, repeated, (L, D)."""
        D = moments.mean.shape[1]
        below = np.broadcast_to(_counts(moments), moments.mean.shape).mean(axis=1) + self.prior_weight
        above = moments.scatter.mean(axis=1) + self.prior_scale
        variance = np.divide(above, below, out=np.full_like(above, self.prior_scale), where=below > 0)
        return np.repeat(variance[:, None], D, axis=1)

    def free(self, n_states: int, n_columns: int) -> int:
        """Return L."""
        return n_states

    def distinct(self, covariances: Array) -> Array:
        """Return all variances: every column counts in the prior, as in the likelihood."""
        return covariances


class FullGaussian(GaussianFamily):
    """Gaussians with a covariance matrix for every state.

    Parameters
    ----------
    prior_scale : float
        Added to the diagonal of Σ weight (x − mean)(x − mean)ᵀ.
    prior_weight : float
        Added to the weight of every state.
    """

    full = True

    def __init__(self, prior_scale: float = 0.01, prior_weight: float = 0.0) -> None:
        self.prior_scale = prior_scale
        self.prior_weight = prior_weight

    def covariances(self, moments: Moments) -> Array:
        """Return matrices, (L, D, D)."""
        return self.spread(moments, moments.weight[:, None, None])

    def free(self, n_states: int, n_columns: int) -> int:
        """Return L·D·(D + 1)/2."""
        return n_states * n_columns * (n_columns + 1) // 2

    def distinct(self, covariances: Array) -> Array:
        """Return all variances: no two are the same parameter."""
        return covariances


class TiedGaussian(GaussianFamily):
    """Gaussians with one covariance matrix for all states: only their means differ.

    Parameters
    ----------
    prior_scale, prior_weight : float
        As for `FullGaussian`, added once for all states together.
    """

    full = True

    def __init__(self, prior_scale: float = 0.01, prior_weight: float = 0.0) -> None:
        self.prior_scale = prior_scale
        self.prior_weight = prior_weight

    def covariances(self, moments: Moments) -> Array:
        """Return one matrix, repeated, (L, D, D)."""
        together = Moments(
            moments.weight.sum(keepdims=True), moments.mean[:1], moments.scatter.sum(axis=0, keepdims=True)
        )
        return np.repeat(self.spread(together, together.weight[:, None, None]), len(moments.mean), axis=0)

    def free(self, n_states: int, n_columns: int) -> int:
        """Return D·(D + 1)/2."""
        return n_columns * (n_columns + 1) // 2

    def distinct(self, covariances: Array) -> Array:
        """Return the first matrix only: all states share it."""
        return covariances[:1]


def _counts(moments: Moments) -> Array:
    """Return the sums of weights, in the shape of variances."""
    return moments.weight if moments.weight.ndim == 2 else moments.weight[:, None]
