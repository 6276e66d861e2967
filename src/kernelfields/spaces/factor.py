"""Low-rank factors of Gram matrices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..arrays import Array
from ._products import ROWS, FeatureProducts, Products, judged_by_some, row_norms

ROWS_PER_COLUMN = 4


@dataclass(frozen=True)
class Factor:
    """Φ, (N, q), with Φ Φᵀ ≈ K: observations in orthonormal coordinates of a subspace of k's space.

    Stored is a matrix A, (N, m): kernel values with a basis B, say, where Φ = A T and T Tᵀ = K_BB⁻¹. It
    is never multiplied out: T goes to the weights, m of them instead of N, which saves 2 N m q
    operations. The coordinates are the principal ones as far as possible, such that ΦᵀΦ is about
    diagonal: solvers can then tell flat directions from steep ones.
    """

    products: FeatureProducts
    """Of A."""
    inside: Array | None
    """T, (m, q), float64; None stands for the identity."""
    dual: Array
    """From weights to coefficients, (m, q): T, or another matrix if A holds no kernel values."""
    spectrum: Array
    """About the diagonal of ΦᵀΦ, (q,)."""

    @property
    def shape(self) -> tuple[int, int]:
        """N, q."""
        n, m = self.products.shape
        return n, m if self.inside is None else self.inside.shape[1]

    def times(self, weights: Array) -> Array:
        """Φ·W."""
        return self.products.times(weights if self.inside is None else self.inside @ weights)

    def transposed_times(self, gradient: Array) -> Array:
        """Φᵀ·G, float64."""
        found = self.products.transposed_times(gradient)
        return found if self.inside is None else self.inside.T @ found

    def coefficients(self, weights: Array) -> Array:
        """F = Σ_o k(basis_o, ·) times row o of this; weights of features where there is no basis."""
        return self.dual @ weights

    @cached_property
    def reach(self) -> float:
        """Σ_i ‖φ_i‖, judged by some rows: to multiply A T out would cost more than a search."""
        return judged_by_some(self.shape[0], lambda rows: row_norms(self._some(rows)))

    def _some(self, rows: Array) -> Array:
        """Φ of some observations."""
        some = self.products.some(rows)
        return some if self.inside is None else some @ self.inside

    def part(self, begin: int, end: int) -> Factor:
        """Return the same on the observations from one to another, with their share of the spectrum."""
        share = (end - begin) / max(1, self.shape[0])
        return replace(self, products=self.products.part(begin, end), spectrum=share * self.spectrum)

    def precise(self) -> Factor:
        """Return the same with products in double precision."""
        return replace(self, products=self.products.precise())


def factor_of(
    columns: Array | FeatureProducts, inside: Array | None = None, dual: Array | None = None
) -> Factor:
    """Return the factor A T in its principal coordinates; T and the way to coefficients are 1 by default.

    The coordinates are those of some rows, four per column, evenly spread: 9 q³ + 8 m q² operations. Any
    rotation leaves the space as it is; a worse one only makes for more iterations. There is none where
    columns outnumber rows.
    """
    products = columns if isinstance(columns, FeatureProducts) else Products(columns)
    n, m = products.shape
    rows = np.unique(np.linspace(0, n - 1, min(n, ROWS_PER_COLUMN * m)).astype(np.int64))
    spectrum, rotation = _principal(products, rows, inside)
    front = rotation if inside is None else inside @ rotation
    back = front if dual is inside else rotation if dual is None else dual @ rotation
    return Factor(products, front, back, spectrum * (n / max(1, len(rows))))


def _principal(products: FeatureProducts, rows: Array, inside: Array | None) -> tuple[Array, Array]:
    """The diagonal of RᵀΦᵀΦR, (q,), and the rotation R, (q, q), by some rows of Φ, few of them at a time.

    The columns may lie in a file because memory is short.
    """
    q = products.shape[1] if inside is None else inside.shape[1]
    squares = np.zeros((q, q))
    for start in range(0, len(rows), ROWS):
        some = products.some(rows[start : start + ROWS]).astype(np.float64)
        some = some if inside is None else some @ inside
        squares += some.T @ some
    if len(rows) < q:
        return squares.diagonal().copy(), np.eye(q)
    spectrum, rotation = np.linalg.eigh(squares)
    return np.maximum(spectrum, 0), rotation
