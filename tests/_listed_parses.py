"""All labelled trees of short sentences, written down by their definition."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from kernelfields.arrays import Array
from kernelfields.structures import ConstituencyBatch, Grammar, GrammarBatch
from kernelfields.testing import Enumerable

Node = tuple[int, int, bool]
"""A span, and whether it is a right part."""


def row_of(n: int, i: int, j: int) -> int:
    """Count the spans before (i, j): shorter ones from the same word on, and all that begin earlier."""
    return sum(n - k for k in range(i)) + j - i - 1


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
            tree.sort()
            allowed = [range(self._first(*node), L) for node in tree]
            rows = np.array([row_of(n, i, j) for i, j, _ in tree])
            found += [rows * L + labels for labels in itertools.product(*allowed)]
        return np.array(found, dtype=np.int64).reshape(len(found) or 1, max(2 * n - 1, 0))

    def _first(self, i: int, j: int, right: bool) -> int:
        """Label 0 of several words only in right parts, if it is the empty one."""
        return int(self.empty and j - i > 1 and not right)


class ListedDerivations(Enumerable, GrammarBatch):
    """Trees of a grammar, of which the rules are looked up one by one."""

    def every_output(self) -> Array:
        n, grammar = int(self.lengths[0]), self.grammar
        found = [
            sorted(row_of(n, i, j) * self.n_labels + grammar.index[a] for i, j, a in tree)
            for root in grammar.roots
            for tree in (derivations(grammar, 0, n, root) if n else ())
        ]
        return np.array(found, dtype=np.int64).reshape(len(found) or 1, max(2 * n - 1, 0))


def derivations(grammar: Grammar, i: int, j: int, symbol: str) -> Iterator[list[tuple[int, int, str]]]:
    """All trees with a symbol over the words i up to j."""
    if j - i == 1:
        if symbol in grammar.words:
            yield [(i, j, symbol)]
        return
    for (parent, left, right), k in itertools.product(grammar.rules, range(i + 1, j)):
        if parent == symbol:
            for a, b in itertools.product(
                derivations(grammar, i, k, left), derivations(grammar, k, j, right)
            ):
                yield [(i, j, symbol), *a, *b]
