"""What is known about a model after a test."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..arrays import Array
from ..metrics import AnsweredCurve, Confusion, EntityScores, LabelScores, Reliability, SegmentScores
from .guaranteed import GuaranteedAnswers
from .path import TrainingPath


class TestSequences(NamedTuple):
    """The S sequences, trees, graphs or grids of a test, side by side."""

    tokens: list[list[str]]
    """Texts to show, one per position."""
    true: list[list[Hashable]]
    """True labels; None where they were not observed."""
    answers: list[list[Hashable]]
    """Predicted labels, never None."""
    marginals: list[Array]
    """(T, L) p(y_t|x) of every sequence, columns as in ``classes``."""
    classes: list[Hashable]
    """The L labels that the model knows."""
    parents: list[Any] | None = None
    """Of trees, the parent of every position, −1 for roots."""
    edges: list[Array] | None = None
    """Of graphs and grids, pairs of positions that are joined, each once."""
    shapes: list[tuple[int, int]] | None = None
    """Of grids, height and width."""
    noun: str = "sequence"
    """What an item is called."""
    names: list[str] | None = None
    """What every item is called by itself."""

    def name(self, s: int) -> str:
        """Return what an item is called: its name, or its number."""
        return f"{self.noun} {s}" if self.names is None else self.names[s]


class RankedSequence(NamedTuple):
    """A sequence worth a look."""

    sequence: int
    """Its number, counted from 0."""
    length: int
    wrong: int
    """Number of wrong labels."""
    seconds: float | None
    """Time of predicting its marginals by itself; None where it was not taken."""


NOT_PROBABILISTIC = "{} learns no probabilities: those given are a softmax of its scores."


class Timings(NamedTuple):
    """What prediction took, in seconds."""

    predict: float
    """All labels, as one batch."""
    marginals: float
    """All marginals, as one batch."""
    timed: int
    """How many sequences were then timed one by one, the longest first."""


@dataclass(frozen=True)
class Evaluation:
    """All numbers of a test; `as_dict` gives them as plain objects."""

    model: str
    """Name of the estimator's class."""
    probabilistic: bool
    """Whether it learnt probabilities; if not, those judged are a softmax of its scores."""
    sequences: TestSequences
    token_error: float
    """Share of observed positions with a wrong label."""
    sequence_error: float
    """Share of sequences with a wrong label."""
    entities: EntityScores | None
    """Scores of entities; None where labels are not of an IOB scheme, and for all but sequences."""
    labels: LabelScores
    """Scores of every label, over positions."""
    nll: float
    """−Σ_s log p(y_s|x_s) / Σ_s T_s over observed labels; inf where they are impossible for the model."""
    brier: float
    ece: float
    """Expected calibration error."""
    boundary_accuracy: float | None
    """Share of true changes of label found, from position to position or from parent to child; None where
    labels never change, and for graphs."""
    unseen: int
    """Number of positions whose true label is not among the model's."""
    confusion: Confusion
    calibration: Reliability
    answered: AnsweredCurve
    """Error of what is answered at thresholds 0, 0.01, …, 1."""
    threshold: float
    """Where to abstain, one of those thresholds."""
    worst: list[RankedSequence]
    """Most wrong labels first, then least certain first."""
    slowest: list[RankedSequence]
    timings: Timings
    path: TrainingPath | None
    """How training went, where that is known."""
    segments: dict[str, SegmentScores] | None = None
    """Scores of segments by the overlap that counts, "0.1", "0.25" and "0.5"; None for other structures."""
    guaranteed: GuaranteedAnswers | None = None
    """What a guarantee on errors promised, and what came of it; None for models that are not calibrated."""

    @property
    def warning(self) -> str | None:
        """What to think of probabilities that were not learnt."""
        if self.probabilistic:
            return None
        return NOT_PROBABILISTIC.format(self.model)

    @property
    def noun(self) -> str:
        """What an item of the test is called."""
        return self.sequences.noun

    @property
    def n_sequences(self) -> int:
        """S."""
        return len(self.sequences.true)

    @property
    def n_tokens(self) -> int:
        """N = Σ_s T_s."""
        return sum(map(len, self.sequences.true))

    @property
    def n_unobserved(self) -> int:
        """Number of positions without a true label, which are not scored."""
        return sum(labels.count(None) for labels in self.sequences.true)

    @property
    def chosen(self) -> int:
        """Index of the threshold among those of the curve."""
        return int(abs(self.answered.thresholds - self.threshold).argmin())

    def __repr__(self) -> str:
        """Return the few numbers to see first; the sequences alone may have millions of characters."""
        f1 = "" if self.entities is None else f", entity F1 {self.entities.overall.f1:.2%}"
        return (
            f"Evaluation({self.model} on {self.n_tokens:,} positions of {self.n_sequences:,} {self.noun}s: "
            f"token error {self.token_error:.2%}{f1}, −log p per position {self.nll:.4f}, "
            f"calibration error {self.ece:.2%})"
        )

    def _repr_html_(self) -> str:
        """Return what notebooks show."""
        from .result_cards import evaluation_card

        return evaluation_card(self)

    def as_dict(self) -> dict[str, Any]:
        """Return every number as JSON knows it; what is not finite or not known is None."""
        return plain(
            {
                "model": self.model,
                "probabilistic": self.probabilistic,
                "trees": self.sequences.parents is not None,
                "sequences": self.n_sequences,
                "tokens": self.n_tokens,
                "unobserved": self.n_unobserved,
                "token_error": self.token_error,
                "sequence_error": self.sequence_error,
                "entity_f1": self.entities and self.entities.overall.f1,
                "entity_precision": self.entities and self.entities.overall.precision,
                "entity_recall": self.entities and self.entities.overall.recall,
                "nll": self.nll,
                "ece": self.ece,
                "brier": self.brier,
                "boundary_accuracy": self.boundary_accuracy,
                "unseen_labels": self.unseen,
                "threshold": self.threshold,
                "answered": self.answered.answered[self.chosen],
                "answered_error": self.answered.error[self.chosen],
                "guaranteed": self.guaranteed,
                "timings": self.timings,
                "worst": self.worst,
                "slowest": self.slowest,
                "segments": self.segments,
                "entities": self.entities and self.entities.by_type,
                "labels": self.labels,
                "confusion": self.confusion,
                "calibration": self.calibration,
                "curve": self.answered,
                "path": self.path,
            }
        )


def plain(value: Any) -> Any:
    """Named tuples as objects, arrays as lists, other labels as their text."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, (str, int, type(None))) else str(value)
