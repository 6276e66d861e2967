"""The base of families whose observations are rows of numbers."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ._base import Emissions, Family, ObservedSequences, Random
from ._scored_base import one_hot
from .rows import NumberRows, clusters, read_rows


class RowEmissions(Emissions):
    """Emissions of rows of numbers."""

    n_columns: int


class RowFamily(Family):
    """A family whose observations are rows of numbers."""

    @abstractmethod
    def check(self, rows: NumberRows) -> None:
        """Refuse what the family cannot emit."""

    @abstractmethod
    def estimate(self, rows: NumberRows, weights: Array) -> Emissions:
        """Return the best emissions when position t counts ``weights[t, k]`` times in state k."""

    def read(self, X: Any, lengths: Any, known: Emissions | None) -> ObservedSequences:
        """Read rows; NaN is a missing number, None a missing row."""
        assert known is None or isinstance(known, RowEmissions)
        data = read_rows(X, lengths, None if known is None else known.n_columns)
        self.check(data.observations)
        return data

    def guess(self, observations: NumberRows, n_states: int, rng: Random) -> Emissions:
        """Start from clusters of observations."""
        if len(observations.whole) < n_states:
            raise InputError(f"X has {len(observations.whole)} complete rows, too few for {n_states} states.")
        return self.estimate(observations, clusters(observations, n_states, rng))

    def labelled(self, data: ObservedSequences, n_states: int) -> Emissions:
        """Estimate from the positions whose states are observed."""
        assert data.labels is not None
        weights = one_hot(data.labels, n_states, data.position_weights)
        rows: NumberRows = data.observations
        seen = np.ones(len(rows)) if rows.missing is None else 1.0 - rows.missing
        empty = np.flatnonzero(seen @ weights == 0)
        if len(empty):
            raise InputError(f"State {empty[0]} has no observation in the labelled part of X.")
        return self.estimate(rows, weights)
