"""Test a fitted model of trees or alignments."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from ..metrics.abstaining import answered_by
from ..metrics.calibration import calibration_gap, reliability_of
from ..models.scaling import has_probabilities
from ..structures import Matching
from .evaluation import RankedSequence, Timings
from .parse_evaluation import Answers, ParseEvaluation, ParseWords, PartScores
from .path import path_of
from .ranking import COUNT

THRESHOLDS = np.arange(101) / 100


class JudgedParses(NamedTuple):
    """What one kind of structure knows of its answers."""

    structure: str
    words: ParseWords
    sizes: list[int]
    """Words of every item."""
    scores: dict[str, float | None]
    log_loss: float | None
    answers: Answers
    wrong: list[int]
    """Errors of every item."""
    by_label: list[PartScores]
    draw: Callable[[int], str | None]


class Predictions(NamedTuple):
    """What a model says about test items."""

    outputs: list[Any]
    marginals: list[Any] | None
    """None of models that have no probabilities."""
    timings: Timings

    @classmethod
    def of(cls, labeller: Any, structure: Any, inputs: list[Any]) -> Predictions:
        """Ask a model."""
        started = time.perf_counter()
        outputs = list(labeller.predict(inputs))
        between = time.perf_counter()
        marginals = marginals_of(labeller, structure, inputs)
        ended = time.perf_counter()
        return cls(outputs, marginals, Timings(between - started, ended - between, 0))


def marginals_of(labeller: Any, structure: Any, inputs: list[Any]) -> list[Any] | None:
    """Return the probabilities of parts; None where sums over matchings are not approximated."""
    if isinstance(structure, Matching) and structure.inference is None:
        return None
    return list(labeller.predict_marginals(inputs))


def parse_evaluation(
    name: str,
    labeller: Any,
    test: JudgedParses,
    timings: Timings,
    threshold: float,
    path: Iterable[Any] | None,
) -> ParseEvaluation:
    """Return all numbers of a test."""
    confidence, right, items = test.answers
    table = reliability_of(confidence, right)
    least = np.ones(len(test.sizes))
    np.minimum.at(least, items, confidence)
    order = sorted(range(len(test.sizes)), key=lambda s: (-test.wrong[s], float(least[s]), s))
    return ParseEvaluation(
        model=name,
        structure=test.structure,
        probabilistic=has_probabilities(labeller),
        words=test.words,
        n_items=len(test.sizes),
        n_words=sum(test.sizes),
        scores=test.scores,
        log_loss=test.log_loss,
        ece=calibration_gap(table) if len(confidence) else None,
        calibration=table,
        answered=answered_by(confidence, ~right, THRESHOLDS),
        threshold=float(THRESHOLDS[abs(THRESHOLDS - threshold).argmin()]),
        by_label=test.by_label,
        wrong=test.wrong,
        worst=[RankedSequence(s, test.sizes[s], test.wrong[s], None) for s in order[:COUNT]],
        timings=timings,
        path=path_of(labeller, path),
        draw=test.draw,
        order=order,
    )


def part_scores(true: Counter[Any], predicted: Counter[Any], right: Counter[Any]) -> list[PartScores]:
    """Return precision, recall and F1 by label, the most frequent labels first."""

    def share(part: int, whole: int) -> float:
        return part / whole if whole else 0.0

    labels = sorted({*true, *predicted}, key=lambda label: (-true[label], str(label)))
    return [
        PartScores(
            str(label),
            share(right[label], predicted[label]),
            share(right[label], true[label]),
            share(2 * right[label], true[label] + predicted[label]),
            true[label],
        )
        for label in labels
    ]
