"""Metrics: how good predicted labels, trees, alignments and probabilities are."""

from typing import TYPE_CHECKING

from ..lazy import lazily
from .confusion import Confusion, confusion

if TYPE_CHECKING:
    from .abstaining import AnsweredCurve, answered_curve
    from .alignments import AlignmentScores, alignment_error_rate, alignment_scores
    from .attachment import AttachmentScores, attachment_scores
    from .boundaries import transition_accuracy
    from .brackets import BracketScores, bracket_scores
    from .calibration import Reliability, brier_score, expected_calibration_error, log_likelihood, reliability
    from .entities import EntityScore, EntityScores, entity_f1, entity_scores, has_entities
    from .scorers import (
        entity_f1_scorer,
        log_likelihood_scorer,
        sequence_accuracy_scorer,
        token_accuracy_scorer,
    )
    from .segmentation import Segment, SegmentScores, segment_scores, segments_of
    from .spans import EntitySpan, entity_spans
    from .tokens import AverageScores, LabelScores, label_scores, sequence_accuracy, token_error
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "abstaining": "AnsweredCurve answered_curve",
            "alignments": "AlignmentScores alignment_error_rate alignment_scores",
            "attachment": "AttachmentScores attachment_scores",
            "boundaries": "transition_accuracy",
            "brackets": "BracketScores bracket_scores",
            "calibration": "Reliability brier_score expected_calibration_error log_likelihood reliability",
            "entities": "EntityScore EntityScores entity_f1 entity_scores has_entities",
            "scorers": (
                "entity_f1_scorer log_likelihood_scorer sequence_accuracy_scorer token_accuracy_scorer"
            ),
            "segmentation": "Segment SegmentScores segment_scores segments_of",
            "spans": "EntitySpan entity_spans",
            "tokens": "AverageScores LabelScores label_scores sequence_accuracy token_error",
        },
    )

__all__ = [
    "AlignmentScores",
    "AnsweredCurve",
    "AttachmentScores",
    "AverageScores",
    "BracketScores",
    "Confusion",
    "EntityScore",
    "EntityScores",
    "EntitySpan",
    "LabelScores",
    "Reliability",
    "Segment",
    "SegmentScores",
    "alignment_error_rate",
    "alignment_scores",
    "answered_curve",
    "attachment_scores",
    "bracket_scores",
    "brier_score",
    "confusion",
    "entity_f1",
    "entity_f1_scorer",
    "entity_scores",
    "entity_spans",
    "expected_calibration_error",
    "has_entities",
    "label_scores",
    "log_likelihood",
    "log_likelihood_scorer",
    "reliability",
    "segment_scores",
    "segments_of",
    "sequence_accuracy",
    "sequence_accuracy_scorer",
    "token_accuracy_scorer",
    "token_error",
    "transition_accuracy",
]
