"""The most probable label of each vertex."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..structures import MaxOracle, Scores, Structure, SumOracle
from ..structures._base import Array
from ._base import Decoder, require


@dataclass(frozen=True)
class Posterior(Decoder):
    """argmax of every vertex's marginal: the Bayes rule when errors are counted (Hamming cost).

    Parameters
    ----------
    respect : bool
        Whether to keep to allowed label pairs: then the labelling with the highest sum of
        marginals among those that the scores do not forbid (−inf).
    """

    respect: bool = False

    def decode(self, structure: Structure, scores: Scores) -> Array:
        """Labels by forward-backward, then a maximum per vertex or over allowed labellings."""
        marginals = require(structure, SumOracle, "Posterior").marginals(scores).parts["node"]
        if not self.respect:
            return marginals.argmax(axis=1).astype(np.int32)
        return best_allowed(structure, scores, {"node": marginals})


def best_allowed(structure: Structure, scores: Scores, gains: Scores) -> Array:
    """Give the labelling with the highest total gain among those the scores allow."""
    allowed = {
        clique: np.where(values == -np.inf, -np.inf, gains.get(clique, 0.0))
        for clique, values in scores.items()
    }
    return require(structure, MaxOracle, "Decoding under constraints").argmax(allowed).labels
