"""The objective: derivatives, certificate, freezing, cutting."""

import numpy as np
import pytest

from kernelfields.losses import LogLoss
from kernelfields.objective import L1Norm, Problem, Term
from kernelfields.solvers import LBFGS, Stop
from kernelfields.spaces import Free, LinearFeatures
from kernelfields.structures import ChainBatch
from tests._problems import partial_problem, problems, small_chain, small_labels

NAMES = [
    "shared edges",
    "edges with input",
    "second order",
    "second order, edges with input",
    "forest",
    "forest, edges with input",
    "partial",
]


def problem_named(name, rng):
    return partial_problem(rng) if name == "partial" else problems(rng)[name]


@pytest.mark.parametrize("name", NAMES)
def test_gradient_and_curvature_are_derivatives(name, rng):
    problem = problem_named(name, rng)
    w, d = rng.normal(size=(2, problem.size))
    point, h = problem.at(w), 1e-5
    up, down = problem.at(w + h * d), problem.at(w - h * d)
    slope = problem.inner(point.gradient, d)
    np.testing.assert_allclose(slope, (up.value - down.value) / (2 * h), rtol=1e-7)
    np.testing.assert_allclose(point.along(d).slope(point), slope, rtol=1e-10)
    np.testing.assert_allclose(
        point.hessian_product(d), (up.gradient - down.gradient) / (2 * h), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("name", NAMES)
def test_hessian_is_self_adjoint_in_the_inner_product(name, rng):
    problem = problem_named(name, rng)
    w, u, v = rng.normal(size=(3, problem.size))
    point = problem.at(w)
    left = problem.inner(u, point.hessian_product(v))
    np.testing.assert_allclose(left, problem.inner(point.hessian_product(u), v), rtol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_points_on_a_line_are_points(name, rng):
    problem = problem_named(name, rng)
    w, d = rng.normal(size=(2, problem.size))
    moved, anew = problem.at(w).along(d).at(0.3), problem.at(w + 0.3 * d)
    np.testing.assert_allclose(moved.value, anew.value, rtol=1e-12)
    np.testing.assert_allclose(moved.gradient, anew.gradient, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", NAMES[:-1])
def test_lower_bound_holds_everywhere_and_is_tight_at_the_optimum(name, rng):
    problem = problem_named(name, rng)
    optimum = LBFGS().minimize(problem, problem.zero(), Stop(gap=1e-12)).point
    for scale in (0.0, 0.1, 1.0, 10.0):
        point = problem.at(optimum.element + scale * rng.normal(size=problem.size))
        certificate = point.certificate
        assert certificate.lower_bound <= optimum.value + 1e-9
        # The dual form equals value − ½‖gradient‖² [altun2004exp, Lemma 9].
        direct = point.value - 0.5 * problem.inner(point.gradient, point.gradient)
        np.testing.assert_allclose(certificate.lower_bound, direct, rtol=1e-8, atol=1e-8)
    assert optimum.certificate.relative_gap < 1e-11


def test_dual_value_is_entropy_minus_mismatch(rng):
    chain = small_chain()
    loss = LogLoss(chain, small_labels(chain, rng))
    problem = Problem.of(loss, [Term("edges", Free(chain, "edge"), 0.7)])
    point = problem.at(rng.normal(size=problem.size))
    entropy = chain.entropy(point.theta).sum()
    mismatch = 0.5 * problem.inner(point.mismatch, point.mismatch)
    np.testing.assert_allclose(point.certificate.lower_bound, entropy - mismatch, rtol=1e-9)


def test_no_certificate_without_convexity_or_without_penalty(rng):
    assert partial_problem(rng).at(partial_problem(rng).zero()).certificate is None
    chain = small_chain()
    features = rng.normal(size=(chain.n_vertices, 2))
    terms = [
        Term("features", LinearFeatures(chain, "node", features), 1.0),
        Term("edges", Free(chain, "edge"), 0.0),
    ]
    problem = Problem.of(LogLoss(chain, small_labels(chain, rng)), terms)
    assert problem.at(problem.zero()).certificate is None


def test_zero_penalty_leaves_its_space_free(rng):
    chain = small_chain()
    problem = Problem.of(LogLoss(chain, small_labels(chain, rng)), [Term("edges", Free(chain, "edge"), 0.0)])
    w = rng.normal(size=problem.size)
    assert problem.at(w).value == problem.at(w).loss.value


def test_frozen_spaces_stay(rng):
    problem = problems(rng)["shared edges"]
    w = rng.normal(size=problem.size)
    part = problem.only(["edges"], w)
    place = problem.slices["edges"]
    frozen = w.copy()
    frozen[place] = 0
    left_out = 0.5 * problem.inner(frozen, frozen)
    np.testing.assert_allclose(part.at(w[place]).value + left_out, problem.at(w).value)
    np.testing.assert_allclose(part.at(w[place]).gradient, problem.at(w).gradient[place], atol=1e-10)


def test_instances_add_up(rng):
    problem = problems(rng)["edges with input"]
    w = rng.normal(size=problem.size)
    ids = np.arange(problem.structure.n_instances)
    halves = [problem.take(half).at(w) for half in (ids[:2], ids[2:])]
    np.testing.assert_allclose(sum(half.loss.value for half in halves), problem.at(w).loss.value)
    np.testing.assert_allclose(sum(half.mismatch for half in halves), problem.at(w).mismatch, atol=1e-10)


def test_offset_shifts_scores(rng):
    problem = problems(rng)["shared edges"]
    place = problem.slices["edges"]
    shift = rng.normal(size=problem.structure.shapes["edge"])
    offset = {"node": np.zeros(problem.structure.shapes["node"]), "edge": shift}
    moved = Problem.of(problem.loss, problem.terms, offset)
    w = rng.normal(size=problem.size)
    v = w.copy()
    v[place] += shift.ravel()
    np.testing.assert_allclose(moved.at(w).loss.value, problem.at(v).loss.value)
    assert moved.at(w).certificate.lower_bound <= LBFGS().minimize(moved, w, Stop(gap=1e-10)).point.value


def test_untied_edges_with_equal_tables_are_tied_edges(rng):
    chain = small_chain(shared_edges=False)
    loss = LogLoss(chain, small_labels(chain, rng))
    members = rng.random(chain.n_edges) < 0.5
    tied = Problem.of(loss, [Term("all", Free(chain, "edge"), 1.0)])
    untied = Problem.of(
        loss,
        [Term("some", Free(chain, "edge", members), 1.0), Term("others", Free(chain, "edge", ~members), 1.0)],
    )
    w = rng.normal(size=tied.size)
    both = np.concatenate([w, w])
    np.testing.assert_allclose(tied.at(w).loss.value, untied.at(both).loss.value)
    optima = [LBFGS().minimize(p, p.zero(), Stop(gap=1e-10)).point.loss.value for p in (tied, untied)]
    assert optima[1] != optima[0]


def test_blocks_are_clique_types(rng):
    assert problems(rng)["shared edges"].blocks == (("features", "bias", "boundaries"), ("edges",))
    assert problems(rng)["second order"].blocks[2] == ("triples",)


@pytest.mark.parametrize("name", ["shared edges", "edges with input", "partial"])
def test_block_hessian_is_self_adjoint_and_not_negative(name, rng):
    problem = problem_named(name, rng)
    w, u, v = rng.normal(size=(3, problem.size))
    point = problem.at(w)
    left = problem.inner(u, point.block_hessian_product(v))
    np.testing.assert_allclose(left, problem.inner(point.block_hessian_product(u), v), rtol=1e-9)
    assert problem.inner(u, point.block_hessian_product(u)) > 0


def test_block_hessian_is_the_hessian_where_each_instance_is_one_clique(rng):
    """Several spaces feed the one vertex of an instance, and stay coupled; weights, cost and offset count."""
    chain = ChainBatch(np.arange(8), 3)
    labels = small_labels(chain, rng)
    terms = [
        Term("features", LinearFeatures(chain, "node", rng.normal(size=(7, 4))), 0.5),
        Term("bias", Free(chain, "node"), 2.0),
    ]
    offset = {"node": rng.normal(size=(7, 3)), "edge": np.zeros((3, 3))}
    cost = np.where(labels[:, None] == np.arange(3), 0.0, rng.random((7, 3)))
    problem = Problem.of(LogLoss(chain, labels, rng.random(7) + 0.5, {"node": cost}), terms, offset)
    w, d = rng.normal(size=(2, problem.size))
    point = problem.at(w)
    np.testing.assert_allclose(point.block_hessian_product(d), point.hessian_product(d), atol=1e-12)


def test_instances_keep_their_l1_penalty(rng):
    chain = small_chain()
    space = LinearFeatures(chain, "node", rng.normal(size=(chain.n_vertices, 2)))
    problem = Problem.of(
        LogLoss(chain, small_labels(chain, rng)), [Term("features", space, 1.0, L1Norm(0.5))]
    )
    np.testing.assert_array_equal(problem.take([0, 3]).thresholds, problem.thresholds)
