"""What a perceptron changed, one mistake after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Self

import numpy as np

from ..arrays import Array


class Change(NamedTuple):
    """What a mistake, or forgetting, changed."""

    step: int
    """After which sequence, counted over all epochs from 1."""
    rows: Array
    """Positions of the training set, later rows of the basis."""
    node: Array
    """Added to their coefficients."""
    edge: Array
    """Added to the scores of label pairs."""


class Changes(NamedTuple):
    """Changes one behind the other, in few arrays: m of them, of R rows."""

    steps: Array
    """(m,)."""
    ends: Array
    """(m,): where the rows of each end."""
    rows: Array
    """(R,)."""
    node: Array
    """(R, L)."""
    edge: Array
    """(m, L, L)."""

    @classmethod
    def of(cls, changes: list[Change], n_labels: int) -> Self:
        """Put changes together."""
        L = n_labels
        return cls(
            np.array([change.step for change in changes], dtype=np.int64),
            np.cumsum([len(change.rows) for change in changes], dtype=np.int64),
            np.concatenate([np.zeros(0, dtype=np.int64), *(change.rows for change in changes)]),
            np.concatenate([np.zeros((0, L)), *(change.node for change in changes)]),
            np.concatenate([np.zeros((0, L, L)), *(change.edge[None] for change in changes)]),
        )

    def each(self) -> Iterator[Change]:
        """Return them one by one."""
        start = 0
        for step, end, edge in zip(self.steps.tolist(), self.ends.tolist(), self.edge, strict=True):
            yield Change(step, self.rows[start:end], self.node[start:end], edge)
            start = end
