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
    """float32 or float64: as asked for, or that of the observations."""
    if dtype is None:
        return np.dtype(np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64)
    found = np.dtype(dtype)
    if found not in (np.float32, np.float64):
        raise InputError(f"A Gram matrix is float32 or float64, not {found}.")
    return found


def is_numeric(X: Observations) -> bool:
    """Whether X is a matrix of numbers, dense or sparse."""
    return sparse.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf")


def prepare(X: Observations, dtype: np.dtype[Any]) -> Observations:
    """Numbers in one precision and contiguous rows; anything else as it is."""
    if sparse.issparse(X):
        return canonical(X, dtype)
    return np.ascontiguousarray(X, dtype=dtype) if is_numeric(X) else X


def count(X: Observations) -> int:
    """Number of observations."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def take(X: Observations, indices: Array) -> Observations:
    """Some of the observations."""
    return X[indices] if hasattr(X, "shape") else [X[i] for i in indices]


def squared_norms(X: Observations, dtype: np.dtype[Any]) -> Array:
    """‖x_i‖², summed in float64; an ``InputError`` names a row with NaN, infinity or overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        if sparse.issparse(X):
            squares = sparse.csr_matrix((np.square(X.data, dtype=np.float64), X.indices, X.indptr), X.shape)
            norms = np.asarray(squares.sum(axis=1)).ravel().astype(dtype)
        else:
            norms = np.einsum("ij,ij->i", X, X, dtype=np.float64).astype(dtype)
    bad = np.flatnonzero(~np.isfinite(norms))
    if len(bad):
        raise InputError(f"Observation {bad[0]} has NaN, infinite or too large numbers.")
    return norms
