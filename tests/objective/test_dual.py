"""Mixtures of dual points: bounds that never lie, and are better than any of their parts."""

from __future__ import annotations

import numpy as np
import pytest

from kernelfields.losses import LogLoss
from kernelfields.objective import Dual, L1Norm, Problem, Term
from kernelfields.solvers import LBFGS, Stop
from kernelfields.spaces import Free, LinearFeatures
from kernelfields.structures import ChainBatch


def problem_of(rng) -> Problem:
    chain = ChainBatch(np.array([0, 4, 9, 15]), 3)
    labels = rng.integers(3, size=15).astype(np.int32)
    terms = [
        Term("features", LinearFeatures(chain, "node", rng.normal(size=(15, 5))), 0.3),
        Term("edges", Free(chain, "edge"), 0.7),
    ]
    return Problem.of(LogLoss(chain, labels), terms)


def test_one_point_gives_the_bound_of_its_certificate(rng):
    problem = problem_of(rng)
    point = problem.at(rng.normal(size=problem.size))
    assert point.dual.bound(problem) == pytest.approx(point.certificate.lower_bound, rel=1e-12)


def test_mixtures_bound_the_minimum_and_never_get_worse(rng):
    problem = problem_of(rng)
    lowest = LBFGS().minimize(problem, problem.zero(), Stop(gap=1e-10)).point.value
    mixture, alone = problem.at(rng.normal(size=problem.size)).dual, []
    for _ in range(30):
        other = problem.at(0.5 * rng.normal(size=problem.size)).dual
        mixed = mixture.mixed(other, problem)
        parts = mixture.bound(problem), other.bound(problem)
        assert mixed.bound(problem) >= max(parts) - 1e-9
        assert mixed.bound(problem) <= lowest
        mixture = mixed
        alone.append(max(parts[1], parts[0] if not alone else -np.inf))
    assert mixture.bound(problem) > max(alone)


def test_the_mixture_is_the_best_of_its_line(rng):
    problem = problem_of(rng)
    one, two = (problem.at(rng.normal(size=problem.size)).dual for _ in range(2))
    best = max(
        Dual((1 - t) * one.level + t * two.level, (1 - t) * one.mismatch + t * two.mismatch).bound(problem)
        for t in np.linspace(0, 1, 1001)
    )
    assert one.mixed(two, problem).bound(problem) == pytest.approx(best, rel=1e-5)
    assert one.mixed(two, problem).bound(problem) >= best


def test_no_mixtures_where_they_prove_nothing(rng):
    problem = problem_of(rng)
    sparse = Problem.of(problem.loss, [Term("features", problem.terms[0].space, 0.3, L1Norm(0.1))])
    assert sparse.at(sparse.zero()).dual is None
    free = Problem.of(problem.loss, [Term("features", problem.terms[0].space, 0.0)])
    assert free.at(free.zero()).dual is None


def test_mixtures_know_the_mixture_of_their_points(rng):
    problem = problem_of(rng)
    there = rng.normal(size=problem.size)
    one, two = problem.at(there).dual, problem.at(-there).dual
    mixed = one.mixed(two, problem)
    change = two.mismatch - one.mismatch
    t = (mixed.mismatch - one.mismatch) @ change / (change @ change)
    assert 0 < t < 1
    np.testing.assert_allclose(mixed.element, (1 - t) * one.element + t * two.element, atol=1e-12)
    assert one._replace(element=None).mixed(two, problem).element is None
