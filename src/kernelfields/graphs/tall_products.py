"""Products of matrices with many rows and few columns, a piece of the rows at a time on all cores."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..arrays import Array
from ..workers import Run

ROWS = 8192
"""Rows of a piece: always the same, so that sums are the same on any number of threads."""


class TallProducts:
    """VᵀX, X − VC and VC for tall V and X.

    BLAS works in one thread per piece meanwhile (`kernelfields.workers`): its own threads, waiting for more
    to do, would take the cores from the sparse products between two of these.
    """

    def __init__(self, rows: int, run: Run) -> None:
        self._pieces = [slice(first, min(first + ROWS, rows)) for first in range(0, rows, ROWS)]
        self._run = run

    def inner(self, V: Array, X: Array) -> Array:
        """Return VᵀX."""
        parts = np.empty((len(self._pieces), V.shape[1], X.shape[1]))

        def multiply(k: int, piece: slice) -> None:
            np.matmul(V[piece].T, X[piece], out=parts[k])

        self._run(partial(multiply, k, piece) for k, piece in enumerate(self._pieces))
        return np.asarray(parts.sum(axis=0))

    def subtract(self, X: Array, V: Array, C: Array) -> None:
        """X ← X − VC."""

        def change(piece: slice) -> None:
            X[piece] -= V[piece] @ C

        self._run(partial(change, piece) for piece in self._pieces)

    def times(self, V: Array, C: Array, out: Array) -> Array:
        """Return VC in ``out``, which may overlap V."""

        def multiply(piece: slice) -> None:
            out[piece] = V[piece] @ C

        self._run(partial(multiply, piece) for piece in self._pieces)
        return out

    def copy(self, X: Array, out: Array) -> None:
        """Out ← X."""

        def move(piece: slice) -> None:
            out[piece] = X[piece]

        self._run(partial(move, piece) for piece in self._pieces)
