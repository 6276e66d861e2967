"""What a graph knows about labels, against enumeration and by hand."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from scipy import sparse

from kernelfields.errors import InputError
from kernelfields.graphs import NeighborGraph, diagnose, warn_of_uninformative
from kernelfields.graphs.adjacency import read_adjacency
from kernelfields.graphs.diagnosis import close_pairs
from kernelfields.graphs.permutations import every_order, n_orders

from ._dense import indicators, random_graph


def by_hand(weights: np.ndarray, codes: np.ndarray) -> tuple[float, float]:
    """Share of equal neighbours and Rayleigh quotient, written out."""
    equal = (weights * (codes[:, None] == codes)).sum() / weights.sum()
    degrees = weights.sum(axis=1)
    L = np.diag(degrees) - weights
    above = below = 0.0
    for z in indicators(codes).T:
        z = z - degrees @ z / degrees.sum()
        above += z @ L @ z
        below += z @ (degrees * z)
    return equal, above / below


def test_shares_and_p_values_are_those_of_all_permutations() -> None:
    weights = random_graph(7, 0).toarray()
    codes = np.array([0, 0, 1, 0, 1, 1, 2])
    found = diagnose(weights, codes)
    equal, rayleigh = by_hand(weights, codes)
    assert found.equal_share == pytest.approx(equal)
    assert found.rayleigh == pytest.approx(rayleigh)
    every = np.array([by_hand(weights, np.array(order)) for order in permutations(codes)])
    assert found.test.exact
    assert found.test.orders == 7 * 6 * 5 * 4 // (3 * 2)
    assert found.test.p_equal == pytest.approx((every[:, 0] >= equal - 1e-9).mean())
    assert found.test.p_rayleigh == pytest.approx((every[:, 1] <= rayleigh + 1e-9).mean())
    assert found.test.by_chance.equal == pytest.approx(every[:, 0].mean())
    assert found.test.by_chance.rayleigh == pytest.approx(every[:, 1].mean())


def test_drawn_orders_estimate_all_orders(monkeypatch) -> None:
    weights, codes = random_graph(9, 1).toarray(), np.array([0, 0, 0, 1, 1, 0, 1, 1, 1])
    exact = diagnose(weights, codes)
    monkeypatch.setattr("kernelfields.graphs.permutations.FEW", 0)
    drawn = diagnose(weights, codes, permutations=4000)
    assert not drawn.test.exact
    assert drawn.test.orders == 4001
    deviation = np.sqrt(exact.p_value * (1 - exact.p_value) / 4000)
    assert abs(drawn.p_value - exact.p_value) < 5 * deviation


def test_every_order_comes_once() -> None:
    codes = np.array([1, 0, 2, 1, 0])
    found = [tuple(order) for order in every_order(codes)]
    assert len(found) == n_orders(codes) == 30
    assert set(found) == set(permutations(codes.tolist()))
    assert n_orders(np.arange(1000) % 2) > 10**290


@pytest.mark.parametrize("steps", [1, 2, 3, 4, 5])
def test_close_pairs_are_powers_of_the_random_walk(steps, monkeypatch) -> None:
    graph = random_graph(40, 2)
    vertices = np.array([0, 9, 21, 33])
    monkeypatch.setattr("kernelfields.graphs.diagnosis.ENOUGH", 2.0)
    monkeypatch.setattr("kernelfields.graphs.diagnosis.FARTHEST", steps)
    found, taken = close_pairs(read_adjacency(graph), vertices)
    A = graph.toarray()
    walk = np.linalg.matrix_power(A / A.sum(axis=1, keepdims=True), steps - 1)
    expected = (A @ walk)[np.ix_(vertices, vertices)]
    np.fill_diagonal(expected, 0)
    assert taken == steps
    np.testing.assert_allclose(found.toarray(), expected, atol=1e-12)


def test_few_labels_are_compared_over_several_steps() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 2))
    labels = [None] * 1000
    for i in rng.choice(1000, 30, replace=False):
        labels[i] = "left" if X[i, 0] < 0 else "right"
    found = diagnose(NeighborGraph(5).on(X), labels)
    assert found.steps > 1
    assert found.n_labelled == 30
    assert found.informative
    assert "knows about labels" in str(found)
    assert repr(found) == f"<Diagnosis: {found}>"


def test_labels_by_lot_are_warned_of_and_others_are_not() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2))
    graph = NeighborGraph(5).on(X)
    warn_of_uninformative(diagnose(graph, X[:, 0] > 0))  # warnings are errors here
    found = diagnose(graph, np.random.default_rng(7).permutation(np.arange(300) % 2))
    assert not found.informative
    with pytest.warns(UserWarning, match="no information about labels that can be told from chance"):
        warn_of_uninformative(found)


def test_p_values_are_uniform_where_labels_are_drawn_by_lot() -> None:
    graph = random_graph(60, 3)
    rng = np.random.default_rng(2)
    found = [
        diagnose(graph, rng.integers(0, 2, 60), permutations=99, random_state=k).test.p_equal
        for k in range(100)
    ]
    # 100 draws: the share below a level is within 4 standard deviations of it, error probability 10⁻⁴
    for level in (0.05, 0.25, 0.5):
        assert abs(np.mean(np.array(found) <= level) - level) < 4 * np.sqrt(level * (1 - level) / 100)


def test_observations_that_are_one_vertex_have_its_most_frequent_label() -> None:
    X = np.array([[0.0], [0.0], [0.0], [1.0], [2.0], [3.0]])
    graph = NeighborGraph(1).on(X)
    found = diagnose(graph, ["b", "a", "a", "a", None, "b"])
    assert found == diagnose(graph.adjacency, ["a", "a", None, "b"])
    assert found != diagnose(graph.adjacency, ["b", "a", None, "b"])


def test_what_is_missing_is_said() -> None:
    found = diagnose(np.zeros((3, 3)), [0, 1, -1])
    assert found.n_pairs == 0
    assert found.p_value == 1
    assert found.n_unreached == 1
    assert "nothing is known" in str(found)
    warn_of_uninformative(found)  # too few pairs to say so
    directed = sparse.csr_matrix(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]]))
    assert diagnose(directed, ["a", "a", "b"]).equal_share == 0.5


@pytest.mark.parametrize(
    ("labels", "settings", "message"),
    [
        ([0, 1], {}, "over 3 observations, but there are 2 labels"),
        ([0, 0, -1], {}, "needs two labels or more, −1 being none; 1 were observed"),
        ([None] * 3, {}, "needs two labels or more, −1 being none; 0 were observed"),
        ("abc", {}, "labels must be a sequence"),
        ([0, 1, 0], {"permutations": 0}, "permutations is 0"),
        ([0, 1, 0], {"random_state": -1}, "random_state is -1"),
    ],
)
def test_bad_input_is_refused(labels, settings, message) -> None:
    with pytest.raises(InputError, match=message):
        diagnose(np.ones((3, 3)), labels, **settings)
