import numpy as np
import pytest

from kernelfields.errors import InputError
from kernelfields.objective import L1Norm, Problem, Term
from kernelfields.posterior import Curvature, UnitProblem

from ._small import mode, problem


@pytest.mark.parametrize("kernel", [True, False])
def test_the_objective_is_the_same_in_unit_coordinates(kernel):
    given = problem(0, kernel)
    point = mode(given)
    unit = UnitProblem(given)
    u = unit.coordinates(point.element)
    assert -unit.log_likelihood(u) + 0.5 * u @ u == pytest.approx(point.value, rel=1e-5)


@pytest.mark.parametrize("kernel", [True, False])
@pytest.mark.parametrize("weights", [None, np.array([1.0, 3.0, 0.5, 2.0])])
def test_the_precision_is_the_second_derivative_of_the_objective(kernel, weights):
    unit = UnitProblem(problem(1, kernel, weights=weights))
    rng = np.random.default_rng(0)
    u, along, step = rng.normal(size=unit.size), rng.normal(size=unit.size), 1e-4

    def gradient(at):
        return unit.pulled(unit.loss.at(unit.scores(at)).gradient) + at

    numerical = (gradient(u + step * along) - gradient(u - step * along)) / (2 * step)
    np.testing.assert_allclose(
        Curvature(unit, [unit.scores(u)]).times(along), numerical, rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("weights", [None, np.array([1.0, 3.0, 0.5, 2.0])])
def test_noise_of_drawn_labels_has_the_covariance_of_the_likelihood(weights):
    unit = UnitProblem(problem(2, kernel=False, weights=weights))
    curvature = Curvature(unit, [unit.scores(np.full(unit.size, 0.3))])
    rng = np.random.default_rng(0)
    drawn = np.stack([curvature.noise(rng) for _ in range(1000)])
    expected = curvature.matrix() - np.eye(unit.size)
    found = drawn.T @ drawn / len(drawn)
    # The error of an entry is at most √(2 c_ii c_jj / n) or so, 1000 draws; five of them.
    sizes = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert (np.abs(found - expected) <= 5 * np.sqrt(2 / 1000) * sizes + 1e-12).all()
    assert np.abs(drawn.mean(axis=0)).max() < 5 * np.sqrt(np.diag(expected).max() / 1000)


def test_what_is_no_posterior_is_refused():
    given = problem(3, kernel=False)
    free = [Term(term.name, term.space, 0.0) for term in given.terms]
    with pytest.raises(InputError, match="penalties above 0; that of features is 0"):
        UnitProblem(Problem.of(given.loss, free))
    norm = [Term(given.terms[0].name, given.terms[0].space, 1.0, L1Norm(1.0)), given.terms[1]]
    with pytest.raises(InputError, match="features has a norm"):
        UnitProblem(Problem.of(given.loss, norm))
