"""Kernels with few features: weights of these where they are fewer than observations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kernelfields import (
    CRF,
    FixedScores,
    GPSequenceClassifier,
    KernelCRF,
    KernelLogisticRegression,
    KernelScores,
    Parts,
    Run,
    StructuredSVM,
)
from kernelfields.kernels import FeatureMapKernel, Kernel, PairFunction, Polynomial
from kernelfields.losses import Log
from kernelfields.objective import SpaceNorm

EXACT = {"penalty": 0.7, "tol": 1e-9, "run": Run(dtype="float64")}


class Squares(FeatureMapKernel):
    """⟨x, x′⟩² with its features written out, one of them twice: they are linearly dependent."""

    def features(self, X: Any) -> Any:
        a, b = np.asarray(X).T
        return np.stack([a * a, b * b, a * b, a * b], axis=1)


def data(rng, count=20):
    y = [rng.integers(0, 3, size=length).tolist() for length in rng.integers(1, 7, size=count)]
    return [np.eye(3)[labels][:, :2] + rng.normal(size=(len(labels), 2)) for labels in y], y


def same(model: Any, other: Any, X: Any, atol: float = 1e-4) -> None:
    assert model.certificate_.value == pytest.approx(other.certificate_.value, rel=1e-7)
    assert model.certificate_.relative_gap <= model.tol
    for a, b in zip(model.predict_marginals(X), other.predict_marginals(X), strict=True):
        np.testing.assert_allclose(a, b, atol=atol)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"structure": "chain2"},
        {"loss": Log(class_weight="balanced")},
        {"parts": Parts(known=FixedScores({0: 1.0}))},
        {"parts": Parts(edges=None)},
    ],
    ids=repr,
)
@pytest.mark.parametrize(
    ("kernel", "formula"),
    [(Squares(), Polynomial(2, 1.0, 0.0)), (0.5 * Squares(), 0.5 * Polynomial(2, 1.0, 0.0))],
)
def test_weights_are_the_expansion(kernel: Kernel, formula: Kernel, settings: dict[str, Any], rng) -> None:
    """The kernel by its formula has no features: it is the expansion over all observations."""
    X, y = data(rng)
    model = KernelCRF(kernel, **EXACT, **settings).fit(X, y)
    other = KernelCRF(formula, **EXACT, **settings).fit(X, y)
    assert len(model.basis_) == 3  # what spans the features of all
    assert len(other.basis_) == sum(map(len, X))
    same(model, other, [*X, *data(rng)[0]])
    assert model.full_gap(X, y).value == pytest.approx(model.certificate_.value, rel=1e-9)
    for found, (s, t) in zip(model.basis_, model.basis_origin_, strict=True):
        np.testing.assert_array_equal(found, X[s][t])


def test_the_basis_is_the_function_in_the_words_of_the_documentation(rng) -> None:
    X, y = data(rng)
    model = KernelCRF(Squares(), parts=Parts(edges=None, boundaries=None, bias=None), **EXACT).fit(X, y)
    scores = model.kernel_(X[0], model.basis_) @ model.dual_coef_
    odds = np.exp(scores)
    expected = odds / odds.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_marginals(X[:1])[0], expected, atol=1e-10)


def test_single_precision_rounds_the_search_only(rng) -> None:
    X, y = data(rng)
    single = [x.astype(np.float32) for x in X]
    model = KernelCRF(Squares(), penalty=0.7, tol=1e-4).fit(single, y)
    other = KernelCRF(Squares(), **EXACT).fit(single, y)
    assert model.basis_.dtype == np.float32
    assert model.certificate_.relative_gap <= 1e-4
    assert model.certificate_.value == pytest.approx(other.certificate_.value, rel=1e-4)


def test_few_observations_have_an_expansion(rng) -> None:
    X, y = [rng.normal(size=(3, 2))], [[0, 1, 0]]
    model, other = (KernelCRF(kernel, **EXACT).fit(X, y) for kernel in (Squares(), Polynomial(2, 1.0, 0.0)))
    assert len(model.basis_) == 3
    same(model, other, X)


def test_sums_edges_and_labels_go_the_ordinary_way(rng) -> None:
    X, y = data(rng)
    formula = Polynomial(2, 1.0, 0.0)
    for settings in (
        lambda k: {"kernel": k + PairFunction(np.dot)},
        lambda k: {"kernel": k, "parts": Parts(edge_kernel=KernelScores())},
        lambda k: {"kernel": {0: k, 1: k, 2: "linear"}},
        lambda k: {"kernel": k, "parts": Parts(kernel=KernelScores(labels=np.eye(3)))},
        lambda k: {"kernel": k, "parts": Parts(kernel=KernelScores(norm=SpaceNorm(0.1)))},
        lambda k: {"kernel": k, "basis": "cholesky", "random_state": 0},
    ):
        model, other = (KernelCRF(**settings(k), **EXACT).fit(X, y) for k in (Squares(), formula))
        same(model, other, X, 1e-3)


def test_other_estimators(rng) -> None:
    X, y = data(rng)
    formula = Polynomial(2, 1.0, 0.0)
    exact = {"tol": 1e-8, "run": Run(dtype="float64")}
    model, other = (GPSequenceClassifier(4.0 * k, **exact).fit(X, y) for k in (Squares(), formula))
    assert len(model.basis_) == 3
    same(model, other, X)
    rows, labels = np.concatenate(X), np.concatenate(y)
    model, other = (KernelLogisticRegression(k, tol=1e-8).fit(rows, labels) for k in (Squares(), formula))
    np.testing.assert_allclose(model.predict_proba(rows), other.predict_proba(rows), atol=1e-5)
    model, other = (StructuredSVM(k, run=Run(dtype="float64")).fit(X, y) for k in (Squares(), formula))
    assert len(model.basis_) > 3  # support vectors, as of every kernel
    assert model.certificate_.value == pytest.approx(other.certificate_.value, rel=2e-3)


def test_it_is_the_linear_model_of_the_features(rng) -> None:
    X, y = data(rng)
    linear = CRF(0.7, tol=1e-9).fit([Squares().features(x) for x in X], y)
    model = KernelCRF(Squares(), **EXACT).fit(X, y)
    weights = Squares().features(model.basis_).T @ model.dual_coef_
    np.testing.assert_allclose(weights, linear.coef_.T, atol=1e-4)


def test_held_out_warm_and_stopped(rng, tmp_path) -> None:
    X, y = data(rng)
    model = KernelCRF(Squares(), warm_start=True, **EXACT).fit(X, y)
    cold = model.n_iter_
    assert model.fit(X, y).n_iter_ < cold / 2
    held = KernelCRF(Squares(), **EXACT).fit(X, y, X_dev=X, y_dev=y)
    same_as = KernelCRF(Polynomial(2, 1.0, 0.0), **EXACT).fit(X, y, X_dev=X, y_dev=y)
    assert held.certificate_.value == pytest.approx(same_as.certificate_.value, rel=1e-3)
    file = tmp_path / "search.npz"
    with pytest.warns(Warning, match="limit"):
        KernelCRF(Squares(), max_iter=3, **EXACT).set_params(run__checkpoint=file).fit(X, y)
    again = KernelCRF(Squares(), **EXACT).set_params(run__checkpoint=file).fit(X, y)
    same(again, model, X)
