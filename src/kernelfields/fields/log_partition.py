"""The logarithm of a field's normaliser, and what is known about it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..structures import ApproximateSum, Scores, SumOracle
from .annealing import Annealing, annealed_sum


class LogPartition(NamedTuple):
    """log Z of one item."""

    value: float
    """log Σ_z exp(score of z), or what stands for it."""
    lower: float
    """What is proved to be at most log Z: the value where sums are exact, −inf where nothing is known."""
    upper: float
    """What is proved to be at least log Z; inf where nothing is known."""
    error: float
    """Standard error of the value, where it was drawn; else 0."""


def log_partition_of(
    batch: Any, scores: Scores, labels: Array, annealing: Annealing | None, random: np.random.RandomState
) -> LogPartition:
    """Sum over the labellings of one item that agree with labels where these are not negative."""
    if annealing is not None:
        value, error = annealed_sum(batch, scores, annealing, labels, random)
        return LogPartition(value, -np.inf, np.inf, error)
    value = float(sums(batch, scores, labels)[0])
    if isinstance(batch, SumOracle):
        return LogPartition(value, value, value, 0.0)
    assert batch.convergence is not None
    return LogPartition(value, float(batch.convergence.lower[0]), float(batch.convergence.upper[0]), 0.0)


def sums(batch: Any, scores: Scores, labels: Array | None = None) -> Array:
    """Sum over the labellings of every item that agree with labels, by the sums of the structure."""
    if not isinstance(batch, SumOracle | ApproximateSum):
        raise InputError(
            f"{type(batch).__name__} does not sum over labellings; density=Annealing() estimates the sum."
        )
    result = batch.log_partition(scores if labels is None else restricted(scores, labels))
    batch.warn_of_unsettled()
    return result


def restricted(scores: Scores, labels: Array) -> dict[str, Array]:
    """Return scores of −inf for other labels than those given; negative ones are not given."""
    node = scores["node"]
    allowed = (labels[:, None] < 0) | (labels[:, None] == np.arange(node.shape[1]))
    return {**scores, "node": np.where(allowed, node, -np.inf)}


def log_densities(
    batch: Any,
    scores: Scores,
    labels: Array,
    annealing: Annealing | None,
    random: np.random.RandomState,
    alike: Sequence[Hashable],
) -> Array:
    """Return log p of every item, labels that are negative summed out.

    Items that are ``alike`` have the same sum over all labellings, which annealing then estimates once.
    """
    complete = bool((labels >= 0).all())
    if annealing is None:
        part = batch.score(scores, labels) if complete else sums(batch, scores, labels)
        return part - sums(batch, scores)
    known: dict[Hashable, float] = {}
    result = np.zeros(batch.n_instances)
    for s, key in enumerate(alike):
        one, own, given = batch.take([s]), batch.cut(scores, [s]), batch.cut_outputs(labels, [s])
        if key not in known:
            known[key] = annealed_sum(one, own, annealing, np.full_like(given, -1), random).value
        whole = (given >= 0).all()
        part = one.score(own, given)[0] if whole else annealed_sum(one, own, annealing, given, random).value
        result[s] = part - known[key]
    return result
