"""Models of segments are judged by their segments, too."""

import numpy as np
import pytest

from kernelfields import CRF
from kernelfields.metrics import segment_scores
from kernelfields.report import evaluate
from kernelfields.report.page import page

rng = np.random.default_rng(0)
Y = [np.repeat(["a", "b", "a"], rng.integers(2, 6, size=3)).tolist() for _ in range(12)]
X = [np.array([[float(label == "a")] for label in y]) + rng.normal(scale=0.7, size=(len(y), 1)) for y in Y]


@pytest.mark.parametrize("structure", ["segments", "chain"])
def test_segments_are_scored_where_they_are_modelled(structure):
    model = CRF(structure=structure).fit(X, Y)
    found = evaluate(model, X, Y)
    if structure == "chain":
        assert found.segments is None
        assert "segment F1" not in page(found)
        return
    assert list(found.segments) == ["0.1", "0.25", "0.5"]
    for least, scores in found.segments.items():
        assert scores == segment_scores(Y, model.predict(X), float(least))
    assert 0 < found.segments["0.5"].f1 < found.segments["0.1"].f1 <= 1
    assert "segment F1 at 25 %" in page(found)
    assert found.as_dict()["segments"]["0.5"]["f1"] == found.segments["0.5"].f1
