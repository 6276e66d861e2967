"""Counts: independent Poisson variables in every column."""

from __future__ import annotations

import numpy as np
import scipy

from ..arrays import Array
from ._base import Random
from ._rows_base import RowEmissions, RowFamily
from ._scored_base import ScoredEmissions
from .rows import NumberRows, require_counts


class Poisson(RowFamily):
    """Independent Poisson counts in each column,

        p(x|k) = Π_d exp(−λ_kd) λ_kd^x_d / x_d!.

    Rates are estimated as (Σ weight · x + a) / (Σ weight + b): a Gamma prior. Missing numbers are summed
    out one by one.

    Parameters
    ----------
    prior_count : float
        a, the number of events in the prior.
    prior_weight : float
        b, the number of observations in the prior. If both are above zero, no rate is zero.
    """

    def __init__(self, prior_count: float = 0.01, prior_weight: float = 0.01) -> None:
        self.prior_count = prior_count
        self.prior_weight = prior_weight

    def check(self, rows: NumberRows) -> None:
        """Refuse counts that are negative or not whole."""
        require_counts(rows, "Poisson")

    def estimate(self, rows: NumberRows, weights: Array) -> PoissonEmissions:
        """Return the rates that fit weighted rows best."""
        return self.of(*_sums(rows, weights))

    def of(self, total: Array, weight: Array) -> PoissonEmissions:
        """Return the rates for sums of counts and of weights, (L, D) each."""
        below = weight + self.prior_weight
        rates = np.divide(total + self.prior_count, below, out=np.ones_like(total), where=below > 0)
        return PoissonEmissions(rates, self)


class PoissonEmissions(ScoredEmissions, RowEmissions):
    """Poisson rates of every state.

    Parameters
    ----------
    rates : (L, D) array
        λ.
    family : Poisson, optional
        The family that they were chosen from.
    """

    def __init__(self, rates: Array, family: Poisson | None = None) -> None:
        self.rates = np.asarray(rates, dtype=np.float64)
        self.family: Poisson = Poisson() if family is None else family
        self.n_states, self.n_columns = self.rates.shape

    def log_density(self, observations: NumberRows) -> Array:
        """Return Σ_d x_d log λ_kd − λ_kd − log x_d!."""
        x, seen = observations.filled, observations.seen
        zero = self.rates == 0
        linear = x @ np.log(np.where(zero, 1.0, self.rates)).T
        constant = scipy.special.gammaln(x + 1.0).sum(axis=1, keepdims=True)
        decay = self.rates.sum(axis=1) if seen is None else seen.astype(float) @ self.rates.T
        result = linear - constant - decay
        return np.where(x @ zero.T > 0, -np.inf, result) if zero.any() else result

    def statistics(self, observations: NumberRows, weights: Array) -> tuple[Array, Array]:
        """Return the sums of counts and of weights, for every state and column."""
        return _sums(observations, weights)

    def improved(self, statistics: tuple[Array, Array]) -> PoissonEmissions:
        """Return new rates."""
        return self.family.of(*statistics)

    def log_prior(self) -> float:
        """Return Σ a log λ − b λ."""
        a, b = self.family.prior_count, self.family.prior_weight
        return float((scipy.special.xlogy(a, self.rates) - b * self.rates).sum())

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: one rate for every state and column."""
        return self.rates.size

    def draw(self, states: Array, rng: Random, offsets: Array | None = None) -> Array:
        """Draw counts."""
        return np.asarray(rng.poisson(self.rates[states]), dtype=np.float64)


def _sums(rows: NumberRows, weights: Array) -> tuple[Array, Array]:
    total = weights.T @ rows.filled
    if rows.seen is None:
        return total, np.broadcast_to(weights.sum(axis=0)[:, None], total.shape)
    return total, weights.T @ rows.seen
