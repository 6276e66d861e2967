"""skops: every fitted estimator, written and read with the listed types alone."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from kernelfields import CRF, HMM
from kernelfields.compat.skops import trusted_types
from kernelfields.features import TokensAndArrays, each
from kernelfields.testing.estimators import labelled_sequences
from kernelfields.testing.scikit_learn import MODELS

skops = pytest.importorskip("skops.io")

TAGS = [["x", "y"], ["y"]]
TOKENS = {
    "templates": (CRF(features="columns: w\nw[0]"), [["a", "b"], ["b"]]),
    "symbols": (HMM("categorical"), [["a", "b"], ["b"]]),
    "dictionaries": (CRF(), [[{"a": 1.0}, {"b": 1.0}], [{"b": 2.0}]]),
    "embeddings": (
        CRF(features=TokensAndArrays("columns: w\nw[0]", arrays=each(StandardScaler()))),
        [(["a", "b"], np.eye(2)), (["b"], np.ones((1, 2)))],
    ),
}


def same(model, X):
    data = skops.dumps(model)
    assert not {*skops.get_untrusted_types(data=data)} - {*trusted_types()}
    loaded = skops.loads(data, trusted=trusted_types())
    assert repr(loaded) == repr(model)
    if not hasattr(model, "predict_marginals"):
        assert loaded.predict(X) == model.predict(X)
        return
    for a, b in zip(loaded.predict_marginals(X), model.predict_marginals(X), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_estimators(name, rng):
    X, y = labelled_sequences(rng)
    same(MODELS[name]().fit(X, y), X)


@pytest.mark.parametrize("name", TOKENS)
def test_tokens(name):
    model, X = TOKENS[name]
    same(clone(model).fit(X, TAGS), X)


def test_others_are_not_trusted(rng):
    X, y = labelled_sequences(rng)

    class Own(CRF):
        pass

    Own.__module__ = __name__
    globals()["Own"] = Own
    data = skops.dumps(Own().fit(X, y))
    with pytest.raises(Exception, match="Own"):
        skops.loads(data, trusted=trusted_types())
