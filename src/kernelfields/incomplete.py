"""Rows in which numbers are missing, under a joint Gaussian of their columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from .arrays import Array
from .errors import InputError, warn_user


class JointGaussian(NamedTuple):
    """A Gaussian of whole rows: N(m, Σ)."""

    mean: Array
    """m, (D,)."""
    covariance: Array
    """Σ, (D, D); or (D,), the variances of independent columns."""


class CompletedRows(NamedTuple):
    """The distribution of every row given what was observed of it: N(m_i, S_i)."""

    means: Array
    """m_i, (n, D): what was observed, else E[x_m | x_o] = m_m + Σ_mo Σ_oo⁻¹ (x_o − m_o)."""
    covariances: Array
    """(P, D, D), or (P, D) for independent columns: S = Σ_mm − Σ_mo Σ_oo⁻¹ Σ_om of every pattern of missing
    numbers, zero where something was observed; it does not depend on the numbers."""
    patterns: Array
    """(n,): row i has the pattern ``patterns[i]``."""


def complete_rows(rows: Array, gaussian: JointGaussian) -> CompletedRows:
    """Return the conditional distributions of rows, in which NaN is a missing number."""
    rows = np.asarray(rows, dtype=np.float64)
    missing, patterns = np.unique(np.isnan(rows), axis=0, return_inverse=True)
    patterns = patterns.reshape(-1)
    means = np.where(np.isnan(rows), gaussian.mean, rows)
    if gaussian.covariance.ndim == 1:
        return CompletedRows(means, missing * gaussian.covariance, patterns)
    D = rows.shape[1]
    covariances = np.zeros((len(missing), D, D))
    order = np.argsort(patterns, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(patterns, minlength=len(missing)))[:-1])
    for p, lacks in enumerate(missing):
        if not lacks.any():
            continue
        slopes, covariance = _conditional(gaussian.covariance, lacks)
        centred = rows[np.ix_(members[p], ~lacks)] - gaussian.mean[~lacks]
        means[np.ix_(members[p], lacks)] = gaussian.mean[lacks] + centred @ slopes
        covariances[p][np.ix_(lacks, lacks)] = covariance
    return CompletedRows(means, covariances, patterns)


def _conditional(covariance: Array, lacks: Array) -> tuple[Array, Array]:
    """Return Σ_oo⁻¹ Σ_om and Σ_mm − Σ_mo Σ_oo⁻¹ Σ_om."""
    across = covariance[np.ix_(~lacks, lacks)]
    slopes = across
    if across.size:
        slopes = scipy.linalg.cho_solve(scipy.linalg.cho_factor(covariance[np.ix_(~lacks, ~lacks)]), across)
    rest = covariance[np.ix_(lacks, lacks)] - across.T @ slopes
    return slopes, (rest + rest.T) / 2


def fit_gaussian(
    rows: Array, *, full: bool = True, prior: float = 1.0, tol: float = 1e-3, max_iter: int = 200
) -> JointGaussian:
    """Fit a Gaussian to rows in which numbers are missing at random.

    Independent columns have the mean and the variance of what was observed. Otherwise it is the most
    probable one, by expectation maximisation [dempster1977]: rows are completed by `complete_rows`, and then

        m = Σ_i m_i / n,   Σ = (Σ_i (m_i − m)(m_i − m)ᵀ + S_i + ν V) / (n + ν)

    with V the variances of single columns. No step makes what was observed less probable, prior included.

    Parameters
    ----------
    rows : (n, D) array
        NaN where a number is missing; every column has at least one that is not.
    full : bool
        Whether columns depend on each other.
    prior : float
        ν ≥ 0: how many rows the prior, columns that do not depend on each other, counts for.
    tol : float
        Change of correlations below which to stop.
    max_iter : int
        Limit of steps; reaching it is a warning.
    """
    rows = np.asarray(rows, dtype=np.float64)
    observed = ~np.isnan(rows)
    empty = np.flatnonzero(~observed.any(axis=0))
    if len(empty):
        raise InputError(f"Column {empty[0]} of X has no number in {len(rows)} rows: leave it out.")
    mean = np.nanmean(rows, axis=0)
    variance = np.nanvar(rows, axis=0)
    if not full:
        return JointGaussian(mean, variance)
    scale = np.sqrt(np.where(variance > 1e-24 * np.maximum(1.0, mean**2), variance, 1.0))
    standard = _expectation_maximisation((rows - mean) / scale, prior, tol, max_iter)
    return JointGaussian(mean + scale * standard.mean, standard.covariance * np.outer(scale, scale))


def _expectation_maximisation(rows: Array, prior: float, tol: float, max_iter: int) -> JointGaussian:
    """Return the Gaussian of columns whose observed numbers have mean 0 and variance 1."""
    n, D = rows.shape
    gaussian = JointGaussian(np.zeros(D), np.eye(D))
    ridge = max(prior, 1e-9 * n)  # columns that are functions of others have no inverse
    for _ in range(max_iter):
        done = complete_rows(rows, gaussian)
        counts = np.bincount(done.patterns, minlength=len(done.covariances))
        mean = done.means.mean(axis=0)
        centred = done.means - mean
        scatter = centred.T @ centred + np.tensordot(counts, done.covariances, axes=1)
        covariance = (scatter + ridge * np.eye(D)) / (n + ridge)
        change = max(np.abs(covariance - gaussian.covariance).max(), np.abs(mean - gaussian.mean).max())
        gaussian = JointGaussian(mean, covariance)
        if change <= tol:
            return gaussian
    warn_user(
        f"The Gaussian of incomplete rows still changed by {change:.1e} in step {max_iter}: raise tol.",
        UserWarning,
    )
    return gaussian
