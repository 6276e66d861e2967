"""Siblings of sentences as the core reads them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array, offsets_of
from ..checks import require_unmasked
from ..errors import InputError


def joined_siblings(rows: list[Any]) -> tuple[Array, Array]:
    """Return the siblings of all sentences, and where those of each begin."""
    for s, given in enumerate(rows):
        require_unmasked(given, f"The list of siblings of sentence {s}", "leave out those that there are not")
    each = [np.asarray(given) for given in rows]
    for s, given in enumerate(each):
        if given.size and (given.ndim != 2 or given.shape[1] != 3 or given.dtype.kind not in "iu"):
            raise InputError(f"The siblings of sentence {s} are not whole numbers of shape (C, 3).")
    offsets = offsets_of([given.size // 3 for given in each])
    flat = np.concatenate([np.empty((0, 3), np.int32), *(given.reshape(-1, 3) for given in each)])
    if flat.size and not -1 <= flat.min() <= flat.max() < 2**31:
        raise InputError("Siblings are words of a sentence, from 0 on.")
    return np.ascontiguousarray(flat, dtype=np.int32), offsets
