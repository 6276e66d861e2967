"""Conformal risk control: a threshold for a loss that only falls as more is answered."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ._base import require_chance


class Missed(NamedTuple):
    """What sets {y : p(y) ≥ λ} would miss in a calibration set, sequence by sequence."""

    probability: Array
    """(N,) probability of what must not be missed: it is found if this is at least λ."""
    offsets: Array
    """(S + 1,) where each sequence begins."""


class RiskControl(NamedTuple):
    """E[share missed in a sequence] ≤ α, over calibration sets and the next sequence."""

    least: float
    """λ: sets have all labels that are at least so probable."""
    miss_at_most: float
    """α."""
    missed: float
    """Mean share missed in the calibration sequences."""
    n_sequences: int
    """Calibration sequences with something that could be missed."""


def control_misses(missed: Missed, miss_at_most: float = 0.1) -> RiskControl:
    """Return the largest λ with which at most a share α is missed, in the mean over sequences.

    The loss of sequence i, ℓ_i(λ) = the share of it whose probability is below λ, never falls as λ rises, and
    is at most 1. With n exchangeable sequences and

        λ̂ = sup {λ : (Σ_i ℓ_i(λ) + 1) / (n + 1) ≤ α}

    the loss of the next sequence has E[ℓ(λ̂)] ≤ α [angelopoulos2024crc, Theorem 1], whatever the model.
    Sequences where nothing can be missed do not count: it is the mean over those where something can. If
    n < 1/α − 1 there is no such λ, and λ̂ = 0: sets hold every label.

    Examples
    --------
    >>> import numpy as np
    >>> p = np.linspace(0.0, 1.0, 100)
    >>> found = control_misses(Missed(p, np.arange(101)), 0.1)
    >>> round(found.least, 4), round(found.missed, 2)
    (0.0909, 0.09)
    """
    alpha = require_chance("miss_at_most", miss_at_most)
    sizes = np.diff(missed.offsets)
    n = int((sizes > 0).sum())
    weights = 1.0 / np.repeat(sizes, sizes)  # each sequence has a loss of 1 if all of it is missed
    order = np.argsort(missed.probability, kind="stable")
    level = missed.probability[order]
    below = np.cumsum(weights[order])  # loss just above each level
    # At λ = level k all strictly smaller ones are missed: the loss is that of the first of equals.
    first = np.searchsorted(level, level, side="left")
    loss = np.concatenate([[0.0], below])[first]
    fits = np.flatnonzero(loss + 1.0 <= alpha * (n + 1) + 1e-12)
    least = float(level[fits[-1]]) if len(fits) else 0.0
    share = float(loss[fits[-1]] / n) if len(fits) else 0.0
    return RiskControl(least, alpha, share, n)


def label_sets(marginals: Array, least: float) -> Array:
    """Return masks of the labels that are at least so probable, the most probable one always among them."""
    sets: Array = marginals >= least
    sets[np.arange(len(sets)), marginals.argmax(axis=1)] = True
    return sets
