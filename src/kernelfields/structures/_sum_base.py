"""Structures that bring a recursion for marginals: all other answers follow from it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Self

import numpy as np
import numpy.typing as npt

from ..arrays import Array, offsets_of
from ..checks import require_ids, require_offsets, require_whole
from ._base import Scores
from ._labelled_base import MOST_LABELS, LabelledBatch, require_draws, sum_cliques
from ._oracles import CovarianceOracle, SampleOracle

STEP = float(np.cbrt(np.finfo(np.float64).eps))
"""Where the errors of rounding and of cutting off a central difference are about the same."""
AT_ONCE = 2**16
"""Vertices of copies that are drawn together."""


class SumBatch(LabelledBatch, CovarianceOracle, SampleOracle):
    """Sequences with clique types of any kind, of which ``cliques`` and ``marginals`` say all.

    Covariances are central differences of marginals; labels are drawn from left to right, each from its
    marginal given those before it, a pass for every position. Override what a recursion does faster, and
    ``take`` and ``_untied`` where a structure looks at more than the lengths of sequences.

    Parameters
    ----------
    offsets : (S + 1,) integers
        Sequence s owns the positions ``offsets[s]`` up to ``offsets[s + 1]``; it may be empty.
    n_labels : int
        L.
    own : collection of str
        Clique types in which every clique has separate scores.
    """

    def __init__(self, offsets: npt.ArrayLike, n_labels: int, own: Collection[str] = frozenset()) -> None:
        self._offsets = require_offsets(offsets)
        self.n_labels = require_whole("n_labels", n_labels, 1, MOST_LABELS)
        self.own = frozenset(own)

    def take(self, ids: npt.ArrayLike) -> Self:
        """Return some sequences only."""
        ids = require_ids(ids, self.n_instances)
        return type(self)(offsets_of(np.diff(self._offsets)[ids]), self.n_labels, self.own)

    def _untied(self, names: list[str]) -> Self:
        return type(self)(self._offsets, self.n_labels, self.own.union(names))

    def log_partition(self, scores: Scores) -> Array:
        """g(θ), as marginals have it."""
        return self.marginals(scores).log_partition

    def entropy(self, scores: Scores) -> Array:
        """H(p) = g(θ) − ⟨θ, μ(θ)⟩, over what is allowed."""
        single = self.untied(self.cliques)
        theta = single.spread(_in_double(scores))
        result, parts = single.marginals(theta)
        for name, cliques in single.cliques.items():
            each = np.where(parts[name] > 0, theta[name], 0) * parts[name]
            result = result - sum_cliques(each.sum(axis=tuple(range(1, each.ndim))), cliques.offsets)
        return np.maximum(result, 0)

    def covariance(self, scores: Scores, direction: Scores, weights: Array | None = None) -> dict[str, Array]:
        """∇²g(θ)·d ≈ (μ(θ + h d) − μ(θ − h d)) / 2h."""
        theta, along = _in_double(scores), _in_double(direction)
        most = max((float(np.abs(array).max(initial=0.0)) for array in along.values()), default=0.0)
        h = STEP / (most or 1.0)
        after, before = (
            self.marginals(
                {name: theta[name] + sign * h * along[name] for name in self.cliques}, weights
            ).parts
            for sign in (1, -1)
        )
        return {
            name: ((after[name] - before[name]) / (2 * h)).astype(scores[name].dtype) for name in self.cliques
        }

    def sample(self, scores: Scores, count: int, seed: int) -> Array:
        """Exact draws: y_1 from its marginal, y_2 from that given y_1, and so on."""
        count, seed = require_draws(count, seed, self.n_vertices)
        generator, theta = np.random.default_rng(seed), _in_double(scores)
        most = max(1, AT_ONCE // max(self.n_vertices, 1))
        draws = [self._draws(theta, min(most, count - k), generator) for k in range(0, count, most)]
        return np.concatenate([np.empty((0, self.n_vertices), dtype=np.int32), *draws])

    def _draws(self, scores: Scores, count: int, generator: np.random.Generator) -> Array:
        ids = np.tile(np.arange(self.n_instances), count)
        copies, theta = self.take(ids), self.cut(scores, ids)
        labels, node = np.zeros(copies.n_vertices, dtype=np.int32), np.array(theta["node"])
        for t in range(int(np.diff(self._offsets).max(initial=0))):
            v = copies.offsets[:-1][np.diff(copies.offsets) > t] + t
            sums = np.cumsum(copies.marginals({**theta, "node": node}).parts["node"][v], axis=1)
            labels[v] = (generator.random((len(v), 1)) * sums[:, -1:] >= sums).sum(axis=1)
            known = np.arange(self.n_labels) == labels[v][:, None]
            node[v] = np.where(known, node[v], -np.inf)
        return labels.reshape(count, self.n_vertices)


def _in_double(scores: Scores) -> dict[str, Array]:
    return {name: np.asarray(array, dtype=np.float64) for name, array in scores.items()}
