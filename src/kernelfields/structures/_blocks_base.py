"""Structures that know the marginals of every clique by itself."""

from __future__ import annotations

from abc import abstractmethod
from typing import Self

import numpy as np

from ..arrays import Array
from ._base import PairwiseBatch, Scores, SumOracle
from .blocks import Blocks


class BlockOracle(SumOracle):
    """A structure that knows the marginals of every clique by itself, also where cliques share scores."""

    @abstractmethod
    def blocks(self, scores: Scores, weights: Array | None = None) -> dict[str, Blocks]:
        """Return ∇²g(θ) without the covariances between different cliques, one entry per clique type."""


class PairwiseBlocks(PairwiseBatch, BlockOracle):
    """Vertices and edges, the pair marginals of an edge being what untied edges report."""

    @abstractmethod
    def untied(self) -> Self:
        """Return the same instances with scores of its own for every edge."""

    def blocks(self, scores: Scores, weights: Array | None = None) -> dict[str, Blocks]:
        """Return the covariances inside vertices and inside edges; takes E·L² numbers."""
        each = self.untied()
        edge = np.broadcast_to(scores["edge"], each.shapes["edge"])
        parts = each.marginals({"node": scores["node"], "edge": edge}).parts
        node_weights = edge_weights = None
        if weights is not None:
            node_weights = np.repeat(weights, np.diff(self._offsets))
            edge_weights = np.repeat(weights, np.diff(self.edge_offsets))
        return {
            "node": Blocks(parts["node"], node_weights, shared=False),
            "edge": Blocks(parts["edge"], edge_weights, shared=self.shared_edges),
        }
