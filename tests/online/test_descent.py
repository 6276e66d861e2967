"""Stochastic gradient descent: against the textbook, and towards the optimum of the CRF."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from kernelfields.losses import LogLoss
from kernelfields.objective import L1Norm, Problem, Term, linear_chain_problem
from kernelfields.online import Descent, Sweep, descend_first
from kernelfields.online.descent import calibrated_step
from kernelfields.solvers import LBFGS, Stop
from kernelfields.spaces import Free, LinearFeatures, SparseFeatures, WeightPairs
from kernelfields.structures import ChainBatch
from kernelfields.testing import chain_reference
from kernelfields.testing.online import descend
from tests.online._textbook import Tiny

RULE = Descent(0.3, least=0.0)
ORDER = np.array([3, 0, 6, 1, 2, 5, 4, 0, 3, 3, 1, 6, 4, 5, 2])
CASES = {
    "all pairs": {},
    "observed pairs": {"observed": True},
    "binary": {"binary": True, "observed": True},
    "bare": {"bias": False, "boundaries": False},
    "one label": {"n_labels": 1},
    "two labels": {"n_labels": 2},
    "single positions": {"lengths": [1] * 7},
    "equal penalties": {"penalties": (0.5, 0.5)},
    "no penalty": {"penalties": (0.0, 0.0)},
    "forbidden": {"forbidden": np.array([[0, 1, 0], [0, 0, 0], [1, 0, 0]], bool)},
    "weights": {"weights": np.array([1.0, 0.0, 2.0, 0.5, 3.0, 1.0, 0.1])},
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 2e-5)])
def test_steps_and_average_are_the_textbooks(rng, case, dtype, tolerance):
    tiny = Tiny(rng, dtype=dtype, **CASES[case])
    weights = None if tiny.weights is None else tiny.weights[ORDER]
    path = list(descend([tiny.sequences[s] for s in ORDER], tiny.start, 0.3, tiny.decay, weights))
    tiny.sweep.begin_average()
    tiny.sweep.learn(RULE, ORDER)
    np.testing.assert_allclose(tiny.sweep.element(), tiny.element(path[-1]), rtol=0, atol=tolerance)
    mean = np.mean([tiny.start, *path], axis=0)
    np.testing.assert_allclose(tiny.sweep.average(), tiny.element(mean), rtol=0, atol=tolerance)


def test_sweeps_go_on_where_the_last_one_ended(rng):
    whole, parts = (Tiny(np.random.default_rng(5)) for _ in range(2))
    for tiny in (whole, parts):
        tiny.sweep.begin_average()
    total = whole.sweep.learn(RULE, ORDER)
    some = sum(parts.sweep.learn(RULE, piece) for piece in np.array_split(ORDER, 4))
    assert some == pytest.approx(total, rel=1e-12)
    np.testing.assert_allclose(parts.sweep.average(), whole.sweep.average(), rtol=0, atol=1e-13)


def test_a_penalty_that_shrinks_weights_to_nothing(rng):
    """Large enough that the common scale is multiplied out on the way."""
    tiny = Tiny(rng, penalties=(0.0, 80.0))
    order = np.tile(ORDER, 4)
    path = list(descend([tiny.sequences[s] for s in order], tiny.start, 0.3, tiny.decay))
    tiny.sweep.begin_average()
    tiny.sweep.learn(RULE, order)
    np.testing.assert_allclose(tiny.sweep.element(), tiny.element(path[-1]), rtol=0, atol=1e-12)
    mean = np.mean([tiny.start, *path], axis=0)
    np.testing.assert_allclose(tiny.sweep.average(), tiny.element(mean), rtol=0, atol=1e-12)


def test_the_loss_is_the_log_loss_before_each_step(rng):
    tiny = Tiny(rng, penalties=(0.0, 0.0))
    problem = Problem.of(LogLoss(tiny.chain, tiny.labels), tiny.terms)
    element = tiny.sweep.element()
    loss = tiny.sweep.learn(Descent(0.0), np.arange(7))
    assert loss == pytest.approx(problem.at(element).loss.value, rel=1e-12)
    np.testing.assert_array_equal(tiny.sweep.element(), element)


def crf_problem(rng, count=300, L=5, D=30, scale=1.0):
    lengths = rng.integers(1, 9, size=count)
    chain = ChainBatch(np.concatenate([[0], np.cumsum(lengths)]), L)
    labels = rng.integers(L, size=chain.n_vertices)
    features = (rng.random((chain.n_vertices, D)) < 0.2).astype(float)
    features[np.arange(chain.n_vertices), labels] += rng.random(chain.n_vertices) < 0.6
    terms = [
        Term("features", SparseFeatures(chain, "node", sparse.csr_matrix(scale * features)), 1.0),
        Term("bias", Free(chain, "node"), 1.0),
        Term("edges", Free(chain, "edge"), 0.5),
    ]
    return linear_chain_problem(LogLoss(chain, labels), terms, None, np.float64)


def test_it_comes_near_the_optimum(rng):
    problem = crf_problem(rng)
    best = LBFGS().minimize(problem, problem.zero(), Stop(gap=1e-9, gradient=0.0, iterations=500)).point.value
    values = [problem.at(descend_first(problem, epochs, seed=3)).value for epochs in (1, 4, 16)]
    start = problem.at(problem.zero()).value
    assert start > values[0] > values[1] > values[2] > best
    assert values[1] - best < 0.02 * (start - best)
    assert values[2] - best < 0.01 * (start - best)


def test_the_same_seed_gives_the_same_weights(rng):
    problem = crf_problem(rng, count=40)
    first, second, other = (descend_first(problem, 2, seed) for seed in (7, 7, 8))
    np.testing.assert_array_equal(first, second)
    assert np.abs(first - other).max() > 1e-6


def test_the_calibrated_step_is_neither_tiny_nor_wild(rng):
    problem = crf_problem(rng)
    value = {}
    for factor in (1 / 64, 1.0, 64.0):
        sweep = Sweep.of(problem)
        step = calibrated_step(sweep, np.random.default_rng(0))
        sweep.learn(Descent(factor * step), np.arange(sweep.examples.n_instances))
        value[factor] = problem.at(sweep.element()).value
    assert value[1.0] < min(value[1 / 64], value[64.0])


def test_features_of_any_size(rng):
    """The step makes up for them: descent never ends above where it began."""
    for scale in (1e-3, 1e3):
        problem = crf_problem(rng, count=60, scale=scale)
        assert problem.at(descend_first(problem, 4, seed=1)).value < problem.at(problem.zero()).value


def test_a_cut_training_set_learns_the_same(rng):
    """Features are renumbered where only some sequences are taken."""
    tiny = Tiny(rng, observed=True)
    ids = np.array([4, 0, 6])
    cut, whole = tiny.sweep.examples.take(ids).core(), tiny.sweep.examples.core()
    losses = [
        core.descend(order, 0.3, 0.1, 0.2, 0, 0.0) for core, order in ((cut, np.arange(3)), (whole, ids))
    ]
    assert losses[0] == pytest.approx(losses[1], rel=1e-13)
    np.testing.assert_allclose(cut.weights()[1], whole.weights()[1], rtol=0, atol=1e-13)


def test_what_it_cannot_learn_it_refuses(rng):
    problem = crf_problem(rng, count=5)
    chain, labels = problem.loss.structure, problem.loss.outputs
    lasso = [replace(problem.terms[0], norm=L1Norm(1.0)), *problem.terms[1:]]
    with pytest.raises(TypeError, match="squared penalties"):
        Sweep.of(linear_chain_problem(problem.loss, lasso, None, np.float64))
    with pytest.raises(TypeError, match="nothing else"):
        Sweep(chain, problem.terms[:2], labels)
    own = chain.untied(["edge"])
    features = rng.normal(size=(chain.n_vertices, 2))
    with pytest.raises(TypeError, match="share their scores"):
        Sweep(own, [Term("edges", LinearFeatures(own, "edge", features), 1.0)], labels)
    uneven = [
        Term("features", problem.terms[0].space, 1.0),
        Term("bias", Free(chain, "node"), 2.0),
        problem.terms[2],
    ]
    with pytest.raises(TypeError, match="one penalty"):
        Sweep(chain, uneven, labels).learn(RULE, np.arange(2))


@pytest.mark.parametrize("observed", [True, False])
@pytest.mark.parametrize("n_labels", [2, 8, 9, 17, 22, 33, 70])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-12), (np.float32, 2e-5)])
def test_many_labels(rng, n_labels, observed, dtype, tolerance):
    """Rows of several vectors, masks of several words: steps with the marginals of the reference."""
    L, D, S = n_labels, 12, 6
    chain = ChainBatch(np.arange(0, 3 * S + 1, 3), L)
    X = (rng.random((3 * S, D)) < 0.3) * rng.normal(size=(3 * S, D))
    X[:, 0] = rng.normal(size=3 * S)
    X, y = X.astype(dtype), rng.integers(min(L, 9), size=3 * S).astype(np.int32)
    y[:9] = rng.choice(L, size=9)
    mask = np.ones((D, L))
    pairs = WeightPairs.of(sparse.csr_matrix(X), L, y if observed else None)
    if observed:
        mask[:] = 0
        mask[pairs.feature, pairs.label] = 1
    nodes = SparseFeatures(chain, "node", sparse.csr_matrix(X), pairs)
    sweep = Sweep(chain, [Term("features", nodes, 0.5), Term("edges", Free(chain, "edge"), 0.5)], y)
    sweep.begin_average()
    order = np.concatenate([rng.permutation(S), rng.permutation(S)])
    sweep.learn(Descent(0.4, least=0.0), order)
    w, V, path = np.zeros((D, L)), np.zeros((L, L)), [(np.zeros((D, L)), np.zeros((L, L)))]
    for t, s in enumerate(order):
        rows = slice(3 * s, 3 * s + 3)
        found = chain_reference(X[rows].astype(float) @ w, V)
        node, edge = found.node.astype(float), found.edge.sum(axis=0).astype(float)
        node[np.arange(3), y[rows]] -= 1
        np.subtract.at(edge, (y[rows][:-1], y[rows][1:]), 1)
        step = 0.4 / (1 + 0.4 * 0.5 / S * t)
        w = (w - step * mask * (X[rows].astype(float).T @ node)) / (1 + step * 0.5 / S)
        V = (V - step * edge) / (1 + step * 0.5 / S)
        path.append((w, V))
    mean = [np.mean([point[k] for point in path], axis=0) for k in range(2)]
    for element, table, pair in ((sweep.element(), w, V), (sweep.average(), *mean)):
        np.testing.assert_allclose(nodes.table(element[: nodes.size]), table, rtol=0, atol=tolerance)
        np.testing.assert_allclose(element[nodes.size :].reshape(L, L), pair, rtol=0, atol=tolerance)


@pytest.mark.parametrize("observed", [True, False])
def test_negligible_mismatches_change_no_feature(rng, observed):
    tiny = Tiny(rng, penalties=(0.0, 0.0), bias=False, boundaries=False, observed=observed)
    before = tiny.sweep.element()
    tiny.sweep.learn(Descent(0.3, least=1.0), np.arange(7))
    size = tiny.nodes.size
    np.testing.assert_array_equal(tiny.sweep.element()[:size], before[:size])
    assert np.abs(tiny.sweep.element() - before)[size:].max() > 0


def test_scores_too_large_for_scaled_recursions(rng):
    """Weights of some hundreds: sequences fall back to logarithms, one by one."""
    tiny = Tiny(rng)
    start = 300 * tiny.start
    tiny.sweep.load(tiny.element(start))
    path = list(descend([tiny.sequences[s] for s in ORDER], start, 0.3, tiny.decay))
    tiny.sweep.learn(RULE, ORDER)
    np.testing.assert_allclose(tiny.sweep.element(), tiny.element(path[-1]), rtol=0, atol=1e-9)


def test_weights_that_are_not_finite_end_the_sweep(rng):
    tiny = Tiny(rng)
    tiny.sweep.load(tiny.element(np.where(tiny.mask > 0, np.nan, 0.0)))
    assert np.isnan(tiny.sweep.learn(RULE, ORDER))
