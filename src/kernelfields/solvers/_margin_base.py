"""What max-margin solvers see: the dual of a sum of hinge losses, one block per instance."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..arrays import Array
from ..checks import Checked
from ._base import Monitor, Observer, Progress, Reason, Result, Stop


class PlaneLike(Protocol):
    """A plane below the loss of one instance: level + ⟨direction, scores⟩."""

    @property
    def level(self) -> float:
        """At zero scores."""

    @property
    def direction(self) -> Array:
        """A flat array in the score space of the instance."""


class BlockDualLike(Protocol):
    """max Σ_i levels_i − ½‖w‖² over mixtures of planes, w minus the sum of their Riesz elements."""

    problem: Any
    size: int
    """Number of blocks."""
    weights: Array
    element: Array
    """w."""
    levels: Array

    @property
    def mixtures(self) -> list[Array]:
        """Σ_ŷ α_i(ŷ)·direction of every block."""

    def scores(self, i: int) -> Array:
        """What directions of a block are multiplied with: values of planes are level + direction·scores."""

    def plane(self, i: int, scores: Array) -> PlaneLike:
        """Return the largest plane of a block at its scores."""

    def planes(self) -> list[Any]:
        """Return the largest plane of every block."""

    def images(self, i: int, directions: Array) -> Array:
        """Return rows whose products with directions of the same block are inner products of the space."""

    def gram(self, directions: Sequence[Array]) -> Array:
        """Return the inner products of directions, some rows for every block, with all others."""

    def move(self, i: int, level: float, change: Array) -> None:
        """Change a mixture, and w with it."""

    def point(self) -> Any:
        """Return the primal point at w."""

    def reached(self, constraints: int, violation: float = ...) -> Any:
        """Return the primal and the dual point at w."""


class MarginSolver(Checked, ABC):
    """A way to maximise the dual; its settings are its fields."""

    @abstractmethod
    def maximize(self, dual: BlockDualLike, stop: Stop, observer: Observer | None = None) -> Result:
        """Maximise from where the dual is; Ctrl-C ends the search and keeps the point reached."""


TRIALS = 12
"""Shares of a way that are tried, each a quarter of the one before."""


def settled(monitor: Monitor, best: Any, aims: list[Array], reason: Reason) -> Result:
    """End a search; if it is too early, look between the best point and where the search was going.

    Where penalties are small, first steps go much too far: their values are above that of the start, which
    stays the best point for many iterations though it knows nothing. A small share of the same way is
    below it, or one down the gradient.
    """
    if not reason.converged:
        for aim in aims:
            best = _lowest_towards(best, aim)
        best = _lowest_towards(best, best.element - best.gradient)
        assert monitor.progress is not None
        monitor.progress = monitor.progress._replace(value=float(best.value))
    return monitor.result(best, reason)


def _lowest_towards(best: Any, far: Array) -> Any:
    """Return the lowest of some points on the way, and of the best."""
    found, share = best, 1.0
    try:
        for _ in range(TRIALS):
            share /= 4
            point = best.problem.at(best.element + share * (far - best.element))
            if point.value < found.value:
                found = point
            elif found is not best:
                break
    except KeyboardInterrupt:  # a second one
        pass
    return found


WINDOW = 100
"""Passes by which progress is judged."""

HASTE = 10.0
"""How many times as fast as over the last passes a search may still become."""


@dataclass
class Pace:
    """Tells when the passes that are left cannot suffice, by how gap and bound went in those before."""

    stop: Stop
    seen: list[tuple[float, float]] = field(default_factory=list)
    """Gap and bound after every pass."""

    def creeps(self, progress: Progress) -> bool:
        """Whether neither the gap at many times its pace, nor the bound at its rate, will get there.

        Where penalties are small, planes are all but parallel: a bound near zero then grows by a few per cent
        in a hundred passes. One that multiplies itself is no such case.
        """
        value, bound = progress.value, progress.lower_bound
        self.seen.append((value - bound, bound))
        left = self.stop.iterations - progress.iteration
        if len(self.seen) <= WINDOW or left < WINDOW:
            return False
        gap, before = self.seen[-1 - WINDOW]
        windows = left / WINDOW
        gap_in_the_end = (value - bound) - HASTE * windows * (gap - (value - bound))
        multiplies = before > 0 and windows * np.log(bound / before) >= np.log(value / bound)
        return gap_in_the_end > self.stop.gap * abs(value) and not multiplies


@dataclass
class BestPoint:
    """Keeps the point with the lowest value, and says when the gap is small enough."""

    monitor: Monitor
    point: Any = None

    def look(self, iteration: int, point: Any) -> Any:
        """Report a point; the reason to stop, if there is one."""
        if self.point is None or point.value <= self.point.value:
            self.point = point
        shown: Any = _Shown(point, self.point)
        return self.monitor.look(iteration, shown)

    @property
    def progress(self) -> Progress:
        """The last report."""
        assert self.monitor.progress is not None
        return self.monitor.progress


@dataclass
class _Shown:
    """The dual of the last point with the value of the best."""

    last: Any
    best: Any

    @property
    def element(self) -> Array:
        return np.asarray(self.best.element)

    @property
    def value(self) -> float:
        return float(self.best.value)

    @property
    def gradient(self) -> Array:
        return np.asarray(self.last.gradient)

    @property
    def certificate(self) -> Any:
        return self.last.certificate

    @property
    def dual(self) -> Any:
        return self.last.dual

    @property
    def constraints(self) -> int:
        return int(self.last.constraints)

    @property
    def violation(self) -> float:
        return float(self.last.violation)

    @property
    def slacks(self) -> Any:
        return self.last.slacks
