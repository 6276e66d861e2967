"""How far from the optimum a point can be: lower bounds by the dual objective."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..structures._base import Array

if TYPE_CHECKING:
    from .problem import Problem


class Certificate(NamedTuple):
    """What is known about the optimum from one point [altun2004exp, Lemma 9]."""

    value: float
    """R(f)."""
    lower_bound: float
    """No f' has R(f') below this: R(f) − Σ_τ ‖∇_τ R(f)‖² / (2 λ_τ)."""

    @property
    def gap(self) -> float:
        """How far R(f) can be above the optimum."""
        return self.value - self.lower_bound

    @property
    def relative_gap(self) -> float:
        """The gap over the value."""
        return self.gap / max(abs(self.value), np.finfo(float).tiny)


class Dual(NamedTuple):
    """A point of the dual problem, whose value bounds min R: ``level`` − ½‖``mismatch``‖²."""

    level: float
    """Σ_i (loss_i − ⟨θ, ∇loss_i⟩): for the log loss the sum of the entropies of p(·|x^i)."""
    mismatch: Array
    """Expected minus observed features, over λ: an element."""

    def bound(self, problem: Problem) -> float:
        """The lower bound."""
        return self.level - 0.5 * problem.inner(self.mismatch, self.mismatch)

    def mixed(self, other: Dual, problem: Problem) -> Dual:
        """Give the best point on the way to another one.

        A mixture of two distributions has the mixture of their expectations, and at least that of
        their entropies: (1 − t)·level + t·level′ − ½‖(1 − t)·mismatch + t·mismatch′‖² is a bound for
        every t in [0, 1], and a parabola in t. Mismatches of successive iterations point many ways;
        much of them cancels.
        """
        change = other.mismatch - self.mismatch
        size = problem.inner(change, change)
        slope = other.level - self.level - problem.inner(self.mismatch, change)
        t = min(max(slope / size, 0.0), 1.0) if size > 0 else 0.0
        change *= t
        change += self.mismatch
        return Dual((1 - t) * self.level + t * other.level, change)


def certify(
    problem: Problem, element: Array, mismatch: Array, loss: float, value: float
) -> Certificate | None:
    """A lower bound of min R, by the dual objective; None where there is none.

    The dual value is Σ_i (loss_i − ⟨θ, ∇loss_i⟩) − Σ_k (|a_k| − κ)₊² / (2λ), a = Xᵀ∇loss the
    mismatch of the coordinates; for the log loss the first sum is that of the entropies of
    p(·|x^i). Where λ = 0 the dual point must have |a_k| ≤ κ: it is moved towards the observed
    parts, by the factor s; −loss* is concave, so that s times the first sum stands.
    """
    if not problem.certifiable:
        return None
    along = problem.inner(element, mismatch)  # ⟨θ, ∇loss⟩, by the representer
    scale, quadratic = 1.0, 0.0
    for term in problem.terms:
        if term.penalty == 0:
            worst = float(np.abs(mismatch[problem.slices[term.name]]).max(initial=0.0))
            scale = min(scale, term.l1 / worst) if worst > 0 else scale
    for term in problem.terms:
        if term.penalty > 0:
            part = mismatch[problem.slices[term.name]]
            part = part if scale == 1 else scale * part
            if term.l1:
                part = np.maximum(np.abs(part) - term.l1 / term.metric, 0.0)
            quadratic += 0.5 * term.metric * term.space.inner(part, part)
    return Certificate(value, scale * (loss - along) - quadratic)
