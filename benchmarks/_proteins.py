"""JPred4 for both sides: windows of profiles, flat, with lengths."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ._conll2000 import data_folder

WINDOW, GAMMA, PENALTY = 15, 0.02, 0.1


class Residues(NamedTuple):
    """Chains one below the other."""

    X: Any
    """(N, 660) float32."""
    lengths: list[int]
    labels: list[list[str]]

    def first(self, residues: int) -> Residues:
        """Give the first chains that have at least so many residues."""
        ends = np.cumsum(self.lengths)
        count = int(np.searchsorted(ends, residues)) + 1
        lengths = self.lengths[:count]
        return Residues(self.X[: sum(lengths)], lengths, self.labels[:count])


def read(*folds: int, chains: int | None = None) -> Residues:
    """Read the chains of some folds; fold 0 is the blind set."""
    from kernelfields.datasets import load_jpred4

    X, y = load_jpred4(data_folder().parent).split(*folds, window=WINDOW)
    X, y = X[:chains], y[:chains]
    return Residues(np.concatenate(X), [len(x) for x in X], y)
