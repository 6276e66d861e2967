"""L-BFGS step by step as CRFsuite takes it [liu1989limited]; OWL-QN where there is an ℓ1 penalty.

`solvers.LBFGS` reaches the same optimum sooner. This one stops where CRFsuite stops, which is before the
optimum, and therefore has to go the same way. Inner products are those of the core: for BLAS 10,000 weights
are enough to wake its threads, which wait for each other on busy cores and change the last bits.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np

from ...arrays import Array
from ...native import score_dot
from .line_search import Function, LineStep, NoStepError, backtracking, more_thuente, orthant


class Iteration(NamedTuple):
    """What is known after a step."""

    number: int
    step: LineStep
    weight_norm: float
    gradient_norm: float


class LbfgsEnding(Enum):
    """Why a search ended, in CRFsuite's words; a line search may end it, too, with a number."""

    CONVERGED = "L-BFGS resulted in convergence"
    STOPPED = "L-BFGS terminated with the stopping criteria"
    LIMIT = "L-BFGS terminated with the maximum number of iterations"
    ALREADY = "L-BFGS terminated with error code (2)"


LINE_SEARCHES: dict[str, Callable[..., LineStep]] = {
    "Backtracking": backtracking(strong=False),
    "StrongBacktracking": backtracking(strong=True),
}
"""All others mean Moré and Thuente's."""


@dataclass(frozen=True)
class Minimizer:
    """Settings; see `_parameters.LBFGS`."""

    c1: float
    max_iterations: int
    num_memories: int
    epsilon: float
    period: int
    delta: float
    linesearch: str
    max_linesearch: int

    def minimize(
        self, function: Function, start: Array, report: Callable[[Iteration], None]
    ) -> tuple[Array, str]:
        """Minimise f(w) + c1 ‖w‖₁; return the weights of the last iteration reported, and why it ended.

        ``function`` gives f and its gradient.
        """
        search = orthant(self.c1) if self.c1 else LINE_SEARCHES.get(self.linesearch, more_thuente)
        weights = start
        value, gradient = function(weights)
        value += self.c1 * float(np.abs(weights).sum())
        uphill = self._pseudo_gradient(weights, gradient)
        if _norm(uphill) <= self.epsilon * max(1.0, _norm(weights)):
            return weights, LbfgsEnding.ALREADY.value
        memory = Memory(self.num_memories)
        past = deque([value], maxlen=max(self.period, 1))
        way, first = -uphill, 1 / _norm(uphill)
        number = 0
        while True:
            number += 1
            try:
                step = search(function, weights, value, uphill, way, first, self.max_linesearch)
            except NoStepError as error:
                return weights, f"L-BFGS terminated with error code ({error.fault.value})"
            uphill = self._pseudo_gradient(step.weights, step.gradient)
            norms = _norm(step.weights), _norm(uphill)
            report(Iteration(number, step, *norms))
            ending = self._ending(number, step.value, norms, past)
            if ending is not None:
                return step.weights, ending.value
            memory.add(step.weights - weights, step.gradient - gradient)
            weights, value, gradient = step.weights, step.value, step.gradient
            way, first = memory.direction(uphill), 1.0
            if self.c1:
                way[way * uphill >= 0] = 0

    def _ending(
        self, number: int, value: float, norms: tuple[float, float], past: deque[float]
    ) -> LbfgsEnding | None:
        weight_norm, gradient_norm = norms
        if gradient_norm <= self.epsilon * max(1.0, weight_norm):
            return LbfgsEnding.CONVERGED
        if self.period > 0:
            if number >= self.period and (past[0] - value) / value < self.delta:
                return LbfgsEnding.STOPPED
            past.append(value)
        return LbfgsEnding.LIMIT if 0 < self.max_iterations < number + 1 else None

    def _pseudo_gradient(self, weights: Array, gradient: Array) -> Array:
        """Return the direction of steepest ascent, zero where the ℓ1 penalty holds a weight at zero."""
        if not self.c1:
            return gradient
        at_zero = np.sign(gradient) * np.maximum(np.abs(gradient) - self.c1, 0)
        return np.where(weights == 0, at_zero, gradient + self.c1 * np.sign(weights))


class Memory:
    """The last steps s and changes of the gradient y, which stand for the inverse Hessian."""

    def __init__(self, size: int) -> None:
        self.pairs: deque[tuple[Array, Array, float]] = deque(maxlen=max(size, 1))

    def add(self, step: Array, change: Array) -> None:
        """Remember one."""
        self.pairs.append((step, change, score_dot(step, change)))

    def direction(self, gradient: Array) -> Array:
        """Return −H g, H scaled by ⟨s, y⟩ / ⟨y, y⟩ of the last step."""
        way = -gradient
        shares = []
        for s, y, sy in reversed(self.pairs):
            share = score_dot(s, way) / sy
            shares.append(share)
            way -= share * y
        _, y, sy = self.pairs[-1]
        way *= sy / score_dot(y, y)
        for (s, y, sy), share in zip(self.pairs, reversed(shares), strict=True):
            way += (share - score_dot(y, way) / sy) * s
        return way


def _norm(array: Array) -> float:
    return math.sqrt(score_dot(array, array))
