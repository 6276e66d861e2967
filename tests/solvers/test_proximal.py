"""Optima of problems with norms that are not squared, against SciPy, optimality conditions and duality."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from kernelfields.losses import LogLoss
from kernelfields.objective import (
    GroupNorm,
    L1Norm,
    Problem,
    SpaceNorm,
    Term,
    linear_chain_problem,
)
from kernelfields.solvers import OWLQN, NewtonCG, ProximalQuasiNewton, Reason, Stop
from kernelfields.spaces import Free, LinearFeatures, SparseFeatures
from kernelfields.structures import ChainBatch, TreeBatch
from tests._problems import kernel_problem, partial_problem, problems, small_chain, small_labels

TIGHT = Stop(gap=1e-9, iterations=500)
ROUND = (1e-2, 1e-4, 1e-6)
"""Radii within which SciPy sees kinks as round, one after the other."""


@pytest.fixture(autouse=True)
def one_blas_thread():
    """SciPy's L-BFGS multiplies tiny matrices; on a busy machine their threads wait for each other."""
    with threadpool_limits(1, user_api="blas"):
        yield


def solved(problem, stop=TIGHT):
    return ProximalQuasiNewton().minimize(problem, problem.zero(), stop)


def grouped_terms(structure, rng, penalty, weight):
    features = rng.normal(size=(structure.n_vertices, 5)) * [1, 1, 3, 0.2, 1]
    return [
        Term("features", LinearFeatures(structure, "node", features), penalty, GroupNorm(weight)),
        Term("bias", Free(structure, "node"), 0.5),
        Term("edges", Free(structure, "edge"), 0.0, SpaceNorm(0.7)),
    ]


def grouped_problem(name, rng, penalty=0.0, weight=1.5):
    structure = small_chain()
    if name == "tree":
        structure = TreeBatch([0, 4, 5, 11], [1, -1, 1, 1, -1, 6, -1, 6, 5, 5, 8], 3)
    return Problem.of(
        LogLoss(structure, small_labels(structure, rng)), grouped_terms(structure, rng, penalty, weight)
    )


def rounded(problem, w, radius):
    """R with every length ‖w_g‖ replaced by √(‖w_g‖² + δ²), and its partial derivatives."""
    plain = Problem.of(problem.loss, [replace(term, norm=None, penalty=0.0) for term in problem.terms])
    point = plain.at(w)
    value, slope = point.value, point.gradient.copy()
    count = 0.0
    for term in problem.terms:
        place = problem.slices[term.name]
        value += 0.5 * term.penalty * w[place] @ w[place]
        slope[place] += term.penalty * w[place]
        if term.norm is None:
            continue
        width = 3 if isinstance(term.norm, GroupNorm) else term.space.size
        rows = w[place].reshape(-1, width)
        lengths = np.sqrt((rows**2).sum(axis=1) + radius**2)
        value += term.norm.weight * lengths.sum()
        slope[place] += (term.norm.weight * rows / lengths[:, None]).ravel()
        count += term.norm.weight * len(rows)
    return value, slope, count * radius


@pytest.mark.parametrize("penalty", [0.0, 0.3])
@pytest.mark.parametrize("name", ["chain", "tree"])
def test_groups_reach_scipys_optimum(name, penalty, rng):
    """The rounded function is above R, by δ Σ κ_g at most."""
    problem = grouped_problem(name, rng, penalty)
    result = solved(problem)
    assert result.reason is Reason.GAP
    start = problem.zero()
    for radius in ROUND:  # from one to the next: L-BFGS-B gives up early where kinks are nearly sharp
        found = minimize(
            lambda w, radius=radius: rounded(problem, w, radius)[:2],
            start,
            jac=True,
            method="L-BFGS-B",
            options={"gtol": 1e-7, "ftol": 0, "maxiter": 400},
        )
        value, start = found.fun, found.x
    above = rounded(problem, start, radius)[2]
    assert result.progress.lower_bound <= value
    assert result.point.value <= value + 1e-8
    assert value <= result.point.value + above + 1e-7


