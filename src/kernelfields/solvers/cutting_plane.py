"""Cutting planes of the whole objective: one slack variable for all instances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array
from ..checks import Check, whole
from ..errors import UnsupportedError
from ._base import Monitor, Observer, ProblemLike, Reason, Result, Solver, Stop, require_smooth
from ._margin_base import settled
from .simplex_qp import simplex_qp

GROWTH, LEAST, MOST = 1.5, 0.05, 0.9
"""How fast the share of the way to the minimiser of the bound changes, and between which shares."""


@dataclass(frozen=True)
class CuttingPlane(Solver):
    """The one-slack cutting-plane algorithm [joachims2009], a bundle method.

    Every point gives a plane that touches the loss of the whole training set, level + ⟨mismatch, f⟩. The
    largest of the planes so far plus ½‖f‖² is a lower bound of the objective; its minimiser is the next
    point, found in the dual: a quadratic programme with one variable per plane. One batched search over
    all instances and one product with the inputs per iteration, whatever the space; needs few planes, but
    more searches than block-coordinate methods. Serves any convex loss, smooth or not.

    While planes are few, the minimiser of the bound is far astray. The point at which the next plane is
    taken therefore lies between the best so far and that minimiser: nearer to the former after a point
    that was not better, nearer to the latter after one that was.

    Parameters
    ----------
    patience : int
        A plane that was not used for so many iterations in a row leaves the working set.
    """

    patience: int = 30
    _checks: ClassVar[Mapping[str, Check]] = {"patience": whole(0)}

    def minimize(
        self, problem: ProblemLike, start: Array, stop: Stop, observer: Observer | None = None
    ) -> Result:
        """Minimise from a start."""
        require_smooth(problem, self)
        monitor = Monitor(problem, stop, observer, subgradients=True)
        bundle = _Bundle(problem, self.patience)
        point = best = problem.at(start)
        iteration, share = 0, 1.0
        try:
            while True:
                plane = point.dual
                if plane is None:
                    raise UnsupportedError("Cutting planes need a convex loss and a penalty on every space.")
                bundle.add(plane)
                mixture = bundle.solve()
                monitor.dual, monitor.lower_bound = mixture, max(monitor.lower_bound, bundle.bound)
                share = min(GROWTH * share, MOST) if point.value < best.value else max(share / GROWTH, LEAST)
                best = point if point.value <= best.value else best
                reason = monitor.look(iteration, _Look(best, mixture, len(bundle.planes)))
                if reason is not None:
                    break
                iteration += 1
                point = problem.at(best.element - share * (mixture.mismatch + best.element))
        except KeyboardInterrupt:
            reason = Reason.INTERRUPTED
        return settled(monitor, best, bundle.aims(), reason)


@dataclass
class _Look:
    """The best point with the mixture of planes that bounds it."""

    point: Any
    dual: Any
    constraints: int
    violation: float = np.inf

    @property
    def gradient(self) -> Array:
        """A subgradient of R, up to the gap: that of the mixture of planes."""
        return np.asarray(self.point.element + self.dual.mismatch)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.point, name)


@dataclass
class _Bundle:
    """Planes and their inner products."""

    problem: ProblemLike
    patience: int
    planes: list[Any] = field(default_factory=list)
    bound: float = -np.inf

    def __post_init__(self) -> None:
        self.gram = np.zeros((0, 0))
        self.shares = np.zeros(0)
        self.idle = np.zeros(0, dtype=int)

    def add(self, plane: Any) -> None:
        """Take a plane in."""
        m = len(self.planes)
        products = self.problem.inners([other.mismatch for other in self.planes], plane.mismatch)
        grown = np.zeros((m + 1, m + 1))
        grown[:m, :m] = self.gram
        grown[m, :m] = grown[:m, m] = products
        grown[m, m] = self.problem.inner(plane.mismatch, plane.mismatch)
        self.gram = grown
        self.planes.append(plane)
        self.shares = np.append(self.shares, 0.0 if m else 1.0)
        self.idle = np.append(self.idle, 0)

    def solve(self) -> Any:
        """Return the mixture with the largest bound; planes long unused leave."""
        levels = np.array([plane.level for plane in self.planes])
        self.shares = simplex_qp(self.gram, levels, self.shares)
        self.bound = float(levels @ self.shares - 0.5 * self.shares @ self.gram @ self.shares)
        mixture = self.planes[0]._replace(
            level=float(levels @ self.shares), mismatch=self._mixed(self.shares)
        )
        self.idle = np.where(self.shares > 0, 0, self.idle + 1)
        self._forget(self.idle <= self.patience)
        return mixture

    def aims(self) -> list[Array]:
        """Return the minimiser of the bound, and that of the mean of all planes, which strays less."""
        if not self.planes:
            return []
        return [
            -self._mixed(shares) for shares in (self.shares, np.full(len(self.planes), 1 / len(self.planes)))
        ]

    def _mixed(self, shares: Array) -> Array:
        """Return Σ share · mismatch, in one pass over the planes that count."""
        used = np.flatnonzero(shares)
        result = np.zeros_like(self.planes[0].mismatch)
        self.problem.add_multiples(result, [self.planes[k].mismatch for k in used], shares[used])
        return result

    def _forget(self, kept: Any) -> None:
        if kept.all():
            return
        self.gram = self.gram[np.ix_(kept, kept)]
        self.planes = [plane for plane, keep in zip(self.planes, kept, strict=True) if keep]
        self.shares, self.idle = self.shares[kept], self.idle[kept]
