"""Ragged arrays: what all packages call an array, and where instances begin in a flat one."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def offsets_of(lengths: npt.ArrayLike) -> Array:
    """Return the offsets of instances with these lengths."""
    sizes = np.asarray(lengths, dtype=np.int64)
    offsets = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=offsets[1:])
    return offsets


def rows_of(offsets: Array, ids: Array) -> Array:
    """Return the indices of the rows that some instances own, in their order."""
    lengths = offsets[ids + 1] - offsets[ids]
    shift = np.repeat(offsets[ids] - offsets_of(lengths)[:-1], lengths)
    return np.asarray(np.arange(int(lengths.sum()), dtype=np.int64) + shift)
