"""Splits of sequences into those to train on and those to test on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..checks import require_whole
from ..data.groups import fold_numbers, pick
from ..errors import InputError

SCOUT_SHARE = 4
"""One in so many training sequences takes part in scouting rounds."""
SCOUT_POSITIONS = 4000
"""Training positions below which there is no scouting."""


class Split(NamedTuple):
    """Training and test sequences by number; numbers from the development set on follow the others."""

    train: Array
    test: Array
    cut: int = 1
    """Training sequences are cut to one in so many of their positions, the first ones."""


class TrialSequences(NamedTuple):
    """Sequences and labels, of which the last ones may be a development set."""

    X: list[Any]
    y: list[Any]
    n_training: int

    @classmethod
    def of(cls, X: Any, y: Any, X_dev: Any, y_dev: Any) -> TrialSequences:
        """Join training and development sequences."""
        if (X_dev is None) != (y_dev is None):
            raise InputError("X_dev and y_dev go together.")
        if len(X) != len(y) or (X_dev is not None and len(X_dev) != len(y_dev)):
            raise InputError(f"X has {len(X)} sequences, but y has {len(y)}.")
        if len(X) == 0:
            raise InputError("The training set is empty.")
        more = ([], []) if X_dev is None else (list(X_dev), list(y_dev))
        return cls([*X, *more[0]], [*y, *more[1]], len(X))

    def training(self, split: Split) -> tuple[list[Any], list[Any]]:
        """Return the training sequences of a split, with their labels."""
        X, y = pick(self.X, split.train), pick(self.y, split.train)
        if split.cut == 1:
            return X, y
        ends = [-(-len(labels) // split.cut) for labels in y]
        return [x[:e] for x, e in zip(X, ends, strict=True)], [v[:e] for v, e in zip(y, ends, strict=True)]

    def test(self, split: Split) -> tuple[list[Any], list[Any]]:
        """Return the test sequences of a split, with their labels."""
        return pick(self.X, split.test), pick(self.y, split.test)

    def splits(self, folds: int, groups: Any, seed: Any) -> list[Split]:
        """Return the development set as the only test, or folds in which groups stay together."""
        if self.n_training < len(self.X):
            return [Split(np.arange(self.n_training), np.arange(self.n_training, len(self.X)))]
        count = require_whole("folds", folds, 2)
        fold = fold_numbers(self.n_training, count, groups, seed)
        return [Split(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(count)]

    def scouted(self, splits: Sequence[Split], seed: int) -> list[Split]:
        """Return splits after a scouting round on a part of the first one, if that saves time."""
        first = splits[0]
        if sum(len(self.y[i]) for i in first.train) < SCOUT_POSITIONS:
            return list(splits)
        count = len(first.train) // SCOUT_SHARE
        if count >= SCOUT_SHARE:
            some = np.random.default_rng(seed).permutation(first.train)[:count]
            return [Split(np.sort(some), first.test), *splits]
        whole = all(type(self.X[i]) is list or isinstance(self.X[i], np.ndarray) for i in first.train)
        return [Split(*first[:2], SCOUT_SHARE), *splits] if whole else list(splits)
