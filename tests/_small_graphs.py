"""Random small graphs with everything in them that searches have to deal with."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from kernelfields.arrays import Array
from kernelfields.structures import Factors, GraphBatch, SearchedGraphBatch

SIZES = (5, 0, 1, 6, 4)


def random_edges(rng: np.random.Generator, sizes: tuple[int, ...], share: float, size: int = 2) -> Array:
    """Some cliques of a batch, their members in any order; some come twice, or in both directions."""
    rows, first = [np.empty((0, size), dtype=np.int64)], 0
    for n in sizes:
        wanted = round(share * n) if n >= size else 0
        rows += [first + rng.permutation(n)[None, :size] for _ in range(wanted)]
        first += n
    return np.concatenate(rows)


def random_graph(seed: int, n_labels: int = 3, **given: Any) -> SearchedGraphBatch:
    """Two types of edges, triples, cliques of one vertex, and labels that some vertices cannot have."""
    rng = np.random.default_rng(seed)
    N = sum(SIZES)
    sets = rng.random((N, n_labels)) < 0.85
    sets[np.arange(N), rng.integers(n_labels, size=N)] = True
    factors = {
        "bond": Factors(random_edges(rng, SIZES, 0.7), shared=bool(seed % 2)),
        "triple": Factors(random_edges(rng, SIZES, 0.4, 3), shared=seed % 3 == 0),
        "own": Factors(random_edges(rng, SIZES, 0.5, 1), shared=seed % 3 == 1),
    }
    shape: dict[str, Any] = {"shared_edges": seed % 4 < 2, "factors": factors, "label_sets": sets, **given}
    offsets = np.concatenate([[0], np.cumsum(SIZES)])
    return SearchedGraphBatch(offsets, random_edges(rng, SIZES, 1.5), n_labels, **shape)


def random_scores(graph: GraphBatch, seed: int, forbidden: float = 0.0) -> dict[str, Array]:
    """Scores, some of them −inf."""
    rng = np.random.default_rng(1000 + seed)
    scores = {name: rng.normal(scale=2.0, size=shape) for name, shape in graph.shapes.items()}
    for name in scores.keys() - {"node"}:
        scores[name][rng.random(scores[name].shape) < forbidden] = -np.inf
    return scores


def every_best(graph: GraphBatch, scores: dict[str, Array]) -> Array:
    """The best score of every instance, by listing all labellings."""
    best = []
    for s in range(graph.n_instances):
        one, own = graph.take([s]), graph.cut(scores, [s])
        labellings = np.array(list(product(range(graph.n_labels), repeat=one.n_vertices)), dtype=np.int32)
        many = one.take(np.zeros(len(labellings), dtype=int))
        spread = {
            name: values
            if one.cliques[name].shared
            else np.tile(values, (len(labellings), *[1] * (values.ndim - 1)))
            for name, values in own.items()
        }
        best.append(many.score(spread, labellings.ravel()).max(initial=-np.inf) if one.n_vertices else 0.0)
    return np.array(best)
