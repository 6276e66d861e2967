"""Models written out: every labelling of every small item, its features Φ(x, y), and sums over all of them.

An item is features, what joins its vertices, and labels. A chain is a tree that is a path; of order 2,
neighbours of neighbours are joined, too; of segments, runs of one label count by their length. An edge of a
graph joins both ways, and no vertex is first or last.
Nothing here knows the recursions, spaces or losses of the package.
"""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np

from kernelfields import FreeScores

STRUCTURES = ("chain", "chain2", "segments", "tree", "graph")
SHORTEST = np.array([1, 2, 3, 4, 6, 8, 11, 16, 23, 32])
"""Run in each bin of ``structure="segments"``."""
LABELS = ("blue", "green", "red")


def further_parts(structure: str, second_order: float, durations: float | None = None) -> dict[str, float]:
    """Return what a structure has beyond features, labels and label pairs, with its penalty."""
    lengths = second_order if durations is None else durations
    penalties = {"chain2": {"second_order": second_order}, "segments": {"durations": lengths}}
    return penalties.get(structure, {})


def pair_parts(structure: str, penalty: float, second_order: float | None = None) -> dict[str, FreeScores]:
    """Return the parts that score several labels, with their penalties, as models are given them."""
    further = further_parts(structure, penalty if second_order is None else second_order, durations=penalty)
    return {name: FreeScores(penalty=each) for name, each in {"edges": penalty, **further}.items()}


class Item(NamedTuple):
    """One input with its labels, as numbers."""

    x: Any
    parents: Any
    """Of every vertex, −1 for none; of graphs, which have none, None."""
    y: Any
    edges: Any = None
    """Of graphs, rows of two vertices, each pair once."""

    @property
    def joined(self) -> list[tuple[int, int]]:
        """Pairs of vertices whose labels depend on each other, as tables of label pairs see them."""
        if self.edges is None:
            return [(p, v) for v, p in enumerate(self.parents) if p >= 0]
        return [pair for a, b in self.edges for pair in ((a, b), (b, a))]


class Task(NamedTuple):
    """A few items of one structure."""

    structure: str
    items: list[Item]
    n_labels: int

    @property
    def inputs(self) -> list[Any]:
        """What estimators are given."""
        if self.structure == "graph":
            return [(i.x, i.edges) for i in self.items]
        return [(i.x, i.parents.tolist()) if self.structure == "tree" else i.x for i in self.items]

    @property
    def labels(self) -> list[list[str]]:
        """Labels by name."""
        return [[LABELS[k] for k in item.y] for item in self.items]

    def seen_as(self, features: Any) -> Task:
        """Return the same items with other features, given for all vertices in a row."""
        ends = np.cumsum([len(item.x) for item in self.items])[:-1]
        parts = np.split(np.asarray(features), ends)
        return self._replace(items=[i._replace(x=x) for i, x in zip(self.items, parts, strict=True)])


def random_task(
    rng: np.random.Generator, structure: str, sizes: Any = (4, 0, 1, 3, 4, 2, 3), L: int = 3
) -> Task:
    """Draw items whose labels depend on features; every label occurs."""
    items = []
    for n, size in enumerate(sizes):
        parents = random_parents(rng, size) if structure == "tree" else np.arange(size) - 1
        edges = random_edges(rng, size) if structure == "graph" else None
        y = (rng.integers(L, size=size) + n) % L
        x = np.eye(L)[y][:, :2] + 0.7 * rng.normal(size=(size, 2))
        items.append(Item(x, None if structure == "graph" else parents, y, edges))
    items[0].y[:L] = np.arange(L)[: len(items[0].y)]
    return Task(structure, items, L)


def random_parents(rng: np.random.Generator, size: int) -> Any:
    """Draw a forest: several roots, and parents before or after their children."""
    grown = [-1 if v == 0 or rng.random() < 0.2 else int(rng.integers(v)) for v in range(size)]
    name = rng.permutation(size)
    parents = np.full(size, -1)
    for v, parent in enumerate(grown):
        parents[name[v]] = -1 if parent < 0 else name[parent]
    return parents


