"""Hinge losses on graphs whose best labelling is searched, or relaxed."""

from __future__ import annotations

import numpy as np
import pytest

from kernelfields.arrays import Array
from kernelfields.losses import MarginHinge, RelaxedMarginHinge, hamming_cost
from kernelfields.objective import Problem, Term
from kernelfields.solvers import CuttingPlane, Reason, Stop
from kernelfields.spaces import Free, LinearFeatures
from kernelfields.structures import (
    ChainBatch,
    ExactGraphBatch,
    GraphBatch,
    LinearProgramMax,
    MergedCliques,
    SearchedGraphBatch,
    TreeReweightedMax,
    relaxed_argmax,
)
from tests._small_graphs import every_best, random_graph, random_scores

OFFSETS = [0, 5, 9, 9, 12]
RINGS = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0], [1, 3], [5, 6], [6, 7], [7, 8], [8, 5], [5, 7]]
EDGES = [*RINGS, [9, 10], [10, 11]]
ROUGH = TreeReweightedMax(max_iter=1)


def losses(seed: int, kind: type[GraphBatch] = SearchedGraphBatch, **given: object):  # type: ignore[no-untyped-def]
    """Labels, weights and a cost of every label on some graphs with cycles."""
    rng = np.random.default_rng(seed)
    graph = kind(OFFSETS, EDGES, 3, **given)  # type: ignore[arg-type]
    labels = rng.integers(3, size=12).astype(np.int32)
    weights = rng.random(4) + 0.5
    return graph, labels, weights, hamming_cost(graph, labels)


def exact_values(graph: GraphBatch, labels: Array, scores: dict[str, Array]) -> Array:
    """The loss by listing all labellings."""
    augmented = {**scores, "node": scores["node"] + 1.0}
    augmented["node"][np.arange(12), labels] -= 1.0
    return np.asarray(every_best(graph, augmented) - graph.score(scores, labels))


@pytest.mark.parametrize("search", [ROUGH, TreeReweightedMax(), LinearProgramMax()], ids=repr)
@pytest.mark.parametrize("seed", range(6))
def test_a_searched_loss_lies_below_the_loss_and_its_slack_above(search: object, seed: int) -> None:
    graph, labels, weights, cost = losses(seed, search=search)
    scores = random_scores(graph, seed)
    found = MarginHinge(graph, labels, cost, weights).at(scores)
    exact = exact_values(graph, labels, scores)
    assert (found.values <= exact + 1e-9).all()
    total = float(weights @ exact)
    assert found.value <= total + 1e-9
    assert total <= found.value + found.slack + 1e-9


def test_a_rough_search_says_that_it_is_rough() -> None:
    slacks = []
    for seed in range(6):
        graph, labels, weights, cost = losses(seed, search=ROUGH)
        slacks.append(MarginHinge(graph, labels, cost, weights).at(random_scores(graph, seed)).slack)
    assert max(slacks) > 0.1


@pytest.mark.parametrize("seed", range(6))
def test_the_relaxed_loss_is_above_the_loss_and_has_its_gradient(seed: int) -> None:
    graph, labels, weights, cost = losses(seed, shared_edges=bool(seed % 2))
    scores = random_scores(graph, seed)
    loss = RelaxedMarginHinge(graph, labels, cost, weights)
    found, exact = loss.at(scores), exact_values(graph, labels, scores)
    assert (found.values >= exact - 1e-7).all()
    assert 0 <= found.slack <= 1e-5
    np.testing.assert_allclose(found.values[3], exact[3], atol=1e-7)  # a path
    direction = {name: np.random.default_rng(seed).normal(size=a.shape) for name, a in scores.items()}
    slope = sum(float((found.gradient[name] * d).sum()) for name, d in direction.items())
    step = 1e-5
    ahead, behind = (
        loss.at({name: a + sign * step * direction[name] for name, a in scores.items()}).value
        for sign in (1, -1)
    )
    assert slope == pytest.approx((ahead - behind) / (2 * step), abs=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_relaxed_parts_are_a_point_of_the_polytope_with_the_value(seed: int) -> None:
    graph = random_graph(seed)
    scores = random_scores(graph, seed)
    best = relaxed_argmax(MergedCliques(graph), scores)
    inside = {name: np.where(best.parts[name] > 0, a, 0.0) for name, a in scores.items()}
    total = sum(float((inside[name] * part).sum()) for name, part in best.parts.items())
    assert total == pytest.approx(best.value.sum(), abs=1e-6)
    assert (best.value <= best.bound).all()
    np.testing.assert_allclose(
        best.bound, LinearProgramMax().find(MergedCliques(graph), scores).bound, atol=1e-6
    )
    for name, cliques in graph.cliques.items():
        np.testing.assert_allclose(best.parts[name].sum(), cliques.count, atol=1e-6)
        if not cliques.shared and name != "node":
            for place, column in enumerate(cliques.members.T):
                others = tuple(1 + q for q in range(cliques.members.shape[1]) if q != place)
                margin = best.parts[name].sum(axis=others)
                np.testing.assert_allclose(margin, best.parts["node"][column], atol=1e-6)


def problem(loss, seed: int = 0) -> Problem:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(seed)
    graph = loss.structure
    features = LinearFeatures(graph, "node", rng.normal(size=(12, 2)))
    return Problem.of(loss, [Term("features", features, 0.5), Term("edges", Free(graph, "edge"), 0.5)])


STOP = Stop(gap=1e-4, gradient=0.0, iterations=400)


def test_certificates_hold_for_the_exact_objective_however_rough_the_search() -> None:
    graph, labels, weights, cost = losses(1, ExactGraphBatch)
    exact = problem(MarginHinge(graph, labels, cost, weights))
    optimum = CuttingPlane().minimize(exact, exact.zero(), STOP)
    assert optimum.reason is Reason.GAP
    for search in (ROUGH, TreeReweightedMax()):
        graph, labels, weights, cost = losses(1, search=search)
        rough = problem(MarginHinge(graph, labels, cost, weights))
        found = CuttingPlane().minimize(rough, rough.zero(), STOP)
        certificate = rough.at(found.point.element).certificate
        assert certificate is not None
        assert found.progress.lower_bound <= optimum.point.value + 1e-9
        assert exact.at(found.point.element).value <= certificate.value + 1e-9
        assert certificate.exact


def test_the_relaxed_objective_is_above_the_exact_one_and_certified_as_a_surrogate() -> None:
    graph, labels, weights, cost = losses(1, ExactGraphBatch)
    exact = problem(MarginHinge(graph, labels, cost, weights))
    relaxed = problem(RelaxedMarginHinge(graph, labels, cost, weights))
    found = CuttingPlane().minimize(relaxed, relaxed.zero(), STOP)
    assert found.reason is Reason.GAP
    certificate = relaxed.at(found.point.element).certificate
    assert certificate is not None
    assert not certificate.exact
    assert exact.at(found.point.element).value <= certificate.value + 1e-7


def test_what_is_no_graph_is_refused() -> None:
    with pytest.raises(TypeError, match="ChainBatch is not"):
        RelaxedMarginHinge(ChainBatch([0, 2], 2), np.zeros(2, dtype=int))
    with pytest.raises(TypeError, match="Margin rescaling needs the best output"):
        MarginHinge(GraphBatch([0, 2], [[0, 1]], 2), np.zeros(2, dtype=int))
