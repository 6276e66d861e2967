"""Observations of every kind, and Gram matrices written down plainly."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from kernelfields.kernels import RBF, Kernel, Linear, Polynomial

KINDS = ("dense", "binary", "real")
KERNELS: dict[str, Kernel] = {"linear": Linear(), "polynomial": Polynomial(3, 0.5, 1.0), "rbf": RBF(0.05)}


def observations(kind: str, rng: np.random.Generator, n: int, features: int = 300) -> Any:
    """Dense rows, or sparse ones with empty rows and both frequent and rare features."""
    if kind == "dense":
        return rng.normal(size=(n, 7))
    share = np.concatenate([np.full(20, 0.5), np.full(30, 0.04), np.full(features - 50, 0.01)])
    ones = rng.random((n, features)) < share
    ones[rng.random(n) < 0.1] = False
    values = ones if kind == "binary" else ones * rng.normal(size=ones.shape)
    return sparse.csr_matrix(values, dtype=np.float64)


def dense(X: Any) -> np.ndarray:
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def plain(name: str, X: Any, Y: Any | None = None) -> np.ndarray:
    """k(x_i, y_j) in float64, by the formulas."""
    left, right = dense(X).astype(float), dense(X if Y is None else Y).astype(float)
    if name == "linear":
        return left @ right.T
    if name == "polynomial":
        return (0.5 * (left @ right.T) + 1) ** 3
    return np.exp(-0.05 * cdist(left, right, "sqeuclidean"))


def tolerance(dtype: Any) -> float:
    return 2e-6 if np.dtype(dtype) == np.float32 else 1e-12


def assert_close(found: np.ndarray, wanted: np.ndarray, dtype: Any) -> None:
    """Errors relative to the largest number."""
    assert found.shape == wanted.shape
    if wanted.size:
        np.testing.assert_allclose(found, wanted, rtol=0, atol=tolerance(dtype) * np.abs(wanted).max())
