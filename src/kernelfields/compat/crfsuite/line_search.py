"""The three line searches of CRFsuite's L-BFGS, trial by trial.

`solvers.lbfgs.wolfe` needs fewer evaluations; these are here because another step leads to other weights
where a search ends before the optimum.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import IntEnum
from typing import NamedTuple

import numpy as np

from ...arrays import Array
from ...native import score_dot

SUFFICIENT = 1e-4
FLAT = 0.9
LONGEST, SHORTEST = 1e20, 1e-20
NARROWEST = 1e-16

Function = Callable[[Array], tuple[float, Array]]


class LineStep(NamedTuple):
    """Where a line search ended."""

    weights: Array
    value: float
    gradient: Array
    length: float
    trials: int


class Fault(IntEnum):
    """Why a line search found no step, by CRFsuite's numbers."""

    ROUNDING = -1001
    SHORT = -1000
    LONG = -999
    TRIALS = -998
    NARROW = -996
    UPWARDS = -994


class NoStepError(Exception):
    """A line search found no step."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.name)
        self.fault = fault


def backtracking(strong: bool) -> Callable[..., LineStep]:
    """Halve the step until the value has fallen enough, lengthen it by 2.1 until the slope is flat enough.

    Flat enough is φ'(t) ≥ 0.9 φ'(0), and |φ'(t)| ≤ 0.9 |φ'(0)| in the ``strong`` form.
    """

    def search(
        function: Function, start: Array, value: float, gradient: Array, way: Array, first: float, limit: int
    ) -> LineStep:
        slope = score_dot(gradient, way)
        if slope > 0:
            raise NoStepError(Fault.UPWARDS)
        length = first
        for trial in range(1, limit + 1):
            weights = start + length * way
            f, g = function(weights)
            factor = 0.5
            if f <= value + length * SUFFICIENT * slope:
                now = score_dot(g, way)
                if now < FLAT * slope:
                    factor = 2.1
                elif not strong or now <= -FLAT * slope:
                    return LineStep(weights, f, g, length, trial)
            if not SHORTEST <= length <= LONGEST:
                raise NoStepError(Fault.SHORT if length < SHORTEST else Fault.LONG)
            length *= factor
        raise NoStepError(Fault.TRIALS)

    return search


class RayPoint(NamedTuple):
    """A point on the ray: step, value and slope."""

    step: float
    value: float
    slope: float


def more_thuente(
    function: Function, start: Array, value: float, gradient: Array, way: Array, first: float, limit: int
) -> LineStep:
    """Find a step with sufficient decrease and a flat slope [more1994line].

    An interval that holds such a step is narrowed by cubic and quadratic interpolation, first of
    ψ(t) = φ(t) − φ(0) − μ t φ'(0), then, once ψ(t) ≤ 0 and φ'(t) ≥ μ φ'(0), of φ itself.
    """
    slope = score_dot(gradient, way)
    if slope > 0:
        raise NoStepError(Fault.UPWARDS)
    least = SUFFICIENT * slope
    best = other = RayPoint(0.0, value, slope)
    bracketed, modified, failed = False, True, False
    width, before = LONGEST - SHORTEST, 2 * (LONGEST - SHORTEST)
    t = first
    for trial in range(1, limit + 2):
        low, high = sorted((best.step, other.step)) if bracketed else (best.step, t + 4 * (t - best.step))
        t = min(max(t, SHORTEST), LONGEST)
        outside = bracketed and (t <= low or high <= t)
        narrow = bracketed and high - low <= NARROWEST * high
        if outside or narrow or (bracketed and (limit <= trial or failed)):
            t = best.step
        weights = start + t * way
        f, g = function(weights)
        here = RayPoint(t, f, score_dot(g, way))
        enough = value + t * least
        fault = _fault(bracketed and (t <= low or high <= t or failed), t, narrow, limit <= trial)
        if fault is not None:
            raise NoStepError(fault)
        if f <= enough and abs(here.slope) <= -FLAT * slope:
            return LineStep(weights, f, g, t, trial)
        if modified and f <= enough and here.slope >= SUFFICIENT * slope:
            modified = False
        shift = least if modified and enough < f <= best.value else 0.0
        x, y, last = _tilted(best, shift), _tilted(other, shift), _tilted(here, shift)
        best, other, t, bracketed, failed = _narrowed(x, y, last, low, high, bracketed)
        best, other = _tilted(best, -shift), _tilted(other, -shift)
        if bracketed:
            if abs(other.step - best.step) >= 0.66 * before:
                t = best.step + 0.5 * (other.step - best.step)
            before, width = width, abs(other.step - best.step)
    raise NoStepError(Fault.TRIALS)


def _fault(stuck: bool, t: float, narrow: bool, last: bool) -> Fault | None:
    """Say what is wrong with a trial, if something is."""
    if stuck:
        return Fault.ROUNDING
    if t >= LONGEST or t <= SHORTEST:
        return Fault.LONG if t >= LONGEST else Fault.SHORT
    if narrow:
        return Fault.NARROW
    return Fault.TRIALS if last else None


def _tilted(trial: RayPoint, slope: float) -> RayPoint:
    """Take a straight line off the function."""
    return RayPoint(trial.step, trial.value - trial.step * slope, trial.slope - slope)


def _narrowed(
    x: RayPoint, y: RayPoint, t: RayPoint, low: float, high: float, bracketed: bool
) -> tuple[RayPoint, RayPoint, float, bool, bool]:
    """Return the next interval, the next trial, whether there is a bracket, and whether something failed.

    x is the best point so far, y the other end, t the last trial: the four cases of [more1994line,
    section 4].
    """
    if bracketed and not min(x.step, y.step) < t.step < max(x.step, y.step):
        return x, y, t.step, bracketed, True
    if x.slope * (t.step - x.step) >= 0 or high < low:
        return x, y, t.step, bracketed, True
    opposite = t.slope * (x.slope / abs(x.slope)) < 0
    cautious = True
    if t.value > x.value:  # case 1: a minimum lies between
        bracketed = True
        cubic, quadratic = _cubic(x, t), _parabola(x, t)
        near = abs(cubic - x.step) < abs(quadratic - x.step)
        step = cubic if near else cubic + 0.5 * (quadratic - cubic)
    elif opposite:  # case 2: too far, with a lower value
        bracketed, cautious = True, False
        cubic, secant = _cubic(x, t), _secant(x, t)
        step = cubic if abs(cubic - t.step) > abs(secant - t.step) else secant
    elif abs(t.slope) < abs(x.slope):  # case 3: flatter, go on
        cubic, secant = _far_cubic(x, t, low, high), _secant(x, t)
        closer = abs(t.step - cubic) < abs(t.step - secant)
        step = cubic if closer == bracketed else secant
        if abs(t.step - cubic) == abs(t.step - secant):
            step = secant
    else:  # case 4: not flatter
        cautious = False
        step = _cubic(t, y) if bracketed else high if x.step < t.step else low
    if t.value > x.value:
        y = t
    else:
        x, y = t, (x if opposite else y)
    step = min(max(step, low), high)
    if bracketed and cautious:
        limit = x.step + 0.66 * (y.step - x.step)
        step = min(step, limit) if x.step < y.step else max(step, limit)
    return x, y, step, bracketed, False


def _cubic(u: RayPoint, v: RayPoint) -> float:
    """Return the minimum of the cubic through two points with their slopes."""
    d = v.step - u.step
    theta = (u.value - v.value) * 3 / d + u.slope + v.slope
    scale = max(abs(theta), abs(u.slope), abs(v.slope))
    inside = (theta / scale) ** 2 - (u.slope / scale) * (v.slope / scale)
    gamma = scale * math.sqrt(max(inside, 0.0)) * (-1 if v.step < u.step else 1)
    return u.step + (gamma - u.slope + theta) / (gamma - u.slope + gamma + v.slope) * d


def _far_cubic(u: RayPoint, v: RayPoint, low: float, high: float) -> float:
    """Return the same beyond v; an end of the range if the cubic has none there."""
    d = v.step - u.step
    theta = (u.value - v.value) * 3 / d + u.slope + v.slope
    scale = max(abs(theta), abs(u.slope), abs(v.slope))
    inside = (theta / scale) ** 2 - (u.slope / scale) * (v.slope / scale)
    gamma = scale * math.sqrt(max(inside, 0.0)) * (-1 if u.step < v.step else 1)
    ratio = (gamma - v.slope + theta) / (gamma - v.slope + gamma + u.slope)
    if ratio < 0 and gamma != 0:
        return v.step - ratio * d
    return high if d > 0 else low


def _parabola(u: RayPoint, v: RayPoint) -> float:
    """Return the minimum of the parabola through two points with the slope of the first."""
    d = v.step - u.step
    return u.step + u.slope / ((u.value - v.value) / d + u.slope) / 2 * d


def _secant(u: RayPoint, v: RayPoint) -> float:
    """Return where the slope would be zero if it were linear."""
    return v.step + v.slope / (v.slope - u.slope) * (u.step - v.step)


def orthant(c1: float) -> Callable[..., LineStep]:
    """Halve the step until f + c1 ‖w‖₁ has fallen enough, coordinates that change sign set to zero."""

    def search(
        function: Function, start: Array, value: float, gradient: Array, way: Array, first: float, limit: int
    ) -> LineStep:
        signs = np.where(start == 0, -gradient, start)
        length = first
        for trial in range(1, limit + 1):
            weights = start + length * way
            weights[weights * signs <= 0] = 0
            f, g = function(weights)
            f += c1 * float(np.abs(weights).sum())
            if f <= value + SUFFICIENT * score_dot(weights - start, gradient):
                return LineStep(weights, f, g, length, trial)
            if not SHORTEST <= length <= LONGEST:
                raise NoStepError(Fault.SHORT if length < SHORTEST else Fault.LONG)
            length *= 0.5
        raise NoStepError(Fault.TRIALS)

    return search
