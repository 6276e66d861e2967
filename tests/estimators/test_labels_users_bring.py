"""Labels as users bring them: missing, unseen, huge, odd; and all of them named beforehand."""

from __future__ import annotations

from functools import partial
from itertools import chain

import numpy as np
import pandas as pd
import pytest

from kernelfields import (
    AROW,
    CRF,
    HMM,
    MEMM,
    BoostedCRF,
    ClassifierMarkovModel,
    GPSequenceClassifier,
    KernelCRF,
    KernelLogisticRegression,
    KernelPerceptron,
    PassiveAggressive,
    Run,
    SequenceAdaBoost,
    StochasticCRF,
    StructuredPerceptron,
    StructuredSVM,
    load,
)
from kernelfields.errors import InputError


@pytest.fixture(name="X")
def sequences():
    rng = np.random.default_rng(7)
    return [rng.normal(size=(n, 2)) for n in (4, 3, 1, 5)]


Y = [["a", "b", "a", "b"], ["b", "a", "b"], ["a"], ["a", "b", "b", "a", "a"]]
HOLES = [["a", None, "a", "b"], ["b", "a", None], ["a"], ["a", "b", "b", "a", "a"]]


@pytest.mark.parametrize(
    "hole", [float("nan"), np.float32("nan"), np.float64("nan"), pd.NA, pd.NaT], ids=lambda hole: repr(hole)
)
@pytest.mark.parametrize("make", [CRF, lambda: KernelCRF(run=Run(dtype="float64")), HMM])
def test_what_pandas_calls_missing_is_none(make, hole, X):
    holes = [[hole if label is None else label for label in labels] for labels in HOLES]
    model, same = make().fit(X, holes), make().fit(X, HOLES)
    assert model.classes_.tolist() == ["a", "b"]
    for a, b in zip(model.predict_marginals(X), same.predict_marginals(X), strict=True):
        np.testing.assert_array_equal(a, b)


def test_missing_numbers_do_not_make_classes(X):
    numbers = [np.array([np.nan if label is None else "ab".index(label) for label in row]) for row in HOLES]
    assert CRF().fit(X, numbers).classes_.tolist() == [0.0, 1.0]
    series = [pd.Series(row, index=range(10, 10 + len(row))) for row in HOLES]
    assert CRF().fit(X, series).classes_.tolist() == ["a", "b"]


def test_unseen_labels_are_wrong_and_impossible(X):
    model = CRF().fit(X, Y)
    strange = [["c", "b", "a", "b"], *Y[1:]]
    guess = model.predict(X)
    right = np.mean([g == label for g, label in zip(chain(*guess), chain(*strange), strict=True)])
    assert model.score(X, strange) == pytest.approx(right)
    with pytest.warns(UserWarning, match="1 of 4 sequences have labels that training did not have"):
        log_proba = model.sequence_log_proba(X, strange)
    assert log_proba[0] == -np.inf
    np.testing.assert_allclose(log_proba[1:], model.sequence_log_proba(X, Y)[1:])
    with pytest.raises(InputError, match="nothing to score"):
        model.score(X[:1], [[None] * 4])


def test_log_proba_of_partly_known_labellings_that_rules_forbid(X):
    tagged = [["O", "B-x", "I-x", "O"], ["B-x", "I-x", "O"], ["O"], ["O", "O", "B-x", "I-x", "I-x"]]
    model = CRF(constraints="iob2").fit(X, tagged)
    log_proba = model.sequence_log_proba(X[:2], [["O", "I-x", None, "O"], [None, "I-x", "O"]])
    assert log_proba[0] == -np.inf
    assert np.isfinite(log_proba[1])


@pytest.mark.parametrize(
    "make",
    [
        *(CRF, KernelCRF, GPSequenceClassifier, BoostedCRF, StructuredSVM, MEMM, StructuredPerceptron, AROW),
        *(PassiveAggressive, StochasticCRF, KernelPerceptron, SequenceAdaBoost),
        *(partial(ClassifierMarkovModel, KernelLogisticRegression("linear"), kind=k) for k in ("hmm", "pmm")),
    ],
)
def test_classes_name_labels_that_training_lacks(make, X, tmp_path):
    model = make(classes=["c", "b", "a"]).fit(X, Y)
    assert model.classes_.tolist() == ["c", "b", "a"]
    marginals = np.concatenate(model.predict_marginals(X))
    assert marginals.shape == (13, 3)
    assert np.isfinite(model.sequence_log_proba(X, [["c"] * len(x) for x in X])).all()
    model.save(tmp_path / "model.kf")
    assert load(tmp_path / "model.kf").classes_.tolist() == ["c", "b", "a"]
    with pytest.raises(InputError, match="Sequence 0 of y has, at position 1, 'b', which classes lacks"):
        make(classes=["a", "c"]).fit(X, Y)
    for bad, words in (("ab", "list of labels"), (["a", "a"], "once"), (["a", None], "once"), (3, "list")):
        with pytest.raises(InputError, match=words):
            make(classes=bad).fit(X, Y)


