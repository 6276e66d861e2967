"""python-crfsuite's face: ``from kernelfields.compat import pycrfsuite``."""

from ..crfsuite.items import ItemSequence
from ._logparser import LabelScore, TrainLogParser
from .base_trainer import BaseTrainer, CRFSuiteError
from .info import ParsedDump
from .tagger import Tagger
from .trainer import Trainer

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
