"""Random Fourier features against the kernel they imitate."""

import numpy as np
import pytest
from scipy import sparse

from kernelfields import InputError
from kernelfields.approximation import RandomFourier
from kernelfields.kernels import RBF, Linear
from tests.selection._counting import gram_of_factor

SEED = np.random.RandomState


@pytest.mark.parametrize("gamma", [0.05, 0.5])
def test_inner_products_approach_the_kernel(gamma, rng):
    """The mean of h cosines is off by more than ε with probability at most 2 exp(−h ε²/2) (Hoeffding).

    With ε = √(2 log(2·1225/10⁻⁶)/h), one of the 1225 pairs fails with probability below 10⁻⁶.
    """
    X = rng.normal(size=(50, 4))
    h = 1000
    features = RandomFourier(2 * h).on(RBF(gamma), X, SEED(0)).map.columns(X)
    off = np.abs(features @ features.T - RBF(gamma)(X))
    assert off.max() <= np.sqrt(2 * np.log(2 * 1225 / 1e-6) / h)
    assert np.sqrt(np.mean(off**2)) <= np.sqrt(1 / (2 * h))
    np.testing.assert_allclose(np.square(features).sum(axis=1), 1)


def test_error_falls_with_the_root_of_the_rank(rng):
    X = rng.normal(size=(40, 3))

    def error(rank):
        seeds = [RandomFourier(rank).on(RBF(), X, SEED(s)) for s in range(5)]
        return np.sqrt(np.mean([(gram_of_factor(f) - RBF()(X)) ** 2 for f in seeds]))

    assert error(20) / error(500) == pytest.approx(5, rel=0.3)


def test_map_gives_new_observations_the_features_of_old_ones(rng):
    X = rng.normal(size=(30, 3))
    found = RandomFourier(20).on(RBF(), X, SEED(0))
    weights = rng.normal(size=(20, 2))
    coefficients = found.factor.coefficients(weights)
    np.testing.assert_allclose(found.map.times(X[7:9], coefficients), found.factor.times(weights)[7:9])
    thin = RandomFourier(20).on(RBF(), sparse.csr_matrix(X), SEED(0))
    np.testing.assert_allclose(gram_of_factor(thin), gram_of_factor(found), atol=1e-12)


def test_other_kernels_and_odd_ranks_are_refused(rng):
    X = rng.normal(size=(5, 2))
    with pytest.raises(InputError, match="need an RBF kernel"):
        RandomFourier().on(Linear(), X, SEED(0))
    with pytest.raises(InputError, match="rank of RandomFourier is 7"):
        RandomFourier(7).on(RBF(), X, SEED(0))
