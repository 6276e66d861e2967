"""The dual in shares of detours: the optimum of other solvers, losses and mixtures by enumeration."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from kernelfields.arrays import offsets_of
from kernelfields.losses import CountedMarginHinge, MarginHinge, hamming_cost
from kernelfields.objective import DetourDual, Detours, Problem
from kernelfields.solvers import CuttingPlane, DualAscent, Reason, Stop
from kernelfields.structures import ChainBatch, TreeBatch
from tests._problems import small_forest
from tests.objective.test_margin_solvers import problem_of

LONG = ChainBatch(offsets_of([9, 1, 7, 0, 12, 2]), 3)


def repriced(problem, factor):
    """The same with all penalties times a factor: with large ones shares run out of room."""
    terms = [replace(term, penalty=factor * term.penalty) for term in problem.terms]
    return Problem.of(problem.loss, terms, problem.arrays.offset)


def ruled(problem, rng):
    """The same with a label forbidden at some places, and label pairs that the right labels do not have."""
    right, batch = problem.loss.outputs, problem.structure
    node, edge = np.zeros((batch.n_vertices, 3)), np.full((3, 3), -np.inf)
    edge[right[batch.edge_tails], right[batch.edge_heads]] = 0.3
    away = rng.integers(1, 3, size=batch.n_vertices)
    places = rng.random(batch.n_vertices) < 0.3
    node[places, (right + away)[places] % 3] = -np.inf
    return Problem.of(problem.loss, problem.terms, {"node": node, "edge": edge})


CASES = [
    ("linear", {}),
    ("sparse", {"offset": True}),
    ("linear", {"weighted": True, "offset": True}),
    ("kernel", {"weighted": True}),
    ("kernel, centred", {"offset": True}),
]


@pytest.mark.parametrize("factor", [0.2, 1.0, 30.0])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_reaches_the_optimum_of_cutting_planes(case, factor, rng):
    space, options = case
    problem = repriced(problem_of(rng, "margin", space, structure=LONG, **options), factor)
    exact = CuttingPlane().minimize(problem, problem.zero(), Stop(1e-7, 0.0, 5000))
    found = DualAscent().maximize(DetourDual(problem), Stop(1e-6, 0.0, 5000))
    assert exact.reason is found.reason is Reason.GAP
    np.testing.assert_allclose(found.point.value, exact.point.value, rtol=2e-6)
    assert found.progress.lower_bound <= exact.point.value * (1 + 1e-9)


def test_panels_come_to_the_same_as_features(rng):
    """A linear kernel is a function of the features; all but the features has the same penalty."""
    linear, kernel = (
        repriced(problem_of(np.random.default_rng(7), "margin", space, structure=PANELS), 10.0)
        for space in ("linear", "kernel")
    )
    stop = Stop(1e-4, 0.0, 500)
    for problem in (linear, kernel):
        exact = CuttingPlane().minimize(problem, problem.zero(), stop)
        found = DualAscent().maximize(DetourDual(problem), stop)
        assert exact.reason is found.reason is Reason.GAP
        np.testing.assert_allclose(found.point.value, exact.point.value, rtol=2e-4)


@pytest.mark.parametrize("batch", [LONG, small_forest()])
@pytest.mark.parametrize("factor", [0.1, 3.0])
def test_what_is_forbidden_is_never_taken(batch, factor, rng):
    problem = ruled(repriced(problem_of(rng, structure=batch), factor), rng)
    exact = CuttingPlane().minimize(problem, problem.zero(), Stop(1e-7, 0.0, 5000))
    dual = DetourDual(problem)
    found = DualAscent().maximize(dual, Stop(1e-6, 0.0, 2000))
    np.testing.assert_allclose(found.point.value, exact.point.value, rtol=2e-6)
    node, edge = dual.core.mixture()
    assert not node[np.isinf(problem.arrays.offset["node"])].any()
    assert not edge[np.isinf(problem.arrays.offset["edge"])].any()


def test_costs_of_labels_are_kept(rng):
    plain = problem_of(rng, structure=LONG)
    table = rng.random((3, 3)) * 2
    cost = {"node": table[plain.loss.outputs]}  # right labels cost something, too
    problem = Problem.of(MarginHinge(LONG, plain.loss.outputs, cost), plain.terms)
    exact = CuttingPlane().minimize(problem, problem.zero(), Stop(1e-7, 0.0, 5000))
    found = DualAscent().maximize(DetourDual(problem), Stop(1e-6, 0.0, 2000))
    np.testing.assert_allclose(found.point.value, exact.point.value, rtol=2e-6)


def some_way_up(problem, passes=3, dtype=np.float64):
    dual = DetourDual(problem, dtype)
    for _ in range(passes):
        dual.visit(np.arange(dual.size))
        dual.improve(np.arange(dual.size))
    return dual


def every_labelling(batch, instance):
    length = int(np.diff(batch.offsets)[instance])
    return [np.array(labels, dtype=np.int32) for labels in product(range(batch.n_labels), repeat=length)]


@pytest.mark.parametrize("batch", [ChainBatch(offsets_of([3, 1, 4, 0, 2]), 3), small_forest()])
@pytest.mark.parametrize("space", ["linear", "sparse", "kernel"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1.0, 0.7, 1.6])
def test_losses_are_those_of_all_labellings(batch, space, dtype, scale, rng):
    problem = problem_of(rng, "margin", space, structure=batch, weighted=True, offset=True)
    dual = some_way_up(problem, dtype=dtype)
    theta = problem.arrays.with_offset(problem.at(scale * dual.element()).theta)
    total = 0.0
    for i in range(batch.n_instances):
        one, part = batch.take([i]), batch.cut(theta, [i])
        right = batch.cut_outputs(problem.loss.outputs, [i])
        values = [
            (labels != right).sum() + (one.score(part, labels) - one.score(part, right))[0]
            for labels in every_labelling(batch, i)
        ]
        total += problem.loss.weights[i] * max(values)
    value, slope = dual.loss(scale)
    np.testing.assert_allclose(value, total, rtol=1e-5 if dtype == np.float32 else 1e-12)
    for other in (0.5 * scale, 0.99 * scale, 1.01 * scale, 2 * scale):  # a tangent of a convex function
        assert value + slope * (other - scale) <= dual.loss(other)[0] + 1e-5 * total


def test_a_multiple_has_the_bound_of_the_dual_point(rng):
    dual = some_way_up(problem_of(rng, structure=LONG, weighted=True, offset=True))
    one, other = dual.reached(), dual.reached(1.3)
    assert other.lower_bound == one.lower_bound
    np.testing.assert_allclose(other.element, 1.3 * one.element)
    np.testing.assert_allclose(other.value, dual.loss(1.3)[0] + 1.3**2 * dual.penalty, rtol=1e-9)
    with pytest.raises(ValueError, match="scale"):
        dual.loss(0.0)


SIX = {
    "chain": ChainBatch([0, 6], 3),
    "star": TreeBatch([0, 6], [-1, 0, 0, 0, 0, 0], 3),
    "tree": TreeBatch([0, 6], [2, 2, 5, 2, 5, -1], 3),
    "forest": TreeBatch([0, 6], [-1, -1, 0, 0, 1, 3], 3),
}


@pytest.mark.parametrize("name", SIX)
def test_shares_are_those_of_a_distribution_over_labellings(name, rng):
    """By a linear program over all labellings: mixtures are convex combinations of their parts."""
    batch = SIX[name]
    problem = repriced(problem_of(rng, structure=batch), 20.0)
    dual, right = some_way_up(problem, passes=10), problem.loss.outputs
    columns, costs = [], []
    for labels in every_labelling(batch, 0):
        parts = {clique: np.zeros(shape) for clique, shape in batch.shapes.items()}
        batch.subtract_parts(parts, labels, -np.ones(1))
        batch.subtract_parts(parts, right, np.ones(1))
        columns.append(np.concatenate([parts["node"].ravel(), parts["edge"].ravel(), [1.0]]))
        costs.append((labels != right).sum())
    node, edge = dual.core.mixture()
    wanted = np.concatenate([node.ravel(), edge.ravel(), [1.0]])
    found = linprog(np.array(costs, dtype=float), A_eq=np.array(columns).T, b_eq=wanted)
    assert found.status == 0
    assert node.max() > 0.2
    np.testing.assert_allclose(dual.core.level(), found.fun, rtol=1e-8)  # the cost of every such distribution


PANELS = ChainBatch(offsets_of([40, 300, 7, 0, 90, 90, 30, 1]), 3)
"""More positions than are open at a time, in one sequence and in all."""


@pytest.mark.parametrize("batch", [LONG, small_forest(), PANELS])
@pytest.mark.parametrize("space", ["linear", "kernel"])
def test_bounds_and_rises_are_those_of_the_dual_function(batch, space, rng):
    problem = problem_of(rng, "margin", space, structure=batch, weighted=True, offset=True)
    dual = DetourDual(problem)
    order, before = np.arange(dual.size), dual.bound
    for _ in range(4):
        _, gap, rise = dual.visit(order)
        rise += dual.improve(order)
        point = dual.reached()
        np.testing.assert_allclose(dual.bound - before, rise, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(
            dual.bound, point.dual.level - 0.5 * problem.inner(point.element, point.element), rtol=1e-9
        )
        assert gap >= 0
        before = dual.bound
    assert point.lower_bound <= point.value


def test_single_precision_goes_on_in_double(rng):
    problem = problem_of(rng, structure=LONG)
    dual = DetourDual(problem, np.float32)
    found = DualAscent().maximize(dual, Stop(1e-7, 0.0, 5000))
    assert found.reason is Reason.GAP
    assert dual.dtype == np.float64
    assert not dual.refine()


def test_it_starts_again_from_its_detours(rng):
    problem = problem_of(rng, "margin", "kernel", structure=LONG, weighted=True)
    dual = some_way_up(problem)
    other = DetourDual(repriced(problem, 2.0))
    other.restart(dual.detours())
    np.testing.assert_allclose(other.element(), dual.element() / 2, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(other.core.level(), dual.core.level())


def test_detours_that_are_none_are_refused(rng):
    problem = problem_of(rng, structure=LONG)
    dual, right = DetourDual(problem), problem.loss.outputs
    wrong = ((right[:2] + 1) % 3).astype(np.int32)
    place = np.array([[0, 0, 2]])
    for labels, places, share in [
        (right[:2], place, 0.5),  # right labels
        (wrong, np.array([[0, 8, 2]]), 0.5),  # beyond the end
        (wrong, np.array([[6, 0, 2]]), 0.5),  # no such sequence
        (wrong, place, 1.5),  # more than there is room for
        (wrong, place, -0.5),
    ]:
        with pytest.raises(ValueError, match="detours"):
            dual.restart(Detours(places, labels, np.array([share])))
    with pytest.raises(ValueError, match="order holds"):
        dual.visit(np.array([6]))


def test_it_knows_what_it_suits(rng):
    problem = problem_of(rng)
    loss, chain = problem.loss, problem.structure
    assert DetourDual.suits(problem)
    assert not DetourDual.suits(problem_of(rng, "slack"))
    assert DetourDual.suits(problem_of(rng, structure=small_forest()))
    assert not DetourDual.suits(problem_of(rng, structure=small_forest(shared_edges=False)))
    counted = CountedMarginHinge(chain, loss.outputs, None, None, lambda counts: counts)
    assert not DetourDual.suits(Problem.of(counted, problem.terms))
    pairs = {**hamming_cost(chain, loss.outputs), "edge": np.ones((3, 3))}
    assert not DetourDual.suits(Problem.of(MarginHinge(chain, loss.outputs, pairs), problem.terms))
    kernel = problem_of(rng, "margin", "kernel")
    assert DetourDual.suits(kernel)
    assert not DetourDual.suits(kernel, memory_limit=100)
