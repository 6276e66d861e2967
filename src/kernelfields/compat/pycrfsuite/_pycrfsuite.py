"""What programs import from python-crfsuite's module of this name."""

from . import CRFSUITE_VERSION, BaseTrainer, CRFSuiteError, ItemSequence, Tagger, Trainer

__all__ = ["CRFSUITE_VERSION", "BaseTrainer", "CRFSuiteError", "ItemSequence", "Tagger", "Trainer"]
