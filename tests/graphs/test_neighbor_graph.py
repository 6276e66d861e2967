"""Neighbour graphs against brute force over all pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from kernelfields.errors import InputError
from kernelfields.graphs import NeighborGraph, PrecomputedGraph


def points(n: int, seed: int = 0, D: int = 3) -> Any:
    return np.random.default_rng(seed).normal(size=(n, D))


def brute(X: Any, k: int, symmetrise: str) -> Any:
    """Whether i chose j, pair by pair; then one side or both."""
    distances = np.array([[np.linalg.norm(x - y) for y in X] for x in X])
    np.fill_diagonal(distances, np.inf)
    chosen = np.zeros((len(X), len(X)), dtype=bool)
    for i, row in enumerate(distances):
        chosen[i, np.argsort(row)[:k]] = True
    np.fill_diagonal(chosen, False)
    return chosen | chosen.T if symmetrise == "union" else chosen & chosen.T


@pytest.mark.parametrize("symmetrise", ["union", "mutual"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, lambda X: X.astype(np.float32)])
def test_edges_are_those_of_brute_force(symmetrise: str, form: Any) -> None:
    X = points(40).astype(np.float32).astype(float)
    found = NeighborGraph(4, symmetrise=symmetrise).on(form(X))
    np.testing.assert_array_equal(found.adjacency.toarray(), brute(X, 4, symmetrise))


def test_radius() -> None:
    X = points(30)
    distances = np.linalg.norm(X[:, None] - X[None], axis=-1)
    found = NeighborGraph(radius=1.0).on(X)
    np.testing.assert_array_equal(found.adjacency.toarray(), (distances <= 1.0) & (distances > 0))


def test_weights_are_their_formulas() -> None:
    X = points(25)
    distances = np.linalg.norm(X[:, None] - X[None], axis=-1)
    edges = brute(X, 3, "union")
    found = NeighborGraph(3, weights="rbf", gamma=0.7).on(X)
    np.testing.assert_allclose(found.adjacency.toarray(), edges * np.exp(-0.7 * distances**2), rtol=1e-12)
    scales = np.sort(distances, axis=1)[:, 3]
    wanted = edges * np.exp(-(distances**2) / np.outer(scales, scales))
    found = NeighborGraph(3, weights="local").on(X)
    np.testing.assert_allclose(found.adjacency.toarray(), wanted, rtol=1e-12)
    np.testing.assert_allclose(found.scales, scales)
    nearest = np.sort(distances, axis=1)[:, 1:4]
    found = NeighborGraph(3, weights="rbf").on(X)
    assert found.gamma == pytest.approx(1 / np.mean(nearest**2))


def test_cosine_ignores_lengths() -> None:
    X = points(20)
    longer = X * np.linspace(1, 9, 20)[:, None]
    a, b = (NeighborGraph(3, metric="cosine").on(Z).adjacency.toarray() for Z in (X, longer))
    np.testing.assert_array_equal(a, b)
    assert (NeighborGraph(3).on(longer).adjacency.toarray() != a).any()


def test_equal_observations_are_one_vertex() -> None:
    X = points(8)
    found = NeighborGraph(2).on(X[[0, 1, 0, 2, 3, 4, 5, 6, 7, 0]])
    assert found.size == 8
    assert found.inverse.tolist() == [0, 1, 0, 2, 3, 4, 5, 6, 7, 0]
    np.testing.assert_array_equal(found.adjacency.toarray(), NeighborGraph(2).on(X).adjacency.toarray())
    assert NeighborGraph(2).on(np.zeros((5, 2))).size == 1


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_few_vertices(form: Any) -> None:
    one = NeighborGraph().on(form(np.array([[1.0, 2.0]])))
    assert (one.size, one.n_components, one.n_isolated) == (1, 1, 1)
    every = NeighborGraph(n_neighbors=10).on(form(points(4)))
    np.testing.assert_array_equal(every.adjacency.toarray(), 1 - np.eye(4))
    none = NeighborGraph().on(form(np.empty((0, 3))))
    assert (none.size, none.n_components) == (0, 0)


def test_components_by_size() -> None:
    X = np.array([[0.0], [50.0], [10.0], [10.1], [10.2], [20.0], [20.1]])
    found = NeighborGraph(radius=0.5).on(X)
    assert found.components.tolist() == [2, 3, 0, 0, 0, 1, 1]
    assert found.component_sizes.tolist() == [3, 2, 1, 1]
    assert found.n_isolated == 2


def test_weights_of_zero_are_no_edges() -> None:
    found = NeighborGraph(1, weights="rbf", gamma=1.0).on([[0.0], [0.1], [1e6]])
    assert found.n_isolated == 1


def test_links_of_vertices_removed_are_their_edges() -> None:
    """A point that chooses its neighbours among the others has the weights that it would have as a vertex."""
    X = points(30)
    for settings in (NeighborGraph(4), NeighborGraph(4, weights="rbf", gamma=0.3), NeighborGraph(radius=1.2)):
        links = settings.links(X[20:], X[:20], None).toarray()
        distances = np.linalg.norm(X[20:, None] - X[None, :20], axis=-1)
        rank = np.argsort(np.argsort(distances, axis=1), axis=1)
        chosen = distances <= settings.radius if settings.radius else rank < 4
        weight = np.exp(-0.3 * distances**2) if settings.gamma else 1.0
        np.testing.assert_allclose(links, chosen * weight, rtol=1e-12)


def test_observations_are_found_among_vertices() -> None:
    X = points(10)
    assert NeighborGraph().found(X[[3, 9]], X).tolist() == [3, 9]
    assert NeighborGraph().found(sparse.csr_matrix(X[[3]] + 1), X).tolist() == [-1]
    assert NeighborGraph().found(X[[3]].astype(np.float64), X.astype(np.float32)).tolist() == [3]


def test_precomputed() -> None:
    W = brute(points(12), 2, "union").astype(float)
    graph = PrecomputedGraph(sparse.coo_array(W + 5 * np.eye(12)))
    found = graph.on(np.array([[3.0], [1.0]]))
    np.testing.assert_array_equal(found.adjacency.toarray(), W)
    assert found.inverse.tolist() == [3, 1]
    assert clone(graph).adjacency is graph.adjacency


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"n_neighbors": 0}, "n_neighbors of NeighborGraph is 0"),
        ({"n_neighbors": 2.5}, "n_neighbors of NeighborGraph is 2.5"),
        ({"radius": -1.0}, "radius of NeighborGraph is -1.0"),
        ({"weights": "heat"}, "weights of NeighborGraph='heat' is not known"),
        ({"symmetrise": None}, "symmetrise of NeighborGraph=None is not known"),
        ({"metric": "l1"}, "metric of NeighborGraph='l1' is not known"),
        ({"gamma": 0.0}, "gamma of NeighborGraph is 0.0"),
    ],
)
def test_refusals_name_the_value(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        NeighborGraph(**settings).on(points(4))


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([[0.0, np.nan]], "Observation 0 has the entry nan"),
        (sparse.csr_matrix([[0.0, 1.0], [np.inf, 0.0]]), "Observation 1 has the entry inf"),
        ([1.0, 2.0], r"shape \(2,\)"),
        (np.array([["a"]]), "rows of numbers"),
    ],
)
def test_observations_that_cannot_be(X: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        NeighborGraph().on(X)


@pytest.mark.parametrize(
    ("W", "words"),
    [
        (np.ones((2, 3)), r"shape \(2, 3\)"),
        ([[0, -1.0], [-1.0, 0]], r"-1.0 at \(0, 1\)"),
        ([[0, 1.0], [2.0, 0]], r"1.0 at \(0, 1\), 2.0 at \(1, 0\)"),
        ([[0, np.nan], [np.nan, 0]], r"nan at \(0, 1\)"),
    ],
)
def test_adjacencies_that_cannot_be(W: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        PrecomputedGraph(W).on([0])


def test_numbers_that_are_no_vertices() -> None:
    graph = PrecomputedGraph(np.zeros((3, 3)))
    with pytest.raises(InputError, match="Observation 1 is 3, not the number of a vertex, 0 to 2"):
        graph.on([0, 3])
