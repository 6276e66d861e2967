"""How extractors show themselves, also inside estimators and ``kf inspect``."""

from __future__ import annotations

import numpy as np

from kernelfields import CRF
from kernelfields.features import DictFeatures, TemplateFeatures
from kernelfields.features.sets import chunking


def test_reprs_are_short_and_say_the_settings():
    features = TemplateFeatures(chunking(), min_count=2, dtype=np.float32)
    templates = "Templates(columns w, pos: w[-2], w[-1], w[0], … 19 in all)"
    assert repr(features) == f"TemplateFeatures({templates}, min_count=2, dtype='float32')"
    assert repr(TemplateFeatures("columns: w\nw[0]")) == "TemplateFeatures(Templates(columns w: w[0]))"
    assert repr(DictFeatures(3, by_frequency=False)) == "DictFeatures(min_count=3, by_frequency=False)"
    assert " at 0x" not in repr(CRF(features=features))
