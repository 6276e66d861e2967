"""Labels that nobody told, filled in where the model is sure of them."""

from __future__ import annotations

from typing import Any

from .pool import LabelPool
from .view import PoolView


def completed(model: Any, pool: LabelPool, least: float) -> Any:
    """Return the labels of a pool, in sequences with some, filled in where p(y_t|x, known) is at least that.

    Labels are those that the model predicts given the known ones, so that rules about labels are kept.
    """
    touched = pool.touched
    known = pool.known(model.classes_)
    part = LabelPool(pool.structure, [pool.X[s] for s in touched], [known[s] for s in touched])
    guessed = model.predict(part.X, allowed=part.known())
    guesses = LabelPool(pool.structure, part.X, guessed).labels
    column = {label: k for k, label in enumerate(model.classes_.tolist())}
    sure = part.pieces(PoolView(model, part).marginals) if least > 0 else None
    labels = [list(one) for one in pool.labels]
    for i, s in enumerate(touched):
        for t, told in enumerate(labels[s]):
            guess = guesses[i][t]
            if told is None and (sure is None or sure[i][t, column[guess]] >= least):
                labels[s][t] = guess
    return pool.shaped(labels)
