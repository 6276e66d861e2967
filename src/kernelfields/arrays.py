"""Ragged arrays: what all packages call an array, where instances begin in a flat one, and sparse rows."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

Array = npt.NDArray[Any]

DATES = "mM"
"""Kinds of arrays whose entries lose unit and precision as Python's objects."""

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
    for k, label in enumerate(labels):  # all at once, tuples would become rows
        result[k] = label
    return result


def listed_labels(labels: Iterable[Hashable]) -> list[Any]:
    """Return labels as a list: those of an array as Python's own objects, dates of NumPy as they are."""
    return (
        labels.tolist() if isinstance(labels, np.ndarray) and labels.dtype.kind not in DATES else list(labels)
    )


def index_of(classes: Array) -> dict[Hashable, int]:
    """Return the index of every class."""
    return {label: k for k, label in enumerate(listed_labels(classes))}


class Matrix(NamedTuple):
    """Features of all tokens, sentence by sentence."""

    features: Any
    """(N, D) CSR matrix."""
    lengths: Array
    """(S,) numbers of tokens."""


def falls(values: Array) -> bool:
    """Return whether any number is below the one before it; differences of whole numbers may overflow."""
    return bool((values[1:] < values[:-1]).any())


class FeatureRows(NamedTuple):
    """Rows of a sparse matrix without SciPy, whose matrices take longer to make than a sentence to tag."""

    indptr: Array
    """(N + 1,) int64: token t has the columns ``indices[indptr[t] : indptr[t + 1]]``."""
    indices: Array
    """int32."""
    values: Array | None
    """float64; None if all are 1."""
    offsets: Array
    """(S + 1,) int64: sentence s has the tokens ``offsets[s]`` up to ``offsets[s + 1]``."""
    shape: tuple[int, int]
    """(N, D)."""
    dtype: np.dtype[Any]
    """Type of the matrix."""

    def with_lengths(self) -> Matrix:
        """Return a matrix, and the lengths of sentences."""
        return Matrix(self.matrix(), np.diff(self.offsets))

    def matrix(self) -> Any:
        """Return these rows as a CSR matrix."""
        # SciPy needs index arrays of equal type; otherwise it searches them for a smaller type.
        indptr = self.indptr.astype(np.int32) if len(self.indices) < 2**31 else self.indptr
        indices = self.indices.astype(indptr.dtype, copy=False)
        if self.values is None:
            values = np.ones(len(indices), self.dtype)
        else:
            values = self.values.astype(self.dtype, copy=False)
        return sparse.csr_matrix((values, indices, indptr), shape=self.shape)
