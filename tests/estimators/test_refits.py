"""A fit starts from nothing; a fitted model is what was fitted, whatever its settings say later."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from kernelfields import (
    CRF,
    HMM,
    MEMM,
    BoostedCRF,
    ClassifierMarkovModel,
    FixedScores,
    KernelCRF,
    KernelLogisticRegression,
    KernelPerceptron,
    KernelScores,
    LinearScores,
    Parts,
    SequenceAdaBoost,
    StructuredPerceptron,
    StructuredSVM,
    TreeScores,
    load,
)
from kernelfields.approximation import RandomFourier
from kernelfields.errors import InputError
from kernelfields.kernels import RBF
from kernelfields.selection import SGPS

WIDE = "wide"
"""Stands for another training set: other labels, and one feature more."""

REFITS = [
    (CRF(parts=Parts(edge_features=LinearScores())), {"parts": Parts()}),
    (CRF(structure="chain2"), {"structure": "chain"}),
    (CRF(constraints="iob2"), {"constraints": None}),
    (CRF(), WIDE),
    (KernelCRF(structure="chain2"), {"structure": "chain"}),
    (KernelCRF(parts=Parts(edge_kernel=KernelScores())), {"parts": Parts()}),
    (KernelCRF(basis=SGPS(3), random_state=0), {"basis": None}),
    (KernelCRF(basis=RandomFourier(10), random_state=0), {"basis": None}),
    (KernelCRF(parts=Parts(known=FixedScores({"O": 1.0}))), {"parts": Parts()}),
    (KernelCRF(), WIDE),
    (StructuredSVM("rbf"), {"kernel": None}),
    (StructuredSVM(), {"kernel": "rbf"}),
    (StructuredSVM(structure="chain2"), {"structure": "chain"}),
    (StructuredPerceptron(random_state=0), WIDE),
    (
        BoostedCRF(parts=Parts(edge_trees=TreeScores()), min_samples_leaf=2, random_state=0),
        {"parts": Parts()},
    ),
    (BoostedCRF(structure="chain2", min_samples_leaf=2, random_state=0), {"structure": "chain"}),
    (KernelPerceptron(combination="voted", random_state=0), {"combination": "last"}),
    (MEMM(), WIDE),
    (SequenceAdaBoost(10), WIDE),
    (ClassifierMarkovModel(KernelLogisticRegression("linear"), kind="pmm"), WIDE),
    (ClassifierMarkovModel(KernelLogisticRegression("linear"), kind="pmm"), {"kind": "hmm"}),
    (HMM(), WIDE),
]


def sequences(seed, names=("O", "B-x", "I-x"), width=3):
    rng = np.random.default_rng(seed)
    X, y = [], []
    for length in (5, 4, 1, 6, 3, 4, 5, 2):
        codes = np.minimum(np.arange(length), 2) % len(names)
        X.append(np.eye(width)[codes] + 0.4 * rng.normal(size=(length, width)))
        y.append([names[k] for k in codes])
    return X, y


def same(left, right, X):
    for a, b in zip(left.predict_marginals(X), right.predict_marginals(X), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("first", "change"), REFITS, ids=repr)
def test_a_refit_is_a_fit(first, change, tmp_path):
    X, y = sequences(0)
    model = clone(first).fit([pd.DataFrame(x, columns=list("abc")) for x in X], y)
    if change == WIDE:
        X, y = sequences(1, names=("p", "q", "r"), width=4)
    else:
        model.set_params(**change)
    model.fit(X, y)
    fresh = clone(model).fit(X, y)
    assert vars(model).keys() == vars(fresh).keys()
    same(model, fresh, X)
    model.save(tmp_path / "model.kf")
    same(load(tmp_path / "model.kf"), fresh, X)


@pytest.mark.parametrize(("fitted", "change"), [row for row in REFITS if row[1] != WIDE], ids=repr)
def test_settings_changed_later_change_no_prediction(fitted, change, tmp_path):
    X, y = sequences(0)
    model, before = clone(fitted).fit(X, y), clone(fitted).fit(X, y)
    model.set_params(**change)
    same(model, before, X)
    model.save(tmp_path / "model.kf")
    same(load(tmp_path / "model.kf"), before, X)


@pytest.mark.parametrize("name", ["bias", "boundaries"])
@pytest.mark.parametrize("make", [CRF, KernelCRF, StructuredSVM, StructuredPerceptron, BoostedCRF])
def test_parts_taken_away_later_stay(make, name):
    X, y = sequences(0)
    model, before = (make(random_state=0).fit(X, y) for _ in range(2))
    same(model.set_params(**{f"parts__{name}": None}), before, X)


@pytest.mark.parametrize("make", [KernelCRF, StructuredSVM, KernelPerceptron])
def test_a_kernel_changed_later_changes_no_model(make):
    X, y = sequences(0)
    kernel = RBF(gamma=1.0)
    model, before = make(kernel, random_state=0).fit(X, y), make(RBF(gamma=1.0), random_state=0).fit(X, y)
    kernel.set_params(gamma=50.0)
    same(model, before, X)


@pytest.mark.parametrize("first", [row[0] for row in REFITS], ids=repr)
def test_a_fit_that_fails_changes_nothing(first):
    X, y = sequences(0)
    model = clone(first).fit(X, y)
    before, attributes = model.predict_marginals(X), dict(vars(model))
    with pytest.raises(InputError):
        model.fit(X, y[:-1])
    assert vars(model) == attributes
    for a, b in zip(before, model.predict_marginals(X), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    "make", [CRF, KernelCRF, lambda: StructuredSVM("rbf"), KernelPerceptron, BoostedCRF, HMM]
)
def test_data_changed_later_change_no_model(make):
    X, y = sequences(0)
    flat, lengths = np.concatenate(X), [len(x) for x in X]
    dtype = np.float32 if make is KernelCRF else np.float64  # that of Gram matrices: no copy is needed
    mine = np.ascontiguousarray(flat, dtype=dtype)
    model = make().fit(mine, y, lengths=lengths)
    before = model.predict_marginals(X)
    mine[:] = 7.0
    for a, b in zip(before, model.predict_marginals(X), strict=True):
        np.testing.assert_array_equal(a, b)


def test_rows_changed_later_change_no_model():
    X, y = sequences(0)
    rows = np.concatenate(X)
    model = KernelLogisticRegression().fit(rows, [label for labels in y for label in labels])
    before = model.predict_proba(np.concatenate(X))
    rows[:] = 7.0
    np.testing.assert_array_equal(model.predict_proba(np.concatenate(X)), before)
