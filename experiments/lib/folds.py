"""Cross-validation: seeded folds of sequences, means and their standard errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kernelfields.arrays import Array


class Fold(NamedTuple):
    """The indices of training and test sequences."""

    train: Array
    test: Array


def folds_of(ids: Array | int, n_folds: int, seed: int) -> list[Fold]:
    """Split sequences into folds of nearly equal numbers, each tested on once."""
    numbers = np.arange(ids) if isinstance(ids, int) else np.asarray(ids)
    parts = np.array_split(np.random.default_rng(seed).permutation(numbers), n_folds)
    return [Fold(np.setdiff1d(numbers, part), np.sort(part)) for part in parts]


class Mean(NamedTuple):
    """A mean over folds."""

    mean: float
    standard_error: float
    """Standard deviation over folds by the root of their number; 0 for a single one."""


def mean_of(values: Sequence[float]) -> Mean:
    """Return mean and standard error of one number per fold."""
    if len(values) == 1:
        return Mean(float(values[0]), 0.0)
    return Mean(float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values))))


def pick(sequences: Sequence[Any], ids: Array) -> list[Any]:
    """Return the sequences with these numbers."""
    return [sequences[i] for i in ids]
