"""Features averaged over neighbours, against dense matrices."""

import numpy as np
import pytest
from scipy import sparse

from kernelfields.errors import InputError
from kernelfields.features import diffused, neighbour_averages

EDGES = np.array([[0, 1], [1, 2], [2, 0], [3, 2], [2, 3]])


def averaging(n=5):
    A = np.zeros((n, n))
    A[EDGES[:, 0], EDGES[:, 1]] = A[EDGES[:, 1], EDGES[:, 0]] = 1.0
    A += np.eye(n)
    return A / np.sqrt(np.outer(A.sum(axis=0), A.sum(axis=0)))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_they_are_powers_of_the_averaging_matrix(form, rng):
    X, S = rng.normal(size=(5, 3)), averaging()
    for k, found in enumerate(neighbour_averages(form(X), EDGES, 3)):
        dense = found.toarray() if sparse.issparse(found) else found
        np.testing.assert_allclose(dense, np.linalg.matrix_power(S, k) @ X, atol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_diffusion_is_a_sum_over_walks(form, rng):
    X, S, r = rng.normal(size=(5, 3)), averaging(), 0.3
    walks = [r * (1 - r) ** k * np.linalg.matrix_power(S, k) for k in range(4)]
    wanted = (sum(walks) + (1 - r) ** 4 * np.linalg.matrix_power(S, 4)) @ X
    found = diffused(form(X), EDGES, r, 4)
    np.testing.assert_allclose(found.toarray() if sparse.issparse(found) else found, wanted, atol=1e-12)


def test_vertices_without_edges_stay_as_they_are(rng):
    X = rng.normal(size=(3, 2))
    np.testing.assert_allclose(neighbour_averages(X, [], 1)[1], X)


@pytest.mark.parametrize("edges", [[[0, 9]], [[1, 1]], [[-1, 0]]])
def test_edges_that_are_none_are_refused(edges):
    with pytest.raises(InputError, match=r"Edge 0 joins .* two different vertices below 5"):
        neighbour_averages(np.ones((5, 1)), edges)


def test_other_shapes_are_refused():
    with pytest.raises(InputError, match="expected pairs of vertices"):
        diffused(np.ones((5, 1)), [[0.5, 1.0]])
    with pytest.raises(InputError, match="expected a matrix of numbers"):
        diffused(np.ones(5), [[0, 1]])
