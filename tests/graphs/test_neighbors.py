"""Nearest neighbours by a tree, against all distances in order."""

from __future__ import annotations

import numpy as np
import pytest

from kernelfields import native
from kernelfields.graphs import NeighborGraph, neighbors


def by_all_distances(vertices, points, k):
    """Sort every distance, equal ones by number."""
    others = vertices if points is None else points
    squared = np.zeros((len(others), len(vertices)))
    for d in range(vertices.shape[1]):
        squared += (others[:, d, None] - vertices[None, :, d]) ** 2
    if points is None:
        np.fill_diagonal(squared, np.inf)
    found = np.argsort(squared, axis=1, kind="stable")[:, :k]
    return found, np.sqrt(np.take_along_axis(squared, found, axis=1))


def clouds(kind, n, width):
    rng = np.random.default_rng(n + width)
    if kind == "grid":  # nearly all distances are there several times
        return rng.integers(0, 4, size=(n, width)).astype(float)
    if kind == "line":  # all but one side of every box is a point
        return np.column_stack([rng.normal(size=n), *np.ones((width - 1, n))])
    if kind == "scales":
        return rng.normal(size=(n, width)) * 10.0 ** rng.integers(-8, 8, size=(n, 1))
    return rng.normal(size=(n, width))


@pytest.mark.parametrize("kind", ["normal", "grid", "line", "scales"])
@pytest.mark.parametrize(
    ("n", "width", "k"), [(2, 1, 1), (17, 2, 3), (16, 3, 15), (700, 3, 10), (400, 12, 64)]
)
def test_a_tree_finds_what_all_distances_say(kind, n, width, k) -> None:
    vertices = clouds(kind, n, width)
    for points in (None, clouds(kind, 40, width), vertices[:5]):
        expected, far = by_all_distances(vertices, points, k)
        found, distance = native.nearest_among(vertices, points, k)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_allclose(distance, far, rtol=1e-12)


def test_many_points_on_several_threads_are_found_as_on_one() -> None:
    points = clouds("normal", 30_000, 3)
    found, distance = native.nearest_among(points, None, 5)
    some = np.arange(0, len(points), 997)
    squared = ((points[some, None] - points[None]) ** 2).sum(axis=2)
    squared[np.arange(len(some)), some] = np.inf
    expected = np.argsort(squared, axis=1)[:, :5]
    np.testing.assert_array_equal(found[some], expected)
    assert (np.diff(distance, axis=1) >= 0).all()


@pytest.mark.parametrize(
    ("points", "others", "k"),
    [
        (np.zeros((0, 2)), None, 1),
        (np.zeros((3, 0)), None, 1),
        (np.zeros((3, 2)), None, 3),
        (np.zeros((3, 2)), None, 0),
        (np.zeros((3, 2)), np.zeros((1, 3)), 1),
        (np.zeros((3, 2)), np.zeros((1, 2)), 4),
        (np.zeros(3), None, 1),
    ],
)
def test_the_core_checks_what_it_is_given(points, others, k) -> None:
    with pytest.raises(ValueError, match="must"):
        native.nearest_among(points, others, k)


def test_numbers_too_large_to_square_are_found_in_order() -> None:
    points = np.array([[1e200], [-1e200], [0.0]])
    found, distance = native.nearest_among(points, None, 2)
    assert found.tolist() == [[1, 2], [0, 2], [0, 1]]
    assert np.isinf(distance).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_both_ways_to_search_make_one_graph(monkeypatch, dtype) -> None:
    points = clouds("normal", 300, 4).astype(dtype)
    ours = NeighborGraph(7, weights="local").on(points)
    links = NeighborGraph(7).links(points[:9] + 0.1, points, None)
    monkeypatch.setattr(neighbors, "FLAT", 0)
    theirs = NeighborGraph(7, weights="local").on(points)
    np.testing.assert_array_equal(ours.adjacency.indices, theirs.adjacency.indices)
    np.testing.assert_allclose(ours.adjacency.data, theirs.adjacency.data, rtol=1e-6)
    assert (links != NeighborGraph(7).links(points[:9] + 0.1, points, None)).nnz == 0
