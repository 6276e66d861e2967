"""How far from the optimum a point can be: lower bounds by the dual objective, less what rounding adds.

Scores are sums of products, marginals ratios of sums that have no negative terms, mismatches sums of
marginals times features. An error of ε in each marginal, ε a multiple of the unit roundoff u that counts
the operations behind it, moves the mismatch of a space by ε Σ_c ‖φ(x_c)‖ at most, its ``reach``; losses
and ⟨θ, ∇loss⟩ are sums of scores, of which none is larger than ‖f‖‖φ(x_c)‖, and move by ε ‖f‖ reach.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..losses import Loss
from ..structures import Scores

if TYPE_CHECKING:
    from ..spaces import BoundSpace
    from .geometry import Geometry
    from .problem import Problem


UNIT = 2.0**-53
"""u of double precision."""

ENTRY = 4 * UNIT
"""Relative error of an inner product of two observations, or of a value of a kernel."""


class Rounding(NamedTuple):
    """How far sums of a problem in double can be from exact ones."""

    error: float
    """ε."""
    weight: float
    """The largest weight of an instance."""
    fixed: float
    """What scores that are not learnt add to the size of losses."""
    reach: Mapping[str, float] | None = None
    """Of the spaces, by the names of terms, where these do not see the data themselves."""

    @classmethod
    def of(cls, loss: Loss, offset: Scores | None) -> Rounding:
        """Count the operations behind a marginal: along a sequence, over labels, over positions.

        Or over the answers of an instance, and what each of them can be. Sums over labels are taken by
        halves; those over positions err in both directions.
        """
        structure = loss.structure
        answers = structure.cliques[structure.answer]
        longest = int(np.diff(answers.offsets).max(initial=0))
        steps = longest * (np.log2(max(2, structure.n_answers)) + 4) + np.sqrt(answers.count)
        weight = 1.0
        for weights in (getattr(loss, "weights", None), getattr(loss, "vertex_weights", None)):
            weight *= 1.0 if weights is None else float(np.abs(weights).max(initial=0.0))
        return cls(float(2 * UNIT * steps), weight, weight * _fixed(loss, offset))

    def of_level(self, geometry: Geometry, element: Array) -> float:
        """Return by how much a loss less ⟨θ, ∇loss⟩ can be wrong."""
        size = self.fixed
        for term, place in geometry.parts:
            part = element[place]
            size += self.weight * self._reach(term) * np.sqrt(max(term.space.inner(part, part), 0.0))
        return float(self.error * size)

    def of_mismatch(self, geometry: Geometry) -> dict[str, float]:
        """Return by how much the norm of each mismatch, over its metric, can be wrong."""
        return {
            term.name: self.error * self.weight * self._reach(term) / term.metric for term in geometry.terms
        }

    def _reach(self, term: Any) -> float:
        return float(term.space.reach) if self.reach is None else self.reach[term.name]

    @classmethod
    def joined(cls, parts: Sequence[Rounding], reach: Mapping[str, float]) -> Rounding:
        """Return that of a sum of losses."""
        weight = max(part.weight for part in parts)
        return cls(sum(part.error for part in parts), weight, sum(part.fixed for part in parts), reach)


def _fixed(loss: Loss, offset: Scores | None) -> float:
    """Return Σ_v (log L + |cost| + |offset|), without what is forbidden; v may be any kind of answer."""
    structure = loss.structure
    answers = structure.cliques[structure.answer]
    total = answers.count * np.log(max(2, structure.n_answers))
    cost = getattr(loss, "cost", None)  # a function of whole outputs, in some hinge losses
    arrays = [*(cost if isinstance(cost, Mapping) else {}).values(), *(offset or {}).values()]
    for values in arrays:
        share = 1 if len(values) >= structure.n_vertices else structure.n_vertices
        total += share * float(np.abs(np.where(np.isfinite(values), values, 0.0)).sum())
    return float(total)


class Certificate(NamedTuple):
    """What is known about the optimum from one point [altun2004exp, Lemma 9]."""

    value: float
    """R(f)."""
    lower_bound: float
    """No f' has R(f') below this: R(f) − Σ_τ ‖∇_τ R(f)‖² / (2 λ_τ), less what rounding may have added."""
    exact: bool = True
    """Whether sums over outputs are exact; if not, R is that of a surrogate, and so is the bound."""

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
    element: Array | None = None
    """The point it belongs to, or the same mixture of such points; None if it belongs to none."""

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
        return Dual((1 - t) * self.level + t * other.level, change, self._element_towards(other, t))

    def _element_towards(self, other: Dual, t: float) -> Array | None:
        if self.element is None or other.element is None:
            return None
        element = other.element - self.element
        element *= t
        element += self.element
        return element


def squared_norm(problem: Problem, mismatch: Array) -> float:
    """Return ‖mismatch‖², or at most what it can be without the rounding of a problem in double."""
    rounding = problem.certain
    if rounding is None:
        return problem.inner(mismatch, mismatch)
    off = rounding.of_mismatch(problem.geometry)
    return sum(
        term.metric * _longest(term.space, mismatch[place], off[term.name]) ** 2
        for term, place in problem.geometry.parts
    )


def _longest(space: BoundSpace, part: Array, off: float) -> float:
    """Return at most how long an element can be that is known up to ``off`` in norm."""
    square = space.inner(part, part)
    square += ENTRY * space.spread(part, square)
    return float(np.sqrt(max(square, 0.0))) + off


def certify(
    problem: Problem, element: Array, mismatch: Array, loss: float, value: float, slack: float = 0.0
) -> Certificate | None:
    """Return a lower bound of min R, by the dual objective; None where there is none.

    The dual value is Σ_i (loss_i − ⟨θ, ∇loss_i⟩) − Σ_τ dist(a_τ, κ_τ B°_τ)² / (2 λ_τ), a the mismatch
    and B° the unit ball of the dual norm, a point if there is no norm: for ℓ1 the distance is that of
    (|a_k| − κ)₊, for groups of (‖a_g‖ − κ)₊, for the norm of the space ‖a‖ − ε. For the log loss the first
    sum is that of the entropies of p(·|x^i). Where λ = 0 the dual point must lie in the ball: it is moved
    towards the observed parts, by the factor s; −loss* is concave, so that s times the first sum stands.

    In double precision the bound gives way by what rounding can add up to (`Rounding`), and is at most
    the value. In single precision it is a guess that tells a search when
    to look closer.

    A surrogate's sums come from iterations. Beliefs that agree with each other are a point of the dual
    however far these went; what the loss may be too low by, ``slack``, is added to the value.
    """
    if not problem.certifiable:
        return None
    if not np.isfinite(slack):  # beliefs do not agree: nothing is proved
        return Certificate(value, -np.inf, problem.loss.exact)
    geometry, rounding = problem.geometry, problem.certain
    level, off = _level(problem, element, mismatch, loss)
    scale = _feasible_share(geometry, mismatch, off)
    bound = scale * level - 0.5 * _excess(geometry, mismatch, off, scale, exact=rounding is not None)
    least = bound if rounding is None else min(bound, value)
    return Certificate(value + slack, least, problem.loss.exact)


class WeightCut(NamedTuple):
    """A bound of min_f R for all weights μ ≥ 0 of kernels: c − ½ Σ_m s_m μ_m, c constant, s the slopes."""

    constant: float
    slopes: Array
    """(M,)."""


def weight_cut(
    problem: Problem, element: Array, mismatch: Array, loss: float, penalties: Mapping[str, float]
) -> WeightCut:
    """Return the bound that a dual point is, as a function of the weights of some terms.

    Term m has the penalty λ_m/μ_m, λ_m in ``penalties``; all others stay as they are. The dual objective
    then has Σ_m μ_m ‖a_m‖²/2λ_m, a the mismatch in the space of each term, which is linear in μ: what
    bounds R at the weights of ``problem`` bounds it at all others.
    """
    level, off = _level(problem, element, mismatch, loss)
    slopes = []
    for term, place in problem.geometry.parts:
        square = term.metric * _longest(term.space, mismatch[place], off[term.name]) ** 2
        if term.name in penalties:
            slopes.append(square * term.metric / penalties[term.name])
        else:
            level -= 0.5 * square
    return WeightCut(level, np.array(slopes))


def _level(problem: Problem, element: Array, mismatch: Array, loss: float) -> tuple[float, dict[str, float]]:
    """Return the loss less ⟨θ, ∇loss⟩, and by how much the norm of each mismatch can be wrong."""
    level = loss - problem.inner(element, mismatch)  # ⟨θ, ∇loss⟩, by the representer
    geometry, rounding = problem.geometry, problem.certain
    if rounding is None:
        return level, dict.fromkeys(geometry.slices, 0.0)
    return level - rounding.of_level(geometry, element), rounding.of_mismatch(geometry)


def _feasible_share(geometry: Geometry, mismatch: Array, off: dict[str, float]) -> float:
    """Return s, by which a dual point is moved until it fits where only a norm holds."""
    share = 1.0
    for term, place in geometry.parts:
        if term.penalty == 0 and term.norm is not None:
            worst = term.norm.dual(term.space, mismatch[place]) + off[term.name]
            share = min(share, term.norm.weight / worst) if worst > 0 else share
    return share


def _excess(
    geometry: Geometry, mismatch: Array, off: dict[str, float], scale: float, *, exact: bool
) -> float:
    """Return Σ_τ dist(s a_τ, κ_τ B°_τ)² / λ_τ."""
    total = 0.0
    for term, place in geometry.parts:
        if term.penalty > 0:
            part = mismatch[place]
            part = part if scale == 1 else scale * part
            if term.norm is not None:  # no point is further from the ball than it errs
                part = term.norm.shrunk(term.space, part, term.threshold)
            if exact:
                total += term.metric * _longest(term.space, part, scale * off[term.name]) ** 2
            else:
                total += term.metric * term.space.inner(part, part)
    return total
