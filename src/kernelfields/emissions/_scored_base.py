"""Emissions whose expectation step consists of matrix products around forward-backward."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from ..arrays import Array
from ._base import Emissions, Expectations, Markov, ObservedSequences, chain_scores


class ScoredEmissions(Emissions):
    """Emissions that compute their statistics from given probabilities of states."""

    @abstractmethod
    def statistics(self, observations: Any, weights: Array) -> Any:
        """Return sufficient statistics; position t counts ``weights[t, k]`` times in state k."""

    def expected(self, data: ObservedSequences, markov: Markov) -> Expectations:
        """Score all positions, run forward-backward, collect statistics."""
        chain, scores = chain_scores(self, data, markov)
        log_partition, parts = chain.marginals(scores, data.weights)
        start = parts["node"][chain.first_positions].sum(axis=0)
        statistics = self.statistics(data.observations, parts["node"])
        return Expectations(log_partition, start, parts["edge"], statistics)


def one_hot(labels: Array, n_states: int, counted: Array | None = None) -> Array:
    """Return (N, L) weights of observed states: 1, or what a position counts, for the one observed."""
    weights = np.zeros((n_states, len(labels)))  # state by state, as it is read
    given = np.flatnonzero(labels >= 0)
    weights[labels[given], given] = 1.0 if counted is None else counted[given]
    return weights.T
