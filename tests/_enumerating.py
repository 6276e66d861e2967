"""A way of inference for tests: all labellings of every small graph, one by one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kernelfields.structures import (
    BlockOracle,
    Blocks,
    CovarianceOracle,
    ErrorCountOracle,
    GraphBatch,
    KBestOracle,
    Labelling,
    Labellings,
    Marginals,
    MaxOracle,
    SampleOracle,
    require_feasible,
)


@dataclass(frozen=True)
class Enumerating:
    """Settings of it: there are none."""

    def on(self, offsets: Any, edges: Any, n_labels: int, **shape: Any) -> EnumeratingBatch:
        """Return a batch that lists its labellings."""
        return EnumeratingBatch(offsets, edges, n_labels, **shape)


class Listed(NamedTuple):
    """All labellings of one graph."""

    instance: int
    labels: Any
    """(M, n)."""
    values: Any
    """Their scores."""
    places: dict[str, list[Any]]
    """By clique type, for every clique where its score is in the array of the type, for all labellings."""


class EnumeratingBatch(
    GraphBatch, MaxOracle, CovarianceOracle, SampleOracle, KBestOracle, BlockOracle, ErrorCountOracle
):
    """Graphs with every oracle, all of them by enumeration."""

    def log_partition(self, scores: Any) -> Any:
        return self.marginals(scores).log_partition

    def marginals(self, scores: Any, weights: Any = None) -> Marginals:
        dtype = np.asarray(scores["node"]).dtype
        parts = {name: np.zeros(shape, dtype) for name, shape in self.shapes.items()}
        log_partition = np.zeros(self.n_instances)
        for one in self._listed(scores):
            log_partition[one.instance], p = _softmax(one.values)
            self._add(parts, one, p * (1.0 if weights is None else weights[one.instance]))
        require_feasible(log_partition)
        return Marginals(log_partition, parts)

    def entropy(self, scores: Any) -> Any:
        every = [_softmax(one.values)[1] for one in self._listed(scores)]
        return np.array([-(p[p > 0] * np.log(p[p > 0])).sum() for p in every])

    def covariance(self, scores: Any, direction: Any, weights: Any = None) -> dict[str, Any]:
        dtype = np.asarray(scores["node"]).dtype
        result = {name: np.zeros(shape, dtype) for name, shape in self.shapes.items()}
        for one, along in zip(self._listed(scores), self._listed(direction), strict=True):
            p = _softmax(one.values)[1]
            change = p * (along.values - p @ along.values)
            self._add(result, one, change * (1.0 if weights is None else weights[one.instance]))
        return result

    def blocks(self, scores: Any, weights: Any = None) -> dict[str, Blocks]:
        each = self.untied(list(self.cliques))
        parts = each.marginals(each.spread(scores)).parts
        return {
            name: Blocks(
                parts[name], None if weights is None else np.repeat(weights, np.diff(c.offsets)), c.shared
            )
            for name, c in self.cliques.items()
        }

    def argmax(self, scores: Any) -> Labelling:
        labels, value = self.kbest(scores, 1)
        require_feasible(value[:, 0])
        return Labelling(labels[0], value[:, 0])

    def kbest(self, scores: Any, k: int) -> Labellings:
        labels = np.full((k, self.n_vertices), -1, dtype=np.int32)
        value = np.full((self.n_instances, k), -np.inf)
        for s, listed, values, _ in self._listed(scores):
            for rank, m in enumerate(np.argsort(-values, kind="stable")[:k]):
                if values[m] > -np.inf:
                    labels[rank, self.offsets[s] : self.offsets[s + 1]] = listed[m]
                    value[s, rank] = values[m]
        return Labellings(labels, value)

    def sample(self, scores: Any, count: int, seed: int) -> Any:
        rng = np.random.default_rng(seed)
        drawn = [
            one.labels[rng.choice(len(one.values), size=count, p=_softmax(one.values)[1])]
            for one in self._listed(scores)
        ]
        return np.concatenate([np.zeros((count, 0), dtype=np.int32), *drawn], axis=1).astype(np.int32)

    def best_by_errors(self, scores: Any, errors: Any) -> Any:
        most = int(
            max((np.asarray(errors)[a:b].max(axis=1, initial=0).sum() for a, b in self._spans()), default=0)
        )
        result = np.full((self.n_instances, most + 1), -np.inf)
        for s, labels, values, _ in self._listed(scores):
            np.maximum.at(result[s], self._wrong(s, labels, errors), values)
        return result

    def argmax_at_errors(self, scores: Any, errors: Any, counts: Any) -> Labelling:
        found, best = np.full(self.n_vertices, -1, dtype=np.int32), np.full(self.n_instances, -np.inf)
        for s, labels, values, _ in self._listed(scores):
            kept = np.where(self._wrong(s, labels, errors) == counts[s], values, -np.inf)
            best[s] = kept.max()
            if best[s] > -np.inf:
                found[self.offsets[s] : self.offsets[s + 1]] = labels[kept.argmax()]
        return Labelling(found, best)

    def _wrong(self, s: int, labels: Any, errors: Any) -> Any:
        vertices = np.arange(self.offsets[s], self.offsets[s + 1])
        return np.asarray(errors)[vertices, labels].sum(axis=1).astype(int)

    def _spans(self) -> list[tuple[int, int]]:
        return list(itertools.pairwise(self.offsets.tolist()))

    def _listed(self, scores: Any) -> Iterator[Listed]:
        for s, (a, b) in enumerate(self._spans()):
            sets = [
                range(self.n_labels) if self.label_sets is None else np.flatnonzero(self.label_sets[v])
                for v in range(a, b)
            ]
            every = list(itertools.product(*sets))
            labels = np.array(every, dtype=np.int32).reshape(len(every), b - a)
            values, places = np.zeros(len(labels)), dict[str, list[Any]]()
            for name, cliques in self.cliques.items():
                places[name] = []
                for c in range(cliques.offsets[s], cliques.offsets[s + 1]):
                    chosen = tuple(labels[:, v - a] for v in cliques.members[c])
                    place = chosen if cliques.shared else (np.full(len(labels), c), *chosen)
                    places[name].append(place)
                    values = values + np.asarray(scores[name], dtype=float)[place]
            yield Listed(s, labels, values, places)

    @staticmethod
    def _add(into: Any, one: Listed, amounts: Any) -> None:
        for name, places in one.places.items():
            for place in places:
                np.add.at(into[name], place, amounts)


def _softmax(values: Any) -> tuple[float, Any]:
    top = values.max()
    if not np.isfinite(top):
        return float(top), np.full(len(values), 1 / len(values))
    raw = np.exp(values - top)
    return float(top + np.log(raw.sum())), raw / raw.sum()
