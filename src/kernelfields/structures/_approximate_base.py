"""What approximations of sums over labelled graphs share."""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..checks import require_weights
from ._base import Scores, require_feasible
from ._inferred_base import InferredGraphBatch
from ._oracles import ApproximateMarginals, ApproximateSum, Convergence
from .gibbs import Gibbs


class Beliefs(NamedTuple):
    """What the core returns."""

    value: Array
    entropy: Array
    bound: Array
    change: Array
    lost: Array
    iterations: Array
    node: Array
    factors: Array


class ApproximateGraphBatch(InferredGraphBatch, ApproximateSum):
    """A batch of graphs with beliefs in place of marginals; ``inference`` says how they are found."""

    @abstractmethod
    def _beliefs(self, scores: Scores, with_factors: bool) -> Beliefs:
        """Beliefs, and what is known about them."""

    @abstractmethod
    def _convergence(self, beliefs: Beliefs) -> Convergence:
        """What beliefs prove."""

    def log_partition(self, scores: Scores) -> Array:
        """Return the approximation of g(θ)."""
        return self._feasible(scores, with_factors=False).value

    def entropy(self, scores: Scores) -> Array:
        """Return the approximate entropy of the beliefs."""
        return self._feasible(scores, with_factors=False).entropy

    def marginals(self, scores: Scores, weights: Array | None = None) -> ApproximateMarginals:
        """Return the approximation of g(θ), beliefs, and how they were reached."""
        counted = require_weights(weights, self.n_instances)
        beliefs = self._feasible(scores, with_factors=True)
        kind = np.asarray(scores["node"]).dtype
        kind = kind if kind in (np.float32, np.float64) else np.dtype(np.float64)
        parts = self._merged.parts(beliefs.node, beliefs.factors, counted, kind)
        return ApproximateMarginals(beliefs.value, parts, self._convergence(beliefs))

    def approximate_sample(self, scores: Scores, count: int, seed: int) -> Array:
        """Return draws of blocked Gibbs sampling, with the settings of `Gibbs` by default."""
        return Gibbs().draw(self._merged, scores, count, seed)

    def __repr__(self) -> str:
        """Return how large it is, and that its sums are approximate."""
        return f"<{self.n_instances} graphs of {self.n_vertices} vertices, sums by {self.inference}>"

    def _feasible(self, scores: Scores, *, with_factors: bool) -> Beliefs:
        beliefs = self._beliefs(scores, with_factors)
        require_feasible(beliefs.value, self.words)
        self.convergence = self._convergence(beliefs)
        return beliefs

    def _shape(self) -> tuple[Array, Array, Array, Array]:
        merged = self._merged
        return self._offsets, merged.factor_offsets, merged.slot_first, merged.members
