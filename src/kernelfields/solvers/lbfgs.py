"""L-BFGS in the inner product of the problem, and the line search it shares with others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..arrays import Array
from ..checks import Check, optional, whole
from ._base import (
    LineLike,
    Monitor,
    Observer,
    PointLike,
    ProblemLike,
    Reason,
    Result,
    Solver,
    Stop,
    require_smooth,
)

LARGE = 2**20
"""Numbers from which on an element counts as large."""

LARGE_DIAGONAL = 2**18
"""The same where curvatures are known: with them, five steps reach the optimum of a model of text in the
processor time that ten take, and in half the memory."""

AGAIN = 50
"""Iterations after which curvatures are asked for anew: by then the function may be flat elsewhere."""


WORTH_A_LOOK = 30.0
"""Multiple of the gap asked for below which combinations are looked at: no past steps shorten more."""

PROMISING = 0.9
"""Share of the gap asked for, or of the last promise that was not kept, that is worth an evaluation."""


@dataclass(frozen=True)
class LBFGS(Solver):
    """Limited-memory quasi-Newton.

    The two-loop recursion needs of the space its inner product only; in the space's own geometry it
    takes tens of iterations where Euclidean coordinates of a kernel expansion take a thousand. For
    large smooth problems; the default.

    A problem that knows about how curved it is along each coordinate (``curvatures``) is asked once, at
    the start: the first guess of the Hessian is then that diagonal, scaled, instead of a multiple of
    the identity. On text, where some features are ten thousand times as frequent as others, that saves
    two thirds of the iterations. One that also knows how coordinates hang together (``hessian_model``) saves
    half of the others.

    Where there is a certificate, the search ends at the combination of past steps that leaves the shortest
    gradient, as soon as that one promises the gap asked for (`Flattener`).

    Parameters
    ----------
    memory : int, optional
        Number of past steps kept; if not given, 10, or 5 where elements are large: each step kept takes
        two vectors of memory and some passes over them in every iteration.
    """

    memory: int | None = None
    _checks: ClassVar[Mapping[str, Check]] = {"memory": optional(whole(0))}

    def minimize(
        self, problem: ProblemLike, start: Array, stop: Stop, observer: Observer | None = None
    ) -> Result:
        """Minimise from a start."""
        require_smooth(problem, self)
        monitor = Monitor(problem, stop, observer)
        point = problem.at(start)
        iteration = 0
        reason = monitor.look(iteration, point)
        curvatures = problem.curvatures(point) if reason is None else None
        large = LARGE if curvatures is None else LARGE_DIAGONAL
        memory = (10 if len(start) < large else 5) if self.memory is None else self.memory
        history = _history(problem, point, memory, curvatures)
        flattener = Flattener(problem, stop.gap)
        try:
            while reason is None:
                flat = flattener.element(point, history.steps, history.changes)
                if flat is not None:
                    trial = problem.at(flat)
                    reason = monitor.look(iteration + 1, trial)
                    if reason is not None:
                        point = trial
                        break
                direction = history.apply(-point.gradient)
                known = history or curvatures is not None
                first = 1.0 if known else min(1.0, 1.0 / monitor.gradient_norm)
                found = wolfe(point.along(direction), point, first, rounding=problem.rounding)
                if found is None and history:
                    history.clear()  # once more along the gradient itself
                    continue
                if found is None:
                    reason = Reason.STUCK
                    break
                history.add(found.point.element - point.element, found.point.gradient - point.gradient)
                point = found.point
                iteration += 1
                reason = monitor.look(iteration, point)
                if curvatures is not None and iteration % AGAIN == 0 and reason is None:
                    history.clear()  # before there is another diagonal: both take memory
                    curvatures = problem.curvatures(point)
                    history = _history(problem, point, memory, curvatures)
        except KeyboardInterrupt:
            reason = Reason.INTERRUPTED
        return monitor.result(point, reason)


class History:
    """Past steps s and changes of the gradient y, and the inverse Hessian they suggest.

    With S and Y the steps and changes as columns, oldest first, U the upper triangle of ⟨S, Y⟩ and D its
    diagonal, the two-loop recursion on v comes to

        U a = ⟨S, v⟩,   q = H₀ (v − Y a),   Uᵀ c = D a − ⟨Y, q⟩,   result = q + S c

    [the compact form of Byrd, Nocedal and Schnabel, 1994]: inner products with all of them at once, and
    sums of all of them at once, instead of one pass for each.

    Parameters
    ----------
    problem : ProblemLike
        Its inner product.
    memory : int
        Number of pairs kept.
    curvatures : array, optional
        A diagonal that resembles the Hessian, where no pair says better.
    """

    def __init__(self, problem: ProblemLike, memory: int, curvatures: Array | None = None) -> None:
        self._problem = problem
        self._memory = memory
        self._curvatures = curvatures
        self.clear()

    def __bool__(self) -> bool:
        return bool(self.steps)

    def clear(self) -> None:
        """Forget everything."""
        self.steps: list[Array] = []
        self.changes: list[Array] = []
        self._across = np.empty((0, 0))  # ⟨s_i, y_j⟩, j not older than i
        self._within = np.empty((0, 0))  # ⟨y_i, H₀ y_j⟩ but for the scale
        self._scale = 1.0

    def add(self, step: Array, change: Array) -> None:
        """Remember a step and the change of the gradient along it."""
        inner, inners = self._problem.inner, self._problem.inners
        divided = self._divided(change)
        curvature, size = inner(step, change), inner(change, divided)
        if size <= 0 or curvature <= 1e-12 * size or self._memory == 0:
            return  # the pair would make the metric indefinite, or is too small to have a square
        if len(self.steps) == self._memory:
            del self.steps[0], self.changes[0]
            self._across, self._within = self._across[1:, 1:], self._within[1:, 1:]
        across, within = inners(self.steps, change), inners(self.changes, divided)
        self._across = np.block([[self._across, across[:, None]], [0 * across, curvature]])
        self._within = np.block([[self._within, within[:, None]], [within, size]])
        self.steps.append(step)
        self.changes.append(change)
        self._scale = curvature / size

    def apply(self, vector: Array) -> Array:
        """Multiply by the inverse Hessian."""
        problem, across = self._problem, self._across
        if not self.steps:
            return self._guess(vector).copy()
        along = problem.inners(self.changes, self._guess(vector))
        first = np.linalg.solve(across, problem.inners(self.steps, vector))
        along = self._scale * (along - self._within @ first)
        second = np.linalg.solve(across.T, across.diagonal() * first - along)
        result = vector.copy()
        problem.add_multiples(result, self.changes, -first)
        result *= self._scale
        if self._curvatures is not None:
            result /= self._curvatures
        self._correct(result, first)
        problem.add_multiples(result, self.steps, second)
        return result

    def _guess(self, vector: Array) -> Array:
        """Return H₀ v but for the scale."""
        return self._divided(vector)

    def _correct(self, result: Array, weights: Array) -> None:
        """Add to H₀ (v − Y a) what a diagonal does not know; a are the weights."""

    def _divided(self, vector: Array) -> Array:
        return vector if self._curvatures is None else vector / self._curvatures


def _history(problem: ProblemLike, point: PointLike, memory: int, curvatures: Array | None) -> History:
    """Return a history without steps, on top of the best that is known about the Hessian."""
    model = None if curvatures is None else problem.hessian_model(point, curvatures)
    if curvatures is None or model is None:
        return History(problem, memory, curvatures)
    from .modelled_history import ModelledHistory  # which imports this

    return ModelledHistory(problem, memory, curvatures, model)


class Flattening(NamedTuple):
    """A step, and what it should leave of the squared length of the gradient, a share."""

    step: Array
    left: float


def flattest(
    problem: ProblemLike, gradient: Array, steps: Sequence[Array], changes: Sequence[Array]
) -> Flattening:
    """Return Σ_k c_k s_k with the c that minimises ‖gradient + Σ_k c_k y_k‖, in the problem's norm."""
    across = np.array([problem.inners(changes, change) for change in changes])
    along = problem.inners(changes, gradient)
    lengths = np.sqrt(across.diagonal())
    scaled = across / np.outer(lengths, lengths)
    weights = np.linalg.lstsq(scaled, -along / lengths, rcond=1e-6)[0] / lengths
    before = problem.inner(gradient, gradient)
    step = np.zeros_like(gradient)
    problem.add_multiples(step, steps, weights)
    return Flattening(step, float(before + 2 * along @ weights + weights @ across @ weights) / before)


