"""Information density: ask for what is uncertain and like much else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array
from ..checks import Check, choose, require_not_negative, whole
from ..data.seeds import random_state
from ._base import Strategy
from .names import STRATEGIES
from .similarity import PositionSimilarity, SequenceSimilarity, Similarity, mean_similarity
from .view import PoolView


@dataclass(frozen=True)
class InformationDensity(Strategy):
    """A strategy's score times the mean similarity to the pool, to a power β [settles2008, eq. 13].

    The similarity of two positions is a kernel of what is observed there, that of two sequences the product
    of their mean maps, both normalised. Scores of the strategy are first brought to [0, 1] over what is
    open, so that those below zero can be multiplied, too.

    Parameters
    ----------
    strategy : name or Strategy
        What is multiplied.
    kernel : name, Kernel or function
        Of observations.
    power : float
        β; 0 leaves the order of the strategy.
    n_reference : int
        The mean is over that many things of the pool, drawn with ``random_state``, if there are more.
    random_state : int, RandomState or None
        Seed of that draw.
    """

    strategy: str | Strategy = "token-entropy"
    kernel: Any = "cosine"
    power: float = 1.0
    n_reference: int = 500
    random_state: Any = 0
    _checks: ClassVar[Mapping[str, Check]] = {
        "strategy": lambda name, value: choose(STRATEGIES, value, name),
        "power": require_not_negative,
        "n_reference": whole(1),
        "random_state": lambda _, value: random_state(value),
    }

    def sequence_scores(self, view: PoolView) -> Array:
        """Return scores times the similarity of mean maps."""
        scores = choose(STRATEGIES, self.strategy, "strategy").sequence_scores(view)
        is_open = view.pool.per_item(np.ones(len(view.pool.open))) > 0
        similarity = SequenceSimilarity(view.kernel(self.kernel), view.features, view.pool.offsets)
        return self._weighed(scores, is_open, similarity)

    def position_scores(self, view: PoolView) -> Array:
        """Return scores times the similarity of observations."""
        scores = choose(STRATEGIES, self.strategy, "strategy").position_scores(view)
        similarity = PositionSimilarity(view.kernel(self.kernel), view.features)
        return self._weighed(scores, view.pool.open, similarity)

    def _weighed(self, scores: Array, is_open: Array, similarity: Similarity) -> Array:
        ids = np.flatnonzero(is_open & np.isfinite(scores))
        result = np.full(len(scores), -np.inf)
        if not len(ids):
            return result
        rng, everything = random_state(self.random_state), np.arange(len(scores))
        many = len(everything) > self.n_reference
        reference = np.sort(rng.choice(everything, self.n_reference, replace=False)) if many else everything
        density = np.maximum(mean_similarity(similarity, ids, reference), 0.0)
        result[ids] = to_unit(scores[ids]) * density**self.power
        return result


def to_unit(scores: Array) -> Array:
    """Return finite scores on a scale from 0, the least, to 1, the greatest; 1 where all are equal."""
    low, high = scores.min(), scores.max()
    return (scores - low) / (high - low) if high > low else np.ones(len(scores))
