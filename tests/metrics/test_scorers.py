"""Scorers inside scikit-learn's model selection."""

import pickle

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate

from kernelfields import CRF
from kernelfields.metrics import (
    entity_f1,
    entity_f1_scorer,
    log_likelihood_scorer,
    sequence_accuracy,
    sequence_accuracy_scorer,
    token_accuracy_scorer,
    token_error,
)

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
