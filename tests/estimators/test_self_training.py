"""Self-training against scikit-learn's, and against rounds written out by hand."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.semi_supervised import SelfTrainingClassifier

from kernelfields import (
    CRF,
    HMM,
    InputError,
    KernelCRF,
    KernelLogisticRegression,
    Parts,
    Run,
    SelfTraining,
    StructuredPerceptron,
    load,
)
from kernelfields.kernels import RBF
from kernelfields.losses import EntropyRegularised

TIGHT = {"penalty": 0.1, "tol": 1e-7}
ROWS = {
    "rows": KernelLogisticRegression("rbf", **TIGHT),
    "field": KernelCRF("rbf", parts=Parts(edges=None, boundaries=None), **TIGHT),
}


def rows(rng, n=60, known=6):
    """Two clouds; a few points have labels, at least one of each."""
    truth = np.arange(n) % 2
    X = rng.normal(size=(n, 2)) + 1.5 * np.where(truth, 1, -1)[:, None]
    return X, np.where(np.arange(n) < known, truth, -1)


@pytest.mark.parametrize(
    ("settings", "theirs"),
    [
        ({"threshold": 0.75}, {"threshold": 0.75}),
        ({"threshold": 0.97, "max_iter": 3}, {"threshold": 0.97, "max_iter": 3}),
        ({"threshold": 0.0, "k_best": 7}, {"criterion": "k_best", "k_best": 7}),
        ({"threshold": 0.9, "max_iter": None}, {"threshold": 0.9, "max_iter": None}),
    ],
)
@pytest.mark.parametrize(("make", "by"), [("rows", "sequence"), ("rows", "position"), ("field", "average")])
def test_the_same_as_scikit_learn_on_single_positions(settings, theirs, by, make, rng):
    X, y = rows(rng)
    wanted = SelfTrainingClassifier(ROWS["rows"], **theirs).fit(X, y)
    single = [x[None] for x in X]
    found = SelfTraining(ROWS[make], by=by, **settings).fit(
        single, [None if label < 0 else [int(label)] for label in y]
    )
    labels = [-1 if one is None else one[0] for one in found.transduction_]
    assert labels == wanted.transduction_.tolist()
    assert found.labelled_iter_.tolist() == wanted.labeled_iter_.tolist()
    assert found.n_iter_ == wanted.n_iter_
    reasons = {"all_labeled": "All are", "no_change": "No guess", "max_iter": "The limit"}
    assert found.stop_reason_.startswith(reasons[wanted.termination_condition_])
    last = found.estimator_
    probabilities = last.predict_proba(single) if make == "rows" else found.predict_marginals(single)
    np.testing.assert_allclose(np.concatenate(probabilities), wanted.predict_proba(X), atol=1e-4)


def task(rng, n=20, known=4):
    """Sequences of two clouds, of which some have labels."""
    X, truth = [], []
    for _ in range(n):
        labels = np.cumsum(rng.random(rng.integers(2, 6)) < 0.3) % 2
        X.append(rng.normal(size=(len(labels), 2)) + np.where(labels, 1, -1)[:, None])
        truth.append(["ab"[k] for k in labels])
    truth[0], truth[1] = (["a", "b"] * 3)[: len(X[0])], (["b", "a"] * 3)[: len(X[1])]
    return X, [labels if s < known else None for s, labels in enumerate(truth)]


def fitted_by_hand(X, labels):
    some = [(x, one) for x, one in zip(X, labels, strict=True) if one]
    return CRF(0.3).fit(*map(list, zip(*some, strict=True)))


@pytest.mark.parametrize("by", ["sequence", "average"])
def test_rounds_by_hand(by, rng):
    X, y = task(rng)
    found = SelfTraining(CRF(0.3), by=by, threshold=0.6, k_best=3, max_iter=4).fit(X, y)
    labels = list(y)
    for _ in range(4):
        model, sure = fitted_by_hand(X, labels), []
        for s in (s for s, one in enumerate(labels) if one is None):
            [[(guess, log_p)]] = model.predict_kbest([X[s]], 1)
            p = np.exp(log_p / (len(guess) if by == "average" else 1))
            sure += [(-p, s, guess)] if p > 0.6 else []
        for _, s, guess in sorted(sure)[:3]:
            labels[s] = guess
    assert found.transduction_ == labels
    assert (found.labelled_iter_ == 0).sum() == 4
    assert np.bincount(found.labelled_iter_[found.labelled_iter_ > 0], minlength=5)[1:].max() == 3


def test_positions_by_hand(rng):
    X, y = task(rng)
    y[2] = [None, *y[2][1:]]  # such positions are guessed, too
    found = SelfTraining(CRF(0.3), by="position", threshold=0.9, max_iter=3).fit(X, y)
    labels = [None if one is None else list(one) for one in y]
    for _ in range(3):
        model = fitted_by_hand(X, labels)
        for s, one in enumerate(labels):
            if one is None or None in one:
                marginals = model.predict_marginals([X[s]], allowed=[one])[0]
                guess = [str(model.classes_[row.argmax()]) if row.max() > 0.9 else None for row in marginals]
                kept = one or [None] * len(guess)
                merged = [old or new for old, new in zip(kept, guess, strict=True)]
                labels[s] = merged if any(merged) else None
    assert found.transduction_ == labels
    assert any(one is not None and None in one for one in labels)


def test_ways_to_say_that_there_are_no_labels(rng):
    X, y = task(rng)
    model = SelfTraining(CRF(0.3), by="average")
    wanted = model.fit(X, y).transduction_
    for nothing in (-1, np.int64(-1), float("nan")):
        assert model.fit(X, [*y[:4], *[nothing] * 16]).transduction_ == wanted
    empty = [*y[:4], *([None] * len(x) for x in X[4:])]
    assert model.fit(X, empty).transduction_ == wanted
    assert model.fit(X[:4], y[:4], X_unlabelled=X[4:]).transduction_ == wanted
    assert y[5] is None


def test_weights_and_held_out_data_are_passed_on(rng):
    X, y = task(rng)
    weights = rng.random(20) + 0.5
    found = SelfTraining(CRF(0.3), max_iter=0).fit(X, y, sample_weight=weights)
    alone = CRF(0.3).fit(X[:4], y[:4], sample_weight=weights[:4])
    np.testing.assert_array_equal(found.estimator_.coef_, alone.coef_)
    assert found.stop_reason_.startswith("The limit")
    held_out = SelfTraining(CRF(0.3, run=Run(patience=1)), max_iter=0).fit(X, y, X_dev=X[:2], y_dev=y[:2])
    stopped = CRF(0.3, run=Run(patience=1)).fit(X[:4], y[:4], X_dev=X[:2], y_dev=y[:2])
    np.testing.assert_array_equal(held_out.estimator_.coef_, stopped.coef_)
    with pytest.raises(InputError, match=r"X_dev cannot be had: KernelLogisticRegression\.fit"):
        SelfTraining(KernelLogisticRegression()).fit(X, y, X_dev=X, y_dev=y)


def test_the_rest_informs_kernels_and_losses(rng):
    """What has no labels yet is given to a model that can make something of it."""
    X, y = task(rng)
    for model in (KernelCRF(RBF(gamma="scale"), penalty=0.3), CRF(0.3, loss=EntropyRegularised(0.3))):
        found = SelfTraining(model, max_iter=0).fit(X, y).predict_marginals(X)
        whole, alone = clone(model).fit(X, y), clone(model).fit(X[:4], y[:4])
        for ours, theirs in zip(found, whole.predict_marginals(X), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        assert not np.allclose(found[5], alone.predict_marginals(X)[5], atol=1e-6)


def test_words_hmms_trees_and_perceptrons(rng):
    words = [["the", "cat", "sleeps"], ["a", "dog", "eats"], ["the", "dog"], ["a", "cat", "eats"]]
    tags = [["D", "N", "V"], ["D", "N", "V"], None, None]
    found = SelfTraining(CRF(0.1, features="pos"), threshold=0.5).fit(words, tags)
    assert found.transduction_[2:] == [["D", "N"], ["D", "N", "V"]]
    hidden = SelfTraining(HMM("categorical"), threshold=0.2).fit(words, tags)
    assert hidden.predict(words)[3] == ["D", "N", "V"]
    X, y = task(rng)
    linked = [(x, [-1, *range(len(x) - 1)]) for x in X]
    chains = SelfTraining(CRF(0.3), by="average").fit(X, y)
    trees = SelfTraining(CRF(0.3, structure="tree"), by="average").fit(linked, y)
    assert trees.transduction_ == chains.transduction_
    perceptron = SelfTraining(StructuredPerceptron(random_state=0), threshold=0.5)
    assert not perceptron.probabilistic
    assert perceptron.fit(X, y).labelled_iter_.max() >= 1


def test_saved_cloned_and_refitted(rng, tmp_path):
    X, y = task(rng)
    model = SelfTraining(CRF(0.3), by="average", k_best=5).fit(X, y)
    model.save(tmp_path / "m.kf")
    again = load(tmp_path / "m.kf")
    assert again.predict(X) == model.predict(X)
    assert (again.n_iter_, again.stop_reason_, again.by) == (model.n_iter_, model.stop_reason_, "average")
    assert clone(model).get_params()["estimator__penalty"] == 0.3
    before = model.transduction_
    with pytest.raises(InputError, match="y has no labels"):
        model.fit(X, [None] * 20)
    assert model.transduction_ is before
    log_proba = model.estimator_.sequence_log_proba(X[:4], y[:4])
    np.testing.assert_array_equal(model.sequence_log_proba(X[:4], y[:4]), log_proba)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"threshold": 1.5}, "threshold is 1.5"),
        ({"k_best": 0}, "k_best is 0"),
        ({"by": "token"}, "by"),
        ({"max_iter": -1}, "max_iter is -1"),
        ({"estimator": CRF}, "it must be a model of sequences"),
    ],
)
def test_bad_settings(settings, reason, rng):
    X, y = task(rng)
    with pytest.raises(InputError, match=reason):
        SelfTraining(**{"estimator": CRF(), **settings}).fit(X, y)


def test_bad_data(rng):
    X, y = task(rng)
    with pytest.raises(InputError, match="X has 19 sequences, but y has 20"):
        SelfTraining(CRF()).fit(X[1:], y)
    with pytest.raises(InputError, match="Sequence 5 of y is 7"):
        SelfTraining(CRF()).fit(X, [*y[:5], 7, *y[6:]])
    with pytest.raises(InputError, match="X must be a list of sequences"):
        SelfTraining(CRF()).fit(np.zeros((20, 2)), y)
    with pytest.raises(InputError, match="X_unlabelled must be a list"):
        SelfTraining(CRF()).fit(X, y, X_unlabelled=3)
