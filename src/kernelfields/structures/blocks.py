"""Covariances inside single cliques."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._base import Array


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
        n = len(self.marginals)
        flat = self.marginals.reshape(n, int(np.prod(self.marginals.shape[1:])))
        count = np.ones(n) if self.weights is None else self.weights
        if self.shared:
            along = direction.ravel()
            product = along * (count @ flat) - (count * (flat @ along)) @ flat
        else:
            along = direction.reshape(flat.shape)
            mean = np.einsum("cy,cy->c", flat, along)
            product = count[:, None] * flat * (along - mean[:, None])
        return product.reshape(direction.shape)
