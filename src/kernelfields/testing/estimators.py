"""Checks that every sequence estimator must pass.

Scikit-learn's own ``check_estimator`` gives estimators one two-dimensional X and cannot be passed by
those that label sequences. These are its checks that make sense for them, and some more.
"""

from __future__ import annotations

import copy
import pickle
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from ..errors import InputError
from ..estimators import load
from ..estimators.registry import REGISTRY

Data = tuple[list[Any], list[list[Any]]]


def check_estimator(
    estimator: Any, rng: np.random.Generator, *, ties: bool = False, missing: bool = False
) -> None:
    """Run all checks on an unfitted estimator.

    With ``ties`` the order of labels may matter, as for models that begin with all scores equal: labels
    are renamed only such that their order stays. With ``missing`` NaN is no bad input.
    """
    X, y = labelled_sequences(rng)
    for check in (
        check_parameters,
        check_not_fitted,
        check_fit_is_repeatable,
        check_inputs_untouched,
        check_persistence,
        partial(check_names_of_labels, ties=ties),
        check_probabilities,
        partial(check_bad_input, missing=missing),
        check_labels_out_of_sight,
    ):
        check(clone(estimator), X, y)


def labelled_sequences(rng: np.random.Generator, count: int = 12) -> Data:
    """Sequences whose labels, three of them, depend on their features and on their neighbours."""
    X, y = [], []
    for length in rng.integers(1, 9, size=count):
        labels = np.cumsum(rng.random(length) < 0.4) % 3
        X.append(np.eye(3)[labels] + 0.4 * rng.normal(size=(length, 3)))
        y.append([("red", "green", "blue")[k] for k in labels])
    return [*X, np.eye(3)], [*y, ["red", "green", "blue"]]


def check_parameters(estimator: Any, X: list[Any], y: list[list[Any]]) -> None:
    """get_params and set_params are inverse; the constructor and `fit` change no parameter."""
    before = estimator.get_params()
    assert estimator.set_params(**before).get_params() == before
    fitted = clone(estimator).fit(X, y)
    assert fitted.get_params().keys() == before.keys()
    assert repr(fitted) == repr(clone(estimator))


def check_not_fitted(estimator: Any, X: list[Any], y: list[list[Any]]) -> None:
    """Predicting before `fit` says so."""
    for method in (estimator.predict, estimator.predict_marginals):
        _expect(NotFittedError, partial(method, X))


def check_fit_is_repeatable(estimator: Any, X: list[Any], y: list[list[Any]]) -> None:
    """`fit` gives itself; a second one gives the same model, whatever was fitted before."""
    assert estimator.fit(X, y) is estimator
    first = estimator.predict_marginals(X)
    estimator.fit(X[::-1], y[::-1])
    _same(first, estimator.fit(X, y).predict_marginals(X))


def check_inputs_untouched(estimator: Any, X: list[Any], y: list[list[Any]]) -> None:
    """Neither `fit` nor `predict` changes what it was given."""
    X_before, y_before = copy.deepcopy(X), copy.deepcopy(y)
    estimator.fit(X, y).predict(X)
    _same(X, X_before)
    assert y == y_before


def check_persistence(estimator: Any, X: list[Any], y: list[list[Any]]) -> None:
    """Pickling and saving keep predictions; cloning forgets them."""
    estimator.fit(X, y)
    restored = [pickle.loads(pickle.dumps(estimator))]
    if REGISTRY.recipe_of(estimator) is not None:  # those written elsewhere have no name in files
        with tempfile.TemporaryDirectory() as folder:
            estimator.save(Path(folder) / "model.kf")
            restored.append(load(Path(folder) / "model.kf"))
    for model in restored:
        _same(estimator.predict_marginals(X), model.predict_marginals(X))
        assert model.predict(X) == estimator.predict(X)
    check_not_fitted(clone(estimator), X, y)


