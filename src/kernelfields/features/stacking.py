"""Lists of arrays, one below the other, and back."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..arrays import Array, offsets_of
from ..checks import as_list, is_list, require_unmasked, shown
from ..errors import InputError
from ..observations import column_order, names_of


class StackedRows(NamedTuple):
    """The rows of all sequences, one below the other."""

    rows: Any
    """(N, D) array or CSR matrix, float32 or float64."""
    offsets: Array
    names: Array | None
    """Names of the columns, if sequences came as frames."""

    def split(self, rows: Any) -> list[Any]:
        """Return other rows for the same positions, as a list of sequences."""
        return [rows[a:b] for a, b in pairwise(self.offsets.tolist())]


def stack_rows(X: Any, who: str, names: Array | None = None, *, sparsely: bool = False) -> StackedRows:
    """Return the rows of a list of (T, D) arrays or frames; with ``sparsely``, of sparse matrices too.

    Columns of frames are brought into the order of ``names``, or of the first frame. NaN is let through.
    """
    X = as_list(X)
    if not is_list(X) or (isinstance(X, np.ndarray) and X.ndim == 2):
        raise InputError(f"X is {shown(X)}; {who} takes a list of (T, D) arrays.{_hint(X)}")
    for x in X:
        names = names_of(x) if names is None else names
    matrices = [_matrix(x, s, names, who, sparsely) for s, x in enumerate(X)]
    width = next((matrix.shape[1] for matrix in matrices if matrix is not None), 0)
    for s, matrix in enumerate(matrices):
        if matrix is not None and matrix.shape[1] != width:
            got = matrix.shape[1]
            raise InputError(f"Sequence {s} of X has {got} features per position, expected {width}.")
    empty = np.zeros((0, width))
    filled = [empty if matrix is None else matrix for matrix in matrices]
    return StackedRows(_joined(filled), offsets_of([len_of(one) for one in filled]), names)


def _hint(X: Any) -> str:
    flat = getattr(X, "ndim", 0) == 2
    return " A model takes one array together with lengths=." if flat else ""


def len_of(matrix: Any) -> int:
    """Return the number of rows, of a sparse matrix too."""
    return int(matrix.shape[0])


def _joined(matrices: list[Any]) -> Any:
    if any(sparse.issparse(one) for one in matrices):
        return sparse.vstack([sparse.csr_matrix(one) for one in matrices], format="csr")
    return np.concatenate(matrices) if matrices else np.zeros((0, 0))


def _matrix(x: Any, s: int, names: Array | None, who: str, sparsely: bool) -> Any:
    """Return one sequence as a matrix of numbers; None for an empty list, which has no width."""
    if isinstance(x, list | tuple) and not x:
        return None
    if sparse.issparse(x) and not sparsely:
        raise InputError(f"{who} takes dense arrays: what a sparse matrix does not hold is 0.")
    order = column_order(x, names, f"Sequence {s} of X")
    require_unmasked(x, f"Sequence {s} of X", "write x.filled(np.nan) for numbers that are missing")
    try:
        matrix = x.tocsr() if sparse.issparse(x) else np.asarray(x)
        matrix = matrix if matrix.dtype in (np.float32, np.float64) else matrix.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"Sequence {s} of X is not an array of numbers: {error}.") from error
    if matrix.ndim != 2:
        raise InputError(f"Sequence {s} of X has {matrix.ndim} dimensions, expected 2.")
    if np.isinf(matrix.data if sparse.issparse(matrix) else matrix).any():
        raise InputError(f"Sequence {s} of X holds infinity.")
    return matrix if order is None else matrix[:, order]
