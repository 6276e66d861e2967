"""What a model inside a pipeline learns from, transformed once for all of its settings."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..estimators import SequencePipeline
from ..tables import structure_of

PREFIX = "estimator__"


class PreparedModel(NamedTuple):
    """A model without transformers, and sequences as they reach it."""

    model: Any
    train: list[Any]
    test: list[Any]


def inner(model: Any) -> Any:
    """Return the model inside a pipeline, fitted if the pipeline is; others as they are."""
    if not isinstance(model, SequencePipeline):
        return model
    return inner(getattr(model, "estimator_", model.estimator))


def prefix_of(model: Any) -> str:
    """Return what names of settings of the inner model begin with."""
    return PREFIX + prefix_of(model.estimator) if isinstance(model, SequencePipeline) else ""


def prepared(model: Any, X: list[Any], y: list[Any], test: list[Any]) -> PreparedModel:
    """Return the inner model, and what it would be given."""
    if not isinstance(model, SequencePipeline):
        return PreparedModel(model, X, test)
    from sklearn.base import clone

    structure = structure_of(getattr(inner(model), "structure", "chain"))
    (train, links), (seen, test_links) = structure.split(X, None), structure.split(test, None)
    for transformer in model.transformers:
        fitted = clone(transformer).fit(train, y)
        train, seen = fitted.transform(train), fitted.transform(seen)
    joined = _joined(structure, train, links), y, _joined(structure, seen, test_links)
    return prepared(model.estimator, *joined)


def _joined(structure: Any, sequences: Any, links: Any) -> list[Any]:
    if links is None:
        return list(sequences)
    return [structure.item(x, link) for x, link in zip(sequences, links, strict=True)]