@pytest.mark.parametrize(
    "names",
    [
        (2**63, 1),
        (2**70, -(2**70)),
        ("a", "a\0"),
        (1, "one"),
        (True, False),
        (("x", 1), ("x", 2)),
        (0.5, -0.0),
    ],
    ids=repr,
)
def test_labels_stay_what_they_are(names, X, tmp_path):
    y = [[names["ab".index(label)] for label in labels] for labels in Y]
    model = CRF(0.01).fit(X, y)
    assert set(model.classes_.tolist()) == set(names)
    assert all(type(label) in {type(name) for name in names} for label in model.classes_.tolist())
    model.save(tmp_path / "model.kf")
    again = load(tmp_path / "model.kf")
    assert again.predict(X) == model.predict(X)
    assert set(chain(*again.predict(X))) <= set(names)


@pytest.mark.parametrize("unit", ["D", "s", "ns", "25s"])
@pytest.mark.parametrize("kind", ["datetime64", "timedelta64"])
@pytest.mark.parametrize("listed", [False, True])
def test_dates_of_numpy_stay_what_they_are(kind, unit, listed, X, tmp_path):
    names = np.array([18_262, 18_263], dtype=f"{kind}[{unit}]")
    y = [names[["ab".index(label) for label in labels]] for labels in Y]
    model = CRF(0.01).fit(X, [list(one) for one in y] if listed else y)
    assert [(type(one), one.dtype) for one in model.classes_.tolist()] == [
        (names.dtype.type, names.dtype)
    ] * 2
    assert model.score(X, y) == CRF(0.01).fit(X, Y).score(X, Y)
    assert model.predict(X[:1], allowed=[list(y[0])]) == [list(y[0])]
    model.save(tmp_path / "model.kf")
    assert load(tmp_path / "model.kf").classes_.tolist() == list(names)
    rows = KernelLogisticRegression().fit(np.concatenate(X), np.concatenate(y))
    assert {(type(one), one.dtype) for one in rows.predict(np.concatenate(X))} <= {
        (names.dtype.type, names.dtype)
    }


def test_labels_of_numpy_become_plain(X):
    y = [[np.int64("ab".index(label)) for label in labels] for labels in Y]
    assert CRF().fit(X, y).classes_.dtype == np.int64


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ("abab", "list of label sequences"),
        (7, "list of label sequences"),
        ([["a"], ["b"], ["a"], ["b"]], "Sequence 0 has 4 positions in X, but 1 labels in y"),
        ([Y[0], Y[1], 5, Y[3]], "Sequence 2 of y is not a sequence of labels"),
        ([Y[0], Y[1], [["x"]], Y[3]], "Sequence 2 of y holds a label that is not hashable"),
        ([Y[0], Y[1], {"a": 1}, Y[3]], "Sequence 2 of y is not a sequence of labels"),
    ],
)
def test_labels_that_are_none(y, words, X):
    with pytest.raises(InputError, match=words):
        CRF().fit(X, y)


@pytest.mark.parametrize(
    ("allowed", "words"),
    [
        ([[np.ones(3, dtype=bool)] * 4], r"mask of shape \(3,\) at position 0, expected \(2,\)"),
        ([np.ones((4, 5), dtype=bool)], r"mask of shape \(5,\) at position 0"),
        ([np.zeros((4, 2), dtype=bool)], "no label at position 0"),
        ([["a"]], "Sequence 0 has 4 positions in X, but 1 in allowed"),
        ([3], "Sequence 0 has 4 positions in X, but 3 in allowed"),
        (5, "one entry per sequence"),
        ([[{"a": 1}, None, None, None]], "unknown label"),
    ],
)
def test_allowed_labels_are_checked(allowed, words, X):
    model = CRF().fit(X, Y)
    with pytest.raises(InputError, match=words):
        model.predict(X[:1], allowed=allowed)


def test_flat_labels_beside_flat_input(X):
    flat = [label for labels in Y for label in labels]
    model = CRF().fit(np.concatenate(X), flat, lengths=[len(x) for x in X])
    assert model.classes_.tolist() == ["a", "b"]
    np.testing.assert_array_equal(model.coef_, CRF().fit(X, Y).coef_)
    frame = pd.Series(flat)
    np.testing.assert_array_equal(
        CRF().fit(np.concatenate(X), frame, lengths=[len(x) for x in X]).coef_, model.coef_
    )


def test_unseen_labels_held_out_are_left_out(X):
    dev = [["a", "c", "a", "b"], *Y[1:]]
    for make in (CRF, KernelCRF, BoostedCRF, StructuredPerceptron):
        with pytest.warns(UserWarning, match="1 labels of y_dev do not occur in y"):
            make().fit(X, Y, X_dev=X, y_dev=dev)
