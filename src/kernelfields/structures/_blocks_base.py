"""Structures that know the marginals of every clique by itself."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from ..arrays import Array
from ._base import Scores
from ._labelled_base import PairwiseBatch
from ._oracles import SumOracle
from .blocks import Blocks


class BlockOracle(SumOracle):
    """A structure that knows the marginals of every clique by itself, also where cliques share scores."""

    @abstractmethod
    def blocks(self, scores: Scores, weights: Array | None = None) -> dict[str, Blocks]:
        """Return ∇²g(θ) without the covariances between different cliques, one entry per clique type."""


class PairwiseBlocks(PairwiseBatch, BlockOracle):
    """Vertices and edges, the pair marginals of an edge being what untied edges report."""

    def blocks(self, scores: Scores, weights: Array | None = None) -> dict[str, Blocks]:
        """Return the covariances inside vertices and inside edges; takes E·L² numbers."""
        each = self.untied(["edge"])
        parts = each.marginals(each.spread(scores)).parts
        return {
            name: Blocks(parts[name], repeated(weights, cliques.offsets), cliques.shared)
            for name, cliques in self.cliques.items()
        }


def repeated(weights: Array | None, offsets: Array) -> Array | None:
    """Return the weights of instances for each of their cliques."""
    return None if weights is None else np.repeat(weights, np.diff(offsets))
