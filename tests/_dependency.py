"""Projective dependency trees, every one of them written down: a structure that is no labelling.

A sentence of n words has an arc from every head h = 0 … n (0 is the root) to every word m; an output is the
head of each word. Rows of X are arcs, word by word.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from kernelfields.arrays import Array, offsets_of
from kernelfields.structures import (
    Cliques,
    CovarianceOracle,
    KBestOracle,
    Labelling,
    Labellings,
    Marginals,
    MaxOracle,
    SampleOracle,
    Scores,
    Structure,
)


@cache
def projective_trees(n: int) -> Array:
    """Heads of all projective trees over n words, one row each."""
    return np.array([heads for heads in itertools.product(range(n + 1), repeat=n) if _is_tree(heads)])


def _is_tree(heads: tuple[int, ...]) -> bool:
    def path(word: int) -> list[int]:
        steps = [word]
        while steps[-1] != 0 and len(steps) <= len(heads):
            steps.append(heads[steps[-1] - 1])
        return steps

    if any(path(word)[-1] != 0 for word in range(1, len(heads) + 1)):
        return False
    arcs = [(min(h, m), max(h, m), h) for m, h in enumerate(heads, start=1)]
    return all(h in path(between) for low, high, h in arcs for between in range(low + 1, high))


class DependencyBatch(MaxOracle, CovarianceOracle, SampleOracle, KBestOracle):
    """Sentences of so many words each."""

    answer = "arc"

    def __init__(self, words: npt.ArrayLike) -> None:
        self.words = np.asarray(words, dtype=np.int64)
        self.arcs = offsets_of(self.words * (self.words + 1))
        arcs = [(h, m) for n in self.words for m in range(1, n + 1) for h in range(n + 1)]
        self._cliques = {"arc": Cliques(self.arcs, np.array(arcs).reshape(-1, 2), ())}

    offsets = property(lambda self: self.arcs)
    cliques = property(lambda self: self._cliques)
    output_offsets = property(lambda self: offsets_of(self.words))

    def take(self, ids: npt.ArrayLike) -> DependencyBatch:
        return DependencyBatch(self.words[np.asarray(ids)])

    def chosen(self, s: int, heads: Array) -> Array:
        """Numbers of the arcs of trees, one row each."""
        n = self.words[s]
        return self.arcs[s] + np.arange(n) * (n + 1) + heads

    def subtract_parts(self, into: Scores, outputs: Array, weights: Array | None = None) -> None:
        for s, (a, b) in enumerate(itertools.pairwise(self.output_offsets)):
            into["arc"][self.chosen(s, outputs[a:b])] -= 1.0 if weights is None else weights[s]

    def score(self, scores: Scores, outputs: Array) -> Array:
        pairs = enumerate(itertools.pairwise(self.output_offsets))
        return np.array([scores["arc"][self.chosen(s, outputs[a:b])].sum() for s, (a, b) in pairs])

    def _all(self, scores: Scores) -> list[tuple[Array, Array, Array]]:
        """Trees of every sentence, their scores and probabilities."""
        found = []
        for s, n in enumerate(self.words):
            value = scores["arc"][self.chosen(s, projective_trees(int(n)))].sum(axis=1)
            p = np.exp(value - value.max())
            found.append((projective_trees(int(n)), value, p / p.sum()))
        return found

    def argmax(self, scores: Scores) -> Labelling:
        best = [(trees[value.argmax()], value.max()) for trees, value, _ in self._all(scores)]
        return Labelling(np.concatenate([heads for heads, _ in best]), np.array([v for _, v in best]))

    def kbest(self, scores: Scores, k: int) -> Labellings:
        labels, values = np.full((k, self.output_offsets[-1]), -1), np.full((len(self.words), k), -np.inf)
        for s, (trees, value, _) in enumerate(self._all(scores)):
            order = np.argsort(-value, kind="stable")[:k]
            labels[: len(order), self.output_offsets[s] : self.output_offsets[s + 1]] = trees[order]
            values[s, : len(order)] = value[order]
        return Labellings(labels, values)

    def log_partition(self, scores: Scores) -> Array:
        return np.array(
            [value.max() + np.log(np.exp(value - value.max()).sum()) for _, value, _ in self._all(scores)]
        )

    def entropy(self, scores: Scores) -> Array:
        return np.array([-(p[p > 0] * np.log(p[p > 0])).sum() for _, _, p in self._all(scores)])

    def marginals(self, scores: Scores, weights: Array | None = None) -> Marginals:
        result = np.zeros(self.arcs[-1])
        for s, (trees, _, p) in enumerate(self._all(scores)):
            times = 1.0 if weights is None else weights[s]
            np.add.at(result, self.chosen(s, trees), times * p[:, None])
        return Marginals(self.log_partition(scores), {"arc": result.astype(scores["arc"].dtype)})

    def covariance(self, scores: Scores, direction: Scores, weights: Array | None = None) -> dict[str, Array]:
        result = np.zeros(self.arcs[-1])
        for s, (trees, _, p) in enumerate(self._all(scores)):
            along = direction["arc"][self.chosen(s, trees)].sum(axis=1)
            times = 1.0 if weights is None else weights[s]
            np.add.at(result, self.chosen(s, trees), times * (p * (along - p @ along))[:, None])
        return {"arc": result.astype(scores["arc"].dtype)}

    def sample(self, scores: Scores, count: int, seed: int) -> Array:
        random = np.random.default_rng(seed)
        drawn = [trees[random.choice(len(trees), count, p=p)] for trees, _, p in self._all(scores)]
        return np.concatenate(drawn, axis=1)


@dataclass(frozen=True)
class Dependency(Structure):
    """An item of X has a row for every arc; an item of y is the head of every word, 0 for the root."""

    labelling = False
    alphabet = ("arc",)

    def encode(self, y: Any, offsets: Array, links: Any) -> Array:
        return np.concatenate([np.asarray(heads, dtype=np.int32) for heads in y])

    def decode(self, outputs: Array, batch: Any) -> list[Any]:
        return [outputs[a:b].tolist() for a, b in itertools.pairwise(batch.output_offsets)]

    def on(self, offsets: Array, links: Any, n_labels: int, *, untied: bool = False) -> DependencyBatch:
        return DependencyBatch((np.sqrt(4 * np.diff(offsets) + 1) - 1).astype(int) // 2)
