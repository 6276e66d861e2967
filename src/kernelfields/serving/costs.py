"""How much time and memory an answer will take, estimated before anything is computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import native
from ..structures import (
    ExactGraphBatch,
    GraphBatch,
    SecondOrderChainBatch,
    SegmentBatch,
    TreeBatch,
)

SUM = 3e-9
"""Seconds of one step of a recursion, in the passes that labels and their probabilities take together."""
LIST = 5e-9
"""Seconds of one step of a search for the k best."""
POSITION = 2e-5
"""Seconds to read the features of a position, and to write its answer."""
WAY = 16
"""Bytes of one of the k best ways to reach a state: a score, a label and a rank."""
NUMBER = 8
READ = 2048
"""Bytes of a position: its features and scores, and what Python needs around them."""
EACH = 64
"""Bytes of a number or label of an answer: as an object and as text."""
PASSES = 5
"""Steps for every number of a clique's table."""
ROUNDS = 100
"""Iterations of approximate inference, unless its settings allow fewer."""


@dataclass(frozen=True)
class Cost:
    """Of one sequence, or of several."""

    seconds: float = 0.0
    room: int = 0
    """Bytes while it is computed."""
    bytes: int = 0
    """Of the answer, which is kept."""

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.seconds + other.seconds, self.room + other.room, self.bytes + other.bytes)


@dataclass(frozen=True)
class _Work:
    """What recursions over one item do: steps in all, numbers and states that are kept."""

    steps: float
    numbers: float
    states: float


def cost_of(batch: Any, item: Any, labels: int, k: int, numbers: int) -> Cost:
    """Return the cost of one item.

    Recursions keep their messages. A search for the k best looks at all predecessors of every state, and at
    some ten for each of the k ways to reach it, which are kept for all positions, k·states of them.

    Parameters
    ----------
    batch : StructureBatch
        Of the model, empty: it says which recursion it is.
    item : sequence, TreeInput or GraphInput
        As models take it.
    labels : int
        L.
    k : int
        Best labellings that are asked for; 0 for none.
    numbers : int
        Numbers and labels of the answer.
    """
    size = size_of(item)
    work = _work(batch, item, size, labels)
    search = LIST * (2 * work.steps + 20.0 * k * work.states) if k else 0.0
    untied = 0 if getattr(batch, "shared_edges", True) else size * labels**2
    kept = NUMBER * 3 * (work.numbers + untied) + WAY * k * work.states
    seconds = SUM * work.steps + search + POSITION * size
    return Cost(seconds, int(kept + READ * size), EACH * numbers)


def _work(batch: Any, item: Any, size: int, labels: int) -> _Work:
    if isinstance(batch, GraphBatch):
        return _graph(batch, item, size, labels)
    if isinstance(batch, SecondOrderChainBatch):
        return _Work(size * labels**3, size * labels**2, size * labels**2)
    if isinstance(batch, SegmentBatch):
        longest = int(np.max(batch.lower_ends, initial=1))
        steps = size * labels * (min(longest, size) + labels)
        return _Work(steps, size * labels * 4, 4 * size * labels)
    return _Work(
        size * labels**2, size * labels * 2, (3 if isinstance(batch, TreeBatch) else 1) * size * labels
    )


def _graph(batch: Any, item: Any, size: int, labels: int) -> _Work:
    """Return the work on a graph: tables over the cliques of its elimination, or messages along edges."""
    edges = np.array(item.edges, dtype=np.int64).reshape(-1, 2)
    if not isinstance(batch, ExactGraphBatch):
        return _Work(ROUNDS * len(edges) * labels**2, 4 * len(edges) * labels, size * labels)
    most = float(batch.exact.max_table)
    shape = native.GraphShape(np.array([0, size]), [edges], labels, None, most)
    if shape.refusal() is not None:
        return _Work(0, 0, 0)  # the model refuses it, and says why
    return _Work(PASSES * float(np.sum(shape.entries())), float(shape.messages()), size * labels)


def size_of(item: Any) -> int:
    """Return how many positions an item has."""
    return len(getattr(item, "features", item))


def pieces(costs: list[Cost], sizes: list[int], seconds: float, positions: int) -> list[slice]:
    """Cut items into pieces that take little time and have few positions, or one item."""
    found: list[slice] = []
    begin, time, count = 0, 0.0, 0
    for n, (cost, size) in enumerate(zip(costs, sizes, strict=True)):
        if n > begin and (time + cost.seconds > seconds or count + size > positions):
            found.append(slice(begin, n))
            begin, time, count = n, 0.0, 0
        time, count = time + cost.seconds, count + size
    return [*found, slice(begin, len(costs))] if costs else []


class Pace:
    """How much slower or faster a model answers than was estimated, learnt from what it took.

    Only pieces that take long enough to be measured count, each by at most a factor of two, and all of them
    together stay between two bounds: no client can make others' requests look cheap or dear for long.
    """

    LEAST = 0.02
    """Seconds of processor time that say something."""

    def __init__(self) -> None:
        self.factor = 1.0

    def learn(self, estimated: float, took: float) -> None:
        """Compare an estimate, which has the factor in it, with what it took."""
        if max(estimated, took) >= self.LEAST and estimated > 0:
            step = min(max(took / estimated, 0.5), 2.0) ** 0.5
            self.factor = min(max(self.factor * step, 1 / 8), 64.0)


def empty_batch(model: Any) -> Any:
    """Return the batch of no items, which tells the recursions of a model; None where there is none."""
    make: Callable[..., Any] | None = getattr(model, "_batch", None)
    return None if make is None else make([], None, None).batch
