"""Observations in the form that Gram matrices are computed from."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..arrays import Array
from ..errors import InputError
from ..kernels import Observations
from ..kernels.sparse_rows import canonical


def precision_of(X: Observations, dtype: npt.DTypeLike | None) -> np.dtype[Any]:
    """Return float32 or float64: the type asked for, else that of the observations."""
    if dtype is None:
        return np.dtype(np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64)
    found = np.dtype(dtype)
    if found not in (np.float32, np.float64):
        raise InputError(f"dtype of a Gram matrix is {found}, but must be float32 or float64.")
    return found


def is_numeric(X: Observations) -> bool:
    """Return whether X is a matrix of numbers, dense or sparse."""
    return sparse.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf")


def prepare(X: Observations, dtype: np.dtype[Any]) -> Observations:
    """Return numbers in one precision with contiguous rows, and anything else unchanged."""
    if sparse.issparse(X):
        return canonical(X, dtype)
    return np.ascontiguousarray(X, dtype=dtype) if is_numeric(X) else X


def count(X: Observations) -> int:
    """Number of observations."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def take(X: Observations, indices: Array) -> Observations:
    """Return some of the observations."""
    return X[indices] if hasattr(X, "shape") else [X[i] for i in indices]


def squared_norms(X: Observations, dtype: np.dtype[Any]) -> Array:
    """Return ‖x_i‖², summed in float64; an ``InputError`` names a row with NaN, infinity or overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        if sparse.issparse(X):
            squares = sparse.csr_matrix((np.square(X.data, dtype=np.float64), X.indices, X.indptr), X.shape)
            norms = np.asarray(squares.sum(axis=1)).ravel().astype(dtype)
        else:
            norms = np.einsum("ij,ij->i", X, X, dtype=np.float64).astype(dtype)
    bad = np.flatnonzero(~np.isfinite(norms))
    if len(bad):
        raise InputError(
            f"Observation {bad[0]} has numbers that are NaN, infinite or too large to be squared."
        )
    return norms
