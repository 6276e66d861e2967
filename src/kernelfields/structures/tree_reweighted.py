"""Tree-reweighted belief propagation: a convex surrogate, and an upper bound, of log-partitions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ._approximate_base import ApproximateGraphBatch, Beliefs
from ._base import Scores
from ._oracles import Convergence
from ._propagation_base import Propagation, propagate
from .appearance import appearance_of
from .factor_tables import Layout

LOST = 1e-12
"""Probability up to which beliefs that could not be made to agree are rounding."""


@dataclass(frozen=True)
class TreeReweighted(Propagation):
    """Sums over labelled graphs by tree-reweighted belief propagation [wainwright2005].

    Its log-partition is convex in the scores and an upper bound of the exact one: a fit has a certificate,
    of the surrogate. On graphs without cycles it is exact.

    Parameters
    ----------
    schedule, damping, max_iter, tol
        As in `BeliefPropagation`.
    search : MaxSearch
        How to look for best labellings.
    """

    def on(
        self, offsets: npt.ArrayLike, edges: npt.ArrayLike, n_labels: int, **shape: Any
    ) -> TreeReweightedBatch:
        """Return the batch with these settings."""
        return TreeReweightedBatch(offsets, edges, n_labels, inference=self, **shape)


def surrogate_convergence(beliefs: Beliefs, tol: float) -> Convergence:
    """Return what beliefs prove whose free energy is concave, and at least the exact log-partition."""
    slack = np.where(beliefs.lost <= LOST, np.maximum(beliefs.bound - beliefs.value, 0.0), np.inf)
    lower = np.full(len(slack), -np.inf)
    return Convergence(beliefs.change <= tol, beliefs.iterations, beliefs.change, lower, beliefs.bound, slack)


class TreeReweightedBatch(ApproximateGraphBatch):
    """A batch of labelled graphs with tree-reweighted sums; see `GraphBatch` for their shape.

    With ρ_c the probability that a random forest of the graph has the clique c, g(θ) is at most

        max_b ⟨θ, b⟩ + Σ_i H(b_i) − Σ_c ρ_c (Σ_{i∈c} H(b_i) − H(b_c))

    over beliefs that agree with each other: a convex function of θ with the gradient b. The value returned is
    that of beliefs which agree exactly, whether or not messages have converged; ``convergence.upper`` is a
    bound of the exact log-partition at every step.

    Parameters
    ----------
    offsets, edges, n_labels, shared_edges, factors, label_sets
        As in `GraphBatch`.
    inference : TreeReweighted
        Schedule, damping, limits.

    Examples
    --------
    >>> import numpy as np
    >>> ring = TreeReweighted().on([0, 3], [[0, 1], [1, 2], [2, 0]], 2)
    >>> scores = {"node": np.zeros((3, 2)), "edge": np.array([[1.0, 0.0], [0.0, 1.0]])}
    >>> exact = np.log(2 * np.exp(3) + 6 * np.exp(1))
    >>> bool(ring.marginals(scores).convergence.upper[0] > exact)
    True
    """

    convex = True
    inference: TreeReweighted

    @cached_property
    def appearance(self) -> Array:
        """ρ of every factor."""
        return appearance_of(self._merged)

    @cached_property
    def _layout(self) -> Layout:
        return self._merged.layout_for(self.appearance)

    def _beliefs(self, scores: Scores, with_factors: bool) -> Beliefs:
        return propagate(self, scores, self.appearance, self._layout, with_factors=with_factors)

    def _convergence(self, beliefs: Beliefs) -> Convergence:
        return surrogate_convergence(beliefs, self.inference.tol)
