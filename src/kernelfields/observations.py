"""Observations of any kind: rows of numbers, dense or sparse, or other objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from .arrays import Array
from .errors import InputError, quoted

Observations = Any
"""(n, D) array, scipy-sparse matrix, or whatever else a kernel compares, one observation per row."""

_CHUNK = 2**16  # numbers at a time: some copies of them are needed
_ODD = np.uint64(0x9E3779B97F4A7C15)


def count(X: Observations) -> int:
    """Return the number of observations; sparse matrices have no ``len``."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def take(X: Observations, indices: Array) -> Observations:
    """Return some of the observations."""
    return X[indices] if hasattr(X, "shape") else [X[i] for i in indices]


def stacked(observations: Sequence[Observations]) -> Observations:
    """Return observations one below the other."""
    if len(observations) == 1:
        return observations[0]
    if any(sparse.issparse(one) for one in observations):
        return sparse.vstack([sparse.csr_matrix(one) for one in observations], format="csr")
    return np.concatenate(observations)


def is_numeric(X: Observations) -> bool:
    """Return whether X is a matrix of numbers, dense or sparse."""
    return sparse.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf")


def prepare(X: Observations, dtype: np.dtype[Any]) -> Observations:
    """Return numbers in one precision with contiguous rows, and anything else unchanged."""
    if sparse.issparse(X):
        return canonical(X, dtype)
    return np.ascontiguousarray(X, dtype=dtype) if is_numeric(X) else X


def canonical(X: Any, dtype: npt.DTypeLike) -> Any:
    """Return X as CSR in one precision, the columns of every row sorted and unique."""
    rows = sparse.csr_matrix(X, dtype=dtype)
    if not rows.has_canonical_format:
        rows = rows.copy()  # the arrays may be those of X
        rows.sum_duplicates()
    return rows


class UniqueObservations(NamedTuple):
    """The distinct observations."""

    observations: Observations
    """Each once, in order of first appearance."""
    inverse: Array
    """(n,): x_i is ``observations[inverse[i]]``."""


def unique_observations(X: Observations) -> UniqueObservations:
    """Find the distinct observations: rows of an array or a sparse matrix, or objects.

    Rows are compared by a hash of 64 bits and then number by number, so that the answer is exact.
    Objects that cannot be hashed all count as distinct.
    """
    n = count(X)
    if is_numeric(X):
        X = prepare(X, X.dtype) if sparse.issparse(X) else X
        first, inverse = _by_hash(_hashes_of_sparse(X) if sparse.issparse(X) else _hashes_of_dense(X))
        if not _same_rows(X, first[inverse]):  # two rows with one hash: sort instead
            first, inverse = _by_sorting(X)
    else:
        first, inverse = _by_dictionary(X)
    return UniqueObservations(X if len(first) == n else take(X, first), inverse)


def find_observations(X: Observations, wanted: Observations) -> Array:
    """Return, for each observation wanted, the number of an equal one among X; −1 if X has none.

    X has no duplicates. Numbers are compared exactly, those of X in the precision of the others.
    """
    if X is wanted:
        return np.arange(count(X))
    if not is_numeric(X):
        try:
            numbers = {x: i for i, x in enumerate(X)}
            return np.array([numbers.get(x, -1) for x in wanted], dtype=np.int64)
        except TypeError:
            places = {id(x): i for i, x in enumerate(X)}
            return np.array([places.get(id(x), -1) for x in wanted], dtype=np.int64)
    hashes, sought = (_hashes(Y) for Y in (X, wanted))
    order = np.argsort(hashes)
    place = np.searchsorted(hashes[order], sought)
    found = order[np.minimum(place, len(order) - 1)]
    stored = sparse.issparse(X) or sparse.issparse(wanted)
    differ = X[found] != wanted if stored else _differ(X[found], wanted)
    wrong = np.asarray(differ.sum(axis=1)).ravel() > 0
    return np.where(wrong, -1, found)


def origins(basis: Any, observations: Any, rows: Array, offsets: Array) -> Array | None:
    """Return the sequence and the position where each observation of a basis occurs first, (n, 2).

    Position t of the whole training set has the observation ``rows[t]``. −1 stands for what was made of
    several observations; None for no basis.
    """
    if basis is None:
        return None
    found = find_observations(observations, basis)
    first = np.unique(rows, return_index=True)[1]  # every observation occurs
    position = first[found]
    sequence = np.searchsorted(offsets, position, side="right") - 1
    result = np.stack([sequence, position - offsets[sequence]], axis=1).astype(np.int64)
    result[found < 0] = -1
    return result


