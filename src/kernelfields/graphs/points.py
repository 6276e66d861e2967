"""Vertices as points: rows of finite numbers, dense or sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..checks import all_finite, require_unmasked
from ..errors import InputError
from ..observations import Observations, canonical


def points_of(X: Observations, dtype: Any = None) -> Any:
    """Return observations as an (n, D) array or a canonical CSR matrix; float32 stays."""
    require_unmasked(X, "The array of observations")
    found = X if sparse.issparse(X) else np.asarray(X)
    if found.ndim != 2:
        raise InputError(f"A graph needs the rows of an (n, D) array, not an array of shape {found.shape}.")
    if found.dtype.kind not in "biuf":
        raise InputError(f"A graph needs rows of numbers, not of {found.dtype}.")
    kind = dtype or (np.float32 if found.dtype == np.float32 else np.float64)
    found = canonical(found, kind) if sparse.issparse(found) else np.ascontiguousarray(found, dtype=kind)
    _require_finite(found)
    return found


def unit_rows(X: Any) -> Any:
    """Return rows of length one, in double; rows of zeros stay."""
    if sparse.issparse(X):
        X = X.astype(np.float64)
        return sparse.diags_array(_inverse_norms(np.sqrt(X.multiply(X).sum(axis=1)))) @ X
    X = X.astype(np.float64)
    return X * _inverse_norms(np.linalg.norm(X, axis=1))[:, None]


def _inverse_norms(norms: Any) -> Array:
    found = np.asarray(norms, dtype=np.float64).ravel()
    return np.divide(1, found, out=np.zeros_like(found), where=found > 0)


def _require_finite(X: Any) -> None:
    values = X.data if sparse.issparse(X) else X
    if not values.size or all_finite(values):
        return
    entries = sparse.coo_array(X)
    bad = np.flatnonzero(~np.isfinite(entries.data))[0]
    raise InputError(
        f"Observation {entries.row[bad]} has the entry {entries.data[bad]}, not a finite number."
    )
