"""Random batches of small graphs: edges given twice and both ways, larger factors, label sets."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kernelfields.structures import Factors, Scores, StructureBatch


class Drawn(NamedTuple):
    """What a batch is made of."""

    arguments: tuple[Any, ...]
    shape: dict[str, Any]

    def under(self, inference: Any) -> Any:
        """Return the batch with this kind of inference."""
        return inference.on(*self.arguments, **self.shape)


def draw_graphs(rng: np.random.Generator, *, larger: bool = True, sets: bool = True) -> Drawn:
    """One to three graphs of up to five vertices, some empty, some with nothing but vertices."""
    count, labels = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    sizes = rng.integers(0, 6, count)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    members: dict[int, list[Any]] = {1: [], 2: [], 3: []}
    for first, size in zip(offsets, sizes, strict=False):
        for width, most in ((1, 2), (2, 8), (3, 3 if larger else 1)):
            for _ in range(rng.integers(0, most) if size >= width else 0):
                members[width].append(first + rng.choice(size, width, replace=False))
    cliques = {width: np.array(rows, dtype=int).reshape(-1, width) for width, rows in members.items()}
    edges = cliques[2]
    factors = {
        "single": Factors(cliques[1], bool(rng.integers(2))),
        "triple": Factors(cliques[3], bool(rng.integers(2))),
        "again": Factors(edges[: len(edges) // 2, ::-1], bool(rng.integers(2))),
    }
    shape: dict[str, Any] = {"factors": factors, "shared_edges": bool(rng.integers(2))}
    if sets and rng.integers(2):
        allowed = rng.random((offsets[-1], labels)) < 0.7
        allowed[np.arange(offsets[-1]), rng.integers(0, labels, offsets[-1])] = True
        shape["label_sets"] = allowed
    return Drawn((offsets, edges, labels), shape)


def draw_forest(rng: np.random.Generator, labels: int = 3) -> Drawn:
    """Two forests whose edges are given both ways; factors without cycles."""
    parents = [int(rng.integers(-1, v)) for v in range(6)]
    edges = [[p, v] for v, p in enumerate(parents) if p >= 0]
    both = np.array([*edges, *([b, a] for a, b in edges)], dtype=int).reshape(-1, 2)
    triple = np.array([[5, 6, 7]])
    edges_of_second = [[8, 9], [9, 8], [9, 10]]
    every = np.concatenate([both, edges_of_second])
    return Drawn(([0, 8, 11], every, labels), {"factors": {"triple": Factors(triple)}})


def draw_scores(rng: np.random.Generator, batch: StructureBatch, scale: float) -> dict[str, Any]:
    """Normal scores of every clique type."""
    return {name: scale * rng.normal(size=shape) for name, shape in batch.shapes.items()}


def within_sets(batch: Any, scores: Scores) -> dict[str, Any]:
    """Scores with −inf outside label sets, for an enumeration that does not know of these."""
    if batch.label_sets is None:
        return dict(scores)
    return {**scores, "node": np.where(batch.label_sets, scores["node"], -np.inf)}