class Flattener:
    """Finds the combination of past steps that leaves the shortest gradient, where certificates are tightest.

    A certified gap is ½‖∇R‖² where penalties are squared norms, while a search lowers R: from step to step
    its gradient grows and shrinks along the most curved directions, by factors of ten. Of all combinations
    of past steps s_k, with changes y_k of the gradient, the one that minimises ‖∇R + Σ_k c_k y_k‖ takes inner
    products to find and one evaluation to try, once it promises the gap that was asked for.

    Parameters
    ----------
    problem : ProblemLike
        Its inner product.
    gap : float
        The relative gap asked for.
    """

    def __init__(self, problem: ProblemLike, gap: float) -> None:
        self._problem = problem
        self._gap = gap
        self._least = gap

    def element(self, point: PointLike, steps: Sequence[Array], changes: Sequence[Array]) -> Array | None:
        """Return where the gap should be small enough; None if past steps do not lead there."""
        certificate = point.certificate
        if not steps or certificate is None:
            return None
        gap = (point.value - certificate.lower_bound) / max(abs(point.value), np.finfo(float).tiny)
        if not gap <= WORTH_A_LOOK * self._gap:
            return None
        step, left = flattest(self._problem, point.gradient, steps, changes)
        promised = left * gap
        if promised > PROMISING * self._least:
            return None
        self._least = promised
        return np.asarray(point.element + step)


