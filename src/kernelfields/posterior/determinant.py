"""log|A| and tr A⁻¹ of a symmetric operator: exact where it is small, else by Lanczos' method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import scipy

from ..arrays import Array
from .curvature import Curvature, solve

SMALL = 1500
"""Coordinates up to which A is written out."""
TRACE_TOL = 0.1
"""Relative residual of solutions that traces are read off: far below the noise of random vectors."""


class PrecisionSpectrum(NamedTuple):
    """What the evidence needs to know of A = 1 + JᵀWJ."""

    log_determinant: float
    error: float
    """Standard error of log|A|; 0 where A was written out."""
    n_effective: dict[str, float]
    """γ_τ = tr_τ(1 − A⁻¹): how many coordinates of each space the data determine [mackay1992]."""


def spectrum(curvature: Curvature, probes: int, steps: int, seed: int) -> PrecisionSpectrum:
    """Return log|A| and γ of every space.

    Parameters
    ----------
    curvature : Curvature
        A.
    probes, steps : int
        Random vectors, and Lanczos steps from each, where A is too large to be written out.
    seed : int
        Of the random vectors: differences between settings are more precise with the same ones.
    """
    slices = curvature.unit.slices
    if curvature.size <= SMALL:
        return _written_out(curvature.matrix(), slices)
    shares = []
    for probe in _probes(curvature.size, probes, seed):
        inverse = solve(curvature.times, probe, TRACE_TOL, steps)
        shares.append([float(np.sum(probe[s] * (probe[s] - inverse[s]))) for s in slices.values()])
    found = dict(zip(slices, np.mean(shares, axis=0).tolist(), strict=True))
    return PrecisionSpectrum(*log_determinant(curvature, probes, steps, seed), found)


def log_determinant(curvature: Curvature, probes: int, steps: int, seed: int) -> tuple[float, float]:
    """Return log|A| by Lanczos' method, however small A is, and its standard error."""
    values = [_quadrature(curvature, probe, steps) for probe in _probes(curvature.size, probes, seed)]
    error = float(np.std(values, ddof=1) / np.sqrt(probes)) if probes > 1 else np.inf
    return float(np.mean(values)), error


def _probes(size: int, count: int, seed: int) -> Array:
    return np.random.default_rng(seed).choice([-1.0, 1.0], (count, size))


def _written_out(A: Array, slices: Mapping[str, slice]) -> PrecisionSpectrum:
    factor = np.linalg.cholesky(A)
    inverse = np.linalg.inv(A)
    gamma = {name: float(np.sum(1 - np.diagonal(inverse)[s])) for name, s in slices.items()}
    return PrecisionSpectrum(2 * float(np.log(np.diagonal(factor)).sum()), 0.0, gamma)


def _quadrature(curvature: Curvature, probe: Array, steps: int) -> float:
    """Return zᵀ log(A) z by Gauss's quadrature in a Krylov space, whose vectors are kept orthogonal."""
    square = float(probe @ probe)
    basis = [probe / np.sqrt(square)]
    diagonal: list[float] = []
    beside: list[float] = []
    for _ in range(min(steps, curvature.size)):
        image = curvature.times(basis[-1])
        diagonal.append(float(image @ basis[-1]))
        for vector in basis:
            image -= (image @ vector) * vector
        length = float(np.linalg.norm(image))
        if length < 1e-10 * max(diagonal):
            break
        beside.append(length)
        basis.append(image / length)
    nodes, vectors = scipy.linalg.eigh_tridiagonal(diagonal, beside[: len(diagonal) - 1])
    # No eigenvalue of A is below 1; rounding may say so.
    return square * float(np.square(vectors[0]) @ np.log(np.maximum(nodes, 1.0)))
