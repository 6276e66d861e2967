"""Chains: sequences whose neighbouring labels interact."""

from __future__ import annotations

from typing import Self

import numpy as np
import numpy.typing as npt

from .. import native
from ..arrays import Array, offsets_of
from ..checks import require_ids, require_weights
from ._base import Scores, require_feasible
from ._blocks_base import PairwiseBlocks
from ._errors_base import ForestErrors
from ._labelled_base import SequenceBatch, require_best, require_draws, require_labels
from ._oracles import Labelling, Labellings, Marginals


class ChainBatch(PairwiseBlocks, ForestErrors, SequenceBatch):
    """A batch of chains,

        score(y) = Σ_t node[t, y_t] + Σ_t edge[t, y_t, y_{t+1}].

    Forward-backward and its relatives, O(T L²) per sequence, for the whole ragged batch in one
    native call on all cores. Scores of −inf forbid a label or a pair; restricting a vertex to some
    labels, observing it, or adding a task cost are additions to the scores.

    Parameters
    ----------
    offsets : (S + 1,) integers
        Sequence s owns the positions ``offsets[s]`` up to ``offsets[s + 1]``; it may be empty.
    n_labels : int
        L.
    shared_edges : bool
        Whether all edges share one (L, L) array of scores; else scores are (E, L, L), E the number
        of neighbouring pairs, in order.

    Examples
    --------
    >>> import numpy as np
    >>> chain = ChainBatch([0, 3], n_labels=2)
    >>> scores = {"node": np.zeros((3, 2)), "edge": np.array([[0.0, -np.inf], [0.0, 0.0]])}
    >>> round(float(np.exp(chain.log_partition(scores)[0])))  # 000, 100, 110, 111
    4
    """

    def __init__(self, offsets: npt.ArrayLike, n_labels: int, shared_edges: bool = True) -> None:
        self._set_shape(offsets, n_labels, shared_edges)

    def take(self, ids: npt.ArrayLike) -> ChainBatch:
        """Chains of some sequences only."""
        ids = require_ids(ids, self.n_instances)
        return ChainBatch(offsets_of(np.diff(self._offsets)[ids]), self.n_labels, self.shared_edges)

    def score(self, scores: Scores, labels: Array) -> Array:
        """⟨θ, parts(y)⟩ for every sequence."""
        labels = require_labels(labels, self.n_vertices, self.n_labels)
        return np.asarray(native.chain_score(*self._native(scores), labels))

    def argmax(self, scores: Scores) -> Labelling:
        """Viterbi."""
        labels, value = native.chain_argmax(*self._native(scores))
        require_feasible(value, self.words)
        return Labelling(labels, value)

    def log_partition(self, scores: Scores) -> Array:
        """g(θ), by the forward recursion."""
        value = np.asarray(native.chain_log_partition(*self._native(scores)))
        require_feasible(value, self.words)
        return value

    def marginals(self, scores: Scores, weights: Array | None = None) -> Marginals:
        """Forward-backward."""
        value, node, edge = native.chain_marginals(
            *self._native(scores), require_weights(weights, self.n_instances)
        )
        require_feasible(value, self.words)
        return Marginals(value, {"node": node, "edge": edge})

    def entropy(self, scores: Scores) -> Array:
        """H(p) as a sum of conditional entropies, free of cancellation."""
        value = np.asarray(native.chain_entropy(*self._native(scores)))
        require_feasible(value, self.words)
        return value

    def covariance(self, scores: Scores, direction: Scores, weights: Array | None = None) -> dict[str, Array]:
        """∇²g(θ)·d by one more sweep in each direction."""
        arrays = self._native(scores)
        along = self._arrays(direction, arrays[0].dtype)
        value, node, edge = native.chain_covariance(
            *arrays, *along, require_weights(weights, self.n_instances)
        )
        require_feasible(value, self.words)
        return {"node": node, "edge": edge}

    def sample(self, scores: Scores, count: int, seed: int) -> Array:
        """Forward messages, then draws from the last label to the first."""
        draws = require_draws(count, seed, self.n_vertices)
        labels, value = native.chain_sample(*self._native(scores), *draws)
        require_feasible(value, self.words)
        return np.asarray(labels)

    def kbest(self, scores: Scores, k: int) -> Labellings:
        """List Viterbi."""
        longest = int(np.diff(self._offsets).max(initial=0))
        k = require_best(k, self.n_vertices, self.n_instances, longest * self.n_labels)
        arrays = self._native(scores)
        require_feasible(native.chain_argmax(*arrays)[1], self.words)
        return Labellings(*native.chain_kbest(*arrays, k))

    def _untied(self, names: list[str]) -> Self:
        return type(self)(self._offsets, self.n_labels, shared_edges=False)

    def _above(self) -> Array:
        parents = np.arange(-1, self.n_vertices - 1, dtype=np.int64)
        parents[self.first_positions] = -1
        return parents

    def _native(self, scores: Scores) -> tuple[Array, Array, Array]:
        return *self._arrays(scores), self._offsets
