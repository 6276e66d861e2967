"""Scorers inside scikit-learn's model selection."""

import pickle

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from kernelfields import CRF, InputError
from kernelfields.metrics import (
    entity_f1,
    entity_f1_scorer,
    log_likelihood_scorer,
    sequence_accuracy,
    sequence_accuracy_scorer,
    token_accuracy_scorer,
    token_error,
)
from kernelfields.metrics.scorers import FLOOR

SCORERS = {
    "entity": entity_f1_scorer,
    "token": token_accuracy_scorer,
    "sequence": sequence_accuracy_scorer,
    "likelihood": log_likelihood_scorer,
}


@pytest.fixture
def tagged(rng):
    """Sequences whose features tell the label, with noise."""
    labels = np.array(["O", "B-X", "I-X"])
    codes = [rng.integers(0, 3, size) for size in rng.integers(2, 7, 30)]
    X = [np.eye(3)[code] + rng.normal(0, 0.6, (len(code), 3)) for code in codes]
    return X, [labels[code].tolist() for code in codes]


def test_scores_are_the_metrics_of_predictions(tagged):
    X, y = tagged
    model = CRF().fit(X, y)
    guess = model.predict(X)
    assert entity_f1_scorer(model, X, y) == entity_f1(y, guess)
    assert token_accuracy_scorer(model, X, y) == 1 - token_error(y, guess)
    assert token_accuracy_scorer(model, X, y) == pytest.approx(model.score(X, y), rel=1e-14)
    assert sequence_accuracy_scorer(model, X, y) == sequence_accuracy(y, guess)
    expected = model.sequence_log_proba(X, y).sum() / sum(map(len, y))
    assert log_likelihood_scorer(model, X, y) == pytest.approx(expected, rel=1e-14)


def test_cross_validation(tagged):
    X, y = tagged
    for scorer in SCORERS.values():
        values = cross_val_score(CRF(), X, y, scoring=scorer, cv=3)
        assert values.shape == (3,)
        assert np.isfinite(values).all()
    results = cross_validate(CRF(), X, y, scoring=SCORERS, cv=3)
    assert (results["test_entity"] > 0.3).all()
    assert (results["test_likelihood"] < 0).all()


def test_model_selection_prefers_the_likelier(tagged):
    X, y = tagged
    search = GridSearchCV(CRF(), {"penalty": [1e4, 1.0]}, scoring=log_likelihood_scorer, cv=3).fit(X, y)
    assert search.best_params_ == {"penalty": 1.0}


@pytest.mark.parametrize("name", SCORERS)
def test_scorers_can_be_sent_to_other_processes(name):
    assert pickle.loads(pickle.dumps(SCORERS[name])) is SCORERS[name]


def test_unobserved_labels_are_skipped(tagged):
    X, y = tagged
    model = CRF().fit(X, y)
    hidden = [[None, *labels[1:]] for labels in y]
    wrong = sum(
        a != b
        for true, guess in zip(y, model.predict(X), strict=True)
        for a, b in zip(true[1:], guess[1:], strict=True)
    )
    count = sum(len(labels) - 1 for labels in y)
    assert token_accuracy_scorer(model, X, hidden) == pytest.approx(1 - wrong / count)
    expected = model.sequence_log_proba(X, hidden).sum() / count
    assert log_likelihood_scorer(model, X, hidden) == pytest.approx(expected, rel=1e-14)
    with pytest.raises(InputError, match="nothing to score"):
        log_likelihood_scorer(model, X, [[None] * len(labels) for labels in y])


def test_a_label_that_training_did_not_have_counts_as_the_floor(tagged):
    X, y = tagged
    model = CRF().fit(X, y)
    strange = [["new", *y[0][1:]], *y[1:]]
    rest = model.sequence_log_proba(X, [[None, *y[0][1:]], *y[1:]]).sum()
    count = sum(map(len, y))
    with pytest.warns(
        UserWarning, match="Labels of y unknown to the model: 1; such positions count with a log-pro"
    ):
        assert log_likelihood_scorer(model, X, strange) == pytest.approx((rest + FLOOR) / count)
    with pytest.warns(UserWarning, match=r"log-probability of -2\."):
        assert log_likelihood_scorer(model, X, strange, floor=-2) == pytest.approx((rest - 2) / count)
    with pytest.warns(UserWarning, match="-inf"):
        assert log_likelihood_scorer(model, X, strange, floor=-np.inf) == -np.inf
    for floor in (0.5, np.nan, "low", None):
        with pytest.raises(InputError, match="floor is"):
            log_likelihood_scorer(model, X, strange, floor=floor)


def test_what_constraints_forbid_counts_as_the_floor(tagged):
    X, _ = tagged
    y = [["O"] * len(x) for x in X]
    y[0][:2] = ["B-X", "I-X"]
    model = CRF(constraints="iob2").fit(X, y)
    impossible = [["I-X", *y[0][1:]], *y[1:]]
    assert model.sequence_log_proba(X, impossible)[0] == -np.inf
    rest = model.sequence_log_proba(X, y)[1:].sum()
    with pytest.warns(UserWarning, match="Sequences less probable than the floor: 1;"):
        found = log_likelihood_scorer(model, X, impossible)
    assert found == pytest.approx((rest + len(y[0]) * FLOOR) / sum(map(len, y)))


@pytest.mark.filterwarnings("ignore:Labels of y unknown")
def test_a_rare_label_does_not_spoil_model_selection(tagged):
    """One fold is tested on a label that it was not trained with."""
    X, y = tagged
    y[-1][0] = "rare"
    for scorer in SCORERS.values():
        search = GridSearchCV(CRF(), {"penalty": [1e4, 1.0]}, scoring=scorer, cv=3).fit(X, y)
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()
        assert search.best_params_ == {"penalty": 1.0}


def negative(X):
    return [-x for x in X]


@pytest.fixture
def pipeline():
    return Pipeline([("sign", FunctionTransformer(negative)), ("skip", "passthrough"), ("crf", CRF())])


@pytest.mark.parametrize("name", SCORERS)
def test_pipelines_and_searches_are_scored(tagged, pipeline, name):
    X, y = tagged
    plain = SCORERS[name](CRF().fit(negative(X), y), negative(X), y)
    assert SCORERS[name](pipeline.fit(X, y), X, y) == plain
    search = GridSearchCV(pipeline, {"crf__penalty": [1e4, 1.0]}, scoring=SCORERS[name], cv=3).fit(X, y)
    assert search.best_params_ == {"crf__penalty": 1.0}
    assert SCORERS[name](search, X, y) == plain


def test_what_gives_no_likelihood_is_refused(tagged):
    X, y = tagged
    with pytest.raises(TypeError, match="LogisticRegression has no sequence_log_proba"):
        log_likelihood_scorer(LogisticRegression().fit([[0.0], [1.0]], [0, 1]), X, y)
