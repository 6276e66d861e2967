"""Solvers on kernel expansions, on sticky chains, on losses that are not convex, and where they refuse."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from kernelfields.losses import LogLoss, MarginalLogLoss
from kernelfields.objective import L1Norm, Problem, Term
from kernelfields.solvers import LBFGS, BlockJacobi, NewtonCG, Reason, Stop, Subspace
from kernelfields.solvers._newton_base import newton_direction
from kernelfields.spaces import Free, LinearFeatures
from kernelfields.structures import ChainBatch, TreeBatch
from kernelfields.testing import minimize_euclidean
from tests._kernel_space import PlainKernel
from tests._problems import partial_problem, problems, small_chain, small_labels, small_second_order

SOLVERS = [LBFGS(), NewtonCG(), BlockJacobi(), Subspace()]
ids = [type(solver).__name__ for solver in SOLVERS]


@pytest.fixture(autouse=True)
def one_blas_thread():
    """SciPy's L-BFGS multiplies tiny matrices; on a busy machine their threads wait for each other."""
    with threadpool_limits(1, user_api="blas"):
        yield


def kernel_terms(structure, rng):
    x = rng.normal(size=(structure.n_vertices, 2))
    gram = np.exp(-2.0 * np.square(x[:, None] - x[None]).sum(axis=2))
    return [
        Term("kernel", PlainKernel(structure, gram), 0.5),
        Term("bias", Free(structure, "node"), 1.0),
        Term("edges", Free(structure, "edge"), 0.1),
    ]


def kernel_problem(rng):
    chain = small_chain()
    return Problem.of(LogLoss(chain, small_labels(chain, rng)), kernel_terms(chain, rng))


def tree_problem(rng):
    tree = TreeBatch([0, 4, 5, 11], [1, -1, 1, 1, -1, 6, -1, 6, 5, 5, 8], 3)
    return Problem.of(LogLoss(tree, small_labels(tree, rng)), kernel_terms(tree, rng))


def marginal_problem(rng, structure):
    return Problem.of(MarginalLogLoss(structure, small_labels(structure, rng)), kernel_terms(structure, rng))


def test_plain_kernel_is_a_space(rng):
    space = kernel_problem(rng).terms[0].space
    g, v = rng.normal(size=(2, *space.structure.shapes["node"]))
    element = space.representer(v)
    np.testing.assert_allclose(space.inner(space.representer(g), element), np.vdot(g, space.scores(element)))


@pytest.mark.parametrize("make", [kernel_problem, tree_problem])
@pytest.mark.parametrize("solver", SOLVERS, ids=ids)
def test_every_solver_reaches_the_same_value_as_plain_coordinates(make, solver, rng):
    problem = make(rng)
    plain = minimize_euclidean(problem, tolerance=1e-6)
    assert plain.reason is Reason.GRADIENT
    result = solver.minimize(problem, problem.zero(), Stop(gap=1e-10))
    assert result.reason is Reason.GAP
    np.testing.assert_allclose(result.point.value, plain.point.value, rtol=1e-8)


def test_plain_coordinates_take_more_iterations(rng):
    problem = kernel_problem(rng)
    own = LBFGS().minimize(problem, problem.zero(), Stop(gap=1e-9))
    plain = minimize_euclidean(problem, tolerance=1e-9, observer=lambda p, _: p.value <= own.progress.value)
    assert plain.progress.iteration > own.progress.iteration


@pytest.mark.parametrize("name", ["shared edges", "edges with input", "second order", "forest"])
def test_plain_coordinates_serve_linear_spaces(name, rng):
    problem = problems(rng)[name]
    seen = []
    plain = minimize_euclidean(problem, observer=lambda progress, point: seen.append((progress, point)))
    expected = NewtonCG().minimize(problem, problem.zero(), Stop(gap=1e-12)).point.value
    np.testing.assert_allclose(plain.point.value, expected, rtol=1e-10)
    assert [progress.iteration for progress, _ in seen] == list(range(1, len(seen) + 1))
    np.testing.assert_allclose([p.value for p, _ in seen], [point.value for _, point in seen])


def test_plain_route_stops_when_told_and_at_its_limit(rng):
    problem = kernel_problem(rng)
    told = minimize_euclidean(problem, observer=lambda progress, _: progress.iteration == 3)
    assert (told.reason, told.progress.iteration) == (Reason.OBSERVER, 3)
    limited = minimize_euclidean(problem, iterations=2)
    assert (limited.reason, limited.progress.iteration) == (Reason.LIMIT, 2)


def test_plain_route_refuses_spaces_without_coordinates(rng):
    class Rescaled(PlainKernel):
        def representer(self, gradient):
            return 2 * super().representer(gradient)

    problem = kernel_problem(rng)
    term = Term("kernel", Rescaled(problem.structure, problem.terms[0].space.gram), 1.0)
    with pytest.raises(TypeError, match="Rescaled is no expansion"):
        minimize_euclidean(Problem.of(problem.loss, [term]))


def sticky_problem(rng):
    """Labels of long sequences that change rarely; all vertices share the few weights."""
    chain = ChainBatch([0, 60, 120], 2)
    x = rng.normal(size=(120, 1))
    labels = np.repeat([0, 1, 0, 1, 1, 0], 20)
    stay = {"node": np.zeros((120, 2)), "edge": 4.0 * np.eye(2)}
    terms = [
        Term("features", LinearFeatures(chain, "node", x), 0.01),
        Term("bias", Free(chain, "node"), 0.01),
    ]
    return Problem.of(LogLoss(chain, labels), terms, stay)


