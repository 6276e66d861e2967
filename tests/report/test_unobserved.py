"""Evaluations and pages of test sets in which some labels were not observed."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from kernelfields import CRF, InputError, KernelLogisticRegression
from kernelfields.metrics import log_likelihood_scorer
from kernelfields.report import evaluate, write_report
from kernelfields.report.browser import ReportLimits, browse
from tests.report._stand_in import StandIn, random_case


def hidden_case(rng):
    """A model, its labels with some hidden, and the positions that are left, each a sequence."""
    model, y = random_case(rng)
    hidden = [[None if rng.random() < 0.3 else label for label in labels] for labels in y]
    kept = [(s, t) for s, labels in enumerate(hidden) for t, label in enumerate(labels) if label is not None]
    left = StandIn(model.classes_.tolist(), [model.marginals[s][t : t + 1] for s, t in kept])
    return model, hidden, left, [[y[s][t]] for s, t in kept]


def test_numbers_are_those_of_what_was_observed(rng) -> None:
    model, hidden, left, rest = hidden_case(rng)
    found, expected = evaluate(model, model.inputs, hidden), evaluate(left, left.inputs, rest)
    for name in ("token_error", "brier", "ece", "unseen"):
        assert getattr(found, name) == getattr(expected, name)
    assert found.nll == pytest.approx(expected.nll)
    np.testing.assert_array_equal(found.confusion.counts, expected.confusion.counts)
    assert found.n_tokens == 49
    assert found.as_dict()["unobserved"] == found.n_unobserved == 49 - len(rest) > 0
    assert sum(row.wrong for row in found.worst) == round(found.token_error * len(rest))
    json.dumps(found.as_dict(), allow_nan=False)


def test_the_page_counts_what_was_observed(rng, tmp_path) -> None:
    model, hidden, left, rest = hidden_case(rng)
    found = evaluate(model, model.inputs, hidden)
    data, expected = (
        browse(found, ReportLimits(50, 5000)),
        browse(evaluate(left, left.inputs, rest), ReportLimits(50, 50)),
    )
    assert data["labels"] == ["a", "b", "c"]
    assert (data["all"], data["byLabel"]) == (expected["all"], expected["byLabel"])
    shown = {sequence["number"]: sequence["tokens"] for sequence in data["sequences"]}
    for s, labels in enumerate(hidden):
        names = [None if token[1] == -1 else data["labels"][token[1]] for token in shown[s]]
        assert names == labels
        for *_, rivals in shown[s]:
            assert min(rivals[::2]) >= 0
            assert len(set(rivals[::2])) == len(rivals[::2])
    write_report(found, tmp_path / "page.html")
    assert "positions without a label" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_nothing_observed_is_refused() -> None:
    model = StandIn(["a", "b"], [[[0.9, 0.1]] * 2])
    with pytest.raises(InputError, match="none of the 2 labels of y_true is observed"):
        evaluate(model, model.inputs, [[None, math.nan]])


def test_no_boundary_beside_what_was_not_observed() -> None:
    model = StandIn(["a", "b"], [[[0.9, 0.1]] * 3])
    assert evaluate(model, model.inputs, [["a", None, "b"]]).boundary_accuracy is None


def test_pipelines_and_searches() -> None:
    sentences = [[["The", "DT"], ["dog", "NN"]], [["Dogs", "NN"]], [["The", "DT"], ["cat", "NN"]]] * 4
    labels = [["B-NP", "I-NP"], ["B-NP"], ["B-NP", "I-NP"]] * 4
    plain = CRF(features="chunking").fit(sentences, labels)
    pipeline = make_pipeline(FunctionTransformer(), CRF(features="chunking"))
    search = GridSearchCV(pipeline, {"crf__penalty": [1.0]}, cv=2).fit(sentences, labels)
    for model in (search, search.best_estimator_):
        found = evaluate(model, sentences, labels)
        assert found.model == "CRF"
        assert found.nll == evaluate(plain, sentences, labels).nll
        assert found.sequences.tokens[0] == ["The", "dog"]
    with pytest.raises(TypeError, match="FunctionTransformer has no predict_marginals"):
        evaluate(FunctionTransformer(), sentences, labels)


def test_classifiers_of_rows_are_judged_on_sequences(rng) -> None:
    X = [rng.normal(size=(4, 2)) for _ in range(20)]
    y = [np.where(x[:, 0] > 0, "up", "down") for x in X]
    model = KernelLogisticRegression().fit(X, y)
    found = evaluate(model, X, y)
    assert found.model == "KernelLogisticRegression"
    assert found.token_error == pytest.approx(1 - model.score(X, y))
    assert log_likelihood_scorer(model, X, y) == pytest.approx(-found.nll)
