"""The dual with a distribution for every sequence: the optimum of L-BFGS, distributions by enumeration."""

from dataclasses import replace

import numpy as np
import pytest

from kernelfields.arrays import offsets_of
from kernelfields.gram import StoredGram
from kernelfields.kernels import RBF
from kernelfields.losses import LogLoss, MarginalLogLoss
from kernelfields.objective import EntropyDual, L1Norm, Problem, Term
from kernelfields.solvers import LBFGS, ExponentiatedGradient, Reason, Stop
from kernelfields.spaces import Boundary, Expansion, Free, LabelEmbedding, LinearFeatures
from kernelfields.structures import ChainBatch
from kernelfields.testing import Enumerated
from tests._problems import small_forest

LENGTHS = [3, 1, 4, 0, 2]
MANY = [1 + n % 13 for n in range(90)]
EVERY = ("bias", "boundaries", "edges")


def problem_of(
    rng, lengths=LENGTHS, parts=EVERY, weighted=False, offset=False, labels=3, dtype=np.float64, factor=1.0
):
    """A kernel on observations that repeat, and scores of labels alone."""
    chain = ChainBatch(offsets_of(lengths), labels)
    n = max(7, chain.n_vertices // 2)
    features = rng.normal(size=(n, 4))
    right = rng.integers(labels, size=chain.n_vertices).astype(np.int32)
    weights = rng.random(chain.n_instances) + 0.5 if weighted else None
    if weighted:
        weights[0] = 0.0
    gram = StoredGram(RBF(0.3)(features).astype(dtype))
    embedding = LabelEmbedding.centred(2) if labels == 2 else None
    inputs = Expansion(chain, "node", gram, rng.integers(n, size=chain.n_vertices), embedding)
    terms = [
        Term("kernel", inputs, 0.5 * factor),
        Term("bias", Free(chain, "node"), 2.0 * factor),
        Term("boundaries", Boundary(chain), 0.7 * factor),
        Term("edges", Free(chain, "edge"), 1.3 * factor),
    ]
    fixed = _ruled(chain, right, rng) if offset else None
    if fixed is not None:
        fixed = {clique: values.astype(dtype) for clique, values in fixed.items()}
    kept = [term for term in terms if term.name in ("kernel", *parts)]
    return Problem.of(LogLoss(chain, right, weights), kept, fixed, dtype, dtype)


def _ruled(chain, right, rng):
    """Fixed scores, a label forbidden at some places, and label pairs that the right labels do not have."""
    L = chain.n_labels
    node, edge = rng.normal(size=(chain.n_vertices, L)), np.full((L, L), -np.inf)
    for s, t in zip(chain.offsets[:-1], chain.offsets[1:], strict=True):
        for left, following in zip(right[s : t - 1], right[s + 1 : t], strict=True):
            edge[left, following] = 0.3
    places = rng.random(chain.n_vertices) < 0.3
    node[places, (right + 1)[places] % L] = -np.inf
    return {"node": node, "edge": edge}


CASES = [
    {},
    {"parts": ()},
    {"parts": ("edges",), "weighted": True},
    {"parts": ("bias", "boundaries"), "offset": True},
    {"weighted": True, "offset": True},
    {"labels": 2},
    {"labels": 5, "factor": 0.02},
    {"lengths": [1] * 30, "parts": ("bias",), "weighted": True},
    {"lengths": MANY, "factor": 0.1},
    {"lengths": [300, 5, 40], "factor": 0.3},
]


def visits(dual, random, sweeps=3):
    return dual.visit(random.permutation(dual.size), sweeps)


def bound(dual):
    found = dual.expectations()
    return found.at(dual.problem.at(found.element(dual.problem))).bound(dual.problem)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_reaches_the_optimum_of_lbfgs(case, rng):
    problem = problem_of(rng, **case)
    exact = LBFGS().minimize(problem, problem.zero(), Stop(1e-9, 0.0, 5000))
    found = ExponentiatedGradient(passes=3000).minimize(problem, problem.zero(), Stop(1e-6, 0.0, 3000))
    assert found.reason is Reason.GAP
    np.testing.assert_allclose(found.point.value, exact.point.value, rtol=2e-6)
    assert found.point.value >= exact.progress.lower_bound * (1 - 1e-12)
    assert found.progress.lower_bound <= exact.point.value
    away = problem.damped(found.point.element - exact.point.element)
    # R is as curved as ‖·‖²/2 at least: f cannot be further from the optimum than its height allows
    assert problem.inner(away, away) <= 2.2e-6 * exact.point.value


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_pass_knows_by_how_much_the_dual_has_risen(case, rng):
    problem = problem_of(rng, **case)
    optimum = LBFGS().minimize(problem, problem.zero(), Stop(1e-9, 0.0, 5000)).point.value
    dual, value = EntropyDual(problem), 0.0
    for n in range(6):
        gap, rise = visits(dual, rng)
        after = bound(dual)
        assert rise > 0
        assert after <= optimum
        np.testing.assert_allclose(after - value, rise, rtol=1e-6, atol=1e-9 * optimum)
        assert np.isinf(gap) == (n == 0)
        value = after


@pytest.mark.parametrize("case", CASES[:6], ids=str)
def test_distributions_are_those_of_their_scores(case, rng):
    problem = problem_of(rng, **case)
    point = problem.at(
        problem.representer({k: rng.normal(size=s) for k, s in problem.structure.shapes.items()})
    )
    dual = EntropyDual(problem)
    dual.begin(point)
    found = dual.expectations()
    loss, chain = problem.loss, problem.structure
    every = Enumerated(chain, problem.arrays.with_offset(point.theta))
    weights = np.ones(chain.n_instances) if loss.weights is None else loss.weights
    expected = every.marginals(weights).parts
    level = weights @ every.entropy()
    if problem.arrays.offset is not None:
        fixed = {k: np.where(np.isfinite(v), v, 0.0) for k, v in problem.arrays.offset.items()}
        level += sum(np.vdot(fixed[k], expected[k]) for k in fixed)
        level -= weights @ chain.score(fixed, loss.outputs)
    chain.subtract_parts(expected, loss.outputs, weights)
    np.testing.assert_allclose(found.node, expected["node"], atol=1e-12)
    np.testing.assert_allclose(found.edge, expected["edge"], atol=1e-12)
    np.testing.assert_allclose(found.level, level, rtol=1e-12)
    np.testing.assert_allclose(bound(dual), point.certificate.lower_bound, rtol=1e-9)
    before = bound(dual)
    rise = visits(dual, rng)[1]
    np.testing.assert_allclose(bound(dual) - before, rise, rtol=1e-6)


def test_before_any_visit_there_is_no_function(rng):
    problem = problem_of(rng, offset=True)
    found = EntropyDual(problem).expectations()
    assert not found.node.any()
    assert not found.edge.any()
    assert found.level == 0


def test_what_is_forbidden_is_never_expected(rng):
    problem = problem_of(rng, lengths=MANY, offset=True)
    dual = EntropyDual(problem)
    visits(dual, rng)
    found = dual.expectations()
    assert not found.node[np.isinf(problem.arrays.offset["node"])].any()
    assert not found.edge[np.isinf(problem.arrays.offset["edge"])].any()
    assert found.node.any()


def test_gaps_that_visits_meet_estimate_the_duality_gap(rng):
    problem = problem_of(rng, lengths=MANY, factor=0.1)
    dual = EntropyDual(problem)
    for _ in range(6):
        visits(dual, rng)
    found = dual.expectations()
    point = problem.at(found.element(problem))
    gap = point.value - found.at(point).bound(problem)
    estimate, _ = visits(dual, rng, sweeps=1)
    assert 0.2 * gap <= estimate <= 2 * gap


def test_single_precision_ends_at_the_same_place(rng):
    state = rng.bit_generator.state
    found = []
    for dtype in (np.float32, np.float64):
        rng.bit_generator.state = state
        problem = problem_of(rng, lengths=MANY, weighted=True, dtype=dtype)
        dual = EntropyDual(problem)
        for seed in range(40):  # ways differ: what is rounded otherwise may be taken or not
            dual.visit(np.random.default_rng(seed).permutation(dual.size), 4)
        found.append(dual.expectations())
    np.testing.assert_allclose(found[0].level, found[1].level, rtol=1e-3)
    np.testing.assert_allclose(found[0].node, found[1].node, atol=2e-3)


def test_levels_give_way_by_rounding_in_double(rng):
    problem = problem_of(rng)
    dual = EntropyDual(problem)
    visits(dual, rng)
    found = dual.expectations()
    point = problem.at(found.element(problem))
    assert found.size > 0
    assert 0 < found.level - found.at(point).level < 1e-9 * found.level


def _with_terms(problem, terms):
    return Problem.of(problem.loss, terms)


def _inadequate(rng):
    problem = problem_of(rng)
    chain, right, terms = problem.structure, problem.loss.outputs, list(problem.terms)
    x = rng.normal(size=(chain.n_vertices, 2))
    forest = small_forest()
    labels = rng.integers(3, size=forest.n_vertices).astype(np.int32)
    kernel = Expansion(forest, "node", StoredGram(np.eye(forest.n_vertices)))
    untied = ChainBatch(chain.offsets, 3, shared_edges=False)
    cost = {"node": np.ones((chain.n_vertices, 3))}
    only = LabelEmbedding.only(np.array([0, 1]), 3)
    some = Expansion(chain, "node", terms[0].space.gram, terms[0].space.rows, only)
    return {
        "no kernel": _with_terms(problem, [Term("x", LinearFeatures(chain, "node", x), 1.0)]),
        "no inputs": _with_terms(problem, terms[1:]),
        "two kernels": _with_terms(problem, [*terms, replace(terms[0], name="other")]),
        "no penalty": _with_terms(problem, [replace(terms[0], penalty=0.0)]),
        "a norm": _with_terms(problem, [terms[0], replace(terms[1], norm=L1Norm(0.1))]),
        "another loss": Problem.of(MarginalLogLoss(chain, right), terms),
        "a cost": Problem.of(LogLoss(chain, right, None, cost), terms),
        "some labels": _with_terms(problem, [Term("kernel", some, 1.0)]),
        "a forest": Problem.of(LogLoss(forest, labels), [Term("kernel", kernel, 1.0)]),
        "edges of their own": Problem.of(
            LogLoss(untied, right),
            [Term("kernel", Expansion(untied, "node", terms[0].space.gram, terms[0].space.rows), 1.0)],
        ),
    }


def test_other_problems_are_refused(rng):
    assert EntropyDual.suits(problem_of(rng))
    assert not EntropyDual.suits(problem_of(rng), memory_limit=100)
    for name, problem in _inadequate(rng).items():
        assert not EntropyDual.suits(problem), name
    with pytest.raises(TypeError, match="use LBFGS"):
        ExponentiatedGradient().minimize(_inadequate(rng)["no kernel"], np.zeros(6), Stop())
