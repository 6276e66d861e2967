"""Probabilities of entities are sums over all labellings that have them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from kernelfields import CRF, KernelCRF
from kernelfields.errors import InputError
from kernelfields.metrics import entity_spans
from kernelfields.models import answer_units

LABELS = ["B-X", "I-X", "B-Y", "O"]


def data(seed: int) -> tuple[list[np.ndarray], list[list[str]]]:
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(length, 3)) for length in (4, 1, 3, 5, 2, 4)]
    y = [[LABELS[k] for k in rng.integers(4, size=len(x))] for x in X]
    y[0] = ["B-X", "I-X", "B-Y", "O"]
    return X, y


@pytest.mark.parametrize("make", [lambda: CRF(penalty=0.5), lambda: KernelCRF(penalty=0.5)])
def test_they_are_sums_over_labellings(make: Any) -> None:
    X, y = data(0)
    model = make().fit(X, y)
    found = model.entity_probabilities(X, y)
    assert [len(one) for one in found] == [len(one) for one in entity_spans(y)]
    for x, labels, each in zip(X, y, found, strict=True):
        every = [list(one) for one in product(LABELS, repeat=len(x))]
        log_proba = model.sequence_log_proba([x] * len(every), every)
        for span, probability in zip(entity_spans([labels])[0], each, strict=True):
            same = [
                span in entity_spans([other])[0]
                and other[span.start : span.stop] == labels[span.start : span.stop]
                for other in every
            ]
            assert probability == pytest.approx(np.exp(log_proba)[same].sum(), abs=1e-9)


def test_what_is_known_counts() -> None:
    X, y = data(1)
    model = CRF(penalty=0.5).fit(X, y)
    sure = model.entity_probabilities(X, y, allowed=y)
    assert all(one == pytest.approx(1) for each in sure for one in each)


def test_open_labels_are_no_entities() -> None:
    X, y = data(0)
    model = CRF(penalty=0.5).fit(X, y)
    open_labels = [[None] * len(one) for one in y]
    assert [len(one) for one in model.entity_probabilities(X, open_labels)] == [0] * len(X)


def test_refusals() -> None:
    X, y = data(0)
    model = CRF(penalty=0.5).fit(X, y)
    with pytest.raises(InputError, match="y has labels that training did not have"):
        model.entity_probabilities(X[:1], [["B-Z", "O", "O", "O"]])
    plain = CRF(penalty=0.5).fit(X, [["a" if k == "O" else "b" for k in one] for one in y])
    with pytest.raises(InputError, match="name no entities"):
        plain.entity_probabilities(X, y)


def test_chains_are_swept_once_however_many_entities_they_have(monkeypatch):
    """All entities come from one forward-backward pass: no batch of a copy of the sequence for each."""
    X = [np.random.default_rng(s).normal(size=(n, 2)) for s, n in enumerate((1, 6, 40))]
    y = [["B-x"], ["O", "B-x", "I-x", "B-x", "I-x", "O"], ["O", "B-x", "I-x", "I-x"] * 10]
    model = CRF(0.1).fit(X, y)
    swept = model.entity_probabilities(X, y)
    monkeypatch.setattr(answer_units, "ChainBatch", ())  # what other structures do, one sum per entity
    for mine, other in zip(swept, model.entity_probabilities(X, y), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-9)
    monkeypatch.undo()
    monkeypatch.setattr(answer_units, "_constrained", None)
    model.entity_probabilities(X, y)
