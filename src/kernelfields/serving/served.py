"""A model that was read from a file, with what a service has to know of it."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any, Protocol

from ..data.reading import Verbatim
from ..errors import InputError
from ..features import DictFeatures, MissingValues, TemplateFeatures, TokensAndArrays
from ..frames.reading import known_columns
from ..guarantees import Guarantee
from ..structures import GraphBatch
from ..trials.preparing import inner
from ._base import Form, Operation
from .costs import Cost, MeasuredPace, basis_of, cost_of, empty_batch, search_seconds, size_of
from .forms import AttributeForm, RowForm, SymbolForm, WordForm

CONFIDENCE = 0.95
REMEMBERED = 64
"""Guarantees of a model that are kept: each takes a tenth of a second to find."""


class Adapter(Protocol):
    """Adapts the sequences of one request to a model, or refuses them."""

    structure: str
    """What items are: "chain", "tree" or "graph"."""
    symbols: bool
    """Whether positions are symbols."""
    numbers: bool
    """Whether positions are rows of numbers."""

    def __call__(self, inputs: list[Any]) -> list[Any]:
        """Return what the model takes."""


MakeAdapter = Callable[[Any, Callable[[str], Any]], Adapter]
"""Takes a model, and what to do with sentences for the user."""


class ServedModel:
    """A fitted model, and what can be asked of it.

    Parameters
    ----------
    model : estimator
        That labels sequences, trees or graphs.
    adapt : callable
        Makes an adapter of inputs for every request.
    """

    def __init__(self, model: Any, adapt: MakeAdapter) -> None:
        model.predict([])  # what is wrong with a large file is found out when it is first used
        first = adapt(model, lambda _: None)
        self.model, self.adapt = model, adapt
        self.structure = first.structure
        self.form = _form(model, first)
        self.classes: list[Any] = _classes(model)
        self.place: dict[Any, int] = {label: n for n, label in enumerate(self.classes)}
        self.has_marginals = _answers(lambda: model.predict_marginals([]))
        self.has_kbest = _answers(lambda: model.predict_kbest([], 1))
        self.calibrated = getattr(model, "calibration_", None) is not None
        self._batch, self._basis = empty_batch(inner(model)), basis_of(inner(model))
        self._paces: dict[type, MeasuredPace] = {}
        self._guarantees: OrderedDict[tuple[float, float], Any] = OrderedDict()
        self._lock = threading.Lock()

    def suited(self, items: list[Any]) -> tuple[list[Any], list[str]]:
        """Return items as the model takes them, and what there is to say about that."""
        notes: list[str] = []
        return self.adapt(self.model, notes.append)(items), notes

    def pace_of(self, kind: type[Operation]) -> MeasuredPace:
        """Return how fast operations of a kind are."""
        return self._paces.setdefault(kind, MeasuredPace())

    def search_seconds(self, items: list[Any]) -> float:
        """Return how long it can take to find out what items cost."""
        return sum(search_seconds(self._batch, x) for x in items)

    def costs_of(self, operation: Operation, items: list[Any]) -> list[Cost]:
        """Return what the answers to items will take, read or not; without edges, their lengths decide."""
        if isinstance(self._batch, GraphBatch):
            return [self._cost_of(operation, x) for x in items]
        sizes = [size_of(x) for x in items]
        known = {
            size: self._cost_of(operation, x) for size, x in dict(zip(sizes, items, strict=True)).items()
        }
        return [known[size] for size in sizes]

    def _cost_of(self, operation: Operation, x: Any) -> Cost:
        labels, numbers = len(self.classes), operation.numbers(self, size_of(x))
        found = cost_of(self._batch, x, labels, operation.k, numbers, self._basis)
        return replace(found, seconds=found.seconds * self.pace_of(type(operation)).factor)

    def guarantees(self, error_at_most: float, confidence: float | None) -> dict[Hashable, Guarantee]:
        """Return what calibration promises; found once."""
        key = error_at_most, CONFIDENCE if confidence is None else confidence
        with self._lock:
            found = self._guarantees.get(key)
        if found is None:
            found = self.model.guarantees(*key)
            with self._lock:
                self._guarantees[key] = found
                if len(self._guarantees) > REMEMBERED:
                    self._guarantees.popitem(last=False)
        result: dict[Hashable, Guarantee] = found
        return result

    def knows(self, error_at_most: float, confidence: float | None) -> bool:
        """Return whether a guarantee has been found."""
        return (error_at_most, CONFIDENCE if confidence is None else confidence) in self._guarantees

    @property
    def kind(self) -> str:
        """The name of the estimator; that inside a pipeline, which says more."""
        return type(inner(self.model)).__name__

    def description(self) -> dict[str, Any]:
        """Return what users have to know."""
        return {
            "estimator": self.kind,
            "labels": self.classes,
            "input": self.form.name,
            "columns": list(self.form.columns)
            if isinstance(self.form, WordForm)
            else known_columns(self.model),
            "width": self.form.width if isinstance(self.form, RowForm) else None,
            "structure": self.structure,
            "calibrated": self.calibrated,
        }


def _form(model: Any, adapter: Adapter) -> Form:
    extractor = getattr(model, "features_", None)
    if isinstance(extractor, TemplateFeatures):
        return WordForm(tuple(extractor.templates.columns))
    if isinstance(extractor, DictFeatures):
        return AttributeForm()
    if adapter.symbols or isinstance(extractor, Verbatim):
        return SymbolForm()
    if isinstance(extractor, TokensAndArrays):
        raise InputError("The model takes tokens and arrays together, which a request cannot have.")
    source = extractor if isinstance(extractor, MissingValues) else model
    filled = any(isinstance(one, MissingValues) for one in getattr(model, "transformers_", ()))
    missing = filled or extractor is source or bool(getattr(type(model), "_missing", False))
    return RowForm(getattr(source, "n_features_in_", None), missing)


def _classes(model: Any) -> list[Any]:
    """Return the labels, if JSON can write them."""
    found: list[Any] = model.classes_.tolist()
    try:
        json.dumps(found, allow_nan=False)
    except (TypeError, ValueError):
        raise InputError("The model has labels that JSON has no form for.") from None
    return found


def _answers(ask: Callable[[], Any]) -> bool:
    """Return whether a model answers at all."""
    try:
        ask()
    except (AttributeError, InputError, TypeError):
        return False
    return True
