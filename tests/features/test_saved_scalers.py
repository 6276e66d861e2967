"""Scalers from files: what no fit would have made is refused, before it is used."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from kernelfields import ModelFormatError
from kernelfields.estimators.registry import REGISTRY
from kernelfields.features import Windows, each
from kernelfields.features.saved import SCALERS
from kernelfields.testing.estimators import labelled_sequences


def parts_of(transformer):
    row = REGISTRY.class_of(transformer)
    return row, row.parts(transformer)


@pytest.fixture
def given(rng):
    return labelled_sequences(rng)[0]


def test_parts_make_the_same_transformer(given):
    X = given
    for one in (each(StandardScaler(with_mean=False)), each(PCA(2)), Windows(3)):
        row, parts = parts_of(one.fit(X))
        again = row.make(parts, REGISTRY.checked)
        for a, b in zip(one.transform(X), again.transform(X), strict=True):
            np.testing.assert_array_equal(a, b)
        row, parts = parts_of(type(one)(**one.get_params(deep=False)))  # not fitted
        assert not row.make(parts, REGISTRY.checked).__sklearn_is_fitted__()


def test_every_listed_class_exists():
    import importlib

    for name, row in SCALERS.items():
        assert hasattr(getattr(importlib.import_module(row.module), name), "fit")


def test_hostile_parts(given):
    X = given
    row, parts = parts_of(each(PCA(2)).fit(X))
    learnt = parts["learnt"]
    for change in (
        {"scaler": "os.system"},
        {"scaler": "QuantileTransformer"},
        {"settings": {"n_components": 2, "surprise": 1}},
        {"settings": None},
        {"per_sequence": "yes"},
        {"n_features_in_": "3"},
        {"n_features_in_": 4},
        {"feature_names_in_": np.array(["a"], dtype=object)},
        {"learnt": {**learnt, "components_": np.zeros((2, 4))}},
        {"learnt": {**learnt, "components_": np.zeros((2, 3), dtype=np.int64)}},
        {"learnt": {**learnt, "components_": None}},
        {"learnt": {**learnt, "mean_": np.zeros(2)}},
        {"learnt": {**learnt, "n_samples_": "many"}},
        {"learnt": {**learnt, "transform": 1}},
        {"learnt": {name: learnt[name] for name in list(learnt)[1:]}},
        {"learnt": 3},
    ):
        with pytest.raises(ModelFormatError):
            row.make({**parts, **change}, REGISTRY.checked)
    row, parts = parts_of(Windows(3).fit(X))
    for change in ({"padding": None}, {"width": "3"}, {"n_features_in_": -1}):
        with pytest.raises(ModelFormatError):
            row.make({**parts, **change}, REGISTRY.checked)
