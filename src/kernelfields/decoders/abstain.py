"""Leave out labels that are not certain enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..arrays import Array
from ..checks import require_share, shown
from ..errors import InputError
from ..structures import LabelledBatch, Scores, StructureBatch
from ._base import ABSTAINED, Decoder, marginals_of, require


@dataclass(frozen=True)
class Abstain(Decoder):
    """Another decoder's labels, except where the marginal of the chosen one is below a threshold.

    Parameters
    ----------
    decoder : Decoder
        What to answer.
    threshold : float
        Answer only where p(y_v|x) is at least this, a number from 0 to 1; `ABSTAINED` (−1) elsewhere.
    """

    decoder: Decoder
    threshold: float
    chooses_allowed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse what cannot be a probability."""
        require_share("threshold", self.threshold)
        if not isinstance(self.decoder, Decoder):
            raise InputError(f"decoder is {shown(self.decoder)}; it must be a Decoder.")

    def choose(self, structure: StructureBatch, scores: Scores) -> Array:
        """Return labels, −1 where none is certain enough."""
        labels = self.decoder.decode(structure, scores)
        require(structure, LabelledBatch, "Abstaining")
        marginals = marginals_of(structure, scores, "Abstaining")["node"]
        certain = marginals[np.arange(len(labels)), labels] >= self.threshold
        return np.where(certain & (labels != ABSTAINED), labels, ABSTAINED).astype(np.int32)
