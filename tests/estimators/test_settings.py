"""Settings that mean nothing are refused by fit, before anything is computed or changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kernelfields as kf
from kernelfields.errors import InputError

X = [np.eye(2)[[0, 1, 0]], np.eye(2)[[1, 1]], np.eye(2)[[0]]]
y = [["a", "b", "a"], ["b", "b"], ["a"]]
ESTIMATORS: list[Any] = [
    kf.AROW(random_state=0),
    kf.CRF(),
    kf.HMM("gaussian"),
    kf.MEMM(),
    kf.BoostedCRF(2, random_state=0),
    kf.ClassifierMarkovModel(kf.KernelLogisticRegression("linear")),
    kf.GPSequenceClassifier(),
    kf.HiddenStates(kf.CRF(), random_state=0),
    kf.HiddenUnitCRF(n_units=2, random_state=0),
    kf.KernelCRF(),
    kf.KernelPerceptron(random_state=0),
    kf.PassiveAggressive(random_state=0),
    kf.SequenceAdaBoost(5),
    kf.StochasticCRF(random_state=0),
    kf.StructuredPerceptron(random_state=0),
    kf.StructuredSVM(),
]
BAD = {
    "fit_intercept": "yes",
    "parts": {"edges": None},
    "callback": 3,
    "decoder": "viterbo",
    "dtype": "int8",
    "edge_penalty": -1.0,
    "learning_rate": 0.0,
    "loss": max,
    "max_iter": 1.5,
    "memory_limit": "1GB",
    "structure": "ring",
    "patience": 0,
    "penalty": float("nan"),
    "pseudocount": -1,
    "random_state": "seed",
    "n_init": True,
    "sparse": 1,
    "tol": float("inf"),
    "verbose": -1,
}


@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_bad_settings_are_refused_and_change_nothing(model: Any) -> None:
    tried = [name for name in model.get_params(deep=False) if name in BAD]
    assert "decoder" in tried
    for name in tried:
        bad = type(model)(**{**model.get_params(deep=False), name: BAD[name]})
        before = dict(vars(bad))
        with pytest.raises(InputError, match=f"^{name}[ =]"):
            bad.fit(X, y)
        assert vars(bad) == before


@pytest.mark.parametrize("decoder", ["viterbo", None, 3, object(), kf.CRF])
def test_an_unknown_decoder_is_refused_by_fit_and_by_predict(decoder: Any) -> None:
    with pytest.raises(InputError, match="decoder"):
        kf.CRF(decoder=decoder).fit(X, y)
    if decoder is not None:
        with pytest.raises(InputError, match="decoder"):
            kf.CRF().fit(X, y).predict(X, decoder=decoder)


def test_wrong_objects_in_place_of_names_are_refused() -> None:
    for settings in ({"solver": 3}, {"solver": kf.CRF}, {"constraints": 3}):
        with pytest.raises(InputError, match=f"^{next(iter(settings))} is .*; it must be one of "):
            kf.CRF(**settings).fit(X, y)