@pytest.mark.parametrize("penalty", [0.0, 0.3])
@pytest.mark.parametrize("weight", [0.5, 1.5, 4.0])
def test_groups_satisfy_the_optimality_conditions(penalty, weight, rng):
    problem = grouped_problem("chain", rng, penalty, weight)
    point = solved(problem).point
    term, place = problem.terms[0], problem.slices["features"]
    slopes = (term.metric * point.gradient[place]).reshape(-1, 3)
    weights = point.element[place].reshape(-1, 3)
    lengths = np.linalg.norm(weights, axis=1)
    zero = lengths == 0
    assert zero.any() or weight < 1
    assert (np.linalg.norm(slopes[zero], axis=1) <= weight + 1e-4).all()
    np.testing.assert_allclose(slopes[~zero], -weight * weights[~zero] / lengths[~zero, None], atol=1e-3)


def test_bounds_hold_everywhere(rng):
    for penalty in (0.0, 0.3):
        problem = grouped_problem("chain", rng, penalty)
        lowest = solved(problem, Stop(gap=1e-11, iterations=1000)).point
        for scale in (0.0, 0.01, 0.1, 1.0, 10.0):
            for _ in range(10):
                point = problem.at(lowest.element + scale * rng.normal(size=problem.size))
                assert point.certificate.lower_bound <= lowest.value
                assert point.dual is None
        assert lowest.certificate.relative_gap < 1e-10


@pytest.mark.parametrize("penalty", [0.0, 0.5])
def test_single_coordinates_as_owlqn(penalty, rng):
    chain = small_chain()
    features = LinearFeatures(chain, "node", rng.normal(size=(chain.n_vertices, 5)))
    terms = [Term("features", features, penalty, L1Norm(0.8)), Term("edges", Free(chain, "edge"), 1.0)]
    problem = Problem.of(LogLoss(chain, small_labels(chain, rng)), terms)
    one, other = solved(problem), OWLQN().minimize(problem, problem.zero(), TIGHT)
    assert one.point.value == pytest.approx(other.point.value, rel=1e-8)
    np.testing.assert_array_equal(one.point.element == 0, other.point.element == 0)
    alone = GroupNorm(0.8, np.arange(features.size))
    same = solved(Problem.of(problem.loss, [replace(terms[0], norm=alone), terms[1]]))
    assert same.point.value == pytest.approx(other.point.value, rel=1e-8)


def chain_of_sparse(rng, dtype=np.float64):
    chain = ChainBatch(np.arange(0, 201, 5), 4)
    X = sparse.csr_matrix((rng.random((200, 60)) < np.geomspace(0.5, 0.02, 60)).astype(np.float64))
    labels = ((X @ rng.normal(size=(60, 4))) * (np.arange(60) < 20).sum() + rng.gumbel(size=(200, 4))).argmax(
        1
    )
    terms = [
        Term("features", SparseFeatures(chain, "node", X), 0.0, GroupNorm(1.5)),
        Term("edges", Free(chain, "edge"), 1.0),
    ]
    return linear_chain_problem(LogLoss(chain, labels.astype(np.int32)), terms, None, dtype)


def test_one_pass_data_reach_the_same_optimum(rng):
    fused = chain_of_sparse(rng)
    general = Problem(fused.geometry, fused.arrays)
    one, other = solved(fused), solved(general)
    assert one.point.value == pytest.approx(other.point.value, rel=1e-8)
    assert 0 < np.count_nonzero(fused.moving(one.point.element)) < fused.size
    np.testing.assert_array_equal(fused.moving(one.point.element), fused.moving(other.point.element))


def test_single_precision_comes_close(rng):
    problem = chain_of_sparse(rng, np.float32)
    found = solved(problem, Stop(gap=1e-3))
    assert found.point.element.dtype == np.float32
    assert problem.exact().at(found.point.element).certificate.relative_gap < 2e-3


def test_without_certificate_the_shortest_subgradient_decides(rng):
    problem = partial_problem(rng)
    problem = Problem.of(problem.loss, [replace(problem.terms[0], norm=GroupNorm(0.3)), problem.terms[1]])
    start = 0.1 * rng.normal(size=problem.size)
    result = ProximalQuasiNewton().minimize(problem, start, Stop(gradient=1e-6))
    assert result.reason is Reason.GRADIENT
    steepest = problem.steepest(result.point)
    assert np.sqrt(problem.inner(steepest, steepest)) < 1e-4


def unsquared(problem, epsilons):
    pairs = zip(problem.terms, epsilons, strict=True)
    return Problem.of(problem.loss, [replace(term, penalty=0.0, norm=SpaceNorm(e)) for term, e in pairs])


