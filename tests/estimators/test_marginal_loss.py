"""Models that minimise the log loss of every label by itself."""

from __future__ import annotations

import numpy as np
import pytest

from kernelfields import CRF, KernelCRF
from kernelfields.errors import InputError
from kernelfields.kernels import RBF
from kernelfields.losses import MarginalLog


def data(rng, count=25):
    X = [rng.normal(size=(int(rng.integers(1, 8)), 3)) for _ in range(count)]
    noisy = [x[:, 0] + 0.7 * rng.normal(size=len(x)) for x in X]
    return X, [np.digitize(values, [-0.6, 0.6]).tolist() for values in noisy]


def loss_of_labels(model, X, y):
    """Σ_t −log p(y_t|x), from the predictions alone."""
    marginals = np.concatenate(model.predict_marginals(X))
    return -np.log(marginals[np.arange(len(marginals)), np.concatenate(y)]).sum()


@pytest.mark.parametrize(
    "make",
    [
        lambda **more: CRF(0.5, **more),
        lambda **more: KernelCRF(RBF(gamma=0.3), penalty=0.5, **more),
    ],
    ids=["linear", "kernel"],
)
def test_it_fits_labels_better_than_the_loss_of_labellings(make, rng):
    X, y = data(rng)
    whole, each = make().fit(X, y), make(loss="marginal-log").fit(X, y)
    assert each.certificate_ is None
    assert loss_of_labels(each, X, y) < loss_of_labels(whole, X, y)


def test_single_positions_are_the_log_loss(rng):
    X = [rng.normal(size=(1, 3)) for _ in range(40)]
    y = [[int(x[0, 0] > 0)] for x in X]
    log, each = (CRF(0.5, tol=1e-6, loss=loss).fit(X, y) for loss in ("log", "marginal-log"))
    np.testing.assert_allclose(each.coef_, log.coef_, atol=1e-3)


def test_weights_and_unobserved_labels(rng):
    X, y = data(rng)
    plain = CRF(loss="marginal-log").fit(X, y)
    heavy = CRF(loss=MarginalLog(class_weight={2: 20.0})).fit(X, y)
    share = [np.mean(np.concatenate(model.predict(X)) == 2) for model in (plain, heavy)]
    assert share[1] > share[0]
    holes = [[None, *labels[1:]] for labels in y]
    assert CRF(loss=MarginalLog(class_weight="balanced")).fit(X, holes).score(X, y) > 0.5


def test_an_unknown_loss_is_refused(rng):
    X, y = data(rng, 4)
    with pytest.raises(InputError, match="loss='hinge' is not known"):
        CRF(loss="hinge").fit(X, y)
