"""The most probable labelling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..arrays import Array
from ..structures import Scores, StructureBatch
from ._base import Decoder, best_output


@dataclass(frozen=True)
class Viterbi(Decoder):
    """argmax_y p(y|x): the Bayes rule when any error spoils the whole sequence (0/1 cost)."""

    chooses_allowed: ClassVar[bool] = True

    def choose(self, structure: StructureBatch, scores: Scores) -> Array:
        """Return the labels of the best labelling."""
        return best_output(structure, scores, "Viterbi")
