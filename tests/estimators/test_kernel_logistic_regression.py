"""KernelLogisticRegression: scikit-learn's logistic regression on explicit features."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from kernelfields import KernelCRF, KernelLogisticRegression
from kernelfields.kernels import RBF, Polynomial

EXACT = {"dtype": "float64", "tol": 1e-11}


@pytest.fixture
def data(rng):
    X = rng.normal(size=(80, 2))
    y = np.array(["out", "in", "edge"])[np.digitize((X**2).sum(axis=1) + 0.3 * rng.normal(size=80), [1, 2])]
    return X, y


@pytest.mark.parametrize("n_labels", [2, 3])
def test_polynomial_kernel_is_logistic_regression_on_its_features(n_labels, data):
    X, y = data
    y = y if n_labels == 3 else np.where(y == "in", "in", "out")
    root = np.sqrt(2)
    features = np.column_stack([np.ones(len(X)), root * X, X**2, root * X[:, 0] * X[:, 1]])  # (⟨x, x′⟩ + 1)²
    model = KernelLogisticRegression(Polynomial(2), penalty=0.5, **EXACT).fit(X, y)
    # Two labels: scikit-learn has one w for the difference, whose price is ½‖w‖²/2.
    C = 2.0 if n_labels == 3 else 4.0
    theirs = LogisticRegression(C=C, fit_intercept=False, tol=1e-10, max_iter=5000).fit(features, y)
    np.testing.assert_array_equal(model.classes_, theirs.classes_)
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(features), atol=1e-5)
    np.testing.assert_array_equal(model.predict(X), theirs.predict(features))
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(model.predict_proba(X)))
    assert model.certificate_.relative_gap <= 1e-11


def test_rows_are_sequences_of_one(data):
    X, y = data
    rows = KernelLogisticRegression(bias=True, **EXACT).fit(X, y)
    field = KernelCRF(bias=True, **EXACT).fit([x[None] for x in X], [[label] for label in y])
    assert rows.certificate_.value > field.certificate_.value  # which may use first and last labels
    alone = KernelCRF(bias=True, boundaries=False, **EXACT).fit(
        [x[None] for x in X], [[label] for label in y]
    )
    assert rows.certificate_.value == pytest.approx(alone.certificate_.value, rel=1e-9)
    np.testing.assert_allclose(rows.intercept_, alone.intercept_, atol=1e-5)


def test_sequences_are_labelled_position_by_position(data):
    X, y = data
    rows = KernelLogisticRegression(**EXACT).fit(X, y)
    cut = [X[:30], X[30:35], X[35:]]
    sequences = KernelLogisticRegression(**EXACT).fit(cut, [y[:30], y[30:35], y[35:]])
    np.testing.assert_allclose(np.concatenate(sequences.predict_proba(cut)), rows.predict_proba(X), atol=1e-5)
    assert np.concatenate(sequences.predict(cut)).tolist() == rows.predict(X).tolist()
    assert sequences.score(cut, [y[:30], y[30:35], y[35:]]) == rows.score(X, y)
    np.testing.assert_allclose(
        np.exp(sequences.predict_log_proba(cut)[1]), rows.predict_proba(X[30:35]), atol=1e-5
    )


def test_scikit_learn_tools_work(rng):
    X, y = make_moons(120, noise=0.15, random_state=0)
    model = KernelLogisticRegression(RBF(2.0), penalty=0.1)
    assert cross_val_score(model, X, y, cv=3).mean() > 0.93
    with pytest.raises(NotFittedError):
        clone(model).predict(X)
    with pytest.raises(NotFittedError):
        clone(model).predict_proba(X)
    model.fit(X, y)
    assert model.predict(X).dtype == y.dtype
    assert model.n_features_in_ == 2
    weights = np.where(y == 1, 1.0, 1e-9)
    assert model.fit(X, y, sample_weight=weights).score(X, y, sample_weight=weights) > 0.999
    thin = KernelLogisticRegression(RBF(2.0), penalty=0.1).fit(sparse.csr_matrix(X), y)
    plain = KernelLogisticRegression(RBF(2.0), penalty=0.1).fit(X, y)
    np.testing.assert_allclose(thin.predict_proba(sparse.csr_matrix(X)), plain.predict_proba(X), atol=1e-4)
    assert plain.predict_proba(X[:0]).shape == (0, 2)
