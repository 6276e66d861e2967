"""Brute force: every output of every instance, one by one."""

from __future__ import annotations

import math
from abc import abstractmethod
from itertools import product
from typing import Any

import numpy as np

from ..arrays import Array
from ..structures import GraphBatch, LabelledBatch, Marginals, Scores, StructureBatch

LIMIT = 200_000
"""More outputs than this are refused: a test that needs them is the wrong test."""


class Enumerable(StructureBatch):
    """A structure that lists its outputs, where these are not labels of vertices."""

    @abstractmethod
    def every_output(self) -> Array:
        """All outputs of a batch of one small instance, one per row, each once."""


class Enumerated:
    """All outputs of a batch of small instances, with their probabilities,

        p(y) = exp⟨θ, parts(y)⟩ / Σ_y' exp⟨θ, parts(y')⟩.

    Knows a structure through ``take``, ``cut`` and ``parts`` alone, hence shares no recursion with
    it. Sums are in long double. The cost is the number of outputs of each instance, L to the number of
    vertices if these are labelled.

    Parameters
    ----------
    structure : StructureBatch
        A batch whose vertices all carry labels 0 … L−1, or one that is `Enumerable`.
    scores : Scores
        One array per clique type; −inf forbids.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelfields.structures import ChainBatch
    >>> scores = {"node": np.zeros((2, 2)), "edge": np.array([[0.0, 0.0], [0.0, -np.inf]])}
    >>> everything = Enumerated(ChainBatch([0, 2], 2), scores)
    >>> everything.probabilities(0).round(3).tolist()  # 00, 01, 10, 11
    [0.333, 0.333, 0.333, 0.0]
    """

    def __init__(self, structure: StructureBatch, scores: Scores) -> None:
        self.structure = structure
        self._outputs = [every_output(structure.take([s])) for s in range(structure.n_instances)]
        self._values = self._pair(scores)

    def outputs(self, instance: int) -> Array:
        """All outputs of an instance, one per row."""
        return self._outputs[instance]

    def values(self, instance: int) -> Array:
        """⟨θ, parts(y)⟩ of every output of an instance."""
        return self._values[instance].astype(float)

    def probabilities(self, instance: int) -> Array:
        """p(y) of every output of an instance."""
        return self._probabilities(instance).astype(float)

    @property
    def counts(self) -> Array:
        """Number of outputs of every instance, forbidden ones included."""
        return np.array([len(y) for y in self._outputs])

    def log_partition(self) -> Array:
        """Return g(θ) of every instance."""
        return np.array([_log_sum_exp(v) for v in self._values], dtype=float)

    def best(self) -> Array:
        """max_y ⟨θ, parts(y)⟩ of every instance."""
        return np.array([v.max() for v in self._values], dtype=float)

    def kbest(self, k: int) -> Array:
        """Scores of the k best allowed outputs, one row per instance, −inf where there are fewer."""
        result = np.full((len(self._values), k), -np.inf)
        for row, values in zip(result, self._values, strict=True):
            best = np.sort(values.astype(float))[::-1][:k]
            row[: len(best)] = best
        return result

    def entropy(self) -> Array:
        """−Σ_y p(y) log p(y) of every instance."""
        return np.array([_entropy(self._probabilities(s)) for s in range(len(self._values))], dtype=float)

    def marginals(self, weights: Array | None = None) -> Marginals:
        """Log-partitions, and Σ_y p(y) parts(y) in the form of the scores."""
        probabilities = [self._probabilities(s) for s in range(len(self._values))]
        return Marginals(self.log_partition(), self._expected_parts(probabilities, weights))

    def covariance(self, direction: Scores, weights: Array | None = None) -> dict[str, Array]:
        """Σ_y p(y) (⟨d, parts(y)⟩ − mean) parts(y), the covariance of the parts times a direction."""
        masses = []
        for s, along in enumerate(self._pair(direction)):
            p = self._probabilities(s)
            masses.append(p * (along - np.sum(p * along)))
        return self._expected_parts(masses, weights)

    def _pair(self, scores: Scores) -> list[Array]:
        """⟨scores, parts(y)⟩ of all outputs, for every instance."""
        result = []
        for s, outputs in enumerate(self._outputs):
            one, mine = self.structure.take([s]), self.structure.cut(scores, [s])
            result.append(np.array([_inner(mine, one.parts(y)) for y in outputs], dtype=np.longdouble))
        return result

    def _probabilities(self, s: int) -> Array:
        return np.asarray(np.exp(self._values[s] - _log_sum_exp(self._values[s])))

    def _expected_parts(self, masses: list[Array], weights: Array | None) -> dict[str, Array]:
        """Σ_s Σ_y mass_s(y) parts(y): the n-th outputs of all instances go through at once."""
        shapes = self.structure.shapes
        result: dict[str, Array] = {name: np.zeros(shape, np.longdouble) for name, shape in shapes.items()}
        for n in range(max(map(len, masses), default=0)):
            nth = [y[min(n, len(y) - 1)] for y in self._outputs]
            mass = np.array([m[n] if n < len(m) else 0 for m in masses], dtype=float)
            parts = self.structure.parts(np.concatenate(nth), mass if weights is None else mass * weights)
            for name, array in parts.items():
                result[name] += array
        return {name: array.astype(float) for name, array in result.items()}


def every_output(one: StructureBatch) -> Array:
    """All outputs of a batch of one instance, one per row."""
    if isinstance(one, Enumerable):
        return one.every_output()
    if not isinstance(one, LabelledBatch):
        raise TypeError(f"{type(one).__name__} is not Enumerable: nobody knows its outputs.")
    choices = _labels_of(one)
    count = math.prod(map(len, choices))
    if count > LIMIT:
        raise ValueError(f"{count} outputs are too many to enumerate, at most {LIMIT} are allowed.")
    every = list(product(*choices))
    return np.array(every, dtype=np.int64).reshape(count, one.n_vertices)


def _labels_of(one: LabelledBatch) -> list[Array]:
    """Which labels each vertex can have."""
    if isinstance(one, GraphBatch) and one.label_sets is not None:
        return [np.flatnonzero(row) for row in one.label_sets]
    return [np.arange(one.n_labels)] * one.n_vertices


def _inner(scores: Scores, parts: dict[str, Array]) -> Any:
    """⟨θ, parts⟩ with 0 · −inf = 0."""
    total = np.longdouble(0)
    for name, part in parts.items():
        used = part != 0
        total += np.sum(scores[name][used].astype(np.longdouble) * part[used])
    return total


def _log_sum_exp(values: Array) -> Any:
    top = values.max()
    return top if np.isneginf(top) else top + np.log(np.sum(np.exp(values - top)))


def _entropy(probabilities: Array) -> Any:
    p = probabilities[probabilities > 0]
    return -np.sum(p * np.log(p))
