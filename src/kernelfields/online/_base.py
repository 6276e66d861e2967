"""What a rule of online learning is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from ..arrays import Array
from ..checks import Checked

if TYPE_CHECKING:
    from .sweep import Sweep


class OnlineRule(Checked, ABC):
    """How the weights change after one sequence; its settings are those of the literature."""

    forgets: ClassVar[bool] = False
    """Whether a mean of weights is that of the last epoch only, those before being far away."""

    @abstractmethod
    def learn(self, sweep: Sweep, order: Array) -> float:
        """Take the sequences in this order, one after the other; return the sum of their losses.

        The loss of a sequence is that with the weights before it was learnt from.
        """
