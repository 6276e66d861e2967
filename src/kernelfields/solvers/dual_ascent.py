"""Coordinate ascent on a max-margin dual whose passes are native."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, ClassVar, Protocol

import numpy as np

from ..arrays import Array
from ..checks import Check, Checked, whole
from ._base import STALLED, Monitor, Observer, Progress, Reason, Result, Stop
from ._margin_base import settled

WORTH = 0.05
"""Share of a round's rise that one more pass over what is known must give to be followed by another."""
CLOSE = 4.0
"""Estimated gap over the tolerance from which on every round ends with a look at the true one.

Which is smaller: the estimate is from before the visits, and at f, not at the best of its multiples.
"""

AIM = 0.99
"""Share of the tolerance at which to stop: single precision is not quite right about the gap."""

FEW = 60
"""Rounds after which the search goes on in double: what takes longer may be lost in rounding."""


class SweptDual(Protocol):
    """A dual problem that goes through its instances by itself."""

    problem: Any
    size: int
    thorough: bool
    """Whether visits go over what is known by themselves, as often as that pays."""

    @property
    def bound(self) -> float:
        """Its value."""

    @property
    def penalty(self) -> float:
        """½‖f‖²."""

    @property
    def count(self) -> int:
        """Variables that are kept."""

    def visit(self, order: Array) -> tuple[float, float, float]:
        """Search and improve; return losses, gaps and the rise of the dual."""

    def improve(self, order: Array) -> float:
        """Improve what is known; return the rise."""

    def loss(self, scale: float = ...) -> tuple[float, float]:
        """Σ_i loss_i at a multiple of f, and its derivative in the factor."""

    def forget(self, patience: int) -> None:
        """Let variables go that have been zero for some rounds."""

    def refine(self) -> bool:
        """Go on with more digits, if there are more."""

    def detours(self) -> Any:
        """Return where it is."""

    def restart(self, detours: Any) -> None:
        """Go back there."""

    def element(self) -> Array:
        """Return f."""

    def reached(self, scale: float = ...) -> Any:
        """Return the primal point, a multiple of f, and the dual point, computed anew in double."""


@dataclass(frozen=True)
class DualAscent(Checked):
    """Exact steps in one share of a detour after the other, in native passes over sequences or trees.

    A round visits them in random order, each with a search for its worst labelling, and then goes
    over the shares that are known without searches, as long as that pays: block-coordinate Frank-Wolfe
    [lacostejulien2013] with a cache [shah2015], in blocks as small as the structure lets them be. The sum of
    the gaps that visits have met estimates the duality gap; when it is small, a pass without changes finds
    out, and the end is certified in double.

    Parameters
    ----------
    cached_passes : int
        Passes over known shares for each pass with searches, at most.
    patience : int
        Rounds after which what has had no share is forgotten.
    seed : int
        Of the order.
    """

    cached_passes: int = 10
    patience: int = 8
    seed: int = 0
    _checks: ClassVar[Mapping[str, Check]] = {
        "cached_passes": whole(0),
        "patience": whole(0, 2**31),
        "seed": whole(0, 2**63 - 1),
    }

    def maximize(self, dual: SweptDual, stop: Stop, observer: Observer | None = None) -> Result:
        """Maximise from where the dual is; Ctrl-C ends the search and keeps the point reached."""
        climb = _Climb(dual, stop, observer)
        random = np.random.default_rng(self.seed)
        try:
            reason = climb.look(np.inf, np.inf)
            while reason is None:
                gap, rise = self._round(dual, random)
                climb.iteration += 1
                reason = climb.look(gap, rise)
        except KeyboardInterrupt:
            reason = Reason.INTERRUPTED
        return climb.result(reason)

    def _round(self, dual: SweptDual, random: np.random.Generator) -> tuple[float, float]:
        """Return the relative gap as visits have met it, and the rise of the dual."""
        loss, gap, rise = dual.visit(random.permutation(dual.size))
        for _ in range(0 if dual.thorough else self.cached_passes):
            more = dual.improve(random.permutation(dual.size))
            rise += more
            if more <= WORTH * rise:
                break
        dual.forget(self.patience)
        return gap / max(loss + dual.penalty, np.finfo(float).tiny), rise


@dataclass
class _Standing:
    """What observers see of a round."""

    dual: SweptDual
    constraints: int
    violation: float = np.inf

    @property
    def element(self) -> Array:
        return self.dual.element()


