"""The optimum of CRF by independent routes: scikit-learn and CRFsuite."""

import re

import numpy as np
import pycrfsuite
import pytest
from sklearn.linear_model import LogisticRegression

from kernelfields import CRF, FreeScores, Parts
from kernelfields.arrays import offsets_of
from kernelfields.datasets import load_letters
from kernelfields.losses import LogLoss
from kernelfields.objective import Problem, Term
from kernelfields.solvers import LBFGS, Stop
from kernelfields.spaces import LinearFeatures
from kernelfields.structures import ChainBatch


@pytest.fixture(scope="module")
def letters():
    return load_letters().split(0)


def test_without_edges_it_is_multinomial_logistic_regression(letters):
    images, words = (part[:50] for part in letters)
    X, y = np.concatenate(images), np.concatenate(words)
    names, labels = np.unique(y, return_inverse=True)
    chain = ChainBatch(offsets_of([len(word) for word in words]), len(names))
    problem = Problem.of(LogLoss(chain, labels), [Term("features", LinearFeatures(chain, "node", X), 2.0)])
    ours = LBFGS().minimize(problem, problem.zero(), Stop(gap=1e-9)).point.value

    theirs = LogisticRegression(C=0.5, fit_intercept=False, tol=1e-10, max_iter=10000).fit(X, y)
    log_p = theirs.predict_log_proba(X)[np.arange(len(y)), labels]
    # Edge scores of zero: the sum over labellings is a product over positions.
    assert ours == pytest.approx(-log_p.sum() + np.sum(theirs.coef_**2), rel=1e-6)


def crfsuite_loss(images, words, c2, folder):
    """CRFsuite's final objective on the same features."""
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=True)
    lines = []
    trainer.message = lines.append
    for image, word in zip(images, words, strict=True):
        items = [{f"p{k}": float(v) for k, v in enumerate(row) if v} for row in image]
        trainer.append(pycrfsuite.ItemSequence(items), word)
    options = {"feature.possible_states": True, "feature.possible_transitions": True}
    trainer.set_params(
        {"c1": 0.0, "c2": c2, "epsilon": 1e-7, "delta": 1e-9, "max_iterations": 2000, **options}
    )
    trainer.train(str(folder / "model"))
    return float(re.findall(r"Loss: ([\d.]+)", "".join(lines))[-1])


def test_with_edges_it_has_crfsuites_optimum(letters, tmp_path):
    images, words = (part[:150] for part in letters)
    model = CRF(penalty=2.0, parts=Parts(bias=None, boundaries=None), tol=1e-7).fit(images, words)
    assert model.certificate_.value == pytest.approx(crfsuite_loss(images, words, 1.0, tmp_path), rel=1e-4)


@pytest.mark.parametrize(("boundaries", "most"), [(False, 0.201), (True, 0.196)])
def test_letters_error_is_that_of_a_good_linear_crf(boundaries, most):
    """CRFsuite at its better setting, c2 = 1: 20.07 %."""
    letters = load_letters()
    model = CRF(penalty=2.0, parts=Parts(boundaries=FreeScores() if boundaries else None), tol=1e-4).fit(
        *letters.split(0)
    )
    assert model.certificate_.relative_gap <= 1e-4
    assert 1 - model.score(*letters.split(*range(1, 10))) <= most
