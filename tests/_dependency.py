"""Projective dependency trees, every one of them written down: a structure that is no labelling."""

from __future__ import annotations

import itertools
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import entr, logsumexp, softmax

from kernelfields import structures as kf
from kernelfields.arrays import Array, offsets_of
from kernelfields.testing import Enumerable


@cache
def projective_trees(n: int) -> Array:
    """Heads of all projective trees over n words, one row each."""
    return np.array([y for y in itertools.product(range(n + 1), repeat=n) if is_tree(y)], dtype=np.int64)


def is_tree(heads: tuple[int, ...]) -> bool:
    """Whether all words lead to the root, and a head also to the words between it and another of its own."""
    above, words = (0, *heads), range(1, len(heads) + 1)
    paths = [list(itertools.accumulate(words, lambda w, _: above[w], initial=w)) for w in range(len(above))]
    between = {m: range(min(above[m], m) + 1, max(above[m], m)) for m in words}
    rooted = all(path[-1] == 0 for path in paths)
    return rooted and all(above[m] in paths[b] for m in words for b in between[m])


class DependencyBatch(Enumerable, kf.MaxOracle, kf.CovarianceOracle, kf.SampleOracle, kf.KBestOracle):
    """Sentences with an arc from every head, 0 (the root) to n, to every word; an output is their heads."""

    answer = "arc"

    def __init__(self, words: npt.ArrayLike) -> None:
        self.words = np.asarray(words, dtype=np.int64)
        self.trees = [projective_trees(int(n)) for n in self.words]
        self.arcs = offsets_of(self.words * (self.words + 1))
        self._cliques = {"arc": kf.Cliques(self.arcs, np.arange(self.arcs[-1])[:, None], ())}
        self._first = np.cumsum(self.per_output(self.words + 1)) - self.per_output(self.words + 1)

    offsets = property(lambda self: self.arcs)
    cliques = property(lambda self: self._cliques)
    output_offsets = property(lambda self: offsets_of(self.words))

    def take(self, ids: npt.ArrayLike) -> DependencyBatch:
        return DependencyBatch(self.words[np.asarray(ids)])

    def every_output(self) -> Array:
        return self.trees[0]

    def subtract_parts(self, into: kf.Scores, outputs: Array, weights: Array | None = None) -> None:
        into["arc"][self._first + outputs] -= 1.0 if weights is None else self.per_output(weights)

    def score(self, scores: kf.Scores, outputs: Array) -> Array:
        sentences = self.per_output(np.arange(len(self.words)))
        return np.bincount(sentences, scores["arc"][self._first + outputs], len(self.words))

    def _all(self, scores: kf.Scores) -> list[tuple[Array, Array]]:
        """All trees of every sentence, one row of arcs each, and their scores."""
        firsts = np.split(self._first, self.output_offsets[1:-1])
        arcs = [first + trees for first, trees in zip(firsts, self.trees, strict=True)]
        return [(chosen, scores["arc"][chosen].sum(axis=1, dtype=np.float64)) for chosen in arcs]

    def argmax(self, scores: kf.Scores) -> kf.Labelling:
        best, value = self.kbest(scores, 1)
        return kf.Labelling(best[0], value[:, 0])

    def kbest(self, scores: kf.Scores, k: int) -> kf.Labellings:
        labels, best = np.full((k, self.output_offsets[-1]), -1), np.full((len(self.words), k), -np.inf)
        for s, (_, value) in enumerate(self._all(scores)):
            order = np.argsort(-value, kind="stable")[:k]
            labels[: len(order), self.output_offsets[s] : self.output_offsets[s + 1]] = self.trees[s][order]
            best[s, : len(order)] = value[order]
        return kf.Labellings(labels, best)

    def log_partition(self, scores: kf.Scores) -> Array:
        return np.array([logsumexp(value) for _, value in self._all(scores)])

    def entropy(self, scores: kf.Scores) -> Array:
        return np.array([entr(softmax(value)).sum() for _, value in self._all(scores)])

    def marginals(self, scores: kf.Scores, weights: Array | None = None) -> kf.Marginals:
        result, times = np.zeros_like(scores["arc"]), np.ones(len(self.words)) if weights is None else weights
        for (chosen, value), weight in zip(self._all(scores), times, strict=True):
            np.add.at(result, chosen, weight * softmax(value)[:, None])
        return kf.Marginals(self.log_partition(scores), {"arc": result})

    def covariance(self, scores: kf.Scores, direction: kf.Scores, weights: Any = None) -> dict[str, Array]:
        result, times = np.zeros_like(scores["arc"]), np.ones(len(self.words)) if weights is None else weights
        for (chosen, value), weight in zip(self._all(scores), times, strict=True):
            p, along = softmax(value), direction["arc"][chosen].sum(axis=1)
            np.add.at(result, chosen, weight * (p * (along - p @ along))[:, None])
        return {"arc": result}

    def sample(self, scores: kf.Scores, count: int, seed: int) -> Array:
        rng, every = np.random.default_rng(seed), zip(self.trees, self._all(scores), strict=True)
        drawn = [trees[rng.choice(len(trees), count, p=softmax(value))] for trees, (_, value) in every]
        return np.concatenate(drawn, axis=1)


@dataclass(frozen=True)
class Dependency(kf.Structure):
    """An item of X has a row for every arc; an item of y is the head of every word, 0 for the root."""

    labelling = False
    alphabet = ("arc",)

    def encode(self, y: Any, offsets: Array, links: Any) -> Array:
        return np.concatenate([np.asarray(heads, dtype=np.int32) for heads in y])

    def decode(self, outputs: Array, batch: Any) -> list[Any]:
        return [outputs[a:b].tolist() for a, b in itertools.pairwise(batch.output_offsets)]

    def on(
        self, offsets: Array, links: Any, n_labels: int, *, own: Collection[str] = frozenset()
    ) -> DependencyBatch:
        return DependencyBatch((np.sqrt(4 * np.diff(offsets) + 1) - 1).astype(int) // 2)
