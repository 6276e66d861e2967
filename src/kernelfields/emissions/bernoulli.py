"""Zeros and ones: independent Bernoulli variables in every column."""

from __future__ import annotations

import numpy as np
import scipy

from ..arrays import Array
from ._base import Random, log_of
from ._rows_base import RowEmissions, RowFamily
from ._scored_base import ScoredEmissions
from .rows import NumberRows, require_counts


class Bernoulli(RowFamily):
    """Independent zeros and ones in each column,

        p(x|k) = Π_d p_kd^x_d (1 − p_kd)^(1 − x_d).

    Probabilities are smoothed counts, (ones + a) / (all + 2a): a Beta prior. Missing numbers are summed out
    one by one.

    Parameters
    ----------
    pseudocount : float
        a; if above zero, nothing is impossible.
    """

    def __init__(self, pseudocount: float = 0.1) -> None:
        self.pseudocount = pseudocount

    def check(self, rows: NumberRows) -> None:
        """Refuse numbers other than zero and one."""
        require_counts(rows, "Bernoulli", largest=1)

    def estimate(self, rows: NumberRows, weights: Array) -> BernoulliEmissions:
        """Return the probabilities that fit weighted rows best."""
        return self.of(*_sums(rows, weights))

    def of(self, ones: Array, zeros: Array) -> BernoulliEmissions:
        """Return the probabilities for sums of weights of ones and zeros, (L, D) each."""
        above, below = ones + self.pseudocount, ones + zeros + 2 * self.pseudocount
        return BernoulliEmissions(
            np.divide(above, below, out=np.full_like(above, 0.5), where=below > 0), self
        )


class BernoulliEmissions(ScoredEmissions, RowEmissions):
    """Probabilities of a one in every state and column.

    Parameters
    ----------
    probabilities : (L, D) array
        p.
    family : Bernoulli, optional
        The family that they were chosen from.
    """

    def __init__(self, probabilities: Array, family: Bernoulli | None = None) -> None:
        self.probabilities = np.asarray(probabilities, dtype=np.float64)
        self.family: Bernoulli = Bernoulli() if family is None else family
        self.n_states, self.n_columns = self.probabilities.shape

    def log_density(self, observations: NumberRows) -> Array:
        """Return Σ_d x_d log p_kd + (1 − x_d) log(1 − p_kd)."""
        ones = observations.filled
        zeros = 1.0 - ones if observations.seen is None else observations.seen - ones
        result = np.zeros((len(ones), self.n_states))
        for marks, chance in ((ones, self.probabilities), (zeros, 1.0 - self.probabilities)):
            impossible = chance <= 0
            result += marks @ log_of(np.where(impossible, 1.0, chance)).T
            if impossible.any():
                result[marks @ impossible.T > 0] = -np.inf
        return result

    def statistics(self, observations: NumberRows, weights: Array) -> tuple[Array, Array]:
        """Return the sums of weights of ones and of zeros, for every state and column."""
        return _sums(observations, weights)

    def improved(self, statistics: tuple[Array, Array]) -> BernoulliEmissions:
        """Return new probabilities."""
        return self.family.of(*statistics)

    def log_prior(self) -> float:
        """Return Σ a log p + a log(1 − p)."""
        a = self.family.pseudocount
        return float(
            (
                scipy.special.xlogy(a, self.probabilities) + scipy.special.xlogy(a, 1.0 - self.probabilities)
            ).sum()
        )

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: one probability for every state and column."""
        return self.probabilities.size

    def draw(self, states: Array, rng: Random, offsets: Array | None = None) -> Array:
        """Draw zeros and ones."""
        chance = self.probabilities[states]
        return (rng.random(chance.shape) < chance).astype(np.float64)


def _sums(rows: NumberRows, weights: Array) -> tuple[Array, Array]:
    ones = weights.T @ rows.filled
    every = weights.sum(axis=0)[:, None] if rows.seen is None else weights.T @ rows.seen
    return ones, np.maximum(every - ones, 0.0)
