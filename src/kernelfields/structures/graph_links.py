"""What joins the vertices of a batch of graphs, and how their labellings are summed over."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..arrays import Array
from ..checks import shown
from ..errors import InputError
from .exact import Exact
from .graph import Factors, GraphBatch
from .words import Words


class GraphInference(Protocol):
    """A way to sum and maximise over the labellings of graphs."""

    def on(self, offsets: Any, edges: Any, n_labels: int, **shape: Any) -> GraphBatch:
        """Return a batch of graphs with these oracles; arguments are those of `GraphBatch`."""


class GraphLinks(NamedTuple):
    """All that a batch of graphs has besides the features of its vertices."""

    edges: Array
    """(E, 2) vertices, counted over the whole batch."""
    edge_features: Array | None = None
    """(E, D)."""
    types: Array | None = None
    """(N,) numbers of vertex types."""
    factors: Mapping[str, Array] = {}
    """Further cliques by name, (C, a) vertices."""
    shapes: Array | None = None
    """(S, 2) heights and widths, where graphs are grids."""

    def joined(self, offsets: Array) -> list[Array]:
        """Return for every graph the pairs of vertices that something joins, counted within it, each once."""
        pairs = [
            members[:, [a, b]]
            for members in (self.edges, *self.factors.values())
            for a, b in combinations(range(members.shape[1]), 2)
        ]
        every = np.unique(np.sort(np.concatenate(pairs), axis=1), axis=0)
        ends = np.searchsorted(every[:, 0], offsets)
        return [every[a:b] - start for (a, b), start in zip(pairwise(ends), offsets, strict=False)]


ENGINES: Mapping[str, GraphInference] = {"exact": Exact()}
"""Ways of inference that have a name."""


def engine_of(given: Any) -> GraphInference:
    """Look a way of inference up; settings of one are their own name."""
    if isinstance(given, str) and given in ENGINES:
        return ENGINES[given]
    if isinstance(given, str) or not hasattr(given, "on") or isinstance(given, type):
        names = ", ".join(map(repr, ENGINES))
        raise InputError(f"inference is {shown(given)}; it must be {names} or settings such as Exact(...).")
    engine: GraphInference = given
    return engine


def graph_batch(
    inference: Any,
    offsets: Array,
    links: GraphLinks,
    n_labels: int,
    *,
    words: Words,
    own: Collection[str] = frozenset(),
    masks: Array | None = None,
) -> GraphBatch:
    """Return a batch with these links; ``masks`` say which labels each type of vertices has."""
    batch = engine_of(inference).on(
        offsets,
        links.edges,
        n_labels,
        shared_edges="edge" not in own,
        factors={name: Factors(members, name not in own) for name, members in links.factors.items()},
        label_sets=None if masks is None else masks[links.types],
    )
    batch.words, batch.edge_features = words, links.edge_features
    return batch.untied(own)


def together(members: Sequence[Array], offsets: Array, size: int) -> Array:
    """Return cliques of all graphs, their vertices counted over the batch."""
    shifted = [one + start for one, start in zip(members, offsets, strict=False)]
    return np.concatenate([np.empty((0, size), np.int64), *shifted])
