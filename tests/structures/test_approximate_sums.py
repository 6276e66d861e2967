"""Approximate sums over graphs against enumeration: bounds, exactness on forests, derivatives."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from kernelfields.errors import InfeasibleError, InputError, ScoreError
from kernelfields.structures import (
    ApproximateSum,
    BeliefPropagation,
    ConvexFreeEnergy,
    Factors,
    MeanField,
    SumOracle,
    TreeReweighted,
)
from kernelfields.testing.brute import Enumerated

from ._graphs import draw_forest, draw_graphs, draw_scores, within_sets

COUNT = int(os.environ.get("KERNELFIELDS_BOUNDS", "150"))
"""How many batches are enumerated; ``make certificates`` asks for 10,000."""
SCHEDULES = ("sweeps", "residual", "flooding")
RING = ([0, 3], [[0, 1], [1, 2], [2, 0]], 2)
ATTRACTIVE = {"node": np.zeros((3, 2)), "edge": np.eye(2)}


@pytest.mark.parametrize("seed", [*range(COUNT), 1729, 2534, 3235])  # the last: large terms cancel
def test_bounds_hold_on_enumerable_graphs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    drawn = draw_graphs(rng)
    steps = int(rng.choice([1, 3, 500]))  # bounds hold whether or not messages have converged
    upper = drawn.under(TreeReweighted(schedule=SCHEDULES[seed % 3], max_iter=steps))
    loose = drawn.under(ConvexFreeEnergy(schedule=SCHEDULES[seed % 3], max_iter=steps))
    lower = drawn.under(MeanField(max_iter=steps))
    scores = draw_scores(rng, upper, float(rng.choice([0.1, 1.0, 5.0])))
    exact = Enumerated(upper, within_sets(upper, scores)).log_partition()
    above, below = upper.marginals(scores), lower.marginals(scores)
    assert (below.convergence.lower <= exact).all()
    for found in (above, loose.marginals(scores)):
        assert (found.convergence.upper >= exact).all()
        assert (found.log_partition + found.convergence.slack >= exact).all()
        assert (found.convergence.slack >= 0).all()


@pytest.mark.parametrize("seed", range(30))
def test_beliefs_agree_with_each_other(seed: int) -> None:
    rng = np.random.default_rng(1000 + seed)
    drawn = draw_graphs(rng)
    for inference in (BeliefPropagation, TreeReweighted, ConvexFreeEnergy, MeanField):
        batch = drawn.under(inference(max_iter=2)).untied(["edge", "single", "triple", "again"])
        parts = batch.marginals(draw_scores(rng, batch, 2.0)).parts
        np.testing.assert_allclose(parts["node"].sum(axis=1), 1, atol=1e-12)
        for name, cliques in batch.cliques.items():
            for k in range(cliques.members.shape[1]):
                others = tuple(1 + j for j in range(cliques.members.shape[1]) if j != k)
                own = parts[name].sum(axis=others)
                np.testing.assert_allclose(own, parts["node"][cliques.members[:, k]], atol=1e-12)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("kind", [BeliefPropagation, TreeReweighted])
@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_exact_on_forests(schedule: str, kind: Any, scale: float, rng: np.random.Generator) -> None:
    batch = draw_forest(rng).under(kind(schedule=schedule, tol=1e-12))
    scores = draw_scores(rng, batch, scale)
    weights = np.array([2.0, 0.5])
    found, wanted = batch.marginals(scores, weights), Enumerated(batch, scores).marginals(weights)
    assert found.convergence.converged.all()
    np.testing.assert_allclose(found.log_partition, wanted.log_partition, rtol=1e-10)
    for name, part in wanted.parts.items():
        np.testing.assert_allclose(found.parts[name], part, atol=1e-8)
    np.testing.assert_allclose(batch.entropy(scores), Enumerated(batch, scores).entropy(), atol=1e-7)


@pytest.mark.parametrize("kind", [BeliefPropagation, TreeReweighted, ConvexFreeEnergy, MeanField])
@pytest.mark.parametrize("seed", range(6))
def test_beliefs_are_the_gradient_at_a_fixed_point(kind: Any, seed: int) -> None:
    rng = np.random.default_rng(2000 + seed)
    batch = draw_graphs(rng).under(kind(tol=1e-13, max_iter=20000))
    scores, along = draw_scores(rng, batch, 0.7), draw_scores(rng, batch, 1.0)
    weights = rng.uniform(0.5, 2, batch.n_instances)
    found = batch.marginals(scores, weights)
    assert found.convergence.converged.all()
    step = 1e-5

    def value(t: float) -> float:
        moved = {name: values + t * along[name] for name, values in scores.items()}
        return float(weights @ batch.log_partition(moved))

    slope = sum(float((found.parts[name] * along[name]).sum()) for name in scores)
    assert (value(step) - value(-step)) / (2 * step) == pytest.approx(slope, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_schedules_reach_the_same_fixed_point(schedule: str, rng: np.random.Generator) -> None:
    drawn = draw_graphs(np.random.default_rng(7))
    batch = drawn.under(TreeReweighted(schedule=schedule, damping=0.3, tol=1e-12, max_iter=10000))
    scores = draw_scores(rng, batch, 1.0)
    other = drawn.under(TreeReweighted(tol=1e-12, max_iter=10000))
    found, wanted = batch.marginals(scores), other.marginals(scores)
    assert found.convergence.converged.all()
    for name, part in wanted.parts.items():
        np.testing.assert_allclose(found.parts[name], part, atol=1e-9)


@pytest.mark.parametrize("kind", [TreeReweighted, ConvexFreeEnergy])
def test_a_surrogate_is_convex_along_any_line(kind: Any, rng: np.random.Generator) -> None:
    batch = draw_graphs(np.random.default_rng(11)).under(kind(tol=1e-11, max_iter=5000))
    one, other = draw_scores(rng, batch, 2.0), draw_scores(rng, batch, 2.0)
    values = [
        batch.log_partition({name: (1 - t) * one[name] + t * other[name] for name in one})
        for t in np.linspace(0, 1, 21)
    ]
    assert (np.diff(np.array(values), 2, axis=0) >= -1e-9).all()


@pytest.mark.parametrize("kind", [BeliefPropagation, TreeReweighted, MeanField])
def test_forbidden_labels_and_pairs_have_no_probability(kind: Any) -> None:
    batch = kind().on([0, 4], [[0, 1], [1, 2], [2, 3], [3, 0]], 3)
    rng = np.random.default_rng(3)
    scores = draw_scores(rng, batch, 1.0)
    scores["node"][0, 2] = scores["edge"][0, 1] = scores["edge"][2, 2] = -np.inf
    found, exact = batch.marginals(scores), Enumerated(batch, scores).log_partition()
    assert found.parts["node"][0, 2] == 0
    assert found.parts["edge"][0, 1] == 0
    assert (found.convergence.lower <= exact).all()
    assert (found.convergence.upper >= exact).all()


def test_forbidden_pairs_on_a_tree_are_exact() -> None:
    batch = TreeReweighted().on([0, 4], [[0, 1], [1, 2], [1, 3]], 3)
    scores = draw_scores(np.random.default_rng(4), batch, 1.0)
    scores["edge"][0, 1] = scores["edge"][1, 1] = scores["edge"][2, 1] = scores["node"][3, 0] = -np.inf
    found, wanted = batch.marginals(scores), Enumerated(batch, scores).marginals()
    np.testing.assert_allclose(found.log_partition, wanted.log_partition, rtol=1e-12)
    np.testing.assert_allclose(found.parts["edge"], wanted.parts["edge"], atol=1e-10)
    assert found.convergence.slack[0] < 1e-9


@pytest.mark.parametrize("kind", [BeliefPropagation, TreeReweighted, MeanField])
def test_what_cannot_be_is_refused(kind: Any) -> None:
    batch = kind().on(*RING)
    impossible = {**ATTRACTIVE, "edge": np.full((2, 2), -np.inf)}
    with pytest.raises(InfeasibleError, match="Graph 0 has no allowed labelling"):
        batch.log_partition(impossible)
    for bad in (np.nan, np.inf):
        with pytest.raises(ScoreError, match="NaN"):
            batch.log_partition({**ATTRACTIVE, "edge": np.full((2, 2), bad)})


def test_what_was_not_reached_is_said() -> None:
    scores = {"node": np.array([[0.3, 0], [0, 1.0], [0, 0]]), "edge": 3 * np.eye(2)}
    found = BeliefPropagation(max_iter=2, tol=0.0).on(*RING).marginals(scores).convergence
    assert found.converged.tolist() == [False]
    assert found.iterations.tolist() == [2]
    assert found.change[0] > 0


def test_batches_are_kept_apart() -> None:
    drawn = draw_graphs(np.random.default_rng(21), sets=True)
    batch = drawn.under(TreeReweighted())
    scores = draw_scores(np.random.default_rng(0), batch, 1.0)
    whole = batch.log_partition(scores)
    for s in range(batch.n_instances):
        one = batch.take([s])
        assert one.inference == batch.inference
        np.testing.assert_allclose(one.log_partition(batch.cut(scores, [s])), whole[s], rtol=1e-12)


def test_single_precision_comes_back() -> None:
    batch = BeliefPropagation().on(*RING)
    single = {name: values.astype(np.float32) for name, values in ATTRACTIVE.items()}
    found = batch.marginals(single)
    assert {part.dtype for part in found.parts.values()} == {np.dtype(np.float32)}
    assert found.log_partition.dtype == np.float64


def test_many_forests_cover_every_edge_of_a_large_graph() -> None:
    n = 1200  # more than are put into one matrix
    edges = [[v, (v + 1) % n] for v in range(n)] + [[v, (v + 7) % n] for v in range(n)]
    rho = TreeReweighted().on([0, n], edges, 2).appearance
    assert (rho > 0).all()
    assert rho.sum() == pytest.approx(n - 1)


def test_appearance_of_uniform_spanning_trees() -> None:
    square = [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [4, 5]]  # of 8 spanning trees, 4 have the diagonal
    rho = TreeReweighted().on([0, 7], square, 2).appearance
    np.testing.assert_allclose(rho, [5 / 8, 1 / 2, 5 / 8, 5 / 8, 5 / 8, 1], atol=1e-9)


def test_approximations_are_never_mistaken_for_exact_sums() -> None:
    for kind in (BeliefPropagation, TreeReweighted, ConvexFreeEnergy, MeanField):
        batch = kind().on(*RING)
        assert isinstance(batch, ApproximateSum)
        assert not isinstance(batch, SumOracle)
    assert "BeliefPropagation(" in repr(BeliefPropagation().on(*RING).inference)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"schedule": "random"}, "it must be 'sweeps', 'residual' or 'flooding'"),
        ({"damping": 1.0}, "from 0 to below 1"),
        ({"max_iter": 0}, "max_iter is 0"),
        ({"tol": -1.0}, "not negative"),
    ],
)
def test_settings_that_are_none_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        BeliefPropagation(**settings)


def test_larger_factors_given_in_any_order_are_one() -> None:
    table = np.random.default_rng(5).normal(size=(2, 2, 2, 2))
    twice = BeliefPropagation().on(
        [0, 3], [], 2, factors={"triple": Factors(np.array([[0, 1, 2], [2, 0, 1]]), shared=False)}
    )
    found = twice.marginals({"node": np.zeros((3, 2)), "edge": np.zeros((2, 2)), "triple": table})
    merged = table[0] + table[1].transpose(1, 2, 0)
    assert found.log_partition[0] == pytest.approx(np.log(np.exp(merged).sum()))


@pytest.mark.parametrize("seed", range(20))
def test_every_step_lowers_the_dual_of_a_convex_free_energy(seed: int) -> None:
    rng = np.random.default_rng(3000 + seed)
    drawn = draw_graphs(rng)
    bounds, scores = [], None
    for steps in (1, 2, 4, 8, 200):
        batch = drawn.under(ConvexFreeEnergy(max_iter=steps, tol=0.0))
        scores = draw_scores(rng, batch, 2.0) if scores is None else scores
        bounds.append(batch.marginals(scores).convergence.upper)
    assert (np.diff(np.array(bounds), axis=0) <= 1e-9).all()
    assert (batch.convergence.slack < 1e-6).all()


def test_counting_numbers_can_be_given() -> None:
    """One per edge and none per vertex: the sum of all edges by themselves, on a single edge exact."""
    batch = ConvexFreeEnergy(clique=1.0, vertex=0.0).on([0, 3], [[0, 1]], 2)
    scores = draw_scores(np.random.default_rng(8), batch, 1.0)
    found = batch.marginals(scores)
    assert found.log_partition[0] == pytest.approx(Enumerated(batch, scores).log_partition()[0])
    assert np.isinf(
        ConvexFreeEnergy(clique=0.2, vertex=0.0).on(*RING).marginals(ATTRACTIVE).convergence.upper
    )


def test_decoding_is_bounded() -> None:
    batch = BeliefPropagation().on([0, 4], [[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]], 3)
    scores = draw_scores(np.random.default_rng(9), batch, 2.0)
    found, best = batch.approximate_argmax(scores), Enumerated(batch, scores).best()
    assert (found.value <= best + 1e-9).all()
    assert (found.bound >= best - 1e-9).all()


@pytest.mark.parametrize("engine", [TreeReweighted(max_iter=50), BeliefPropagation("flooding", max_iter=50)])
@pytest.mark.parametrize("seed", range(4))
def test_beliefs_of_edges_agree_with_those_of_vertices_at_the_far_points_of_a_line_search(
    engine: Any, seed: int
) -> None:
    """Where less than the smallest usual number is missing, its powers overflow."""
    rng, places = np.random.default_rng(seed), np.arange(120).reshape(6, 20)
    beside = np.stack([places[:, :-1].ravel(), places[:, 1:].ravel()], axis=1)
    above = np.stack([places[:-1].ravel(), places[1:].ravel()], axis=1)
    edges = np.concatenate([beside, above])
    batch = engine.on([0, 120], edges, 3, shared_edges=False)
    table = 300 * (rng.normal(size=(3, 3)) + seed % 2 * np.eye(3))
    scores = {"node": 300 * rng.normal(size=(120, 3)), "edge": np.tile(table + table.T, (len(edges), 1, 1))}
    parts = batch.marginals(scores).parts
    np.testing.assert_allclose(parts["edge"].sum(axis=2), parts["node"][edges[:, 0]], atol=1e-9)
    np.testing.assert_allclose(parts["edge"].sum(axis=1), parts["node"][edges[:, 1]], atol=1e-9)
