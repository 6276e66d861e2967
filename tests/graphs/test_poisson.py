"""Poisson learning against a dense pseudoinverse and against random walks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from kernelfields.errors import InputError
from kernelfields.graphs import poisson

from ._dense import indicators, random_graph


def labels_of(n: int, seed: int = 3, known: int = 8) -> np.ndarray:
    rng = np.random.default_rng(seed)
    labels = np.full(n, -1)
    labels[rng.choice(n, known, replace=False)] = np.arange(known) % 3
    return labels


def dense_poisson(weights: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The solution with Σ d_i u_i = 0 on a connected graph, by a pseudoinverse."""
    weights = weights - np.diag(np.diag(weights))
    degrees, known = weights.sum(axis=1), labels >= 0
    flow = indicators(labels)
    flow[known] -= flow[known].mean(axis=0)
    u = np.linalg.pinv(np.diag(degrees) - weights) @ flow
    return u - degrees @ u / degrees.sum()


@pytest.mark.parametrize("weighted", [True, False])
def test_potentials_are_the_dense_solution(weighted) -> None:
    graph, labels = random_graph(60, 0, weighted=weighted), labels_of(60)
    found = poisson(graph, labels, tol=1e-10)
    assert found.converged
    assert found.error <= 1e-10
    np.testing.assert_allclose(found.scores, dense_poisson(graph.toarray(), labels), atol=1e-8)


def test_potentials_are_sums_over_random_walks() -> None:
    """u_T = u_{T−1} + D⁻¹(b − L u_{T−1}) counts the visits of walks from labels; its limit is u [calder2020].

    The graph has odd cycles, so that the walks converge.
    """
    graph, labels = random_graph(30, 5).toarray(), labels_of(30)
    degrees, known = graph.sum(axis=1), labels >= 0
    flow = indicators(labels)
    flow[known] -= flow[known].mean(axis=0)
    visits, total = flow.copy(), np.zeros_like(flow)
    for _ in range(5000):
        total += visits / degrees[:, None]
        visits = graph @ (visits / degrees[:, None])
    np.testing.assert_allclose(poisson(graph, labels, tol=1e-11).scores, total, atol=1e-8)


def test_components_are_solved_by_themselves() -> None:
    first, second = random_graph(25, 1), random_graph(20, 2)
    nothing = np.zeros((2, 2))  # isolated: one with a label, one without
    labels = np.concatenate([labels_of(25), labels_of(20, known=4), [1, -1]])
    whole = sparse.block_diag([first, second, nothing, random_graph(5, 4), random_graph(6, 6)], format="csr")
    labels = np.concatenate([labels, [-1] * 5, [2] + [-1] * 5])
    found = poisson(whole, labels, tol=1e-10).scores
    np.testing.assert_allclose(found[:25], dense_poisson(first.toarray(), labels[:25]), atol=1e-8)
    np.testing.assert_allclose(found[25:45], dense_poisson(second.toarray(), labels[25:45]), atol=1e-8)
    assert found[45].tolist() == [-np.inf, 0.0, -np.inf]
    assert np.isnan(found[46:52]).all()
    assert (found[52:].argmax(axis=1) == 2).all()  # the only label there is


def test_far_from_labels_potentials_differ_where_the_harmonic_solution_is_flat() -> None:
    """With three labels of one kind and one of another the harmonic solution goes with the majority."""
    from kernelfields.graphs import NeighborGraph, harmonic

    rng = np.random.default_rng(0)
    truth = np.arange(600) % 2
    points = rng.normal(size=(600, 5)) + 3.0 * truth[:, None] * np.eye(5)[0]
    graph = NeighborGraph(10).on(points).adjacency
    labels = np.full(600, -1)
    labels[[0, 2, 4]], labels[1] = 0, 1
    flat = harmonic(graph, labels).probabilities.argmax(axis=1)
    found = poisson(graph, labels).scores.argmax(axis=1)
    assert (found == truth).mean() > (flat == truth).mean() + 0.2


def test_labels_of_all_vertices_and_of_one() -> None:
    graph = random_graph(12, 3)
    every = np.arange(12) % 2
    np.testing.assert_allclose(
        poisson(graph, every, tol=1e-10).scores, dense_poisson(graph.toarray(), every), atol=1e-8
    )
    one = poisson(graph, [0] + [-1] * 11)
    assert (one.scores == 0).all()
    assert one.converged
    assert poisson(np.zeros((1, 1)), [0]).scores.tolist() == [[0.0]]


def test_too_few_iterations_are_said() -> None:
    graph, labels, seen = random_graph(200, 8), labels_of(200), []
    found = poisson(graph, labels, tol=1e-10, max_iter=3, observer=seen.append)
    assert not found.converged
    assert found.iterations == seen[-1].iteration == 3
    assert found.error > 1e-10


def test_a_long_path_is_solved_though_residuals_rise_on_the_way() -> None:
    n = 400
    path = sparse.diags([np.ones(n - 1), np.ones(n - 1)], [1, -1], format="csr")
    labels = np.full(n, -1)
    labels[[30, 200, 371]] = 0, 1, 0
    found = poisson(path, labels, tol=1e-8)
    assert found.converged
    np.testing.assert_allclose(found.scores, dense_poisson(path.toarray(), labels), atol=1e-4)


@pytest.mark.parametrize(
    ("adjacency", "labels", "message"),
    [
        ([[0, 1], [0, 0]], [0, 1], "needs an undirected graph; the weights are not symmetric"),
        ([[0, -1], [-1, 0]], [0, 1], "negative weight in row 0"),
        (np.eye(2), [-1, -1], "None of the 2 vertices has a label"),
        (np.eye(2), [0], "2 vertices, but there are 1 labels"),
    ],
)
def test_bad_input_is_refused(adjacency, labels, message) -> None:
    with pytest.raises(InputError, match=message):
        poisson(adjacency, labels)
