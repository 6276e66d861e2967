"""`check_structure` notices arrays of other shapes or types than estimators rely on."""

import numpy as np
import pytest

from kernelfields.structures import ChainBatch, Labelling, Marginals
from kernelfields.testing import check_structure


class Double(ChainBatch):
    def marginals(self, scores, weights=None):
        value, parts = super().marginals(scores, weights)
        return Marginals(value, {name: part.astype(np.float64) for name, part in parts.items()})


class Flat(ChainBatch):
    def entropy(self, scores):
        return super().entropy(scores)[:, None]


class Floats(ChainBatch):
    def argmax(self, scores):
        labels, value = super().argmax(scores)
        return Labelling(labels.astype(float), value)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Double, "node marginals: float64, expected float32"),
        (Flat, r"entropy: shape \(2, 1\), expected \(2,\)"),
        (Floats, "outputs of argmax: float64, expected integer"),
    ],
)
def test_wrong_arrays_are_noticed(kind, words, rng):
    chain = kind([0, 3, 4], n_labels=2)
    scores = {name: rng.normal(size=shape) for name, shape in chain.shapes.items()}
    with pytest.raises(AssertionError, match=words):
        check_structure(chain, scores)
