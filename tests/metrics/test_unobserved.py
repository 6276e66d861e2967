"""Positions whose label was not observed count nowhere."""

import numpy as np
import pandas as pd
import pytest

from kernelfields.errors import InputError
from kernelfields.metrics import (
    answered_curve,
    brier_score,
    confusion,
    entity_f1,
    entity_scores,
    expected_calibration_error,
    label_scores,
    reliability,
    sequence_accuracy,
    token_error,
    transition_accuracy,
)
from kernelfields.missing import is_missing

CLASSES = ["a", "b", "c"]
MARKS = {"None": None, "NaN": float("nan"), "NumPy's NaN": np.float32("nan"), "NA": pd.NA, "NaT": pd.NaT}


@pytest.fixture
def judged(rng):
    """Truths of which a third is hidden, predictions, marginals."""
    sizes = [5, 0, 1, 60, 12, 3]
    true = [rng.choice(CLASSES, size).tolist() for size in sizes]
    hidden = [[label if rng.random() < 0.67 else None for label in labels] for labels in true]
    hidden[-1] = [None] * 3
    guess = [[t if rng.random() < 0.6 else str(rng.choice(CLASSES)) for t in labels] for labels in true]
    return hidden, guess, [rng.dirichlet([0.5, 1.0, 1.0], size) for size in sizes]


def observed(*sides):
    """What is left, position by position, without those whose true label is None."""
    kept = [[t for t, label in enumerate(labels) if label is not None] for labels in sides[0]]
    return tuple([[side[s][t] for t in kept[s]] for s in range(len(side))] for side in sides)


def assert_same(left, right):
    for a, b in zip(left, right, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("mark", MARKS)
def test_marks_of_missing_values(mark):
    assert is_missing(MARKS[mark])
    assert token_error([["a", MARKS[mark], "b"]], [["a", "b", "a"]]) == 0.5
    assert token_error([["a", "b"]], [["a", MARKS[mark]]]) == 0.5  # abstained
    assert label_scores([["a", MARKS[mark]]], [["a", "b"]]).labels == ["a"]


@pytest.mark.parametrize("label", ["nan", "", 0, False, (), 1.5, ("a", float("nan")), np.str_("None"), b""])
def test_labels_that_are_none_of_them(label):
    assert not is_missing(label)
    assert token_error([[label, "b"]], [[label, "b"]]) == 0.0


def test_metrics_of_labels_skip_them(judged):
    hidden, guess, _ = judged
    left, answers = observed(hidden, guess)
    assert token_error(hidden, guess) == token_error(left, answers)
    assert_same(confusion(hidden, guess), confusion(left, answers))
    assert_same(label_scores(hidden, guess)[:5], label_scores(left, answers)[:5])


def test_metrics_of_marginals_skip_them(judged):
    hidden, guess, marginals = judged
    left, answers, rows = observed(hidden, guess, marginals)
    rows = [np.reshape(p, (-1, 3)) for p in rows]
    assert brier_score(hidden, marginals, CLASSES) == brier_score(left, rows, CLASSES)
    assert_same(reliability(hidden, marginals, CLASSES), reliability(left, rows, CLASSES))
    assert expected_calibration_error(hidden, marginals, CLASSES) == expected_calibration_error(
        left, rows, CLASSES
    )
    assert_same(answered_curve(hidden, marginals, CLASSES), answered_curve(left, rows, CLASSES))
    assert_same(
        answered_curve(hidden, marginals, CLASSES, y_pred=guess),
        answered_curve(left, rows, CLASSES, y_pred=answers),
    )


def test_sequences_are_judged_by_what_was_observed():
    true = [["a", None], ["a", None], [None], []]
    assert sequence_accuracy(true, [["a", "b"], ["b", "b"], ["a"], []]) == pytest.approx(2 / 3)


def test_boundaries_lie_between_observed_labels(judged):
    hidden, guess, _ = judged
    hits = [
        a[t : t + 2] == b[t : t + 2]
        for a, b in zip(hidden, guess, strict=True)
        for t in range(len(a) - 1)
        if None not in a[t : t + 2] and a[t] != a[t + 1]
    ]
    assert 0 < np.mean(hits) < 1
    assert transition_accuracy(hidden, guess) == np.mean(hits)
    with pytest.raises(InputError, match="no boundaries"):
        transition_accuracy([["a", None, "b"]], [["a", "a", "b"]])


def test_entities_end_where_nothing_was_observed():
    true = [["B-X", "I-X", None, "I-X", "O"], [None], [None, "B-Y"]]
    guess = [["B-X", "I-X", "I-X", "I-X", "O"], [3], ["B-X", "B-Y"]]
    cut = [["B-X", "I-X"], ["I-X", "O"], ["B-Y"]]
    assert entity_scores(true, guess) == entity_scores(cut, cut)
    assert entity_scores(true, guess).overall[3:] == (3, 3, 3)
    assert entity_f1([["B-X", None]], [["O", "B-X"]]) == 0.0


@pytest.mark.parametrize("metric", [entity_f1, confusion])
def test_nothing_observed_is_refused(metric):
    with pytest.raises(InputError, match="none of the 3 labels of y_true is observed, all are None or NaN"):
        metric([[None], [float("nan"), None]], [["O"], ["O", "O"]])


def test_containers_of_labels():
    true = [["a", "b"], ["b", None]]
    guess = [["a", "a"], ["b", "b"]]
    columns = pd.Series([pd.Series(labels, index=[7, 3]) for labels in true])
    objects = np.array([np.array(labels, dtype=object) for labels in true], dtype=object)
    for container in (tuple(map(tuple, true)), columns, objects, list(map(pd.array, true))):
        assert token_error(container, guess) == pytest.approx(1 / 3)
        assert confusion(container, guess).counts.tolist() == [[1, 0], [1, 1]]


@pytest.mark.parametrize("labels", [(0, 1), (False, True), (("a", 1), ("b", 2)), (1.5, 2.5), ("x", 3)])
def test_labels_of_any_kind(labels):
    a, b = labels
    assert confusion([[a, b, None]], [[a, a, b]]).counts.tolist() == [[1, 0], [1, 0]]
    assert brier_score([[a, None]], [[[1.0, 0.0], [0.5, 0.5]]], [a, b]) == 0.0
