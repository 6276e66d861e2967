"""KernelLogisticRegression: scikit-learn's logistic regression on explicit features."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_moons
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, cross_val_score
from sklearn.utils.estimator_checks import check_dataframe_column_names_consistency, check_estimator

from kernelfields import InputError, KernelCRF, KernelLogisticRegression, Parts, Run, load
from kernelfields.kernels import RBF, Polynomial
from kernelfields.testing.scikit_learn import REASONS

EXACT = {"run": Run(dtype="float64"), "tol": 1e-11}


@pytest.fixture
def data(rng):
    X = rng.normal(size=(80, 2))
    y = np.array(["out", "in", "edge"])[np.digitize((X**2).sum(axis=1) + 0.3 * rng.normal(size=80), [1, 2])]
    return X, y


@pytest.mark.parametrize("n_labels", [2, 3])
def test_polynomial_kernel_is_logistic_regression_on_its_features(n_labels, data):
    X, y = data
    y = y if n_labels == 3 else np.where(y == "in", "in", "out")
    root = np.sqrt(2)
    features = np.column_stack([np.ones(len(X)), root * X, X**2, root * X[:, 0] * X[:, 1]])  # (⟨x, x′⟩ + 1)²
    model = KernelLogisticRegression(Polynomial(2), penalty=0.5, parts=Parts(bias=None), **EXACT).fit(X, y)
    # Two labels: scikit-learn has one w for the difference, whose price is ½‖w‖²/2.
    C = 2.0 if n_labels == 3 else 4.0
    theirs = LogisticRegression(C=C, fit_intercept=False, tol=1e-10, max_iter=5000).fit(features, y)
    np.testing.assert_array_equal(model.classes_, theirs.classes_)
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(features), atol=1e-5)
    np.testing.assert_array_equal(model.predict(X), theirs.predict(features))
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(model.predict_proba(X)))
    assert model.certificate_.relative_gap <= 1e-11


def test_rows_are_sequences_of_one(data):
    X, y = data
    rows = KernelLogisticRegression(**EXACT).fit(X, y)
    field = KernelCRF(**EXACT).fit([x[None] for x in X], [[label] for label in y])
    assert rows.certificate_.value > field.certificate_.value  # which may use first and last labels
    alone = KernelCRF(parts=Parts(boundaries=None), **EXACT).fit(
        [x[None] for x in X], [[label] for label in y]
    )
    assert rows.certificate_.value == pytest.approx(alone.certificate_.value, rel=1e-9)
    np.testing.assert_allclose(rows.intercept_, alone.intercept_, atol=1e-5)


def test_sequences_are_labelled_position_by_position(data):
    X, y = data
    rows = KernelLogisticRegression(**EXACT).fit(X, y)
    cut = [X[:30], X[30:35], X[35:]]
    sequences = KernelLogisticRegression(**EXACT).fit(cut, [y[:30], y[30:35], y[35:]])
    np.testing.assert_allclose(np.concatenate(sequences.predict_proba(cut)), rows.predict_proba(X), atol=1e-5)
    assert np.concatenate(sequences.predict(cut)).tolist() == rows.predict(X).tolist()
    assert sequences.score(cut, [y[:30], y[30:35], y[35:]]) == rows.score(X, y)
    np.testing.assert_allclose(
        np.exp(sequences.predict_log_proba(cut)[1]), rows.predict_proba(X[30:35]), atol=1e-5
    )


def test_scikit_learn_tools_work(rng):
    X, y = make_moons(120, noise=0.15, random_state=0)
    model = KernelLogisticRegression(RBF(2.0), penalty=0.1)
    assert cross_val_score(model, X, y, cv=3).mean() > 0.93
    with pytest.raises(NotFittedError):
        clone(model).predict(X)
    with pytest.raises(NotFittedError):
        clone(model).predict_proba(X)
    model.fit(X, y)
    assert model.predict(X).dtype == y.dtype
    assert model.n_features_in_ == 2
    weights = np.where(y == 1, 1.0, 1e-9)
    assert model.fit(X, y, sample_weight=weights).score(X, y, sample_weight=weights) > 0.999
    thin = KernelLogisticRegression(RBF(2.0), penalty=0.1).fit(sparse.csr_matrix(X), y)
    plain = KernelLogisticRegression(RBF(2.0), penalty=0.1).fit(X, y)
    np.testing.assert_allclose(thin.predict_proba(sparse.csr_matrix(X)), plain.predict_proba(X), atol=1e-4)
    assert plain.predict_proba(X[:0]).shape == (0, 2)


@pytest.mark.parametrize("routing", [False, True])
def test_all_checks_of_scikit_learn_pass(routing):
    """But those with reasons, and one of other arrays, which is skipped unless SciPy was told of them."""
    reasons = REASONS["KernelLogisticRegression"]
    with config_context(enable_metadata_routing=routing), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = check_estimator(
            KernelLogisticRegression(), on_skip=None, on_fail=None, expected_failed_checks=dict(reasons)
        )
        check_dataframe_column_names_consistency("model", KernelLogisticRegression())
    assert len(found) > 40
    failed = {row["check_name"]: row["exception"] for row in found if row["status"] == "failed"}
    assert not failed
    others = {row["check_name"] for row in found if row["status"] != "passed"}
    assert reasons.keys() <= others <= {"check_array_api_input", "check_parameters_default_constructible"}


def test_settings_changed_after_fit_change_nothing(data, tmp_path):
    X, y = data
    kernel = RBF(1.0)
    model = KernelLogisticRegression(kernel).fit(X, y)
    before = model.predict_proba(X)
    model.set_params(
        parts=Parts(bias=None),
        penalty=100.0,
        run__dtype="float32",
        class_weight="balanced",
        kernel__gamma=50.0,
    )
    np.testing.assert_array_equal(model.predict_proba(X), before)
    model.save(tmp_path / "model.kf")
    np.testing.assert_array_equal(load(tmp_path / "model.kf").predict_proba(X), before)


def test_a_refit_leaves_nothing_behind(data, tmp_path):
    X, y = data
    frame = pd.DataFrame(X, columns=["left", "right"])
    model = KernelLogisticRegression(basis="fourier", random_state=0).fit(frame, y)
    assert model.fourier_ is not None
    assert model.feature_names_in_.tolist() == ["left", "right"]
    model.set_params(basis=None, parts=Parts(bias=None)).fit(X[:, :1], np.where(y == "in", "in", "out"))
    fresh = clone(model).fit(X[:, :1], np.where(y == "in", "in", "out"))
    assert vars(model).keys() == vars(fresh).keys()
    assert not hasattr(model, "feature_names_in_")
    np.testing.assert_array_equal(model.predict_proba(X[:, :1]), fresh.predict_proba(X[:, :1]))
    model.save(tmp_path / "model.kf")
    assert load(tmp_path / "model.kf").predict(X[:, :1]).tolist() == fresh.predict(X[:, :1]).tolist()


def test_a_refused_fit_changes_nothing(data):
    X, y = data
    model = KernelLogisticRegression().fit(X, y)
    before = model.predict_proba(X)
    for bad in ((X[:, :1], y[:-1]), (X, ["in"] * len(X)), (X * np.nan, y), (X[:0], y[:0])):
        with pytest.raises(InputError):
            model.fit(*bad)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    assert model.n_features_in_ == 2


def test_class_weights_are_factors_of_rows(data):
    X, y = data
    weights = {"in": 3.0, "out": 0.5, "edge": 1.0}
    model = KernelLogisticRegression(class_weight=weights, **EXACT).fit(X, y)
    factors = np.array([weights[label] for label in y])
    rows = KernelLogisticRegression(**EXACT).fit(X, y, sample_weight=factors)
    np.testing.assert_allclose(model.predict_proba(X), rows.predict_proba(X), atol=1e-7)
    both = KernelLogisticRegression(class_weight=weights, **EXACT).fit(X, y, sample_weight=1 / factors)
    plain = KernelLogisticRegression(**EXACT).fit(X, y)
    np.testing.assert_allclose(both.predict_proba(X), plain.predict_proba(X), atol=1e-7)
    cut = [X[:30], X[30:]], [y[:30], y[30:]]
    sequences = KernelLogisticRegression(class_weight=weights, **EXACT).fit(*cut)
    np.testing.assert_allclose(sequences.predict_proba([X])[0], model.predict_proba(X), atol=1e-7)


@pytest.mark.parametrize("mark", [None, np.nan])
def test_unobserved_rows_are_left_out(data, mark):
    X, y = data
    hidden = [mark if n % 3 == 0 else str(label) for n, label in enumerate(y)]
    kept = np.arange(len(X)) % 3 != 0
    model = KernelLogisticRegression(**EXACT).fit(X, hidden)
    assert model.certificate_.relative_gap <= 1e-11
    fewer = KernelLogisticRegression(**EXACT).fit(X[kept], y[kept])
    np.testing.assert_array_equal(model.predict_proba(X), fewer.predict_proba(X))
    assert model.score(X, hidden) == fewer.score(X[kept], y[kept])
    np.testing.assert_array_equal(X[model.basis_origin_[:, 0]], model.basis_)
    cut = [X[:31], X[31:]]
    sequences = KernelLogisticRegression(**EXACT).fit(cut, [hidden[:31], hidden[31:]])
    np.testing.assert_array_equal([cut[s][t] for s, t in sequences.basis_origin_], sequences.basis_)
    with pytest.raises(InputError, match="none of the 80 labels of y is observed"):
        model.score(X, [mark] * 80)
    with pytest.raises(InputError, match="y has no observed label in 0 rows"):
        model.fit(X, [mark] * 80)


def test_labels_that_training_did_not_have_are_wrong(data):
    X, y = data
    model = KernelLogisticRegression().fit(X, y)
    right = model.predict(X)
    assert model.score(X, right) == 1.0
    assert model.score(X, ["new", *right[1:]]) == pytest.approx(79 / 80)


@pytest.mark.parametrize("names", [("a", 1), (("x", 1), ("x", 2)), (True, False), (np.int8(3), np.int8(5))])
def test_labels_of_any_kind(names, data):
    X, _ = data
    y = [names[int(x > 0)] for x in X[:, 0]]
    model = KernelLogisticRegression().fit(X, y)
    assert model.score(X, y) > 0.95
    assert set(model.predict(X).tolist()) == set(names)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X, y[:-1]), "X has 80 rows, but y has 79 labels"),
        (lambda X, y: (X, [[label] for label in y]), r"Row 0 of y is \[np"),
        (lambda X, y: (X, np.linspace(0, 1, 80)), "Unknown label type: continuous. Row 1 of y is 0.01"),
        (lambda X, y: (X, np.c_[np.arange(80), np.arange(80)]), "y should be a 1d array"),
        (lambda X, y: ([X[:3], X[3:]], [y[:3], y[4:]]), "Sequence 1 has 77 positions in X, but 76 labels"),
    ],
)
def test_labels_that_do_not_fit_are_refused(change, message, data):
    with pytest.raises(InputError, match=message):
        KernelLogisticRegression().fit(*change(*data))


def test_sequences_need_folds_without_balance(data):
    X, y = data
    cut = [X[n : n + 8] for n in range(0, 80, 8)], [y[n : n + 8] for n in range(0, 80, 8)]
    assert cross_val_score(KernelLogisticRegression(), *cut, cv=KFold(5)).mean() > 0.6
    boxes = np.empty(10, dtype=object)
    boxes[:] = cut[0]
    model = KernelLogisticRegression().fit(boxes, cut[1])
    assert model.predict(boxes) == model.predict(cut[0])


def test_frames_of_sequences_are_matched_by_name(data):
    X, y = data
    frames = [pd.DataFrame(x, columns=["left", "right"]) for x in (X[:40], X[40:])]
    model = KernelLogisticRegression().fit(frames, [y[:40], y[40:]])
    assert model.predict([frame[["right", "left"]] for frame in frames]) == model.predict([X[:40], X[40:]])
    with pytest.raises(InputError, match="other columns"):
        model.predict([frame.rename(columns={"left": "up"}) for frame in frames])
    nameless = KernelLogisticRegression().fit([X[:40], X[40:]], [y[:40], y[40:]])
    nameless.predict(frames)
    assert not hasattr(nameless, "feature_names_in_")


def test_arrays_of_three_dimensions_are_sequences(data):
    X, y = data
    boxes, labels = X.reshape(10, 8, 2), y.reshape(10, 8)
    model = KernelLogisticRegression().fit(boxes, labels)
    assert np.array(model.predict(boxes)).shape == (10, 8)
    assert model.score(boxes, labels) == KernelLogisticRegression().fit(X, y).score(X, y)


def test_it_has_neither_edges_nor_boundaries():
    model = KernelLogisticRegression("rbf").fit([[0.0], [1.0], [2.0]], ["a", "b", "a"])
    assert set(model.mismatch_) == {"kernel", "bias"}
