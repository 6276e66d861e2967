"""Cascades against the same done by hand, and what the second model may know of the first."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from kernelfields import CRF, Cascade, KernelCRF
from kernelfields.data.groups import fold_numbers
from kernelfields.errors import InputError
from kernelfields.testing import check_estimator
from kernelfields.testing.estimators import labelled_sequences


def by_hand(first, second, X, y, fold, window, weight):
    """Out-of-fold marginals, padded and cut into windows without any code of the library's."""
    rows = {}
    for number in set(fold):
        known = [i for i in range(len(X)) if fold[i] != number]
        model = clone(first).fit([X[i] for i in known], [y[i] for i in known])
        for i in range(len(X)):
            if fold[i] == number:
                rows[i] = weight * model.predict_marginals([X[i]])[0]
    return clone(second).fit([windows(rows[i], window) for i in range(len(X))], y)


def windows(rows, window):
    half = window // 2
    padded = np.concatenate([np.zeros((half, rows.shape[1])), rows, np.zeros((half, rows.shape[1]))])
    return np.stack([padded[t : t + window].ravel() for t in range(len(rows))])


@pytest.fixture
def data(rng):
    return labelled_sequences(rng, 14)


def test_conforms(rng):
    check_estimator(Cascade(CRF(0.5), CRF(0.5), window=3, folds=3, random_state=0), rng)


def test_is_what_it_says_by_hand(data):
    X, y = data
    groups = [i % 4 for i in range(len(X))]
    first, second = CRF(0.3, tol=1e-9), CRF(0.7, tol=1e-9)
    model = Cascade(first, second, window=5, folds=None, weight=2.0).fit(X, y, groups=groups)
    assert model.fold_.tolist() == groups
    expected = by_hand(first, second, X, y, groups, 5, 2.0)
    marginals = clone(first).fit(X, y).predict_marginals(X)
    seen = [windows(2.0 * rows, 5) for rows in marginals]
    assert model.predict(X) == expected.predict(seen)
    for mine, theirs in zip(model.predict_marginals(X), expected.predict_marginals(seen), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-6)
    np.testing.assert_allclose(
        model.sequence_log_proba(X, y), expected.sequence_log_proba(seen, y), atol=1e-5
    )
    assert model.score(X, y) == expected.score(seen, y)
    weights = np.arange(len(X))
    assert model.score(X, y, sample_weight=weights) == expected.score(seen, y, sample_weight=weights)


def test_without_a_refit_the_models_of_the_folds_are_averaged(data):
    X, y = data
    model = Cascade(CRF(0.3), CRF(0.7), window=3, folds=3, refit=False, random_state=0).fit(X, y)
    assert len(model.first_) == 3
    mean = np.mean([np.concatenate(one.predict_marginals(X)) for one in model.first_], axis=0)
    rows = np.split(mean, np.cumsum([len(x) for x in X])[:-1])
    expected = model.second_.predict_marginals([windows(one, 3) for one in rows])
    for mine, theirs in zip(model.predict_marginals(X), expected, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-9)


def test_marginals_of_a_sequence_come_from_a_model_without_it(data):
    X, y = data
    model = Cascade(CRF(0.3), CRF(0.7), window=3, folds=3, random_state=0)
    before = model.fit(X, y).out_of_fold_[0]
    colours = {"red": "green", "green": "blue", "blue": "red"}
    changed = model.fit(X, [[colours[label] for label in y[0]], *y[1:]])
    np.testing.assert_array_equal(changed.out_of_fold_[0], before)


def test_inputs_can_be_kept_dense_or_sparse(data):
    X, y = data
    model = Cascade(CRF(0.3), CRF(0.7), window=3, folds=2, keep_inputs=True, random_state=0)
    dense = model.fit(X, y)
    assert dense.second_.n_features_in_ == 9 + X[0].shape[1]
    expected = dense.predict_marginals(X)
    few = model.fit([sparse.csr_matrix(x) for x in X], y)
    for mine, theirs in zip(few.predict_marginals([sparse.csr_matrix(x) for x in X]), expected, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-2)


def test_flat_arrays_tokens_and_abstaining(data):
    X, y = data
    model = Cascade(CRF(0.3), KernelCRF("rbf", penalty=0.1), window=3, folds=3, random_state=0).fit(X, y)
    lengths = [len(x) for x in X]
    plain = model.predict(X)
    assert model.fit(np.concatenate(X), y, lengths=lengths).predict(X) == plain
    assert model.predict(np.concatenate(X), lengths=lengths) == plain
    best = [rows.max(axis=1) for rows in model.predict_marginals(X)]
    for labels, p in zip(model.predict(X, abstain=0.6), best, strict=True):
        assert [label is None for label in labels] == (p < 0.6).tolist()
    tokens = [[{"word": label} for label in labels] for labels in y]
    found = Cascade(CRF(0.1), CRF(0.1), window=3, folds=3, random_state=0).fit(tokens, y)
    assert found.predict(tokens) == y
    with pytest.raises(InputError, match="not tokens"):
        Cascade(CRF(0.1), CRF(0.1), keep_inputs=True).fit(tokens, y)


def test_a_label_that_one_fold_never_saw_has_probability_zero_there(data):
    X, y = data
    groups = [0] + [1 + i % 2 for i in range(1, len(X))]
    labels = [["white"] * len(y[0]), *y[1:]]
    model = Cascade(CRF(0.3), CRF(0.7), window=3, folds=None).fit(X, labels, groups=groups)
    assert model.classes_.tolist() == ["blue", "green", "red", "white"]
    assert (model.out_of_fold_[0][:, 3] == 0).all()
    np.testing.assert_allclose(model.out_of_fold_[0].sum(axis=1), 1, atol=1e-9)


def test_groups_stay_together_and_folds_are_of_equal_size():
    groups = ["a", "b", "a", "c", "d", "b", "e", "f"]
    found = fold_numbers(8, 3, groups, 0)
    assert found[0] == found[2]
    assert found[1] == found[5]
    assert np.bincount([found[groups.index(name)] for name in "abcdef"]).tolist() == [2, 2, 2]
    assert found.tolist() == fold_numbers(8, 3, groups, 0).tolist()
    assert found.tolist() != fold_numbers(8, 3, groups, 1).tolist()
    for folds, given, words in ((1, None, "1 folds"), (9, None, "9 folds"), (None, None, "needs groups")):
        with pytest.raises(InputError, match=words):
            fold_numbers(8, folds, given, 0)
    with pytest.raises(InputError, match="groups has 2"):
        fold_numbers(8, 2, [1, 2], 0)


def test_is_not_fitted_before_it_is(data):
    with pytest.raises(NotFittedError, match="Cascade"):
        Cascade(CRF(), CRF()).predict(data[0])
