"""Learning curves of several choices of questions on one pool."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kernelfields.active import LearningCurve
from kernelfields.arrays import Array

Curves = Mapping[str, LearningCurve]
"""By the name of the choice."""


class AskingTask(NamedTuple):
    """A pool with all its labels, and what models are scored on."""

    X: list[Any]
    y: list[Any]
    X_test: list[Any]
    y_test: list[Any]

    @property
    def n_labels(self) -> int:
        """How many labels the pool has."""
        return sum(map(len, self.y))


def first_labels(y: Sequence[Sequence[Any]], n_labels: int, seed: int) -> list[Any]:
    """Return the labels of random whole sequences that make up so many, None for the others."""
    total = 0
    result: list[Any] = [None] * len(y)
    for s in np.random.default_rng(seed).permutation(len(y)):
        if total >= n_labels:
            break
        result[s] = y[s]
        total += len(y[s])
    return result


def mean_curve(curves: Sequence[LearningCurve]) -> LearningCurve:
    """Return the mean of curves with the same number of steps."""
    parts = [[getattr(curve, name) for curve in curves] for name in ("labels", "scores", "seconds")]
    labels, scores, seconds = (np.mean(part, axis=0) for part in parts)
    return LearningCurve(labels, scores, seconds)


def asked_twice(curve: LearningCurve, budgets: Sequence[int]) -> float:
    """Return how many answers were no new labels."""
    missing = set(budgets) - set(curve.labels.tolist())
    return float(len(missing))


def as_details(curves: Curves) -> dict[str, dict[str, list[float]]]:
    """Return curves as lists."""
    return {
        name: {"labels": curve.labels.tolist(), "scores": curve.scores.tolist()}
        for name, curve in curves.items()
    }


def reporter(report: Callable[[str], None], name: str) -> Callable[[int, float], None]:
    """Return what writes a line for every score."""
    return lambda labels, score: report(f"{name}: {labels} labels, {100 * score:.2f} %")


def landmark_features(kernel: Any, landmarks: Array) -> Callable[[Array], Array]:
    """Return x ↦ K^(−1/2) k(landmarks, x), whose inner products are the kernel's Nyström approximation."""
    values, vectors = np.linalg.eigh(kernel(landmarks))
    kept = values > 1e-8 * values[-1]
    maps = vectors[:, kept] / np.sqrt(values[kept])
    return lambda rows: kernel(rows, landmarks) @ maps
