"""Mixtures of Gaussians in every state."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy

from ..arrays import Array
from ..memory import require_memory
from ._base import Random, log_of
from ._gaussian_base import GaussianEmissions, GaussianFamily, Moments, moments_of
from ._rows_base import RowEmissions, RowFamily
from ._scored_base import ScoredEmissions
from .gaussian import DiagonalGaussian
from .rows import NumberRows, clusters


class MixtureStatistics(NamedTuple):
    """Statistics of all components."""

    weight: Array
    """(L, M)."""
    moments: Moments
    """Moments of L·M Gaussians, those of one state together."""


class GaussianMixture(RowFamily):
    """M Gaussians in every state, with weights,

        p(x|k) = Σ_m w_km N(x; m_km, S_km).

    Parameters
    ----------
    components : int
        M.
    gaussian : GaussianFamily, optional
        The family of the components; `DiagonalGaussian` if not given. A `TiedGaussian` ties the components
        of all states.
    pseudocount : float
        Added to the weight of every component.
    """

    def __init__(
        self, components: int = 2, gaussian: GaussianFamily | None = None, pseudocount: float = 0.1
    ) -> None:
        self.components = components
        self.gaussian = gaussian
        self.pseudocount = pseudocount

    @property
    def parts(self) -> GaussianFamily:
        """The family of the components."""
        return DiagonalGaussian() if self.gaussian is None else self.gaussian

    def check(self, rows: NumberRows) -> None:
        """Refuse what the Gaussians refuse."""
        self.parts.check(rows)

    def estimate(self, rows: NumberRows, weights: Array) -> MixtureEmissions:
        """Split the rows of every state into clusters, and fit one Gaussian to each."""
        M = self.components
        require_memory(f"A number of components={M}", 8 * M * weights.size)
        parts = np.repeat(weights, M, axis=1) / M
        for k in range(weights.shape[1]):
            mine = np.flatnonzero(weights[:, k] > weights.max(axis=1) / 2)
            if len(mine) > M:
                # Any fixed seed will do: expectation steps go on from here.
                inside = clusters(NumberRows(rows.values[mine]), M, np.random.default_rng(0))
                parts[mine, k * M : (k + 1) * M] = weights[mine, k, None] * inside
        if rows.missing is not None:
            parts[rows.missing > 0] = 0.0
        moments = moments_of(rows, parts, self.parts.full)
        return self.of(MixtureStatistics(parts.sum(axis=0).reshape(-1, M), moments))

    def of(self, statistics: MixtureStatistics) -> MixtureEmissions:
        """Return the mixtures with these statistics."""
        return MixtureEmissions(self.shares(statistics.weight), self.parts.of(statistics.moments), self)

    def shares(self, weight: Array) -> Array:
        """Return smoothed shares of the components."""
        above = weight + self.pseudocount
        total = above.sum(axis=1, keepdims=True)
        return np.divide(above, total, out=np.full_like(above, 1.0 / self.components), where=total > 0)


class MixtureEmissions(ScoredEmissions, RowEmissions):
    """A mixture of Gaussians for every state.

    Parameters
    ----------
    weights : (L, M) array
        Shares of the components; rows sum to one.
    gaussians : GaussianEmissions
        Components, L·M of them, those of one state together.
    family : GaussianMixture, optional
        The family that they were chosen from.
    """

    def __init__(
        self, weights: Array, gaussians: GaussianEmissions, family: GaussianMixture | None = None
    ) -> None:
        self.weights = np.asarray(weights, dtype=np.float64)
        self.gaussians = gaussians
        self.n_states, M = self.weights.shape
        self.family: GaussianMixture = GaussianMixture(M, gaussians.family) if family is None else family
        self.n_columns = gaussians.n_columns

    def log_density(self, observations: NumberRows) -> Array:
        """Return log Σ_m w_km N(x; m_km, S_km)."""
        result = np.asarray(scipy.special.logsumexp(self._joint(observations), axis=2))
        if observations.missing is not None:
            result[observations.missing > 0] = 0.0
        return result

    def _joint(self, observations: NumberRows) -> Array:
        """Return log w_km N(x; m_km, S_km), (N, L, M)."""
        parts = self.gaussians.log_density(observations)
        return parts.reshape(len(parts), *self.weights.shape) + log_of(self.weights)

    def statistics(self, observations: NumberRows, weights: Array) -> MixtureStatistics:
        """Divide the weight of every state among its components."""
        joint = self._joint(observations)
        shares = np.exp(joint - scipy.special.logsumexp(joint, axis=2, keepdims=True))
        parts = (weights[:, :, None] * shares).reshape(len(weights), -1)
        if observations.missing is not None:
            parts[observations.missing > 0] = 0.0
        weight = parts.sum(axis=0).reshape(self.weights.shape)
        moments = moments_of(observations, parts, self.family.parts.full)
        gone = moments.weight <= 0
        mean = np.where(gone if gone.ndim == 2 else gone[:, None], self.gaussians.means, moments.mean)
        return MixtureStatistics(weight, moments._replace(mean=mean))

    def joined(self, left: MixtureStatistics, right: MixtureStatistics) -> MixtureStatistics:
        """Return the statistics of all rows."""
        return MixtureStatistics(left.weight + right.weight, left.moments.plus(right.moments))

    def improved(self, statistics: MixtureStatistics) -> MixtureEmissions:
        """Return new mixtures."""
        gaussians = self.gaussians.improved(statistics.moments)
        return MixtureEmissions(self.family.shares(statistics.weight), gaussians, self.family)

    def log_prior(self) -> float:
        """Return the sum of the log-priors of shares and Gaussians."""
        return (
            float(scipy.special.xlogy(self.family.pseudocount, self.weights).sum())
            + self.gaussians.log_prior()
        )

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: shares but one in every state, and those of the Gaussians."""
        return self.n_states * (self.weights.shape[1] - 1) + self.gaussians.n_parameters

    def draw(self, states: Array, rng: Random, offsets: Array | None = None) -> Array:
        """Draw components, then rows."""
        edges = np.cumsum(self.weights, axis=1)[states]
        part = (rng.random(len(states))[:, None] > edges[:, :-1]).sum(axis=1)
        return self.gaussians.draw(states * self.weights.shape[1] + part, rng)
