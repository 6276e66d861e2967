"""Dual decomposition: rules about whole labellings, against all labellings that keep them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import nnls

from kernelfields.arrays import Array
from kernelfields.errors import InfeasibleError, InputError
from kernelfields.structures import (
    AtMost,
    DualDecomposition,
    ExactlyOne,
    Implies,
    LinearProgramMax,
    Logic,
    SearchedGraphBatch,
)
from tests._small_graphs import every_best, random_edges, random_scores

SIZES, OFFSETS = (5, 1, 4), [0, 5, 6, 10]

RULES: list[tuple[Logic, ...]] = [
    (ExactlyOne(1),),
    (AtMost(2, 1),),
    (AtMost(0, 2), ExactlyOne(2)),
    (Implies(0, 2),),
    (Implies(1, 1), AtMost(0, 0)),
]


def keeps(rule: Logic, graph: SearchedGraphBatch, labels: Array) -> bool:
    """Whether a labelling of one graph keeps a rule, by reading the rule's words."""
    match rule:
        case ExactlyOne(label):
            return int((labels == label).sum()) == 1
        case AtMost(label, count):
            return int((labels == label).sum()) <= count
        case Implies(label, other):
            return all(labels[b] == other for a, b in graph.edges if labels[a] == label)
    raise AssertionError(rule)


def best_kept(graph: SearchedGraphBatch, scores: dict[str, Array], rules: tuple[Logic, ...]) -> Array:
    """The best score of every instance among labellings that keep all rules."""
    best = np.full(graph.n_instances, -np.inf)
    for s in range(graph.n_instances):
        one, own = graph.take([s]), graph.cut(scores, [s])
        for labelling in product(range(graph.n_labels), repeat=one.n_vertices):
            labels = np.array(labelling, dtype=np.int32)
            if all(keeps(rule, one, labels) for rule in rules):
                best[s] = max(best[s], one.score(own, labels)[0])
    return best


@pytest.mark.parametrize("rules", RULES, ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_rules_hold_and_bounds_are_right(rules: tuple[Logic, ...], seed: int) -> None:
    rng = np.random.default_rng(seed)
    search = DualDecomposition(rules, max_iter=600)
    graph = SearchedGraphBatch(OFFSETS, random_edges(rng, SIZES, 1.2), 3, search=search)
    scores = random_scores(graph, seed)
    found, best = graph.approximate_argmax(scores), best_kept(graph, scores, rules)
    assert (best > -np.inf).all()
    assert (found.value <= best + 1e-9).all()
    assert (best <= found.bound + 1e-9).all()
    assert found.certified.any()
    for s in np.flatnonzero(found.value > -np.inf):
        one, labels = graph.take([s]), graph.cut_outputs(found.labels, [s])
        assert all(keeps(rule, one, labels) for rule in rules)
    assert (found.value > -np.inf).sum() >= 2


@pytest.mark.parametrize("seed", range(6))
def test_without_rules_the_bound_is_that_of_the_linear_program(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sets = rng.random((10, 3)) < 0.8
    sets[:, 1] = True
    graph = SearchedGraphBatch(
        OFFSETS,
        random_edges(rng, SIZES, 2.0),
        3,
        shared_edges=False,
        label_sets=sets,
        search=DualDecomposition(),
    )
    scores = random_scores(graph, seed, forbidden=0.03)
    found, tight = graph.approximate_argmax(scores), LinearProgramMax().find(graph._merged, scores)
    assert (found.bound >= tight.bound - 1e-7).all()
    np.testing.assert_allclose(found.bound, tight.bound, rtol=1e-3)
    assert (found.value <= every_best(graph, scores) + 1e-9).all()


@pytest.mark.parametrize("rule", [ExactlyOne(0), AtMost(0, 2), Implies(0, 1)], ids=repr)
@pytest.mark.parametrize("seed", range(16))
def test_the_nearest_point_is_nearer_than_any_other(rule: Logic, seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph = SearchedGraphBatch([0, 4], [[0, 1], [2, 3]], 2)
    groups = rule.on(graph)
    point = rng.normal(0.8, scale=1.0, size=4)
    kept = np.array([z for z in product([0.0, 1.0], repeat=4) if rule.holds(np.array(z), groups).all()])
    found = rule.nearest(point, groups)
    assert ((kept - found) @ (point - found)).max() <= 1e-9  # no corner lies on the side of the point
    np.testing.assert_allclose(_nearest_mixture_error(found, kept), 0.0, atol=1e-9)
    gain = rng.normal(size=4)
    assert rule.best(gain, groups).sum() == pytest.approx((kept @ gain).max(), abs=1e-12)


def _nearest_mixture_error(point: Array, corners: Array) -> float:
    """How far a point is from the mixtures of corners, by non-negative least squares."""
    rows = np.concatenate([corners.T, 100 * np.ones((1, len(corners)))])
    return float(nnls(rows, np.append(point, 100.0))[1])


def test_rules_that_cannot_hold_are_an_error() -> None:
    graph = SearchedGraphBatch([0, 2, 2], [[0, 1]], 2, search=DualDecomposition((ExactlyOne(1),)))
    with pytest.raises(InfeasibleError, match="Graph 1 has no allowed labelling"):
        graph.approximate_argmax({"node": np.zeros((2, 2)), "edge": np.zeros((2, 2))})
    with pytest.raises(InputError, match="label of a rule is 2"):
        DualDecomposition((AtMost(2),)).find(graph._merged, {"node": np.zeros((2, 2)), "edge": np.eye(2)})
    with pytest.raises(InputError, match="tuple of rules"):
        DualDecomposition(rules=ExactlyOne(1))  # type: ignore[arg-type]
