"""Scores far apart, and what every structure must say about them, by oracles in long double or in logarithms.

Small batches are listed: P has a row of parts for every output, and then

    log Z = log Σ exp(Pθ),   p = exp(Pθ − log Z),   μ = Pᵀp,   H = −Σ p log p,   Σd = Pᵀ(p ∘ (Pd − p·Pd)).

Batches that are too large to list have recursions of their own in logarithms (tests/_log_recursions.py), with

    μ_k = 1 − Z(θ_k = −∞) / Z.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from kernelfields.arrays import Array
from kernelfields.errors import InfeasibleError
from kernelfields.structures import (
    CovarianceOracle,
    KBestOracle,
    MaxOracle,
    SampleOracle,
    StructureBatch,
    SumOracle,
)
from kernelfields.testing.brute import every_output

SIZES = (1.0, 30.0, 300.0, 1000.0)


def wide_vector(rng: np.random.Generator, count: int) -> Array:
    """Scores of one size or of several, few values or any, with gaps and without; some forbidden."""
    size = rng.choice(SIZES) if rng.random() < 0.7 else rng.choice((0.0, *SIZES), size=count)
    kind = rng.integers(4)
    signs = rng.choice([-1.0, 0.0, 1.0], size=count)
    if kind == 0:
        values = size * signs
    elif kind == 1:
        values = size * signs + 0.1 * rng.normal(size=count)
    elif kind == 2:
        values = size * rng.normal(size=count)
    else:
        values = size * np.where(rng.random(count) < 0.2, signs, -1.0) + rng.normal(size=count)
    if rng.random() < 0.3:
        values[rng.random(count) < rng.choice([0.05, 0.3])] = -np.inf
    return np.asarray(values)


@dataclass(frozen=True)
class Expected:
    """What an oracle says; None where it does not know."""

    log_partition: float
    marginals: Array
    entropy: float
    best: Array | None = None
    """Scores of the best outputs, falling."""
    covariance: Array | None = None


class ListedOracle:
    """A batch of one small instance by all its outputs."""

    def __init__(self, structure: StructureBatch) -> None:
        self.structure = structure

    @cached_property
    def _parts(self) -> Array:
        rows = [flat(self.structure.parts(y)) for y in every_output(self.structure)]
        return np.array(rows, dtype=np.longdouble)

    def answer(self, theta: Array, direction: Array) -> Expected:
        parts = self._parts
        finite = np.where(np.isneginf(theta), 0, theta).astype(np.longdouble)
        values = parts @ finite
        values[(parts[:, np.isneginf(theta)] != 0).any(axis=1)] = -np.inf
        best = np.sort(values)[::-1]
        if not len(best) or np.isneginf(best[0]):
            return Expected(-np.inf, np.zeros(len(theta)), 0.0)
        p = np.exp(values - best[0])
        log_partition = best[0] + np.log(p.sum())
        p /= p.sum()
        along = parts @ direction
        entropy = -(p[p > 0] * np.log(p[p > 0])).sum()
        covariance = (p * (along - p @ along)) @ parts
        return Expected(float(log_partition), p @ parts, float(entropy), best[best > -np.inf], covariance)


class LogOracle:
    """A batch by a function from rows of scores to rows of log Z."""

    def __init__(self, log_partitions: Callable[[Array], Array]) -> None:
        self.log_partitions = log_partitions

    def answer(self, theta: Array, direction: Array) -> Expected:
        rows = np.tile(theta, (len(theta) + 1, 1))
        rows[np.arange(len(theta)), np.arange(len(theta))] = -np.inf
        found = self.log_partitions(rows)
        total = found[-1]
        if np.isneginf(total):
            return Expected(-np.inf, np.zeros(len(theta)), 0.0)
        marginals = np.clip(-np.expm1(np.minimum(found[:-1] - total, 0)), 0, 1)
        return Expected(float(total), marginals, float(total - expected_score(theta, marginals)))


def flat(parts: dict[str, Array]) -> Array:
    """All clique types in one vector."""
    return np.concatenate([np.asarray(part, dtype=float).ravel() for part in parts.values()])


def unflat(structure: StructureBatch, theta: Array) -> dict[str, Array]:
    """Scores by clique type."""
    ends = np.cumsum([int(np.prod(shape)) for shape in structure.shapes.values()])
    pieces = np.split(theta, ends[:-1])
    return {name: x.reshape(shape) for (name, shape), x in zip(structure.shapes.items(), pieces, strict=True)}


def expected_score(theta: Array, marginals: Array) -> Any:
    """⟨θ, μ⟩, −inf where what is forbidden has a probability."""
    return np.where(marginals > 0, marginals * np.where(marginals > 0, theta, 0), 0).sum()


def check_batch(structure: Any, oracle: Any, theta: Array, rng: np.random.Generator) -> None:
    """Compare all that a batch of one instance offers with the oracle."""
    direction = rng.normal(size=len(theta))
    expected, scores = oracle.answer(theta, direction), unflat(structure, theta)
    if expected.log_partition == -np.inf:
        _refuses(structure, scores)
        return
    size = 1 + np.abs(theta[theta > -np.inf]).max(initial=0) * structure.output_offsets[-1]
    slack = 1e-13 * size + 1e-12
    if isinstance(structure, MaxOracle):
        _check_max(structure, scores, expected, slack)
    if isinstance(structure, SumOracle):
        _check_sums(structure, scores, theta, expected, slack)
    if isinstance(structure, CovarianceOracle) and expected.covariance is not None:
        _close(
            "covariance",
            flat(structure.covariance(scores, unflat(structure, direction))),
            expected.covariance,
            1e4 * slack,
        )
    if isinstance(structure, SampleOracle):
        for y in structure.sample(scores, 4, int(rng.integers(1000))):
            assert np.isfinite(structure.score(scores, y)).all(), "a draw that cannot be"


def _refuses(structure: Any, scores: dict[str, Array]) -> None:
    """Every question about a batch without outputs ends in the same error."""
    questions = [
        name for name in ("argmax", "log_partition", "marginals", "entropy") if hasattr(structure, name)
    ]
    for name in questions:
        try:
            answer = getattr(structure, name)(scores)
        except InfeasibleError:
            continue
        raise AssertionError(f"{name} of a batch without outputs is {answer}")


def _check_max(structure: Any, scores: dict[str, Array], expected: Expected, slack: float) -> None:
    labels, value = structure.argmax(scores)
    _close("score of the argmax", structure.score(scores, labels), value, slack)
    if isinstance(structure, SumOracle):
        assert value[0] <= expected.log_partition + slack, f"max {value[0]} > log Z {expected.log_partition}"
    if expected.best is None:
        return
    _close("max", value, expected.best[0], slack)
    if isinstance(structure, KBestOracle):
        found = structure.kbest(scores, 3).value[0]
        wanted = np.append(expected.best[:3], [-np.inf] * 3)[:3]
        there = wanted > -np.inf
        assert (np.isneginf(found) == ~there).all(), f"k best {found}, not {wanted}"
        _close("k best", found[there], wanted[there], slack)


def _check_sums(
    structure: Any, scores: dict[str, Array], theta: Array, expected: Expected, slack: float
) -> None:
    total, parts = structure.marginals(scores)
    marginals, entropy = flat(parts), structure.entropy(scores)
    _close("log Z", structure.log_partition(scores), expected.log_partition, slack)
    _close("log Z with marginals", total, expected.log_partition, slack)
    _close("marginals", marginals, expected.marginals, 10 * slack)
    assert marginals.min(initial=0) >= 0, f"a probability of {marginals.min()}"
    assert not marginals[np.isneginf(theta)].any(), "what is forbidden has a probability"
    _close("entropy", entropy, expected.entropy, 100 * slack)
    _close("⟨θ, μ⟩ + H", expected_score(theta, marginals) + entropy, expected.log_partition, 100 * slack)


def _close(what: str, found: Any, wanted: Any, slack: float) -> None:
    apart = np.abs(np.asarray(found, dtype=float) - np.asarray(wanted, dtype=float))
    assert (apart <= slack).all(), f"{what}: {np.ravel(found)}, not {np.ravel(wanted)} ± {slack:.1e}"
