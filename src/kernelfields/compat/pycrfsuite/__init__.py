"""python-crfsuite's face: ``from kernelfields.compat import pycrfsuite``."""

from .._base_trainer import BaseTrainer, CRFSuiteError
from .._info import ParsedDump
from .._items import ItemSequence
from .._log_parser import LabelScore, TrainLogParser
from .._tagger import Tagger
from .._talking_trainer import Trainer

CRFSUITE_VERSION = "0.12.2"
"""The version whose ways are followed."""

__all__ = [
    "CRFSUITE_VERSION",
    "BaseTrainer",
    "CRFSuiteError",
    "ItemSequence",
    "LabelScore",
    "ParsedDump",
    "Tagger",
    "TrainLogParser",
    "Trainer",
]
