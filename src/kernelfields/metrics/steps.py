"""The sequence labeller inside a pipeline or a search, and the input that it gets."""

from __future__ import annotations

from typing import Any


def last_step(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Return the labeller, and X as the labeller gets it.

    Pipelines and searches of scikit-learn pass on ``predict`` and ``score``, but not methods that they do
    not know, such as ``sequence_log_proba``.
    """
    best = getattr(estimator, "best_estimator_", None)
    if best is not None:
        return last_step(best, X)
    steps = getattr(estimator, "steps", None)
    if not isinstance(steps, list):
        return estimator, X
    for _, transformer in steps[:-1]:
        if transformer is not None and transformer != "passthrough":
            X = transformer.transform(X)
    return last_step(steps[-1][1], X)


def for_sequences(labeller: Any) -> Any:
    """Return the model that labels sequences: for a classifier of rows, the one inside."""
    model = getattr(labeller, "sequence_model", None)
    return labeller if model is None else model()
