"""Laplacians and their lowest eigenpairs against explicit dense matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csgraph

from kernelfields.errors import InputError
from kernelfields.graphs import NeighborGraph, PrecomputedGraph, SparseGraph, laplacian, lowest_eigenpairs


def clustered(n: int, parts: int, seed: int = 0) -> SparseGraph:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) + 100 * (np.arange(n) % parts)[:, None]
    return NeighborGraph(5, weights="local").on(X)


@pytest.mark.parametrize("normalised", [True, False])
def test_laplacian_is_that_of_scipy(normalised: bool) -> None:
    graph = NeighborGraph(radius=0.6, weights="rbf").on(np.random.default_rng(3).normal(size=(40, 2)))
    assert graph.n_isolated > 0
    wanted = csgraph.laplacian(graph.adjacency.toarray(), normed=normalised)
    found = laplacian(graph, normalised)
    np.testing.assert_allclose(found.matrix().toarray(), wanted, atol=1e-12)
    assert found.upper >= np.linalg.eigvalsh(wanted)[-1] - 1e-12
    null = found.null_vectors(graph.n_components)
    np.testing.assert_allclose(wanted @ null, 0, atol=1e-12)
    np.testing.assert_allclose(null.T @ null, np.eye(graph.n_components), atol=1e-12)


@pytest.mark.parametrize("normalised", [True, False])
@pytest.mark.parametrize(
    ("n", "parts", "number"), [(60, 1, 10), (60, 3, 60), (1100, 1, 30), (1100, 12, 25), (200, 2, 100)]
)
def test_pairs_are_those_of_the_dense_matrix(n: int, parts: int, number: int, normalised: bool) -> None:
    found_in = laplacian(clustered(n, parts), normalised)
    matrix = found_in.matrix().toarray()
    found = lowest_eigenpairs(found_in, number, tolerance=1e-9)
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(matrix)[:number], atol=1e-8)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(number), atol=1e-8)
    difference = matrix @ found.vectors - found.vectors * found.values
    assert np.linalg.norm(difference, axis=0).max() == pytest.approx(found.residual, abs=1e-12)
    assert found.residual <= 1e-9 * found_in.upper


def test_every_component_has_a_zero() -> None:
    found = lowest_eigenpairs(laplacian(clustered(90, 3)), 5)
    assert (found.values[:3] == 0).all()
    assert found.values[3] > 1e-3


def test_more_components_than_pairs() -> None:
    graph = PrecomputedGraph(np.zeros((5, 5))).on([0])
    found = lowest_eigenpairs(laplacian(graph), 3)
    assert found.values.tolist() == [0, 0, 0]
    assert found.residual == 0
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(3))


def test_fewer_vertices_than_pairs() -> None:
    found = lowest_eigenpairs(laplacian(NeighborGraph().on([[0.0], [1.0]])), 200)
    np.testing.assert_allclose(found.values, [0, 2])
    one = lowest_eigenpairs(laplacian(NeighborGraph().on([[0.0]])), 7)
    assert one.values.tolist() == [0]
    assert one.vectors.tolist() == [[1.0]]


def test_equal_eigenvalues_are_all_found() -> None:
    """Equal rings have equal spectra, every eigenvalue but two twice each."""
    n, copies = 300, 4
    ring = np.roll(np.eye(n), 1, axis=1)
    W = np.kron(np.eye(copies), ring + ring.T)
    found = lowest_eigenpairs(laplacian(PrecomputedGraph(W).on([0])), 20, tolerance=1e-8)
    wanted = np.sort(np.tile(1 - np.cos(2 * np.pi * np.arange(n) / n), copies))[:20]
    np.testing.assert_allclose(found.values, wanted, atol=1e-8)


@pytest.mark.parametrize(
    ("arguments", "words"), [((0,), "n_eigenpairs is 0"), ((3, 0.0), "tolerance is 0.0")]
)
def test_refusals_name_the_value(arguments: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        lowest_eigenpairs(laplacian(clustered(10, 1)), *arguments)


def test_a_complete_graph_has_one_eigenvalue_besides_zero() -> None:
    """Every image of the filter lies in the basis: new directions have to be drawn."""
    n = 1100
    graph = NeighborGraph(n_neighbors=5000).on(np.random.default_rng(0).normal(size=(n, 2)))
    found = lowest_eigenpairs(laplacian(graph), 12)
    np.testing.assert_allclose(found.values[1:], n / (n - 1), atol=1e-9)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(12), atol=1e-8)


def test_eigenvalues_with_more_copies_than_a_block_has_vectors() -> None:
    """Lanczos sees no more copies of an eigenvalue than its block has columns; the check afterwards does."""
    n, copies = 40, 30
    path = np.eye(n, k=1) + np.eye(n, k=-1)
    graph = PrecomputedGraph(np.kron(np.eye(copies), path)).on([0])
    found = lowest_eigenpairs(laplacian(graph), 80)
    wanted = np.sort(np.tile(1 - np.cos(np.pi * np.arange(n) / (n - 1)), copies))[:80]
    np.testing.assert_allclose(found.values, wanted, atol=1e-6)
