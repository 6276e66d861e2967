"""How far from the optimum a point can be: lower bounds by the dual objective."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import Array
from .rounding import ENTRY

if TYPE_CHECKING:
    from ..spaces import BoundSpace
    from .problem import Problem


class Certificate(NamedTuple):
    """What is known about the optimum from one point [altun2004exp, Lemma 9]."""

    value: float
    """R(f)."""
    lower_bound: float
    """No f' has R(f') below this: R(f) − Σ_τ ‖∇_τ R(f)‖² / (2 λ_τ), less what rounding may have added."""

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
        """Return the lower bound."""
        return self.level - 0.5 * squared_norm(problem, self.mismatch)

    def mixed(self, other: Dual, problem: Problem) -> Dual:
        """Return the best point on the way to another one.

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


def squared_norm(problem: Problem, mismatch: Array) -> float:
    """Return ‖mismatch‖², or at most what it can be without the rounding of a problem in double."""
    rounding = problem.certain
    if rounding is None:
        return problem.inner(mismatch, mismatch)
    off = rounding.of_mismatch(problem)
    return sum(
        term.metric * _longest(term.space, mismatch[problem.slices[term.name]], off[term.name]) ** 2
        for term in problem.terms
    )


def _longest(space: BoundSpace, part: Array, off: float) -> float:
    """Return at most how long an element can be that is known up to ``off`` in norm."""
    square = space.inner(part, part)
    square += ENTRY * space.spread(part, square)
    return float(np.sqrt(max(square, 0.0))) + off


def certify(
    problem: Problem, element: Array, mismatch: Array, loss: float, value: float
) -> Certificate | None:
    """Return a lower bound of min R, by the dual objective; None where there is none.

    The dual value is Σ_i (loss_i − ⟨θ, ∇loss_i⟩) − Σ_k (|a_k| − κ)₊² / (2λ), a = Xᵀ∇loss the
    mismatch of the coordinates; for the log loss the first sum is that of the entropies of
    p(·|x^i). Where λ = 0 the dual point must have |a_k| ≤ κ: it is moved towards the observed
    parts, by the factor s; −loss* is concave, so that s times the first sum stands.

    In double precision the bound gives way by what rounding can add up to (`Rounding`), and is at most
    the value. In single precision it is a guess that tells a search when
    to look closer.
    """
    if not problem.certifiable:
        return None
    level = loss - problem.inner(element, mismatch)  # ⟨θ, ∇loss⟩, by the representer
    rounding = problem.certain
    off = dict.fromkeys(problem.slices, 0.0)
    if rounding is not None:
        level -= rounding.of_level(problem, element)
        off = rounding.of_mismatch(problem)
    scale = _feasible_share(problem, mismatch, off)
    bound = scale * level - 0.5 * _excess(problem, mismatch, off, scale)
    return Certificate(value, bound if rounding is None else min(bound, value))


def _feasible_share(problem: Problem, mismatch: Array, off: dict[str, float]) -> float:
    """Return s, by which a dual point is moved until it fits where only ℓ1 holds."""
    share = 1.0
    for term in problem.terms:
        if term.penalty == 0:
            worst = float(np.abs(mismatch[problem.slices[term.name]]).max(initial=0.0)) + off[term.name]
            share = min(share, term.l1 / worst) if worst > 0 else share
    return share


def _excess(problem: Problem, mismatch: Array, off: dict[str, float], scale: float) -> float:
    """Return Σ_k (s |a_k| − κ)₊² / λ."""
    total, rounding = 0.0, problem.certain
    for term in problem.terms:
        if term.penalty > 0:
            part = mismatch[problem.slices[term.name]]
            part = part if scale == 1 else scale * part
            if term.l1:
                part = np.maximum(np.abs(part) - term.l1 / term.metric, 0.0)
            if rounding is None:
                total += term.metric * term.space.inner(part, part)
            else:
                total += term.metric * _longest(term.space, part, scale * off[term.name]) ** 2
    return total
