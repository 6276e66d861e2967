"""Small hidden Markov models of every family, with data drawn without the code under test."""

import numpy as np

from kernelfields.emissions import (
    Bernoulli,
    Categorical,
    DiagonalGaussian,
    FullGaussian,
    GaussianMixture,
    Multinomial,
    Poisson,
    SphericalGaussian,
    TiedGaussian,
)

GAUSSIANS = [SphericalGaussian(), DiagonalGaussian(), FullGaussian(), TiedGaussian()]
FAMILIES = [
    *GAUSSIANS,
    GaussianMixture(2),
    GaussianMixture(2, FullGaussian(prior_weight=1.0)),
    Categorical(),
    Multinomial(trials=4),
    Poisson(),
    Bernoulli(),
]


def name_of(family):
    return type(family).__name__


def sequences(family, rng, lengths, n_states=3):
    """Observations of a chain that tends to stay in its state."""
    X = []
    for length in lengths:
        states = np.cumsum(rng.random(length) < 0.3) % n_states
        centre = 2.0 * states[:, None]
        kind = name_of(family)
        if kind == "Categorical":
            X.append(np.minimum(rng.poisson(centre[:, 0] + 0.5), 5))
        elif kind == "Multinomial":
            chances = np.eye(3)[states] * 0.6 + 0.4 / 3
            X.append(np.array([rng.multinomial(rng.integers(1, 6), p) for p in chances], float))
        elif kind == "Poisson":
            X.append(rng.poisson(centre + np.array([0.5, 1.5]), size=(length, 2)).astype(float))
        elif kind == "Bernoulli":
            X.append((rng.random((length, 3)) < np.eye(3)[states] * 0.7 + 0.1).astype(float))
        else:
            noise = rng.normal(size=(length, 2)) @ np.array([[1.0, 0.4], [0.0, 0.5]])
            X.append(centre * [1.0, -0.5] + noise)
    return X
