"""What a strategy is: scores that say what to ask first."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ..arrays import Array
from ..checks import Checked
from .view import PoolView


class Strategy(Checked, ABC):
    """How much is to be learnt from the labels of a sequence, or from that of a single position.

    The greater a score, the sooner to ask. Scores of positions that have a label already mean nothing, and
    nobody looks at them; a sequence is scored by its other positions, given the labels that it has.
    """

    @abstractmethod
    def sequence_scores(self, view: PoolView) -> Array:
        """Return one score for every item of the pool, (S,)."""

    @abstractmethod
    def position_scores(self, view: PoolView) -> Array:
        """Return one score for every position of the pool, (N,)."""
