"""Combinations of past steps that leave the shortest gradient."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from kernelfields.solvers import LBFGS, Stop, lbfgs
from kernelfields.solvers.lbfgs import Flattener, flattest
from kernelfields.testing.solvers import Quadratic


def _past(problem: Any, points: list[Any]) -> tuple[list[Any], list[Any]]:
    """Steps between points, and changes of the gradient."""
    pairs = list(itertools.pairwise(points))
    return [b.element - a.element for a, b in pairs], [b.gradient - a.gradient for a, b in pairs]


def test_no_combination_is_shorter(rng: np.random.Generator) -> None:
    """A search without derivatives through the coefficients finds nothing better, and the promise is kept."""
    problem = Quadratic.random(9, rng)
    points = [problem.at(rng.normal(size=9)) for _ in range(4)]
    steps, changes = _past(problem, points)
    last = points[-1]

    def length(weights: Any) -> float:
        gradient = problem.at(last.element + np.tensordot(weights, steps, 1)).gradient
        return problem.inner(gradient, gradient)

    step, left = flattest(problem, last.gradient, steps, changes)
    flat = problem.at(last.element + step).gradient
    best = minimize(length, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12})
    assert problem.inner(flat, flat) == pytest.approx(best.fun, rel=1e-6)
    assert problem.inner(flat, flat) == pytest.approx(left * length(np.zeros(3)), rel=1e-9)


def test_steps_that_depend_on_each_other_do_no_harm(rng: np.random.Generator) -> None:
    problem = Quadratic.random(5, rng)
    points = [problem.at(rng.normal(size=5)) for _ in range(2)]
    steps, changes = _past(problem, points)
    once = flattest(problem, points[-1].gradient, steps, changes)
    twice = flattest(problem, points[-1].gradient, 2 * steps, 2 * changes)
    np.testing.assert_allclose(twice.step, once.step, rtol=1e-8)


def test_promises_that_were_not_kept_are_not_repeated(rng: np.random.Generator) -> None:
    """The same combination is tried once."""
    problem = Quadratic.random(6, rng)
    search = LBFGS().minimize(problem, np.zeros(6), Stop(gap=1e-2))
    points = [problem.at(search.point.element + 1e-2 * rng.normal(size=6)) for _ in range(4)]
    steps, changes = _past(problem, points)
    gap = points[-1].certificate.relative_gap
    flattener = Flattener(problem, gap)
    assert flattener.element(points[-1], steps, changes) is not None
    assert flattener.element(points[-1], steps, changes) is None


def test_searches_end_sooner_at_the_gap_asked_for(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On an uneven quadratic, with the same certificate."""
    problem = Quadratic.random(60, rng)
    stop = Stop(gap=1e-6)
    found = LBFGS(memory=5).minimize(problem, np.zeros(60), stop)
    monkeypatch.setattr(lbfgs, "WORTH_A_LOOK", 0.0)
    plain = LBFGS(memory=5).minimize(problem, np.zeros(60), stop)
    assert found.progress.relative_gap <= 1e-6
    assert found.point.certificate.relative_gap <= 1e-6
    assert found.progress.iteration <= plain.progress.iteration