SUFFICIENT = 1e-4
FLATTER = 0.9


class LineTrial(NamedTuple):
    """A point on the ray."""

    step: float
    value: float
    slope: float
    point: Any


def wolfe(
    line: LineLike,
    start: Any,
    first: float = 1.0,
    *,
    rounding: float = 0.0,
    trials: int = 25,
    flatter: float = FLATTER,
) -> LineTrial | None:
    """Find a step with φ(t) ≤ φ(0) + c₁ t φ'(0) and |φ'(t)| ≤ c₂ |φ'(0)|, c₂ being ``flatter``.

    Near the minimum the first one drowns in rounding long before the slope does; a value that differs by
    rounding only, a share ``rounding`` of it, is then taken for one that fell, as Hager and Zhang's
    approximate conditions do.

    Brackets by doubling, then narrows by cubic interpolation kept away from the ends of the
    bracket. Gives the lowest trial that satisfies the first condition if the second cannot be had
    within ``trials`` evaluations, and None if not even that one.
    """
    origin = LineTrial(0.0, start.value, line.slope(start), start)
    if not origin.slope < 0:
        return None
    low, high, step = origin, None, first
    best: LineTrial | None = None
    for _ in range(trials):
        trial = _look(line, step)
        enough = trial.value <= origin.value + SUFFICIENT * step * origin.slope
        if enough and (best is None or trial.value < best.value):
            best = trial
        close = trial.value <= origin.value + rounding * abs(origin.value)
        if (enough or close) and abs(trial.slope) <= -flatter * origin.slope:
            return trial
        trial = trial._replace(point=None)  # only the best is ever asked for it: points are large
        if not enough or trial.value >= low.value:
            high = trial
        else:
            if trial.slope * ((high.step - low.step) if high else 1.0) >= 0:
                high = low
            low = trial
        if high is not None and abs(high.step - low.step) <= 1e-9 * max(high.step, low.step):
            break  # nothing lies between them
        step = 2.0 * step if high is None else _between(low, high)
    return best


def _look(line: LineLike, step: float) -> LineTrial:
    point = line.at(step)
    value = point.value
    if not math.isfinite(value):
        return LineTrial(step, math.inf, math.inf, point)
    return LineTrial(step, value, line.slope(point), point)


def _between(low: LineTrial, high: LineTrial) -> float:
    """Minimum of the cubic through both trials, at least a tenth of the bracket from its ends."""
    width = high.step - low.step
    middle = low.step + 0.5 * width
    if not math.isfinite(high.value):
        return low.step + 0.1 * width
    d1 = low.slope + high.slope - 3.0 * (low.value - high.value) / (low.step - high.step)
    square = d1 * d1 - low.slope * high.slope
    if square < 0:
        return middle
    d2 = math.copysign(math.sqrt(square), width)
    bottom = high.slope - low.slope + 2.0 * d2
    if bottom == 0:
        return middle
    step = high.step - width * (high.slope + d2 - d1) / bottom
    ends = sorted((low.step + 0.1 * width, high.step - 0.1 * width))
    return min(max(step, ends[0]), ends[1])
