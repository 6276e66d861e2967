"""Exponentiated gradient on the dual of the log loss, whose passes are native."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from ..arrays import Array
from ..checks import Check, whole
from ..errors import UnsupportedError
from ._base import Observer, ProblemLike, Progress, Reason, Result, Solver, Stop, require_smooth
from .lbfgs import LBFGS

CLOSE = 2.0
"""Estimated gap over the tolerance from which on every pass ends with a look at the true one.

The estimate is a sum of gaps before visits, and a pass more than halves them.
"""

AIM = 0.98
"""Share of the tolerance at which to stop: single precision is not quite right about the gap."""

PATIENCE = 5
"""Passes without a rise of the dual, but for rounding, after which there is none to come."""


class DistributionDual(Protocol):
    """A dual problem with a distribution for every instance."""

    size: int

    def begin(self, point: Any) -> None:
        """Start from the distributions of a point."""

    def visit(self, order: Array, sweeps: int) -> tuple[float, float]:
        """Move distributions; return about their gaps before, and the rise of the dual."""

    def expectations(self) -> Any:
        """Return where it is: a dual point, which knows the element that belongs to it."""


@runtime_checkable
class Dualised(Protocol):
    """A problem that knows such a dual."""

    def entropy_dual(self) -> DistributionDual:
        """Return it; a refusal where there is none."""


@dataclass(frozen=True)
class ExponentiatedGradient(Solver):
    """Exponentiated gradient on the dual [collins2008], for dense kernels on chains.

    Every sequence has a distribution with scores θ_i, and f is made of their expectations. A visit moves θ_i
    towards the scores of f at the sequence, θ_i + η(s_i − θ_i), with the η that is best by the last
    such step. Sequences are visited in random order, in panels of some hundred positions: the values of f
    there take the rows of the Gram matrix that belong to the panel, once, and then the panel is gone over
    several times. A pass over all of them costs about one product with the Gram matrix, and does the work of
    two to six iterations of L-BFGS, which moves all at once.

    The dual rises with every step and is a certificate by itself. The sum of the gaps that visits have met
    estimates the duality gap; when it is small, or where somebody looks on, a pass ends with an
    evaluation of the objective, one product more.

    Long sequences are what it is bad at: a distribution moves as a whole, and the more it depends on, the
    shorter its steps. After some passes L-BFGS goes on from the lowest point.

    Parameters
    ----------
    sweeps : int
        How often a panel is gone over, at most.
    passes : int
        How many of them there are before L-BFGS goes on.
    seed : int
        Of the order.
    """

    sweeps: int = 4
    passes: int = 40
    seed: int = 0
    _checks: ClassVar[Mapping[str, Check]] = {
        "sweeps": whole(1, 2**31 - 1),
        "passes": whole(0),
        "seed": whole(0, 2**63 - 1),
    }

    def minimize(
        self, problem: ProblemLike, start: Array, stop: Stop, observer: Observer | None = None
    ) -> Result:
        """Minimise from a start; a bad one, where the dual is below that of f = 0, is not used."""
        require_smooth(problem, self)
        if not isinstance(problem, Dualised):
            raise UnsupportedError(f"{type(problem).__name__} has no dual with distributions; use LBFGS.")
        climb = _Passes(
            problem,
            problem.entropy_dual(),
            replace(stop, iterations=min(stop.iterations, self.passes)),
            observer,
        )
        random = np.random.default_rng(self.seed)
        try:
            reason = climb.begin(start)
            while reason is None:
                gap, rise = climb.dual.visit(random.permutation(climb.dual.size), self.sweeps)
                reason = climb.look(gap, rise)
        except KeyboardInterrupt:
            reason = Reason.INTERRUPTED
        result = climb.result(reason)
        if reason is not Reason.LIMIT or self.passes >= stop.iterations:
            return result
        del climb  # and with it a Gram matrix
        return _continued(problem, result, stop, observer)


def _continued(problem: ProblemLike, result: Result, stop: Stop, observer: Observer | None) -> Result:
    """Go on by L-BFGS."""
    done = result.progress.iteration

    def counted(progress: Progress) -> Progress:
        return progress._replace(
            iteration=done + progress.iteration,
            lower_bound=max(progress.lower_bound, result.progress.lower_bound),
            seconds=result.progress.seconds + progress.seconds,
        )

    def observe(progress: Progress, point: Any) -> bool | None:
        if observer is None or progress.iteration == 0:  # seen already
            return None
        return observer(counted(progress), point)

    left = replace(stop, iterations=stop.iterations - done)
    found = LBFGS().minimize(problem, result.point.element, left, observe)
    return found._replace(progress=counted(found.progress))


@dataclass
class _Passes:
    """Knows where the dual is, and says when to stop."""

    problem: Any
    dual: DistributionDual
    stop: Stop
    observer: Observer | None
    iteration: int = 0
    bound: float = 0.0
    """The value of the dual: 0 with all mass on what was observed."""
    stalled: int = 0
    point: Any = None
    """The last one that was looked at."""
    expectations: Any = None
    """The dual point behind it."""
    lowest: tuple[float, Any, Any] | None = None
    """The lowest value so far, its point, and the dual point behind that one."""
    progress: Progress | None = None
    started: float = field(default_factory=time.perf_counter)

    def begin(self, start: Array) -> Reason | None:
        """Look at the start, and take it if its dual point is better than none."""
        self.point = self.problem.at(start)
        if start.any():
            found = self.point.certificate
            if found is not None and found.lower_bound > 0:
                self.dual.begin(self.point)
                self.bound = found.lower_bound
        return self._report()

    def look(self, gap: float, rise: float) -> Reason | None:
        """Report a pass; the reason to stop, if there is one."""
        self.iteration += 1
        self.bound += rise
        last = self.iteration >= self.stop.iterations
        self.stalled = 0 if rise > self.problem.rounding * abs(self.bound) else self.stalled + 1
        close = not gap > CLOSE * self.stop.gap * self.bound  # the value is no lower; NaN is worth a look
        if self.observer is not None or last or close or self.stalled:
            self._evaluate()
            return self._report()
        self.point = None
        return None

    def _evaluate(self) -> None:
        """Find the point f of the distributions, and the value of the dual."""
        self.expectations = self.dual.expectations()
        self.point = self.problem.at(self.expectations.element(self.problem))
        self.bound = self.expectations.at(self.point).bound(self.problem)

    def _note(self) -> None:
        """Keep the point if it is the lowest: while the dual rises, the objective may rise as well."""
        value = self.point.value
        if self.lowest is None or not value >= self.lowest[0]:
            self.lowest = value, self.point, self.expectations
        seconds = time.perf_counter() - self.started
        self.progress = Progress(self.iteration, value, np.nan, self.bound, seconds)

    def _report(self) -> Reason | None:
        self._note()
        assert self.progress is not None
        enough = self.observer is not None and self.observer(self.progress, self.point)
        if self.progress.relative_gap <= AIM * self.stop.gap:
            return Reason.GAP
        if enough:
            return Reason.OBSERVER
        if self.iteration >= self.stop.iterations:
            return Reason.LIMIT
        stuck = self.stalled >= PATIENCE or not np.isfinite(self.progress.value)
        return Reason.STUCK if stuck else None

    def result(self, reason: Reason) -> Result:
        """Return the end; where it comes too early, the lowest point so far."""
        if reason is Reason.INTERRUPTED:
            self._evaluate()
            self._note()
        assert self.progress is not None
        assert self.lowest is not None
        if reason is Reason.GAP:
            return Result(self.point, reason, self.progress, self.expectations)
        value, point, expectations = self.lowest
        return Result(point, reason, self.progress._replace(value=value), expectations)
