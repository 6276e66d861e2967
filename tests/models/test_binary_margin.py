"""Support vector machines of two labels, against libsvm."""

import numpy as np
import pytest
from sklearn.svm import SVC

from kernelfields import native
from kernelfields.kernels import RBF, Linear
from kernelfields.models.binary_margin import BinaryMargin


def rows(rng, count=60):
    X = rng.normal(size=(count, 3))
    return X, np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=count) > 0, 1.0, -1.0)


@pytest.mark.parametrize("penalty", [3.0, 0.3])
@pytest.mark.parametrize("kernel", [RBF(0.5), Linear()])
def test_is_the_machine_of_libsvm(penalty, kernel, rng):
    X, y = rows(rng)
    weights = rng.uniform(0.2, 2.0, len(y))
    gram = kernel(X)
    found = BinaryMargin(gram, penalty, 1e-7, 10_000).fit(y, weights)
    other = SVC(kernel="precomputed", C=1 / penalty, tol=1e-5).fit(gram, y, sample_weight=weights)
    np.testing.assert_allclose(found.scores + found.intercept, other.decision_function(gram), atol=2e-3)
    assert found.coef.sum() == pytest.approx(0, abs=1e-9 / penalty)
    coef = np.zeros(len(y))
    coef[other.support_] = other.dual_coef_[0]
    slacks = np.maximum(0, 1 - y * other.decision_function(gram))
    best = 0.5 * penalty * coef @ gram @ coef + weights @ slacks
    # libsvm holds kernel values in single precision, and ends above the minimum
    assert best * (1 - 1e-4) <= found.certificate.value <= best * (1 + 1e-7)
    assert found.certificate.relative_gap <= 1e-7


def test_starts_that_are_feasible_lead_to_the_same_value(rng):
    X, y = rows(rng)
    margin, weights = BinaryMargin(RBF(0.5)(X), 0.1, 1e-9, 10_000), np.ones(len(y))
    light = margin.fit(y, 0.5 * weights)
    cold, warm = margin.fit(y, weights), margin.fit(y, weights, light.coef)
    assert warm.certificate.value == pytest.approx(cold.certificate.value, rel=1e-8)


def test_rows_without_weight_have_no_say(rng):
    X, y = rows(rng)
    weights = np.r_[np.ones(40), np.zeros(20)]
    gram = RBF(0.5)(X)
    every = BinaryMargin(gram, 0.1, 1e-9, 10_000).fit(y, weights)
    few = BinaryMargin(np.ascontiguousarray(gram[:40, :40]), 0.1, 1e-9, 10_000).fit(y[:40], weights[:40])
    assert (every.coef[40:] == 0).all()
    assert every.certificate.value == pytest.approx(few.certificate.value, rel=1e-8)


def test_a_limit_leaves_a_gap_that_is_certified(rng):
    X, y = rows(rng, 200)
    gram, weights = RBF(0.5)(X), np.ones(200)
    best = BinaryMargin(gram, 1e-3, 1e-8, 10_000).fit(y, weights).certificate.value
    early = BinaryMargin(gram, 1e-3, 1e-8, 1).fit(y, weights).certificate
    assert early.relative_gap > 1e-8
    assert early.lower_bound <= best * (1 + 1e-9) <= early.value * (1 + 2e-9)


def test_equal_rows_with_opposite_labels():
    """No curvature at all: bounds end the step."""
    found = BinaryMargin(np.ones((2, 2)), 1.0, 1e-9, 10).fit(np.array([1.0, -1.0]), np.ones(2))
    assert found.certificate.value == pytest.approx(2.0)


def test_shapes_are_checked():
    vector, gram = np.zeros(2), np.zeros((2, 2))
    with pytest.raises(ValueError, match=r"gram has shape \(2, 3\), expected \(2, 2\)"):
        native.margin_smo(np.zeros((2, 3)), *[vector] * 5, 0.1, 10)
    with pytest.raises(ValueError, match=r"scores has shape \(3\)"):
        native.margin_smo(gram, *[vector] * 4, np.zeros(3), 0.1, 10)
