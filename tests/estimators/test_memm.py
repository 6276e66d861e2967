"""Maximum-entropy Markov models: against scikit-learn's logistic regression and by enumeration."""

import itertools

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from kernelfields import CRF, MEMM, InputError
from kernelfields.constraints import Constraints
from kernelfields.testing import check_estimator, labelled_sequences


@pytest.fixture
def data(rng):
    return labelled_sequences(rng, 40)


@pytest.mark.parametrize(
    "model", [MEMM(), MEMM(0.3, edge_penalty=2.0, solver="newton-cg", decoder="posterior")]
)
def test_estimator_passes_all_checks(model, rng):
    check_estimator(model, rng)


def rows(X, y, classes):
    """Features, bias and the label before as one matrix, position by position."""
    result = []
    for x, labels in zip(X, y, strict=True):
        before = np.zeros((len(x), len(classes) + 1))
        for t in range(len(x)):
            before[t, -1 if t == 0 else classes.index(labels[t - 1])] = 1
        result.append(np.hstack([x, np.ones((len(x), 1)), before]))
    return np.concatenate(result), np.concatenate(y)


def test_weights_are_those_of_logistic_regression(data):
    X, y = data
    model = MEMM(penalty=0.5, tol=1e-10).fit(X, y)
    matrix, labels = rows(X, y, model.classes_.tolist())
    rival = LogisticRegression(C=2.0, fit_intercept=False, tol=1e-10, max_iter=5000).fit(matrix, labels)
    mine = np.hstack([model.coef_, model.intercept_[:, None], model.transitions_.T, model.start_[:, None]])
    np.testing.assert_allclose(mine, rival.coef_, rtol=0, atol=1e-4)


def test_sparse_features_and_penalties_of_edges(data):
    X, y = data
    dense = MEMM(0.5, edge_penalty=5.0, tol=1e-10).fit(X, y)
    thin = MEMM(0.5, edge_penalty=5.0, tol=1e-10).fit([sparse.csr_matrix(x) for x in X], y)
    np.testing.assert_allclose(thin.coef_, dense.coef_, rtol=0, atol=1e-5)
    assert np.abs(dense.transitions_).sum() < np.abs(MEMM(0.5).fit(X, y).transitions_).sum()


def test_probabilities_are_products_of_local_ones(data):
    X, y = data
    model = MEMM().fit(X, y)
    x = X[-1]
    paths = list(itertools.product(model.classes_.tolist(), repeat=len(x)))
    chances = []
    for path in paths:
        chance, before = 1.0, model.start_
        for t, label in enumerate(path):
            scores = np.exp(model.coef_ @ x[t] + model.intercept_ + before)
            k = model.classes_.tolist().index(label)
            chance *= scores[k] / scores.sum()
            before = model.transitions_[k]
        chances.append(chance)
    assert sum(chances) == pytest.approx(1, rel=1e-12)
    mine = model.sequence_log_proba([x] * len(paths), [list(path) for path in paths])
    np.testing.assert_allclose(np.exp(mine), chances, rtol=1e-10)
    assert model.predict([x])[0] == list(paths[int(np.argmax(chances))])


def test_rules_hold_in_prediction(data):
    X, y = data
    model = MEMM(constraints=Constraints(forbidden_pairs=[("red", "blue")], forbidden_starts=["blue"]))
    y_allowed = [["red" if label == "blue" else label for label in labels] for labels in y]
    y_allowed[-1] = ["red", "green", "blue"]
    model.fit(X, y_allowed)
    for path in model.predict([np.random.default_rng(1).normal(size=(40, 3)) for _ in range(5)]):
        assert ("red", "blue") not in set(itertools.pairwise(path))
        assert path[0] != "blue"
    with pytest.raises(InputError, match="forbidden"):
        model.fit(X, [*y[:-1], ["red", "blue", "blue"]])


def test_it_is_a_baseline(data, rng):
    X_test, y_test = labelled_sequences(rng, 60)
    memm, crf = MEMM().fit(*data), CRF().fit(*data)
    assert 0.8 < memm.score(X_test, y_test) < crf.score(X_test, y_test) + 0.03
    assert memm.certificate_.relative_gap < 1e-3
