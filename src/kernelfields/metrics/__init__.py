"""Metrics: how good predicted labels and probabilities are."""

from .abstaining import AnsweredCurve, answered_curve
from .boundaries import transition_accuracy
from .calibration import Reliability, brier_score, expected_calibration_error, log_likelihood, reliability
from .confusion import Confusion, confusion
from .entities import EntityScore, EntityScores, entity_f1, entity_scores, has_entities
from .scorers import (
    entity_f1_scorer,
    log_likelihood_scorer,
    sequence_accuracy_scorer,
    token_accuracy_scorer,
)
from .tokens import AverageScores, LabelScores, label_scores, sequence_accuracy, token_error

__all__ = [
    "AnsweredCurve",
    "AverageScores",
    "Confusion",
    "EntityScore",
    "EntityScores",
    "LabelScores",
    "Reliability",
    "answered_curve",
    "brier_score",
    "confusion",
    "entity_f1",
    "entity_f1_scorer",
    "entity_scores",
    "expected_calibration_error",
    "has_entities",
    "label_scores",
    "log_likelihood",
    "log_likelihood_scorer",
    "reliability",
    "sequence_accuracy",
    "sequence_accuracy_scorer",
    "token_accuracy_scorer",
    "token_error",
    "transition_accuracy",
]
