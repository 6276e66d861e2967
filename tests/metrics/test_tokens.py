"""Metrics over positions and boundaries against scikit-learn's and by hand."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, precision_recall_fscore_support

from kernelfields.errors import InputError
from kernelfields.metrics import label_scores, sequence_accuracy, token_error, transition_accuracy


@pytest.fixture
def labelled(rng):
    """Ragged truths, one of them empty, and predictions that are right in most places."""
    names = np.array(["a", "b", "c", "d"])
    true = [names[rng.integers(0, 4, size)].tolist() for size in [5, 0, 1, 40, 12]]
    guess = [[t if rng.random() < 0.6 else str(rng.choice(names[:3])) for t in y] for y in true]
    return true, guess


def flat(y):
    return [label for labels in y for label in labels]


def test_token_error_is_one_minus_accuracy(labelled):
    true, guess = labelled
    assert token_error(true, guess) == pytest.approx(1 - accuracy_score(flat(true), flat(guess)), abs=1e-15)


def test_sequence_accuracy_by_hand(labelled):
    true, guess = labelled
    expected = np.mean([a == b for a, b in zip(true, guess, strict=True)])
    assert sequence_accuracy(true, guess) == expected
    assert sequence_accuracy([[], [1]], [[], [2]]) == 0.5


@pytest.mark.parametrize("labels", [None, ["a", "d"], ["d", "unseen", "b"]])
def test_label_scores_are_those_of_scikit_learn(labelled, labels):
    true, guess = labelled
    scores = label_scores(true, guess, labels=labels)
    assert scores.labels == (labels or ["a", "b", "c", "d"])
    options = {"labels": scores.labels, "zero_division": 0}
    expected = precision_recall_fscore_support(flat(true), flat(guess), **options)
    for found, wanted in zip(
        (scores.precision, scores.recall, scores.f1, scores.support), expected, strict=True
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-14)
    for average in ("micro", "macro"):
        expected = precision_recall_fscore_support(flat(true), flat(guess), average=average, **options)[:3]
        np.testing.assert_allclose(getattr(scores, average), expected, rtol=1e-14)


def test_labels_of_any_kind():
    true, guess = [[1, "x", (2, 3)]], [np.array([1, 1, 1])]
    assert token_error(true, guess) == pytest.approx(2 / 3)
    assert label_scores(true, guess).labels == [1, "x", (2, 3)]
    assert token_error([np.array(["a", "b"])], [("a", "b")]) == 0.0


def test_abstained_positions_are_wrong_and_no_label():
    true, guess = [["a", "a", "b"]], [["a", None, "b"]]
    assert token_error(true, guess) == pytest.approx(1 / 3)
    scores = label_scores(true, guess)
    assert scores.labels == ["a", "b"]
    assert scores.precision.tolist() == [1.0, 1.0]
    assert scores.recall.tolist() == [0.5, 1.0]


def test_transition_accuracy_by_hand(labelled):
    true, guess = labelled
    hits = [
        a[t : t + 2] == b[t : t + 2]
        for a, b in zip(true, guess, strict=True)
        for t in range(len(a) - 1)
        if a[t] != a[t + 1]
    ]
    assert 0 < transition_accuracy(true, guess) < 1
    assert transition_accuracy(true, guess) == np.mean(hits)


def test_no_transition_between_sequences():
    true = [[], [0, 0], [1, 1], [], [2, 3], []]
    assert transition_accuracy(true, true) == 1.0
    assert transition_accuracy(true, [[], [9, 9], [9, 9], [], [2, 3], []]) == 1.0
    assert transition_accuracy(true, [[], [0, 0], [1, 1], [], [2, 9], []]) == 0.0


@pytest.mark.parametrize("metric", [token_error, sequence_accuracy, label_scores, transition_accuracy])
@pytest.mark.parametrize(
    ("true", "guess", "message"),
    [
        ([["a"], ["a", "b"]], [["a"], ["a"]], "Sequence 1 has 2 labels in y_true, but 1 in y_pred"),
        ([["a"]], [["a"], ["b"]], "y_true has 1 sequences, but y_pred has 2"),
        (["ab"], [["a", "b"]], "Sequence 0 of y_true is 'ab', not a list of labels"),
        ([["a"]], [3], "Sequence 0 of y_pred is 3, not a list of labels"),
        ("ab", "ab", "y_true must be a list"),
        ([[None], [float("nan")]], [["a"], ["b"]], "none of the 2 labels of y_true is observed"),
        ([[["a"]]], [["a"]], "Sequence 0 of y_true has a label that is not hashable"),
        ([{"a": 1}], [["a"]], "Sequence 0 of y_true is {'a': 1}, not a list of labels"),
        ([{"a"}], [["a"]], "not a list of labels"),
        (np.array(3), [["a"]], "y_true must be a list of label sequences"),
        ({"a": [1]}, [["a"]], "y_true must be a list of label sequences"),
        ([np.array("a")], [["a"]], "Sequence 0 of y_true is array"),
    ],
)
def test_what_cannot_be_compared_is_refused(metric, true, guess, message):
    with pytest.raises(InputError, match=message):
        metric(true, guess)


def test_means_over_nothing_are_refused():
    with pytest.raises(InputError, match="no positions"):
        token_error([[]], [[]])
    with pytest.raises(InputError, match="no sequences"):
        sequence_accuracy([], [])
    for y in ([], [[]], [["a"]], [["a", "a"], ["b"]]):
        with pytest.raises(InputError, match="no boundaries"):
            transition_accuracy(y, y)
    assert label_scores([], []).macro == (0.0, 0.0, 0.0)
