"""Which observation of the training set each basis function came from."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array
from ..gram import find_observations


def origins(basis: Any, observations: Any, rows: Array, offsets: Array) -> Array | None:
    """Return the sequence and the position where each observation of a basis occurs first, (n, 2).

    Position t of the whole training set has the observation ``rows[t]``. −1 stands for what was made of
    several observations; None for no basis.
    """
    if basis is None:
        return None
    found = find_observations(observations, basis)
    first = np.unique(rows, return_index=True)[1]  # every observation occurs
    position = first[found]
    sequence = np.searchsorted(offsets, position, side="right") - 1
    result = np.stack([sequence, position - offsets[sequence]], axis=1).astype(np.int64)
    result[found < 0] = -1
    return result
