"""Loopy belief propagation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ._approximate_base import ApproximateGraphBatch, Beliefs
from ._base import Scores
from ._oracles import Convergence
from ._propagation_base import Propagation, propagate


@dataclass(frozen=True)
class BeliefPropagation(Propagation):
    """Sums over labelled graphs by loopy belief propagation: fast, often close, without any guarantee.

    On graphs without cycles it is exact. Elsewhere it may not converge, and its log-partition (Bethe's) may
    lie on either side of the exact one. A fit has no certificate.

    Parameters
    ----------
    schedule : "sweeps", "residual" or "flooding"
        Messages vertex by vertex, forwards and backwards; the one that would change most first [elidan2006];
        or all at once, which several threads share on a single large graph.
    damping : float
        Share of the old message that is kept, below 1. Steps become shorter by themselves where changes
        do not.
    max_iter : int
        Limit of iterations.
    tol : float
        Largest change of the logarithm of a message at which it has converged.
    search : MaxSearch
        How to look for best labellings.
    """

    def on(
        self, offsets: npt.ArrayLike, edges: npt.ArrayLike, n_labels: int, **shape: Any
    ) -> BeliefPropagationBatch:
        """Return the batch with these settings."""
        return BeliefPropagationBatch(offsets, edges, n_labels, inference=self, **shape)


class BeliefPropagationBatch(ApproximateGraphBatch):
    """A batch of labelled graphs with sums by belief propagation; see `GraphBatch` for their shape.

    Beliefs are a fixed point of messages, where Bethe's free energy

        ⟨θ, b⟩ + Σ_i H(b_i) − Σ_c (Σ_{i∈c} H(b_i) − H(b_c))

    is stationary among beliefs that agree with each other; its value there stands for g(θ). Cliques over the
    same vertices are one factor.

    Parameters
    ----------
    offsets, edges, n_labels, shared_edges, factors, label_sets
        As in `GraphBatch`.
    inference : BeliefPropagation
        Schedule, damping, limits.

    Examples
    --------
    >>> import numpy as np
    >>> ring = BeliefPropagation().on([0, 3], [[0, 1], [1, 2], [2, 0]], 2)
    >>> scores = {"node": np.zeros((3, 2)), "edge": np.array([[1.0, 0.0], [0.0, 1.0]])}
    >>> found = ring.marginals(scores)
    >>> found.convergence.converged.tolist()
    [True]
    """

    convex = False
    inference: BeliefPropagation

    def _beliefs(self, scores: Scores, with_factors: bool) -> Beliefs:
        weights = np.ones(self._merged.n_factors)
        return propagate(self, scores, weights, self._merged.layout, with_factors=with_factors)

    def _convergence(self, beliefs: Beliefs) -> Convergence:
        nothing = np.full(self.n_instances, np.inf)
        return Convergence(
            beliefs.change <= self.inference.tol,
            beliefs.iterations,
            beliefs.change,
            -nothing,
            nothing,
            np.zeros(self.n_instances),
        )