def _hashes(X: Any) -> Array:
    return _hashes_of_sparse(X) if sparse.issparse(X) else _hashes_of_dense(X)


def _in_order(first: Array, inverse: Array) -> tuple[Array, Array]:
    """Number the distinct observations by first appearance."""
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return first[order], place[inverse]


def _by_hash(hashes: Array) -> tuple[Array, Array]:
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    return _in_order(first, inverse.reshape(-1))


def _by_sorting(X: Any) -> tuple[Array, Array]:
    dense = X.toarray() if sparse.issparse(X) else X
    _, first, inverse = np.unique(dense, axis=0, return_index=True, return_inverse=True)
    return _in_order(first, inverse.reshape(-1))


def _by_dictionary(X: Any) -> tuple[Array, Array]:
    found: dict[Any, int] = {}
    try:
        inverse = np.fromiter((found.setdefault(x, len(found)) for x in X), dtype=np.int64, count=count(X))
    except TypeError:
        everything = np.arange(count(X))
        return everything, everything
    first = np.full(len(found), count(X))
    np.minimum.at(first, inverse, np.arange(len(inverse)))
    return first, inverse


def _mixed(words: Array) -> Array:
    """Spread every bit over the whole word: the low bits of most numbers are zero."""
    words = (words ^ (words >> np.uint64(32))) * _ODD
    words = (words ^ (words >> np.uint64(29))) * _ODD
    return words ^ (words >> np.uint64(32))


def _bits(numbers: Array) -> Array:
    return np.ascontiguousarray(numbers, dtype=np.float64).view(np.uint64)


def _hashes_of_dense(X: Array) -> Array:
    """Return Σ_j (w_j ^ w_j >> 32) s_j of every row's words, s_j odd: rows seldom agree by chance."""
    n, D = X.shape
    hashes = np.empty(n, dtype=np.uint64)
    salt = _mixed(np.arange(1, D + 1, dtype=np.uint64)) | np.uint64(1)
    step = max(1, _CHUNK // max(1, D))
    for start in range(0, n, step):
        words = _bits(X[start : start + step] + 0.0)  # no negative zeros
        folded = words >> np.uint64(
            32
        )  # the low bits of most numbers are zero, and no product would fill them
        np.bitwise_xor(words, folded, out=folded)
        hashes[start : start + step] = np.multiply(folded, salt, out=folded).sum(axis=1, dtype=np.uint64)
    return hashes


def _hashes_of_sparse(X: Any) -> Array:
    entries = _mixed(_bits(X.data) ^ _mixed(X.indices.astype(np.uint64) + np.uint64(1)))
    entries[X.data == 0] = 0
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(entries, dtype=np.uint64)])
    return sums[X.indptr[1:]] - sums[X.indptr[:-1]]


def _same_rows(X: Any, other: Array) -> bool:
    """Return whether x_i equals the row that stands for it."""
    changed = np.flatnonzero(other != np.arange(len(other)))
    if sparse.issparse(X):
        return (X[changed] != X[other[changed]]).nnz == 0
    step = max(1, _CHUNK // max(1, X.shape[1]))
    parts = (changed[start : start + step] for start in range(0, len(changed), step))
    return not any(_differ(X[part], X[other[part]]).any() for part in parts)


def _differ(left: Array, right: Array) -> Array:
    """Return where numbers differ; those missing from both are equal."""
    return (left != right) & ~((left != left) & (right != right))


def column_order(x: Any, names: Array | None, what: str) -> list[int] | None:
    """Return where a frame has the columns of these names; None if they are in order, or have no names."""
    own = names_of(x)
    if own is None or names is None or np.array_equal(own, names):
        return None
    if len(set(own)) < len(own) or set(own) != set(names):
        odd = next(iter({*own} ^ {*names}), None)
        lacks = "has some twice" if odd is None else f"{'has' if odd in own else 'lacks'} {quoted(odd)}"
        raise InputError(f"{what} has other columns than those the model knows: it {lacks}.")
    place = {name: d for d, name in enumerate(own)}
    return [place[name] for name in names]


def names_of(x: Any) -> Array | None:
    """Return the names of a frame's columns; None if it is none, or they are no texts."""
    columns = getattr(x, "columns", None)
    if columns is None or not all(isinstance(name, str) for name in columns):
        return None
    return np.asarray(columns, dtype=object)


def in_precision(observations: Any, dtype: Any) -> Any:
    """Return numbers in single or double precision; other objects stay as they are."""
    if observations.dtype == object:
        return observations
    if sparse.issparse(observations):
        return observations.astype(dtype, copy=False)
    return np.ascontiguousarray(observations, dtype=dtype)
