"""Solvers: known minima, one optimum for all, SciPy as a second opinion."""

import numpy as np
import pytest
from scipy.optimize import minimize

from kernelfields.solvers import LBFGS, BlockJacobi, NewtonCG, ProximalQuasiNewton, Reason, Stop, Subspace
from kernelfields.solvers.lbfgs import wolfe
from kernelfields.testing import Quadratic, check_solver
from tests._problems import partial_problem, problems

SOLVERS = {
    "lbfgs": LBFGS(),
    "short memory": LBFGS(memory=2),
    "newton-cg": NewtonCG(),
    "proximal": ProximalQuasiNewton(),
    "block-jacobi": BlockJacobi(),
    "subspace": Subspace(),
    "subspace by lbfgs": Subspace(inner=LBFGS(), share=0.3),
}
LINEAR = ["block-jacobi", "subspace", "subspace by lbfgs"]


@pytest.mark.parametrize("name", list(SOLVERS))
def test_solver_passes_all_checks(name, rng):
    check_solver(SOLVERS[name], rng, condition=30 if name in LINEAR else 1e4)


# Block Jacobi needs the marginals of every triple, which second-order chains do not give.
PROBLEMS = [
    (name, solver)
    for name in ("shared edges", "edges with input", "second order", "forest")
    for solver in SOLVERS
    if (name, solver) != ("second order", "block-jacobi")
]


@pytest.mark.parametrize(("name", "solver"), PROBLEMS)
def test_every_solver_reaches_scipys_optimum(name, solver, rng):
    problem = problems(rng)[name]
    metric = np.concatenate([np.full(term.space.size, term.metric) for term in problem.terms])

    def euclidean(w):
        point = problem.at(w)
        return point.value, metric * point.gradient

    expected = minimize(
        euclidean, problem.zero(), jac=True, method="L-BFGS-B", options={"gtol": 1e-9, "ftol": 0}
    )
    result = SOLVERS[solver].minimize(problem, problem.zero(), Stop(gap=1e-10))
    assert result.reason is Reason.GAP
    np.testing.assert_allclose(result.point.value, expected.fun, rtol=1e-9)
    np.testing.assert_allclose(result.point.element, expected.x, atol=1e-3)


@pytest.mark.parametrize("solver", list(SOLVERS))
def test_without_certificate_the_gradient_decides(solver, rng):
    problem = partial_problem(rng)
    result = SOLVERS[solver].minimize(problem, 0.1 * rng.normal(size=problem.size), Stop(gradient=1e-6))
    assert result.reason is Reason.GRADIENT
    assert np.sqrt(problem.inner(result.point.gradient, result.point.gradient)) < 1e-4
    curvature = [
        problem.inner(d, result.point.hessian_product(d)) for d in rng.normal(size=(20, problem.size))
    ]
    assert min(curvature) > 0


def test_inner_product_is_worth_its_name(rng):
    """In the metric of the problem L-BFGS needs far fewer steps than in plain coordinates."""
    problem = Quadratic.random(30, rng)
    flat = Quadratic(problem.M @ problem.A, np.eye(30), problem.center, problem.height)
    own = LBFGS(memory=5).minimize(problem, np.zeros(30), Stop(gap=1e-8, iterations=5000))
    plain = LBFGS(memory=5).minimize(flat, np.zeros(30), Stop(gap=1e-8, iterations=5000))
    assert own.progress.iteration < plain.progress.iteration


def test_start_at_the_optimum_stops_at_once(rng):
    problem = Quadratic.random(5, rng)
    result = LBFGS().minimize(problem, problem.center, Stop(gap=1e-6))
    assert result.progress.iteration == 0


class Bumpy:
    """A function on the line, for the line search."""

    def __init__(self, function, derivative):
        self.function, self.derivative = function, derivative

    def at(self, step):
        class Point:
            value = self.function(step)
            at = step

        return Point()

    def slope(self, point):
        return self.derivative(point.at)


@pytest.mark.parametrize("first", [1e-3, 0.1, 1.0, 30.0])
@pytest.mark.parametrize(
    ("function", "derivative"),
    [
        (lambda t: (t - 3) ** 2, lambda t: 2 * (t - 3)),
        (lambda t: np.exp(t) - 5 * t, lambda t: np.exp(t) - 5),
        (lambda t: -t / (t * t + 2), lambda t: (t * t - 2) / (t * t + 2) ** 2),
        (lambda t: np.inf if t > 2 else -np.log(2.1 - t) * 0.1 - t, lambda t: 0.1 / (2.1 - t) - 1),
    ],
)
def test_line_search_satisfies_the_wolfe_conditions(function, derivative, first):
    with np.errstate(over="ignore"):
        line = Bumpy(function, derivative)
        found = wolfe(line, line.at(0.0), first)
    assert found.value <= function(0) + 1e-4 * found.step * derivative(0)
    assert abs(found.slope) <= 0.9 * abs(derivative(0))


def test_line_search_refuses_to_climb():
    line = Bumpy(lambda t: t * t + t, lambda t: 2 * t + 1)
    assert wolfe(line, line.at(0.0)) is None
