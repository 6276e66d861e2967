"""What holds for every kernel."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from kernelfields.kernels import ProductKernel, check_gram

from ._tables import CASES, DENSE, PRODUCTS, ROWS, Case, name, sparse_real


@pytest.mark.parametrize("case", CASES, ids=name)
class TestEvery:
    def test_is_positive_semi_definite(self, case: Case, rng: np.random.Generator) -> None:
        K = case.kernel(case.draw(rng, 25))
        assert K.shape == (25, 25)
        eigenvalues = np.linalg.eigvalsh(K)
        assert eigenvalues[0] > -1e-9 * eigenvalues[-1]

    def test_is_symmetric(self, case: Case, rng: np.random.Generator) -> None:
        X, Y = case.draw(rng, 7), case.draw(rng, 5)
        np.testing.assert_allclose(case.kernel(X, Y), case.kernel(Y, X).T, rtol=1e-10, atol=1e-12)

    def test_diagonal_is_that_of_the_block(self, case: Case, rng: np.random.Generator) -> None:
        X = case.draw(rng, 70)  # two tiles
        got = case.kernel.diagonal(X)
        assert got.shape == (70,)
        np.testing.assert_allclose(got, case.kernel(X).diagonal(), rtol=1e-10, atol=1e-12)

    def test_is_a_function_of_two_observations(self, case: Case, rng: np.random.Generator) -> None:
        X, Y = case.draw(rng, 6), case.draw(rng, 5)
        K = case.kernel(X, Y)
        for i in range(6):
            for j in range(5):
                pair = case.kernel(X[i : i + 1], Y[j : j + 1])
                np.testing.assert_allclose(pair, K[i : i + 1, j : j + 1], rtol=1e-10, atol=1e-12)

    def test_passes_the_check(self, case: Case, rng: np.random.Generator) -> None:
        check_gram(case.kernel, case.draw(rng, 40))

    def test_clone_and_pickle(self, case: Case, rng: np.random.Generator) -> None:
        X = case.draw(rng, 4)
        copy = clone(case.kernel)
        assert copy is not case.kernel
        assert repr(copy) == repr(case.kernel)
        np.testing.assert_array_equal(copy(X), case.kernel(X))
        if "lambda" not in repr(case.kernel):
            np.testing.assert_array_equal(pickle.loads(pickle.dumps(case.kernel))(X), case.kernel(X))

    def test_leaves_observations_alone_and_gives_new_arrays(
        self, case: Case, rng: np.random.Generator
    ) -> None:
        X = case.draw(rng, 4)
        before = pickle.dumps(X)  # of the same sets: copies may have another order
        first = case.kernel(X)
        expected = first.copy()
        first[...] = np.nan
        case.kernel.diagonal(X)[...] = np.nan
        np.testing.assert_array_equal(case.kernel(X), expected)
        assert pickle.dumps(X) == before  # NaN included


@pytest.mark.parametrize("case", [case for case in CASES if case not in DENSE], ids=name)
def test_takes_no_observations(case: Case, rng: np.random.Generator) -> None:
    """Except for other people's functions, which may want some."""
    X = case.draw(rng, 3)
    assert case.kernel(X[:0], X).shape == (0, 3)
    assert case.kernel.diagonal(X[:0]).shape == (0,)


@pytest.mark.parametrize("case", [*ROWS, *DENSE], ids=name)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precision_is_kept(case: Case, dtype: type, rng: np.random.Generator) -> None:
    X = case.draw(rng, 9)
    single = X.astype(dtype)
    K = case.kernel(single)
    assert K.dtype == dtype
    assert case.kernel.diagonal(single).dtype == dtype
    assert case.kernel(single, X).dtype == np.float64
    assert case.kernel(X, single).dtype == np.float64
    expected = case.kernel(X)
    np.testing.assert_allclose(K, expected, rtol=2e-4, atol=1e-4 * np.abs(expected).max())


def test_numbers_of_numpy_are_numbers(rng: np.random.Generator) -> None:
    """A float64 among the parameters, from ``np.logspace`` say, must not change float32 arithmetic."""
    X = rng.normal(size=(5, 3)).astype(np.float32)
    for kernel in PRODUCTS:
        numbers = {
            key: np.float64(value) for key, value in kernel.get_params().items() if isinstance(value, float)
        }
        if numbers:
            got = clone(kernel).set_params(**numbers)(X)
            assert got.dtype == np.float32
            np.testing.assert_array_equal(got, kernel(X))


@pytest.mark.parametrize("case", ROWS, ids=name)
@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csr_array, sp.coo_matrix])
def test_sparse_is_dense(case: Case, form: type, rng: np.random.Generator) -> None:
    X, Y = case.draw(rng, 12), case.draw(rng, 8)
    for dtype in (np.float32, np.float64):
        x, y = X.astype(dtype), Y.astype(dtype)
        expected = case.kernel(x, y)
        tolerance = 2e-5 if dtype == np.float32 else 1e-12
        limits = {"rtol": tolerance, "atol": tolerance * np.abs(expected).max()}
        for got in (case.kernel(form(x), form(y)), case.kernel(form(x), y), case.kernel(x, form(y))):
            assert isinstance(got, np.ndarray)
            assert got.dtype == dtype
            np.testing.assert_allclose(got, expected, **limits)
        diagonal = case.kernel.diagonal(form(x))
        assert diagonal.dtype == dtype
        np.testing.assert_allclose(diagonal, case.kernel.diagonal(x), **limits)


@pytest.mark.parametrize("kernel", PRODUCTS, ids=name)
def test_apply_takes_blocks_of_a_larger_matrix(kernel: ProductKernel, rng: np.random.Generator) -> None:
    """As the Gram engine calls it, on views."""
    assert isinstance(kernel, ProductKernel)
    X, Y = sparse_real(rng, 9), sparse_real(rng, 7)
    products = X @ Y.T
    left, right = (X * X).sum(axis=1), (Y * Y).sum(axis=1)
    for rows in (slice(0, 4), slice(4, 9)):
        for columns in (slice(0, 3), slice(3, 7)):
            kernel.apply(products[rows, columns], left[rows], right[columns])
    np.testing.assert_allclose(products, kernel(X, Y), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kernel", PRODUCTS, ids=name)
def test_whole_numbers_are_numbers(kernel: ProductKernel, rng: np.random.Generator) -> None:
    X = rng.integers(0, 3, (5, 4))
    np.testing.assert_allclose(kernel(X), kernel(X.astype(float)))
    np.testing.assert_allclose(kernel(X.tolist()), kernel(X.astype(float)))
