"""The most probable label of each vertex."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import Array
from ..structures import Scores, StructureBatch, SumOracle
from ._base import Decoder, best_allowed, forbids, require


@dataclass(frozen=True)
class Posterior(Decoder):
    """argmax of every vertex's marginal: the Bayes rule when errors are counted (Hamming cost).

    Where the scores forbid label pairs (−inf), the labelling with the highest sum of marginals among those
    that they allow.
    """

    chooses_allowed: ClassVar[bool] = True

    def choose(self, structure: StructureBatch, scores: Scores) -> Array:
        """Return labels by forward-backward, then a maximum per vertex or over allowed labellings."""
        marginals = require(structure, SumOracle, "Posterior").marginals(scores).parts["node"]
        # A label that is forbidden by itself has no probability.
        if forbids({clique: values for clique, values in scores.items() if clique != "node"}):
            return best_allowed(structure, scores, {"node": marginals})
        return marginals.argmax(axis=1).astype(np.int32)
