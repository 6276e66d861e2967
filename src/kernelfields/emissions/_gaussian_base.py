"""The base of Gaussian families: means, priors, and the expectation step in the core."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy

from .. import native
from ..arrays import Array
from ..errors import InputError
from ..structures import require_feasible
from ._base import Expectations, Markov, ObservedSequences, Random
from ._rows_base import RowEmissions, RowFamily
from .rows import NumberRows

LOG_2PI = float(np.log(2 * np.pi))


class Moments(NamedTuple):
    """Weighted moments of the rows of every state."""

    weight: Array
    """(L,), or (L, D) where numbers are missing one by one: sums of weights."""
    mean: Array
    """(L, D)."""
    scatter: Array
    """(L, D) or (L, D, D): Σ weight (x − mean)², or (x − mean)(x − mean)ᵀ."""

    def plus(self, other: Moments) -> Moments:
        """Return the moments of both sets of rows [chan1983]; a mean without weight counts for nothing."""
        left, right = self._weights, other._weights
        total = left + right
        share = np.divide(right, total, out=np.zeros(total.shape), where=total > 0)
        gap, moved = other.mean - self.mean, left * share
        if self.scatter.ndim == 3:
            between = moved[:, :, None] * gap[:, :, None] * gap[:, None, :]
        else:
            between = moved * gap**2
        weight = total[:, 0] if total.shape[1] == 1 else total
        return Moments(weight, self.mean + share * gap, self.scatter + other.scatter + between)

    @property
    def _weights(self) -> Array:
        """(L, 1) or (L, D)."""
        return self.weight[:, None] if self.weight.ndim == 1 else self.weight


class GaussianFamily(RowFamily):
    """Gaussian distributions; subclasses define the form of covariances.

    A covariance S is chosen with the prior −½ (tr(Ψ S⁻¹) + ν log|S|), Ψ = ``prior_scale``·I, ν =
    ``prior_weight``: Ψ is added to the scatter of every state, ν to its weight.
    """

    prior_scale: float
    prior_weight: float
    full: bool
    """Whether moments have products of different columns."""

    @abstractmethod
    def covariances(self, moments: Moments) -> Array:
        """Choose covariances: (L, D) variances, or (L, D, D) matrices."""

    @abstractmethod
    def free(self, n_states: int, n_columns: int) -> int:
        """Return the number of free parameters of the covariances."""

    @abstractmethod
    def distinct(self, covariances: Array) -> Array:
        """Return the covariances that the prior applies to, each once."""

    def check(self, rows: NumberRows) -> None:
        """Refuse rows in which some numbers are missing, unless columns are independent."""
        if self.full and rows.partial:
            raise InputError(
                f"{type(self).__name__} emissions need complete rows: all of a row is NaN, or nothing. "
                "DiagonalGaussian takes rows with some NaN."
            )

    def estimate(self, rows: NumberRows, weights: Array) -> GaussianEmissions:
        """Return the Gaussians that fit weighted rows best."""
        return self.of(moments_of(rows, weights, self.full))

    def of(self, moments: Moments) -> GaussianEmissions:
        """Return the Gaussians with these moments."""
        return GaussianEmissions(moments.mean, self.covariances(moments), self)

    def spread(self, moments: Moments, count: Array) -> Array:
        """Return scatter / weight, both with their priors; ``count`` has the shape of the scatter."""
        D = moments.mean.shape[1]
        prior = self.prior_scale * (np.eye(D) if self.full else np.ones(D))
        below = count + self.prior_weight
        even = np.broadcast_to(np.where(prior > 0, prior, 0.0), moments.scatter.shape).copy()
        return np.divide(moments.scatter + prior, below, out=even, where=below > 0)


class GaussianEmissions(RowEmissions):
    """A Gaussian for every state,

        log p(x|k) = −½ (D log 2π + log|S_k| + (x − m_k)ᵀ S_k⁻¹ (x − m_k)).

    Parameters
    ----------
    means : (L, D) array
        m.
    covariances : (L, D) or (L, D, D) array
        Variances, or matrices S.
    family : GaussianFamily
        The family that they were chosen from.
    """

    def __init__(self, means: Array, covariances: Array, family: GaussianFamily) -> None:
        self.means = np.ascontiguousarray(means, dtype=np.float64)
        self.covariances = np.ascontiguousarray(covariances, dtype=np.float64)
        self.family: GaussianFamily = family
        self.n_states, self.n_columns = self.means.shape
        shape = self.means.shape + ((self.n_columns,) if family.full else ())
        if self.covariances.shape != shape:
            raise InputError(f"covariances have shape {self.covariances.shape}, expected {shape}.")
        self._factors, self._constants = _factors(self.covariances)

    def log_density(self, observations: NumberRows) -> Array:
        """Return log p(x_t|k) from whitened differences, state by state, without missing numbers."""
        x, seen = observations.filled, observations.seen
        result = np.empty((len(x), self.n_states))
        for k in range(self.n_states):
            centred = x - self.means[k]
            if self.family.full:
                result[:, k] = self._constants[k] - ((centred @ self._factors[k].T) ** 2).sum(axis=1)
            elif seen is None:
                result[:, k] = self._constants[k] - (centred**2) @ self._factors[k]
            else:
                constants = -0.5 * (LOG_2PI + np.log(self.covariances[k]))
                result[:, k] = np.where(seen, constants - centred**2 * self._factors[k], 0.0).sum(axis=1)
        if self.family.full and observations.missing is not None:
            result[observations.missing > 0] = 0.0
        return result

    def expected(self, data: ObservedSequences, markov: Markov) -> Expectations:
        """Run densities, forward-backward and moments in the core.

        Not where single numbers are missing, nor where sequences have weights.
        """
        if data.observations.partial or data.weights is not None:
            return self._expected_by_arrays(data, markov)
        value, start, transitions, sums = self._in_core(native.hmm_gaussian, data, markov)
        return Expectations(value, start, transitions, self._moments(sums))

    def log_probability(self, data: ObservedSequences, markov: Markov) -> Array:
        """Run densities and the forward recursion in the core, unless single numbers are missing."""
        if data.observations.partial:
            return super().log_probability(data, markov)
        return self._in_core(native.hmm_gaussian_log_probability, data, markov)[0]

    def _in_core(
        self, run: Callable[..., tuple[Array, ...]], data: ObservedSequences, markov: Markov
    ) -> tuple[Array, ...]:
        """Return log-probabilities, and expected starts, steps and sums of moments if ``run`` counts them."""
        rows: NumberRows = data.observations
        found = run(
            rows.columns,
            self.means,
            self._factors,
            self._constants,
            markov.start,
            markov.transitions,
            data.offsets,
            rows.missing,
            data.labels,
        )
        require_feasible(found[0])
        return found

    def _moments(self, sums: Array) -> Moments:
        """Return the moments around the new means from those around the old ones."""
        D = self.n_columns
        weight, shift = sums[:, 0], sums[:, 1 : 1 + D]
        shift = np.divide(shift, weight[:, None], out=np.zeros_like(shift), where=weight[:, None] > 0)
        if not self.family.full:
            scatter = sums[:, 1 + D :] - weight[:, None] * shift**2
            return Moments(weight, self.means + shift, np.maximum(scatter, 0.0))
        scatter = np.zeros((self.n_states, D, D))
        low = np.tril_indices(D)
        scatter[:, low[0], low[1]] = scatter[:, low[1], low[0]] = sums[:, 1 + D :]
        scatter -= weight[:, None, None] * shift[:, :, None] * shift[:, None, :]
        return Moments(weight, self.means + shift, scatter)

    def _expected_by_arrays(self, data: ObservedSequences, markov: Markov) -> Expectations:
        from ._base import chain_scores

        chain, scores = chain_scores(self, data, markov)
        value, parts = chain.marginals(scores, data.weights)
        moments = moments_of(data.observations, parts["node"], self.family.full)
        gone = moments.weight <= 0
        mean = np.where(gone if gone.ndim == 2 else gone[:, None], self.means, moments.mean)
        start = parts["node"][chain.first_positions].sum(axis=0)
        return Expectations(value, start, parts["edge"], moments._replace(mean=mean))

    def joined(self, left: Moments, right: Moments) -> Moments:
        """Return the moments of all rows."""
        return left.plus(right)

    def improved(self, statistics: Moments) -> GaussianEmissions:
        """Return Gaussians with new means and covariances; a state without weight keeps its old ones."""
        weight = statistics.weight if statistics.weight.ndim == 1 else statistics.weight.min(axis=1)
        covariances = self.family.covariances(statistics)
        if (weight <= 0).any() and self.family.prior_scale == 0:
            covariances[weight <= 0] = self.covariances[weight <= 0]
        return GaussianEmissions(statistics.mean, covariances, self.family)

    def log_prior(self) -> float:
        """Return −½ Σ tr(Ψ S⁻¹) + ν log|S|."""
        scale, weight = self.family.prior_scale, self.family.prior_weight
        distinct = self.family.distinct(self.covariances)
        if self.family.full:
            trace = np.trace(np.linalg.inv(distinct), axis1=1, axis2=2).sum()
            return float(-0.5 * (scale * trace + weight * np.linalg.slogdet(distinct)[1].sum()))
        return float(-0.5 * (scale / distinct + weight * np.log(distinct)).sum())

    @property
    def n_parameters(self) -> int:
        """Means and covariances."""
        return self.means.size + self.family.free(self.n_states, self.n_columns)

    def draw(self, states: Array, rng: Random, offsets: Array | None = None) -> Array:
        """Draw rows."""
        noise = rng.normal(size=(len(states), self.n_columns))
        if not self.family.full:
            return np.asarray(self.means[states] + noise * np.sqrt(self.covariances[states]))
        roots = np.linalg.cholesky(self.covariances)
        return np.asarray(self.means[states] + np.einsum("tde,te->td", roots[states], noise))


def moments_of(rows: NumberRows, weights: Array, full: bool) -> Moments:
    """Return the moments of weighted rows, in two passes.

    If most weights of a state are zero, as with observed labels, only the rows with weight are read: all
    states together then take no more work than one.
    """
    x, seen, D = rows.filled, rows.seen, rows.n_columns
    if seen is not None and (full or not rows.partial):
        weights = np.where(seen.all(axis=1, keepdims=True), weights, 0.0)
        seen = None
    columns = np.ascontiguousarray(weights.T)
    below, mean = np.zeros((len(columns), 1 if seen is None else D)), np.zeros((len(columns), D))
    scatter = np.zeros((len(columns), D, *([D] if full else [])))
    for k, weight in enumerate(columns):
        used = np.flatnonzero(weight)
        if 2 * len(used) < len(weight):
            found = _state_moments(x[used], weight[used], None if seen is None else seen[used], full)
        else:
            found = _state_moments(x, weight, seen, full)
        below[k], mean[k], scatter[k] = found
    return Moments(below[:, 0] if seen is None else below, mean, scatter)


def _state_moments(x: Array, weight: Array, seen: Array | None, full: bool) -> Moments:
    """Return the moments of one state."""
    below = weight.sum(keepdims=True) if seen is None else weight @ seen
    total = weight @ x
    mean = np.divide(total, below, out=np.zeros_like(total), where=below > 0)
    centred = x - mean if seen is None else np.where(seen, x - mean, 0.0)
    weighted = weight[:, None] * centred
    return Moments(below, mean, weighted.T @ centred if full else np.einsum("td,td->d", weighted, centred))


def _factors(covariances: Array) -> tuple[Array, Array]:
    """Return 1/(2 variance), or inverse Cholesky factors over √2, and the constants of log-densities."""
    if not np.isfinite(covariances).all():
        raise InputError("A covariance is not finite; scale the columns, or set a smaller prior_scale.")
    if covariances.ndim == 2:
        least = np.finfo(np.float64).tiny  # below, 1/(2 variance) is infinite
        if not (covariances >= least).all():
            k, d = np.argwhere(~(covariances >= least))[0]
            raise InputError(f"State {k} has no variance left in column {d}; set prior_scale above 0.")
        return 0.5 / covariances, -0.5 * (LOG_2PI + np.log(covariances)).sum(axis=1)
    factors, constants = np.empty_like(covariances), np.empty(len(covariances))
    for k, covariance in enumerate(covariances):
        try:
            root = np.linalg.cholesky(covariance)
        except np.linalg.LinAlgError as error:
            raise InputError(
                f"The covariance of state {k} is not positive definite; set prior_scale above 0."
            ) from error
        factors[k] = scipy.linalg.solve_triangular(root, np.eye(len(root)), lower=True) * np.sqrt(0.5)
        constants[k] = -0.5 * len(root) * LOG_2PI - np.log(np.diag(root)).sum()
    return factors, constants
