"""A structure that is no labelling, dependency trees, through the estimators."""

from __future__ import annotations

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
    PassiveAggressive,
    StochasticCRF,
    StructuredPerceptron,
    StructuredSVM,
)
from kernelfields.losses import Log

from .._dependency import Dependency, DependencyBatch

WORDS = (3, 2, 4, 3, 1, 4)
TREE = Dependency()
MODELS = {
    "crf": CRF(0.3, structure=TREE, tol=1e-10),
    "newton": CRF(0.3, structure=TREE, solver="newton-cg", tol=1e-10),
    "svm": StructuredSVM(penalty=0.3, structure=TREE),
    "n-slack": StructuredSVM(penalty=0.3, structure=TREE, solver="n-slack"),
    "perceptron": StructuredPerceptron(structure=TREE, random_state=0),
    "passive-aggressive": PassiveAggressive(structure=TREE, random_state=0),
    "arow": AROW(structure=TREE, random_state=0),
    "descent": StochasticCRF(structure=TREE, random_state=0),
}


@pytest.fixture(scope="module")
def data() -> tuple[list[Any], list[Any]]:
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n * (n + 1), 3)) for n in WORDS]
    noisy = [x @ [2.0, -1.0, 0.5] + rng.normal(size=len(x)) for x in X]
    y = [DependencyBatch([n]).argmax({"arc": v}).labels.tolist() for n, v in zip(WORDS, noisy, strict=True)]
    return X, y


@pytest.mark.parametrize("name", MODELS)
def test_learns_and_answers(name: str, data: Any) -> None:
    X, y = data
    model = clone(MODELS[name]).fit(X, y)
    assert model.score(X, y) > 0.6
    batch = DependencyBatch(WORDS)
    scores = np.concatenate(X) @ model.coef_[0] + model.intercept_[0]
    expected = batch.marginals({"arc": scores})
    np.testing.assert_allclose(np.concatenate(model.predict_marginals(X)), expected.parts["arc"], atol=1e-9)
    found = model.sequence_log_proba(X, y)
    heads = np.concatenate(y)
    np.testing.assert_allclose(found, batch.score({"arc": scores}, heads) - expected.log_partition, atol=1e-9)
    assert model.predict(X, decoder="viterbi") == [best[0][0] for best in model.predict_kbest(X, 2)]
    assert all(len(tree) == n for tree, n in zip(model.sample(X, 1)[0], WORDS, strict=True))


@pytest.mark.parametrize("name", ["crf", "newton"])
def test_reaches_the_optimum(name: str, data: Any) -> None:
    X, y = data
    model, batch = clone(MODELS[name]).fit(X, y), DependencyBatch(WORDS)
    arcs, heads = np.concatenate(X), np.concatenate(y)

    def objective(w: Any) -> float:
        scores = {"arc": arcs @ w[:3] + w[3]}
        return float((batch.log_partition(scores) - batch.score(scores, heads)).sum() + 0.15 * w @ w)

    best = minimize(objective, np.zeros(4), tol=1e-12)
    assert model.certificate_.value == pytest.approx(best.fun, rel=1e-6)


@pytest.mark.parametrize("settings", [{"constraints": "iob2"}, {"loss": Log(class_weight="balanced")}])
def test_what_is_about_labels_is_refused(settings: dict[str, Any], data: Any) -> None:
    with pytest.raises(InputError, match="is about labels of vertices, which Dependency has not"):
        CRF(structure=TREE, **settings).fit(*data)
    with pytest.raises(InputError, match="allowed is about labels of vertices"):
        CRF(structure=TREE).fit(*data).predict(data[0], allowed=[None] * len(WORDS))


@pytest.mark.parametrize(
    "model",
    [KernelCRF("rbf", penalty=0.3, structure=TREE), StructuredSVM("rbf", penalty=0.1, structure=TREE)],
)
def test_kernels_compare_arcs(model: Any, data: Any) -> None:
    X, y = data
    model = clone(model).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-3
    assert model.score(X, y) > 0.6
    squares = np.square(np.concatenate(X)[:, None] - model.basis_[None]).sum(axis=2)
    scores = np.exp(-model.kernel_.gamma * squares) @ model.dual_coef_[:, 0] + model.intercept_[0]
    expected = DependencyBatch(WORDS).marginals({"arc": scores}).parts["arc"]
    np.testing.assert_allclose(np.concatenate(model.predict_marginals(X)), expected, atol=1e-5)
