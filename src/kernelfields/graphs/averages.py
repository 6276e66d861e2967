"""Functions on a graph that are averages over neighbours, but for sources: f = C A f + b."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..native import NeighbourRows
from ..solvers import Progress
from .sources import Sources

LOOK = 8
"""Steps of conjugate gradients between two looks at the largest residual, which costs half a step."""

FLOOR = 1e-15
"""Share of the largest value below which residuals are rounding."""

PATIENCE = 4
"""Looks without a smaller residual after which the rest is rounding, once there were as many steps as there
are vertices: before, the largest residual may stay until news of a label has come through a long graph."""

Observer = Callable[[Progress], object]


class Averaged(NamedTuple):
    """Where a search for f ended."""

    values: Array
    """(N, columns) f."""
    iterations: int
    error: float
    """How far f may be off, as the caller measures it."""


@dataclass(frozen=True)
class Watch:
    """When to stop, and who looks on."""

    tol: float
    max_iter: int
    observer: Observer | None = None
    started: float = field(default_factory=perf_counter)

    def look(self, iteration: int, error: float, residual: float) -> bool:
        """Report an iteration; tell whether it is good enough, or the last."""
        if self.observer is not None:
            seconds = perf_counter() - self.started
            self.observer(Progress(iteration, error, residual, -np.inf, seconds))
        return error <= self.tol or iteration >= self.max_iter


class SweepChange(NamedTuple):
    """How far f is from C A f + b, in sums over the columns of a vertex."""

    absolute: float
    """The largest."""
    relative: float
    """The largest share of what is there."""
    least: float
    """Least sum of f at a vertex that has something."""
    empty: int
    """Number of vertices that have nothing yet."""


@dataclass(frozen=True)
class Averages:
    """f_i = c_i Σ_j a_ij f_j + b_i for several columns f at once, over sparse weights a.

    Vertices with c_i = 0 keep b_i.
    """

    rows: NeighbourRows
    scale: Array
    """(N,) c."""
    sources: Sources
    """b."""

    def residual(self, f: Array) -> Array:
        """Return b − (I − C A) f, what a sweep would change, as a new array."""
        image = np.empty_like(f)
        self.rows.less_average(self.scale, np.zeros_like(self.scale), f, image)
        np.negative(image, out=image)
        self.sources.add_to(image)
        return image

    def sweeps(
        self, f: Array, watch: Watch, factor: Callable[[float, float], float], done: int = 0
    ) -> Averaged:
        """Repeat f ← C A f + b.

        Nothing is ever subtracted, so also the smallest values are right in all their digits. ``factor``
        makes an error of the last two changes, relative to what is at a vertex.
        """
        other, before, error = np.empty_like(f), np.inf, np.inf
        while done < watch.max_iter:
            _, change, _, _ = self.rows.sweep(self.scale, *self.sources, f, other, 1.0)
            f, other, done = other, f, done + 1
            error, before = factor(change, before), change
            if watch.look(done, error, change):
                break
        return Averaged(f, done, error)

    def chebyshev(
        self, f: Array, radius: float, watch: Watch, bound: Callable[[SweepChange], float]
    ) -> tuple[Averaged, float]:
        """Accelerate sweeps where the eigenvalues of C A are real and within ± ``radius``, below 1,

            f_{t+1} = (1 − ω_t) f_{t−1} + ω_t (C A f_t + b),        ω_{t+1} = 1/(1 − ¼ radius² ω_t),

        which needs nothing but one product a step: steps of conjugate gradients take three times as long, and
        are only fewer where eigenvalues are few. ``bound`` makes an error of how far f is from its averages.
        Returns the largest change of a sweep, besides.

        Errors shrink by `_rate` a step: f is looked at when that may be enough, and left when the rest is
        rounding.
        """
        other, omega, done, rate = np.empty_like(f), 2.0, 0, _rate(radius)
        last = min(watch.max_iter, int(np.ceil(np.log(FLOOR) / np.log(rate))))
        look = min(LOOK, last)
        while True:
            arguments = (self.scale, *self.sources, f, other, omega if done else 1.0)
            if done >= look:
                change = SweepChange(*self.rows.sweep(*arguments))
                error = bound(change)
                if watch.look(done, error, change.absolute) or done >= last:
                    return Averaged(f, done, error), change.absolute
                steps = np.log(watch.tol / error) / np.log(rate) if error < np.inf else LOOK
                look = min(done + max(1, int(steps)), last)
            else:
                self.rows.mix(*arguments)
            f, other, done = other, f, done + 1
            omega = 1 / (1 - radius**2 * omega / 4)

    def conjugate_gradients(
        self, f: Array, residual: Array, watch: Watch, bound: Callable[[Array, Array], float]
    ) -> Averaged:
        """Solve (I − C A) f = b from a start and its residual b − (I − C A) f; a must be symmetric.

        I − C A is symmetric in the inner product with m = 1/c, in which c preconditions by itself. ``bound``
        makes an error of f and its residual.
        """
        metric = np.divide(1.0, self.scale, out=np.zeros_like(self.scale), where=self.scale > 0)
        p, image = residual.copy(), np.empty_like(f)
        size = np.einsum("i,il,il->l", metric, residual, residual)
        error, best, iteration, stalled = np.inf, np.inf, 0, 0
        while size.any():
            curvature = self.rows.less_average(self.scale, metric, p, image)
            step = _ratio(size, curvature)
            before, size = size, self.rows.step(metric, step, p, image, f, residual)
            self.rows.direction(_ratio(size, before), residual, p)
            iteration += 1
            if iteration % LOOK and iteration < watch.max_iter and size.any():
                continue
            worst, error = float(np.abs(residual).max()), bound(f, residual)
            best, stalled = (worst, 0) if worst < best else (best, stalled + 1)
            rounding = worst <= FLOOR * np.abs(f).max() or (stalled >= PATIENCE and iteration > len(f))
            if watch.look(iteration, error, worst) or rounding:
                break
        return Averaged(f, iteration, error)


def _rate(radius: float) -> float:
    """Return by how much a step of `Averages.chebyshev` shrinks errors, in the end."""
    return float(radius / (1 + np.sqrt(1 - radius**2)))


def _ratio(above: Array, below: Array) -> Array:
    """Return quotients; 0 where there is nothing left to divide."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)
