"""Laplace's approximation, as wide as out-of-fold predictions of the training set want it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.groups import fold_numbers, pick
from ..data.labels import look_up_outputs
from ..data.training import require_labelling
from ..errors import InputError
from ..fitting.copies import silent_copy
from ..posterior import Laplace, PosteriorMethod
from ..tables import POSTERIORS, choose
from .model import fitted_structure
from .scaling import Scaling

if TYPE_CHECKING:
    from .fold_scale import ChosenScale, FoldScores

FOLD_SAMPLES = 8
"""Functions drawn in every fold, at most: enough to tell a wide posterior from a narrow one."""


def posterior_method(
    model: Any, setting: Any, X: Any, y: Any, lengths: Any, sample_weight: Any
) -> PosteriorMethod:
    """Return how the posterior of a fitted model is approximated, once folds have said how wide it is."""
    method = choose(POSTERIORS, setting, "posterior")
    if isinstance(method, Laplace) and method.folds is not None:
        return settle_scale(model, method, X, y, lengths, sample_weight)
    return method


def settle_scale(model: Any, method: Laplace, X: Any, y: Any, lengths: Any, sample_weight: Any) -> Laplace:
    """Return the approximation with a scale, and give the model the temperature that goes with it.

    Parameters
    ----------
    model : estimator
        Fitted to X and y; copies are fitted to all folds but one.
    method : Laplace
        With a number of folds.
    X, y, lengths, sample_weight
        The training set, as `fit` had it.
    """
    from .fold_scale import choose_scale

    require_labelling(fitted_structure(model), "Laplace(folds=…)")
    if lengths is not None:
        ends = np.cumsum(np.asarray(lengths, dtype=np.int64))
        X = [X[end - size : end] for end, size in zip(ends.tolist(), lengths, strict=True)]
    seed = model.random_state if isinstance(model.random_state, int) else 0
    fold = fold_numbers(len(X), method.folds, None, seed, fitted_structure(model).words)
    weights = None if sample_weight is None else np.asarray(sample_weight)
    found = [_fold(model, method, X, y, weights, fold == number) for number in range(int(fold.max()) + 1)]
    chosen = choose_scale(found)
    model.scaling_ = _scaling(chosen, len(X))
    return replace(method, scale=chosen.scale, folds=None)


def _fold(model: Any, method: Laplace, X: Any, y: Any, weights: Any, held: Any) -> FoldScores:
    """Return a fold as a model of the others sees it."""
    from .fold_scale import FoldScores

    known, unknown = np.flatnonzero(~held), np.flatnonzero(held)
    count = min(method.n_samples, FOLD_SAMPLES)
    whole = replace(method, n_samples=count, scale=1.0, folds=None, evidence=False)
    if "classes" not in model.get_params(deep=False):
        raise InputError(f"Laplace(folds=…) needs estimators with classes; {type(model).__name__} has none.")
    extra = {} if weights is None else {"sample_weight": weights[known]}
    other = silent_copy(model, posterior=whole, classes=model.classes_.tolist())
    other.fit(pick(X, known), pick(y, known), **extra)
    scored = other._batch(pick(X, unknown), None, None)
    labels = look_up_outputs(fitted_structure(model), pick(y, unknown), scored.inputs, model.classes_)
    return FoldScores(scored.batch, scored.scores, labels)


def _scaling(chosen: ChosenScale, count: int) -> Scaling:
    return Scaling(chosen.temperature, None, float(chosen.before), float(chosen.after), count)
