"""Which thresholds are worth a test, from strict to lax, seen on sequences that no test has."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ._base import Gains, MeanTest
from .answers import JudgedAnswers, ranks
from .threshold import gains_of

PLANNED = 0.15
"""Share of a calibration set that plans the tests."""
STEPS = 200
"""Thresholds, at equal steps of the share that is answered."""
COARSE = 4
"""Of which every one so many is tried when limits are compared."""
EASE = 1.5
"""How much more evidence than enough there should be at the first threshold."""
NEAR = 0.8
"""Share of the most evidence that is enough where there is less than that."""
SHARES = (0.8, 0.9, 0.95, 0.98, 0.99, 1.0)
"""Shares of sequences that have no more answers than a limit that is tried."""


class Path(NamedTuple):
    """The thresholds to test."""

    levels: Array
    """λ, falling: from the one that is passed most surely."""
    limit: int
    """M."""


def plan(
    answers: JudgedAnswers, alpha: float, level: float, n: int, test: MeanTest, rng: np.random.Generator
) -> Path | None:
    """Return what n further sequences should test; None where there is no answer to learn from.

    For every limit M, the test is tried on n sequences that are drawn with replacement from those at hand;
    the limit is the one with which most is answered. The path begins at the strictest threshold that should
    be passed with ease, and goes on until everything is answered.
    """
    if len(answers.confidence) == 0:
        return None
    grid = _grid(answers, STEPS)
    drawn = rng.integers(answers.n_sequences, size=n)
    places = ranks(answers.confidence, answers.offsets)
    best, path = (-1.0, -1.0), None
    for limit in limits_of(np.diff(answers.offsets)):
        gains = gains_of(answers, places, grid, limit, alpha)
        start = _start(gains, alpha, limit, test, -np.log(level), n)
        tried = Gains(gains[start::COARSE, drawn], -(1 - alpha) * limit, alpha * limit)
        p_values = test.p_values(tried, level, gains[start::COARSE])
        passed = int(np.argmax([*(p_values > level), True]))
        least = grid[start::COARSE][passed - 1] if passed else np.inf
        found = float(np.minimum(_answered(answers, least), limit).sum()), -float(p_values[0])
        if found >= best:
            best, path = found, Path(grid[start:], limit)
    return path


def _grid(answers: JudgedAnswers, steps: int) -> Array:
    """Return thresholds at equal steps of the share that is answered, falling, and 0 at the end."""
    shares = np.linspace(0, 1, steps)
    return np.append(np.unique(np.quantile(answers.confidence, shares, method="higher"))[::-1], 0.0)


def limits_of(sizes: Array) -> list[int]:
    """Return the limits of answers per sequence to try, rising; larger sequences may come."""
    found = {max(int(np.quantile(sizes, share, method="higher")), 1) for share in SHARES}
    return sorted({*found, 2 * max(found)})


def _start(gains: Array, alpha: float, limit: int, test: MeanTest, needed: float, n: int) -> int:
    """Return the first row with more evidence than is needed; if there is none, with nearly the most.

    One more sequence that has one answer, a wrong one, is added: else few answers that happen to be right
    would look too good.
    """
    wrong = np.full((len(gains), 1), alpha - 1)
    more = Gains(np.concatenate([gains, wrong], axis=1), -(1 - alpha) * limit, alpha * limit)
    evidence = test.evidence(more, n)
    return int(np.argmax(evidence >= min(EASE * needed, NEAR * evidence.max())))


def _answered(answers: JudgedAnswers, least: float) -> Array:
    """Return how many answers each sequence has from a threshold on."""
    numbers = answers.sequence_numbers()[answers.confidence >= least]
    return np.bincount(numbers, minlength=answers.n_sequences)
