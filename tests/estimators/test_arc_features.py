"""Dependency trees from tokens: templates of arcs through every estimator that takes a structure."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from kernelfields import (
    AROW,
    CRF,
    KernelCRF,
    PassiveAggressive,
    StochasticCRF,
    StructuredPerceptron,
    StructuredSVM,
    load,
)
from kernelfields.errors import InputError
from kernelfields.features import TemplateFeatures, sets
from kernelfields.structures import Dependency

SENTENCES = [
    [("the", "DET"), ("dog", "NOUN"), ("barks", "VERB")],
    [("dogs", "NOUN"), ("chase", "VERB"), ("the", "DET"), ("cat", "NOUN")],
    [("a", "DET"), ("black", "ADJ"), ("cat", "NOUN"), ("sleeps", "VERB"), ("here", "ADV")],
    [],
    [("stop", "VERB")],
]
TREES: list[Any] = [
    ([2, 3, 0], ["det", "subj", "root"]),
    ([2, 0, 4, 2], ["subj", "root", "det", "obj"]),
    ([3, 3, 4, 0, 4], ["det", "mod", "subj", "root", "mod"]),
    ([], []),
    ([0], ["root"]),
]
NEW = [[("black", "ADJ"), ("dogs", "NOUN"), ("chase", "VERB"), ("the", "DET"), ("cat", "NOUN")]]
MODELS = {
    "crf": CRF(0.1),
    "svm": StructuredSVM(penalty=0.1),
    "kernel": KernelCRF("linear", penalty=0.1),
    "perceptron": StructuredPerceptron(random_state=0),
    "passive-aggressive": PassiveAggressive(random_state=0),
    "arow": AROW(random_state=0),
    "descent": StochasticCRF(0.1, random_state=0),
}


@pytest.mark.parametrize("labels", [True, None])
@pytest.mark.parametrize("name", MODELS)
def test_learns_from_tokens_and_is_kept(name: str, labels: Any, tmp_path: Any) -> None:
    structure = Dependency(labels=labels)
    y = TREES if labels else [heads for heads, _ in TREES]
    model = clone(MODELS[name])
    model.set_params(structure=structure, features="arcs").fit(SENTENCES, y)
    assert model.predict(SENTENCES) == y
    assert model.predict(NEW) == [TREE_OF_NEW if labels else TREE_OF_NEW[0]]
    model.save(tmp_path / "model")
    for other in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model)), model.fit(SENTENCES, y)):
        assert other.predict(NEW) == model.predict(NEW)
        np.testing.assert_array_equal(other.predict_marginals(NEW)[0], model.predict_marginals(NEW)[0])


TREE_OF_NEW = ([2, 3, 0, 5, 3], ["mod", "subj", "root", "det", "obj"])


@pytest.mark.parametrize("name", ["crf", "perceptron", "descent"])
def test_tokens_and_rows_are_the_same(name: str) -> None:
    y = [heads for heads, _ in TREES]
    X, lengths = TemplateFeatures(sets.arcs(), dtype=np.float32).fit_transform(SENTENCES)
    model = clone(MODELS[name]).set_params(structure=Dependency())
    rows = clone(model).fit(X, y, lengths=lengths).coef_
    tokens = clone(model).set_params(features="arcs").fit(SENTENCES, y).coef_
    np.testing.assert_allclose(tokens, rows, atol=1e-5)


def test_hashed_features(tmp_path: Any) -> None:
    y = [heads for heads, _ in TREES]
    hashed = TemplateFeatures(sets.arcs(), n_hash=2**16, dtype=bool)
    model = StochasticCRF(0.1, structure=Dependency(), features=hashed, random_state=0).fit(SENTENCES, y)
    assert model.predict(SENTENCES) == y
    exact = clone(model).set_params(features="arcs").fit(SENTENCES, y)
    np.testing.assert_allclose(model.predict_marginals(NEW)[0], exact.predict_marginals(NEW)[0], atol=0.02)
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").predict(NEW) == model.predict(NEW)


@pytest.mark.parametrize(
    ("features", "structure", "message"),
    [
        ("arcs", "chain", "features are templates of arcs; Chain needs templates of tokens"),
        (
            "pos",
            Dependency(),
            "templates of tokens; Dependency needs templates of arcs, as features='arcs' is",
        ),
        ("spans", Dependency(), "templates of spans; Dependency needs templates of arcs"),
    ],
)
def test_templates_of_other_cliques_are_refused(features: str, structure: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        CRF(features=features, structure=structure).fit(SENTENCES, [heads for heads, _ in TREES])


def test_what_is_wrong_is_named() -> None:
    model = CRF(structure=Dependency(), features="arcs")
    with pytest.raises(InputError, match="Sentence 1 is wrong at position 0"):
        model.fit([SENTENCES[0], [("stop",)]], [[2, 3, 0], [0]])
    with pytest.raises(InputError, match="Sentence 1 has 1 words in X, but 2 heads in y"):
        model.fit([SENTENCES[0], [("stop", "VERB")]], [[2, 3, 0], [0, 1]])
