"""Metrics of probabilities against scikit-learn's and by hand."""

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from kernelfields.errors import InputError
from kernelfields.metrics import (
    answered_curve,
    brier_score,
    expected_calibration_error,
    log_likelihood,
    reliability,
)

CLASSES = ["a", "b", "c"]


@pytest.fixture
def judged(rng):
    """Truths and marginals of ragged sequences, one of them empty."""
    sizes = [5, 0, 1, 60, 12]
    marginals = [rng.dirichlet([0.5, 1.0, 1.0], size) for size in sizes]
    return [[CLASSES[k] for k in rng.integers(0, 3, size)] for size in sizes], marginals


def flat(y):
    return np.array([label for labels in y for label in labels])


def test_brier_score_is_that_of_scikit_learn(judged):
    true, marginals = judged
    expected = brier_score_loss(flat(true), np.concatenate(marginals), labels=CLASSES, scale_by_half=False)
    assert brier_score(true, marginals, CLASSES) == pytest.approx(expected, rel=1e-13)
    assert brier_score(true, marginals, np.array(CLASSES)) == brier_score(true, marginals, CLASSES)


def test_brier_score_by_the_definition(judged):
    true, marginals = judged
    one_hot = (flat(true)[:, None] == np.array(CLASSES)).astype(float)
    expected = ((np.concatenate(marginals) - one_hot) ** 2).sum(axis=1).mean()
    assert brier_score(true, marginals, CLASSES) == pytest.approx(expected, rel=1e-13)


def test_unseen_labels_have_probability_zero():
    assert brier_score([["z"]], [[[1.0, 0.0, 0.0]]], CLASSES) == 2.0
    assert expected_calibration_error([["z"]], [[[1.0, 0.0, 0.0]]], CLASSES) == 1.0
    assert answered_curve([["z"]], [[[0.0, 0.0, 1.0]]], CLASSES).error.tolist() == [1.0]


@pytest.mark.parametrize("bins", [1, 4, 10, 15])
def test_calibration_error_by_hand(judged, bins):
    true, marginals = judged
    stacked = np.concatenate(marginals)
    confidence, right = stacked.max(axis=1), np.array(CLASSES)[stacked.argmax(axis=1)] == flat(true)
    expected = 0.0
    for b in range(bins):
        inside = (confidence > b / bins) & (confidence <= (b + 1) / bins)
        if inside.any():
            expected += inside.mean() * abs(right[inside].mean() - confidence[inside].mean())
    found = expected_calibration_error(true, marginals, CLASSES, bins=bins)
    assert found == pytest.approx(expected, rel=1e-12)


def test_reliability_adds_up(judged):
    true, marginals = judged
    table = reliability(true, marginals, CLASSES, bins=7)
    stacked = np.concatenate(marginals)
    assert table.support.sum() == len(stacked)
    assert table.support @ table.confidence == pytest.approx(stacked.max(axis=1).sum())
    right = np.array(CLASSES)[stacked.argmax(axis=1)] == flat(true)
    assert table.support @ table.accuracy == pytest.approx(right.sum())
    assert len(table.edges) == 8


def test_bins_are_closed_above():
    table = reliability([["a", "a"]], [[[0.5, 0.5], [1.0, 0.0]]], ["a", "b"], bins=2)
    assert table.support.tolist() == [1, 1]


def test_true_probabilities_are_calibrated(rng):
    """Labels drawn from the marginals: 40,000 positions leave a gap of about 0.01 by chance."""
    marginals = rng.dirichlet([1.0, 1.0, 1.0], 40_000)
    draws = (rng.random((40_000, 1)) > marginals.cumsum(axis=1)[:, :2]).sum(axis=1)
    true = [[CLASSES[k] for k in draws]]
    assert expected_calibration_error(true, [marginals], CLASSES) < 0.02
    sure = marginals**4 / (marginals**4).sum(axis=1, keepdims=True)
    assert expected_calibration_error(true, [sure], CLASSES) > 0.1


def test_answered_curve_by_hand(judged):
    true, marginals = judged
    stacked = np.concatenate(marginals)
    confidence, right = stacked.max(axis=1), np.array(CLASSES)[stacked.argmax(axis=1)] == flat(true)
    whole = answered_curve(true, marginals, CLASSES)
    np.testing.assert_array_equal(whole.thresholds, np.sort(confidence))
    assert whole.answered[0] == 1.0
    assert whole.error[0] == pytest.approx(1 - right.mean())
    some = answered_curve(true, marginals, CLASSES, thresholds=[0.9, 0.0, 0.5])
    for curve in (whole, some):
        for threshold, answered, error in zip(*curve, strict=True):
            kept = confidence >= threshold
            assert answered == pytest.approx(kept.mean())
            assert error == pytest.approx(1 - right[kept].mean())
    assert some.thresholds.tolist() == [0.0, 0.5, 0.9]


