"""What programs import from python-crfsuite's module of this name."""

from .._log_parser import LabelScore, TrainLogParser

__all__ = ["LabelScore", "TrainLogParser"]
