"""Features and penalties of any size: fits reach the optimum, or say that they did not."""

from itertools import pairwise, product

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kernelfields import CRF, Parts
from kernelfields.solvers import LBFGS, Reason


def sequences(scale, dtype=np.float64, seed=0):
    random = np.random.default_rng(seed)
    X = [random.normal(size=(random.integers(2, 6), 3)) for _ in range(20)]
    y = [["abc"[int(np.argmax(row + 0.7 * random.normal(size=3)))] for row in x] for x in X]
    return [(x * scale).astype(dtype) for x in X], y


@pytest.mark.parametrize("l1", [0.0, 0.3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-6, 1e6, [1e-6, 1.0, 1e6], 1e5])
def test_scales_of_features_do_not_matter_where_penalties_are_small(scale, dtype, l1):
    scale = np.ones(3) * scale
    X, y = sequences(scale, dtype)
    model = CRF(
        1e-8, parts=Parts(bias=None), l1=l1 * float(scale[0] == scale[1]), tol=1e-3, max_iter=3000
    ).fit(X, y)
    assert 0 <= model.certificate_.relative_gap <= 1e-3


def test_a_search_that_single_precision_cannot_finish_goes_on_in_double():
    X, y = sequences(1e5, np.float32)
    single = CRF(1.0).fit(X, y)
    double = CRF(1.0).fit([x.astype(np.float64) for x in X], y)
    assert single.certificate_.relative_gap <= 1e-3
    assert single.certificate_.value == pytest.approx(double.certificate_.value, rel=2e-3)


def test_a_fit_stuck_above_its_tolerance_warns():
    X, y = sequences(1.0)
    with pytest.warns(ConvergenceWarning, match="No step lowers the objective"):
        model = CRF(1.0, tol=1e-17).fit(X, y)
    assert model.certificate_.relative_gap > 1e-17
    assert not Reason.STUCK.converged


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e6])
def test_fits_that_are_not_convex_end_where_no_neighbour_is_lower(scale):
    X, y = sequences(scale)
    random = np.random.default_rng(1)
    y = [[None if random.random() < 0.3 else label for label in labels] for labels in y]
    model = CRF(1e-2, parts=Parts(bias=None, boundaries=None), tol=1e-4, max_iter=3000).fit(X, y)
    assert np.isfinite(model.coef_).all()

    def value(coef):
        return objective(model, coef, X, y)

    lowest = value(model.coef_)
    for _ in range(50):
        near = model.coef_ + 1e-3 * np.abs(model.coef_).max() * random.normal(size=model.coef_.shape)
        assert value(near) >= lowest - 1e-3 * abs(lowest)


def objective(model, coef, X, y):
    """−log p(observed) plus penalties, by enumeration."""
    total = 0.5e-2 * (np.square(coef).sum() + np.square(model.transitions_).sum())
    classes = model.classes_.tolist()
    for x, labels in zip(X, y, strict=True):
        node = x @ coef.T
        known = [None if label is None else classes.index(label) for label in labels]
        every = [
            (
                sum(node[t, k] for t, k in enumerate(path))
                + sum(model.transitions_[a, b] for a, b in pairwise(path)),
                all(k is None or k == p for k, p in zip(known, path, strict=True)),
            )
            for path in product(range(len(classes)), repeat=len(labels))
        ]
        scores = np.array([score for score, _ in every])
        agree = np.array([same for _, same in every])
        total += np.logaddexp.reduce(scores) - np.logaddexp.reduce(scores[agree])
    return total


def test_lbfgs_knows_the_scales_it_is_told():
    X, y = sequences([1e-3, 1.0, 1e3])
    rounds = CRF(1e-4, solver=LBFGS()).fit(X, y).n_iter_
    assert rounds < 200
