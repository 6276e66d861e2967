"""Random choice, which every other strategy is measured by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array
from ..checks import Check
from ..data.seeds import random_state
from ._base import Strategy
from .view import PoolView


def _seed(name: str, value: Any) -> None:
    random_state(value)


@dataclass(frozen=True)
class RandomChoice(Strategy):
    """Ask for anything, all with the same probability.

    Parameters
    ----------
    random_state : int, RandomState or None
        Seed. With a number every call draws the same scores, which is as good as others: what has been
        asked is not asked again.
    """

    random_state: Any = None
    _checks: ClassVar[Mapping[str, Check]] = {"random_state": _seed}

    def sequence_scores(self, view: PoolView) -> Array:
        """Draw a score for every item."""
        return np.asarray(random_state(self.random_state).random_sample(len(view.pool.X)))

    def position_scores(self, view: PoolView) -> Array:
        """Draw a score for every position."""
        return np.asarray(random_state(self.random_state).random_sample(int(view.pool.offsets[-1])))
