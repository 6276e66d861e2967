"""How training went."""

from __future__ import annotations

import math

from ..path import TrainingPath
from .frame import Axis, Frame, power, thinned


def plot_values(path: TrainingPath) -> str:
    """Draw value and lower bound; the first steps, often far away, may be cut off."""
    values = [(step.at, step.value) for step in path.steps]
    bounds = [(step.at, step.lower_bound) for step in path.steps if math.isfinite(step.lower_bound)]
    low, high = _limits(path)
    frame = Frame(_across(path), Axis(low, high, "objective and its lower bound", _short))
    lines = [frame.line(thinned([point for point in values if point[1] <= high]), "main")]
    if any(bound >= low for _, bound in bounds):
        lines.append(frame.line(thinned([point for point in bounds if point[1] >= low]), "bound"))
    return frame.draw(*lines, about="Objective and certified lower bound after every step.")


def plot_gap(path: TrainingPath) -> str | None:
    """Draw the certified relative gap; None where no step has a positive one."""
    gaps = [
        (step.at, step.relative_gap)
        for step in path.steps
        if math.isfinite(step.lower_bound) and step.relative_gap > 0
    ]
    if len(gaps) < 2:
        return None
    low, high = min(gap for _, gap in gaps), max(gap for _, gap in gaps)
    low, high = 10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high) + 1e-9)
    axis = Axis(low, max(high, 10 * low), "certified gap, relative", power, logarithmic=True)
    frame = Frame(_across(path), axis)
    return frame.draw(frame.line(thinned(gaps), "main"), about="Certified relative gap after every step.")


def _across(path: TrainingPath) -> Axis:
    first, last = path.steps[0].at, path.steps[-1].at
    title = "basis functions" if path.sized else "iteration"
    return Axis(first, max(last, first + 1), title, _short)


def _limits(path: TrainingPath) -> tuple[float, float]:
    """Where the second half of the steps happens, and as much again."""
    half = path.steps[len(path.steps) // 2 :]
    bounds = [step.lower_bound for step in half if math.isfinite(step.lower_bound)]
    values = [step.value for step in half]
    low, high = min(values + bounds), max(values)
    room = max(high - low, abs(high) * 1e-3, 1e-12)
    return low - 0.2 * room, high + room


def _short(value: float) -> str:
    return f"{value:.6g}"
