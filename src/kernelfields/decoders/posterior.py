"""The most probable label of each vertex."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import Array
from ..structures import LabelledBatch, Scores, StructureBatch
from ._base import Decoder, best_allowed, forbids, marginals_of


@dataclass(frozen=True)
class Posterior(Decoder):
    """argmax of every vertex's marginal: the Bayes rule when errors are counted (Hamming cost).

    Where the scores forbid label pairs (−inf), and where answers are not labels of vertices, the output with
    the highest sum of marginals among those that are allowed.
    """

    chooses_allowed: ClassVar[bool] = True

    def choose(self, structure: StructureBatch, scores: Scores) -> Array:
        """Return labels by forward-backward, then a maximum per vertex or over allowed outputs."""
        answer = structure.answer
        marginals = marginals_of(structure, scores, "Posterior")[answer]
        # A label that is forbidden by itself has no probability.
        others = {clique: values for clique, values in scores.items() if clique != answer}
        if not isinstance(structure, LabelledBatch) or forbids(others):
            return best_allowed(structure, scores, {answer: marginals})
        return marginals.argmax(axis=1).astype(np.int32)
