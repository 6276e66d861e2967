"""Base measures on every clique type: they are fixed scores, in training, prediction and files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelfields import (
    CRF,
    CliqueMeasures,
    FixedScores,
    FreeScores,
    InputError,
    KernelCRF,
    Parts,
    Run,
    StructuredSVM,
    load,
)
from kernelfields.testing import Enumerated, labelled_sequences

PAIRS = np.array([[0.0, 1.0, -2.0], [0.5, 0.0, 1.0], [-1.0, 2.0, 0.0]])
MEASURES = {
    "labels": {"red": 1.5},
    "pairs": CliqueMeasures(edge=PAIRS),
    "both": CliqueMeasures(node=lambda x: np.hstack([x[:, :2], x[:, :1] + 1]), edge=PAIRS),
}
MODELS = {
    "crf": CRF(0.5, tol=1e-8),
    "kernel": KernelCRF("rbf", penalty=0.5, run=Run(dtype="float64"), tol=1e-8),
    "svm": StructuredSVM(penalty=0.5, tol=1e-6),
    "svm-kernel": StructuredSVM("rbf", penalty=0.5, tol=1e-6),
}


@pytest.fixture(scope="module")
def data() -> tuple[list[Any], list[Any]]:
    return labelled_sequences(np.random.default_rng(1))


def fixed(model: Any, measure: Any, x: Any) -> tuple[Any, Any]:
    """The measure as scores of vertices and of pairs."""
    node, edge = np.zeros((len(x), 3)), np.zeros((3, 3))
    if isinstance(measure, dict):
        node[:, model.classes_.tolist().index("red")] = 1.5
    else:
        node = node if measure.node is None else measure.node(x)
        edge = np.asarray(measure.edge)
    return node, edge


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("name", MODELS)
def test_scores_are_those_without_it_and_the_measure(name: str, measure: str, data: Any) -> None:
    from sklearn.base import clone

    X, y = data
    model = clone(MODELS[name]).set_params(parts=Parts(known=FixedScores(MEASURES[measure]))).fit(X, y)
    scored = model._batch(X[:4], None, None)
    vars(model)["base_measure_"] = None
    plain = model._batch(X[:4], None, None)
    node, edge = fixed(model, MEASURES[measure], np.concatenate(X[:4]))
    np.testing.assert_allclose(scored.scores["node"], plain.scores["node"] + node, atol=1e-9)
    np.testing.assert_allclose(scored.scores["edge"], plain.scores["edge"] + edge, atol=1e-9)


@pytest.mark.parametrize("make", [CRF, StructuredSVM])
def test_training_sees_it(make: Any, data: Any) -> None:
    """What the transitions would learn is given: with a heavy penalty on them, the model is the same."""
    X, y = data
    free = make(penalty=0.5, parts=Parts(edges=FreeScores(penalty=1e-3)), tol=1e-8).fit(X, y)
    known = FixedScores(CliqueMeasures(edge=free.transitions_))
    parts = Parts(edges=FreeScores(penalty=1e8), known=known)
    given = make(penalty=0.5, parts=parts, tol=1e-8).fit(X, y)
    assert np.abs(given.transitions_).max() < 1e-5
    np.testing.assert_allclose(given.coef_, free.coef_, atol=2e-2)


def test_files_hold_tables(data: Any, tmp_path: Path) -> None:
    X, y = data
    for model in (
        CRF(parts=Parts(known=FixedScores(MEASURES["pairs"]))),
        StructuredSVM(parts=Parts(known=FixedScores({"red": 1.0}))),
    ):
        model.fit(X, y).save(tmp_path / "model.kf")
        for a, b in zip(
            model.predict_marginals(X), load(tmp_path / "model.kf").predict_marginals(X), strict=True
        ):
            np.testing.assert_array_equal(a, b)


def test_order_two_has_triples(data: Any) -> None:
    X, y = data
    triple = np.random.default_rng(0).normal(size=(3, 3, 3))
    model = CRF(structure="chain2", parts=Parts(known=FixedScores(CliqueMeasures(triple=triple)))).fit(X, y)
    scored = model._batch(X[:2], None, None)
    np.testing.assert_allclose(scored.scores["triple"], model.second_order_ + triple)
    found = np.concatenate(model.predict_marginals(X[:2]))
    np.testing.assert_allclose(
        found, Enumerated(scored.batch, scored.scores).marginals().parts["node"], atol=1e-9
    )


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        (
            CliqueMeasures(edge=np.zeros((2, 2))),
            r"measure of 'edge' has shape \(2, 2\), expected \(3, 3\)",
        ),
        (
            CliqueMeasures(triple=np.zeros((3, 3, 3))),
            "measure has 'triple', which ChainBatch does not have",
        ),
        (CliqueMeasures(edge="x"), "measure of 'edge' is no array of numbers"),
        (CliqueMeasures(edge=np.full((3, 3), np.nan)), "has NaN or infinity"),
        ({"violet": 1.0}, "unknown label 'violet'"),
        (3.0, "measure is 3.0; it must be a mapping, a function or CliqueMeasures"),
    ],
)
def test_refusals(measure: Any, words: str, data: Any) -> None:
    for make in (CRF, StructuredSVM, KernelCRF):
        with pytest.raises(InputError, match=words):
            make(parts=Parts(known=FixedScores(measure))).fit(*data)
