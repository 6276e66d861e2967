"""Incomplete Cholesky factors against dense linear algebra."""

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from kernelfields import InputError
from kernelfields.approximation import IncompleteCholesky
from kernelfields.kernels import RBF, Linear, Polynomial
from tests.selection._counting import CountingKernel, gram_of_factor

SEED = np.random.RandomState


def greedy_pivots(K, rank):
    """Textbook: the largest diagonal entry of the Schur complement, computed by solving."""
    pivots = []
    for _ in range(rank):
        schur = K.copy()
        if pivots:
            schur -= K[:, pivots] @ np.linalg.solve(K[np.ix_(pivots, pivots)], K[pivots])
        pivots.append(int(np.argmax(schur.diagonal())))
    return pivots


def test_pivots_are_the_largest_residuals(rng):
    X = rng.normal(size=(40, 3))
    K = Polynomial(2)(X)
    found = IncompleteCholesky(7).on(Polynomial(2), X, SEED(0))
    assert found.pivots.tolist() == greedy_pivots(K, 7)
    np.testing.assert_array_equal(found.map.basis, X[found.pivots])


def test_residual_is_what_the_factor_leaves(rng):
    X = rng.normal(size=(60, 4))
    K = RBF(0.3)(X)
    found = IncompleteCholesky(20).on(RBF(0.3), X, SEED(0))
    rest = K - gram_of_factor(found)
    np.testing.assert_allclose(found.residual, rest.diagonal(), atol=1e-12)
    assert (found.residual >= 0).all()
    assert np.linalg.eigvalsh(rest).min() > -1e-10
    assert (found.residual[found.pivots] == 0).all()
    B = found.pivots
    np.testing.assert_allclose(
        gram_of_factor(found), K[:, B] @ np.linalg.solve(K[np.ix_(B, B)], K[B]), atol=1e-9
    )


@pytest.mark.parametrize("sample", [None, 6])
def test_coefficients_and_weights_are_the_same_function(sample, rng):
    X = rng.normal(size=(50, 3))
    found = IncompleteCholesky(12, sample=sample).on(RBF(), X, SEED(1))
    weights = rng.normal(size=(12, 2))
    coefficients = found.factor.coefficients(weights)
    np.testing.assert_allclose(RBF()(X, found.map.basis) @ coefficients, found.factor.times(weights))
    K_BB = RBF()(found.map.basis)  # orthonormal coordinates
    np.testing.assert_allclose(coefficients.T @ K_BB @ coefficients, weights.T @ weights)
    gradient = rng.normal(size=(50, 2))
    phi = found.factor.times(np.eye(12))
    np.testing.assert_allclose(found.factor.transposed_times(gradient), phi.T @ gradient, atol=1e-12)


def test_it_stops_where_nothing_is_left(rng):
    X = rng.normal(size=(30, 3))
    for sample in (None, 10):
        found = IncompleteCholesky(30, sample=sample).on(Linear(), X, SEED(0))
        assert len(found.pivots) == 3
        np.testing.assert_allclose(gram_of_factor(found), X @ X.T, atol=1e-9)
    twice = np.concatenate([X[:5], X[:5]])
    assert len(IncompleteCholesky(10).on(RBF(), twice, SEED(0)).pivots) == 5


def test_best_of_a_sample_of_all_is_the_best_of_all(rng):
    X = rng.normal(size=(40, 3))
    one, other = (IncompleteCholesky(9, sample=s).on(Polynomial(2), X, SEED(0)) for s in (None, 40))
    assert one.pivots.tolist() == other.pivots.tolist()


def test_samples_find_better_pivots_than_chance(rng):
    """The worst residual after the best of many is below that after the first that comes along."""
    X = rng.standard_t(2, size=(300, 2))
    K = RBF()(X)

    def left(sample):
        draws = [IncompleteCholesky(80, sample=sample).on(RBF(), X, SEED(s)) for s in range(5)]
        return np.mean([(K - gram_of_factor(found)).diagonal().max() for found in draws])

    assert left(100) < 0.7 * left(1)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_pivots_do_not_depend_on_threads(dtype, rng):
    X = rng.normal(size=(2000, 5)).astype(dtype)
    X[1000:] = X[:1000] + np.float32(1e-3)  # many that are almost alike
    pivots = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            pivots.append(IncompleteCholesky(50).on(RBF(0.1), X, SEED(0)).pivots.tolist())
    assert pivots[0] == pivots[1]
    assert len(set(pivots[0])) == 50


def test_equal_residuals_go_to_the_first(rng):
    """All residuals of RBF are 1 at first; rounding must not choose."""
    X = rng.normal(size=(30, 2))
    assert IncompleteCholesky(3).on(RBF(), X, SEED(0)).pivots[0] == 0


@pytest.mark.parametrize(("sample", "values"), [(None, 200 * 15), (4, 200 * 15 + 4 * sum(range(15)))])
def test_kernel_values_are_computed_for_pivots_only(sample, values, rng):
    X = rng.normal(size=(200, 3))
    kernel = CountingKernel()
    IncompleteCholesky(15, sample=sample).on(kernel, X, SEED(0))
    assert kernel.values == values
    assert kernel.largest <= 200 * 15


def test_sparse_observations_and_single_precision(rng):
    X = sparse.random(80, 30, 0.2, format="csr", random_state=0)
    K = RBF(0.5)(X.toarray())
    thin, dense = (IncompleteCholesky(40).on(RBF(0.5), x, SEED(0)) for x in (X, X.toarray()))
    assert thin.pivots.tolist() == dense.pivots.tolist()
    np.testing.assert_allclose(gram_of_factor(thin), gram_of_factor(dense), atol=1e-10)
    single = IncompleteCholesky(40).on(RBF(0.5), X.toarray().astype(np.float32), SEED(0))
    B = single.pivots
    assert single.factor.products.matrix.dtype == np.float32
    np.testing.assert_allclose(
        gram_of_factor(single), K[:, B] @ np.linalg.solve(K[np.ix_(B, B)], K[B]), atol=1e-4
    )


def test_bad_settings_are_refused():
    for settings in ({"rank": 0}, {"sample": 0}, {"tol": -1.0}):
        with pytest.raises(InputError, match=f"^{next(iter(settings))} is "):
            IncompleteCholesky(**settings)
