"""Laplace's approximation, the variational one, and slice sampling, on what can be integrated."""

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import expit

from kernelfields.losses import LogLoss
from kernelfields.objective import Problem, Term
from kernelfields.posterior import (
    Curvature,
    Laplace,
    SliceSampling,
    UnitProblem,
    Variational,
    determinant,
    laplace,
    spectrum,
)
from kernelfields.spaces import LinearFeatures
from kernelfields.structures import ChainBatch

from ._small import mode, problem


def one_weight(seed=0, n=12, penalty=0.5):
    """Two labels and one weight that matters: the other is minus it, up to what the prior says."""
    rng = np.random.default_rng(seed)
    chain = ChainBatch(np.arange(n + 1), 2)
    x = rng.normal(size=(n, 1))
    labels = (rng.random(n) < 1 / (1 + np.exp(-2 * x[:, 0]))).astype(np.int32)
    return (
        Problem.of(LogLoss(chain, labels), [Term("w", LinearFeatures(chain, "node", x), penalty)]),
        x[:, 0],
        labels,
    )


def exact_evidence(x, labels, penalty):
    """∫ Π σ(±x d) N(d; 0, 2/λ) dd: the difference of both weights."""
    sign = 2.0 * labels - 1

    def integrand(d):
        return np.exp(-np.logaddexp(0, -sign * x * d).sum() - 0.25 * penalty * d * d) / np.sqrt(
            4 * np.pi / penalty
        )

    return np.log(quad(integrand, -30, 30, points=[0.0], limit=200)[0])


@pytest.mark.parametrize("seed", range(3))
def test_evidence_of_one_weight_is_near_its_integral_and_the_bound_below(seed):
    given, x, labels = one_weight(seed)
    exact = exact_evidence(x, labels, 0.5)
    unit, rng = UnitProblem(given), np.random.default_rng(0)
    u = unit.coordinates(mode(given).element)
    found = Laplace().of(unit, u, rng)
    assert found.evidence_error == 0.0
    assert found.log_evidence == pytest.approx(exact, abs=0.06)
    bound = Variational(n_samples=2000, draws=200, rounds=6).of(unit, u, rng)
    assert bound.bound
    assert exact - 0.1 < bound.log_evidence < exact + 4 * bound.evidence_error


def test_slice_sampling_finds_the_mean_of_one_weight():
    given, x, labels = one_weight(4)
    unit, rng = UnitProblem(given), np.random.default_rng(0)
    found = SliceSampling(n_samples=1500, thin=2, burn_in=100).of(unit, np.zeros(unit.size), rng)
    difference = unit.scale[0] * (found.draws[:, 1] - found.draws[:, 0])
    sign = 2.0 * labels - 1

    def density(d, power):
        return d**power * np.exp(-np.logaddexp(0, -sign * x * d).sum() - 0.125 * d * d)

    total = quad(density, -30, 30, args=(0,), points=[0.0])[0]
    mean = quad(density, -30, 30, args=(1,), points=[0.0])[0] / total
    variance = quad(density, -30, 30, args=(2,), points=[0.0])[0] / total - mean**2
    assert difference.mean() == pytest.approx(mean, abs=0.15 * np.sqrt(variance))
    assert difference.var() == pytest.approx(variance, rel=0.2)


def test_lanczos_and_written_out_precisions_agree(monkeypatch):
    given = problem(5)
    unit = UnitProblem(given)
    curvature = Curvature(unit, [unit.scores(unit.coordinates(mode(given).element))])
    exact = spectrum(curvature, 1, 1, 0)
    monkeypatch.setattr(determinant, "SMALL", 0)
    found = spectrum(curvature, 200, 25, 0)
    assert exact.error == 0.0 < found.error
    assert found.log_determinant == pytest.approx(exact.log_determinant, abs=4 * found.error)
    for name, value in exact.n_effective.items():
        assert found.n_effective[name] == pytest.approx(value, rel=0.25)


@pytest.mark.parametrize("small", [True, False], ids=["factorised", "conjugate gradients"])
def test_draws_have_the_inverse_of_the_precision_as_covariance(monkeypatch, small):
    if not small:
        monkeypatch.setattr(laplace, "SMALL", 0)
    given = problem(6, kernel=False)
    unit = UnitProblem(given)
    u = unit.coordinates(mode(given).element)
    n = 3000 if small else 500
    found = Laplace(n_samples=n, tol=1e-3, evidence=False).of(unit, u, np.random.default_rng(1))
    expected = np.linalg.inv(Curvature(unit, [unit.scores(u)]).matrix())
    deviation = found.draws - u
    covariance = deviation.T @ deviation / len(deviation)
    sizes = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert (np.abs(covariance - expected) <= 6 * np.sqrt(2 / n) * sizes).all()
    half = Laplace(n_samples=n, scale=0.25, evidence=False).of(unit, u, np.random.default_rng(1))
    np.testing.assert_allclose(np.var(half.draws - u), 0.25 * np.var(deviation), rtol=0.1)


