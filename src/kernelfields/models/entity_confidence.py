"""How sure a model is of the entities that it finds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..arrays import Array
from ..errors import InputError
from ..metrics import entity_spans, has_entities
from .labeller import SequenceLabeller


def entity_confidence(
    model: Any, X: Any, labels: Sequence[Sequence[Any]], marginals: Sequence[Array], allowed: Any = None
) -> list[list[float]] | None:
    """Return the probability of every entity of labels that were predicted; None if labels name no entities.

    It is exact, `entity_probabilities`, where a model has it. Models of several others, and those without
    sums over labellings of a chain, answer the least probability of an entity's labels, which is no less.
    """
    names = model.classes_.tolist()
    if not has_entities(names):
        return None
    if isinstance(model, SequenceLabeller):
        try:
            return [each.tolist() for each in model.entity_probabilities(X, labels, allowed=allowed)]
        except InputError:  # a structure without such sums
            pass
    place = {label: k for k, label in enumerate(names)}
    return [
        [
            min(float(p[t, place[y[t]]]) for t in range(start, stop))
            for start, stop, _ in entity_spans([list(y)])[0]
        ]
        for y, p in zip(labels, marginals, strict=True)
    ]
