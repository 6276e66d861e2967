"""Log-partitions by annealed importance sampling, where sums are out of reach."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import scipy

from ..arrays import Array
from ..checks import Check, Checked, all_finite, whole
from ..errors import InputError
from ..structures import GraphBatch, LabelledBatch, Scores
from .particles import Particles


class AnnealedSum(NamedTuple):
    """An estimate of log Z."""

    value: float
    """log of the mean weight, whose expectation is Z: on average it is below log Z."""
    error: float
    """Its standard error, by the spread of the weights; too small where few of them are most of the sum."""


@dataclass(frozen=True)
class Annealing(Checked):
    """Annealed importance sampling [neal2001]: from labels that do not depend on each other to the field.

    Particles begin with labels drawn by the scores of single vertices, whose sum Z₀ is known. Scores of all
    other cliques are then raised in steps, β_0 = 0 < … < β_K = 1, a sweep of Gibbs sampling at each, and

        log w = Σ_k (β_k − β_{k−1}) ⟨θ_other, parts(y_k)⟩,   E[w] = Z/Z₀,

    without bias whatever the number of steps; the more, the smaller the variance.

    Parameters
    ----------
    steps : int
        K.
    particles : int
        Over which weights are averaged.
    """

    steps: int = 500
    particles: int = 100
    _checks: ClassVar[Mapping[str, Check]] = {"steps": whole(), "particles": whole(2)}


def annealed_sum(
    batch: LabelledBatch, scores: Scores, settings: Annealing, labels: Array, random: np.random.RandomState
) -> AnnealedSum:
    """Estimate the sum over the labellings of one graph that agree with labels where these are not −1."""
    for name, values in scores.items():
        if name != "node" and not all_finite(np.asarray(values)):
            raise InputError(f"Annealing needs finite scores; those of {name} forbid something.")
    copies = [0] * settings.particles
    many, theta = batch.take(copies), batch.cut(scores, copies)
    assert isinstance(many, LabelledBatch)
    begin = np.tile(labels, settings.particles)
    particles = Particles(many, begin, begin < 0)
    particles.begin(theta, random)
    weights = np.zeros(settings.particles)
    others = {**theta, "node": np.zeros_like(theta["node"])}
    for k in range(settings.steps):
        if k:
            level = k / settings.steps
            heated = {name: v if name == "node" else level * v for name, v in theta.items()}
            particles.sweep(heated, random)
        weights += many.score(others, particles.labels) / settings.steps
    total = float(scipy.special.logsumexp(weights) - np.log(settings.particles))
    spread = np.exp(weights - weights.max())
    error = float(spread.std(ddof=1) / (spread.mean() * np.sqrt(settings.particles)))
    return AnnealedSum(_independent(batch, scores, labels) + total, error)


def _independent(batch: LabelledBatch, scores: Scores, labels: Array) -> float:
    """Return log Z₀: single vertices, those whose label is given by it."""
    node = np.array(scores["node"], dtype=np.float64)
    if isinstance(batch, GraphBatch) and batch.label_sets is not None:
        node[~batch.label_sets] = -np.inf
    known = np.flatnonzero(labels >= 0)
    return float(scipy.special.logsumexp(node[labels < 0], axis=1).sum() + node[known, labels[known]].sum())
