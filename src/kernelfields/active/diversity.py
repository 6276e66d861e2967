"""Batches of questions that are not all the same question."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..arrays import Array
from ..checks import Check, Checked, require_positive
from ..errors import InputError
from .density import to_unit
from .similarity import Similarity


def _from_one(name: str, value: Any) -> None:
    if require_positive(name, value) < 1:
        raise InputError(f"{name} is {value}; it must be at least 1.")


@dataclass(frozen=True)
class Diversity(Checked, ABC):
    """How a batch is chosen among the things with the best scores.

    Parameters
    ----------
    kernel : name, Kernel or function
        Of observations; sequences are compared by mean maps.
    candidates : float
        How many things with the best scores are looked at, times the size of the batch.
    """

    kernel: Any = "cosine"
    candidates: float = 4.0
    _checks: ClassVar[Mapping[str, Check]] = {"candidates": _from_one}

    def choose(self, scores: Array, n: int, similarity: Similarity, labelled: Array) -> Array:
        """Return n of the things with finite scores; ``labelled`` are those that were answered before."""
        order = np.argsort(-scores, kind="stable")
        order = order[np.isfinite(scores[order])][: int(min(np.ceil(self.candidates * n), len(scores)))]
        return order[:n] if len(order) <= n else self._chosen(order, scores[order], n, similarity, labelled)

    @abstractmethod
    def _chosen(self, ids: Array, scores: Array, n: int, similarity: Similarity, labelled: Array) -> Array:
        """Choose n of these candidates, best first."""


@dataclass(frozen=True)
class Determinantal(Diversity):
    """Greedy mode of a determinantal point process with kernel q_i k(i, j) q_j [chen2018, Algorithm 1].

    Each step takes what raises log det of the batch most: its quality q, the score on a scale from 0 to 1
    among the candidates, times its distance from the span of those taken. Where nothing is left outside the
    span, scores decide.
    """

    def _chosen(self, ids: Array, scores: Array, n: int, similarity: Similarity, labelled: Array) -> Array:
        quality = np.maximum(to_unit(scores), 1e-3)
        left = quality**2  # squared distances from the span, times quality squared: similarities are cosines
        rows, taken = np.zeros((n, len(ids))), np.zeros(len(ids), dtype=bool)
        chosen: list[int] = []
        for k in range(n):
            best = int(np.argmax(np.where(taken, -np.inf, left)))
            if left[best] <= 1e-10:  # the span has everything
                rest = np.flatnonzero(~taken)[: n - k]
                return ids[np.array([*chosen, *rest.tolist()])]
            row = quality[best] * similarity.block(ids[[best]], ids)[0] * quality
            rows[k] = (row - rows[:k, best] @ rows[:k]) / np.sqrt(left[best])
            left = left - rows[k] ** 2
            taken[best] = True
            chosen.append(best)
        return ids[np.array(chosen)]


@dataclass(frozen=True)
class KCenter(Diversity):
    """Greedy k-centre: each step takes what is farthest from all that was taken or labelled [sener2018].

    Distances are those of the kernel's space, 2 − 2k(i, j); the first of a batch without any label is the
    thing with the best score.
    """

    def _chosen(self, ids: Array, scores: Array, n: int, similarity: Similarity, labelled: Array) -> Array:
        nearest = np.full(len(ids), np.inf)
        if len(labelled):
            nearest = 1.0 - similarity.block(ids, labelled).max(axis=1)
        chosen = []
        for _ in range(n):
            best = int(np.argmax(nearest))
            chosen.append(best)
            nearest = np.minimum(nearest, 1.0 - similarity.block(ids[[best]], ids)[0])
            nearest[best] = -np.inf
        return ids[np.array(chosen)]
