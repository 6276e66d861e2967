"""Constituency trees through the estimators: every one of them learns, answers, and is kept."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.base import clone

from kernelfields import (
    AROW,
    CRF,
    InputError,
    KernelCRF,
    PassiveAggressive,
    StochasticCRF,
    StructuredPerceptron,
    StructuredSVM,
    load,
)
from kernelfields.features import TemplateFeatures
from kernelfields.losses import Log
from kernelfields.structures import Constituency, ConstituencyBatch
from tests._listed_parses import row_of

WORDS = (3, 2, 5, 3, 1, 4, 4, 6, 0)
LABELS = ("A", "B+C")
STRUCTURE = Constituency(LABELS)
MODELS = {
    "crf": CRF(0.3, tol=1e-10),
    "newton": CRF(0.3, solver="newton-cg", tol=1e-10),
    "kernel": KernelCRF("rbf", penalty=0.1),
    "svm": StructuredSVM(penalty=0.3),
    "kernel svm": StructuredSVM("rbf", penalty=0.1),
    "perceptron": StructuredPerceptron(random_state=0),
    "passive-aggressive": PassiveAggressive(random_state=0),
    "arow": AROW(random_state=0),
    "descent": StochasticCRF(random_state=0),
}


def batch_of(words: Any = WORDS) -> ConstituencyBatch:
    return ConstituencyBatch(words, 3, empty=True)


def task() -> tuple[list[Any], list[Any]]:
    """Sentences whose best trees by noisy weights are right."""
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n * (n + 1) // 2, 3)) for n in WORDS]
    scores = np.concatenate(X) @ np.array([[2.0, -1.0, 0.5], [-1.0, 1.5, 2.0], [0.5, 1.0, -2.0]])
    scores += 0.3 * rng.normal(size=scores.shape)
    return X, STRUCTURE.decode(batch_of().argmax({"span": scores}).labels, batch_of())


@pytest.mark.parametrize("name", MODELS)
def test_learns_answers_and_is_kept(name: str, tmp_path: Any) -> None:
    X, y = task()
    model = clone(MODELS[name]).set_params(structure=Constituency()).fit(X, y)
    assert model.classes_.tolist() == ["", *LABELS]
    assert model.score(X, y) > 0.7
    best = model.predict(X, decoder="viterbi")
    assert best == [first[0][0] for first in model.predict_kbest(X, 2)]
    marginals = model.predict_marginals(X)
    for n, p in zip(WORDS, marginals, strict=True):
        assert p.shape == (n * (n + 1) // 2, 3)
        assert p.sum() == pytest.approx(max(2 * n - 1, 0), abs=1e-4)
    log_proba = model.sequence_log_proba(X, best)
    np.testing.assert_allclose(log_proba, [first[0][1] for first in model.predict_kbest(X, 1)], atol=1e-6)
    assert len(model.sample(X, 2)) == 2
    model.save(tmp_path / "model")
    for other in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert other.predict(X) == model.predict(X)
        assert other.structure_ == model.structure_


def test_reaches_the_optimum() -> None:
    X, y = task()
    model = clone(MODELS["crf"]).set_params(structure=STRUCTURE).fit(X, y)
    outputs = STRUCTURE.encode(y, batch_of().offsets, None)

    def objective(w: Any) -> float:
        table = w.reshape(3, 4)
        scores = {"span": np.concatenate(X) @ table[:, :3].T + table[:, 3]}
        loss = batch_of().log_partition(scores) - batch_of().score(scores, outputs)
        return float(loss.sum() + 0.15 * w @ w)

    best = minimize(objective, np.zeros(12), tol=1e-12)
    assert model.certificate_.value == pytest.approx(best.fun, rel=1e-6)
    assert model.coef_.shape == (3, 3)


def test_all_forms_of_features_give_the_same() -> None:
    X, y = task()
    X, y = X[:-1], y[:-1]
    forms = {
        "array": X,
        "sparse": [sparse.csr_matrix(x) for x in X],
        "lists": [x.tolist() for x in X],
        "dictionaries": [[{"a": a, "b": b, "c": c} for a, b, c in x.tolist()] for x in X],
        "float32": [x.astype(np.float32) for x in X],
    }
    predicted = {
        name: CRF(0.3, structure=STRUCTURE).fit(form, y).predict(form) for name, form in forms.items()
    }
    for name in forms:
        assert predicted[name] == predicted["array"], name


def test_templates_of_spans_have_the_same_rows() -> None:
    words = ["a", "b", "c", "d"]
    templates = TemplateFeatures("columns: w\ncliques: spans\nw[i] & w[j]")
    matrix, rows = templates.fit_transform([[(word,) for word in words]])
    assert rows.tolist() == [10]
    names = templates.names()
    for i, j in itertools.combinations(range(5), 2):
        (found,) = matrix[row_of(4, i, j)].indices
        assert names[found] == f"w[i]&w[j]={words[i]}&{words[j - 1]}"
    tokens = [[(word, word.upper()) for word in words[:n]] for n in (4, 3, 2)]
    model = CRF(0.01, structure=Constituency(["A", "B", "S"]), features="spans")
    trees = [("S", ("A", 0, 1), ("B", 2, 3)), ("S", ("A", 0, 1), 2), ("S", 0, 1)]
    assert model.fit(tokens, trees).predict(tokens) == trees
    with pytest.raises(InputError, match="Constituency needs templates of spans"):
        CRF(structure=Constituency(), features="pos").fit(tokens, trees)


def test_posterior_decoding_is_the_tree_with_most_expected_spans() -> None:
    X, y = task()
    model = CRF(3.0, structure=STRUCTURE).fit(X, y)
    flat = np.concatenate(model.predict_marginals(X))
    expected = STRUCTURE.decode(batch_of().argmax({"span": flat}).labels, batch_of())
    assert model.predict(X, decoder="posterior") == expected


def test_the_score_is_the_share_of_spans() -> None:
    """Also where the same span stands at another place of the list of all of them."""
    X, y = task()
    model = CRF(3.0, structure=STRUCTURE).fit(X, y)
    found = STRUCTURE.encode(model.predict(X), batch_of().offsets, None)
    wanted = STRUCTURE.encode(y, batch_of().offsets, None)
    places = batch_of().output_offsets
    right = sum(len(set(found[a:b]) & set(wanted[a:b])) for a, b in itertools.pairwise(places))
    assert model.score(X, y) == pytest.approx(right / places[-1])
    assert right > (found == wanted).sum()


def test_labels_that_training_did_not_have() -> None:
    X, y = task()
    model = CRF(0.3, structure=Constituency()).fit(X, y)
    strange = [("D", 0, 1) if s == 1 else tree for s, tree in enumerate(y)]
    assert model.score(X, strange) <= model.score(X, y)
    with pytest.warns(UserWarning, match="1 of 9 sentences have labels that training did not have"):
        log_proba = model.sequence_log_proba(X, strange)
    assert np.isneginf(log_proba[1])
    assert np.isfinite(np.delete(log_proba, 1)).all()
    with pytest.raises(InputError, match="Sentence 1 of y has, at place 1, an answer that is none of"):
        CRF(0.3, structure=STRUCTURE).fit(X, strange)


@pytest.mark.parametrize("name", ["crf", "perceptron"])
def test_held_out_sentences_end_a_training(name: str) -> None:
    X, y = task()
    model = clone(MODELS[name]).set_params(structure=STRUCTURE)
    model.fit(X[:5], y[:5], X_dev=X[5:], y_dev=y[5:])
    assert model.score(X[5:], y[5:]) > 0.3


def test_what_trees_are_not_for_is_refused() -> None:
    X, y = task()
    for settings in ({"constraints": "iob2"}, {"loss": Log(class_weight="balanced")}):
        with pytest.raises(InputError, match="is about labels of vertices, which Constituency has not"):
            CRF(structure=Constituency(), **settings).fit(X, y)
    with pytest.raises(InputError, match="rows, expected"):
        CRF(structure=Constituency()).fit([x[:-1] for x in X], y)
    with pytest.raises(TypeError, match="Abstaining"):
        CRF(structure=Constituency()).fit(X, y).predict(X, abstain=0.5)
