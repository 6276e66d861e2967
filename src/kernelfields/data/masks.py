"""Outputs that are masked arrays, whose masks conversions would drop."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import is_list, require_unmasked
from ..structures import SEQUENCES, Words

UNKNOWN_LABELS = "write None in the place of labels that are not known"


def require_unmasked_outputs(y: Any, what: str = "y", words: Words = SEQUENCES) -> None:
    """Refuse outputs with masked entries, in one array, in an item, or in a part of one: heads, say."""
    if isinstance(y, np.ndarray) and y.dtype != object:
        require_unmasked(y, what, UNKNOWN_LABELS)
    elif is_list(y) and not hasattr(y, "to_numpy"):
        for s, item in enumerate(y):
            for part in item if isinstance(item, tuple) else (item,):
                if isinstance(part, np.ma.MaskedArray):
                    require_unmasked(part, words.name(s, what), UNKNOWN_LABELS)
