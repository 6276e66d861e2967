"""Sparse observations as the core takes them, and their inner products."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import native
from ..arrays import Array
from ..observations import canonical

Index = native.SparseIndex32 | native.SparseIndex64


class SparseRows(NamedTuple):
    """A CSR matrix as three arrays."""

    first: Array
    feature: Array
    value: Array | None
    """None if all values are one."""

    @classmethod
    def of(cls, X: Any, binary: bool) -> SparseRows:
        """Return the rows of a canonical CSR matrix."""
        first, feature = X.indptr.astype(np.int64), X.indices.astype(np.int32, copy=False)
        return cls(first, feature, None if binary else X.data)

    def part(self, start: int, stop: int) -> SparseRows:
        """Return rows ``start`` to ``stop``."""
        a, b = self.first[start], self.first[stop]
        value = None if self.value is None else self.value[a:b]
        return SparseRows(self.first[start : stop + 1] - a, self.feature[a:b], value)


class SparsePair(NamedTuple):
    """Rows on the left, an index by feature of those on the right."""

    left: SparseRows
    by_feature: Index

    @classmethod
    def of(cls, left: Any, right: Any) -> SparsePair:
        """Prepare two canonical CSR matrices of the same precision."""
        binary = bool((left.data == 1).all() and (right.data == 1).all())
        kind = native.SparseIndex32 if right.dtype == np.float32 else native.SparseIndex64
        return cls(SparseRows.of(left, binary), kind(*SparseRows.of(right, binary), right.shape[1]))

    def with_left(self, left: Any) -> SparsePair:
        """Return the same with some of the rows on the left."""
        return SparsePair(SparseRows.of(left, self.left.value is None), self.by_feature)

    def fill(self, out: Array, rows: slice, columns: slice) -> None:
        """Write ⟨x_i, y_j⟩."""
        self.by_feature.products(*self.left.part(rows.start, rows.stop), columns.start, out)


def sparse_inner_products(X: Any, Y: Any) -> Array:
    """Return ⟨x_i, y_j⟩ of sparse rows as a dense array."""
    dtype = np.float32 if X.dtype == Y.dtype == np.float32 else np.float64
    out = np.empty((X.shape[0], Y.shape[0]), dtype=dtype)
    if out.size:
        pair = SparsePair.of(canonical(X, dtype), canonical(Y, dtype))
        pair.fill(out, slice(0, X.shape[0]), slice(0, Y.shape[0]))
    return out