def test_full_block_jacobi_steps_diverge_on_sticky_chains(rng):
    problem = sticky_problem(rng)
    best = NewtonCG().minimize(problem, problem.zero(), Stop(gap=1e-10)).point
    point = problem.at(best.element + 0.01 * rng.normal(size=problem.size))
    first = point.value
    for _ in range(20):
        direction = newton_direction(problem, point, point.block_hessian_product, 250)
        point = point.along(direction).at(1.0)
    assert point.value > first + 1.0
    searched = BlockJacobi().minimize(problem, problem.zero(), Stop(gap=1e-8))
    assert searched.reason is Reason.GAP
    np.testing.assert_allclose(searched.point.value, best.value, rtol=1e-7)


def test_exact_full_steps_converge_where_those_diverge(rng):
    problem = sticky_problem(rng)
    best = NewtonCG().minimize(problem, problem.zero(), Stop(gap=1e-10)).point
    point = problem.at(best.element + 0.01 * rng.normal(size=problem.size))
    for _ in range(20):
        direction = newton_direction(problem, point, point.hessian_product, 250)
        point = point.along(direction).at(1.0)
    np.testing.assert_allclose(point.value, best.value, rtol=1e-9)


@pytest.mark.parametrize("solver", [LBFGS(), NewtonCG(), Subspace()], ids=["LBFGS", "NewtonCG", "Subspace"])
@pytest.mark.parametrize("kind", ["chain", "tree", "second order"])
def test_marginal_log_is_minimised_without_certificate(kind, solver, rng):
    tree = TreeBatch([0, 4, 5, 11], [1, -1, 1, 1, -1, 6, -1, 6, 5, 5, 8], 3)
    structure = {"chain": small_chain(), "tree": tree, "second order": small_second_order()}[kind]
    problem = marginal_problem(rng, structure)
    result = solver.minimize(problem, problem.zero(), Stop(gradient=1e-5))
    assert result.point.certificate is None
    assert result.reason is Reason.GRADIENT
    assert result.point.value < problem.at(problem.zero()).value


def bent_problem(rng):
    """A point where the marginal log loss bends down along its own gradient."""
    chain = ChainBatch([0, 2], 2)
    offset = {"node": np.array([[0.0, 0.0], [0.0, 3.0]]), "edge": np.array([[0.0, -4.0], [-4.0, 0.0]])}
    terms = [Term("votes", LinearFeatures(chain, "node", np.array([[0.0], [1.0]])), 1e-3)]
    return Problem.of(MarginalLogLoss(chain, np.array([0, -1])), terms, offset)


def test_newton_gets_through_negative_curvature(rng):
    problem = bent_problem(rng)
    start = problem.at(problem.zero())
    steepest = -start.gradient
    assert problem.inner(steepest, start.hessian_product(steepest)) < 0
    values = []
    result = NewtonCG().minimize(
        problem, problem.zero(), Stop(gradient=1e-8), lambda progress, _: values.append(progress.value)
    )
    assert result.reason is Reason.GRADIENT
    assert np.all(np.diff(values) < 0)
    bends = [problem.inner(d, result.point.hessian_product(d)) for d in rng.normal(size=(10, problem.size))]
    assert min(bends) > 0
    other = LBFGS().minimize(problem, problem.zero(), Stop(gradient=1e-8))
    np.testing.assert_allclose(result.point.value, other.point.value, rtol=1e-8)


@pytest.mark.parametrize("solver", SOLVERS, ids=ids)
def test_l1_is_refused_rather_than_ignored(solver, rng):
    chain = small_chain()
    space = LinearFeatures(chain, "node", rng.normal(size=(chain.n_vertices, 2)))
    problem = Problem.of(
        LogLoss(chain, small_labels(chain, rng)), [Term("features", space, 1.0, L1Norm(0.5))]
    )
    with pytest.raises(TypeError, match=f"{type(solver).__name__} cannot minimise an ℓ1 penalty"):
        solver.minimize(problem, problem.zero(), Stop())
    with pytest.raises(TypeError, match="not squared"):
        minimize_euclidean(problem)


def test_block_jacobi_refuses_what_has_no_blocks(rng):
    marginal, second = marginal_problem(rng, small_chain()), problems(rng)["second order"]
    with pytest.raises(TypeError, match="MarginalLogLoss has no block for every clique"):
        BlockJacobi().minimize(marginal, marginal.zero(), Stop())
    with pytest.raises(TypeError, match="SecondOrderChainBatch does not give the marginals of every clique"):
        BlockJacobi().minimize(second, second.zero(), Stop())


def test_block_jacobi_goes_down_where_labels_are_unobserved(rng):
    problem = partial_problem(rng)
    result = BlockJacobi().minimize(problem, problem.zero() + 0.1, Stop(gradient=1e-6))
    expected = NewtonCG().minimize(problem, problem.zero() + 0.1, Stop(gradient=1e-6))
    np.testing.assert_allclose(result.point.value, expected.point.value, rtol=1e-6)


def test_interrupting_a_block_keeps_the_last_iteration(rng):
    problem = kernel_problem(rng)

    class Impatient(NewtonCG):
        def minimize(self, part, start, stop, observer=None):
            if len(seen) == 3:
                return super().minimize(part, start, stop, interrupt)
            return super().minimize(part, start, stop, observer)

    def interrupt(progress, _):
        if progress.iteration == 1:
            raise KeyboardInterrupt

    seen = []
    solver = Subspace(inner=Impatient())
    result = solver.minimize(problem, problem.zero(), Stop(gap=1e-12), lambda p, _: seen.append(p.value))
    assert result.reason is Reason.INTERRUPTED
    assert result.point.value == seen[-1]
