"""What solvers see, and what they report. Numbers in, numbers out.

A problem gives points; a point gives its value, its gradient (an element), Hessian products, and the
ray along a direction. Elements are arrays that can be added and scaled; their inner product is the
problem's. Solvers know nothing else.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from ..arrays import Array
from ..checks import Check, Checked, shown, whole
from ..errors import InputError, UnsupportedError


class CertificateLike(Protocol):
    """A value and a lower bound of the minimum."""

    @property
    def lower_bound(self) -> float:
        """No point is below this."""


class DualLike(Protocol):
    """A point of the dual problem."""

    def bound(self, problem: Any) -> float:
        """Return its value: no point of the function is below this."""

    def mixed(self, other: Any, problem: Any) -> Any:
        """Return the best point between this and another."""


class HessianModelLike(Protocol):
    """A Hessian that is diagonal but for some coordinates."""

    @property
    def places(self) -> Array:
        """These coordinates."""

    @property
    def weights(self) -> Array:
        """Their weights in the inner product."""

    def correction(self, vector: Array) -> Array:
        """Return what a solution of H x = vector has at ``places`` beyond that of the diagonal."""


class PointLike(Protocol):
    """A function near one element."""

    @property
    def element(self) -> Array:
        """Where."""

    @property
    def value(self) -> float:
        """How high."""

    @property
    def gradient(self) -> Array:
        """Which way is up: an element."""

    @property
    def certificate(self) -> CertificateLike | None:
        """How far down it can go at most, if that is known."""

    @property
    def dual(self) -> DualLike | None:
        """The point of the dual problem that says so, if such points can be mixed."""

    def hessian_product(self, direction: Array) -> Array:
        """Return the derivative of the gradient along a direction."""

    def block_hessian_product(self, direction: Array) -> Array:
        """Return the same without what is cheap to ignore; never negative."""

    def along(self, direction: Array) -> LineLike:
        """Return the function on a ray."""


class LineLike(Protocol):
    """A function on a ray."""

    def at(self, step: float) -> Any:
        """Return the point at some step."""

    def slope(self, point: Any) -> float:
        """Return the directional derivative at one of its points."""


class ProblemLike(Protocol):
    """A function on a space with an inner product."""

    @property
    def smooth(self) -> bool:
        """Whether the function has no part with kinks: a norm that is not squared."""

    @property
    def thresholds(self) -> Array | None:
        """Weight of |w_k| for every coordinate, if that is the only such part."""

    @property
    def second_order(self) -> bool:
        """Whether points know Hessian products."""

    @property
    def data(self) -> object:
        """What the function is made of, to be named where it lacks something."""

    @property
    def slices(self) -> Mapping[str, slice]:
        """The place of each named part in an element."""

    @property
    def blocks(self) -> Sequence[Sequence[str]]:
        """Names of parts, in groups to be minimised over in turn."""

    def only(self, names: Sequence[str], element: Array) -> Any:
        """Return the problem in some parts, in their order, the others frozen as they are in an element."""

    @property
    def rounding(self) -> float:
        """Share of a value below which differences may be rounding."""

    def inner(self, left: Array, right: Array) -> float:
        """Inner product of two elements."""

    def inners(self, left: Sequence[Array], right: Array) -> Array:
        """Inner products of several elements with one."""

    def add_multiples(self, element: Array, elements: Sequence[Array], weights: Array) -> None:
        """Element += Σ_k weight_k · element_k, in place."""

    def steepest(self, point: Any) -> Array:
        """Return the shortest subgradient at a point: the gradient, where there is one."""

    def shrunk(self, element: Array, step: float, scales: Array | None = None) -> Array:
        """Return the proximal map of ``step`` times the part with kinks, coordinates scaled."""

    def levelled(self, scales: Array) -> Array:
        """Return scales with which that map is simple, none of them smaller than given."""

    def moving(self, element: Array) -> Any:
        """Return a mask of the coordinates that no kink holds at zero."""

    def curvatures(self, point: Any, *, even: bool = False) -> Array | None:
        """About the diagonal of the Hessian at a point, for orthogonal coordinates; None if unknown.

        None also where all are about the same, unless ``even`` asks for them.
        """

    def hessian_model(self, point: Any, curvatures: Array) -> HessianModelLike | None:
        """Return more about the Hessian at a point than its diagonal; None if there is no more, or it is
        not worth its price.
        """

    def at(self, element: Array) -> Any:
        """Return the point at an element."""


class Progress(NamedTuple):
    """One iteration."""

    iteration: int
    value: float
    gradient_norm: float
    """In the norm of the space."""
    lower_bound: float
    """Best seen so far; −inf if none is known."""
    seconds: float
    """Since the start."""

    @property
    def relative_gap(self) -> float:
        """(value − lower bound) / |value|; inf if no bound is known."""
        return (self.value - self.lower_bound) / max(abs(self.value), np.finfo(float).tiny)


class Reason(Enum):
    """Why a solver stopped, as a sentence."""

    GAP = "The certified relative gap is below the tolerance."
    GRADIENT = "The norm of the gradient is below the tolerance."
    LIMIT = "The limit of iterations was reached."
    STUCK = "No step lowers the objective any more, but it is not as close as asked for."
    CREEPING = (
        "Progress is so slow that the limit of iterations would come first; another solver may be faster."
    )
    OBSERVER = "The observer asked to stop."
    INTERRUPTED = "Interrupted; the best point so far was kept."

    @property
    def converged(self) -> bool:
        """Whether the result is as good as was asked for."""
        return self in (Reason.GAP, Reason.GRADIENT, Reason.OBSERVER)

    @property
    def final(self) -> bool:
        """Whether going on from there would change nothing."""
        return self not in (Reason.LIMIT, Reason.CREEPING, Reason.INTERRUPTED)


class Result(NamedTuple):
    """Where a solver stopped."""

    point: Any
    reason: Reason
    progress: Progress
    dual: Any = None
    """The mixture of dual points behind the lower bound, if they can be mixed."""


def _limit(name: str, value: Any) -> None:
    """Check how small something is to become: zero is never reached, infinity at once."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not value >= 0:
        raise InputError(f"{name} is {shown(value)}; it must be a number, not negative.")


