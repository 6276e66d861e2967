"""Functions that were selected, as orthonormal coordinates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..arrays import Array
from ._products import FeatureProducts, Products, row_norms


class KernelRows(FeatureProducts):
    """Products with K_XB, kept as the rows of its transpose: a basis that grows appends to them."""

    def __init__(self, rows: Array) -> None:
        self.rows = rows

    @property
    def matrix(self) -> Array:
        """K_XB, (n, m): a view."""
        return self.rows.T

    def part(self, begin: int, end: int) -> KernelRows:
        """Return those with the observations from one to another."""
        return KernelRows(self.rows[:, begin:end])

    def times(self, weights: Array) -> Array:
        """K_XB·W, float64."""
        return self._of_rows.transposed_times(weights.astype(self.rows.dtype, copy=False))

    def transposed_times(self, gradient: Array) -> Array:
        """K_BX·G, float64."""
        found = self._of_rows.times(gradient.astype(self.rows.dtype, copy=False))
        return found.astype(np.float64, copy=False)

    @cached_property
    def _of_rows(self) -> Products:
        """Products with K_BX, the other way round: BLAS takes ten times as long for few labels."""
        return Products(self.rows)


def _sums(places: Array, values: Array, size: int) -> Array:
    """Values added up by place, float64 also where there are none."""
    return np.bincount(places, values, size).astype(np.float64, copy=False)


@dataclass(frozen=True)
class Functions:
    """p functions h_j of labelled cliques, each a sum of *atoms* k(b, ·) [label = ·] over a basis of m.

    Those that also look at label pairs have the atoms κ [(y, y⁺) = pair] besides; the kernel of such
    pairs is κ [equal]. Orthonormal coordinates are w = Cᵀc for f = Σ_j c_j h_j, with C Cᵀ = K_SS, the
    inner products of the h_j; C is lower triangular, so that further functions leave the coordinates of
    those before as they are.

    Centred atoms are k(b, ·) ([label = ·] − 1/r): p(y|x) does not notice, norms are smaller, and of two
    labels one is enough [altun2004exp, Lemma 13].
    """

    products: FeatureProducts
    """Of K_XB, (n, m)."""
    rows: Array
    """Which of the basis each atom looks at, (a,)."""
    labels: Array
    """The label of each atom, or pair of labels where the space feeds edges, (a,)."""
    owners: Array
    """The function each atom belongs to, (a,)."""
    width: int
    """Number of labels that atoms can have."""
    inverse: Array
    """C⁻¹, (p, p) float64."""
    pairs: Array
    """Label pairs, as one number, of the functions that look at such, (b,)."""
    pair_owners: Array
    """The function each pair belongs to, (b,)."""
    share: float
    """κ."""
    centred: bool = False
    """Whether atoms are centred over labels."""

    @property
    def size(self) -> int:
        """P."""
        return len(self.inverse)

    def coefficients(self, element: Array) -> Array:
        """C = C⁻ᵀw."""
        return self.inverse.T @ element.astype(np.float64, copy=False)

    def table(self, coefficients: Array) -> Array:
        """Σ c_j over the atoms of every basis observation and label, (m, r)."""
        m = self.products.shape[1]
        place = self.rows * self.width + self.labels
        total = _sums(place, coefficients[self.owners], m * self.width).reshape(m, self.width)
        return self._centred(total)

    def _centred(self, rows: Array) -> Array:
        return rows - rows.mean(axis=1, keepdims=True) if self.centred else rows

    def pair_scores(self, coefficients: Array, n_labels: int) -> Array:
        """κ Σ c_j over the functions with each label pair, (L, L)."""
        L = n_labels
        total = _sums(self.pairs, coefficients[self.pair_owners], L * L)
        return self.share * total.reshape(L, L)

    def pulled(self, gradient: Array, pairs: Array | None = None) -> Array:
        """⟨gradient, scores(h_j)⟩ for every j, whitened: C⁻¹(K dθ)_S.

        ``gradient`` is that of observations, (n, r); ``pairs`` that of label pairs.
        """
        inner = self._centred(self.products.transposed_times(gradient))
        total = _sums(self.owners, inner[self.rows, self.labels], self.size)
        if pairs is not None:
            seen = self.share * pairs.ravel()[self.pairs].astype(np.float64)
            total += _sums(self.pair_owners, seen, self.size)
        return self.inverse @ total

    def norms(self, rows: Array) -> Array:
        """‖φ‖ of some observations with the label that makes it longest."""
        values = self.products.some(rows).astype(np.float64, copy=False)
        found = np.zeros(len(rows))
        for label in range(self.width):
            seen = np.zeros((self.size, len(rows)))
            mine = self.labels == label
            np.add.at(seen, self.owners[mine], values[:, self.rows[mine]].T)
            np.maximum(found, row_norms((self.inverse @ seen).T), out=found)
        return found

    def part(self, begin: int, end: int) -> Functions:
        """Return the same on the observations from one to another."""
        return replace(self, products=self.products.part(begin, end))

    def precise(self) -> Functions:
        """Return the same with products in double precision."""
        return replace(self, products=self.products.precise())
