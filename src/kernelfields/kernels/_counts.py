"""Objects counted into rows of numbers, so that inner products compare them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp


def counted(*groups: Sequence[Iterable[Hashable]]) -> list[Any]:
    """Return rows of counts, (n, V) CSR in float64, for each group of collections, with columns in common."""
    index: dict[Hashable, int] = {}
    columns = [[numbered(some, index) for some in group] for group in groups]
    return [_matrix(group, len(index)) for group in columns]


def numbered(some: Iterable[Hashable], index: dict[Hashable, int]) -> list[int]:
    """Return a number for every object, equal for equal objects; new objects are added to the index."""
    return [index.setdefault(token, len(index)) for token in some]


def _matrix(columns: list[list[int]], width: int) -> Any:
    """Add up ones."""
    ends = np.cumsum([0, *map(len, columns)])
    flat = np.fromiter((column for row in columns for column in row), dtype=np.int64, count=ends[-1])
    matrix = sp.csr_matrix((np.ones(len(flat)), flat, ends), shape=(len(columns), width))
    matrix.sum_duplicates()
    return matrix
