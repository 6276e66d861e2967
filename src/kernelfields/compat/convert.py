"""From files of other programs to model files of ours."""

from __future__ import annotations

import os

from ..estimators import CRF
from ..io.crfsuite import read_crfsuite
from .crfsuite.models import converted
from .crfsuite.storage import save


def convert_model(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> CRF:
    """Read a model that CRFsuite wrote, write it as a model file, and give it: a fitted `CRF`."""
    model = converted(read_crfsuite(source))
    save(model, target)
    return model
