"""Estimators with kernels that look at the observations first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import kernelfields as kf
from kernelfields import KernelScores, Parts
from kernelfields.approximation import Nystroem
from kernelfields.kernels import RBF, Kernel, Linear, Standardized
from kernelfields.selection import GreedyCliques

RNG = np.random.default_rng(8)
X = [3.0 * RNG.normal(size=(int(n), 3)) for n in RNG.integers(2, 6, 12)]
Y = [["ab"[int(v)] for v in (x[:, 0] * x[:, 1] > 0)] for x in X]
GAMMA = RBF("scale").on(np.concatenate(X)).gamma
NUMBERS = {"run": kf.Run(dtype="float64"), "tol": 1e-8}


def _pairs(gamma: Any) -> Parts:
    return Parts(pairs=KernelScores(RBF(gamma), on="edge", view="difference"))


MAKERS = {
    "kernel crf": lambda g: kf.KernelCRF(RBF(g), **NUMBERS),
    "edges too": lambda g: kf.KernelCRF(RBF(g), parts=Parts(edge_kernel=KernelScores()), **NUMBERS),
    "edges alone": lambda g: kf.KernelCRF("linear", parts=Parts(edge_kernel=KernelScores(RBF(g))), **NUMBERS),
    "several": lambda g: kf.KernelCRF([RBF(g), "linear"], penalty=[1.0, 2.0], **NUMBERS),
    "by label": lambda g: kf.KernelCRF({"a": RBF(g), "b": Linear() + RBF(g)}, **NUMBERS),
    "nystroem": lambda g: kf.KernelCRF(RBF(g), basis=Nystroem(9), random_state=0, **NUMBERS),
    "fourier": lambda g: kf.KernelCRF(RBF(g), basis="fourier", random_state=0, **NUMBERS),
    "selection": lambda g: kf.KernelCRF(RBF(g), basis=GreedyCliques(6), **NUMBERS),
    "selection of several": lambda g: kf.KernelCRF([RBF(g), "linear"], basis=GreedyCliques(6), **NUMBERS),
    "gaussian process": lambda g: kf.GPSequenceClassifier(RBF(g), **NUMBERS),
    "sparse gaussian process": lambda g: kf.GPSequenceClassifier(
        RBF(g), sparse=True, random_state=0, **NUMBERS
    ),
    "svm": lambda g: kf.StructuredSVM(RBF(g), run=kf.Run(dtype="float64")),
    "perceptron": lambda g: kf.KernelPerceptron(RBF(g), random_state=0),
    "cascade": lambda g: kf.Cascade(
        kf.KernelCRF(RBF(g), **NUMBERS), kf.KernelCRF(**NUMBERS), window=1, folds=2, random_state=0
    ),
}


@pytest.mark.parametrize("name", MAKERS)
def test_the_scale_is_settled_on_the_training_set(name: str, tmp_path: Any) -> None:
    make = MAKERS[name]
    if name == "cascade":  # folds have scales of their own; the model of all sequences that of all
        model = make("scale").fit(X, Y)
        assert model.first_[0].kernel_.gamma == pytest.approx(GAMMA, rel=1e-12)
        return
    model, expected = clone(make("scale")).fit(X, Y), make(GAMMA).fit(X, Y)
    marginals = np.concatenate(model.predict_marginals(X))
    np.testing.assert_allclose(marginals, np.concatenate(expected.predict_marginals(X)), atol=1e-12)
    assert "scale" in repr(model.get_params(deep=False))
    assert "scale" not in repr(model.kernel_)
    model.save(tmp_path / "model.kf")
    again = kf.load(tmp_path / "model.kf")
    assert repr(again.kernel_) == repr(model.kernel_)
    np.testing.assert_array_equal(np.concatenate(again.predict_marginals(X)), marginals)


def test_kernels_of_cliques_are_settled_on_what_they_see() -> None:
    model = kf.KernelCRF("linear", parts=_pairs("scale"), **NUMBERS).fit(X, Y)
    differences = np.concatenate([x[1:] - x[:-1] for x in X])
    (found,) = model.parts_.values()
    assert found.kernel.gamma == pytest.approx(RBF("scale").on(differences).gamma, rel=1e-12)


@pytest.mark.parametrize(("kind", "tol"), [(kf.KernelCRF, 1e-3), (kf.StructuredSVM, 1e-10)])
def test_standardising_inside_is_standardising_before(kind: Any, tol: float, tmp_path: Any) -> None:
    """To the end for SVMs: on the way there, rounding decides which labelling is the worst."""
    rows = np.concatenate(X)
    before = [(x - rows.mean(axis=0)) / rows.std(axis=0) for x in X]
    model = kind(Standardized(RBF(0.5)), run=kf.Run(dtype="float64"), tol=tol).fit(X, Y)
    expected = kind(RBF(0.5), run=kf.Run(dtype="float64"), tol=tol).fit(before, Y)
    found = np.concatenate(model.predict_marginals(X))
    np.testing.assert_allclose(found, np.concatenate(expected.predict_marginals(before)), atol=1e-8)
    model.save(tmp_path / "model.kf")
    np.testing.assert_array_equal(np.concatenate(kf.load(tmp_path / "model.kf").predict_marginals(X)), found)


def test_rows_are_what_logistic_regression_settles_kernels_on() -> None:
    rows, labels = np.concatenate(X), np.concatenate(Y)
    model = kf.KernelLogisticRegression(RBF("scale"), tol=1e-8).fit(rows, labels)
    expected = kf.KernelLogisticRegression(RBF(GAMMA), tol=1e-8).fit(rows, labels)
    assert model.kernel_.gamma == pytest.approx(GAMMA, rel=1e-12)
    np.testing.assert_allclose(model.predict_proba(rows), expected.predict_proba(rows), atol=1e-12)


@pytest.mark.parametrize("edge", ["shared", "same"])
def test_what_is_one_kernel_stays_one(edge: Any) -> None:
    kernel = RBF("scale") + Linear()
    part = KernelScores(kernel if edge == "same" else None)
    model = kf.KernelCRF(kernel, parts=Parts(edge_kernel=part)).fit(X, Y)
    assert model.edge_kernel_ is model.kernel_
    by_label = kf.KernelCRF({"a": kernel, "b": kernel}).fit(X, Y).kernel_
    assert by_label["a"] is by_label["b"]


def test_refits_look_at_their_own_observations() -> None:
    model = kf.KernelCRF(RBF("scale")).fit(X, Y)
    first = model.kernel_.gamma
    model.fit([2.0 * x for x in X], Y)
    assert isinstance(model.kernel_, Kernel)
    assert model.kernel_.gamma == pytest.approx(first / 4, rel=1e-6)
    assert model.kernel.gamma == "scale"


def test_structure_learning_bounds_gains_by_the_settled_kernel() -> None:
    from kernelfields.models.clique_types import FurtherKernel, InputEdges
    from kernelfields.models.gain_bounds import gain_bound

    model = kf.KernelCRF("linear", run=kf.Run(dtype="float64")).fit(X, Y)
    for kind in (lambda k: FurtherKernel(k, 1.0), InputEdges):
        found = gain_bound(model, kind(RBF("scale")), X, Y)
        assert found == pytest.approx(gain_bound(model, kind(RBF(GAMMA)), X, Y), rel=1e-10)
