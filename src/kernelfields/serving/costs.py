"""How much time and memory an answer will take, estimated before anything is computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from .. import native
from ..arrays import Array
from ..estimators.kernel_perceptron import VoteScorer
from ..models.expansion_scorer import ExpansionScorer
from ..models.kernel_scorers import EdgeKernelScorer, FourierScorer, KernelScorer
from ..structures import ExactGraphBatch, GraphBatch, SecondOrderChainBatch, SegmentBatch, TreeBatch

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
"""Iterations of approximate inference whose settings have no number of them."""
SEARCH = 1.5e-7
"""Seconds to look for an order in which to eliminate the vertices of a graph, for every pair of them: that of
sparse graphs at random, the worst."""
LARGE = 300
"""Vertices of a graph for which such a search takes more than some milliseconds."""
VALUE = 1e-8
"""Seconds of a kernel value."""
VALUES = 2**22
"""Kernel values that are kept at a time, whatever is computed at once."""


@dataclass(frozen=True)
class Cost:
    """Of one sequence, or of several."""

    seconds: float = 0.0
    room: int = 0
    """Bytes while it is computed."""
    bytes: int = 0
    """Of the answer, which is kept."""
    values: int = 0
    """Kernel values."""


def total_cost(costs: Sequence[Cost]) -> Cost:
    """Return what all of them cost together."""
    return Cost(*map(sum, zip(*map(astuple, costs), strict=True)))


def room_of(costs: Sequence[Cost]) -> int:
    """Return the bytes that are taken while all of them are computed at once.

    Of kernel values there is a part only, in the precision of the kernel and once more while it is made.
    """
    values = min(sum(cost.values for cost in costs), VALUES)
    return sum(cost.room for cost in costs) + 2 * NUMBER * values


@dataclass(frozen=True)
class _Work:
    """What recursions over one item do: steps in all, numbers and states that are kept."""

    steps: float
    numbers: float
    states: float


class BasisSizes(NamedTuple):
    """Observations that those of a request are compared with, by a kernel."""

    in_blocks: int = 0
    """With which kernel values are computed some at a time."""
    at_once: int = 0
    """With which there are all values of a piece."""


NO_BASIS = BasisSizes()


def cost_of(batch: Any, item: Any, labels: int, k: int, numbers: int, basis: BasisSizes = NO_BASIS) -> Cost:
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
    basis : BasisSizes
        Of kernel models.
    """
    size = size_of(item)
    work = _work(batch, item, size, labels)
    search = LIST * (2 * work.steps + 20.0 * k * work.states) if k else 0.0
    edges = None if batch is None else batch.cliques.get("edge")
    untied = 0 if edges is None or edges.shared else size * labels**2
    kept = NUMBER * (3 * (work.numbers + untied) + basis.at_once * size) + WAY * k * work.states
    seconds = SUM * work.steps + search + POSITION * size + VALUE * sum(basis) * size
    seconds += search_seconds(batch, item)
    return Cost(seconds, int(kept + READ * size), EACH * numbers, basis.in_blocks * size)


def search_seconds(batch: Any, item: Any) -> float:
    """Return how long the search for an order of elimination can take that precedes exact sums over a graph.

    Components without cycles need none. That is looked at where it saves something: in large graphs.
    """
    size = size_of(item)
    if not isinstance(batch, ExactGraphBatch) or size < LARGE:
        return 0.0
    low, high = np.sort(_edges(item), axis=1).T
    low, high = np.divmod(np.unique(low * size + high), size)
    joined = sparse.coo_array((np.ones(len(low), dtype=bool), (low, high)), shape=(size, size))
    component = connected_components(joined, directed=False)[1]
    vertices, edges = np.bincount(component), np.bincount(component[low], minlength=component.max() + 1)
    return SEARCH * float(np.square(vertices[edges >= vertices], dtype=np.float64).sum())


def _edges(item: Any) -> Array:
    ends = np.fromiter(chain.from_iterable(item.edges), dtype=np.int64, count=2 * len(item.edges))
    return ends.reshape(-1, 2)


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
    edges = _edges(item)
    if not isinstance(batch, ExactGraphBatch):
        return _Work(_rounds(batch) * len(edges) * labels**2, 4 * len(edges) * labels, size * labels)
    most = float(batch.exact.max_table)
    shape = native.GraphShape(np.array([0, size]), [edges], labels, None, most)
    if shape.refusal() is not None:
        return _Work(0, 0, 0)  # the model refuses it, and says why
    return _Work(PASSES * float(np.sum(shape.entries())), float(shape.messages()), size * labels)


def _rounds(batch: Any) -> int:
    """Return how often approximate sums and a search for the best labelling look at every edge, at most."""
    both = (getattr(batch, name, None) for name in ("inference", "search"))
    return sum(getattr(settings, "max_iter", ROUNDS) for settings in both if settings is not None)


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


class MeasuredPace:
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


def basis_of(model: Any) -> BasisSizes:
    """Return what observations are compared with by a kernel model; nothing by others."""
    make: Callable[[], Any] | None = getattr(model, "_model", None)
    found = [_basis_size(scorer) for scorer in (() if make is None else make().scorers)]
    return BasisSizes(sum(each.in_blocks for each in found), sum(each.at_once for each in found))


def _basis_size(scorer: Any) -> BasisSizes:
    if isinstance(scorer, VoteScorer):
        return BasisSizes(at_once=scorer.basis.shape[0])
    if isinstance(scorer, FourierScorer):
        return BasisSizes(scorer.fourier.size)
    if isinstance(scorer, ExpansionScorer):
        return BasisSizes(scorer.map.size)
    compares = isinstance(scorer, KernelScorer | EdgeKernelScorer)
    return BasisSizes(scorer.basis.shape[0]) if compares and scorer.basis is not None else BasisSizes()
