"""Second-order chains with separate scores for every triple of labels."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..arrays import Array
from .chain2 import SecondOrderChainBatch
from .exact import ExactGraphBatch
from .graph import Factors
from .words import SEQUENCES, Words


class OwnTripleBatch(ExactGraphBatch):
    """A batch of chains of order two,

        score(y) = Σ_t node[t, y_t] + Σ_t edge[t, y_t, y_{t+1}] + Σ_t triple[t, y_{t−1}, y_t, y_{t+1}].

    These are graphs of treewidth two: positions are eliminated one by one, O(T L³), which takes about twelve
    times as long as the recursions of `SecondOrderChainBatch`.
    """

    words: Words = SEQUENCES
    has_ends: ClassVar[bool] = True
    named_cliques = ()

    @property
    def sources(self) -> Array:
        """First positions."""
        return self._vertices_without(self.edge_heads)

    @property
    def sinks(self) -> Array:
        """Last positions."""
        return self._vertices_without(self.edge_tails)


def untie_triples(chains: SecondOrderChainBatch) -> OwnTripleBatch:
    """Return the same sequences with scores for each triple."""
    edges = np.stack([chains.edge_tails, chains.edge_heads], axis=1)
    triples = Factors(chains.cliques["triple"].members, shared=False)
    shared = chains.shared_edges
    return OwnTripleBatch(
        chains.offsets, edges, chains.n_labels, shared_edges=shared, factors={"triple": triples}
    )
