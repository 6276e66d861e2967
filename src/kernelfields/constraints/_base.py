"""What a rule is: from the names of labels to what is forbidden among them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Forbidden(NamedTuple):
    """What a rule forbids among L labels: a labelling y is allowed unless one of these holds."""

    pairs: Array
    """(L, L) booleans: whether y_t = row, y_{t+1} = column is forbidden for every t."""
    starts: Array
    """(L,) booleans: whether y_1 = label is forbidden."""
    ends: Array
    """(L,) booleans: whether y_T = label is forbidden."""

    @classmethod
    def nothing(cls, n_labels: int) -> Forbidden:
        """Give masks that forbid nothing yet."""
        return cls(np.zeros((n_labels, n_labels), bool), np.zeros(n_labels, bool), np.zeros(n_labels, bool))


class Rule(ABC):
    """A rule about label sequences that looks at neighbouring pairs and at the two ends."""

    @abstractmethod
    def forbidden(self, names: Sequence[Hashable]) -> Forbidden:
        """Masks over labels with these names."""
