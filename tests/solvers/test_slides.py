"""The optimisers that the slides name: conjugate gradients, meta-descent, iterative scaling."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import brentq

from kernelfields import CRF, KernelCRF, Run
from kernelfields.losses import LogLoss
from kernelfields.objective import Problem, Term
from kernelfields.solvers import LBFGS, ConjugateGradients, IterativeScaling, MetaDescent, Reason, Stop
from kernelfields.solvers.iterative_scaling import scaling_step
from kernelfields.spaces import Boundary, Free, LinearFeatures, SparseFeatures
from kernelfields.testing import check_solver, labelled_sequences
from tests._problems import kernel_problem, problems, small_chain, small_labels


def counted_problem(rng, sparse_features=False):
    """Features that are counts: iterative scaling takes these only."""
    chain = small_chain()
    features = rng.poisson(0.4, size=(chain.n_vertices, 4)).astype(float)
    space = (
        SparseFeatures(chain, "node", sparse.csr_matrix(features))
        if sparse_features
        else LinearFeatures(chain, "node", features)
    )
    terms = [
        Term("features", space, 1.5),
        Term("bias", Free(chain, "node"), 2.0),
        Term("boundaries", Boundary(chain), 1.0),
        Term("edges", Free(chain, "edge"), 3.0),
    ]
    weights = rng.random(chain.n_instances) + 0.5
    return Problem.of(LogLoss(chain, small_labels(chain, rng), weights), terms)


def optimum(problem):
    return LBFGS().minimize(problem, problem.zero(), Stop(gap=1e-11)).point.value


@pytest.mark.parametrize("solver", [ConjugateGradients(), MetaDescent()], ids=["conjugate", "meta"])
def test_solver_passes_all_checks(solver, rng):
    check_solver(solver, rng, condition=1e3 if isinstance(solver, ConjugateGradients) else 30)


@pytest.mark.parametrize("name", ["shared edges", "edges with input", "second order", "forest"])
@pytest.mark.parametrize("solver", [ConjugateGradients(), MetaDescent(2)], ids=["conjugate", "meta"])
def test_linear_problems_have_one_optimum(solver, name, rng):
    problem = problems(rng)[name]
    result = solver.minimize(problem, problem.zero(), Stop(gap=1e-7))
    assert result.reason is Reason.GAP
    np.testing.assert_allclose(result.point.value, optimum(problem), rtol=1e-7)


@pytest.mark.parametrize("solver", [ConjugateGradients(), MetaDescent(2)], ids=["conjugate", "meta"])
def test_kernel_problems_have_one_optimum(solver, rng):
    problem = kernel_problem(rng)
    result = solver.minimize(problem, problem.zero(), Stop(gap=1e-7))
    assert result.reason is Reason.GAP
    np.testing.assert_allclose(result.point.value, optimum(problem), rtol=1e-7)
    refreshed = problem.refreshed(result.point.element)
    np.testing.assert_allclose(result.point.element, refreshed, atol=1e-9)  # images came along


def test_conjugate_directions_end_a_quadratic_in_as_many_steps_as_it_has_dimensions(rng):
    from kernelfields.testing import Quadratic

    problem = Quadratic.random(12, rng, condition=100)
    result = ConjugateGradients(flatter=1e-6).minimize(problem, np.zeros(12), Stop(gap=1e-9))
    assert result.progress.iteration <= 14  # steepest descent takes hundreds


@pytest.mark.parametrize("sparse_features", [False, True])
def test_iterative_scaling_reaches_the_optimum_and_never_rises(sparse_features, rng):
    problem = counted_problem(rng, sparse_features)
    values = []
    result = IterativeScaling().minimize(
        problem,
        problem.zero(),
        Stop(gap=1e-8, iterations=5000),
        lambda progress, _: values.append(progress.value),
    )
    assert result.reason is Reason.GAP
    np.testing.assert_allclose(result.point.value, optimum(problem), rtol=1e-8)
    assert (np.diff(values) <= 1e-12).all()


def test_counts_are_those_of_enumeration(rng):
    problem = counted_problem(rng)
    observed, most, penalty = problem.counts()
    chain, matrix = problem.structure, problem.terms[0].space.features.matrix
    table = np.zeros((4, 3))
    weight = np.repeat(problem.loss.weights, np.diff(chain.offsets))
    np.add.at(table.T, problem.loss.outputs, weight[:, None] * matrix)
    np.testing.assert_allclose(observed[:12].reshape(4, 3), table)
    size = [  # any labelling has the same number of features
        matrix[a:b].sum() + (b - a) + 2 * (b > a) + max(b - a - 1, 0)
        for a, b in zip(chain.offsets[:-1], chain.offsets[1:], strict=True)
    ]
    assert most == max(size)
    assert penalty.tolist() == [1.5] * 12 + [2.0] * 3 + [1.0] * 6 + [3.0] * 9


def test_a_scaling_step_solves_its_equation(rng):
    expected, penalty = rng.random(50) * 10.0 ** rng.integers(-8, 3, 50), rng.random(50) + 0.1
    wanted = 10 * rng.normal(size=50)
    expected[0] = 0.0
    step = scaling_step(expected, wanted, penalty, 7.0)
    for e, w, p, s in zip(expected, wanted, penalty, step, strict=True):
        zero = brentq(lambda d, e=e, p=p, w=w: e * np.exp(7 * d) + p * d - w, -500, 60, xtol=1e-14)
        np.testing.assert_allclose(s, zero, atol=1e-9)


def test_samples_estimate_the_whole(rng):
    problem = problems(rng)["shared edges"]
    element, direction = rng.normal(size=(2, problem.size))
    whole = problem.at(element)
    parts = [problem.sampled([s]).at(element) for s in range(problem.n_instances)]
    np.testing.assert_allclose(np.mean([part.gradient for part in parts], axis=0), whole.gradient)
    products = [part.hessian_product(direction) for part in parts]
    np.testing.assert_allclose(np.mean(products, axis=0), whole.hessian_product(direction))


def test_iterative_scaling_refuses_what_it_cannot_scale(rng):
    for problem in (problems(rng)["shared edges"], kernel_problem(rng)):
        with pytest.raises(TypeError, match="needs features that are not negative"):
            IterativeScaling().minimize(problem, problem.zero(), Stop())


@pytest.mark.parametrize("name", ["conjugate-gradients", "meta-descent", "iterative-scaling"])
def test_estimators_take_the_names(name, rng):
    X, y = labelled_sequences(rng)
    X = [np.maximum(x, 0) for x in X]
    fitted, best = (CRF(solver=solver, tol=1e-4, max_iter=5000).fit(X, y) for solver in (name, "lbfgs"))
    assert fitted.certificate_.relative_gap <= 1e-4
    np.testing.assert_allclose(fitted.certificate_.value, best.certificate_.value, rtol=2e-4)
    if name != "iterative-scaling":
        kernel = KernelCRF(solver=name, run=Run(dtype="float64")).fit(X, y)
        assert kernel.certificate_.relative_gap <= 1e-3
