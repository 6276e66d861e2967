"""scikit-learn's transformers for lists of arrays: what they do to stacked rows, and to single sequences."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from kernelfields import CRF, InputError
from kernelfields.features import MissingValues, Windows, each, stack_windows
from kernelfields.testing.estimators import labelled_sequences

ROWWISE = [
    StandardScaler(),
    MinMaxScaler((-1, 1)),
    RobustScaler(),
    MaxAbsScaler(),
    PCA(2, whiten=True),
    QuantileTransformer(n_quantiles=5),
    PolynomialFeatures(2),
    Pipeline([("scale", StandardScaler()), ("pca", PCA(2))]),
    FunctionTransformer(np.abs),
]


@pytest.fixture
def data(rng):
    return labelled_sequences(rng, 20)


@pytest.mark.parametrize("transformer", ROWWISE, ids=lambda one: type(one).__name__)
def test_rows_of_all_sequences_together(transformer, data):
    X, _ = data
    found = each(transformer).fit_transform(X)
    rows = clone(transformer).fit_transform(np.concatenate(X))
    np.testing.assert_array_equal(np.concatenate(found), rows)
    assert [len(x) for x in found] == [len(x) for x in X]


@pytest.mark.parametrize("transformer", [StandardScaler(), MinMaxScaler(), RobustScaler()])
def test_every_sequence_by_itself(transformer, data):
    X, _ = data
    fitted = each(transformer, per_sequence=True).fit(X[:3])
    for x, found in zip(X, fitted.transform(X), strict=True):
        np.testing.assert_array_equal(found, clone(transformer).fit_transform(x))


def test_labels_reach_those_that_need_them(data):
    X, y = data
    rows, labels = np.concatenate(X), np.concatenate(y)
    for transformer in (SelectKBest(k=2), LinearDiscriminantAnalysis(n_components=2)):
        found = np.concatenate(each(transformer).fit_transform(X, y))
        np.testing.assert_allclose(found, clone(transformer).fit(rows, labels).transform(rows))
    some = [[None if t % 2 else one for t, one in enumerate(labels)] for labels in y]
    known = np.array([one is not None for labels in some for one in labels])
    found = np.concatenate(each(SelectKBest(k=1)).fit_transform(X, some))
    np.testing.assert_array_equal(found, SelectKBest(k=1).fit(rows[known], labels[known]).transform(rows))


def test_weights_of_sequences(data):
    X, _ = data
    weights = np.arange(len(X)) % 3
    found = each(StandardScaler()).fit(X, sample_weight=weights)
    again = StandardScaler().fit(
        np.concatenate([x for x, w in zip(X, weights, strict=True) for _ in range(w)])
    )
    np.testing.assert_allclose(found.transformer_.mean_, again.mean_)
    np.testing.assert_allclose(found.transformer_.scale_, again.scale_)


def test_routing_passes_weights_to_scalers(data):
    X, y = data
    weights = np.arange(len(X)) % 3
    with sklearn.config_context(enable_metadata_routing=True):
        pipe = Pipeline(
            [
                ("scale", each(StandardScaler()).set_fit_request(sample_weight=True)),
                ("crf", CRF().set_fit_request(sample_weight=True)),
            ]
        ).fit(X, y, sample_weight=weights)
    scale = each(StandardScaler()).fit(X, sample_weight=weights)
    np.testing.assert_array_equal(pipe["scale"].transformer_.mean_, scale.transformer_.mean_)
    plain = CRF().fit(scale.transform(X), y, sample_weight=weights)
    np.testing.assert_array_equal(pipe["crf"].coef_, plain.coef_)


def test_sparse_and_single_precision(data):
    X, _ = data
    scarce = [sparse.csr_matrix(x) for x in X]
    found = each(MaxAbsScaler()).fit_transform(scarce)
    dense = each(MaxAbsScaler()).fit_transform(X)
    for a, b in zip(found, dense, strict=True):
        np.testing.assert_allclose(a.toarray(), b)
    assert each(TruncatedSVD(2)).fit_transform(scarce)[0].shape == (len(X[0]), 2)
    assert each(StandardScaler()).fit_transform([x.astype(np.float32) for x in X])[0].dtype == np.float32


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_set_output(kind, data):
    X, _ = data
    frame = {"pandas": pd.DataFrame, "polars": pl.DataFrame}[kind]
    given = [pd.DataFrame(x, columns=["a", "b", "c"]) for x in X]
    pipe = Pipeline([("scale", each(StandardScaler())), ("window", Windows(3))]).set_output(transform=kind)
    found = pipe.fit_transform(given)
    names = ["a[-1]", "b[-1]", "c[-1]", "a", "b", "c", "a[1]", "b[1]", "c[1]"]
    assert isinstance(found[0], frame)
    assert list(found[0].columns) == names == pipe.get_feature_names_out().tolist()
    plain = Pipeline([("scale", each(StandardScaler())), ("window", Windows(3))]).fit_transform(X)
    for a, b in zip(found, plain, strict=True):
        np.testing.assert_allclose(np.asarray(a), b)
    with sklearn.config_context(transform_output=kind):
        assert isinstance(each(PCA(1)).fit_transform(X)[0], frame)
    filled = MissingValues().set_output(transform=kind).fit_transform(given)[0]
    assert isinstance(filled, frame)
    assert list(filled.columns) == ["a", "b", "c"]
    assert each(PCA(2)).fit(X).get_feature_names_out().tolist() == ["pca0", "pca1"]


def test_columns_of_frames_count_by_name(data):
    X, _ = data
    given = [pd.DataFrame(x, columns=["a", "b", "c"]) for x in X]
    fitted = each(StandardScaler()).fit(given)
    for a, b in zip(fitted.transform([x[["c", "a", "b"]] for x in given]), fitted.transform(X), strict=True):
        np.testing.assert_array_equal(a, b)


def test_windows_are_those_of_stack_windows(data):
    X, _ = data
    how = {"stride": 2, "padding": "edge", "weights": [0.5, 1, 0.5]}
    for a, b in zip(Windows(3, **how).fit(X).transform(X), stack_windows(X, 3, **how), strict=True):
        np.testing.assert_array_equal(a, b)


def test_empty_sequences(data):
    X, _ = data
    fitted = Pipeline([("scale", each(PCA(2))), ("window", Windows(3))]).fit([*X, []])
    assert fitted.transform([]) == []
    assert fitted.transform([[]])[0].shape == (0, 6)
    assert each(StandardScaler(), per_sequence=True).fit(X).transform([[], X[0]])[0].shape == (0, 3)


def test_inputs_stay_as_they_are(data):
    X, _ = data
    before = [x.copy() for x in X]
    each(StandardScaler(copy=False)).fit_transform(X)
    for a, b in zip(X, before, strict=True):
        np.testing.assert_array_equal(a, b)


def test_refusals(data):
    X, y = data
    with pytest.raises(NotFittedError):
        each(StandardScaler()).transform(X)
    fitted = each(StandardScaler()).fit(X)
    for words, attempt in {
        "such as StandardScaler": lambda: each(StandardScaler).fit(X),
        "takes a list": lambda: fitted.transform(np.ones((3, 3))),
        "2 features per position, expected 3": lambda: fitted.transform([x[:, :2] for x in X]),
        "Sequence 1 of X holds infinity": lambda: fitted.transform([X[0], X[1] * np.inf]),
        "PCA does not take these rows": lambda: each(PCA(2)).fit([X[0] * np.nan]),
        "at least one position": lambda: fitted.fit([]),
        "must be odd": lambda: Windows(2).fit(X),
        "must be one of default, pandas": lambda: fitted.set_output(transform="arrow"),
        "not for per_sequence": lambda: each(StandardScaler(), per_sequence=True).fit(
            X, sample_weight=np.ones(len(X))
        ),
        "labels for": lambda: each(SelectKBest(k=1)).fit(X, y[1:]),
        "other columns": lambda: (
            each(StandardScaler())
            .fit([pd.DataFrame(X[0], columns=["a", "b", "c"])])
            .transform([pd.DataFrame(X[0], columns=["a", "b", "z"])])
        ),
    }.items():
        with pytest.raises(InputError, match=words):
            attempt()
