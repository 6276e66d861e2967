"""Scores that are kept for the next question about the same sequences."""

import numpy as np
import pytest

from kernelfields import CRF
from kernelfields.models.model import remembering_scores


@pytest.fixture
def asked(rng, monkeypatch):
    """A model, sequences, labels, and how often the model has been asked for scores."""
    X = [rng.normal(size=(T, 2)) for T in (3, 5)]
    y = [["a", "b", "a"], ["b", "a", "b", "b", "a"]]
    model, times = CRF(penalty=0.1).fit(X, y), []
    scores = type(model._model()).scores
    monkeypatch.setattr(type(model._model()), "scores", lambda *given: times.append(1) or scores(*given))
    return model, X, y, times


def answers(model, X, y):
    return [*model.predict_marginals(X), model.sequence_log_proba(X, y)]


def test_one_look_answers_all_questions(asked) -> None:
    model, X, y, times = asked
    expected = answers(model, X, y)
    assert len(times) == 2
    with remembering_scores():
        found = answers(model, X, y)
        assert len(times) == 3
        model.predict(X, allowed=[[{"a"}] * len(x) for x in X])
        assert len(times) == 3
        for one, other in zip(found, answers(model, X, y), strict=True):
            np.testing.assert_array_equal(one, other)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    answers(model, X, y)
    assert len(times) == 5


def test_other_sequences_and_models_are_asked_again(asked, rng) -> None:
    model, X, y, times = asked
    other = CRF(penalty=10.0).fit(X, y)
    with remembering_scores():
        first = model.predict_marginals(X)
        np.testing.assert_array_equal(model.predict_marginals(list(X))[0], first[0])
        assert not np.allclose(other.predict_marginals(X)[0], first[0])
    assert len(times) == 3
