"""Norms that are not squared: proximal maps, dual norms and subgradients by their definitions."""

import numpy as np
import pytest

from kernelfields.errors import InputError
from kernelfields.gram import StoredGram
from kernelfields.kernels import RBF
from kernelfields.losses import LogLoss, ZeroOneHinge
from kernelfields.objective import BlockDual, Geometry, GroupNorm, L1Norm, Problem, SpaceNorm, Term
from kernelfields.solvers import LBFGS, OWLQN, NewtonCG, Stop
from kernelfields.spaces import Expansion, Free, LinearFeatures
from tests._problems import small_chain, small_labels, small_scores

NORMS = ["l1", "groups", "given groups", "space", "kernel"]


def term_named(name, rng, penalty):
    chain = small_chain()
    features = rng.normal(size=(chain.n_vertices, 4))
    linear = LinearFeatures(chain, "node", features)
    if name == "kernel":
        return Term("f", Expansion(chain, "node", StoredGram(RBF(0.3)(features))), penalty, SpaceNorm(0.8))
    given = rng.integers(5, size=linear.size)
    norm = {"l1": L1Norm(0.8), "groups": GroupNorm(0.8), "space": SpaceNorm(0.8)}.get(name)
    return Term("f", linear, penalty, GroupNorm(0.8, given) if norm is None else norm)


def element_of(term, rng, scale=1.0):
    """A random function, its image right if it has one."""
    return scale * term.space.representer(small_scores(term.space.structure, rng)["node"])


def norm_of(term, part):
    """N(f), written down once more."""
    if isinstance(term.norm, L1Norm):
        return sum(abs(w) for w in part)
    if isinstance(term.norm, SpaceNorm):
        return term.space.inner(part, part) ** 0.5
    groups = np.repeat(np.arange(4), 3) if term.norm.groups is None else term.norm.groups
    return sum(np.linalg.norm(part[groups == g]) for g in range(5))


@pytest.mark.parametrize("penalty", [0.0, 2.5])
@pytest.mark.parametrize("name", NORMS)
def test_the_proximal_map_is_a_minimum(name, penalty, rng):
    term = term_named(name, rng, penalty)
    geometry, start = Geometry([term]), element_of(term, rng)
    start *= 2 / np.sqrt(geometry.inner(start, start))
    for step in (0.3, 1.0, 100.0):
        found = geometry.shrunk(start, step)

        def height(u, step=step):
            away = u - start
            return 0.5 * geometry.inner(away, away) + step * 0.8 * norm_of(term, u)

        for scale in (1e-4, 1e-2, 1.0):
            for _ in range(30):
                assert height(found) <= height(found + element_of(term, rng, scale)) + 1e-12
    assert not found.any()


@pytest.mark.parametrize("name", ["l1", "groups", "given groups", "space"])
def test_the_proximal_map_in_other_scales_is_a_minimum(name, rng):
    term = term_named(name, rng, 0.5)
    geometry, start = Geometry([term]), rng.normal(size=term.space.size)
    given = rng.random(len(start)) + 0.5
    scales = geometry.levelled(given)
    assert (scales >= given).all()
    found = geometry.shrunk(start, 0.7, scales)

    def height(u):
        return 0.5 * geometry.inner(u - start, scales * (u - start)) + 0.7 * 0.8 * norm_of(term, u)

    for scale in (1e-4, 1e-2, 1.0):
        for _ in range(30):
            assert height(found) <= height(found + scale * rng.normal(size=len(start))) + 1e-12


@pytest.mark.parametrize("name", NORMS)
def test_the_dual_norm_bounds_products_and_is_reached(name, rng):
    term = term_named(name, rng, 1.0)
    r = element_of(term, rng)
    dual = term.norm.dual(term.space, r)
    for _ in range(50):
        f = element_of(term, rng)
        assert term.space.inner(r, f) <= dual * norm_of(term, f) * (1 + 1e-12)
    candidates = [r]
    if name != "kernel":
        groups = {"l1": np.arange(12), "groups": np.repeat(np.arange(4), 3)}.get(name, term.norm)
        groups = getattr(groups, "groups", groups)
        if not isinstance(groups, SpaceNorm):
            candidates = [np.where(groups == g, r, 0) for g in np.unique(groups)]
    best = max(term.space.inner(r, f) / norm_of(term, f) for f in candidates)
    assert best == pytest.approx(dual, rel=1e-12)


@pytest.mark.parametrize("at_zero", [False, True])
@pytest.mark.parametrize("name", NORMS)
def test_the_steepest_way_is_the_steepest(name, at_zero, rng):
    """Derivatives along a ray are at least −‖steepest‖ times the length, which minus steepest reaches."""
    term = term_named(name, rng, 1.5)
    geometry = Geometry([term])
    gradient, element = element_of(term, rng), element_of(term, rng)
    if at_zero:
        element = 0 * element
    elif name != "kernel":
        element[:3] = 0
    steepest = geometry.steepest(element, gradient)
    length = np.sqrt(geometry.inner(steepest, steepest))

    def derivative(d, h=1e-7):
        grown = norm_of(term, element + h * d) - norm_of(term, element)
        return geometry.inner(gradient, d) + 0.8 * grown / h

    assert derivative(-steepest) == pytest.approx(-(length**2), rel=1e-5, abs=1e-6)
    for _ in range(30):
        d = element_of(term, rng)
        assert derivative(d) >= -length * np.sqrt(geometry.inner(d, d)) - 1e-5


def test_spaces_without_coordinates_have_no_l1_and_no_groups(rng):
    space = term_named("kernel", rng, 1.0).space
    for norm in (L1Norm(1.0), GroupNorm(1.0)):
        with pytest.raises(TypeError, match="Expansion of 'f' does not have"):
            Term("f", space, 1.0, norm)
    with pytest.raises(TypeError, match="'e' has no groups"):
        Term("e", Free(small_chain(), "edge"), 1.0, GroupNorm(1.0))
    with pytest.raises(TypeError, match="'e' are 2; expected one for each of its 9 weights"):
        Term("e", Free(small_chain(), "edge"), 1.0, GroupNorm(1.0, np.zeros(2, dtype=int)))
    with pytest.raises(InputError, match="weight is -1"):
        SpaceNorm(-1.0)


def test_solvers_that_would_ignore_a_norm_refuse_it(rng):
    chain = small_chain()
    loss = LogLoss(chain, small_labels(chain, rng))
    problem = Problem.of(loss, [Term("edges", Free(chain, "edge"), 1.0, SpaceNorm(0.1))])
    for solver in (LBFGS(), NewtonCG()):
        with pytest.raises(TypeError, match="not squared; use ProximalQuasiNewton"):
            solver.minimize(problem, problem.zero(), Stop())
    with pytest.raises(TypeError, match="OWLQN needs an ℓ1 penalty"):
        OWLQN().minimize(problem, problem.zero(), Stop())
    with pytest.raises(TypeError, match="no norm besides"):
        BlockDual(Problem.of(ZeroOneHinge(chain, loss.outputs), problem.terms))
