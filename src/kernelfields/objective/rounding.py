"""What rounding can add up to: certificates give way by as much.

Scores are sums of products, marginals ratios of sums that have no negative terms, mismatches sums of
marginals times features. An error of ε in each marginal, ε a multiple of the unit roundoff u that counts
the operations behind it, moves the mismatch of a space by ε Σ_c ‖φ(x_c)‖ at most, its ``reach``; losses
and ⟨θ, ∇loss⟩ are sums of scores, of which none is larger than ‖f‖‖φ(x_c)‖, and move by ε ‖f‖ reach.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import Array

if TYPE_CHECKING:
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

    @classmethod
    def of(cls, problem: Problem) -> Rounding:
        """Count the operations behind a marginal: along a sequence, over labels, over positions.

        Sums over labels are taken by halves; those over positions err in both directions.
        """
        structure = problem.structure
        longest = int(np.diff(structure.offsets).max(initial=0))
        steps = longest * (np.log2(max(2, structure.n_labels)) + 4) + np.sqrt(structure.n_vertices)
        weights = getattr(problem.loss, "weights", None)
        weight = 1.0 if weights is None else float(np.abs(weights).max(initial=0.0))
        return cls(float(2 * UNIT * steps), weight, weight * _fixed(problem))

    def of_level(self, problem: Problem, element: Array) -> float:
        """Return by how much a loss less ⟨θ, ∇loss⟩ can be wrong."""
        size = self.fixed
        for term in problem.terms:
            part = element[problem.slices[term.name]]
            size += self.weight * term.space.reach * np.sqrt(max(term.space.inner(part, part), 0.0))
        return float(self.error * size)

    def of_mismatch(self, problem: Problem) -> dict[str, float]:
        """Return by how much the norm of each mismatch, over its metric, can be wrong."""
        return {
            term.name: self.error * self.weight * term.space.reach / term.metric for term in problem.terms
        }


def _fixed(problem: Problem) -> float:
    """Return Σ_v (log L + |cost| + |offset|), without what is forbidden."""
    structure = problem.structure
    total = structure.n_vertices * np.log(max(2, structure.n_labels))
    cost = getattr(problem.loss, "cost", None)
    arrays = [cost] if isinstance(cost, np.ndarray) else []
    for values in (problem.offset or {}).values():
        arrays.append(np.where(np.isfinite(values), values, 0.0))
    for values in arrays:
        share = 1 if len(values) >= structure.n_vertices else structure.n_vertices
        total += share * float(np.abs(values).sum())
    return float(total)
