"""Scores of training sequences by models that have not seen them, to rescale those of one that has."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..arrays import Array
from ..data.groups import fold_numbers, pick
from ..data.labels import UNKNOWN, look_up_outputs
from ..errors import InputError
from ..fitting.copies import silent_copy
from .model import fitted_structure
from .recalibration import HeldOutBatch, held_out

SEED = 0


def fold_batches(model: Any, X: Any, y: Any, folds: int, groups: Any) -> list[HeldOutBatch]:
    """Return every fold as a batch, with the scores of a copy of the model that was fitted to the others.

    Parameters
    ----------
    model : estimator
        Whose settings the copies have.
    X, y : list of sequences and list of label sequences
        What the model was fitted to.
    folds : int
        Number of folds.
    groups : (S,) sequence or None
        Groups that stay together.
    """
    words = fitted_structure(model).words
    if len(X) != len(y):
        raise InputError(f"X has {len(X)} {words.items}, but y has {len(y)}.")
    fold = fold_numbers(len(X), folds, groups, SEED, words)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit of the model itself has warned
        return [_batch(model, X, y, fold == number) for number in range(folds)]


def _batch(model: Any, X: Any, y: Any, held: Array) -> HeldOutBatch:
    train, test = np.flatnonzero(~held), np.flatnonzero(held)
    copy = silent_copy(model).fit(pick(X, train), pick(y, train))
    scored = copy.unscaled(pick(X, test), None)
    labels = look_up_outputs(fitted_structure(copy), pick(y, test), scored.inputs, copy.classes_)
    return held_out(scored.batch, scored.scores, labels, UNKNOWN)
