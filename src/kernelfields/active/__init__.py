"""Active learning: which labels to get next, of whole sequences or of single positions."""

from ._base import Strategy
from .density import InformationDensity
from .disagreement import Disagreement, SampleDisagreement
from .diversity import Determinantal, Diversity, KCenter
from .learner import ActiveLearner, Query
from .pool import LabelPool
from .random_choice import RandomChoice
from .ranking import position_scores, rank_positions, rank_sequences, sequence_scores
from .simulation import LearningCurve, simulate
from .uncertainty import ExpectedError, LogProbability, Margin, SequenceEntropy, TokenEntropy
from .view import PoolView

__all__ = [
    "ActiveLearner",
    "Determinantal",
    "Disagreement",
    "Diversity",
    "ExpectedError",
    "InformationDensity",
    "KCenter",
    "LabelPool",
    "LearningCurve",
    "LogProbability",
    "Margin",
    "PoolView",
    "Query",
    "RandomChoice",
    "SampleDisagreement",
    "SequenceEntropy",
    "Strategy",
    "TokenEntropy",
    "position_scores",
    "rank_positions",
    "rank_sequences",
    "sequence_scores",
    "simulate",
]