def random_edges(rng: np.random.Generator, size: int) -> Any:
    """Draw a graph with cycles, some of its edges backwards; some vertices may have none."""
    pairs = [(a, b) if rng.random() < 0.5 else (b, a) for a, b in itertools.combinations(range(size), 2)]
    kept = [pair for pair in pairs if rng.random() < 0.6]
    return np.array(kept, dtype=int).reshape(-1, 2)


def joint_features(structure: str, item: Item, labels: Any, L: int) -> dict[str, Any]:
    """Φ(x, y), by the parts that models have."""
    D = item.x.shape[1]
    phi = {"features": np.zeros((L, D)), "bias": np.zeros(L), "boundaries": np.zeros((2, L))}
    phi |= {
        "edges": np.zeros((L, L)),
        "edge_features": np.zeros((L, L, D)),
        "second_order": np.zeros((L, L, L)),
        "durations": np.zeros((len(SHORTEST), L)),
    }
    for k, run in itertools.groupby(labels):
        phi["durations"][np.flatnonzero(len(list(run)) >= SHORTEST)[-1], k] += 1
    for v, k in enumerate(labels):
        phi["features"][k] += item.x[v]
        phi["bias"][k] += 1
    for a, b in item.joined:
        phi["edges"][labels[a], labels[b]] += 1
        phi["edge_features"][labels[a], labels[b]] += item.x[a]
        if structure == "chain2" and a > 0:
            phi["second_order"][labels[a - 1], labels[a], labels[b]] += 1
    if item.edges is None:
        for v, k in enumerate(labels):
            phi["boundaries"][0, k] += item.parents[v] < 0
            phi["boundaries"][1, k] += v not in item.parents
    return phi


class Explicit:
    """A linear model of a task: w joins the parts named by ``penalties``, λ of each."""

    def __init__(self, task: Task, penalties: dict[str, float]) -> None:
        self.task, self.names = task, list(penalties)
        L = task.n_labels
        self.labels = [
            np.array(list(itertools.product(range(L), repeat=len(i.y))), int).reshape(L ** len(i.y), len(i.y))
            for i in task.items
        ]
        self.phi = [
            np.array([self._flat(joint_features(task.structure, item, y, L)) for y in labels])
            for item, labels in zip(task.items, self.labels, strict=True)
        ]
        parts = joint_features(task.structure, Item(task.items[0].x[:0], [], []), [], L)
        self.shapes = {name: parts[name].shape for name in self.names}
        sizes = [int(np.prod(self.shapes[name])) for name in self.names]
        self.penalty = np.repeat([float(penalties[name]) for name in self.names], sizes)
        self.right = [
            int(np.flatnonzero((labels == item.y).all(axis=1))[0])
            for item, labels in zip(task.items, self.labels, strict=True)
        ]

    def _flat(self, phi: dict[str, Any]) -> Any:
        return np.concatenate([phi[name].ravel() for name in self.names])

    @property
    def wrong(self) -> list[Any]:
        """Number of wrong labels of every labelling."""
        return [(y != item.y).sum(axis=1) for item, y in zip(self.task.items, self.labels, strict=True)]

    def weights(self, **parts: Any) -> Any:
        """Put parts together."""
        return np.concatenate([np.broadcast_to(parts[n], self.shapes[n]).ravel() for n in self.names])

    def probabilities(self, w: Any, fixed: Any = None) -> list[Any]:
        """Return p(y|x) of all labellings."""
        scores = [phi @ w + (0 if fixed is None else fixed[s]) for s, phi in enumerate(self.phi)]
        raw = [np.exp(each - each.max()) for each in scores]
        return [each / each.sum() for each in raw]

    def marginals(self, probabilities: list[Any]) -> list[Any]:
        """Return p(y_v|x) from the probabilities of all labellings."""
        L = self.task.n_labels
        return [
            np.stack([p @ (labels == k) for k in range(L)], axis=-1).reshape(-1, L)
            for p, labels in zip(probabilities, self.labels, strict=True)
        ]


def same(found: list[Any], expected: list[Any], atol: float) -> None:
    """Compare lists of arrays."""
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, atol=atol, rtol=0)
