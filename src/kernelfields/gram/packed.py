"""The Gram matrix of some observations: its upper half in memory, since it is symmetric, if memory allows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .. import native
from ..arrays import Array
from ..checks import require_whole
from ..errors import InputError
from ..kernels import Kernel, Observations
from ..kernels.observations import count
from ..memory import SMALL, available_memory, require_memory
from ..observations import unique_observations
from ._base import Gram
from .blocks import KernelBlocks, precision_of, workers_for
from .collapsed import CollapsedGram
from .tiled import TiledGram


class PackedGram(Gram):
    """K as panels of 256 rows each, from the diagonal block to the right edge.

    This takes half the memory of an (n, n) array, and half the memory traffic of a product, since an entry
    serves both K_ij a_j and K_ji a_i. Products of float32 are summed in float32 over at most 1,024 terms and
    in float64 beyond: the relative error is a few 1e-7, or a few 1e-6 where all terms have the same sign and
    vectors are short, for any n. Results do not depend on the number of threads.

    Parameters
    ----------
    numbers : (…,) array
        The panels concatenated, as ``native.gram_panels_*`` makes them.
    size : int
        n.
    """

    def __init__(self, numbers: Array, size: int) -> None:
        if numbers.dtype not in (np.float32, np.float64):
            raise InputError(f"numbers are {numbers.dtype}; they must be float32 or float64.")
        self.size = require_whole("size", size, 0)
        self.dtype = numbers.dtype
        if self.size**2 > 2 * numbers.size:  # lest the panels of any size be listed
            raise InputError(
                f"numbers has {numbers.size} entries, too few for a Gram matrix of size {self.size}."
            )
        expected = PackedGram.bytes_for(self.size, self.dtype) // self.dtype.itemsize
        if numbers.shape != (expected,) or not numbers.flags.c_contiguous:
            raise InputError(f"numbers have shape {numbers.shape}, expected ({expected},) for size {size}.")
        self._numbers = numbers

    @classmethod
    def of(cls, kernel: Kernel, X: Observations, dtype: np.dtype[Any]) -> PackedGram:
        """Compute k on all pairs of observations, each pair once except in the diagonal blocks."""
        blocks = KernelBlocks(kernel, X, X, dtype)
        gram = cls.empty(blocks.shape[0], dtype)
        with workers_for(gram.size**2) as run:
            blocks.fill_all(((panel, first, first) for panel, first in gram.panels()), run)
        return gram

    @classmethod
    def from_matrix(cls, matrix: Array) -> PackedGram:
        """Copy the upper half of an (n, n) array."""
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise InputError(f"matrix has shape {matrix.shape}, but a Gram matrix is square.")
        gram = cls.empty(len(matrix), matrix.dtype)
        for panel, first in gram.panels():
            panel[...] = matrix[first : first + len(panel), first:]
        return gram

    @classmethod
    def empty(cls, size: int, dtype: npt.DTypeLike) -> PackedGram:
        """Allocate a matrix of this size, its memory touched by all cores."""
        needed = cls.bytes_for(size, np.dtype(dtype))
        if needed > SMALL:
            require_memory(f"A Gram matrix of size {size}", needed)
        make = native.gram_panels_float32 if dtype == np.float32 else native.gram_panels_float64
        return cls(make(size), size)

    @staticmethod
    def bytes_for(size: int, dtype: np.dtype[Any]) -> int:
        """Return the number of bytes that a matrix of this size takes."""
        size = require_whole("size", size, 0)
        if size > 2**26:  # too many panels to list, and too much for any memory
            return size * size // 2 * dtype.itemsize
        return int(sum(rows * stride for _, rows, _, stride in _layout(size, dtype)) * dtype.itemsize)

    @property
    def diagonal(self) -> Array:  # type: ignore[override]
        """k(x_i, x_i)."""
        parts = [panel.diagonal() for panel, _ in self.panels()]
        return np.concatenate(parts) if parts else np.empty(0, dtype=self.dtype)

    def panels(self) -> list[tuple[Array, int]]:
        """Return the panels, as views, each with the number of its first row and column."""
        size = self.dtype.itemsize
        return [
            (
                np.lib.stride_tricks.as_strided(
                    self._numbers[start:], (rows, columns), (stride * size, size)
                ),
                self.size - columns,
            )
            for start, rows, columns, stride in _layout(self.size, self.dtype)
        ]

    def times(self, columns: Array) -> Array:
        """Return K·A."""
        return native.gram_times(self._numbers, self.size, np.ascontiguousarray(columns))

    def block(self, rows: Array, columns: Array) -> Array:
        """Return K[rows, columns]."""
        rows, columns = (np.ascontiguousarray(index, dtype=np.int64) for index in (rows, columns))
        return native.gram_block(self._numbers, self.size, rows, columns)

    def whole(self, dtype: npt.DTypeLike | None = None) -> Array:
        """Return K as an (n, n) array: panels, and their mirror images."""
        result = np.empty((self.size, self.size), self.dtype if dtype is None else dtype)
        for panel, first in self.panels():
            end = first + len(panel)
            result[first:end, first:] = panel
            result[end:, first:end] = panel[:, len(panel) :].T
        return result

    def take(self, indices: Array) -> PackedGram:
        """Return a copy of the part of some observations."""
        indices = np.asarray(indices, dtype=np.int64)
        gram = PackedGram.empty(len(indices), self.dtype)
        for panel, first in gram.panels():
            panel[...] = self.block(indices[first : first + len(panel)], indices[first:])
        return gram


def _layout(size: int, dtype: np.dtype[Any]) -> list[Any]:
    """Return (start, rows, columns, stride between rows) of every panel."""
    found = native.gram_layout_float32 if dtype == np.float32 else native.gram_layout_float64
    return list(found(size))


SHARE = 0.5
"""Share of the available memory that a Gram matrix may take if no limit is given."""


def gram_of(
    kernel: Kernel, X: Observations, dtype: npt.DTypeLike | None = None, memory_limit: int | None = None
) -> Gram:
    """Return the Gram matrix K_ij = k(x_i, x_j), stored if it fits in memory, else recomputed at each use.

    Half of a symmetric matrix is stored, and observations that repeat are stored once.

    Parameters
    ----------
    kernel : Kernel
        k.
    X : (n, D) array, scipy-sparse matrix, or a sequence of what the kernel compares
        x_i.
    dtype : float32 or float64, optional
        Of the entries of K; that of X if not given.
    memory_limit : int, optional
        Bytes that K may take; if not given, half of what is available now.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelfields.kernels import RBF
    >>> gram = gram_of(RBF(gamma=0.5), np.array([[0.0], [2.0], [0.0]]))
    >>> gram.size, gram.times(np.eye(3)[:, :1]).round(3).ravel().tolist()
    (3, [1.0, 0.135, 1.0])
    """
    precision = precision_of(X, dtype)
    unique = unique_observations(X)
    needed = PackedGram.bytes_for(count(unique.observations), precision)
    small = memory_limit is None and needed <= SMALL
    kind = PackedGram.of if small or needed <= memory_budget(memory_limit) else TiledGram
    gram: Gram = kind(kernel, unique.observations, precision)
    return gram if gram.size == len(unique.inverse) else CollapsedGram(gram, unique.inverse)


def memory_budget(limit: int | None) -> int:
    """Return the bytes that may be used: ``limit``, or ``SHARE`` of what is available."""
    return int(SHARE * available_memory()) if limit is None else require_whole("memory_limit", limit, 0)
