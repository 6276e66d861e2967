"""Rules of a grammar through the estimators: every one of them learns, answers, and is kept."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone

from kernelfields import (
    AROW,
    CRF,
    InputError,
    KernelCRF,
    Parts,
    PassiveAggressive,
    StochasticCRF,
    StructuredPerceptron,
    StructuredSVM,
    load,
)
from kernelfields.structures import Grammar, GrammarBatch, GrammarTrees, with_leaves

GRAMMAR = Grammar(
    ("A", "B", "a", "b"),
    (("A", "A", "B"), ("A", "a", "b"), ("B", "b", "A"), ("B", "b", "a"), ("A", "a", "B")),
    roots=("A", "B"),
    words=("a", "b"),
)
STRUCTURE = GrammarTrees(GRAMMAR)
MODELS = {
    "crf": CRF(0.3, tol=1e-10),
    "newton": CRF(0.3, solver="newton-cg", tol=1e-10),
    "kernel": KernelCRF("rbf", penalty=0.1),
    "svm": StructuredSVM(penalty=0.3),
    "perceptron": StructuredPerceptron(random_state=0),
    "passive-aggressive": PassiveAggressive(random_state=0),
    "arow": AROW(random_state=0),
    "descent": StochasticCRF(random_state=0),
}
WORDS = (3, 2, 5, 3, 4, 4, 6, 0)


def task() -> tuple[list[Any], list[Any]]:
    """Sentences whose best trees by noisy weights are right; tags are the symbols of words."""
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n * (n + 1) // 2, 3)) for n in WORDS]
    batch = GrammarBatch(WORDS, GRAMMAR)
    span = np.concatenate(X) @ rng.normal(size=(3, 4)) * 2
    outputs = batch.argmax({"span": span, "rule": rng.normal(size=5)}).labels
    y = []
    for n, start, tree in zip(WORDS, batch.output_offsets, STRUCTURE.decode(outputs, batch), strict=False):
        singles = {k * (2 * n - k - 1) // 2 + k for k in range(n)}
        own = outputs[start : start + max(2 * n - 1, 0)]
        tags = [GRAMMAR.symbols[v % 4] for v in own if v // 4 in singles]
        y.append(with_leaves(tree, [(tag, "w") for tag in tags]))
    return X, y


@pytest.mark.parametrize("name", MODELS)
def test_learns_answers_and_is_kept(name: str, tmp_path: Any) -> None:
    X, y = task()
    model = clone(MODELS[name]).set_params(structure=STRUCTURE).fit(X, y)
    assert model.classes_.tolist() == list(GRAMMAR.symbols)
    assert model.rules_.shape == (5,)
    assert np.abs(model.rules_).max() > 0
    assert model.score(X, y) > 0.7
    best = model.predict(X, decoder="viterbi")
    assert best == [first[0][0] for first in model.predict_kbest(X, 2)]
    assert len(model.sample(X, 2)) == 2
    model.save(tmp_path / "model")
    for other in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert other.predict(X) == model.predict(X)
        assert other.structure_ == model.structure_


def test_reaches_the_optimum() -> None:
    X, y = task()
    model = clone(MODELS["crf"]).set_params(structure=STRUCTURE, parts=Parts(bias=None)).fit(X, y)
    batch = GrammarBatch(WORDS, GRAMMAR)
    outputs = STRUCTURE.encode(y, batch.offsets, None)

    def objective(w: Any) -> float:
        scores = {"span": np.concatenate(X) @ w[:12].reshape(3, 4), "rule": w[12:]}
        return float((batch.log_partition(scores) - batch.score(scores, outputs)).sum() + 0.15 * w @ w)

    best = minimize(objective, np.zeros(17), tol=1e-12)
    assert model.certificate_.value == pytest.approx(best.fun, rel=1e-6)
    np.testing.assert_allclose(model.rules_, best.x[12:], atol=1e-4)


def test_training_goes_on_where_it_was() -> None:
    X, y = task()
    model = StructuredPerceptron(structure=STRUCTURE, random_state=0, max_iter=2).fit(X, y)
    again = clone(model).set_params(warm_start=True).fit(X, y)
    again.fit(X, y)
    assert again.rules_.shape == model.rules_.shape


def test_what_training_did_not_have() -> None:
    X, y = task()
    model = CRF(0.3, structure=STRUCTURE).fit(X, y)
    strange = [("A", ("a", "w"), ("c", "w")) if s == 1 else tree for s, tree in enumerate(y)]
    with pytest.warns(UserWarning, match="1 of 8 sentences have labels that training did not have"):
        log_proba = model.sequence_log_proba(X, strange)
    assert np.isneginf(log_proba[1])
    assert np.isfinite(np.delete(log_proba, 1)).all()
    other = [("A", ("b", "w"), ("b", "w")) if s == 1 else tree for s, tree in enumerate(y)]
    with pytest.warns(UserWarning, match="1 of 8 sentences"):
        assert np.isneginf(model.sequence_log_proba(X, other)[1])  # no such rule
    with pytest.raises(InputError, match="Sentence 1 of y has, at place 1, an answer that is none of"):
        CRF(0.3, structure=STRUCTURE).fit(X, other)
    with pytest.raises(InputError, match="grammar is 'S'; it must be a Grammar"):
        GrammarTrees("S")
    with pytest.raises(InputError, match="Sentence 0 has 3 words in X, but 2 in y"):
        CRF(0.3, structure=STRUCTURE).fit(X, [y[1], *y[1:]])


def test_the_grammar_of_the_training_set() -> None:
    X, y = task()
    model = CRF(0.3, structure=GrammarTrees(horizontal=1)).fit(X, y)
    assert model.structure_.grammar == Grammar.of(y, horizontal=1)
    assert model.score(X, y) > 0.7


def test_sentences_with_one_tree_alone_leave_nothing_to_learn():
    """The loss is 0 but for rounding, of which a relative gap may be anything; the gradient is 0."""
    grammar = Grammar(("A", "a", "b"), (("A", "a", "b"),), roots=("A",), words=("a", "b"))
    X = list(np.random.default_rng(0).normal(size=(20, 3, 2)))
    model = CRF(structure=GrammarTrees(grammar)).fit(X, [("A", ("a", "x"), ("b", "y"))] * len(X))
    assert model.n_iter_ == 0
    assert abs(model.certificate_.value) < 1e-12