@pytest.mark.parametrize(
    ("kernel", "n_sequences", "method"),
    [
        (False, 30, Laplace(n_samples=400, evidence=False)),
        (True, 10, Variational(n_samples=400, draws=60)),
    ],
)
def test_marginals_are_within_two_points_of_slice_sampling(kernel, n_sequences, method):
    """Laplace's approximation where data are many beside weights; with a kernel and few it is too wide."""
    given = problem(7, kernel, penalty=2.0, n_sequences=n_sequences)
    unit, rng = UnitProblem(given), np.random.default_rng(0)
    u = unit.coordinates(mode(given).element)

    def marginals(method):
        draws = method.of(unit, u, rng).draws
        parts = [unit.loss.structure.marginals(unit.scores(one)).parts["node"] for one in draws]
        return np.mean(parts, axis=0)

    oracle = marginals(SliceSampling(n_samples=800, thin=4, burn_in=200))
    assert np.abs(marginals(method) - oracle).mean() < 0.02


def test_evidence_orders_penalties_as_annealed_sums_do():
    """Evidence as ∫ E_t[log p] dt along likelihood^t, by slice sampling, at three penalties."""
    found, annealed = [], []
    for penalty in (0.3, 2.0, 30.0):
        given = problem(8, penalty=penalty, n_sequences=6)
        unit, rng = UnitProblem(given), np.random.default_rng(0)
        found.append(Laplace().of(unit, unit.coordinates(mode(given).element), rng).log_evidence)
        annealed.append(_annealed(unit, rng))
    assert np.argsort(found).tolist() == np.argsort(annealed).tolist()
    np.testing.assert_allclose(found, annealed, atol=1.0)


def _annealed(unit, rng, steps=25, draws=60):
    from kernelfields.posterior.slice_sampling import elliptical_step

    class Tempered:
        def __init__(self, share):
            self.share = share

        def log_likelihood(self, u):
            return self.share * unit.log_likelihood(u)

    shares, means, u = np.linspace(0, 1, steps) ** 3, [], np.zeros(unit.size)
    for share in shares:
        tempered, values = Tempered(share), []
        value = tempered.log_likelihood(u)
        for _ in range(draws):
            u, value = elliptical_step(tempered, u, value, rng)
            values.append(unit.log_likelihood(u))
        means.append(np.mean(values[draws // 4 :]))
    return float(np.trapezoid(means, shares))


def probability_under_best_gaussian(x, labels, penalty, at):
    """E[σ(at·d)], d the difference of both weights, by the Gaussian with the highest bound: quadrature."""
    nodes, weights = hermegauss(60)
    weights /= weights.sum()
    margins, prior = (2.0 * labels - 1) * x, 2 / penalty

    def negative_bound(point):
        d, variance = point[0] + np.exp(point[1]) * nodes, np.exp(2 * point[1])
        loss = np.logaddexp(0, -np.outer(d, margins)).sum(axis=1)
        return weights @ loss + 0.5 * ((point[0] ** 2 + variance) / prior - 1 - np.log(variance / prior))

    m, log_s = minimize(negative_bound, np.zeros(2), tol=1e-10).x
    return weights @ expit(at * (m + np.exp(log_s) * nodes))


def test_variational_probabilities_are_those_of_the_best_gaussian():
    """A mean that stops early stays on the side of the mode, where probabilities are too sure."""
    differences = []
    for seed in range(4):
        given, x, labels = one_weight(seed, n=40, penalty=1.0)
        unit, rng = UnitProblem(given), np.random.default_rng(seed)
        method = Variational(n_samples=4000, draws=200, rounds=6)
        draws = method.of(unit, unit.coordinates(mode(given).element), rng).draws
        p = expit(-2 * unit.scale[0] * (draws[:, 1] - draws[:, 0])).mean()
        differences.append(p - probability_under_best_gaussian(x, labels, 1.0, -2.0))
    assert abs(np.mean(differences)) < 0.003