@dataclass(frozen=True)
class Stop(Checked):
    """When to stop.

    Parameters
    ----------
    gap : float
        Relative certified gap; used where a certificate exists.
    gradient : float
        Norm of the gradient over max(1, norm at the start); used where none exists.
    iterations : int
        Limit of iterations.
    """

    gap: float = 1e-3
    gradient: float = 1e-5
    iterations: int = 1000
    _checks: ClassVar[Mapping[str, Check]] = {"gap": _limit, "gradient": _limit, "iterations": whole(0)}


STALLED = 50
"""Iterations without progress after which there is none to come."""

Observer = Callable[[Progress, Any], bool | None]
"""Sees every iteration and its point; True ends the search there."""


@dataclass
class Monitor:
    """Keeps the best lower bound, reports progress, and says when to stop."""

    problem: ProblemLike
    stop: Stop
    observer: Observer | None = None
    lower_bound: float = -np.inf
    subgradients: bool = False
    """Whether points have subgradients of mixtures of planes, which may vanish far from the optimum."""
    dual: Any = None
    """The best mixture of dual points so far."""
    first_norm: float | None = None
    least: tuple[float, float] = (np.inf, np.inf)
    """The lowest value and norm of the gradient that counted as progress."""
    raised: float = -np.inf
    """The highest lower bound that did."""
    stalled: int = 0
    """Iterations since."""
    progress: Progress | None = None
    started: float = field(default_factory=time.perf_counter)

    def look(self, iteration: int, point: PointLike) -> Reason | None:
        """Report a point; the reason to stop there, if there is one."""
        slope = self.problem.steepest(point)
        norm = float(np.sqrt(max(self.problem.inner(slope, slope), 0.0)))
        self.first_norm = norm if self.first_norm is None else self.first_norm
        certificate = point.certificate
        if certificate is not None:
            self.lower_bound = max(self.lower_bound, certificate.lower_bound, self._mixed(point))
        seconds = time.perf_counter() - self.started
        self.progress = Progress(iteration, point.value, norm, self.lower_bound, seconds)
        enough = self.observer is not None and self.observer(self.progress, point)
        reason = self._reason(self.progress, certified=certificate is not None)
        return Reason.OBSERVER if enough and reason is None else reason

    def _stalls(self, progress: Progress) -> bool:
        """Whether neither value nor gradient has fallen for long, nor the bound risen, but for rounding."""
        value, norm = self.least
        higher = progress.lower_bound > self.raised + self.problem.rounding * abs(progress.value)
        lower = not progress.value >= value - self.problem.rounding * abs(value)
        flatter = progress.gradient_norm < 0.9 * norm
        self.stalled = 0 if lower or flatter or higher else self.stalled + 1
        self.raised = progress.lower_bound if higher else self.raised
        if lower or flatter:
            self.least = (min(value, progress.value), min(norm, progress.gradient_norm))
        return self.stalled >= STALLED

    def _mixed(self, point: PointLike) -> float:
        """Take the dual point into the mixture; return the bound of the mixture."""
        dual = point.dual
        if dual is None:
            return -np.inf
        self.dual = dual if self.dual is None else self.dual.mixed(dual, self.problem)
        return float(self.dual.bound(self.problem))

    @property
    def gradient_norm(self) -> float:
        """Norm of the gradient at the last point."""
        assert self.progress is not None
        return self.progress.gradient_norm

    def result(self, point: Any, reason: Reason) -> Result:
        """Return what was reached."""
        assert self.progress is not None
        return Result(point, reason, self.progress, self.dual)

    def _reason(self, progress: Progress, certified: bool) -> Reason | None:
        assert self.first_norm is not None
        if certified and progress.relative_gap <= self.stop.gap:
            return Reason.GAP
        if not certified and progress.gradient_norm <= self.stop.gradient * max(1.0, self.first_norm):
            return Reason.GRADIENT
        # where the value is 0 but for rounding, the relative gap may be anything, and the gradient decides
        if progress.gradient_norm == 0 and not (certified and self.subgradients):
            return Reason.GRADIENT
        if self._stalls(progress):
            return Reason.STUCK
        if progress.iteration >= self.stop.iterations:
            return Reason.LIMIT
        return None


class Solver(Checked, ABC):
    """A way to minimise; its settings are its fields."""

    @abstractmethod
    def minimize(
        self, problem: ProblemLike, start: Array, stop: Stop, observer: Observer | None = None
    ) -> Result:
        """Minimise from a start; Ctrl-C ends the search and keeps the point reached."""


def require_smooth(problem: ProblemLike, solver: Solver) -> None:
    """Refuse a problem with a norm that is not squared: a solver for smooth functions would ignore it."""
    if problem.thresholds is not None:
        raise UnsupportedError(f"{type(solver).__name__} cannot minimise an ℓ1 penalty; use OWLQN.")
    if not problem.smooth:
        raise UnsupportedError(
            f"{type(solver).__name__} cannot minimise a norm that is not squared; use ProximalQuasiNewton."
        )


def require_second_order(problem: ProblemLike, solver: Solver) -> None:
    """Refuse a problem without Hessian products."""
    if not problem.second_order:
        raise UnsupportedError(
            f"{type(solver).__name__} needs second derivatives, which {type(problem.data).__name__} "
            "does not have; use LBFGS."
        )
