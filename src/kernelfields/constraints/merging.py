"""Probabilities of labels that stand for the same one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..arrays import Array


def merged_marginals(marginals: Iterable[Array], names: Sequence[str]) -> tuple[list[Array], list[str]]:
    """Return sums over the columns of equal names, and the names in order.

    Examples
    --------
    >>> from kernelfields.constraints import merged_marginals
    >>> sums, names = merged_marginals([[[0.5, 0.25, 0.25]]], ["H", "E", "H"])
    >>> sums[0].tolist(), names
    ([[0.25, 0.75]], ['E', 'H'])
    """
    order = sorted(set(names))
    sums = np.array([[name == one for one in order] for name in names], dtype=float)
    return [np.asarray(p) @ sums for p in marginals], order
