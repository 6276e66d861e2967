"""Observations as kernels read them: rows of numbers, dense or sparse, or other objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import Array
from ..checks import one_of, require_unmasked
from ..errors import InputError
from ..observations import (
    Observations,
    canonical,
    count,
    is_numeric,
    prepare,
    stacked,
    take,
    unique_observations,
)
from .sparse_rows import sparse_inner_products

__all__ = ["Observations", "canonical", "count", "is_numeric", "prepare", "stacked", "take"]

ROUNDING = 16
"""Units in the last place that an inner product may be off."""

MEDIAN = "median"
"""The name of the rule by which distances decide about the width of a kernel."""
SAMPLE = 1000
"""Observations whose distances are looked at."""
require_rule = one_of((MEDIAN,))
"""Refuses other rules."""


def rows(X: Observations) -> Any:
    """Return observations as an (n, D) array or CSR matrix; float32 stays, all else becomes float64."""
    require_unmasked(X, "The array of observations")
    if not sp.issparse(X):
        return _in_precision(_two_axes(np.asarray(X)))
    return _in_precision(X.tocsr())


def dense_rows(X: Observations) -> Array:
    """Return observations as an (n, D) array."""
    found = rows(X)
    return found.toarray() if sp.issparse(found) else found


def items(X: Observations) -> list[Any]:
    """Return observations that are objects (strings, sets, indices), in a sequence or an (n, 1) array."""
    if sp.issparse(X):
        raise InputError("This kernel compares strings and other objects, not the rows of a sparse matrix.")
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] == 1:
        return list(X[:, 0])
    return list(X)


def precision(*observations: Observations) -> np.dtype[Any]:
    """Return float32 if all arrays are float32, else float64."""
    types = [getattr(X, "dtype", None) for X in observations]
    return np.dtype(np.float32 if all(found == np.float32 for found in types) else np.float64)


def inner_products(X: Observations, Y: Observations) -> Array:
    """Return ⟨x_i, y_j⟩ for all pairs as a dense (n, m) array."""
    left = rows(X)
    right = left if Y is X else rows(Y)
    same_width(left, right)
    if sp.issparse(left) and sp.issparse(right):
        return sparse_inner_products(left, right)
    product = left @ right.T
    return np.ascontiguousarray(product.toarray() if sp.issparse(product) else product)


def holds_vectors(X: Any) -> bool:
    """Tell whether observations are rows of real numbers."""
    return getattr(X, "ndim", 0) == 2 and X.dtype.kind == "f"


def squared_norms(X: Observations) -> Array:
    """Return ‖x_i‖²."""
    found = rows(X)
    if sp.issparse(found):
        return np.asarray(found.multiply(found).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", found, found)


def squared_distances(products: Array, left: Array, right: Array) -> None:
    """Overwrite ⟨x, x′⟩ by ‖x‖² + ‖x′‖² − 2⟨x, x′⟩, kept from falling below zero."""
    products *= -2
    products += left[:, None]
    products += right[None, :]
    np.maximum(products, 0, out=products)


def distances(products: Array, left: Array, right: Array) -> None:
    """Overwrite ⟨x, x′⟩ by ‖x − x′‖; what rounding alone may have left of a distance is zero.

    The root turns a rounding error ε of a square into √ε: without this, an observation would be
    at a distance from itself.
    """
    squared_distances(products, left, right)
    unit = ROUNDING * float(np.finfo(products.dtype).eps)
    products[products < unit * (left[:, None] + right[None, :])] = 0
    np.sqrt(products, out=products)


def median_distance(X: Observations, between: Callable[[Any], Array]) -> float:
    """Return the median distance in pairs of a sample of the different observations, 1 if all are equal.

    Equal ones say nothing about a width: sensors that are mostly off would have the median 0. A weight of two
    and an observation that is there twice mean the same. ``between`` gives all distances in a sample.
    """
    found = unique_observations(rows(X)).observations  # those that occur often do not count more
    size = found.shape[0]
    chosen = np.unique(np.linspace(0, max(size - 1, 0), min(SAMPLE, size)).astype(np.int64))
    sample = take(found, chosen).astype(np.float64)
    if not sample.shape[0]:
        return 1.0
    apart = between(sample)[np.triu_indices(sample.shape[0], 1)]
    apart = apart[apart > 0]
    return float(np.median(apart)) if apart.size else 1.0


def euclidean(sample: Any) -> Array:
    """Return ‖x − x′‖ for all pairs."""
    if not sp.issparse(sample):
        sample = sample - sample.mean(axis=0)  # distances by inner products lose digits far from the origin
    squares, products = squared_norms(sample), inner_products(sample, sample)
    distances(products, squares, squares)
    return products


def inverse_roots(squares: Array) -> Array:
    """Return 1/√s, and 0 where s is 0: the zero vector has no direction."""
    roots = np.sqrt(squares)
    return np.divide(1, roots, out=np.zeros_like(roots), where=roots != 0)


def pairs(function: Callable[[Any, Any], Array], X: Any, Y: Any) -> Array:
    """Call a function of scikit-learn, after checks that it makes with long messages or not at all."""
    shape = X.shape[0], Y.shape[0]
    for some in (X, Y):
        _finite(some)
    return function(X, Y) if min(shape) else np.empty(shape, dtype=precision(X, Y))


def same_width(X: Any, Y: Any) -> None:
    """Require rows of one length."""
    if X.shape[1] != Y.shape[1]:
        raise InputError(
            f"Observations have {X.shape[1]} and {Y.shape[1]} numbers, but must have equally many."
        )


def _finite(X: Any) -> None:
    # A sum is finite only if all its terms are, or, rarely, overflows: then look closer.
    if np.isfinite(X.sum()):
        return
    entries = X.tocoo() if sp.issparse(X) else sp.coo_array(X)
    bad = np.flatnonzero(~np.isfinite(entries.data))
    if len(bad):
        raise InputError(
            f"Observation {entries.row[bad[0]]} has the entry {entries.data[bad[0]]}, not a finite number."
        )


def _two_axes(X: Array) -> Array:
    if X.ndim != 2:
        raise InputError(f"Observations must be rows of an (n, D) array, not an array of shape {X.shape}.")
    return X


def _in_precision(X: Any) -> Any:
    if X.dtype in (np.float32, np.float64):
        return X
    try:
        return X.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(f"Observations must be rows of numbers, not of {X.dtype}.") from None
