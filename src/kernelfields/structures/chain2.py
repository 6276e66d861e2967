"""Second-order chains: sequences in which any three neighbouring labels interact."""

from __future__ import annotations

from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from .. import native
from ..arrays import Array, offsets_of
from ..checks import require_ids, require_weights
from ._base import Cliques, Scores, require_feasible
from ._labelled_base import SequenceBatch, require_best, require_draws, require_labels, score_array
from ._oracles import Labelling, Labellings, Marginals
from .chain import ChainBatch


class SecondOrderChainBatch(SequenceBatch):
    """A batch of chains of order two,

        score(y) = Σ_t node[t, y_t] + Σ_t edge[t, y_t, y_{t+1}] + Σ_t triple[y_{t−1}, y_t, y_{t+1}].

    A Markov chain over label pairs: messages u_t(y_{t−1}, y_t) from the last label to the first, then
    p(y_{t+1} | y_{t−1}, y_t) from the first to the last, O(T L³) per sequence, for the whole ragged
    batch in one native call on all cores. Scores of −inf forbid a label, a pair or a triple. For labels
    that depend on more than their neighbour, where L is some dozens at most; ``ChainBatch`` is faster by a
    factor of L and more.

    Parameters
    ----------
    offsets : (S + 1,) integers
        Sequence s owns the positions ``offsets[s]`` up to ``offsets[s + 1]``; it may be empty.
    n_labels : int
        L.
    shared_edges : bool
        Whether all edges share one (L, L) array of scores; else scores are (E, L, L). Scores of
        triples are shared, (L, L, L).

    Examples
    --------
    >>> import numpy as np
    >>> chain = SecondOrderChainBatch([0, 3], n_labels=2)
    >>> scores = {name: np.zeros(shape) for name, shape in chain.shapes.items()}
    >>> scores["triple"][0, 1, 0] = -np.inf
    >>> round(float(np.exp(chain.log_partition(scores)[0])))  # all but 010
    7
    """

    def __init__(self, offsets: npt.ArrayLike, n_labels: int, shared_edges: bool = True) -> None:
        self._set_shape(offsets, n_labels, shared_edges)
        self._pairs = ChainBatch(self._offsets, n_labels, shared_edges)

    @cached_property
    def cliques(self) -> dict[str, Cliques]:
        """Vertices, edges, and any three neighbours."""
        triples = Cliques(self._triple_offsets, self._triples, (self.n_labels,) * 3, shared=True)
        return {**self._pairwise(), "triple": triples}

    def take(self, ids: npt.ArrayLike) -> SecondOrderChainBatch:
        """Chains of some sequences only."""
        ids = require_ids(ids, self.n_instances)
        return SecondOrderChainBatch(
            offsets_of(np.diff(self._offsets)[ids]), self.n_labels, self.shared_edges
        )

    def score(self, scores: Scores, labels: Array) -> Array:
        """⟨θ, parts(y)⟩ for every sequence."""
        labels = require_labels(labels, self.n_vertices, self.n_labels)
        return np.asarray(native.chain2_score(*self._native(scores), labels))

    def argmax(self, scores: Scores) -> Labelling:
        """Best scores to the end from every pair, then labels from the first to the last."""
        labels, value = native.chain2_argmax(*self._native(scores))
        require_feasible(value, self.words)
        return Labelling(labels, value)

    def log_partition(self, scores: Scores) -> Array:
        """g(θ), by messages to the first label."""
        value = np.asarray(native.chain2_log_partition(*self._native(scores)))
        require_feasible(value, self.words)
        return value

    def marginals(self, scores: Scores, weights: Array | None = None) -> Marginals:
        """Messages to the first label, marginals on the way back."""
        value, node, edge, triple = native.chain2_marginals(
            *self._native(scores), require_weights(weights, self.n_instances)
        )
        require_feasible(value, self.words)
        return Marginals(value, {"node": node, "edge": edge, "triple": triple})

    def entropy(self, scores: Scores) -> Array:
        """H(p) as a sum of entropies given the two labels before, free of cancellation."""
        value = np.asarray(native.chain2_entropy(*self._native(scores)))
        require_feasible(value, self.words)
        return value

    def covariance(self, scores: Scores, direction: Scores, weights: Array | None = None) -> dict[str, Array]:
        """∇²g(θ)·d by differentiating both sweeps."""
        arrays = self._native(scores)
        along = self._arrays(direction, arrays[0].dtype)
        value, node, edge, triple = native.chain2_covariance(
            *arrays, *along, require_weights(weights, self.n_instances)
        )
        require_feasible(value, self.words)
        return {"node": node, "edge": edge, "triple": triple}

    def sample(self, scores: Scores, count: int, seed: int) -> Array:
        """Messages to the first label, then draws from the first to the last."""
        draws = require_draws(count, seed, self.n_vertices)
        labels, value = native.chain2_sample(*self._native(scores), *draws)
        require_feasible(value, self.words)
        return np.asarray(labels)

    def kbest(self, scores: Scores, k: int) -> Labellings:
        """List Viterbi over label pairs."""
        longest = int(np.diff(self._offsets).max(initial=0))
        k = require_best(k, self.n_vertices, self.n_instances, longest * self.n_labels**2)
        arrays = self._native(scores)
        require_feasible(native.chain2_argmax(*arrays)[1], self.words)
        return Labellings(*native.chain2_kbest(*arrays, k))

    def _triple_offsets(self) -> Array:
        return offsets_of(np.maximum(np.diff(self._offsets) - 2, 0))

    def _triples(self) -> Array:
        heads = self.edge_heads
        last = heads[np.isin(heads - 1, self.first_positions, invert=True)]
        return np.stack([last - 2, last - 1, last]).T

    def _untied(self, names: list[str]) -> Self:
        shared_edges = self.shared_edges and "edge" not in names
        batch = type(self)(self._offsets, self.n_labels, shared_edges=shared_edges)
        if "triple" not in names:
            return batch
        from .exact import untie_triples

        return untie_triples(batch)  # type: ignore[return-value]  # graphs, of the same cliques

    def _arrays(self, scores: Scores, dtype: npt.DTypeLike | None = None) -> tuple[Array, Array, Array]:
        """Scores as the core wants them, in one precision, shapes checked."""
        node, edge = self._pairs._arrays(scores, dtype)
        return node, edge, score_array(scores, "triple", self.shapes["triple"], node.dtype)

    def _native(self, scores: Scores) -> tuple[Array, Array, Array, Array]:
        return *self._arrays(scores), self._offsets
