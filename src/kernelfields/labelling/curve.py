"""The curve of errors: what the model did to sequences it had not learnt from, as more were labelled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..guarantees import JudgedAnswers, learn_threshold
from .changes import Entry
from .learner import LabelGuess, LabelLearner, errors_of, joined_offsets
from .questions import Questions
from .session import Session
from .settings import DeskSettings
from .tags import Tag


class ErrorCurve:
    """Counts the errors of models.

    Where some sequences are held out, errors are counted in those of them that were labelled, by each new
    model again; otherwise in the last sequences, each before it was learnt from.
    """

    def __init__(
        self, session: Session, questions: Questions, learner: LabelLearner, settings: DeskSettings
    ) -> None:
        self.session, self.questions, self.learner, self.settings = session, questions, learner, settings

    def counting(self) -> Callable[[Any], ErrorEstimate | None]:
        """Return how to count the errors of a model in what is labelled now; nothing is locked meanwhile."""
        sheets, labelled = self.session.sheets, self.session.n_done
        checks = [k for k in self.questions.checks if sheets[k].done]
        truth = [sheets[k].tags for k in checks]
        before = list(self.session.before)
        promise = self.settings.error_at_most, self.settings.confidence

        def count(model: Any) -> ErrorEstimate | None:
            if checks:
                return estimate_held_out(labelled, self.learner.guesses(model, checks), truth, *promise)
            if before and not self.questions.checks:
                return estimate_beforehand(labelled, before)
            return None

        return count

    def points(self) -> list[Entry]:
        """Return the errors by the number of accepted sequences, the last found for each."""
        latest = {point["labelled"]: point for point in self.session.points}
        return [latest[n] for n in sorted(latest) if n <= self.session.n_done]


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
