"""The linear kernel: the weights of a linear model where they are fewer than observations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from kernelfields import CRF, FixedScores, KernelCRF, KernelScores, Parts, Run, StructuredSVM, load
from kernelfields.losses import Log

EXACT = {"penalty": 0.7, "tol": 1e-8, "run": Run(dtype="float64")}


def data(rng, count=20):
    y = [rng.integers(0, 3, size=length).tolist() for length in rng.integers(1, 7, size=count)]
    return [np.eye(4)[labels] + rng.normal(size=(len(labels), 4)) for labels in y], y


def expansion(parts=None, **settings):
    """Return the same model as an expansion over observations: a kernel on labels asks for one."""
    parts = Parts(parts, kernel=KernelScores(labels=np.eye(3)))
    return KernelCRF("linear", parts=parts, **EXACT, **settings)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"parts": Parts(bias=None)},
        {"structure": "chain2"},
        {"loss": Log(class_weight="balanced")},
        {"parts": Parts(known=FixedScores({0: 1.0}))},
        {"parts": Parts(edges=None)},
    ],
    ids=repr,
)
def test_weights_are_the_expansion(settings, rng):
    X, y = data(rng)
    model, other = KernelCRF("linear", **EXACT, **settings).fit(X, y), expansion(**settings).fit(X, y)
    assert model.basis_.shape == (4, 4)
    assert other.basis_.shape[0] > 4
    assert model.certificate_.value == pytest.approx(other.certificate_.value, rel=1e-7)
    for a, b in zip(model.predict_marginals(X), other.predict_marginals(X), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-4)
    weights, expanded = (m.basis_.T @ m.dual_coef_ for m in (model, other))
    np.testing.assert_allclose(weights, expanded, atol=1e-3)
    assert model.full_gap(X, y).value == pytest.approx(model.certificate_.value, rel=1e-9)


def test_it_is_the_linear_model_by_default(rng):
    """Apart from how exactly both are searched for, nothing has to be set: not b, not the decoder."""
    X, y = data(rng)
    linear = CRF(0.7, tol=1e-8).fit(X, y)
    kernel = KernelCRF("linear", **EXACT).fit(X, y)
    for name in ("intercept_", "transitions_", "start_", "end_"):
        np.testing.assert_allclose(getattr(kernel, name), getattr(linear, name), atol=1e-3)
    others = data(rng)[0]
    assert kernel.predict(others) == linear.predict(others)
    np.testing.assert_allclose(kernel.basis_.T @ kernel.dual_coef_, linear.coef_.T, atol=1e-3)
    assert kernel.certificate_.value == pytest.approx(linear.certificate_.value, rel=1e-7)


def test_sparse_held_out_warm_and_saved(rng, tmp_path):
    X, y = data(rng)
    rows = [sparse.csr_matrix(x) for x in X]
    model = KernelCRF("linear", warm_start=True, **EXACT).fit(rows, y)
    dense = KernelCRF("linear", **EXACT).fit(X, y)
    assert sparse.issparse(model.basis_)
    np.testing.assert_allclose(model.dual_coef_, dense.dual_coef_, atol=1e-4)
    model.save(tmp_path / "model.kf")
    for a, b in zip(
        load(tmp_path / "model.kf").predict_marginals(rows), model.predict_marginals(rows), strict=True
    ):
        np.testing.assert_array_equal(a, b)
    cold = model.n_iter_
    assert model.fit(rows, y).n_iter_ < cold
    stopped = KernelCRF("linear", **EXACT).fit(rows, y, X_dev=rows, y_dev=y)
    assert np.isfinite(stopped.certificate_.value)


def test_support_vector_machines_keep_support_vectors(rng):
    X, y = data(rng)
    made = {"penalty": 1.0, "tol": 1e-4, "run": Run(dtype="float64")}
    kernel, linear = (StructuredSVM(k, **made).fit(X, y) for k in ("linear", None))
    assert len(kernel.basis_) > 4
    assert kernel.certificate_.value == pytest.approx(linear.certificate_.value, rel=1e-3)


def test_equal_observations_count_each(rng):
    X, y = data(rng)
    X = [np.repeat(np.rint(x[:1]), len(x), axis=0) for x in X]  # many are equal, within sequences and between
    model = KernelCRF("linear", penalty=0.7, tol=1e-8).fit(X, y)
    assert len(np.unique(np.concatenate(X), axis=0)) < sum(map(len, X))
    np.testing.assert_allclose(
        np.concatenate(model.predict_marginals(X)),
        np.concatenate(CRF(0.7, tol=1e-8).fit(X, y).predict_marginals(X)),
        atol=1e-4,
    )
