"""Cutting planes of the whole objective: one slack variable for all instances."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._base import Array, Monitor, Observer, ProblemLike, Reason, Result, Solver, Stop, refuse_l1
from .simplex_qp import simplex_qp


@dataclass(frozen=True)
class CuttingPlane(Solver):
    """The one-slack cutting-plane algorithm [joachims2009], a bundle method.

    Every point gives a plane that touches the loss of the whole training set, level + ⟨mismatch, f⟩. The
    largest of the planes so far plus ½‖f‖² is a lower bound of the objective; its minimiser is the next
    point, found in the dual: a quadratic programme with one variable per plane. One batched search over
    all instances and one product with the inputs per iteration, whatever the space; needs few planes, but
    more searches than block-coordinate methods. Serves any convex loss, smooth or not.

    To go less far astray while planes are few, the point at which the next plane is taken lies between
    the best so far and the minimiser of the bound.

    Parameters
    ----------
    patience : int
        A plane that was not used for so many iterations in a row leaves the working set.
    share : float
        Where the next plane is taken: 1 is at the minimiser of the bound, 0 at the best point so far.
    """

    patience: int = 30
    share: float = 0.3

    def minimize(
        self, problem: ProblemLike, start: Array, stop: Stop, observer: Observer | None = None
    ) -> Result:
        """Minimise from a start."""
        refuse_l1(problem, self)
        monitor = Monitor(problem, stop, observer)
        bundle = _Bundle(problem, self.patience)
        point = best = problem.at(start)
        iteration = 0
        try:
            while True:
                plane = point.dual
                if plane is None:
                    raise TypeError("Cutting planes need a convex loss and a penalty on every space.")
                bundle.add(plane)
                mixture = bundle.solve()
                monitor.dual, monitor.lower_bound = mixture, max(monitor.lower_bound, bundle.bound)
                best = point if point.value <= best.value else best
                reason = monitor.look(iteration, _Look(best, mixture, len(bundle.planes)))
                if reason is not None:
                    break
                goal = -mixture.mismatch
                iteration += 1
                point = problem.at(best.element + self.share * (goal - best.element))
                if iteration % 5 == 0:  # the minimiser itself, lest planes miss where the bound is low
                    point = problem.at(goal)
        except KeyboardInterrupt:
            reason = Reason.INTERRUPTED
        return monitor.result(best, reason)


@dataclass
class _Look:
    """The best point with the mixture of planes that bounds it."""

    point: Any
    dual: Any
    constraints: int
    violation: float = np.inf

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
        products = np.array([self.problem.inner(plane.mismatch, other.mismatch) for other in self.planes])
        grown = np.zeros((m + 1, m + 1))
        grown[:m, :m] = self.gram
        grown[m, :m] = grown[:m, m] = products
        grown[m, m] = self.problem.inner(plane.mismatch, plane.mismatch)
        self.gram = grown
        self.planes.append(plane)
        self.shares = np.append(self.shares, 0.0 if m else 1.0)
        self.idle = np.append(self.idle, 0)

    def solve(self) -> Any:
        """Give the mixture with the largest bound; planes long unused leave."""
        levels = np.array([plane.level for plane in self.planes])
        self.shares = simplex_qp(self.gram, levels, self.shares)
        self.bound = float(levels @ self.shares - 0.5 * self.shares @ self.gram @ self.shares)
        mismatch = sum(
            share * plane.mismatch for share, plane in zip(self.shares, self.planes, strict=True) if share
        )
        mixture = self.planes[0]._replace(level=float(levels @ self.shares), mismatch=mismatch)
        self.idle = np.where(self.shares > 0, 0, self.idle + 1)
        self._forget(self.idle <= self.patience)
        return mixture

    def _forget(self, kept: Array) -> None:
        if kept.all():
            return
        self.gram = self.gram[np.ix_(kept, kept)]
        self.planes = [plane for plane, keep in zip(self.planes, kept, strict=True) if keep]
        self.shares, self.idle = self.shares[kept], self.idle[kept]
