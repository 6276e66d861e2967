"""All labelled trees of short sentences, written down by their definition."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from kernelfields.arrays import Array
from kernelfields.structures import ConstituencyBatch
from kernelfields.testing import Enumerable

Node = tuple[int, int, bool]
"""A span, and whether it is a right part."""


def binary_trees(i: int, j: int, right: bool = False) -> Iterator[list[Node]]:
    """All binary trees over the words i up to j."""
    if j - i == 1:
        yield [(i, j, right)]
        return
    for k in range(i + 1, j):
        for left, other in itertools.product(binary_trees(i, k), binary_trees(k, j, True)):
            yield [(i, j, right), *left, *other]


class ListedParses(Enumerable, ConstituencyBatch):
    """Constituency trees whose outputs can be listed."""

    def every_output(self) -> Array:
        n, L = int(self.lengths[0]), self.n_labels
        found = []
        for tree in binary_trees(0, n) if n else ():
            tree.sort(key=lambda node: (node[1], node[0]))
            allowed = [range(self._first(*node), L) for node in tree]
            rows = np.array([j * (j - 1) // 2 + i for i, j, _ in tree])
            found += [rows * L + labels for labels in itertools.product(*allowed)]
        return np.array(found, dtype=np.int64).reshape(len(found) or 1, max(2 * n - 1, 0))

    def _first(self, i: int, j: int, right: bool) -> int:
        """Label 0 of several words only in right parts, if it is the empty one."""
        return int(self.empty and j - i > 1 and not right)
