"""Log-densities of emissions from their parameters, state by state, by SciPy's distributions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats
from scipy.special import logsumexp

from kernelfields.emissions import (
    BernoulliEmissions,
    CategoricalEmissions,
    GaussianEmissions,
    MixtureEmissions,
    MultinomialEmissions,
    PoissonEmissions,
)


def log_density(emissions: Any, x: Any) -> Any:
    """Log p(x_t|k), (T, L)."""
    return np.stack([_of_state(emissions, k, x) for k in range(emissions.n_states)], axis=1)


def _of_state(emissions: Any, k: int, x: Any) -> Any:
    if isinstance(emissions, GaussianEmissions):
        return _gaussian(emissions.means[k], emissions.covariances[k], x)
    if isinstance(emissions, MixtureEmissions):
        return _mixture(emissions, k, x)
    if isinstance(emissions, CategoricalEmissions):
        symbols = [value if isinstance(value, str) else int(value[0]) for value in x]
        numbers = [emissions.vocabulary.symbols.index(symbol) for symbol in symbols]
        return np.log(emissions.probabilities[k, numbers])
    if isinstance(emissions, MultinomialEmissions):
        return np.array(
            [stats.multinomial.logpmf(row, int(row.sum()), emissions.probabilities[k]) for row in x]
        )
    if isinstance(emissions, PoissonEmissions):
        return stats.poisson.logpmf(x, emissions.rates[k]).sum(axis=1)
    assert isinstance(emissions, BernoulliEmissions)
    return stats.bernoulli.logpmf(x, emissions.probabilities[k]).sum(axis=1)


def _gaussian(mean: Any, covariance: Any, x: Any) -> Any:
    matrix = np.diag(covariance) if covariance.ndim == 1 else covariance
    rest = x - mean
    distance = np.einsum("td,td->t", rest, np.linalg.solve(matrix, rest.T).T)
    return -0.5 * (len(mean) * np.log(2 * np.pi) + np.linalg.slogdet(matrix)[1] + distance)


def _mixture(emissions: Any, k: int, x: Any) -> Any:
    parts, count = emissions.gaussians, emissions.weights.shape[1]
    values = [_gaussian(parts.means[c], parts.covariances[c], x) for c in range(k * count, (k + 1) * count)]
    with np.errstate(divide="ignore"):
        return logsumexp(np.stack(values, axis=1) + np.log(emissions.weights[k]), axis=1)
