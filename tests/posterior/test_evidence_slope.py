"""The gradient of Laplace's evidence, beside differences of the evidence at modes found anew."""

import numpy as np
import pytest

from kernelfields.posterior import Curvature, EvidenceSlope, Laplace, UnitProblem

from ._small import mode, problem

STEP = 1e-3


def evidence(given):
    unit = UnitProblem(given)
    found = Laplace(scale=0.0).of(unit, unit.coordinates(mode(given).element), np.random.default_rng(0))
    assert found.evidence_error == 0.0
    return found.log_evidence


def slope(unit, u, draws=1200):
    curvature = Curvature(unit, [unit.scores(u)])
    return EvidenceSlope.at(curvature, np.random.default_rng(1), draws, 1e-8, 1e-8, 200)


@pytest.mark.parametrize("kernel", [True, False])
def test_penalties(kernel):
    given = problem(0, kernel)
    unit = UnitProblem(given)
    found = slope(unit, unit.coordinates(mode(given).element)).energies(unit)
    for name, settings in (("features", ("penalty", 1.0)), ("edges", ("edge_penalty", 0.5))):
        sides = [
            evidence(problem(0, kernel, **{settings[0]: settings[1] * np.exp(h)})) for h in (STEP, -STEP)
        ]
        expected = (sides[0] - sides[1]) / (2 * STEP)
        assert -found[name] == pytest.approx(expected, abs=0.05), name


def test_kernel_width():
    given, moved = problem(1), problem(1, gamma=0.5 * np.exp(STEP))
    unit = UnitProblem(given)
    found = slope(unit, unit.coordinates(mode(given).element))
    here, there = (sum(found.energies(one).values()) for one in (unit, UnitProblem(moved)))
    sides = [evidence(problem(1, gamma=0.5 * np.exp(h))) for h in (STEP, -STEP)]
    assert (there - here) / STEP == pytest.approx((sides[0] - sides[1]) / (2 * STEP), abs=0.05)


def test_weights_of_sequences_count():
    weights = np.array([2.0, 1.0, 0.5, 3.0])
    given = problem(2, weights=weights)
    unit = UnitProblem(given)
    found = slope(unit, unit.coordinates(mode(given).element)).energies(unit)
    sides = [evidence(problem(2, weights=weights, penalty=np.exp(h))) for h in (STEP, -STEP)]
    assert -found["features"] == pytest.approx((sides[0] - sides[1]) / (2 * STEP), abs=0.1)
