"""Columns have names in frames: they are what counts, not their order."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest

from kernelfields import (
    CRF,
    HMM,
    MEMM,
    BoostedCRF,
    Cascade,
    ClassifierMarkovModel,
    KernelCRF,
    KernelLogisticRegression,
    KernelPerceptron,
    SequenceAdaBoost,
    StructuredPerceptron,
    StructuredSVM,
)
from kernelfields.errors import InputError

MAKERS = [
    HMM,
    lambda: Cascade(CRF(), CRF(), folds=2, random_state=0),
    CRF,
    KernelCRF,
    BoostedCRF,
    StructuredSVM,
    partial(StructuredPerceptron, random_state=0),
    partial(KernelPerceptron, random_state=0),
    MEMM,
    partial(SequenceAdaBoost, 20),
    partial(ClassifierMarkovModel, KernelLogisticRegression("linear")),
]


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    y = [rng.integers(0, 2, size=n).tolist() for n in (6, 5, 1, 8, 7)]
    X = [np.stack([10.0 * np.array(row), rng.normal(size=len(row))], axis=1) for row in y]
    return [pd.DataFrame(x, columns=["size", "noise"]) for x in X], y


@pytest.mark.parametrize("make", MAKERS)
def test_columns_are_matched_by_name(make, data):
    X, y = data
    turned = [x[["noise", "size"]] for x in X]
    model = make().fit(X, y)
    assert model.feature_names_in_.tolist() == ["size", "noise"]
    expected = model.predict_marginals(X)
    for a, b, c in zip(
        expected,
        model.predict_marginals(turned),
        make().fit([X[0], *turned[1:]], y).predict_marginals(X),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c)
    flat = pd.concat(turned)
    got = model.predict_marginals(flat, lengths=[len(x) for x in X])
    np.testing.assert_array_equal(np.concatenate(got), np.concatenate(expected))


@pytest.mark.parametrize("make", MAKERS)
def test_other_columns_are_refused(make, data):
    X, y = data
    renamed = [x.rename(columns={"noise": "noize"}) for x in X]
    model = make().fit(X, y)
    with pytest.raises(
        InputError, match=r"Sequence 0 of X has other columns .* it (has 'noize|lacks 'noise)"
    ):
        model.predict(renamed)
    with pytest.raises(InputError, match="Sequence 3 of X has other columns"):
        make().fit([*X[:3], renamed[3], X[4]], y)
    with pytest.raises(InputError, match="X has other columns"):
        model.predict(pd.concat(renamed), lengths=[len(x) for x in X])


@pytest.mark.parametrize("make", [CRF, KernelCRF, BoostedCRF, partial(StructuredPerceptron, random_state=0)])
def test_held_out_frames_are_matched_too(make, data):
    X, y = data
    turned = [x[["noise", "size"]] for x in X]
    straight, other = (make().fit(X, y, X_dev=dev, y_dev=y) for dev in (X, turned))
    for a, b in zip(straight.predict_marginals(X), other.predict_marginals(X), strict=True):
        np.testing.assert_array_equal(a, b)


def test_columns_of_a_partial_fit(data):
    X, y = data
    turned = [x[["noise", "size"]] for x in X]
    straight, other = CRF().fit(X, y).partial_fit(X, y), CRF().fit(X, y).partial_fit(turned, y)
    np.testing.assert_array_equal(straight.coef_, other.coef_)
    with pytest.raises(InputError, match="other columns"):
        straight.partial_fit([x.rename(columns={"noise": "x"}) for x in X], y)
