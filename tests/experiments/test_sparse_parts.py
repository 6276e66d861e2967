"""Parts of the experiments with sparse models: the source of Gaussian mixtures, and sizes."""

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from experiments.lib.mixtures import MixtureHMM, StateSequences
from experiments.lib.ner_sparse import Size, columns
from kernelfields import KernelCRF
from kernelfields.kernels import RBF
from kernelfields.selection import SGPS


@pytest.fixture
def source():
    return MixtureHMM.drawn(2, 1.0, 0.8, np.random.default_rng(3))


def densities(source, X):
    """p(x|state) by scipy, (T, L)."""
    one = [
        [multivariate_normal(m, a @ a.T).pdf(X) for m, a in zip(means, factors, strict=True)]
        for means, factors in zip(source.means, source.factors, strict=True)
    ]
    return np.mean(one, axis=1).T


def test_densities_of_the_source_are_those_of_scipy(source, rng):
    X = rng.normal(size=(7, 2))
    apart = source.log_density(X) - np.log(densities(source, X))
    np.testing.assert_allclose(apart, apart[0, 0], atol=1e-9)


def test_sequences_stay_and_scatter_as_the_source_says(source):
    drawn = source.draw(400, 25, np.random.default_rng(0))
    assert drawn.size == 10_000
    y = np.array(drawn.y)
    stays = (y[:, 1:] == y[:, :-1]).mean()
    assert abs(stays - 0.8) < 5 * np.sqrt(0.8 * 0.2 / 9600)
    np.testing.assert_allclose(source.transitions.sum(axis=1), 1.0)
    X = np.concatenate(drawn.X)
    for label in range(3):
        mine = X[y.ravel() == label]
        spread = mine.std(axis=0) / np.sqrt(len(mine))
        assert (np.abs(mine.mean(axis=0) - source.means[label].mean(axis=0)) < 5 * spread).all()
        second = np.mean([a @ a.T for a in source.factors[label]], axis=0) + np.cov(
            source.means[label].T, bias=True
        )
        np.testing.assert_allclose(np.cov(mine.T), second, atol=0.06 * np.trace(second))


@pytest.mark.parametrize("chained", [True, False])
def test_error_of_the_source_is_that_of_the_posterior_by_enumeration(source, chained):
    drawn = source.draw(6, 4, np.random.default_rng(1))
    wrong = 0
    for X, y in zip(*drawn, strict=True):
        p = densities(source, X)
        posterior = np.zeros((4, 3))
        for states in product(range(3), repeat=4):
            joint = np.prod([p[t, s] for t, s in enumerate(states)])
            if chained:
                joint *= np.prod([source.transitions[a, b] for a, b in pairwise(states)])
            posterior[range(4), states] += joint
        wrong += (posterior.argmax(axis=1) != y).sum()
    assert source.best_error(drawn, chained=chained) == pytest.approx(wrong / 24)


def test_sizes_are_counted_by_positions_labellings_and_observations(source):
    train = source.draw(4, 6, np.random.default_rng(2))
    model = KernelCRF(RBF(1.0), basis=SGPS(7), random_state=0).fit(*train)
    size = Size.of(model, 24)
    kept = np.abs(model.dual_coef_).max(axis=1) > 0
    assert size == pytest.approx((7 / 24, 7 / 72, kept.sum() / 24))
    assert columns([size, Size(0.0, 0.0, 0.0)])["p/N"] == pytest.approx(7 / 48)
    assert Size.of(KernelCRF(RBF(1.0)).fit(*train), 24) is None
    assert columns([None, None]) == {}


def test_sequences_count_their_positions():
    assert StateSequences([], [[0, 1], [2]]).size == 3
