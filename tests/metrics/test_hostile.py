"""Whatever is given as labels or probabilities: a number, or one sentence of ours."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from kernelfields import CRF, InputError
from kernelfields.metrics import (
    answered_curve,
    brier_score,
    confusion,
    entity_f1_scorer,
    entity_scores,
    expected_calibration_error,
    has_entities,
    label_scores,
    log_likelihood,
    log_likelihood_scorer,
    reliability,
    sequence_accuracy,
    sequence_accuracy_scorer,
    token_accuracy_scorer,
    token_error,
    transition_accuracy,
)
from kernelfields.report import evaluate, write_report

GOOD = [["a", "b"], ["b"]]
MARGINALS = [np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([[0.5, 0.5]])]
X = [[[0.0], [1.0]], [[1.0]]]
DAYS = np.array(["2020", "NaT"], dtype="datetime64[D]")

FINE = {
    "tuples": (("a", "b"), ("b",)),
    "array of lists": np.array([["a", "b"], ["b"]], dtype=object),
    "series of lists": pd.Series(GOOD, index=[7, 3]),
    "series": [pd.Series(["a", "b"], index=[5, 6]), pd.Series(["b"], index=[9])],
    "categories": [pd.Series(["a", "b"], dtype="category"), pd.Categorical(["b"])],
    "strings of pandas": [pd.array(["a", None], dtype="string"), pd.array(["b"], dtype="string")],
    "integers of pandas": [pd.array([1, None], dtype="Int64"), pd.array([2], dtype="Int64")],
    "booleans": [np.array([True, False]), np.array([True])],
    "NaN": [[np.nan, 1.0], [2.0]],
    "infinity": [[np.inf, 1.0], [2.0]],
    "labels that are tuples": [[("a", 1), ("b",)], [("b",)]],
    "several kinds": [["a", 1], [("b",)]],
    "large integers": [[2**70, 1], [2**70]],
    "decimals": [[Decimal("NaN"), Decimal(1)], [Decimal(1)]],
    "dates": [[datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)], [datetime.date(2020, 1, 1)]],
    "dates of NumPy": [DAYS, DAYS[:1]],
    "ranges": [range(2), range(1)],
    "some missing": [[None, "b"], ["b"]],
    "zero bytes": [["a\0", "a"], ["b"]],
    "complex": [[1j, 2], [3]],
    "long": [["x" * 100_000, "b"], ["b"]],
}
ODD = {
    "none": None,
    "number": 3,
    "nothing": [],
    "empty sequences": [[], []],
    "text": "ab",
    "flat": ["a", "b", "b"],
    "frame": pd.DataFrame({"x": ["a", "b"]}),
    "three dimensions": np.zeros((2, 2, 2)),
    "generator": (labels for labels in GOOD),
    "set": {("a", "b"), ("b",)},
    "dictionary": {0: ["a", "b"], 1: ["b"]},
    "dictionaries": [{"a": 1, "b": 2}, {"b": 1}],
    "sparse": sparse.eye(2).tocsr(),
    "sparse sequences": [sparse.eye(2).tocsr()] * 2,
    "labels that are lists": [[["a"], ["b"]], [["b"]]],
    "labels that are arrays": [[np.zeros(2), "b"], ["b"]],
    "too short": [["a"], ["b"]],
    "too long": [["a", "b", "c"], ["b"]],
    "one": [["a", "b"]],
    "three": [*GOOD, ["a"]],
    "all missing": [[None, np.nan], [pd.NA]],
    "no dimension": np.array("a"),
    "no dimension inside": [np.array("a"), ["b"]],
    "None inside": [None, ["b"]],
    "class": list,
}
PAIRED = [token_error, sequence_accuracy, label_scores, confusion, transition_accuracy, entity_scores]
JUDGED = [brier_score, reliability, expected_calibration_error, answered_curve]


def assert_refused(call, *arguments):
    """One sentence, not the value of a megabyte, and nothing of NumPy's or Python's own."""
    with pytest.raises(InputError) as caught:
        call(*arguments)
    assert len(str(caught.value)) < 400
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", FINE)
def test_labels_that_are_compared(kind):
    y = FINE[kind]
    assert token_error(y, y) == 0.0
    assert sequence_accuracy(y, y) == 1.0
    assert label_scores(y, y).micro.f1 == 1.0
    assert (np.diag(confusion(y, y).counts) > 0).all()
    assert token_error(y, [["?", "?"], ["?"]]) == 1.0
    classes = label_scores(y, y).labels
    marginals = [np.eye(len(classes))[[0] * size] for size in (2, 1)]
    assert 0 <= brier_score(y, marginals, classes) <= 2


@pytest.mark.parametrize("kind", [kind for kind in ODD if kind not in ("nothing", "empty sequences")])
@pytest.mark.parametrize("metric", PAIRED)
def test_labels_that_cannot_be_compared(metric, kind):
    assert_refused(metric, ODD[kind], GOOD)
    if kind != "all missing":  # which is to abstain throughout
        assert_refused(metric, GOOD, ODD[kind])


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("metric", JUDGED)
def test_labels_that_cannot_be_judged(metric, kind):
    assert_refused(metric, ODD[kind], MARGINALS, ["a", "b"])


@pytest.mark.parametrize(
    "marginals",
    [
        *(None, 3, [], "ab", ["ab", "b"], dict(enumerate(MARGINALS)), (p for p in MARGINALS)),
        *([sparse.csr_matrix(p) for p in MARGINALS], [p + 1j for p in MARGINALS], [-p for p in MARGINALS]),
        *([[0.5, 0.5]] * 2, [[[1, 0], [1]], [[1, 0]]], [p * np.nan for p in MARGINALS], MARGINALS[::-1]),
    ],
    ids=lambda marginals: type(marginals).__name__,
)
@pytest.mark.parametrize("metric", JUDGED)
def test_what_is_no_marginals(metric, marginals):
    assert_refused(metric, GOOD, marginals, ["a", "b"])


@pytest.mark.parametrize("values", [None, 3, "ab", ["a", "b"], [[-1.0, -1.0]], [1j, 1.0], [-1.0], {-1: 2}])
def test_what_is_no_log_probability(values):
    assert_refused(log_likelihood, values, [1, 1])


@pytest.fixture(scope="module")
def model():
    return CRF().fit(X, GOOD)


SCORES = [
    *(token_accuracy_scorer, sequence_accuracy_scorer, entity_f1_scorer, log_likelihood_scorer, evaluate),
    *(CRF.score, CRF.sequence_log_proba),
]


@pytest.mark.parametrize("kind", [kind for kind in ODD if kind != "all missing"])
@pytest.mark.parametrize("score", SCORES)
def test_models_are_not_scored_by_odd_labels(score, kind, model):
    if kind == "flat" and score in (CRF.score, CRF.sequence_log_proba):
        return  # their X tells where sequences end
    if kind == "None inside" and score in (CRF.score, CRF.sequence_log_proba):
        return  # their X tells how many positions have no labels
    assert_refused(score, model, X, ODD[kind])


def test_sequences_without_labels_are_not_scored(model):
    labels = [["b", "a"], ["b"]]
    assert CRF.score(model, X, [None, labels[1]]) == CRF.score(model, X[1:], labels[1:])
    log_p = CRF.sequence_log_proba(model, X, [None, labels[1]])
    np.testing.assert_allclose(log_p, [0.0, CRF.sequence_log_proba(model, X[1:], labels[1:])[0]], atol=1e-12)


@pytest.mark.parametrize("kind", FINE)
@pytest.mark.filterwarnings("ignore:Labels of y unknown", "ignore:.*that training did not have")
def test_models_are_scored_by_any_labels(kind, model, tmp_path):
    found = evaluate(model, X, FINE[kind])
    write_report(found, tmp_path / "page.html")
    assert model.score(X, FINE[kind]) == pytest.approx(1 - found.token_error)
    assert np.isfinite(log_likelihood_scorer(model, X, FINE[kind]))


@pytest.mark.parametrize("inputs", [None, 3, [], "ab", X[:1], X * 2, X[::-1]])
def test_evaluations_of_what_is_no_such_sequences(inputs, model):
    assert_refused(evaluate, model, inputs, GOOD)


@pytest.mark.parametrize("tokens", [3, "ab", [["a"]], [None, None], {0: 1}, [["a", "b"], 3]])
def test_texts_that_do_not_fit(tokens, model):
    assert_refused(evaluate, model, X, GOOD, tokens)


@pytest.mark.parametrize("threshold", ["x", None, np.nan, -1, 2, np.inf, 1j, [0.5]])
def test_thresholds_are_probabilities(threshold, model):
    with pytest.raises(InputError, match="threshold is"):
        evaluate(model, X, GOOD, threshold=threshold)


def test_entities_are_looked_for_among_labels():
    assert has_entities([None, "B-x", "O"])
    for odd in (3, None, [["a"]]):
        with pytest.raises(InputError, match="labels must be a list of labels"):
            has_entities(odd)
