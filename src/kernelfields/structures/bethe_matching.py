"""Sums over matchings by belief propagation: Bethe's approximation of the permanent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from .. import native
from ..arrays import Array
from ..checks import Check, Checked, require_ids, require_not_negative, require_weights, whole
from ._base import Scores, require_feasible
from ._oracles import ApproximateMarginals, ApproximateSum, Convergence
from .matching import MatchingBatch


@dataclass(frozen=True)
class Bethe(Checked):
    """Settings of `BetheMatchingBatch`.

    Parameters
    ----------
    max_iter : int
        Limit of iterations, each of which sends a message along every pair in both directions.
    tol : float
        Largest change of a belief at which it has converged.
    """

    max_iter: int = 2000
    tol: float = 1e-9
    _checks: ClassVar[Mapping[str, Check]] = {"max_iter": whole(1), "tol": require_not_negative}


class BetheMatchingBatch(MatchingBatch, ApproximateSum):
    """Matchings with sums by belief propagation; best and k best as in `MatchingBatch`, exact.

    Beliefs b maximise Bethe's free energy over the sets of b whose rows and columns add up to 1 at most,

        ⟨θ, b⟩ + Σ_ij [(1 − b_ij) log(1 − b_ij) − b_ij log b_ij] − Σ_v b_v log b_v,

    b_v what row or column v leaves for staying alone [vontobel2013bethe, Corollary 15]. It is concave there,
    so that its largest value, which stands for g(θ), is convex in θ with b as its gradient: a fit has a
    certificate. It is never above the exact log-sum [gurvits2011unleashing, straszak2019belief]; over
    complete matchings of n rows and n columns it is at most n log(2)/2 below [anari2019tight]. Where two
    complete matchings are almost equally good, iterations are many, and it is said if they did not suffice.

    Parameters
    ----------
    shapes, complete
        As in `MatchingBatch`.
    inference : Bethe
        Limits.

    Examples
    --------
    >>> import numpy as np
    >>> found = BetheMatchingBatch([[2, 2]], complete=True).marginals({"pair": np.zeros(4)})
    >>> found.parts["pair"].round(6).tolist()
    [0.5, 0.5, 0.5, 0.5]
    >>> bool(found.log_partition[0] <= np.log(2))
    True
    """

    convex = True

    def __init__(self, shapes: npt.ArrayLike, complete: bool = False, inference: Bethe | None = None) -> None:
        super().__init__(shapes, complete)
        self.inference = Bethe() if inference is None else inference

    def take(self, ids: npt.ArrayLike) -> Self:
        """Return some items only."""
        shapes = self.item_shapes[require_ids(ids, self.n_instances)]
        return type(self)(shapes, self.complete, self.inference)

    def log_partition(self, scores: Scores) -> Array:
        """Return Bethe's log-sum."""
        return self._run(scores, beliefs=False)[0]

    def marginals(self, scores: Scores, weights: Array | None = None) -> ApproximateMarginals:
        """Return Bethe's log-sum, beliefs, and how they were reached."""
        counted = require_weights(weights, self.n_instances)
        value, belief = self._run(scores, beliefs=True)
        assert self.convergence is not None
        if counted is not None:
            belief = belief * self.per_output(counted).astype(belief.dtype)
        return ApproximateMarginals(value, {"pair": belief}, self.convergence)

    def entropy(self, scores: Scores) -> Array:
        """Return g(θ) − ⟨θ, b⟩."""
        value, belief = self._run(scores, beliefs=True)
        theta = np.where(belief > 0, scores["pair"], 0.0) * belief
        total = np.concatenate([[0.0], np.cumsum(theta, dtype=np.float64)])
        return value - np.diff(total[self._offsets])

    def _run(self, scores: Scores, *, beliefs: bool) -> tuple[Array, Array]:
        limits = self.inference.max_iter, self.inference.tol
        found = native.matching_bethe(*self._native(scores), self.complete, beliefs, *limits)
        value, belief, change, iterations = map(np.asarray, found)
        require_feasible(value, self.words)
        self.convergence = self._convergence(value, change, iterations)
        return value, belief

    def _convergence(self, value: Array, change: Array, iterations: Array) -> Convergence:
        """Bounds hold at the fixed point only; elsewhere nothing is known."""
        converged = change <= self.inference.tol
        rows, columns = self.item_shapes.T
        square = converged & self.complete & (rows == columns)
        return Convergence(
            converged,
            iterations,
            change,
            np.where(converged, value, -np.inf),
            np.where(square, value + 0.5 * np.log(2.0) * rows, np.inf),
            np.where(converged, 0.0, np.inf),
        )
