"""Rows without neighbours: one pass against whole arrays of scores, and against scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from kernelfields import CRF, Parts, distributed
from kernelfields.losses import LogLoss
from kernelfields.objective import RowData, Term
from kernelfields.spaces import Boundary, Free, LinearFeatures
from kernelfields.structures import ChainBatch


def rows(n: int, D: int, L: int, dtype: Any, weighted: bool) -> RowData:
    rng = np.random.default_rng(n + D + L)
    chain = ChainBatch(np.arange(n + 1), L)
    X = (2 * rng.normal(size=(n, D))).astype(dtype)
    weights = rng.uniform(0, 3, n) if weighted else None
    loss = LogLoss(chain, rng.integers(0, L, n).astype(np.int32), weights=weights)
    spaces = [LinearFeatures(chain, "node", X), Free(chain, "node"), Boundary(chain), Free(chain, "edge")]
    assert RowData.suits(loss, [Term(str(k), space, 1.0) for k, space in enumerate(spaces)])
    return RowData(loss, spaces, np.float64)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "D", "L"), [(1, 1, 2), (63, 5, 3), (300, 30, 2), (5000, 7, 13), (40, 1100, 2)])
def test_the_loss_is_that_of_arrays(n: int, D: int, L: int, dtype: Any, weighted: bool) -> None:
    data = rows(n, D, L, dtype, weighted)
    element = np.random.default_rng(0).normal(size=data.size)
    found, expected = data.at(element), data.exact().arrays.at(element)
    digits = 1e-12 if dtype == np.float64 else 2e-5
    assert found.value == pytest.approx(expected.value, rel=digits)
    gradient = expected.mismatch()
    np.testing.assert_allclose(found.mismatch(), gradient, atol=digits * np.abs(gradient).max())
    np.testing.assert_allclose(found.variances(), expected.variances(), rtol=1e-4)
    some = np.arange(0, n, 2)
    part = data.take(some).at(element)
    assert part.value == pytest.approx(data.arrays.take(some).at(element).value, rel=digits)


def test_large_scores_do_not_overflow() -> None:
    data = rows(200, 4, 3, np.float64, weighted=False)
    element = 1e4 * np.random.default_rng(1).normal(size=data.size)
    found, expected = data.at(element), data.arrays.at(element)
    assert np.isfinite(found.value)
    assert found.value == pytest.approx(expected.value, rel=1e-12)
    np.testing.assert_allclose(found.mismatch(), expected.mismatch(), atol=1e-9)


@pytest.mark.parametrize("labels", [2, 4])
def test_the_fit_is_that_of_scikit_learn(labels: int) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 5))
    y = np.argmax(X @ rng.normal(size=(5, labels)) + rng.gumbel(size=(400, labels)), axis=1)
    model = CRF(0.5, tol=1e-10, parts=Parts(bias=None, boundaries=None))
    ours = clone(model).fit(X, y[:, None].tolist(), lengths=np.ones(len(X), dtype=int))
    # Of two labels, there is one vector of weights there, and half of it for each label here.
    C = 4.0 if labels == 2 else 2.0
    theirs = LogisticRegression(C=C, fit_intercept=False, tol=1e-10, max_iter=1000).fit(X, y)
    expected = np.vstack([-theirs.coef_, theirs.coef_]) / 2 if labels == 2 else theirs.coef_
    np.testing.assert_allclose(ours.coef_, expected, atol=1e-4)
    with distributed.use("threads", shards=3):
        shared = clone(model).fit(X, y[:, None].tolist(), lengths=np.ones(len(X), dtype=int))
    np.testing.assert_allclose(shared.coef_, ours.coef_, atol=1e-6)


def test_what_it_does_not_suit() -> None:
    chain = ChainBatch(np.array([0, 1, 3]), 2)
    features = LinearFeatures(chain, "node", np.eye(3))
    loss = LogLoss(chain, np.zeros(3, np.int32))
    assert not RowData.suits(loss, [Term("features", features, 1.0)])
