"""Blocks of kernel values, written to a given array.

For functions of inner products, the products are computed by BLAS, or by the core if observations are
sparse, and transformed in place, without a second block. Other kernels compute their blocks themselves.

Formulas are written in NumPy beside the kernels. Those that take long, N² exponentials, have a second form
in the core, registered with `transform`; tests compare the two. Norms are known to be finite, hence products
are too.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from functools import partial, singledispatch
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from .. import native
from ..arrays import Array
from ..errors import InputError
from ..kernels import RBF, Kernel, Linear, Polynomial, ProductKernel
from ..kernels.observations import Observations, count, is_numeric, prepare
from ..kernels.sparse_rows import SparsePair
from ..workers import Run, workers

ROWS, COLUMNS = 256, 2048
"""Shape of the blocks that are computed at a time: large enough for BLAS, small enough for caches."""
FEW = 2**14
"""Kernel values that take less time than to start threads does, a millisecond."""


class KernelBlocks:
    """k(x_i, y_j) for slices of two sets of observations.

    Parameters
    ----------
    kernel : Kernel
        k.
    left, right : observations
        x_i and y_j; the same object twice is prepared once.
    dtype : float32 or float64
        Of the results.
    """

    def __init__(self, kernel: Kernel, left: Observations, right: Observations, dtype: np.dtype[Any]) -> None:
        self.kernel = kernel
        self.dtype = dtype
        same = left is right
        if sparse.issparse(left) != sparse.issparse(right) and is_numeric(left) and is_numeric(right):
            left, right = sparse.csr_matrix(left), sparse.csr_matrix(right)
        self.right = prepare(right, dtype)
        self.left = self.right if same else prepare(left, dtype)
        self._products = _products_of(kernel, self.left, self.right, dtype)

    def some(self, chosen: Array) -> KernelBlocks:
        """Return the blocks of some observations on the left; those on the right are prepared already."""
        result = copy.copy(self)
        result.left = self.left[chosen]
        if self._products is not None:
            result._products = self._products.some(chosen)
        return result

    @property
    def shape(self) -> tuple[int, int]:
        """Number of observations on the left and on the right."""
        return count(self.left), count(self.right)

    def fill(self, out: Array, row: int, column: int) -> None:
        """Fill ``out`` with k(x_i, y_j), starting at i = ``row`` and j = ``column``."""
        with workers_for(out.size) as run:
            self.fill_all([(out, row, column)], run)

    def fill_all(self, places: Iterable[tuple[Array, int, int]], run: Run | None) -> None:
        """Fill many arrays, as tasks that ``run`` may run in parallel; in this thread without it.

        Kernels that compute blocks themselves may not be safe to call in parallel: theirs are filled in turn.
        """
        tasks = (
            partial(self._fill, out[r : r + ROWS, c : c + COLUMNS], row + r, column + c)
            for out, row, column in places
            for r in range(0, out.shape[0], ROWS)
            for c in range(0, out.shape[1], COLUMNS)
        )
        if run is not None and self._products is not None:
            run(tasks)
            return
        for task in tasks:
            task()

    def _fill(self, out: Array, row: int, column: int) -> None:
        rows, columns = slice(row, row + out.shape[0]), slice(column, column + out.shape[1])
        if self._products is not None and isinstance(self.kernel, ProductKernel):
            self._products.fill(out, rows, columns)
            left, right = self._products.left_norms[rows], self._products.right_norms[columns]
            transform(self.kernel, ProductBlock(out, left, right, row, column))
        else:
            block = self.kernel.block(self.left[rows], self.right[columns])
            _require_shape(self.kernel, block, out.shape)
            out[...] = block
            require_finite(self.kernel, out, row, column)


class _DenseProducts:
    """⟨x_i, y_j⟩ by BLAS."""

    def __init__(self, left: Array, right: Array, dtype: np.dtype[Any]) -> None:
        self.left, self.right = left, right
        self.right_norms = _squared_norms(right, dtype)
        self.left_norms = self.right_norms if left is right else _squared_norms(left, dtype)

    def some(self, chosen: Array) -> _DenseProducts:
        result = copy.copy(self)
        result.left, result.left_norms = self.left[chosen], self.left_norms[chosen]
        return result

    def fill(self, out: Array, rows: slice, columns: slice) -> None:
        np.matmul(self.left[rows], self.right[columns].T, out=out)


class _SparseProducts:
    """⟨x_i, y_j⟩ from an index of the y_j by feature."""

    def __init__(self, left: Any, right: Any, dtype: np.dtype[Any]) -> None:
        self.right_norms = _squared_norms(right, dtype)
        self.left_norms = self.right_norms if left is right else _squared_norms(left, dtype)
        self.left, self.pair = left, SparsePair.of(left, right)

    def some(self, chosen: Array) -> _SparseProducts:
        result = copy.copy(self)
        result.left, result.left_norms = self.left[chosen], self.left_norms[chosen]
        result.pair = self.pair.with_left(result.left)
        return result

    def fill(self, out: Array, rows: slice, columns: slice) -> None:
        self.pair.fill(out, rows, columns)


def _squared_norms(X: Observations, dtype: np.dtype[Any]) -> Array:
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


def _products_of(
    kernel: Kernel, left: Observations, right: Observations, dtype: np.dtype[Any]
) -> _DenseProducts | _SparseProducts | None:
    if not isinstance(kernel, ProductKernel):
        return None
    if not (is_numeric(left) and is_numeric(right)):
        raise InputError(f"{type(kernel).__name__} needs observations that are rows of a matrix of numbers.")
    if left.shape[1] != right.shape[1]:
        raise InputError(
            f"Observations have {left.shape[1]} and {right.shape[1]} features, but must have equally many."
        )
    kind = _SparseProducts if sparse.issparse(right) else _DenseProducts
    return kind(left, right, dtype)


def block_times(block: Array, columns: Array) -> Array:
    """Return K·A for a block of K; the dot products of rows are added up in float64."""
    return native.matrix_times(block, np.ascontiguousarray(columns))


def _require_shape(kernel: Kernel, block: Array, shape: tuple[int, ...]) -> None:
    if np.shape(block) != shape:
        name = type(kernel).__name__
        raise InputError(f"{name} returned a block of shape {np.shape(block)} where {shape} was expected.")


def precision_of(X: Observations, dtype: npt.DTypeLike | None) -> np.dtype[Any]:
    """Return float32 or float64: the type asked for, else that of the observations."""
    if dtype is None:
        return np.dtype(np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64)
    found = np.dtype(dtype)
    if found not in (np.float32, np.float64):
        raise InputError(f"dtype of a Gram matrix is {found}, but must be float32 or float64.")
    return found


def workers_for(values: int) -> AbstractContextManager[Run | None]:
    """Return threads for so many kernel values; none for few."""
    return nullcontext() if values <= FEW else workers()


PIECE = 2**16
"""Size of a piece that stays in the cache over all passes of a formula."""


class ProductBlock(NamedTuple):
    """A block of inner products."""

    values: Array
    """⟨x_i, y_j⟩, (n, m), to be overwritten."""
    left: Array
    """‖x_i‖², (n,)."""
    right: Array
    """‖y_j‖², (m,)."""
    row: int
    """Number of the first x_i."""
    column: int
    """Number of the first y_j."""


@singledispatch
def transform(kernel: ProductKernel, products: ProductBlock) -> None:
    """Overwrite ⟨x_i, y_j⟩ by k(x_i, y_j)."""
    in_pieces(kernel, products, kernel.apply)


@transform.register
def _(kernel: Linear, products: ProductBlock) -> None:
    pass


@transform.register
def _(kernel: RBF, products: ProductBlock) -> None:
    native.gaussian_transform(products.values, products.left, products.right, kernel.inverse_width)


@transform.register
def _(kernel: Polynomial, products: ProductBlock) -> None:
    if kernel.degree != int(kernel.degree) or kernel.degree < 0:
        in_pieces(kernel, products, kernel.apply)
        return
    gamma, offset, degree = float(kernel.gamma), float(kernel.offset), int(kernel.degree)
    in_pieces(kernel, products, lambda piece, *_: native.polynomial_transform(piece, gamma, offset, degree))


def in_pieces(kernel: Kernel, products: ProductBlock, apply: Callable[[Array, Array, Array], None]) -> None:
    """Apply a formula to pieces that stay in the cache, and refuse what is not finite."""
    values, left, right, row, column = products
    width = max(16, PIECE // max(1, len(left)))
    for start in range(0, len(right), width):
        piece = values[:, start : start + width]
        with np.errstate(over="ignore", invalid="ignore"):  # found below, with the observations' numbers
            apply(piece, left, right[start : start + width])
        require_finite(kernel, piece, row, column + start)


def require_finite(kernel: Kernel, block: Array, row: int, column: int) -> None:
    """Refuse NaN and infinity in a block whose first entry is that of observations ``row``, ``column``.

    A sum is quicker than a test of every number; because it may overflow, the numbers are tested if it is
    not finite.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(block.sum()):
            return
    bad = np.argwhere(~np.isfinite(block))
    if len(bad):
        i, j = bad[0]
        pair = f"observations {row + i} and {column + j}"
        raise InputError(f"{type(kernel).__name__} returned {block[i, j]} for {pair}, not a finite number.")
