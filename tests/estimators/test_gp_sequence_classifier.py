"""GPSequenceClassifier: the paper's objective, and the map to KernelCRF."""

import numpy as np
import pytest

from kernelfields import GPSequenceClassifier, InputError, KernelCRF, Parts, Run
from kernelfields.kernels import RBF
from kernelfields.selection import SGPS
from kernelfields.testing import check_estimator, labelled_sequences

EXACT = {"run": Run(dtype="float64"), "tol": 1e-10}


@pytest.fixture
def data(rng):
    return labelled_sequences(rng, count=10)


def test_estimator_passes_all_checks(rng):
    check_estimator(GPSequenceClassifier(RBF(0.5), run=Run(dtype="float64")), rng)


def test_value_is_the_objective_of_the_paper(data):
    """Σ −log p + αᵀKα, without a half, label pairs included [altun2004gp, (6)]."""
    X, y = data
    model = GPSequenceClassifier(RBF(0.5), edge_variance=0.3, **EXACT).fit(X, y)
    alpha, K = model.dual_coef_, RBF(0.5)(model.basis_)
    penalty = np.trace(alpha.T @ K @ alpha) + (model.transitions_**2).sum() / 0.3
    value = penalty - model.sequence_log_proba(X, y).sum()
    assert model.certificate_.value == pytest.approx(value, rel=1e-8)


def test_it_is_a_kernel_crf_with_penalty_two(data):
    X, y = data
    model = GPSequenceClassifier(RBF(0.5), **EXACT).fit(X, y)
    field = KernelCRF(RBF(0.5), penalty=2.0, parts=Parts(bias=None, boundaries=None), **EXACT).fit(X, y)
    np.testing.assert_allclose(model.dual_coef_, field.dual_coef_, atol=1e-9)


def test_sparse_is_sgps(data):
    model = GPSequenceClassifier(RBF(0.5), sparse=True, random_state=0).fit(*data)
    assert isinstance(model._settings().selection, SGPS)
    assert model.certificate_space_ == "selection"
    assert model.path_[-1].functions == model.selected_["kernel"].size


def test_bad_settings_are_refused(data):
    for options, words in (
        ({"sparse": "sgps"}, "sparse is .sgps.; it must be True, False or a Selection"),
        ({"edge_variance": 0.0}, "edge_variance is 0"),
    ):
        with pytest.raises(InputError, match=words):
            GPSequenceClassifier(**options).fit(*data)
