"""All dependency trees of short sentences, written down by their definition."""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np

from kernelfields.arrays import Array
from kernelfields.structures import DependencyBatch, SiblingDependencyBatch
from kernelfields.testing import Enumerable
from tests._dependency import is_tree


@cache
def trees(n: int, projective: bool, single_root: bool) -> Array:
    """Heads of all trees over n words, one row each."""
    every = [y for y in itertools.product(range(n + 1), repeat=n) if leads_to_root(y)]
    kept = [y for y in every if (not projective or is_tree(y)) and (not single_root or y.count(0) == 1)]
    if n == 0:
        kept = [()]
    return np.array(kept, dtype=np.int64).reshape(len(kept), n)


def leads_to_root(heads: tuple[int, ...]) -> bool:
    """Whether n steps up lead every word to the root."""
    above, at = np.array([0, *heads]), np.arange(len(heads) + 1)
    for _ in heads:
        at = above[at]
    return not at.any()


class ListedTrees(Enumerable, DependencyBatch):
    """Dependency trees whose outputs can be listed."""

    def every_output(self) -> Array:
        n = int(self.lengths[0])
        listed, L = trees(n, self.projective, self.single_root), self.n_labels or 1
        relations = np.array(list(itertools.product(range(L), repeat=n)), dtype=np.int64).reshape(L**n, n)
        return (listed[:, None] * L + relations).reshape(len(listed) * L**n, n)


class ListedSiblingTrees(Enumerable, SiblingDependencyBatch):
    """Trees of second order whose outputs can be listed."""

    every_output = ListedTrees.every_output
