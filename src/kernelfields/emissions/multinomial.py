"""Counts of symbols: several draws per position."""

from __future__ import annotations

import numpy as np
import scipy

from ..arrays import Array
from ..errors import InputError
from ._base import Random, log_of
from ._rows_base import RowEmissions, RowFamily
from ._scored_base import ScoredEmissions
from .rows import NumberRows, require_counts


class Multinomial(RowFamily):
    """Counts of symbols, as many draws as a row's counts add up to,

        p(x|k) = (Σ_d x_d)! Π_d p_kd^x_d / x_d!.

    Probabilities are smoothed counts: a Dirichlet prior. Rows may have different numbers of draws. A row
    is complete or missing altogether.

    Parameters
    ----------
    pseudocount : float
        Added to the count of every symbol; if above zero, nothing is impossible.
    trials : int
        Number of draws in generated rows.
    """

    def __init__(self, pseudocount: float = 0.1, trials: int = 1) -> None:
        self.pseudocount = pseudocount
        self.trials = trials

    def check(self, rows: NumberRows) -> None:
        """Refuse counts that are negative or not whole, and rows of which only a part is missing."""
        require_counts(rows, "Multinomial")
        if rows.partial:
            raise InputError(
                "Multinomial emissions need complete rows: all numbers of a row are NaN, or none is."
            )

    def estimate(self, rows: NumberRows, weights: Array) -> MultinomialEmissions:
        """Return the probabilities that fit weighted rows best."""
        return self.of(weights.T @ rows.filled)

    def of(self, counts: Array) -> MultinomialEmissions:
        """Return the probabilities for expected counts, (L, D)."""
        above = counts + self.pseudocount
        total = above.sum(axis=1, keepdims=True)
        even = np.full_like(above, 1.0 / above.shape[1])
        return MultinomialEmissions(np.divide(above, total, out=even, where=total > 0), self)


class MultinomialEmissions(ScoredEmissions, RowEmissions):
    """Probabilities of symbols in every state.

    Parameters
    ----------
    probabilities : (L, D) array
        p; rows sum to one.
    family : Multinomial, optional
        The family that they were chosen from.
    """

    def __init__(self, probabilities: Array, family: Multinomial | None = None) -> None:
        self.probabilities = np.asarray(probabilities, dtype=np.float64)
        self.family: Multinomial = Multinomial() if family is None else family
        self.n_states, self.n_columns = self.probabilities.shape

    def log_density(self, observations: NumberRows) -> Array:
        """Return Σ_d x_d log p_kd plus the logarithm of the number of orders."""
        x = observations.filled
        impossible = self.probabilities <= 0
        result = x @ log_of(np.where(impossible, 1.0, self.probabilities)).T
        result += (scipy.special.gammaln(x.sum(axis=1) + 1.0) - scipy.special.gammaln(x + 1.0).sum(axis=1))[
            :, None
        ]
        return np.where(x @ impossible.T > 0, -np.inf, result) if impossible.any() else result

    def statistics(self, observations: NumberRows, weights: Array) -> Array:
        """Return the sums of weighted counts."""
        return weights.T @ observations.filled

    def improved(self, statistics: Array) -> MultinomialEmissions:
        """Return new probabilities."""
        return self.family.of(statistics)

    def log_prior(self) -> float:
        """Return Σ a log p."""
        return float(scipy.special.xlogy(self.family.pseudocount, self.probabilities).sum())

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: all probabilities but one in every state."""
        return self.n_states * (self.n_columns - 1)

    def draw(self, states: Array, rng: Random, offsets: Array | None = None) -> Array:
        """Draw counts."""
        return np.asarray(rng.multinomial(self.family.trials, self.probabilities[states]), dtype=np.float64)