@dataclass
class _Climb:
    """Knows the lowest value so far and where it was, and says when to stop."""

    dual: SweptDual
    stop: Stop
    observer: Observer | None
    iteration: int = 0
    value: float = np.inf
    place: Any = None
    """Where the value is the lowest."""
    scale: float = 1.0
    """What f is multiplied with there."""
    looked: float = np.inf
    """The estimate of the gap at the last look at the true one."""
    stalled: int = 0
    point: Any = None
    """The end, certified."""
    started: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        self.monitor = Monitor(self.dual.problem, self.stop)

    def look(self, gap: float, rise: float) -> Reason | None:
        """Report a round; the reason to stop, if there is one."""
        bound, last = self.dual.bound, self.iteration >= self.stop.iterations
        now, scale = np.nan, 1.0
        if self.iteration == 0 or last or gap <= max(0.5 * self.looked, CLOSE * self.stop.gap):
            (now, scale), self.looked = self._valued(), gap
        seconds = time.perf_counter() - self.started
        progress = Progress(self.iteration, self.value, np.nan, bound, seconds)
        enough = self.observer is not None and self.observer(progress, _Standing(self.dual, self.dual.count))
        # as long as nobody has looked, the value is NaN, and no gap small enough
        if now - bound <= self.stop.gap * max(abs(now), np.finfo(float).tiny) and self._certified(scale):
            return Reason.GAP
        if enough:
            return Reason.OBSERVER
        return Reason.LIMIT if last else self._stuck(rise, bound)

    def _valued(self) -> tuple[float, float]:
        """Return the value at a multiple of f and the factor, and keep the place if it is the lowest."""
        enough = self.dual.bound / max(1 - AIM * self.stop.gap, np.finfo(float).tiny)
        now, scale = lowest_on_ray(self.dual.loss, self.dual.penalty, enough)
        if now < self.value or self.place is None:
            self.value, self.place, self.scale = now, self.dual.detours(), scale
        return now, scale

    def _certified(self, scale: float) -> bool:
        """Whether the gap is as small in double, from the shares alone; else the search goes on in double."""
        point = self.dual.reached(scale)
        if self.monitor.look(self.iteration, point) is Reason.GAP:
            self.point = point
            return True
        self.dual.refine()
        return False

    def _stuck(self, rise: float, bound: float) -> Reason | None:
        """Whether the dual has not risen for long, but for rounding."""
        digits = self.dual.problem.rounding * abs(bound)
        self.stalled = 0 if rise > digits else self.stalled + 1  # NaN is no rise
        if (self.stalled or self.iteration >= FEW) and self.dual.refine():
            self.stalled = 0
        return Reason.STUCK if self.stalled >= STALLED else None

    def result(self, reason: Reason) -> Result:
        """Return the end; where it comes too early, the lowest point so far."""
        if self.point is not None:
            return self.monitor.result(self.point, reason)
        if self.place is not None and not self._valued()[0] <= self.value:
            self.dual.restart(self.place)
        point = self.dual.reached(self.scale)
        self.monitor.look(self.iteration, point)
        return settled(self.monitor, point, [self.dual.problem.zero()], reason)


MOST = 5
"""Looks at the loss."""
SPAN = 2.0
"""Factors are between one over this and this."""
LITTLE = 0.1
"""Share of what is too much that must be left to gain for another look."""


def lowest_on_ray(
    loss: Callable[[float], tuple[float, float]], penalty: float, enough: float
) -> tuple[float, float]:
    """Return about the least loss(c) + c²·``penalty`` over factors c > 0, and c, by cutting planes.

    ``loss`` returns value and derivative; it is convex and not negative, so that tangents and zero are
    below it. Where they show that ``enough`` is out of reach, the search ends, most times after one look.
    """
    lines, best, scale = [(0.0, 0.0)], (np.nan, 1.0), 1.0
    for _ in range(MOST):
        value, slope = loss(scale)
        here = (value + scale**2 * penalty, scale)
        best = best if here[0] >= best[0] else here
        lines.append((value - slope * scale, slope))
        least, scale = _lowest_of_model(lines, penalty)
        far = best[0] - enough
        if far <= 0 or not least <= enough + LITTLE * far or best[0] - least <= LITTLE * far:
            break
    return best


def _lowest_of_model(lines: list[tuple[float, float]], penalty: float) -> tuple[float, float]:
    """Return the least of c²·penalty + max_j (a_j + b_j c), and c: a corner or the vertex of a parabola."""
    corners = [(a - c) / (d - b) for (a, b), (c, d) in combinations(lines, 2) if b != d]
    vertices = [-b / (2 * penalty) for _, b in lines] if penalty > 0 else []
    scales = np.clip([1.0, *corners, *vertices], 1 / SPAN, SPAN)
    values = scales**2 * penalty + np.max([a + b * scales for a, b in lines], axis=0)
    k = int(np.argmin(values))
    return float(values[k]), float(scales[k])
