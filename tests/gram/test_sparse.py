"""Sparse inner products against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from kernelfields.gram import KernelBlocks
from kernelfields.kernels import Linear

from ._data import observations


def products(X, Y, dtype=np.float64, row=0, column=0, shape=None) -> np.ndarray:
    blocks = KernelBlocks(Linear(), X, Y, np.dtype(dtype))
    out = np.full(shape or blocks.shape, np.nan, dtype=dtype)
    blocks.fill(out, row, column)
    return out


def reference(X, Y) -> np.ndarray:
    return np.asarray((sparse.csr_matrix(X) @ sparse.csr_matrix(Y).T).todense())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 63, 511, 512, 513, 1100])
def test_binary_counts_are_exact(n, dtype, rng) -> None:
    X, Y = observations("binary", rng, 70), observations("binary", rng, n)
    np.testing.assert_array_equal(products(X, Y, dtype), reference(X, Y))


@pytest.mark.parametrize("n", [1, 513, 1100])
def test_real_values(n, rng) -> None:
    X, Y = observations("real", rng, 70), observations("real", rng, n)
    np.testing.assert_allclose(products(X, Y), reference(X, Y), rtol=1e-12, atol=1e-12)
    mixed = observations("binary", rng, n)
    np.testing.assert_allclose(products(X, mixed), reference(X, mixed), rtol=1e-12, atol=1e-12)


def test_any_window(rng) -> None:
    X, Y = observations("binary", rng, 40), observations("binary", rng, 1700)
    whole = reference(X, Y)
    for column, width in ((0, 1700), (1, 600), (511, 2), (512, 512), (700, 1000), (1699, 1)):
        found = products(X, Y, row=3, column=column, shape=(20, width))
        np.testing.assert_array_equal(found, whole[3:23, column : column + width])


@pytest.mark.parametrize("features", [7, 8, 9, 247, 248, 249, 255, 256, 300, 600])
def test_many_frequent_features_in_a_row(features) -> None:
    """More than eight bit planes can count, and numbers around that."""
    X = sparse.csr_matrix(np.ones((5, features)))
    X = sparse.vstack([X, sparse.csr_matrix(np.tri(5, features))]).tocsr()
    np.testing.assert_array_equal(products(X, X), reference(X, X))


def test_more_frequent_features_than_are_kept_in_tiles(rng) -> None:
    X = sparse.csr_matrix(rng.random((40, 5000)) < 0.2, dtype=float)
    np.testing.assert_array_equal(products(X, X), reference(X, X))
    Z = X.multiply(rng.normal(size=X.shape)).tocsr()
    np.testing.assert_allclose(products(Z, Z), reference(Z, Z), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_kernels_on_their_own(dtype, rng) -> None:
    for kind in ("binary", "real"):
        X, Y = observations(kind, rng, 30).astype(dtype), observations(kind, rng, 600).astype(dtype)
        found = Linear().block(X, Y)
        assert found.dtype == (np.float32 if dtype == np.float32 else np.float64)
        np.testing.assert_allclose(found, reference(X, Y), rtol=1e-5, atol=1e-5)


def test_nothing_at_all() -> None:
    X = sparse.csr_matrix((3, 4))
    np.testing.assert_array_equal(products(X, X), np.zeros((3, 3)))
    np.testing.assert_array_equal(
        products(sparse.csr_matrix((2, 0)), sparse.csr_matrix((3, 0))), np.zeros((2, 3))
    )


def test_other_formats_and_entries_given_twice() -> None:
    X = sparse.csr_matrix(
        (np.ones(4), np.array([2, 0, 2, 1], dtype=np.int64), np.array([0, 3, 4], dtype=np.int64)), (2, 3)
    )
    wanted = X.toarray() @ X.toarray().T  # 2 and 1 in the first row: not binary
    for form in (X, X.tocoo(), X.tocsc(), sparse.csr_array(X), X.astype(np.float32), X.toarray()):
        np.testing.assert_array_equal(products(form, X), wanted)
    assert not X.has_canonical_format, "The caller's matrix has been changed."
    bits = sparse.csr_matrix(np.array([[True, False], [True, True]]))
    np.testing.assert_array_equal(products(bits, bits), [[1, 1], [1, 2]])
