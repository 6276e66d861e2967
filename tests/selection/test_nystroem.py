"""Nyström approximations: landmarks, the subspace they span, where it is stored."""

import tracemalloc

import numpy as np
import pytest

from kernelfields import InputError
from kernelfields.approximation import KMeans, LeverageScores, Nystroem, Storage, Uniform
from kernelfields.kernels import RBF, Linear
from tests.selection._counting import CountingKernel, gram_of_factor

SEED = np.random.RandomState
LANDMARKS = [Uniform(), KMeans(), LeverageScores(), LeverageScores(sketch=10, ridge=0.1)]


def projected(kernel, X, B):
    return kernel(X, B) @ np.linalg.solve(kernel(B), kernel(B, X))


@pytest.mark.parametrize("landmarks", LANDMARKS, ids=repr)
def test_factor_is_the_projection_on_the_landmarks(landmarks, rng):
    X = rng.normal(size=(90, 3))
    found = Nystroem(15, landmarks).on(RBF(0.3), X, SEED(0))
    assert found.factor.shape == (90, 15)
    np.testing.assert_allclose(gram_of_factor(found), projected(RBF(0.3), X, found.map.basis), atol=1e-7)
    if found.pivots is not None:
        assert len(set(found.pivots.tolist())) == 15
        np.testing.assert_array_equal(found.map.basis, X[found.pivots])
    again = Nystroem(15, landmarks).on(RBF(0.3), X, SEED(0))
    np.testing.assert_array_equal(found.map.basis, again.map.basis)


def test_all_observations_give_the_kernel_itself(rng):
    X = rng.normal(size=(40, 3))
    found = Nystroem(40, tol=1e-14).on(RBF(), X, SEED(0))
    np.testing.assert_allclose(gram_of_factor(found), RBF()(X), atol=1e-9)


def test_landmarks_that_say_nothing_new_are_dropped(rng):
    X = rng.normal(size=(10, 3))
    twice = np.concatenate([X, X])
    for landmarks in (Uniform(), LeverageScores()):
        found = Nystroem(20, landmarks).on(RBF(), twice, SEED(0))
        assert found.factor.shape == (20, 10)
        np.testing.assert_allclose(gram_of_factor(found), RBF()(twice), atol=1e-4)
    assert Nystroem(20).on(Linear(), X, SEED(0)).factor.shape == (10, 3)


def test_centres_are_means_of_observations(rng):
    """With as many centres as well separated heaps, the means of the heaps."""
    means = 100 * np.arange(4)[:, None] * np.ones((1, 2))
    X = np.repeat(means, 50, axis=0) + rng.normal(size=(200, 2))
    basis = Nystroem(4, KMeans()).on(RBF(), X, SEED(0)).map.basis
    expected = X.reshape(4, 50, 2).mean(axis=1)
    np.testing.assert_allclose(basis[np.argsort(basis[:, 0])], expected, atol=0.5)


def test_leverage_scores_are_those_of_the_definition(rng):
    """With a sketch of everything: the diagonal of K (K + δI)⁻¹."""
    X = rng.normal(size=(60, 2))
    K = RBF()(X)
    for ridge in (0.05, None):
        delta = ridge or np.trace(K) / 20
        expected = (K @ np.linalg.inv(K + delta * np.eye(60))).diagonal()
        found = LeverageScores(sketch=60, ridge=ridge).scores(RBF(), X, 20, SEED(0))
        np.testing.assert_allclose(found, expected, rtol=1e-7)
    assert found.sum() <= 20


def test_leverage_finds_what_is_rare(rng):
    """Five of a thousand observations are far from all others: chance would rarely find one of them."""
    X = np.concatenate([0.01 * rng.normal(size=(995, 2)), 10 * np.arange(1, 6)[:, None] * np.ones((1, 2))])
    settings = LeverageScores(sketch=50, ridge=1.0)
    scores = settings.scores(RBF(), X, 10, SEED(0))
    assert np.median(scores[995:]) > 50 * scores[:995].max()  # those in the sketch look less rare
    chosen = settings.choose(RBF(), X, 10, SEED(0)).indices
    assert (chosen >= 995).sum() >= 2


def test_kernel_values_are_computed_with_landmarks_only(rng):
    X = rng.normal(size=(300, 3))
    kernel = CountingKernel()
    Nystroem(20).on(kernel, X, SEED(0))
    assert kernel.values == 300 * 20 + 20 * 20


def test_files_hold_what_memory_would(rng, tmp_path):
    X = rng.normal(size=(500, 3)).astype(np.float32)
    one = Nystroem(20, scratch=tmp_path).on(RBF(), X, SEED(0), memory_limit=10_000)
    other = Nystroem(20).on(RBF(), X, SEED(0))
    assert isinstance(one.factor.products.matrix, np.memmap) or isinstance(
        one.factor.products.matrix.base, np.memmap
    )
    np.testing.assert_array_equal(one.factor.products.matrix, other.factor.products.matrix)
    assert list(tmp_path.iterdir()) == []  # nobody has to clear up
    assert not isinstance(Storage(10_000).empty((10, 10), np.float32), np.memmap)


def test_precise_products_are_in_double(rng):
    """Sums of 10⁸ and small numbers: single precision loses them."""
    X = rng.normal(size=(9000, 3)).astype(np.float32)
    factor = Nystroem(10).on(RBF(0.1), X, SEED(0)).factor
    columns = factor.products.matrix.astype(np.float64)
    weights, gradient = rng.normal(size=(10, 2)), rng.normal(size=(9000, 2))
    exact = columns @ (factor.inside @ weights)
    np.testing.assert_allclose(factor.precise().times(weights), exact, rtol=1e-9, atol=1e-9)
    adjoint = factor.inside.T @ (columns.T @ gradient)
    np.testing.assert_allclose(factor.precise().transposed_times(gradient), adjoint, rtol=1e-9)
    assert not np.allclose(factor.times(weights), exact, rtol=1e-9, atol=1e-9)


def test_what_cannot_be_is_refused(rng):
    X = rng.normal(size=(5, 2))
    with pytest.raises(InputError, match="rank is 0"):
        Nystroem(0).on(RBF(), X, SEED(0))
    with pytest.raises(InputError, match=r"ridge is -1.0; it must be a finite number above 0"):
        Nystroem(2, LeverageScores(ridge=-1.0)).on(RBF(), X, SEED(0))
    with pytest.raises(InputError, match="rows of numbers"):
        Nystroem(2, KMeans()).on(RBF(), np.array(["a", "b"], dtype=object), SEED(0))


def test_what_exceeds_the_memory_limit_is_never_copied_whole(tmp_path):
    X = np.random.default_rng(0).normal(size=(6000, 5)).astype(np.float32)
    settings = Nystroem(300, tol=0.0, scratch=tmp_path)
    settings.on(RBF(0.5), X[:400], np.random.RandomState(0), 10**5)  # imports and caches
    tracemalloc.start()
    try:
        factor = settings.on(RBF(0.5), X, np.random.RandomState(0), 10**5).factor
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(factor.products.matrix.base, np.memmap)
    square = factor.shape[1] ** 2 * 8  # bytes of a matrix over the basis
    assert peak < 8 * square < factor.products.matrix.nbytes