def test_equal_confidences_stand_or_fall_together():
    curve = answered_curve([["a", "b", "a"]], [[[0.8, 0.2]] * 2 + [[0.6, 0.4]]], ["a", "b"])
    assert curve.thresholds.tolist() == [0.6, 0.8]
    np.testing.assert_allclose(curve.answered, [1.0, 2 / 3])
    np.testing.assert_allclose(curve.error, [1 / 3, 0.5])


def test_nothing_answered_has_no_error():
    curve = answered_curve([["a"]], [[[0.8, 0.2]]], ["a", "b"], thresholds=[0.9])
    assert curve.answered.tolist() == [0.0]
    assert np.isnan(curve.error).all()


def test_other_answers_than_the_most_probable():
    curve = answered_curve([["a", "b"]], [[[0.8, 0.2], [0.7, 0.3]]], ["a", "b"], y_pred=[["b", "b"]])
    assert curve.thresholds.tolist() == [0.2, 0.3]
    assert curve.error.tolist() == [0.5, 0.0]
    for label in ("z", None):
        with pytest.raises(InputError, match="Sequence 0 of y_pred has a label at position 1 that is no"):
            answered_curve([["a", "b"]], [[[0.8, 0.2]] * 2], ["a", "b"], y_pred=[["a", label]])


def test_log_likelihood_per_position():
    assert log_likelihood(np.log([0.5, 0.25]), [1, 2]) == pytest.approx(np.log(0.5))
    assert log_likelihood([-np.inf, -1.0], [1, 1]) == -np.inf
    with pytest.raises(InputError, match=r"shape \(2,\), but lengths has \(1,\)"):
        log_likelihood([-1.0, -1.0], [3])
    with pytest.raises(InputError, match="Sequence 1 of log_proba is NaN"):
        log_likelihood([-1.0, np.nan], [3, 3])
    with pytest.raises(InputError, match="no positions"):
        log_likelihood([], [])


@pytest.mark.parametrize("metric", [brier_score, expected_calibration_error, answered_curve])
@pytest.mark.parametrize(
    ("true", "marginals", "message"),
    [
        ([["a"], ["a"]], [[[1, 0, 0]]], "y_true has 2 sequences, but marginals has 1"),
        (
            [["a"], ["a", "b"]],
            [[[1, 0, 0]]] * 2,
            r"Sequence 1 of marginals has shape \(1, 3\), expected \(2, 3\)",
        ),
        ([["a"]], [[[1, 0]]], r"shape \(1, 2\), expected \(1, 3\)"),
        (
            [["a", "b"]],
            [[[1, 0, 0], [1, 1, 0]]],
            "Sequence 0 of marginals is not a distribution at position 1",
        ),
        ([[], ["a"]], [np.zeros((0, 3)), [[np.nan, 0, 0]]], "Sequence 1 of marginals is not a distribution"),
        ([["a"]], [[[-0.5, 1, 0.5]]], "not a distribution at position 0"),
        (
            [["a", None]],
            [[[1, 0, 0], [1, 1, 0]]],
            "Sequence 0 of marginals is not a distribution at position 1",
        ),
        ([[None, np.nan]], [[[1, 0, 0]] * 2], "none of the 2 labels of y_true is observed"),
        ([[["a"]]], [[[1, 0, 0]]], "Sequence 0 of y_true has a label that is not hashable"),
        ([["a"]], [[["x", 0, 0]]], "Sequence 0 of marginals is not an array of numbers"),
        ([["a"]], 3, "marginals must be a list"),
        ([], [], "no positions"),
    ],
)
def test_what_is_no_probability_is_refused(metric, true, marginals, message):
    with pytest.raises(InputError, match=message):
        metric(true, marginals, CLASSES)


@pytest.mark.parametrize("bins", [0, -3, 2.5, np.nan, "ten", 10**12])
def test_bins_are_a_whole_number(bins):
    with pytest.raises(InputError, match=f"bins is {bins!r}; it must be a whole number from 1 to 1000000"):
        expected_calibration_error([["a"]], [[[1, 0, 0]]], CLASSES, bins=bins)


@pytest.mark.parametrize("classes", [["a", "a", "b"], ["a", None, "b"], ["a", "b", np.nan]])
def test_every_class_has_one_column(classes):
    with pytest.raises(InputError, match="classes has 3 entries; they must be distinct labels"):
        brier_score([["a"]], [[[1, 0, 0]]], classes)


@pytest.mark.parametrize("classes", ["abc", 3, {"a", "b", "c"}])
def test_classes_are_a_list(classes):
    with pytest.raises(InputError, match=r"classes is .*, not a list of labels"):
        brier_score([["a"]], [[[1, 0, 0]]], classes)


@pytest.mark.parametrize("thresholds", ["x", [0.5, np.nan], 0.5, [[0.5]]])
def test_thresholds_are_numbers(thresholds):
    with pytest.raises(InputError, match="thresholds"):
        answered_curve([["a"]], [[[1, 0, 0]]], CLASSES, thresholds=thresholds)


@pytest.mark.parametrize("lengths", [[-1], [1.5], [np.nan], [np.inf], ["x"]])
def test_lengths_are_whole_numbers(lengths):
    with pytest.raises(InputError, match="lengths"):
        log_likelihood([-1.0], lengths)
