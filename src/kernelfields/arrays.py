"""Ragged arrays: what all packages call an array, and where instances begin in a flat one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

BLOCK = 2**14
"""Rows of a sparse matrix that are copied together."""


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


def sorted_blocks(rows: Any) -> Iterator[Any]:
    """Yield copies of some rows of a CSR matrix after others, with the entries of each row by column."""
    for start in range(0, rows.shape[0], BLOCK):
        block = rows[start : start + BLOCK].copy()  # one slice of all rows would be the matrix itself
        block.sort_indices()
        yield block


def label_array(labels: Iterable[Hashable]) -> Array:
    """Return labels as an array: of strings or numbers if it holds all as what they are, else of objects."""
    labels = list(labels)
    for kind in (str, bool, int, float):
        if all(type(label) is kind for label in labels):
            array = np.array(labels)
            if array.tolist() == labels and array.dtype.kind == np.array([kind()]).dtype.kind:
                return array  # else it is too large a number, or ends in zeros that arrays cut off
    result = np.empty(len(labels), dtype=object)
    result[:] = labels
    return result
