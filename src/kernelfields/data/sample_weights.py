"""How many times each instance counts."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..checks import require_unmasked
from ..errors import InputError
from ..structures import SEQUENCES, Words
from .types import Weights


def read_weights(weights: Weights, count: int, words: Words = SEQUENCES) -> Array:
    """Return one finite weight, not negative, for every instance."""
    require_unmasked(weights, "sample_weight", "give 0 for what is not to count")
    try:
        result = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"sample_weight is no array of numbers: {error}.") from error
    if result.shape != (count,):
        raise InputError(
            f"sample_weight has shape {result.shape}, expected ({count},): one per {words.item}."
        )
    if not (np.isfinite(result) & (result >= 0)).all():
        s = int(np.flatnonzero(~(np.isfinite(result) & (result >= 0)))[0])
        raise InputError(
            f"sample_weight of {words.item} {s} is {result[s]}; it must be finite and not negative."
        )
    if count and not result.any():
        raise InputError(f"sample_weight is zero for every {words.item}: nothing counts.")
    return result
