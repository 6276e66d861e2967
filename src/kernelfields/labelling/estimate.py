"""How often the model is wrong, on sequences that it has not learnt from, and what can be promised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..guarantees import JudgedAnswers, learn_threshold
from .learner import LabelGuess, errors_of, joined_offsets
from .tags import Tag

RECENT = 20
"""Sequences whose errors, before they were learnt from, make an estimate."""
HELD_OUT, BEFOREHAND = "held out", "beforehand"


@dataclass(frozen=True)
class ErrorEstimate:
    """Errors of a model at one time."""

    labelled: int
    """Sequences that were accepted by then."""
    how: str
    """Where errors were counted: in sequences "held out" for that, drawn at random and never learnt from; or
    in the last that were asked for, each "beforehand", which are harder than others."""
    sequences: int
    """In how many sequences."""
    wrong: int
    """Labels that were wrong."""
    of: int
    """Labels that were looked at."""
    low: float
    """Lower end of an interval of 90 % for the share of errors, by resampling sequences."""
    high: float
    """Upper end."""
    answered: float | None = None
    """Share of labels that can be answered with the promise; None if nothing can be promised."""
    error_at_most: float | None = None
    """The promise: a larger share of those is wrong only with a probability of 1 − confidence."""
    confidence: float | None = None
    threshold: float | None = None
    """Answers are those at least so probable."""
    limit: int | None = None
    """And at most so many of one sequence, the most probable ones."""

    @property
    def error(self) -> float:
        """Share of labels that are wrong."""
        return self.wrong / self.of if self.of else 0.0

    def entry(self) -> dict[str, Any]:
        """Return it as an event of a journal."""
        return {"do": "point", **asdict(self)}


def estimate_held_out(
    labelled: int,
    guesses: Sequence[LabelGuess],
    truth: Sequence[Sequence[Tag]],
    error_at_most: float,
    confidence: float,
) -> ErrorEstimate:
    """Return the errors in held-out sequences, and what they prove."""
    pairs = [errors_of(guess, one) for guess, one in zip(guesses, truth, strict=True)]
    whole = [k for k, one in enumerate(truth) if None not in one]
    found = learn_threshold(
        judged([guesses[k] for k in whole], [truth[k] for k in whole]), error_at_most, confidence
    )
    promise: dict[str, Any] = (
        {
            "answered": found.answered,
            "error_at_most": error_at_most,
            "confidence": confidence,
            "threshold": found.threshold.least,
            "limit": found.threshold.limit,
        }
        if found.holds
        else {}
    )
    return ErrorEstimate(labelled, HELD_OUT, len(pairs), *_counted(pairs), **promise)


def estimate_beforehand(labelled: int, before: Sequence[tuple[int, int]]) -> ErrorEstimate:
    """Return the errors in the last sequences, each before it was learnt from."""
    recent = before[-RECENT:]
    return ErrorEstimate(labelled, BEFOREHAND, len(recent), *_counted(recent))


def judged(guesses: Sequence[LabelGuess], truth: Sequence[Sequence[Tag]]) -> JudgedAnswers:
    """Return every label as an answer that is right or wrong."""
    wrong = [
        mine != one
        for guess, tags in zip(guesses, truth, strict=True)
        for mine, one in zip(guess.tags, tags, strict=True)
    ]
    sure = np.concatenate([np.zeros(0), *(guess.probability for guess in guesses)])
    kinds = np.zeros(len(wrong), dtype=np.int64)
    return JudgedAnswers(sure, np.array(wrong, dtype=bool), kinds, joined_offsets(guesses))


def _counted(pairs: Sequence[tuple[int, int]]) -> tuple[int, int, float, float]:
    """Return errors, of how many, and the interval: positions of one sequence are not independent."""
    counts = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    wrong, of = counts.sum(axis=0)
    if not of:
        return 0, 0, 0.0, 1.0
    draws = np.random.default_rng(0).integers(0, len(counts), (400, len(counts)))
    sums = counts[draws].sum(axis=1)
    shares = sums[:, 0] / np.maximum(sums[:, 1], 1)
    low, high = np.quantile(shares, [0.05, 0.95])
    return int(wrong), int(of), float(low), float(high)
