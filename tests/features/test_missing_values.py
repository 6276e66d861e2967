"""Missing numbers filled in."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline

from kernelfields import CRF, MEMM, KernelCRF, StructuredPerceptron, StructuredSVM, load
from kernelfields.errors import InputError
from kernelfields.features import MissingValues
from kernelfields.incomplete import complete_rows, fit_gaussian

NAN = float("nan")


def sequences(n: int = 14) -> tuple[list[np.ndarray], list[list[str]]]:
    rng = np.random.default_rng(8)
    y = [rng.choice(["A", "B"], size).tolist() for size in rng.integers(3, 9, n)]
    X = [rng.normal(size=(len(one), 3)) + 2.0 * (np.array(one) == "A")[:, None] for one in y]
    for x in X:
        x[:, 1:][rng.random((len(x), 2)) < 0.3] = NAN  # the first column is always there
    return X, y


def test_means_are_those_of_scikit_learn() -> None:
    X, _ = sequences()
    wanted = SimpleImputer(add_indicator=True).fit_transform(np.concatenate(X))
    np.testing.assert_allclose(
        np.concatenate(MissingValues("mean", indicators=True).fit_transform(X)), wanted
    )


def test_interpolation_stays_within_sequences_and_columns() -> None:
    X = [
        [[NAN, 1.0], [2.0, NAN], [NAN, NAN], [8.0, 4.0], [NAN, 5.0]],
        [[NAN, 1.0]],
        [[10.0, 1.0]],
    ]
    got = MissingValues("interpolate").fit_transform(X)
    assert got[0].tolist() == [[2.0, 1.0], [2.0, 2.0], [5.0, 3.0], [8.0, 4.0], [8.0, 5.0]]
    assert got[1].tolist() == [[20 / 3, 1.0]]  # the mean of 2, 8 and 10: the sequence has none of its own


def test_gaussian_fills_in_conditional_means() -> None:
    X, _ = sequences()
    rows = np.concatenate(X)
    wanted = complete_rows(rows, fit_gaussian(rows)).means
    got = np.concatenate(MissingValues("gaussian").fit_transform(X))
    np.testing.assert_allclose(got, wanted)


def test_indicators_are_those_of_columns_that_lacked_numbers() -> None:
    X, _ = sequences()
    fill = MissingValues(indicators=True).fit(X)
    assert fill.indicated_.tolist() == [1, 2]
    got = fill.transform([[[NAN, 0.0, NAN]]])[0]
    assert got[0, 3:].tolist() == [0.0, 1.0]
    assert np.isfinite(got).all()
    assert fill.get_feature_names_out().tolist() == ["x0", "x1", "x2", "missing(x1)", "missing(x2)"]


@pytest.mark.parametrize("method", ["mean", "interpolate", "gaussian"])
def test_precision_and_inputs_are_kept(method: str) -> None:
    X = [x.astype(np.float32) for x in sequences()[0]]
    before = pickle.dumps(X)
    got = MissingValues(method).fit_transform(X)
    assert {one.dtype for one in got} == {np.dtype(np.float32)}
    assert pickle.dumps(X) == before


MODELS = [CRF(), KernelCRF("linear"), StructuredSVM(), StructuredPerceptron(random_state=0), MEMM()]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_as_features_of_estimators(model: Any, tmp_path: Any) -> None:
    X, y = sequences()
    fitted = clone(model).set_params(features=MissingValues(indicators=True)).fit(X, y)
    filled = MissingValues(indicators=True).fit(X)
    apart = clone(model).fit(filled.transform(X), y)
    assert fitted.predict(X) == apart.predict(filled.transform(X))
    assert fitted.score(X, y) > 0.8
    fitted.save(tmp_path / "model.kf")
    again = load(tmp_path / "model.kf")
    assert again.predict(X) == fitted.predict(X)
    assert again.features_.get_params() == fitted.features_.get_params()
    flat = np.concatenate(X)
    assert again.predict(flat, lengths=[len(x) for x in X]) == fitted.predict(X)
    assert vars(fitted.features)["method"] == "gaussian"
    assert "mean_" not in vars(fitted.features)  # the setting is as it was


def test_held_out_and_unlabelled_sequences_are_filled_in() -> None:
    X, y = sequences()
    filled = MissingValues().fit_transform(X)

    def same(model: Any, other: Any) -> None:
        for left, right in zip(model.predict_marginals(X), other.predict_marginals(filled), strict=True):
            np.testing.assert_allclose(left, right, atol=1e-6)

    fill = MissingValues
    same(CRF(features=fill()).fit(X, y, X_dev=X, y_dev=y), CRF().fit(filled, y, X_dev=filled, y_dev=y))
    part = {"loss": "entropy", "tol": 1e-6}
    whole = CRF(features=fill(), **part).fit(X[:9], y[:9], X_unlabelled=X[9:])
    same(whole, CRF(**part).fit(filled[:9], y[:9], X_unlabelled=filled[9:]))


def test_streams_are_filled_in_as_their_first_part_says() -> None:
    X, y = sequences()
    fill = MissingValues().fit(X[:9])
    model = CRF(features=MissingValues()).partial_fit(X[:9], y[:9]).partial_fit(X[9:], y[9:])
    other = CRF().partial_fit(fill.transform(X[:9]), y[:9]).partial_fit(fill.transform(X[9:]), y[9:])
    for left, right in zip(
        model.predict_marginals(X), other.predict_marginals(fill.transform(X)), strict=True
    ):
        np.testing.assert_allclose(left, right, atol=1e-6)


def test_frames_are_matched_by_name(tmp_path: Any) -> None:
    X, y = sequences()
    frames = [pd.DataFrame(x, columns=["a", "b", "c"]) for x in X]
    model = CRF(features=MissingValues(indicators=True)).fit(frames, y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c", "missing(b)", "missing(c)"]
    model.save(tmp_path / "model.kf")
    turned = [frame[["c", "a", "b"]] for frame in frames]
    assert load(tmp_path / "model.kf").predict(turned) == model.predict(X)
    fill = MissingValues().fit(frames)
    np.testing.assert_allclose(np.concatenate(fill.transform(turned)), np.concatenate(fill.transform(X)))
    with pytest.raises(InputError, match="other columns than those the model knows: it lacks 'c'"):
        model.predict([frames[0].rename(columns={"c": "d"})[["a", "b"]]])


def test_indicators_pay_where_labels_decide_what_is_missing() -> None:
    """The only column says nothing but by being missing: half of the B, a tenth of the A."""
    rng = np.random.default_rng(0)
    y = [rng.choice(["A", "B"], 20).tolist() for _ in range(60)]
    X = [rng.normal(size=(20, 1)) for _ in y]
    for x, labels in zip(X, y, strict=True):
        x[rng.random(20) < np.where(np.array(labels) == "B", 0.5, 0.1)] = NAN
    plain, marked = (
        CRF(features=MissingValues(indicators=flag)).fit(X[:40], y[:40]).score(X[40:], y[40:])
        for flag in (False, True)
    )
    assert plain < 0.6
    assert marked > 0.65


def test_searches_choose_methods_in_pipelines_and_as_features() -> None:
    X, y = sequences(20)
    pipeline = make_pipeline(MissingValues(), CRF())
    grid = {"missingvalues__method": ["mean", "gaussian"]}
    first = GridSearchCV(pipeline, grid, cv=KFold(3)).fit(X, y)
    second = GridSearchCV(
        CRF(features=MissingValues()), {"features__method": ["mean", "gaussian"]}, cv=KFold(3)
    )
    second.fit(X, y)
    np.testing.assert_allclose(
        first.cv_results_["mean_test_score"], second.cv_results_["mean_test_score"], atol=1e-9
    )


def test_trees_and_graphs() -> None:
    X, y = sequences()
    pairs = [(x, [-1, *range(len(x) - 1)]) for x in X]
    model = CRF(structure="tree", features=MissingValues()).fit(pairs, y)
    assert model.score(pairs, y) > 0.8
    with pytest.raises(InputError, match=r"MissingValues\('interpolate'\) is for sequences in time"):
        CRF(structure="tree", features=MissingValues("interpolate")).fit(pairs, y)


def test_sequences_without_positions_and_empty_batches() -> None:
    X, y = sequences()
    model = CRF(features=MissingValues()).fit([*X, []], [*y, []])
    assert model.predict([]) == []
    assert model.predict([np.zeros((0, 3))]) == [[]]


@pytest.mark.parametrize(
    ("settings", "X", "message"),
    [
        ({"method": "median"}, [[[1.0]]], "method='median' is not known"),
        ({"prior": -1.0}, [[[1.0]]], "prior is -1.0"),
        ({"indicators": 1}, [[[1.0]]], "indicators is 1"),
        ({}, [[[NAN, 1.0]]], "Column 0 of X has no number in 1 rows"),
        ({}, [sp.csr_matrix([[1.0]])], "takes dense arrays"),
        ({}, [np.zeros((0, 2))], "at least one position"),
        ({}, [[[1.0, np.inf]]], "infini"),
        ({}, [[["a"]]], "not an array of numbers"),
    ],
)
def test_bad_input_is_refused_by_all(settings: dict[str, Any], X: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        MissingValues(**settings).fit(X)
    if len(X[0]) if isinstance(X[0], list) else X[0].shape[0]:
        with pytest.raises(InputError):
            CRF(features=MissingValues(**settings)).fit(X, [["A"]])


def test_other_refusals() -> None:
    with pytest.raises(InputError, match="not fitted yet"):
        MissingValues().transform([[[1.0]]])
    fill = MissingValues().fit([[[1.0, 2.0]]])
    with pytest.raises(InputError, match="X has 1 features, MissingValues expects 2"):
        fill.transform([[[1.0]]])
    with pytest.raises(InputError, match=r"takes a list of \(T, D\) arrays"):
        fill.transform(np.ones((2, 2)))
    with pytest.raises(InputError, match="Sequence 1 of X has 1 features per position, expected 2"):
        fill.transform([[[1.0, 2.0]], [[1.0]]])
