"""Trees of a sentence by falling score, where only the best of some can be found [lawler1972procedure]."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import count

import numpy as np

from ..arrays import Array
from ..errors import InfeasibleError
from ._base import Scores
from .dependency import DependencyBatch


def trees_in_order(sentence: DependencyBatch, scores: Scores) -> Iterator[tuple[Array, float]]:
    """Yield the trees of a single sentence by falling score.

    What is left are sets of trees: the first words as in a tree that was found, the next one not so.
    """
    n, L = int(sentence.lengths[0]), sentence.n_labels or 1
    arc = np.array(scores["arc"], dtype=np.float64).reshape(n, (n + 1) * L)
    heap: list[tuple[float, int, list[int], int, frozenset[int]]] = []
    numbers = count()

    def push(fixed: list[int], barred: frozenset[int]) -> None:
        given = arc.copy()
        for m, output in enumerate(fixed):
            given[m] = -np.inf
            given[m, output] = arc[m, output]
        if barred:
            given[len(fixed), sorted(barred)] = -np.inf
        try:
            best = sentence.argmax({**scores, "arc": given.reshape(sentence.shapes["arc"])})
        except InfeasibleError:
            return
        entry = (-float(best.value[0]), next(numbers), best.labels.tolist(), len(fixed), barred)
        heapq.heappush(heap, entry)

    push([], frozenset())
    while heap:
        value, _, tree, known, barred = heapq.heappop(heap)
        yield np.array(tree, dtype=np.int32), -value
        for m in range(known, n):
            push(tree[:m], (barred if m == known else frozenset()) | {tree[m]})
