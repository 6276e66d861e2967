"""Covariances inside single cliques."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from ..arrays import Array


class BlockProduct(Protocol):
    """The block diagonal of a curvature for one clique type, one block per clique."""

    def times(self, direction: Array) -> Array:
        """Multiply a direction in the scores of the clique type."""


@dataclass(frozen=True)
class Blocks:
    """The block diagonal of ∇²g(θ) for one clique type, one block per clique,

        w_c (diag(μ_c) − μ_c μ_cᵀ),

    μ_c the joint distribution of the labels of clique c [altun2004exp, eq. 30]. What the labels of one
    clique say about those of another is left out. Kept as the marginals: a product is two passes over
    them.
    """

    marginals: Array
    """μ_c, one row of L, L × L, … numbers per clique, also where the cliques share scores."""
    weights: Array | None
    """w_c, how many times each clique counts; None for once."""
    shared: bool
    """Whether the cliques share scores; products are then summed over them."""

    def times(self, direction: Array) -> Array:
        """Multiply a direction in the scores of the clique type."""
        flat, count = self._flat, self._count
        along: Array = direction.reshape(-1 if self.shared else flat.shape)
        product: Array
        if self.shared:
            product = along * self._total - (count * (flat @ along)) @ flat
        else:
            mean = np.einsum("cy,cy->c", flat, along)
            product = count[:, None] * flat * (along - mean[:, None])
        return product.reshape(direction.shape)

    @property
    def _flat(self) -> Array:
        return self.marginals.reshape(len(self.marginals), int(np.prod(self.marginals.shape[1:])))

    @cached_property
    def _count(self) -> Array:
        """w, in the precision of the marginals, lest these be copied to be multiplied."""
        count = np.ones(len(self.marginals)) if self.weights is None else self.weights
        return np.asarray(count, dtype=self.marginals.dtype)

    @cached_property
    def _total(self) -> Array:
        """Σ_c w_c μ_c."""
        return self._count @ self._flat
