"""What is known about a model of trees or alignments after a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..arrays import Array
from ..metrics import AnsweredCurve, Reliability
from .evaluation import NOT_PROBABILISTIC, RankedSequence, Timings, plain
from .path import TrainingPath


class Answers(NamedTuple):
    """All parts of all answers: arcs, phrases or links."""

    confidence: Array
    """(N,) their probabilities."""
    right: Array
    """(N,) whether they are true."""
    items: Array
    """(N,) the numbers of the sentences they belong to."""


class PartScores(NamedTuple):
    """Scores of the arcs or phrases with one label; a quotient 0/0 is 0."""

    label: str
    precision: float
    recall: float
    f1: float
    n_true: int


class ParseWords(NamedTuple):
    """What items and the parts of an answer are called."""

    item: str
    part: str
    scores: Mapping[str, tuple[str, str]]
    """The name of every score and what it means; of these the first is the one to see first."""


@dataclass(frozen=True)
class ParseEvaluation:
    """All numbers of a test; `as_dict` gives them as plain objects."""

    model: str
    """Name of the estimator's class."""
    structure: str
    """"dependency", "constituency" or "matching"."""
    probabilistic: bool
    """Whether it learnt probabilities; if not, those judged are a softmax of its scores."""
    words: ParseWords
    n_items: int
    n_words: int
    scores: dict[str, float | None]
    """By name; None where the data do not have what a score needs."""
    log_loss: float | None
    """−log probability of what is true, per word; None where that is not defined."""
    ece: float | None
    """Expected calibration error of the parts of answers; None if there are none."""
    calibration: Reliability
    answered: AnsweredCurve
    """Error of the parts that are answered at thresholds 0, 0.01, …, 1."""
    threshold: float
    by_label: list[PartScores]
    """Most frequent labels first."""
    wrong: list[int]
    """Number of errors of every item."""
    worst: list[RankedSequence]
    """Most errors first, then least certain first."""
    timings: Timings
    path: TrainingPath | None
    draw: Callable[[int], str | None] = field(repr=False, compare=False)
    """Draws an item as SVG; None if it is too large."""
    order: list[int] = field(repr=False)
    """Numbers of items: most errors first, then least certain first."""

    @property
    def warning(self) -> str | None:
        """What to think of probabilities that were not learnt."""
        return None if self.probabilistic else NOT_PROBABILISTIC.format(self.model)

    @property
    def noun(self) -> str:
        """What an item of the test is called."""
        return self.words.item

    @property
    def n_answers(self) -> int:
        """Number of arcs, phrases or links that were answered."""
        return int(self.calibration.support.sum())

    @property
    def chosen(self) -> int:
        """Index of the threshold among those of the curve."""
        return int(abs(self.answered.thresholds - self.threshold).argmin())

    def __repr__(self) -> str:
        """Return the few numbers to see first."""
        shown = [f"{self.words.scores[name][0]} {value:.2%}" for name, value in self.known_scores.items()]
        shown += [] if self.ece is None else [f"calibration error {self.ece:.2%}"]
        return f"ParseEvaluation({self.model} on {self.n_items:,} {self.noun}s: {', '.join(shown)})"

    @property
    def known_scores(self) -> dict[str, float]:
        """The scores that have a value."""
        return {name: value for name, value in self.scores.items() if value is not None}

    def as_dict(self) -> dict[str, Any]:
        """Return every number as JSON knows it; what is not finite or not known is None."""
        result: dict[str, Any] = plain(
            {
                "model": self.model,
                "structure": self.structure,
                "probabilistic": self.probabilistic,
                "sentences": self.n_items,
                "tokens": self.n_words,
                "answers": self.n_answers,
                **self.scores,
                "log_loss": self.log_loss,
                "ece": self.ece,
                "threshold": self.threshold,
                "answered": self.answered.answered[self.chosen],
                "answered_error": self.answered.error[self.chosen],
                "timings": self.timings,
                "worst": self.worst,
                "labels": self.by_label,
                "calibration": self.calibration,
                "curve": self.answered,
                "path": self.path,
            }
        )
        return result
