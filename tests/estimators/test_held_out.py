"""Held-out sequences: judged by the model itself, rules included, and never ignored."""

from __future__ import annotations

import numpy as np
import pytest

from kernelfields import (
    AROW,
    CRF,
    BoostedCRF,
    GPSequenceClassifier,
    KernelCRF,
    PassiveAggressive,
    Run,
    StochasticCRF,
    StructuredPerceptron,
)
from kernelfields.errors import InputError
from kernelfields.fitting.observers import EarlyStopping
from kernelfields.losses import Log
from kernelfields.selection import GreedyCliques

ALL = [
    CRF,
    KernelCRF,
    lambda: KernelCRF(basis=GreedyCliques()),
    GPSequenceClassifier,
    BoostedCRF,
    StructuredPerceptron,
    PassiveAggressive,
    AROW,
    StochasticCRF,
]


def tagged(rng, count):
    """Noisy tags that obey IOB2: rules say much that features do not."""
    X, y = [], []
    for length in rng.integers(2, 9, size=count):
        state, row = "O", []
        for _ in range(length):
            state = rng.choice(["O", "B-x", "I-x"] if state != "O" else ["O", "B-x"])
            row.append(str(state))
        code = np.array([["O", "B-x", "I-x"].index(tag) for tag in row])
        X.append(np.eye(3)[code] + rng.normal(size=(length, 3)))
        y.append(row)
    return X, y


@pytest.mark.parametrize(
    "make",
    [
        lambda **more: CRF(1e-4, constraints="iob2", tol=1e-9, run=Run(patience=2), **more),
        lambda **more: CRF(
            1e-4, constraints="iob2", tol=1e-9, run=Run(patience=2), structure="chain2", **more
        ),
        lambda **more: KernelCRF(penalty=1e-4, constraints="iob2", tol=1e-9, run=Run(patience=2), **more),
    ],
    ids=["crf", "crf-order-2", "kernel-crf"],
)
def test_early_stopping_knows_the_rules(make, rng):
    X, y = tagged(rng, 20)
    X_dev, y_dev = tagged(rng, 20)
    seen = []

    class Watching(EarlyStopping):
        def __call__(self, progress, point):
            answer = super().__call__(progress, point)
            seen.append(self.losses[-1])
            return answer

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kernelfields.models.fit.steps.EarlyStopping", Watching)
        model = make().fit(X, y, X_dev=X_dev, y_dev=y_dev)
    own = -model.sequence_log_proba(X_dev, y_dev).sum()
    assert min(seen) == pytest.approx(own, rel=1e-4)


@pytest.mark.parametrize("make", ALL)
def test_one_without_the_other_is_refused(make, rng):
    X, y = tagged(rng, 12)
    with pytest.raises(InputError, match="X_dev comes without y_dev"):
        make().fit(X, y, X_dev=X)
    with pytest.raises(InputError, match="y_dev comes without X_dev"):
        make().fit(X, y, y_dev=y)
    for nothing in ([], [np.zeros((0, 3))]):
        with pytest.raises(InputError, match="no position with a label"):
            make().fit(X, y, X_dev=nothing, y_dev=[[] for _ in nothing])


@pytest.mark.parametrize("make", ALL)
def test_missing_labels_held_out(make, rng):
    X, y = tagged(rng, 12)
    holes = [[None, *labels[1:]] for labels in y]
    model = make().fit(X, y, X_dev=X, y_dev=holes)
    assert np.isfinite(np.concatenate(model.predict_marginals(X))).all()


@pytest.mark.parametrize("make", [CRF, KernelCRF, BoostedCRF])
def test_held_out_labels_that_break_the_rules_are_refused(make, rng):
    X, y = tagged(rng, 12)
    with pytest.raises(InputError, match="Sequence 0 of X_dev starts with the forbidden label 'I-x'"):
        make(constraints="iob2").fit(X, y, X_dev=X, y_dev=[["I-x"] * len(labels) for labels in y])


@pytest.mark.parametrize("make", ALL)
def test_weights_that_say_nothing_are_refused(make, rng):
    X, y = tagged(rng, 12)
    with pytest.raises(InputError, match="sample_weight is zero for every sequence"):
        make().fit(X, y, sample_weight=np.zeros(12))


@pytest.mark.parametrize(
    "make",
    [
        lambda weights: CRF(loss=Log(class_weight=weights)),
        lambda weights: KernelCRF(loss=Log(class_weight=weights)),
        lambda weights: BoostedCRF(class_weight=weights),
    ],
)
def test_negative_class_weights_are_refused(make, rng):
    X, y = tagged(rng, 12)
    for bad in (-5, np.nan, np.inf, "much"):
        with pytest.raises(InputError, match="class_weight of 'O'"):
            make({"O": bad}).fit(X, y)
