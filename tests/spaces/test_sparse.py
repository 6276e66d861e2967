"""Sparse products: against SciPy, at sizes where frequent and rare features differ."""

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from kernelfields.spaces import LinearFeatures, SparseFeatures, WeightPairs
from kernelfields.structures import ChainBatch


def zipf_features(rng, rows, columns, per_row, dtype, binary=True):
    """Features of falling frequency, as words have, in shuffled order."""
    weights = 1.0 / np.arange(1, columns + 1)
    index = rng.choice(columns, size=(rows, per_row), p=weights / weights.sum())
    values = np.ones(index.size) if binary else rng.normal(size=index.size)
    matrix = sparse.csr_matrix(
        (values, rng.permutation(columns)[index.ravel()], np.arange(0, index.size + 1, per_row)),
        shape=(rows, columns),
    )
    matrix.sum_duplicates()
    return matrix.astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("n_labels", [1, 3, 8, 9, 22, 33, 70])
def test_products_are_those_of_scipy(rng, n_labels, binary, dtype):
    chain = ChainBatch([0, 3000], n_labels)
    X = zipf_features(rng, 3000, 500, 6, dtype, binary)
    space = SparseFeatures(chain, "node", X)
    assert 0 < space.pairs.frequent < 500 or n_labels == 1  # then all have a single pair
    table = rng.normal(size=(500, n_labels))
    scores = np.ones((3000, n_labels), dtype)
    space.add_scores(space.element(table), scores)
    tolerance = 1e-4 if dtype == np.float32 else 1e-10
    np.testing.assert_allclose(scores, 1 + X.astype(float) @ table, rtol=0, atol=tolerance)
    gradient = rng.normal(size=(3000, n_labels)).astype(dtype)
    back = space.table(space.adjoint(gradient))
    np.testing.assert_allclose(back, X.T.astype(float) @ gradient, rtol=0, atol=30 * tolerance)


def test_only_observed_pairs_have_weights(rng):
    chain = ChainBatch([0, 200], 4)
    X = zipf_features(rng, 200, 60, 3, np.float64)
    labels = rng.integers(4, size=200)
    pairs = WeightPairs.of(X, 4, labels)
    seen = (X.T @ np.eye(4)[labels]) > 0
    space = SparseFeatures(chain, "node", X, pairs)
    assert space.size == seen.sum()
    np.testing.assert_array_equal(space.table(np.ones(space.size)) > 0, seen)
    w = rng.normal(size=space.size)
    np.testing.assert_array_equal(space.element(space.table(w)), w)


def test_results_do_not_depend_on_threads(rng):
    chain = ChainBatch([0, 40000], 9)
    space = SparseFeatures(chain, "node", zipf_features(rng, 40000, 3000, 12, np.float32))
    gradient = rng.normal(size=(40000, 9)).astype(np.float32)
    w = rng.normal(size=space.size)
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            scores = np.zeros((40000, 9), np.float32)
            space.add_scores(w, scores)
            results.append((scores, space.adjoint(gradient)))
    for one, two in zip(*results, strict=True):
        np.testing.assert_array_equal(one, two)


def test_rows_without_features_and_features_without_rows(rng):
    chain = ChainBatch([0, 3], 2)
    X = sparse.csr_matrix(np.array([[0.0, 0, 2], [0, 0, 0], [1, 0, 0]]))
    space, plain = SparseFeatures(chain, "node", X), LinearFeatures(chain, "node", X)
    table = rng.normal(size=(3, 2))
    np.testing.assert_allclose(space.scores(space.element(table)), plain.scores(plain.element(table)))
    gradient = rng.normal(size=(3, 2))
    np.testing.assert_allclose(space.table(space.adjoint(gradient)), plain.table(plain.adjoint(gradient)))


def test_precisions_must_agree(rng):
    space = SparseFeatures(ChainBatch([0, 3], 2), "node", sparse.eye(3, format="csr", dtype=np.float32))
    with pytest.raises(TypeError, match="must be the same"):
        space.add_scores(np.zeros(6), np.zeros((3, 2)))
