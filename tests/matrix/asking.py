"""The same questions for all estimators, whatever their methods are called."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import softmax

from kernelfields import (
    KernelLogisticRegression,
    LabelPropagation,
    LabelSpreading,
    PoissonLearning,
    TransductiveSVM,
)
from kernelfields.errors import InputError

from .inputs import Given

GRAPHS = LabelPropagation | LabelSpreading
MARGINS = TransductiveSVM | PoissonLearning
ROWS = KernelLogisticRegression | MARGINS | GRAPHS


class UnexpectedWarningError(Exception):
    """A warning that is not documented."""


def fitted(model: Any, arguments: dict[str, Any]) -> Any:
    """Fit; a search that ends early may say so, nothing else may warn."""
    from sklearn.exceptions import ConvergenceWarning

    with (
        warnings.catch_warnings(record=True) as said,
        contextlib.redirect_stderr(io.StringIO()),
        contextlib.redirect_stdout(io.StringIO()),
    ):
        warnings.simplefilter("always")
        model.fit(**arguments)
    for one in said:
        if not issubclass(one.category, ConvergenceWarning):
            raise UnexpectedWarningError(f"{one.category.__name__}: {one.message}")
    return model


def marginals(model: Any, given: Given) -> list[Any]:
    """p(y_t|x) of every sequence, (T, L); where there is none, a softmax of scores."""
    if isinstance(model, MARGINS):
        values = _by_sequence(model.decision_function(given.X), given)  # one number for two labels
        both = [one if one.ndim == 2 else np.stack([-one, one], axis=1) for one in values]
        found = [softmax(np.clip(one, -50, 50), axis=1) for one in both]
        return [np.where(np.isnan(one), 1 / len(model.classes_), one) for one in found]
    if isinstance(model, GRAPHS):  # NaN where no label comes to
        found = _by_sequence(model.predict_proba(given.X), given)
        return [np.where(np.isnan(one), 1 / len(model.classes_), one) for one in found]
    if isinstance(model, KernelLogisticRegression):
        return _by_sequence(model.predict_proba(given.X), given)
    if given.sums == "none":
        return _no_sums(lambda: model.predict_marginals(given.X))
    return model.predict_marginals(given.X, **_lengths(given))


def predictions(model: Any, given: Given, **how: Any) -> list[list[Any]]:
    """Labels of every sequence."""
    if isinstance(model, ROWS):
        return [list(one) for one in _by_sequence(model.predict(given.X), given)]
    return model.predict(given.X, **_lengths(given), **how)


def kbest(model: Any, given: Given, k: int) -> list[list[tuple[list[Any], float]]] | None:
    """The k best labellings with their log-probabilities, where there is such a method."""
    if not hasattr(model, "predict_kbest"):
        return None
    if given.sums != "exact":
        return _no_sums(lambda: model.predict_kbest(given.X, k)) or None
    return model.predict_kbest(given.X, k, **_lengths(given))


def draws(model: Any, given: Given, n: int) -> list[list[list[Any]]]:
    """Some draws of all sequences, where there is such a method."""
    if given.sums == "none" and hasattr(model, "sample"):
        return _no_sums(lambda: model.sample(given.X, n))
    return model.sample(given.X, n, **_lengths(given)) if hasattr(model, "sample") else []


def _no_sums(question: Callable[[], list[Any]]) -> list[Any]:
    """Return nothing where a question is refused that needs sums over labellings."""
    try:
        question()
    except InputError:
        return []
    raise AssertionError("a question is answered that needs sums over labellings")


def _lengths(given: Given) -> dict[str, Any]:
    return {} if given.lengths is None else {"lengths": given.lengths}


def _by_sequence(answers: Any, given: Given) -> list[Any]:
    if given.lengths is None:
        return list(answers)
    return np.split(answers, np.cumsum(given.lengths)[:-1])
