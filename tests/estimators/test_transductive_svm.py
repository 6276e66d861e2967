"""Transductive support vector machines as users have them."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from kernelfields import InputError, TransductiveSVM, load
from kernelfields.kernels import RBF, DataKernel, Linear

TIGHT = {"tol": 1e-8, "max_iter": 10_000}


@pytest.fixture
def clusters(rng):
    """Three clusters of 12 rows; the first two of each have labels."""
    truth = np.tile(["a", "b", "c"], 12)
    centres = {"a": (0, 0), "b": (3, 0), "c": (0, 3)}
    X = np.array([centres[label] for label in truth]) + rng.normal(size=(36, 2))
    y = [label if n < 6 else None for n, label in enumerate(truth)]
    return X, y, truth


def two(clusters):
    X, y, truth = clusters
    kept = truth != "c"
    return X[kept], [label for label, keep in zip(y, kept, strict=True) if keep], truth[kept]


def test_without_unlabelled_rows_it_is_the_support_vector_machine(clusters, rng):
    X, _, truth = two(clusters)
    weights = rng.uniform(0.5, 2.0, len(truth))
    model = TransductiveSVM(RBF(0.3), penalty=0.2, **TIGHT).fit(X, truth, weights)
    other = SVC(gamma=0.3, C=5.0, tol=1e-6).fit(X, truth, sample_weight=weights)
    np.testing.assert_allclose(model.decision_function(X), other.decision_function(X), atol=1e-3)
    np.testing.assert_array_equal(model.predict(X), other.predict(X))
    np.testing.assert_array_equal(model.transduction_, truth)
    assert model.history_ == []
    assert model.score(X, truth) == other.score(X, truth)


def test_several_labels_are_one_against_all_others(clusters):
    X, _, truth = clusters
    model = TransductiveSVM(RBF(0.3), penalty=0.2, class_weight={"a": 2.0}, **TIGHT).fit(X, truth)
    for k, label in enumerate("abc"):
        weights = np.where(truth == "a", 2.0, 1.0)
        other = SVC(gamma=0.3, C=5.0, tol=1e-6).fit(X, truth == label, sample_weight=weights)
        np.testing.assert_allclose(model.decision_function(X)[:, k], other.decision_function(X), atol=1e-3)
    plain = TransductiveSVM(RBF(0.3), penalty=0.2, **TIGHT).fit(X, truth)
    rest = OneVsRestClassifier(SVC(gamma=0.3, C=5.0, tol=1e-6)).fit(X, truth)
    np.testing.assert_array_equal(plain.predict(X), rest.predict(X))


def test_no_weight_for_unlabelled_rows_leaves_them_out(clusters):
    X, y, _ = two(clusters)
    known = [n for n, label in enumerate(y) if label is not None]
    model = TransductiveSVM(RBF(0.3), unlabelled_weight=0.0, **TIGHT).fit(X, y)
    few = TransductiveSVM(RBF(0.3), **TIGHT).fit(X[known], [y[n] for n in known])
    np.testing.assert_allclose(model.decision_function(X), few.decision_function(X), atol=1e-6)


def test_border_goes_where_rows_are_few():
    """Two labelled rows beside a gap that the machine without the others does not see."""
    line = np.concatenate([np.linspace(0, 1, 20), np.linspace(1.6, 3, 20)])[:, None]
    y = [None] * 40
    y[19], y[39] = "low", "high"
    shares = {"low": 0.5, "high": 0.5}
    model = TransductiveSVM("linear", penalty=0.01, class_shares=shares).fit(line, y)
    without = TransductiveSVM("linear", penalty=0.01, unlabelled_weight=0.0).fit(line, y)
    truth = np.repeat(["low", "high"], 20)
    assert model.score(line, truth) == 1.0 > without.score(line, truth)
    np.testing.assert_array_equal(model.transduction_, truth)
    values = [step.value for step in model.history_]
    assert model.certificates_[0].value == values[-1]
    assert model.certificates_[0].relative_gap <= 1e-3


def test_share_of_labels_is_kept(clusters):
    X, y, _ = two(clusters)
    unlabelled = np.array([label is None for label in y])
    for share, count in ((0.25, 5), (0.5, 10), (0.0, 0)):
        model = TransductiveSVM(RBF(0.3), class_shares={"a": 1 - share, "b": share}).fit(X, y)
        assert (model.transduction_[unlabelled] == "b").sum() == count
    assert (TransductiveSVM(RBF(0.3)).fit(X, y).transduction_[unlabelled] == "b").sum() == 10


def test_rows_without_labels_may_be_given_apart(clusters):
    X, y, _ = clusters
    model = TransductiveSVM(RBF(0.3), **TIGHT).fit(X, y)
    apart = TransductiveSVM(RBF(0.3), **TIGHT).fit(X[:6], y[:6], X_unlabelled=X[6:])
    np.testing.assert_allclose(apart.decision_function(X), model.decision_function(X), atol=1e-9)
    np.testing.assert_array_equal(apart.transduction_, model.transduction_)
    mixed = [1.0 if label is None else label for label in y]
    mixed = [np.nan if label == 1.0 else {"a": 0, "b": 1, "c": 2}[label] for label in mixed]
    numbers = TransductiveSVM(RBF(0.3), **TIGHT).fit(X, mixed)
    np.testing.assert_array_equal(np.array(["a", "b", "c"])[numbers.transduction_], model.transduction_)


@pytest.mark.parametrize("form", [sparse.csr_matrix, np.float32, "sequences", "frame"])
def test_forms_of_input(form, clusters):
    X, y, _ = clusters
    X = X.astype(np.float32).astype(np.float64)
    model = TransductiveSVM(Linear(), **TIGHT).fit(X, y)
    if form == "frame":
        import pandas as pd

        given = pd.DataFrame(X, columns=["u", "v"])
        other = TransductiveSVM(Linear(), **TIGHT).fit(given, y)
        assert other.feature_names_in_.tolist() == ["u", "v"]
    elif form == "sequences":
        given = [X[:10], X[10:30], X[30:]]
        other = TransductiveSVM(Linear(), **TIGHT).fit(given, [y[:10], y[10:30], y[30:]])
        assert [len(part) for part in other.predict(given)] == [10, 20, 6]
        np.testing.assert_allclose(np.concatenate(other.decision_function(given)), model.decision_function(X))
        return
    else:
        given = form(X)
        other = TransductiveSVM(Linear(), **TIGHT).fit(given, y)
    np.testing.assert_allclose(other.decision_function(given), model.decision_function(X), atol=1e-6)


def test_kernels_see_unlabelled_rows_too(clusters):
    X, y, _ = clusters
    seen = []

    class Looking(DataKernel):
        def on(self, observations):
            seen.append(np.array(observations))
            return RBF(0.3)

    TransductiveSVM(Looking()).fit(X[:10], y[:10], X_unlabelled=X[10:])
    assert len(seen) == 1
    np.testing.assert_array_equal(seen[0], X)
    model = TransductiveSVM(RBF("scale")).fit(X[:10], y[:10], X_unlabelled=X[10:])
    assert model.kernel_.gamma == pytest.approx(1 / (2 * X.var()))


def test_files_copies_and_refits(clusters, tmp_path):
    X, y, truth = clusters
    model = TransductiveSVM(RBF("scale"), penalty=0.1).fit(X, y)
    model.save(tmp_path / "model.kf")
    for again in (load(tmp_path / "model.kf"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
        np.testing.assert_array_equal(again.transduction_, model.transduction_)
        assert again.history_ == model.history_
        assert again.certificates_ == model.certificates_
        assert repr(again) == repr(model)
    fresh = clone(model)
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    assert not hasattr(fresh, "transduction_")
    X[:] = 7.0
    other = two((X + np.arange(36)[:, None], list(truth), truth))
    assert model.fit(other[0], other[1]).classes_.tolist() == ["a", "b"]
    with pytest.raises(InputError):
        model.fit(X[:3], ["a", "a", "a"])
    assert model.classes_.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"penalty": 0.0}, "penalty is 0.0"),
        ({"unlabelled_weight": -1.0}, "unlabelled_weight is -1.0"),
        ({"first_share": 0.0}, "first_share is 0.0"),
        ({"first_share": 2.0}, "first_share is 2.0"),
        ({"tol": 0.0}, "tol is 0.0"),
        ({"kernel": "tree"}, "kernel='tree' is not known"),
        ({"class_shares": {"a": 0.5, "b": 0.5}}, "class_shares lacks the label 'c'"),
        ({"class_shares": {"a": 0.5, "b": 0.5, "d": 0.0}}, "class_shares has the unknown label 'd'"),
        ({"class_shares": {"a": 0.5, "b": 0.5, "c": 0.5}}, "class_shares has the sum 1.5"),
        ({"class_shares": [0.5, 0.5]}, "must be a dictionary of shares"),
        ({"class_shares": {"a": -0.5, "b": 0.5, "c": 1.0}}, "class_shares of 'a' is -0.5"),
    ],
)
def test_bad_settings_are_refused(settings, words, clusters):
    X, y, _ = clusters
    model = TransductiveSVM(**settings)
    with pytest.raises(InputError, match=words):
        model.fit(X, y)
    assert not hasattr(model, "classes_")


def test_bad_input_is_refused(clusters):
    X, y, _ = clusters
    with pytest.raises(InputError, match="no observed label in 0 rows"):
        TransductiveSVM().fit(X, [None] * 36)
    with pytest.raises(InputError, match="X has 36 rows, but y has 35 labels"):
        TransductiveSVM().fit(X, y[1:])
    with pytest.raises(InputError, match="3 features"):
        TransductiveSVM().fit(X, y, X_unlabelled=np.ones((4, 3)))
    with pytest.warns(ConvergenceWarning, match="Raise max_iter or tol"):
        TransductiveSVM("linear", penalty=1e-6, tol=1e-12, max_iter=1).fit(X, y)