def check_names_of_labels(estimator: Any, X: list[Any], y: list[list[Any]], ties: bool = False) -> None:
    """Renaming labels renames predictions, whatever kind of objects they are."""
    plain = estimator.fit(X, y).predict(X)
    same_order: list[dict[str, Any]] = [{"blue": 1, "green": 2, "red": 3}]
    others: list[dict[str, Any]] = [
        {"red": 2, "green": 0, "blue": 1},
        {"red": ("a", 1), "green": "z", "blue": 3.5},
    ]
    for names in same_order if ties else same_order + others:
        renamed = clone(estimator).fit(X, [[names[label] for label in labels] for labels in y])
        assert renamed.predict(X) == [[names[label] for label in labels] for labels in plain]


def check_probabilities(estimator: Any, X: list[Any], y: list[list[Any]]) -> None:
    """Marginals are distributions over ``classes_``, the same for sequences alone and together."""
    marginals = estimator.fit(X, y).predict_marginals(X)
    assert [m.shape for m in marginals] == [(len(x), len(estimator.classes_)) for x in X]
    for s, m in enumerate(marginals):
        assert (m >= 0).all()
        np.testing.assert_allclose(m.sum(axis=1), 1, atol=1e-9)
        np.testing.assert_allclose(estimator.predict_marginals(X[s : s + 1])[0], m, atol=1e-9)
    assert estimator.predict_marginals([]) == []
    assert estimator.n_features_in_ == X[0].shape[1]


def check_bad_input(estimator: Any, X: list[Any], y: list[list[Any]], *, missing: bool = False) -> None:
    """Bad input is refused by sequence and position, and leaves a fitted model as it was."""
    estimator.fit(X, y)
    before = estimator.predict_marginals(X)
    hole = [x.copy() for x in X]
    hole[1][-1, 0] = np.inf if missing else np.nan
    bad: dict[str, Callable[[], Any]] = {
        f"Sequence 1 of X holds {'infinity' if missing else 'NaN'}": lambda: estimator.fit(hole, y),
        "Sequence 2 of X has 2 features": lambda: estimator.fit([*X[:2], X[2][:, :2], *X[3:]], y),
        "Sequence 0 has": lambda: estimator.fit(X, [y[0] + ["red"], *y[1:]]),
        f"X has {len(X)} sequences, but y has {len(X) - 1}": lambda: estimator.fit(X, y[1:]),
        "The training set is empty": lambda: estimator.fit([], []),
        "at least two labels": lambda: estimator.fit(X, [["red"] * len(labels) for labels in y]),
        "lengths=": lambda: estimator.fit(np.concatenate(X), y),
        "Sequence 0 of X has 1 dimensions": lambda: estimator.fit([x[:, 0] for x in X], y),
        "2 features per position, expected 3": lambda: estimator.predict([x[:, :2] for x in X]),
    }
    for words, attempt in bad.items():
        message = _expect(InputError, attempt)
        assert words in message, f"{message!r} does not say {words!r}"
    _same(before, estimator.predict_marginals(X))


def check_labels_out_of_sight(estimator: Any, X: list[Any], y: list[list[Any]]) -> None:
    """Labels that are missing do not count; those that training did not have count as wrong."""
    estimator.fit(X, y)
    some = [[None if t % 2 else label for t, label in enumerate(labels)] for labels in y]
    guess = estimator.predict(X)
    right = [
        g == label for a, b in zip(guess, some, strict=True) for g, label in zip(a, b, strict=True) if label
    ]
    assert np.isclose(estimator.score(X, some), np.mean(right))
    strange = [["white", *labels[1:]] for labels in y]
    assert estimator.score(X, strange) < 1
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert (estimator.sequence_log_proba(X, strange) == -np.inf).all()
    assert f"{len(X)} of {len(X)} sequences have labels" in str(caught[0].message)


def _expect(kind: type[Exception], attempt: Callable[[], Any]) -> str:
    """Return the message of the exception that an attempt must raise."""
    try:
        attempt()
    except kind as error:
        return str(error)
    raise AssertionError(f"{kind.__name__} was not raised.")


def _same(left: list[Any], right: list[Any]) -> None:
    assert len(left) == len(right)
    for a, b in zip(left, right, strict=True):
        np.testing.assert_array_equal(a, b)
