"""What a sequence labeller sees that is the last step of a pipeline, or the best of a search."""

from __future__ import annotations

from typing import Any


def last_step(estimator: Any, X: Any) -> tuple[Any, Any]:
    """Return the labeller itself, and X as it gets it.

    scikit-learn's pipelines and searches pass on ``predict`` and ``score``, but no methods that they do not
    know, such as ``sequence_log_proba``.
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
    """Return what labels sequences: of a classifier of rows, its model of them."""
    model = getattr(labeller, "sequence_model", None)
    return labeller if model is None else model()
