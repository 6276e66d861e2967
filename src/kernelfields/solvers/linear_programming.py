"""Linear programming: ℓ1 penalties and hinge losses, by constraints that are found as they are violated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy
from scipy import sparse

from ..arrays import Array
from ..errors import UnsupportedError
from ._base import Monitor, Observer, ProblemLike, Reason, Result, Solver, Stop

VIOLATED = 1e-9
"""What a loss must be above its slack, relative to 1 + its size, for a constraint to be added."""


@runtime_checkable
class PiecewiseProblem(ProblemLike, Protocol):
    """A sum of losses over instances, and penalties."""

    @property
    def n_instances(self) -> int:
        """Of how many."""

    def take(self, ids: Any) -> Any:
        """Return the problem on some of them."""

    def damped(self, element: Array) -> Array:
        """Return the gradient of squared penalties."""


@dataclass(frozen=True)
class LinearProgramming(Solver):
    """Constraint generation for  min_w Σ_i loss_i(w) + Σ_k κ_k |w_k|,  losses the largest of many planes.

    With a slack variable ξ_i ≥ 0 for every instance and w = u − v this is the linear program

        min Σ_i ξ_i + Σ_k κ_k (u_k + v_k),   u, v ≥ 0,   ξ_i ≥ b + ⟨g, u − v⟩ for all planes (b, g) of loss i,

    that of structured SVMs with an ℓ1 norm [zhu2003onenorm; tsochantaridis2005]: planes are labellings.
    Every round finds the largest plane of each instance and adds those that are violated; HiGHS solves the
    program over those so far. Its multipliers α, moved into |Σ α g| ≤ κ where rounding left them outside,
    give the lower bound Σ α b. There are finitely many planes: the gap closes but for rounding.

    For small problems: no state is kept between rounds, and vertices of the program are far from each other
    at first. Losses must be nowhere negative, and there must be no squared penalty.
    """

    def minimize(
        self, problem: ProblemLike, start: Array, stop: Stop, observer: Observer | None = None
    ) -> Result:
        """Minimise from a start."""
        program = _ConstraintSet(_required(problem), len(start))
        monitor = Monitor(problem, stop, observer, lower_bound=0.0)
        element, iteration, best = start, 0, None
        slacks = np.zeros(len(program.pieces))
        try:
            while True:
                violation, added = program.add(element, slacks)
                point = problem.at(element)
                best = point if best is None or point.value <= best.value else best
                reason = monitor.look(iteration, _BestPlanes(best, program.size, violation))
                if reason is None and not added:
                    reason = Reason.STUCK  # by rounding: all constraints hold
                if reason is not None:
                    break
                iteration += 1
                element, slacks, bound = program.solve()
                monitor.lower_bound = max(monitor.lower_bound, bound - problem.rounding * abs(bound))
        except KeyboardInterrupt:
            reason = Reason.INTERRUPTED
        return monitor.result(best, reason)


def _required(problem: ProblemLike) -> PiecewiseProblem:
    """Refuse what is no linear program."""
    if not isinstance(problem, PiecewiseProblem):
        raise UnsupportedError(f"LinearProgramming needs a sum over instances, not {type(problem).__name__}.")
    weights = problem.thresholds
    if weights is None or not (weights > 0).all() or problem.damped(np.ones(len(weights))).any():
        raise UnsupportedError("LinearProgramming needs an ℓ1 penalty on every space, and no squared ones.")
    return problem


@dataclass
class _BestPlanes:
    """The best point with the constraints that were needed."""

    point: Any
    constraints: int
    violation: float
    """By how much the worst was violated at the last point."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.point, name)


@dataclass
class _ConstraintSet:
    """The constraints so far."""

    problem: PiecewiseProblem
    width: int
    levels: list[float] = field(default_factory=list)
    rows: list[Any] = field(default_factory=list)
    """g of every constraint, (1, D)."""
    owners: list[int] = field(default_factory=list)
    """The instance of each."""

    def __post_init__(self) -> None:
        self.pieces = [self.problem.take([i]) for i in range(self.problem.n_instances)]

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.levels)

    def add(self, element: Array, slacks: Array) -> tuple[float, int]:
        """Add the largest plane of every instance that is above its slack; by how much at most, how many."""
        worst, before = 0.0, self.size
        for i, (piece, slack) in enumerate(zip(self.pieces, slacks, strict=True)):
            point = piece.at(element)
            loss = float(point.evaluation.value)
            worst = max(worst, loss - slack)
            if loss > slack + VIOLATED * (1 + abs(slack)):
                self.levels.append(loss - float(element @ point.mismatch))
                self.rows.append(sparse.csr_array(point.mismatch[None]))
                self.owners.append(i)
        return worst, self.size - before

    def solve(self) -> tuple[Array, Array, float]:
        """Return w, slacks, and a lower bound of the minimum over all planes."""
        kappa, n, levels = self.problem.thresholds, len(self.pieces), np.array(self.levels)
        assert kappa is not None
        planes, count = sparse.vstack(self.rows, format="csr"), np.arange(self.size)
        owned = sparse.csr_array((np.ones(self.size), (count, self.owners)), shape=(self.size, n))
        found = scipy.optimize.linprog(
            np.concatenate([kappa, kappa, np.ones(n)]),
            sparse.hstack([planes, -planes, -owned], format="csr"),
            -levels,
            method="highs",
        )
        if found.status != 0:
            raise RuntimeError(f"HiGHS did not solve the linear program: {found.message}")
        shares = np.maximum(-found.ineqlin.marginals, 0.0)
        shares /= np.maximum(owned.T @ shares, 1.0)[self.owners]
        slope = np.abs(planes.T @ shares)
        inside = float(np.min(kappa / np.maximum(slope, kappa)))
        up, down, slacks = np.split(found.x, [self.width, 2 * self.width])
        return up - down, slacks, max(0.0, inside * float(shares @ levels))