@pytest.mark.parametrize("make", [kernel_problem, lambda rng: problems(rng)["edges with input"]])
def test_the_norm_of_a_space_is_a_squared_one_with_the_penalty_that_belongs_to_it(make, rng):
    """λ = ε/‖f‖; and moments match up to ε [altun2006, Theorem 1]."""
    problem = make(rng)
    epsilons = 0.4 + 0.1 * np.arange(len(problem.terms))
    result = solved(unsquared(problem, epsilons))
    assert result.reason is Reason.GAP
    norms, mismatches = {}, {}
    for term, place in problem.geometry.parts:
        part, r = result.point.element[place], result.point.mismatch[place]
        norms[term.name] = np.sqrt(term.space.inner(part, part))
        mismatches[term.name] = np.sqrt(term.space.inner(r, r))
    for (name, norm), epsilon in zip(norms.items(), epsilons, strict=True):
        assert mismatches[name] <= epsilon * (1 + 1e-4)
        assert norm == 0 or mismatches[name] == pytest.approx(epsilon, rel=1e-4)
    alive = [(term, e) for term, e in zip(problem.terms, epsilons, strict=True) if norms[term.name] > 0]
    assert alive
    squared = Problem.of(problem.loss, [replace(term, penalty=e / norms[term.name]) for term, e in alive])
    best = NewtonCG().minimize(squared, squared.zero(), Stop(gap=1e-12)).point
    half = sum(0.5 * e * norms[term.name] for term, e in alive)
    assert best.value + half == pytest.approx(result.point.value, rel=1e-7)
    for term, _ in alive:
        mine, theirs = (
            result.point.element[problem.slices[term.name]],
            best.element[squared.slices[term.name]],
        )
        np.testing.assert_allclose(mine, theirs, atol=2e-3)


def test_a_large_epsilon_is_met_by_no_function(rng):
    problem = unsquared(kernel_problem(rng), [100.0, 100.0])
    result = ProximalQuasiNewton().minimize(problem, problem.zero(), TIGHT)
    assert not result.point.element.any()
    assert result.reason is Reason.GAP
    far = problem.at(problem.zero()).mismatch
    found = ProximalQuasiNewton().minimize(problem, -far, TIGHT)  # from elsewhere, too
    assert not found.point.element.any()


def test_it_is_the_dual_of_maximum_entropy_with_moments_up_to_epsilon(rng):
    """max Σ_i H(p_i) subject to ‖E_p[Φ] − Φ̃‖ ≤ ε, by SciPy over all labellings of two short sequences."""
    chain, epsilon = ChainBatch([0, 2, 4], 2), 0.35
    x, labels = rng.normal(size=(4, 2)), np.array([0, 1, 1, 1], dtype=np.int32)
    problem = Problem.of(
        LogLoss(chain, labels), [Term("features", LinearFeatures(chain, "node", x), 0.0, SpaceNorm(epsilon))]
    )
    every = list(product(range(2), repeat=2))

    def features(s, y):
        table = np.zeros((2, 2))
        for t, label in enumerate(y):
            table[:, label] += x[2 * s + t]
        return table.ravel()

    phi = np.array([[features(s, y) for y in every] for s in range(2)])
    observed = features(0, labels[:2]) + features(1, labels[2:])

    def off(p):
        return (p.reshape(2, 4)[:, :, None] * phi).sum(axis=(0, 1)) - observed

    found = minimize(
        lambda p: float(np.sum(p * np.log(p))),
        np.full(8, 0.25),
        method="SLSQP",
        bounds=[(1e-12, 1)] * 8,
        constraints=[
            {"type": "eq", "fun": lambda p: p.reshape(2, 4).sum(axis=1) - 1},
            {"type": "ineq", "fun": lambda p: epsilon**2 - off(p) @ off(p)},
        ],
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert found.success
    result = solved(problem, Stop(gap=1e-10, iterations=500))
    assert result.point.value == pytest.approx(-found.fun, rel=1e-6)
    assert chain.entropy(result.point.theta).sum() == pytest.approx(-found.fun, rel=1e-4)
    assert np.sqrt(problem.inner(result.point.mismatch, result.point.mismatch)) <= epsilon * (1 + 1e-6)
