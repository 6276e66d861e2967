"""What a calibrated model promised, and what came of it in a test."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from ..guarantees import Guarantee
from ..metrics import entity_spans
from ..models.calibration import ENTITIES

ERROR_AT_MOST, CONFIDENCE = 0.05, 0.95


class GuaranteedAnswers(NamedTuple):
    """A guarantee on errors, and the answers to a test that it allowed."""

    error_at_most: float
    """α."""
    confidence: float
    """1 − δ."""
    units: str
    """What an answer is: "positions" or "entities"."""
    per_label: bool
    """Whether it holds for every label, or type of entity, by itself."""
    holds: bool
    """Whether any threshold was proved."""
    n_calibration: int
    """Sequences that calibrated the model."""
    answered: float
    """Share of the test that was answered."""
    error: float
    """Share of those answers that are wrong; NaN where there is none."""

    @property
    def sentence(self) -> str:
        """Say what is promised, and what came of it."""
        each = f" of each {'type' if self.units == ENTITIES else 'label'}" if self.per_label else ""
        promise = f"at most {_percent(self.error_at_most)} of those{each}"
        sure = f"with confidence {_percent(self.confidence)}"
        if not self.holds:
            return f"Answers nothing: errors on {promise} could not be guaranteed {sure}."
        here = "none was wrong" if self.error == 0 else f"{_percent(self.error)} of them were wrong"
        return (
            f"Answers {_percent(self.answered)} of the {self.units} and errs on {promise}, {sure}; "
            f"here {here}."
        )


def _percent(share: float) -> str:
    return f"{100 * share:.3g}\N{NO-BREAK SPACE}%"


def judge_guarantee(
    labeller: Any,
    X: Any,
    true: list[list[Hashable]],
    answers: list[list[Hashable]],
    error_at_most: float | None,
    confidence: float | None,
) -> GuaranteedAnswers | None:
    """Return what a guarantee did to a test; None if none was asked for and there is none."""
    record = getattr(labeller, "calibration_", None)
    if record is None:
        if error_at_most is None and confidence is None:
            return None
        raise InputError("error_at_most needs a calibrated model; call calibrate with held-out data first.")
    alpha = ERROR_AT_MOST if error_at_most is None else error_at_most
    sure = CONFIDENCE if confidence is None else confidence
    guarantees: dict[Hashable, Guarantee] = labeller.guarantees(alpha, sure)
    holds = any(one.holds for one in guarantees.values())
    counts = (0, 0, 1)
    if holds:
        given = labeller.predict(X, error_at_most=guarantees)
        flat = [one.ravel().tolist() if isinstance(one, np.ndarray) else one for one in given]
        counts = (_entities if record.units == ENTITIES else _positions)(true, answers, flat)
    answered, wrong, every = counts
    return GuaranteedAnswers(
        alpha,
        sure,
        record.units,
        record.per_label,
        holds,
        record.answers.n_sequences,
        answered / max(every, 1),
        wrong / answered if answered else float("nan"),
    )


def _positions(true: Any, answers: Any, given: Any) -> tuple[int, int, int]:
    """Return how many labels are given, wrong, and observed."""
    pairs = [
        (y, label)
        for labels, ours in zip(true, given, strict=True)
        for y, label in zip(labels, ours, strict=True)
        if y is not None
    ]
    answered = [(y, label) for y, label in pairs if label is not None]
    return len(answered), sum(y != label for y, label in answered), len(pairs)


def _entities(true: Any, answers: Any, given: Any) -> tuple[int, int, int]:
    """Return how many entities are given, wrong, and predicted at all."""
    right = [set(spans) for spans in entity_spans(true)]
    found = entity_spans(given)
    wrong = sum(span not in known for spans, known in zip(found, right, strict=True) for span in spans)
    return sum(map(len, found)), wrong, sum(map(len, entity_spans(answers)))
