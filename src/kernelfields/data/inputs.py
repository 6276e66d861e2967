"""Sequences of feature vectors, as users give them, to one flat matrix and offsets."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..arrays import Array, offsets_of, sorted_blocks
from ..checks import all_finite, as_list, require_unmasked
from ..errors import InputError
from ..observations import column_order, names_of
from ..structures import SEQUENCES, Words
from .types import Lengths

FILLED = "write x.filled(np.nan) for models that take missing values, or fill in what they should be"

NOTHING = (0, 0)
"""The shape of an empty list: a sequence of no positions, of as many features as the others."""

PAIRS = "pairs are read with structure='tree' as (features, parents), with 'graph' as (features, edges)"
"""What a sequence of two parts may have been meant as, if it is not an array."""


class Inputs(NamedTuple):
    """The feature vectors of all sequences, one below the other."""

    features: Any
    """(N, D) array or CSR matrix, float32 or float64."""
    offsets: Array
    names: Array | None
    """Names of the features, if the input had them."""
    links: Any = None
    """What else of X says how vertices depend on each other, as the structure reads it."""


def read_inputs(
    X: Any,
    lengths: Any = None,
    width: int | None = None,
    *,
    names: Array | None = None,
    binary: bool = False,
    missing: bool = False,
    words: Words = SEQUENCES,
) -> Inputs:
    """Read X, a list of (T, D) arrays, sparse matrices or data frames, or one flat one with lengths.

    Parameters
    ----------
    X : list of arrays, or array
        What the user gave.
    lengths : sequence of int, optional
        Lengths of the sequences in a flat X.
    width : int, optional
        The number of features that the model was trained with.
    names : (D,) array, optional
        Their names. The columns of frames are brought into this order, or into that of the first frame;
        arrays have no names, and are taken as they are.
    binary : bool
        Whether a flat sparse matrix of booleans stays one, which takes a quarter of the memory; the entries
        of its rows may then be in any order.
    missing : bool
        Whether NaN is let through, as a value that is missing.
    words : Words
        What messages call sequences and positions.
    """
    if lengths is not None:
        return _read_flat(X, lengths, width, names, binary, missing, words)
    matrices, names = _matrices(X, names, words)
    some = next((matrix for matrix in matrices if matrix.shape != NOTHING), None)
    if width is None:
        width = 0 if some is None else some.shape[1]
    empty = np.zeros((0, width), dtype=np.float64 if some is None else some.dtype)
    matrices = [empty if matrix.shape == NOTHING else matrix for matrix in matrices]
    for s, matrix in enumerate(matrices):
        if matrix.shape[1] != width:
            raise InputError(
                f"{words.name(s, 'X')} has {matrix.shape[1]} features per {words.place}, expected {width}."
            )
    if not matrices:
        return Inputs(np.zeros((0, width)), np.zeros(1, dtype=np.int64), names)
    offsets = np.array([0, *accumulate(matrix.shape[0] for matrix in matrices)], dtype=np.int64)
    features = _stack(matrices)
    _require_finite(features, offsets, missing, words)
    return Inputs(features, offsets, names)


def _hint(X: Any) -> str:
    """Say how a data frame with a column of labels is learnt from."""
    if not hasattr(X, "columns"):
        return ""
    return "; kernelfields.frames.fit(model, frame, features=[…], label=…, group=…) takes a data frame"


def _matrices(X: Any, names: Array | None, words: Words) -> tuple[list[Any], Array | None]:
    X = as_list(X)
    if isinstance(X, (str, bytes)) or not isinstance(X, (Sequence, np.ndarray)):
        wanted = "a list of (T, D) arrays, or one (N, D) array together with lengths="
        raise InputError(f"X must be {wanted}{_hint(X)}.")
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype != object:
        raise InputError(f"X is one array of shape {X.shape}: give the lengths of its sequences as lengths=.")
    if names is None:
        names = _first_names(X)
    item = words.item.capitalize()
    return [_named_matrix(x, names, f"{item} {s} of X", words.place) for s, x in enumerate(X)], names


def _first_names(X: Any) -> Array | None:
    """Return the names of the columns of the first frame that has some; None if none has."""
    frames = [x for x in X if hasattr(x, "columns")]
    return next((found for found in map(names_of, frames) if found is not None), None) if frames else None


def _named_matrix(x: Any, names: Array | None, what: str, place: str) -> Any:
    """One sequence as a float matrix, its columns in the order of the names if it is a frame."""
    order = None if names is None else column_order(x, names, what)
    matrix = _matrix(x, what, place)
    return matrix if order is None else matrix[:, order]


def in_order(X: Any, lengths: Any, names: Array | None, words: Words = SEQUENCES) -> tuple[Any, Array | None]:
    """Bring the columns of frames into one order, whatever they hold; return it, too."""
    if lengths is not None:
        names = _first_names([X]) if names is None else names
        order = None if names is None else column_order(X, names, "X")
        return X if order is None else np.asarray(X)[:, order], names
    X = as_list(X)
    if isinstance(X, (str, bytes)) or not isinstance(X, (Sequence, np.ndarray)):
        return X, names  # whoever reads it will say what is wrong
    if names is None:
        names = _first_names(X)
    if names is None:
        return X, None
    orders = [column_order(x, names, words.name(s, "X")) for s, x in enumerate(X)]
    return [x if k is None else np.asarray(x)[:, k] for x, k in zip(X, orders, strict=True)], names


def _matrix(x: Any, what: str, place: str) -> Any:
    """One sequence as a float matrix."""
    if sparse.issparse(x):
        rows = sparse_rows(x, what)
        if x.dtype == bool:
            return rows.astype(np.float32)
        return rows if x.dtype in (np.float32, np.float64) else rows.astype(np.float64)
    if isinstance(x, list | tuple) and not x:
        return np.zeros(NOTHING)
    require_unmasked(x, what, FILLED)
    try:
        array = np.asarray(x)
        if array.dtype.kind in "cSUmM":
            raise TypeError(f"its entries are {array.dtype}")
        if array.dtype not in (np.float32, np.float64):
            array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        reason = PAIRS if isinstance(x, tuple) and len(x) == 2 else str(error).rstrip(".")
        raise InputError(f"{what} is not an array of numbers: {reason}.") from error
    if array.ndim != 2:
        raise InputError(f"{what} has {array.ndim} dimensions, expected 2: one row of features per {place}.")
    return array


def sparse_rows(x: Any, what: str, *, sort: bool = True) -> Any:
    """Return a sparse matrix by rows, every entry of it once; indices that are none would crash the core.

    Without ``sort``, the entries of a row may be in any order, which saves a copy of the matrix.
    """
    if x.ndim != 2 or x.dtype.kind not in "biuf":
        raise InputError(f"{what} is not a matrix of numbers: it has {x.ndim} dimensions of {x.dtype}.")
    rows = x.tocsr()
    try:
        rows.check_format(full_check=True)
    except ValueError as error:
        raise InputError(f"{what} is a damaged sparse matrix: {error}.") from error
    if rows.has_canonical_format or (not sort and _has_entries_once(rows)):
        return rows
    rows = rows.copy() if rows is x else rows
    rows.sum_duplicates()
    return rows


def _has_entries_once(rows: Any) -> bool:
    """Tell whether no row has an entry twice."""
    return all(block.has_canonical_format for block in sorted_blocks(rows))


def _read_flat(
    X: Any, lengths: Any, width: int | None, names: Array | None, binary: bool, missing: bool, words: Words
) -> Inputs:
    """One flat matrix with the lengths of its sequences."""
    kept = binary and sparse.issparse(X) and X.dtype == bool
    matrix = sparse_rows(X, "X", sort=False) if kept else canonical(_named_matrix(X, names, "X", words.place))
    lengths = read_lengths(lengths)
    if lengths.sum() != matrix.shape[0]:
        raise InputError(f"lengths add up to {lengths.sum()}, but X has {matrix.shape[0]} rows.")
    if width is not None and matrix.shape[1] != width:
        raise InputError(f"X has {matrix.shape[1]} features per {words.place}, expected {width}.")
    offsets = offsets_of(lengths)
    _require_finite(matrix, offsets, missing, words)
    return Inputs(matrix, offsets, _first_names([X]) if names is None else names)


def read_lengths(lengths: Lengths) -> Array:
    """Return whole numbers, none negative."""
    require_unmasked(lengths, "The list of lengths", "give the lengths that there are")
    try:
        result = np.asarray(lengths)
    except ValueError:
        result = np.zeros(())
    if result.shape == (0,):
        result = result.astype(np.int64)
    if result.ndim != 1 or not np.issubdtype(result.dtype, np.integer) or (result < 0).any():
        raise InputError("lengths must be a list of whole numbers, none negative.")
    return result


def _stack(matrices: list[Any]) -> Any:
    if any(sparse.issparse(matrix) for matrix in matrices):
        return canonical(sparse.vstack([sparse.csr_matrix(matrix) for matrix in matrices], format="csr"))
    return np.ascontiguousarray(np.concatenate(matrices))


def canonical(matrix: Any) -> Any:
    """Sparse rows with entries by column, each once: the same numbers make the very same model."""
    if not sparse.issparse(matrix) or matrix.has_canonical_format:
        return matrix
    result = matrix.copy()
    result.sum_duplicates()
    return result


def _require_finite(features: Any, offsets: Array, missing: bool, words: Words) -> None:
    values = features.data if sparse.issparse(features) else features
    if values.dtype == bool or all_finite(values):
        return
    bad = np.isinf(values) if missing else ~np.isfinite(values)
    if not bad.any():
        return
    if sparse.issparse(features):
        row = int(np.searchsorted(features.indptr, np.flatnonzero(bad)[0], side="right")) - 1
    else:
        row = int(np.flatnonzero(bad.any(axis=1))[0])
    s = int(np.searchsorted(offsets, row, side="right")) - 1
    what = "infinity" if missing else "NaN or infinity"
    raise InputError(f"{words.name(s, 'X')} holds {what} at {words.place} {row - offsets[s]}.")
