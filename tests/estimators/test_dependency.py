"""Dependency trees through the estimators: every one of them learns, answers, and is kept."""

from __future__ import annotations

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
    HMM,
    InputError,
    KernelCRF,
    PassiveAggressive,
    StochasticCRF,
    StructuredPerceptron,
    StructuredSVM,
    load,
)
from kernelfields.losses import Log
from kernelfields.structures import Dependency, DependencyBatch

WORDS = (3, 2, 5, 3, 1, 4, 4, 6)
STRUCTURES = {
    "projective": Dependency(),
    "many roots": Dependency(single_root=False),
    "all": Dependency(projective=False),
    "labelled": Dependency(labels=True),
    "all labelled": Dependency(projective=False, single_root=False, labels=["obj", "subj"]),
}
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
PAIRS = [
    (name, kind)
    for name in MODELS
    for kind in (STRUCTURES if name in ("crf", "perceptron") else ["projective", "all labelled"])
]


def batch_of(structure: Dependency, words: Any = WORDS) -> DependencyBatch:
    return DependencyBatch(
        words, 2 if structure.labels else None, structure.projective, structure.single_root
    )


def task(structure: Dependency) -> tuple[list[Any], list[Any]]:
    """Sentences whose best trees by noisy weights are right."""
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n * (n + 1), 3)) for n in WORDS]
    weights = np.array([[2.0, -1.0, 0.5], [-1.0, 1.5, 2.0]])[: 2 if structure.labels else 1].T
    scores = np.concatenate(X) @ weights
    scores += 0.3 * rng.normal(size=scores.shape)
    batch = batch_of(structure)
    outputs = batch.argmax({"arc": scores.reshape(batch.shapes["arc"])}).labels
    named = structure.settled([([0], ["obj"]), ([0], ["subj"])]) if structure.labels else structure
    return X, named.decode(outputs, batch)


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_learns_answers_and_is_kept(name: str, kind: str, tmp_path: Any) -> None:
    structure = STRUCTURES[kind]
    X, y = task(structure)
    model = clone(MODELS[name]).set_params(structure=structure).fit(X, y)
    assert model.score(X, y) > 0.7
    best = model.predict(X, decoder="viterbi")
    assert best == [first[0][0] for first in model.predict_kbest(X, 2)]
    marginals = model.predict_marginals(X)
    assert [p.shape[:2] for p in marginals] == [(n, n + 1) for n in WORDS]
    for p in marginals:
        np.testing.assert_allclose(p.reshape(len(p), -1).sum(axis=1), 1.0, atol=1e-5)
    log_proba = model.sequence_log_proba(X, best)
    np.testing.assert_allclose(log_proba, [first[0][1] for first in model.predict_kbest(X, 1)], atol=1e-6)
    assert len(model.sample(X, 2)) == 2
    model.save(tmp_path / "model")
    for other in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert other.predict(X) == model.predict(X)
        assert other.structure_ == model.structure_


@pytest.mark.parametrize("kind", STRUCTURES)
def test_reaches_the_optimum(kind: str) -> None:
    structure = STRUCTURES[kind]
    X, y = task(structure)
    model = clone(MODELS["crf"]).set_params(structure=structure).fit(X, y)
    batch, L = batch_of(structure), 2 if structure.labels else 1
    outputs = model.structure_.encode(y, batch.offsets, None)

    def objective(w: Any) -> float:
        table = w.reshape(L, 4)
        scores = {"arc": (np.concatenate(X) @ table[:, :3].T + table[:, 3]).reshape(batch.shapes["arc"])}
        return float((batch.log_partition(scores) - batch.score(scores, outputs)).sum() + 0.15 * w @ w)

    best = minimize(objective, np.zeros(4 * L), tol=1e-12)
    assert model.certificate_.value == pytest.approx(best.fun, rel=1e-6)
    assert model.coef_.shape == (L, 3)


@pytest.mark.parametrize("kind", ["projective", "all labelled"])
def test_all_forms_of_features_give_the_same(kind: str) -> None:
    structure = STRUCTURES[kind]
    X, y = task(structure)
    forms = {
        "array": X,
        "sparse": [sparse.csr_matrix(x) for x in X],
        "lists": [x.tolist() for x in X],
        "dictionaries": [[{"a": a, "b": b, "c": c} for a, b, c in x.tolist()] for x in X],
        "float32": [x.astype(np.float32) for x in X],
    }
    predicted = {
        name: CRF(0.3, structure=structure).fit(form, y).predict(form) for name, form in forms.items()
    }
    for name in forms:
        assert predicted[name] == predicted["array"], name


def test_posterior_decoding_is_the_tree_with_most_expected_heads() -> None:
    X, y = task(STRUCTURES["all"])
    model = CRF(3.0, structure=STRUCTURES["all"]).fit(X, y)
    flat = np.concatenate([p.ravel() for p in model.predict_marginals(X)])
    batch = batch_of(STRUCTURES["all"])
    expected = STRUCTURES["all"].decode(batch.argmax({"arc": flat}).labels, batch)
    assert model.predict(X, decoder="posterior") == expected


def test_relations_that_training_did_not_have() -> None:
    X, y = task(STRUCTURES["labelled"])
    model = CRF(0.3, structure=STRUCTURES["labelled"]).fit(X, y)
    strange = [
        (heads, ["other"] * len(heads)) if s == 1 else (heads, names) for s, (heads, names) in enumerate(y)
    ]
    assert model.score(X, strange) <= model.score(X, y)
    with pytest.warns(UserWarning, match="1 of 8 sentences have labels that training did not have"):
        log_proba = model.sequence_log_proba(X, strange)
    assert np.isneginf(log_proba[1])
    assert np.isfinite(np.delete(log_proba, 1)).all()
    with pytest.raises(InputError, match="Sentence 1 of y has, at place 0, an answer that is none of"):
        CRF(0.3, structure=Dependency(labels=["obj", "subj"])).fit(X, strange)


def test_held_out_sentences_end_a_training() -> None:
    X, y = task(STRUCTURES["all labelled"])
    model = CRF(1e-4, structure=STRUCTURES["all labelled"])
    model.fit(X[:5], y[:5], X_dev=X[5:], y_dev=y[5:])
    assert model.score(X[5:], y[5:]) > 0.3


def test_what_trees_are_not_for_is_refused() -> None:
    X, y = task(STRUCTURES["projective"])
    for settings in ({"constraints": "iob2"}, {"loss": Log(class_weight="balanced")}):
        with pytest.raises(InputError, match="is about labels of vertices, which Dependency has not"):
            CRF(structure=Dependency(), **settings).fit(X, y)
    with pytest.raises(InputError, match="rows, expected"):
        CRF(structure=Dependency()).fit([x[:-1] for x in X], y)
    assert "structure" not in HMM().get_params()
