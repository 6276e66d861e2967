"""Approximate neighbours against exact ones."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial import cKDTree

from kernelfields.errors import InputError
from kernelfields.graphs import NeighborGraph
from kernelfields.graphs import approximate_neighbors as module
from kernelfields.graphs.approximate_neighbors import nearly_nearest

N, K = 3000, 8


def clouds(n: int = N, D: int = 12, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, D)) + 2 * rng.integers(3, size=(n, 1))


def exact(X: Any, k: int) -> tuple[Any, Any]:
    distance, vertex = cKDTree(X).query(X, k + 1)
    return distance[:, 1:], vertex[:, 1:]


@pytest.mark.parametrize("recall", [0.7, 0.95, 1.0])
def test_as_many_of_the_true_neighbours_are_found_as_asked_for(recall: float) -> None:
    pytest.importorskip("faiss")
    X = clouds()
    found = nearly_nearest(X, K, recall)
    assert (np.diff(found.first) == K).all()
    vertex = found.vertex.reshape(N, K)
    assert all(len({i, *row}) == K + 1 for i, row in enumerate(vertex.tolist()))
    _, true = exact(X, K)
    share = np.mean([len(set(a) & set(b)) / K for a, b in zip(vertex.tolist(), true.tolist(), strict=True)])
    assert share >= recall - 0.03  # it is measured on a sample
    np.testing.assert_allclose(
        found.distance.reshape(N, K), np.linalg.norm(X[:, None] - X[vertex], axis=2), rtol=1e-12
    )


@pytest.mark.parametrize("settings", [{}, {"metric": "cosine"}, {"weights": "local", "symmetrise": "mutual"}])
def test_graphs_with_all_neighbours_are_the_exact_ones(settings: dict[str, Any]) -> None:
    pytest.importorskip("faiss")
    X = clouds(D=4)
    graph = NeighborGraph(K, method="approximate", recall=1.0, **settings).on(X)
    wanted = NeighborGraph(K, **settings).on(X)
    apart = graph.adjacency - wanted.adjacency
    assert np.abs(apart).sum() <= 0.01 * wanted.adjacency.sum()
    again = NeighborGraph(K, method="approximate", recall=1.0, **settings).on(X)
    assert (graph.adjacency != again.adjacency).nnz == 0


def test_what_single_precision_cannot_tell_apart_is_sought_exactly() -> None:
    pytest.importorskip("faiss")
    X = clouds(D=3)
    X[0] = 1e12  # beside it all others are one point in single precision
    found = nearly_nearest(X, 3, 0.95)
    distance, _ = exact(X[1:], 3)
    np.testing.assert_allclose(np.sort(found.distance.reshape(N, 3)[1:]), distance, rtol=1e-6)


def test_points_that_are_equal_in_single_precision_have_k_others(monkeypatch: Any) -> None:
    """A point need not be among its own nearest then."""
    pytest.importorskip("faiss")
    X = np.repeat(clouds(n=300, D=3), 10, axis=0)
    X += 1e-12 * np.arange(len(X))[:, None]
    monkeypatch.setattr(module, "nearest", _never_for_all(module.nearest))
    found = nearly_nearest(X, 3, 0.0)
    vertex = found.vertex.reshape(N, 3)
    assert all(len({i, *row}) == 4 for i, row in enumerate(vertex.tolist()))


def _never_for_all(nearest: Any) -> Any:
    def only_for_samples(vertices: Any, points: Any, k: int) -> Any:
        assert points is not None
        return nearest(vertices, points, k)

    return only_for_samples


@pytest.mark.parametrize(("n", "k"), [(1, 3), (2, 1), (50, 60), (300, 299), (300, 140)])
def test_few_vertices_and_many_neighbours(n: int, k: int, monkeypatch: Any) -> None:
    pytest.importorskip("faiss")
    monkeypatch.setattr(module, "FEW", 100)
    X = clouds(n, 2)
    graph = NeighborGraph(k, method="approximate").on(X)
    wanted = NeighborGraph(k).on(X)
    assert graph.adjacency.nnz >= 0.9 * wanted.adjacency.nnz
    assert (graph.adjacency != wanted.adjacency).nnz <= 0.1 * wanted.adjacency.nnz


def test_refusals(monkeypatch: Any) -> None:
    X = clouds(20)
    with pytest.raises(InputError, match='"approximate"; with a radius the search must be "exact"'):
        NeighborGraph(radius=1.0, method="approximate").on(X)
    with pytest.raises(InputError, match="method of NeighborGraph='lsh' is not known"):
        NeighborGraph(method="lsh").on(X)
    with pytest.raises(InputError, match=r"recall of NeighborGraph is 1.5"):
        NeighborGraph(method="approximate", recall=1.5).on(X)
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(InputError, match=r"faiss, which is not installed: pip install 'kernelfields\[neigh"):
        NeighborGraph(method="approximate").on(X)


def test_sparse_observations_are_refused() -> None:
    pytest.importorskip("faiss")
    with pytest.raises(InputError, match="takes dense observations; these are sparse"):
        NeighborGraph(method="approximate").on(sparse.csr_matrix(clouds(20)))
