"""Label spreading and the harmonic solution against dense solvers and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.semi_supervised import LabelPropagation, LabelSpreading

from kernelfields.errors import InputError
from kernelfields.graphs import averages, harmonic, spread

from ._dense import dense_harmonic, dense_spread, random_graph

KINDS = ["undirected", "directed"]


def labels_of(n: int, seed: int = 3, known: int = 8) -> np.ndarray:
    rng = np.random.default_rng(seed)
    labels = np.full(n, -1)
    labels[rng.choice(n, known, replace=False)] = np.arange(known) % 3
    return labels


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.8, 0.99])
def test_spreading_is_the_dense_solution(kind, alpha) -> None:
    graph, labels = random_graph(60, 0, directed=kind == "directed"), labels_of(60)
    found = spread(graph, labels, alpha=alpha, tol=1e-9, max_iter=10000)
    assert found.converged
    assert found.error <= 1e-9
    expected = dense_spread(graph.toarray(), labels, alpha)
    assert np.abs(found.probabilities - expected).sum(axis=1).max() <= 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_the_harmonic_solution_is_the_dense_one(kind) -> None:
    graph, labels = random_graph(60, 1, directed=kind == "directed"), labels_of(60)
    found = harmonic(graph, labels, tol=1e-9)
    assert found.converged
    assert np.abs(found.probabilities - dense_harmonic(graph.toarray(), labels)).sum(axis=1).max() <= 1e-8


@pytest.mark.parametrize("solve", [spread, harmonic])
@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
def test_certified_errors_hold(solve, tol) -> None:
    graph, labels = random_graph(300, 2), labels_of(300)
    settings = {"alpha": 0.95} if solve is spread else {}
    found = solve(graph, labels, tol=tol, **settings)
    exact = (
        dense_spread(graph.toarray(), labels, 0.95)
        if solve is spread
        else dense_harmonic(graph.toarray(), labels)
    )
    assert np.abs(found.probabilities - exact).sum(axis=1).max() <= found.error <= tol


@pytest.mark.parametrize("kind", KINDS)
def test_spreading_is_what_scikit_learn_converges_to(kind) -> None:
    graph, labels = random_graph(80, 4, directed=kind == "directed"), labels_of(80)
    X = np.arange(80.0)[:, None]
    rival = LabelSpreading(kernel=lambda *_: graph.copy(), alpha=0.7, tol=1e-12, max_iter=1000).fit(X, labels)
    found = spread(graph, labels, alpha=0.7, tol=1e-10)
    np.testing.assert_allclose(found.probabilities, rival.label_distributions_, atol=1e-9)


def test_the_harmonic_solution_is_what_scikit_learn_converges_to() -> None:
    graph, labels = random_graph(40, 5), labels_of(40)
    X = np.arange(40.0)[:, None]
    rival = LabelPropagation(kernel=lambda *_: graph.toarray(), tol=1e-13, max_iter=100_000).fit(X, labels)
    found = harmonic(graph, labels, tol=1e-10)
    np.testing.assert_allclose(found.probabilities, rival.label_distributions_, atol=1e-9)


@pytest.mark.parametrize("alpha", [0.2, 0.9])
def test_vertices_far_from_all_labels_get_right_probabilities(alpha) -> None:
    """On a path values fall to 10⁻⁶⁰, below what conjugate gradients resolve, and none is negative."""
    n = 200
    path = sparse.diags([np.ones(n - 1), np.ones(n - 1)], [1, -1], format="csr")
    labels = np.full(n, -1)
    labels[[0, 60]] = 0, 1
    found = spread(path, labels, alpha=alpha, tol=1e-6, max_iter=5000)
    assert found.converged
    # beyond the last label both masses fall by the same factor per step, the root of x = α(1 + x²)/2
    factor = (1 - np.sqrt(1 - alpha**2)) / alpha
    share = found.probabilities[100, 0] / found.probabilities[100, 1]
    assert share == pytest.approx(found.probabilities[61, 0] / found.probabilities[61, 1], rel=1e-5)
    assert share < factor**50
    assert (found.probabilities >= 0).all()
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1)


@pytest.mark.parametrize("solve", [spread, harmonic])
def test_vertices_that_no_label_reaches_have_no_probabilities(solve) -> None:
    graph = sparse.block_diag([random_graph(10, 0), random_graph(7, 1), np.zeros((2, 2))], format="csr")
    labels = np.full(19, -1)
    labels[[0, 5]] = 0, 1
    found = solve(graph, labels)
    assert np.isnan(found.probabilities[10:]).all()
    assert np.isfinite(found.probabilities[:10]).all()
    assert found.converged


@pytest.mark.parametrize("solve", [spread, harmonic])
def test_labels_travel_against_the_direction_of_edges(solve) -> None:
    listens = np.array([[0, 1, 0], [0, 0, 0], [0, 1, 0]])  # 0 and 2 listen to 1, nobody listens to them
    assert np.isnan(solve(listens, [-1, -1, 0]).probabilities[:2]).all()
    assert (solve(listens, [-1, 0, -1]).probabilities == 1).all()


@pytest.mark.parametrize("solve", [spread, harmonic])
def test_loops_order_and_repeated_entries_change_nothing(solve) -> None:
    graph, labels = random_graph(30, 6), labels_of(30)
    expected = solve(graph, labels, tol=1e-10).probabilities
    entries = graph.tocoo()
    order = np.random.default_rng(0).permutation(2 * entries.nnz)
    twice = [np.tile(part, 2)[order] for part in (entries.data / 2, entries.row, entries.col)]
    loops = sparse.coo_matrix((twice[0], (twice[1], twice[2])), graph.shape) + sparse.identity(30)
    np.testing.assert_allclose(solve(loops, labels, tol=1e-10).probabilities, expected, atol=1e-9)
    np.testing.assert_allclose(solve(graph.toarray(), labels, tol=1e-10).probabilities, expected, atol=1e-9)


def test_renumbering_vertices_and_labels_renumbers_probabilities() -> None:
    graph, labels = random_graph(50, 7), labels_of(50)
    order = np.random.default_rng(1).permutation(50)
    expected = spread(graph, labels, alpha=0.9, tol=1e-10).probabilities[order][:, [2, 0, 1]]
    renamed = np.array([1, 2, 0, -1])[labels[order]]
    found = spread(graph[order][:, order], renamed, alpha=0.9, tol=1e-10).probabilities
    np.testing.assert_allclose(found, expected, atol=1e-9)


@pytest.mark.parametrize("solve", [spread, harmonic])
def test_the_smallest_graphs(solve) -> None:
    assert solve(np.zeros((1, 1)), [0]).probabilities.tolist() == [[1.0]]
    np.testing.assert_array_equal(solve(np.zeros((2, 2)), [0, -1]).probabilities, [[1.0], [np.nan]])
    found = solve(np.ones((2, 2)), [1, 0], tol=1e-9).probabilities
    assert found[0, 1] == pytest.approx(found[1, 0])


def test_too_few_iterations_are_said(monkeypatch) -> None:
    graph, labels = random_graph(200, 8), labels_of(200)
    seen = []
    found = harmonic(graph, labels, tol=1e-8, max_iter=3, observer=seen.append)
    assert not found.converged
    assert found.iterations == 3
    assert found.error > 1e-8
    assert seen[-1].iteration == 3
    monkeypatch.setattr(averages, "LOOK", 1)
    seen.clear()
    spread(graph, labels, alpha=0.999, observer=seen.append)
    assert [one.iteration for one in seen] == list(range(1, len(seen) + 1))
    assert seen[-1].value <= 1e-3 < seen[-2].value


@pytest.mark.parametrize("alpha", [0.6, 0.9, 0.99, 0.995, 0.999])
def test_accelerated_sweeps_and_conjugate_gradients_keep_their_promise(alpha) -> None:
    """Errors are within the bound that is reported, and that within the tolerance; no step is for nothing."""
    graph, labels = random_graph(300, 9), labels_of(300)
    exact = dense_spread(graph.toarray(), labels, alpha)
    for tol in (1e-2, 1e-5, 1e-9):
        seen = []
        found = spread(graph, labels, alpha=alpha, tol=tol, observer=seen.append)
        off = np.abs(found.probabilities - exact).sum(axis=1).max()
        assert off <= found.error <= tol
        assert found.converged
        assert found.iterations == seen[-1].iteration
    cut = spread(graph, labels, alpha=alpha, tol=1e-9, max_iter=2)
    assert not cut.converged
    assert cut.iterations == 2


def test_labels_that_have_not_arrived_are_waited_for() -> None:
    """A component far from small: its end has nothing for as many steps as it is long."""
    n = 40
    path = sparse.diags([np.ones(n - 1), np.ones(n - 1)], [1, -1], format="csr")
    graph = sparse.block_diag([path, random_graph(5, 1)], format="csr")
    labels = np.full(n + 5, -1)
    labels[:2] = 0, 1
    found = spread(graph, labels, alpha=0.99, tol=0.1)
    exact = dense_spread(path.toarray(), labels[:n], 0.99)
    np.testing.assert_allclose(found.probabilities[:n], exact, atol=0.1)
    assert np.isnan(found.probabilities[n:]).all()


@pytest.mark.parametrize(
    ("adjacency", "labels", "settings", "message"),
    [
        (np.zeros((2, 3)), [0, 1], {}, r"shape \(2, 3\); it must be a square matrix"),
        ([["a"]], [0], {}, "must be a square matrix of numbers"),
        ([[0, -1], [-1, 0]], [0, 1], {}, "negative weight in row 0"),
        ([[0, 0], [np.nan, 0]], [0, 1], {}, "NaN or infinity in row 1"),
        (np.eye(2), [0], {}, "2 vertices, but there are 1 labels"),
        (np.eye(2), [-1, -1], {}, "None of the 2 vertices has a label"),
        (np.eye(2), [0, -2], {}, "Vertex 1 has the label -2"),
        (np.eye(2), [0.5, 1], {}, "must be a vector of whole numbers"),
        (np.eye(2), [0, 1], {"alpha": 1.0}, "alpha is 1.0; it must be a number above 0 and below 1"),
        (np.eye(2), [0, 1], {"alpha": 0}, "alpha is 0"),
        (np.eye(2), [0, 1], {"tol": 0}, "tol is 0"),
        (np.eye(2), [0, 1], {"max_iter": 0}, "max_iter is 0"),
    ],
)
def test_bad_input_is_refused(adjacency, labels, settings, message) -> None:
    with pytest.raises(InputError, match=message):
        spread(adjacency, labels, **settings)


def test_the_number_of_threads_changes_nothing() -> None:
    from threadpoolctl import threadpool_limits

    n, shifts = 30_000, np.arange(1, 7)
    ring = sparse.diags(np.ones(12), np.concatenate([shifts, -shifts]), shape=(n, n), format="csr")
    labels = np.full(n, -1)
    labels[::50] = np.arange(n // 50) % 12  # 4 million products a sweep: more than one thread does alone
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(spread(ring, labels, alpha=0.9).probabilities)
    np.testing.assert_array_equal(*found)
