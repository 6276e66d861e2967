"""The hinge loss of the 0/1 cost."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..errors import UnsupportedError
from ..structures import ErrorCountOracle, KBestOracle, Scores, StructureBatch
from ._hinge_base import Hinge, Planes
from .hinge_errors import CountedMarginHinge


class ZeroOneHinge(Hinge):
    """Every output but the observed one costs 1,

        max(0, max_{ŷ ≠ y} [1 + score(ŷ)] − score(y)),      gradient  parts(ŷ) − parts(y), or 0.

    Margin and slack rescaling are the same here. The search needs the best output *different from*
    y: one of the two best, or, on structures without `KBestOracle`, the best with at least one error.

    Parameters
    ----------
    structure : KBestOracle or ErrorCountOracle
        The batch.
    outputs : integers
        What was observed, flat: the label of every vertex where vertices are labelled.
    weights : (S,) array, optional
        How many times each instance counts.
    """

    def __init__(self, structure: StructureBatch, outputs: Array, weights: Array | None = None) -> None:
        if not isinstance(structure, KBestOracle | ErrorCountOracle):
            raise UnsupportedError(
                "The 0/1 hinge loss needs the second best output, which "
                f"{type(structure).__name__} does not give."
            )
        self._set_up(structure, outputs, weights)

    def planes(self, scores: Scores) -> Planes:
        """By one search for the two best."""
        if not isinstance(self.structure, KBestOracle):
            return CountedMarginHinge(self.structure, self.outputs, worth=_any).planes(scores)
        observed = self._observed(scores)
        (best, second), value = self.structure.kbest(scores, 2)
        first = self.structure.differ(best, self.outputs)  # the best is not y
        there = np.isfinite(np.where(first, value[:, 0], value[:, 1]))
        other = np.where(self.structure.per_output(first), best, second)
        outputs = np.where(self.structure.per_output(there), other, self.outputs)
        ones = there.astype(np.float64)
        return self._planes(scores, outputs, ones, ones, observed)

    def take(self, ids: npt.ArrayLike) -> ZeroOneHinge:
        """Return the loss of some instances only."""
        return ZeroOneHinge(*self._cut(np.asarray(ids, dtype=np.int64)))


def _any(counts: Array) -> Array:
    return np.minimum(counts, 1)
