"""Leave out labels that are not certain enough."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..structures import Scores, Structure, SumOracle
from ..structures._base import Array
from ._base import ABSTAINED, Decoder, require


@dataclass(frozen=True)
class Abstain(Decoder):
    """Another decoder's labels, except where the marginal of the chosen one is below a threshold.

    Parameters
    ----------
    decoder : Decoder
        What to answer.
    threshold : float
        Answer only where p(y_v|x) is at least this; `ABSTAINED` (−1) elsewhere.
    """

    decoder: Decoder
    threshold: float

    def decode(self, structure: Structure, scores: Scores) -> Array:
        """Labels, −1 where none is certain enough."""
        labels = self.decoder.decode(structure, scores)
        marginals = require(structure, SumOracle, "Abstaining").marginals(scores).parts["node"]
        certain = marginals[np.arange(len(labels)), labels] >= self.threshold
        return np.where(certain, labels, ABSTAINED).astype(np.int32)
