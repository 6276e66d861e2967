"""Observations that repeat."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from kernelfields import observations as module
from kernelfields.gram import CollapsedGram, PackedGram, gram_of, unique_observations
from kernelfields.kernels import Linear

from ._data import KERNELS, assert_close, dense, observations, plain


@pytest.mark.parametrize("kind", ["dense", "binary", "real"])
def test_rows(kind, rng) -> None:
    X = observations(kind, rng, 50)
    X = X[np.concatenate([np.arange(50), rng.integers(50, size=100)])]
    found = unique_observations(X)
    wanted, first = np.unique(dense(X), axis=0, return_index=True)
    assert found.observations.shape[0] == len(wanted)
    np.testing.assert_array_equal(dense(found.observations), dense(X)[np.sort(first)])
    np.testing.assert_array_equal(dense(found.observations)[found.inverse], dense(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, bool])
def test_types(dtype) -> None:
    X = np.array([[1, 0], [0, 1], [1, 0], [0, 0]], dtype=dtype)
    found = unique_observations(X)
    assert found.observations.dtype == dtype
    assert found.inverse.tolist() == [0, 1, 0, 2]
    assert unique_observations(sparse.csr_matrix(X)).inverse.tolist() == [0, 1, 0, 2]


def test_zeros_of_either_sign_and_stored_zeros() -> None:
    assert unique_observations(np.array([[0.0], [-0.0]])).inverse.tolist() == [0, 0]
    X = sparse.csr_matrix((np.array([1.0, 0.0, 1.0]), np.array([0, 1, 0]), np.array([0, 2, 3])), (2, 2))
    assert unique_observations(X).inverse.tolist() == [0, 0]
    assert X.nnz == 3


def test_objects() -> None:
    assert unique_observations(["ab", "c", "ab"]).observations == ["ab", "c"]
    assert unique_observations(["ab", "c", "ab"]).inverse.tolist() == [0, 1, 0]
    strings = unique_observations(np.array(["x", "y", "y"]))
    assert strings.observations.tolist() == ["x", "y"]
    assert unique_observations([[1], [1]]).inverse.tolist() == [0, 1]  # lists cannot be hashed
    assert unique_observations([]).inverse.tolist() == []


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_equal_hashes_of_different_rows(form, monkeypatch) -> None:
    for name in ("_hashes_of_dense", "_hashes_of_sparse"):
        monkeypatch.setattr(module, name, lambda X: np.zeros(X.shape[0], dtype=np.uint64))
    found = unique_observations(form(np.array([[2.0, 1.0], [0.0, 3.0], [2.0, 1.0]])))
    assert found.inverse.tolist() == [0, 1, 0]
    assert dense(found.observations).tolist() == [[2, 1], [0, 3]]


def test_rows_that_are_permutations_of_each_other_differ(rng) -> None:
    X = np.array([rng.permutation(6) for _ in range(200)], dtype=float)
    assert len(set(module._hashes_of_dense(X).tolist())) == len(np.unique(X, axis=0))
    S = sparse.csr_matrix(X)
    assert len(set(module._hashes_of_sparse(S).tolist())) == len(np.unique(X, axis=0))


@pytest.mark.parametrize("kind", ["dense", "binary", "real"])
@pytest.mark.parametrize("memory_limit", [None, 0])
def test_collapsed_equals_not_collapsed(kind, memory_limit, rng) -> None:
    X = observations(kind, rng, 60)[rng.integers(60, size=400)]
    gram = gram_of(KERNELS["rbf"], X, memory_limit=memory_limit)
    assert isinstance(gram, CollapsedGram)
    assert gram.inner.size <= 60
    assert gram.size == 400
    K = plain("rbf", X)
    A = rng.normal(size=(400, 3))
    assert_close(gram.times(A), K @ A, np.float64)
    assert gram.times(A.astype(np.float32)).dtype == np.float32
    assert_close(gram.diagonal, K.diagonal(), np.float64)
    rows, columns = rng.permutation(400)[:100], rng.permutation(400)[:200]
    assert_close(gram.block(rows, columns), K[np.ix_(rows, columns)], np.float64)
    assert_close(gram.cross(rows, columns, A[:200]), K[np.ix_(rows, columns)] @ A[:200], np.float64)
    part = gram.take(rows[:20])
    assert part.inner.size <= 20
    assert_close(part.times(A[:20]), K[np.ix_(rows[:20], rows[:20])] @ A[:20], np.float64)


def test_without_repetition_there_is_nothing_to_collapse(rng) -> None:
    assert isinstance(gram_of(Linear(), rng.normal(size=(9, 2))), PackedGram)
