"""Estimators on graphs whose sums are approximate: surrogates, their certificates, warnings."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from kernelfields import CRF, InputError, KernelCRF, Parts
from kernelfields.losses import Log
from kernelfields.structures import BeliefPropagation, ConvexFreeEnergy, MeanField, TreeReweighted

from .._approximate import AnyGraph

RING = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2]])
SETTINGS: dict[str, Any] = {"penalty": 0.5, "decoder": "posterior", "parts": Parts(boundaries=None)}


@pytest.fixture(scope="module")
def data() -> tuple[list[Any], list[Any]]:
    rng = np.random.default_rng(0)
    X = [(rng.normal(size=(4, 2)), RING) for _ in range(8)]
    y = [["ab"[int(v)] for v in (x[:, 0] + 0.5 * rng.normal(size=4) > 0)] for x, _ in X]
    return X, y


def surrogate(data: Any, inference: Any) -> Any:
    """R as a function of all weights, by whole arrays of scores; edges both of the same table."""
    X, y = data
    rows = np.concatenate([x for x, _ in X])
    labels = np.array(["ab".index(v) for one in y for v in one])
    edges = np.concatenate([RING + 4 * s for s in range(len(X))])
    batch = AnyGraph(inference).on(np.arange(0, 33, 4), edges, 2)

    def value(w: Any) -> tuple[float, Any]:
        coef, bias, pairs = w[:4].reshape(2, 2), w[4:6], w[6:].reshape(2, 2)
        scores = {"node": rows @ coef.T + bias, "edge": pairs}
        found = batch.marginals(scores)
        observed = batch.parts(labels)
        node, edge = (found.parts[name] - observed[name] for name in ("node", "edge"))
        total = (found.log_partition - batch.score(scores, labels)).sum() + 0.25 * w @ w
        slope = np.concatenate([(node.T @ rows).ravel(), node.sum(axis=0), edge.ravel()])
        return float(total), slope + 0.5 * w

    return value


@pytest.mark.parametrize(
    "inference", [BeliefPropagation(), TreeReweighted(), ConvexFreeEnergy(), MeanField()]
)
def test_fits_and_predicts(inference: Any, data: Any) -> None:
    X, y = data
    model = CRF(structure=AnyGraph(inference), **SETTINGS).fit(X, y)
    assert repr(inference) in repr(model)
    assert model.score(X, y) > 0.7
    marginals = model.predict_marginals(X)
    np.testing.assert_allclose([p.sum() for p in marginals], 4)
    assert (model.certificate_ is not None) == isinstance(inference, TreeReweighted | ConvexFreeEnergy)
    assert [len(one) for one in model.sample(X, 1)[0]] == [4] * 8
    assert len(model.predict(X, decoder="viterbi")) == 8
    assert model.sequence_log_proba(X, y).shape == (8,)
    named = model.predict(X)
    assert named == [["ab"[k] for k in p.argmax(axis=1)] for p in marginals]
    assert model.predict(X, abstain=0.0) == named


@pytest.mark.parametrize("tol", [1e-2, 1e-6])
def test_the_certificate_is_that_of_the_surrogate(tol: float, data: Any) -> None:
    inference = TreeReweighted(tol=1e-10)
    model = CRF(structure=AnyGraph(inference), tol=tol, **SETTINGS).fit(*data)
    best = minimize(surrogate(data, inference), np.zeros(10), jac=True, method="BFGS", options={"gtol": 1e-9})
    found = model.certificate_
    assert not found.exact
    assert found.relative_gap <= tol
    assert found.lower_bound <= best.fun + 1e-9
    assert found.value >= best.fun - 1e-9
    assert found.value - best.fun <= found.gap + 1e-9


def test_a_search_with_few_iterations_certifies_less(data: Any) -> None:
    """Beliefs far from a fixed point still are a point of the dual: the bound holds, the gap says so."""
    best = minimize(
        surrogate(data, TreeReweighted(tol=1e-10)),
        np.zeros(10),
        jac=True,
        method="BFGS",
        options={"gtol": 1e-9},
    )
    hasty = TreeReweighted(max_iter=1)
    with pytest.warns(ConvergenceWarning):
        model = CRF(structure=AnyGraph(hasty), tol=1e-6, max_iter=30, **SETTINGS).fit(*data)
    assert model.certificate_.lower_bound <= best.fun
    assert model.certificate_.value >= best.fun - 1e-9
    assert model.certificate_.relative_gap > 1e-6


def test_kernels_learn_on_graphs(data: Any) -> None:
    X, y = data
    model = KernelCRF(
        "linear",
        penalty=0.5,
        structure=AnyGraph(TreeReweighted()),
        tol=1e-7,
        decoder="posterior",
        parts=Parts(boundaries=None),
    ).fit(X, y)
    linear = CRF(structure=AnyGraph(TreeReweighted()), tol=1e-7, **SETTINGS).fit(X, y)
    np.testing.assert_allclose(
        np.concatenate(model.predict_marginals(X)), np.concatenate(linear.predict_marginals(X)), atol=2e-3
    )


def test_one_warning_for_what_did_not_converge(data: Any) -> None:
    X, y = data
    model = CRF(structure=AnyGraph(BeliefPropagation()), **SETTINGS).fit(X, y)
    vars(model)["structure_"] = AnyGraph(BeliefPropagation(max_iter=1, tol=0.0))
    for ask in (model.predict, model.predict_marginals, lambda X: model.predict(X, abstain=0.5)):
        with pytest.warns(ConvergenceWarning, match="did not converge on 8 of 8 graphs") as caught:
            ask(X)
        assert len(caught) == 1


def test_a_fit_says_what_did_not_converge(data: Any) -> None:
    with pytest.warns(ConvergenceWarning) as caught:
        CRF(structure=AnyGraph(BeliefPropagation(max_iter=1, tol=0.0)), max_iter=200, **SETTINGS).fit(*data)
    said = [str(one.message) for one in caught]
    assert sum("BeliefPropagationBatch did not converge on 8 of 8 graphs" in text for text in said) == 1


def test_questions_without_an_answer_are_refused(data: Any) -> None:
    X, y = data
    model = CRF(structure=AnyGraph(BeliefPropagation()), **SETTINGS).fit(X, y)
    with pytest.raises(InputError, match="predict_kbest needs a KBestOracle"):
        model.predict_kbest(X, 2)
    with pytest.raises(TypeError, match="does not differentiate its marginals"):
        CRF(structure=AnyGraph(TreeReweighted()), solver="newton-cg", **SETTINGS).fit(X, y)
    with pytest.raises(TypeError, match="marginal log loss needs"):
        CRF(structure=AnyGraph(TreeReweighted()), loss="marginal-log", **SETTINGS).fit(X, y)


def test_unobserved_labels_have_no_certificate(data: Any) -> None:
    X, y = data
    some = [[None if s == 0 else label for label in one] for s, one in enumerate(y)]
    model = CRF(structure=AnyGraph(TreeReweighted()), **SETTINGS).fit(X, some)
    assert model.certificate_ is None
    assert model.score(X, y) > 0.7


def test_costs_of_edges_go_into_the_surrogate(data: Any) -> None:
    X, y = data
    model = CRF(structure=AnyGraph(TreeReweighted()), loss=Log("hamming"), **SETTINGS).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-3
