"""Segments whose lengths all score alike: a chain in which every change of label also scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ._base import Scores
from ._labelled_base import score_array
from ._oracles import Labelling, Labellings, Marginals
from .chain import ChainBatch


class AlikeRuns(NamedTuple):
    """Sums over segmentations with one bin of lengths, at the speed of a chain.

    A run of label j scores duration[j] however long it is, which its first position can pay: as a score of
    the first label of a sequence, and of every pair (i, j) with i ≠ j.
    """

    chain: ChainBatch

    def argmax(self, scores: Scores) -> Labelling:
        """Return the best labelling."""
        return self.chain.argmax(self._scores(scores))

    def log_partition(self, scores: Scores) -> Array:
        """g(θ)."""
        return self.chain.log_partition(self._scores(scores))

    def marginals(self, scores: Scores, weights: Array | None) -> Marginals:
        """g(θ) and its gradient."""
        value, parts = self.chain.marginals(self._scores(scores), weights)
        return Marginals(value, self._with_runs(parts))

    def entropy(self, scores: Scores) -> Array:
        """H(p)."""
        return self.chain.entropy(self._scores(scores))

    def covariance(self, scores: Scores, direction: Scores, weights: Array | None) -> dict[str, Array]:
        """∇²g(θ)·d."""
        return self._with_runs(self.chain.covariance(self._scores(scores), self._scores(direction), weights))

    def sample(self, scores: Scores, count: int, seed: int) -> Array:
        """Return exact draws."""
        return self.chain.sample(self._scores(scores), count, seed)

    def kbest(self, scores: Scores, k: int) -> Labellings:
        """Return the k best labellings."""
        return self.chain.kbest(self._scores(scores), k)

    def _scores(self, scores: Scores) -> dict[str, Array]:
        """Return those of the chain."""
        L, shapes = self.chain.n_labels, self.chain.shapes
        given = score_array(scores, "node", shapes["node"], None)
        changes = score_array(scores, "edge", shapes["edge"], given.dtype)
        begin = score_array(scores, "duration", (1, L), given.dtype)[0]
        node = given.copy()
        with np.errstate(invalid="ignore"):  # what is NaN afterwards is refused by the chain
            edge = changes + begin
            node[self.chain.first_positions] += begin
        same = np.arange(L)
        edge[..., same, same] = changes[..., same, same]
        return {"node": node, "edge": edge}

    def _with_runs(self, parts: dict[str, Array]) -> dict[str, Array]:
        """Return parts of the chain, and how often runs of each label begin."""
        node, edge = parts["node"], parts["edge"]
        pairs = edge if edge.ndim == 2 else edge.sum(axis=0, dtype=np.float64)
        begins = node[self.chain.first_positions].sum(axis=0, dtype=np.float64)
        begins += pairs.sum(axis=0, dtype=np.float64) - pairs.diagonal()
        return {**parts, "duration": begins.astype(node.dtype)[None]}
