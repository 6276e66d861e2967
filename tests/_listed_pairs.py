"""All matchings and sets of links of small items, written down by their definition."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np

from kernelfields.arrays import Array
from kernelfields.structures import AlignmentBatch, BetheMatchingBatch, LinkBatch, MatchingBatch
from kernelfields.testing import Enumerable


@cache
def tables(m: int, n: int, fertility: int, complete: bool) -> Array:
    """All (m, n) tables of 0 and 1 with so many ones a row and column at most, one flat row each."""
    every = np.array(list(itertools.product((0, 1), repeat=m * n)), dtype=np.int64).reshape(
        2 ** (m * n), m, n
    )
    few = (every.sum(axis=2) <= fertility).all(axis=1) & (every.sum(axis=1) <= fertility).all(axis=1)
    enough = (every.sum(axis=(1, 2)) == min(m, n)) | (not complete)
    return every[few & enough].reshape(-1, m * n) if m * n else np.zeros((1, 0), np.int64)


class ListedMatchings(Enumerable, MatchingBatch):
    """Matchings whose outputs can be listed."""

    def every_output(self) -> Array:
        return tables(*self.item_shapes[0].tolist(), 1, self.complete)


class ListedBethe(Enumerable, BetheMatchingBatch):
    """The same with approximate sums."""

    def every_output(self) -> Array:
        return tables(*self.item_shapes[0].tolist(), 1, self.complete)


class ListedAlignments(Enumerable, AlignmentBatch):
    """Alignments that can be listed."""

    def every_output(self) -> Array:
        m, n = self.item_shapes[0].tolist()
        every = tables(m, n, max(m, n), False)
        return every[(every.reshape(len(every), m, n).sum(axis=1) <= 1).all(axis=1)]


class ListedLinks(Enumerable, LinkBatch):
    """Sets of links that can be listed."""

    def every_output(self) -> Array:
        return tables(*self.item_shapes[0].tolist(), self.fertility, False)
