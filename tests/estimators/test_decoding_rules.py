"""Rules hold for every decoder, by whatever way it comes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import kernelfields as kf
from kernelfields.constraints import IOB2
from kernelfields.decoders import Abstain, Posterior
from kernelfields.errors import InputError

LABELS = ["B-x", "I-x", "O"]


@pytest.fixture(scope="module")
def data() -> tuple[list[Any], list[list[str]]]:
    """Sequences that hardly tell inside from outside, so that labels one by one break rules."""
    rng = np.random.default_rng(3)
    X, y = [], []
    for _ in range(40):
        labels = ["O"]
        for _ in range(9):
            after = LABELS if labels[-1] != "O" else ["B-x", "O"]
            labels.append(str(rng.choice(after)))
        X.append(np.eye(3)[[LABELS.index(k) for k in labels]] + 1.5 * rng.normal(size=(10, 3)))
        y.append(labels)
    return X, y


MODELS = [
    kf.CRF(0.1, constraints="iob2"),
    kf.HMM("gaussian", constraints="iob2"),
    kf.MEMM(constraints="iob2"),
    kf.SequenceAdaBoost(50, constraints="iob2"),
    kf.ClassifierMarkovModel(kf.KernelLogisticRegression("linear"), kind="pmm", constraints="iob2"),
    kf.KernelCRF("linear", constraints="iob2"),
    kf.StructuredPerceptron(constraints="iob2", random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_no_decoder_breaks_a_rule(model: Any, data: Any) -> None:
    X, y = data
    model.fit(X[:20], y[:20])
    for how in (
        {"decoder": "posterior"},
        {"decoder": Abstain(Posterior(), 0.0)},
        {"decoder": "posterior", "abstain": 0.0},
        {"decoder": Abstain(Abstain(Posterior(), 0.0), 0.0)},
    ):
        assert IOB2.obeyed_by(model.predict(X, **how))
    wrapped = type(model)(**{**model.get_params(deep=False), "decoder": Abstain(Posterior(), 0.0)})
    assert IOB2.obeyed_by(wrapped.fit(X[:20], y[:20]).predict(X))


def test_zeros_of_an_hmm_are_rules(data: Any) -> None:
    X, y = data
    transitions = np.array([[0.3, 0.3, 0.4], [0.3, 0.3, 0.4], [0.5, 0.0, 0.5]])
    model = kf.HMM("gaussian", transitions=transitions, start=[0.5, 0.0, 0.5], pseudocount=0.0)
    model.fit(X[:20], y[:20])
    labels = [model.predict([x], decoder="posterior")[0] for x in X]
    assert all(pair != ("O", "I-x") for one in labels for pair in pairwise(one))


@pytest.mark.parametrize("abstain", [2, -0.1, float("nan"), "half", True])
def test_abstain_is_a_probability(abstain: Any, data: Any) -> None:
    model = kf.CRF().fit(*data)
    with pytest.raises(InputError, match=r"^abstain is .*; it must be a number from 0 to 1"):
        model.predict(data[0], abstain=abstain)


@pytest.mark.parametrize("number", [-1, 2.5, "3", None, [3], True, float("nan"), 10**30])
def test_numbers_of_labellings(number: Any, data: Any) -> None:
    model = kf.CRF().fit(*data)
    for bad in (number, 0):
        with pytest.raises(InputError, match=r"^k is .*; it must be a whole number from 1 "):
            model.predict_kbest(data[0], bad)
    with pytest.raises(InputError, match=r"^n is .*; it must be a whole number from 0 "):
        model.sample(data[0], number)


def test_huge_numbers_of_labellings(data: Any) -> None:
    model = kf.CRF().fit(*data)
    assert len(model.predict_kbest([data[0][0][:2]], 2**62)[0]) == 9
    with pytest.raises(InputError, match="n=4611686018427387904 would take"):
        model.sample(data[0], 2**62)
    assert model.sample(data[0], 0) == []
