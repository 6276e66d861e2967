"""Geometry apart from data: shards, one data term under several geometries, two for one function."""

import numpy as np
import pytest
from scipy import sparse

from kernelfields.losses import LogLoss
from kernelfields.objective import Geometry, GroupNorm, Offsets, Problem, Term, linear_chain_problem
from kernelfields.online import Sweep
from kernelfields.solvers import LBFGS, BlockJacobi, MetaDescent, NewtonCG, Stop, Subspace
from kernelfields.spaces import Boundary, Free, SparseFeatures
from kernelfields.structures import ChainBatch
from tests._problems import kernel_problem, problems


def chain_problem(rng, offsets=True):
    """A linear chain in one pass, with fixed scores."""
    chain = ChainBatch(np.cumsum([0, 4, 1, 0, 7, 3, 5]), 3)
    X = sparse.csr_matrix((rng.random((20, 12)) < 0.4) * rng.normal(size=(20, 12)))
    terms = [
        Term("features", SparseFeatures(chain, "node", X), 0.7),
        Term("bias", Free(chain, "node"), 0.5),
        Term("boundaries", Boundary(chain), 0.3),
        Term("edges", Free(chain, "edge"), 0.2),
    ]
    fixed = Offsets(rng.normal(size=(3, 3)), rng.normal(size=(3, 3))) if offsets else None
    weights = rng.random(6) + 0.5
    return linear_chain_problem(
        LogLoss(chain, rng.integers(3, size=20).astype(np.int32), weights), terms, fixed, "d"
    )


def problem_named(name, rng):
    return chain_problem(rng) if name == "one pass" else problems(rng)[name]


NAMES = ["one pass", "shared edges", "edges with input", "second order"]


@pytest.mark.parametrize("name", NAMES)
def test_shards_add_up_to_the_whole(name, rng):
    """Losses and mismatches of any partition of the instances, as a sum over machines would have them."""
    problem = problem_named(name, rng)
    w = rng.normal(size=problem.size)
    ids = rng.permutation(problem.n_instances)
    shards = [problem.take(np.sort(part)) for part in (ids[:1], ids[1:4], ids[4:])]
    assert sum(shard.n_instances for shard in shards) == problem.n_instances
    whole, parts = problem.data.at(w), [shard.data.at(w) for shard in shards]
    np.testing.assert_allclose(sum(part.value for part in parts), whole.value, rtol=1e-13)
    np.testing.assert_allclose(sum(part.mismatch() for part in parts), whole.mismatch(), atol=1e-12)
    for shard in shards:
        assert shard.penalty(w) == problem.penalty(w)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_data_serve_other_penalties(name, rng):
    problem = problem_named(name, rng)
    w = rng.normal(size=problem.size)
    terms = [Term(term.name, term.space, 3 * term.penalty) for term in problem.terms]
    dearer = Problem(Geometry(terms), problem.data)
    other, point = dearer.at(w), problem.at(w)
    assert other.value - point.value == pytest.approx(2 * problem.penalty(w))
    np.testing.assert_allclose(3 * other.mismatch, point.mismatch, atol=1e-12)
    h, d = 1e-6, rng.normal(size=problem.size)
    slope = (dearer.at(w + h * d).value - dearer.at(w - h * d).value) / (2 * h)
    assert dearer.inner(other.gradient, d) == pytest.approx(slope, rel=1e-6)


def test_both_data_terms_are_one_function(rng):
    fused = chain_problem(rng)
    arrays = Problem(fused.geometry, fused.arrays)
    w = rng.normal(size=fused.size)
    one, other = fused.at(w), arrays.at(w)
    assert one.value == pytest.approx(other.value, rel=1e-12)
    np.testing.assert_allclose(one.gradient, other.gradient, atol=1e-11)
    np.testing.assert_allclose(one.mismatch, other.mismatch, atol=1e-11)
    assert one.certificate.lower_bound == pytest.approx(other.certificate.lower_bound, rel=1e-9)


def test_a_mismatch_may_be_asked_for_before_and_after_the_gradient(rng):
    problem = chain_problem(rng)
    w = rng.normal(size=problem.size)
    before, after = problem.at(w), problem.at(w)
    first = before.mismatch.copy()
    np.testing.assert_array_equal(before.gradient, after.gradient)
    np.testing.assert_allclose(after.mismatch, first, atol=1e-12)
    np.testing.assert_allclose(before.mismatch, first, atol=1e-12)


def test_one_pass_data_are_minimised_block_by_block(rng):
    problem = chain_problem(rng)
    expected = LBFGS().minimize(problem, problem.zero(), Stop(gap=1e-10)).point.value
    found = Subspace(inner=LBFGS()).minimize(problem, problem.zero(), Stop(gap=1e-8)).point.value
    assert found == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("solver", [NewtonCG(), BlockJacobi(), MetaDescent()])
def test_what_lacks_second_derivatives_is_named(solver, rng):
    problem = chain_problem(rng)
    sentence = f"{type(solver).__name__} needs second derivatives, which LinearChainData does not have"
    with pytest.raises(TypeError, match=sentence):
        solver.minimize(problem, problem.zero(), Stop())
    with pytest.raises(TypeError, match="LinearChainData has no second derivatives"):
        problem.at(problem.zero()).hessian_product(problem.zero())
    with pytest.raises(TypeError, match="LinearChainData keeps no scores"):
        _ = problem.at(problem.zero()).theta


def test_descent_asks_for_a_linear_chain(rng):
    assert Sweep.suits(chain_problem(rng)) is False  # three penalties besides that of edges
    with pytest.raises(TypeError, match="linear chain, not ArrayData"):
        Sweep.of(problems(rng)["shared edges"])


def test_shares_of_a_penalty_keep_the_norm_in_proportion(rng):
    problem = chain_problem(rng)
    features = problem.terms[0]
    term = Term("features", features.space, 0.7, GroupNorm(0.4))
    share = Geometry([term]).scaled(0.25).terms[0]
    assert (share.penalty, share.norm.weight) == (0.175, 0.1)


def test_images_are_computed_anew_in_expansions_only(rng):
    kernel, linear = kernel_problem(rng), chain_problem(rng)
    w = linear.zero()
    assert linear.refreshed(w) is w
    element = kernel.representer({c: rng.normal(size=s) for c, s in kernel.structure.shapes.items()})
    stale = element.copy()
    stale[kernel.terms[0].space.half : kernel.terms[0].space.size] = 0
    np.testing.assert_allclose(kernel.refreshed(stale), element, atol=1e-12)
