"""Functions of a low-rank factor, on cliques of any type."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..structures import StructureBatch
from ._base import Curved, Euclidean, RowMap, first_members, in_rows, require_own_scores, values_of, window_of
from .expansion import LabelEmbedding
from .factor import Factor


class LowRank(Euclidean, Curved):
    """f(x, y) = ⟨w_y, φ(x)⟩, φ(x) the coordinates of a factor; with a kernel on labels, Φ W Bᵀ.

    In the columns of the factor the kernel problem is the linear one [altun2004exp, 5.3]; elements are
    W, (m, r), with the identity metric. A product with Φ costs 2 N m r operations.

    Parameters
    ----------
    structure : StructureBatch
        The batch; the cliques need scores of their own.
    clique : str
        The clique type.
    factor : Factor
        Φ on the observations.
    rows : (C,) integers, optional
        Which observation each clique sees; that of its first member if not given.
    embedding : LabelEmbedding, optional
        The kernel on what a clique can have, such as labels or label pairs; [y = y′] if not given.
    """

    def __init__(
        self,
        structure: StructureBatch,
        clique: str,
        factor: Factor,
        rows: Array | None = None,
        embedding: LabelEmbedding | None = None,
    ) -> None:
        require_own_scores(structure, clique)
        self.structure = structure
        self.clique = clique
        self.factor = factor
        self.embedding = (
            LabelEmbedding.identity(values_of(structure, clique)) if embedding is None else embedding
        )
        self._map = RowMap(first_members(structure, clique) if rows is None else rows, factor.shape[0])
        self.size = factor.shape[1] * self.embedding.width

    def add_scores(self, element: Array, into: Array) -> None:
        """Add Φ W Bᵀ."""
        seen = self._map.seen(self.factor.times(self.table(element)))
        into += self.embedding.scores(seen).reshape(into.shape)

    def adjoint(self, gradient: Array) -> Array:
        """Return Φᵀ times the gradient times B."""
        flat = in_rows(gradient)
        return self.factor.transposed_times(self._map.spread(self.embedding.project(flat))).ravel()

    @property
    def sizes(self) -> None:
        """None: columns are principal coordinates, which differ as much as the spectrum falls."""
        return

    def curvatures(self, expected: Array) -> Array:
        """Σ_v φ_k(x_v)² times the mean of the marginals, seen through the kernel on labels."""
        mean = in_rows(expected).sum(axis=0) / max(1, len(expected))
        vectors = self.embedding.vectors
        share = mean if vectors is None else mean @ np.square(vectors)
        return np.outer(self.factor.spectrum, share).ravel()

    @property
    def precision(self) -> np.dtype[Any]:
        """That of products with the factor."""
        return self.factor.products.precision

    @property
    def reach(self) -> float:
        """That of the factor, times how many cliques see one observation."""
        return self._map.most * self.embedding.longest * self.factor.reach

    def table(self, element: Array) -> Array:
        """W, (m, r): a view."""
        return element.reshape(self.factor.shape[1], self.embedding.width)

    def coefficients(self, element: Array) -> Array:
        """Coefficients of the basis, (m, L): the scores of an x are Σ_o k(x, basis_o) times row o."""
        return np.array(self.embedding.scores(self.factor.coefficients(self.table(element))))

    def take(self, structure: StructureBatch, ids: npt.ArrayLike) -> LowRank:
        """Return the same functions on some instances."""
        rows = self._map.take(self.structure.cliques[self.clique].offsets, ids)
        begin, end = window_of(rows)
        return LowRank(structure, self.clique, self.factor.part(begin, end), rows - begin, self.embedding)

    def precise(self) -> LowRank:
        """Return the same with products in double precision."""
        return LowRank(self.structure, self.clique, self.factor.precise(), self.rows, self.embedding)

    @property
    def rows(self) -> Array:
        """Which observation each clique sees."""
        return np.arange(self.factor.shape[0]) if self._map.rows is None else self._map.rows
