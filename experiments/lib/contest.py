"""Several methods on the same sequences: settings are tuned on some of them and errors measured on others."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

from kernelfields.arrays import Array
from kernelfields.metrics import token_error

from .folds import pick


class SequenceSet(NamedTuple):
    """Labelled sequences, both as tokens and as features."""

    tokens: list[Any]
    features: list[Any]
    labels: list[Any]

    def pick(self, ids: Array) -> SequenceSet:
        """Return some of the sequences."""
        return SequenceSet(pick(self.tokens, ids), pick(self.features, ids), pick(self.labels, ids))


@dataclass(frozen=True)
class Method:
    """A learning method with one setting to tune: a penalty, a number of epochs, a pseudocount."""

    name: str
    make: Callable[[float], Any]
    """From that number to an estimator."""
    choices: Sequence[float]
    reads_tokens: bool = False
    """Whether it learns from tokens instead of features."""

    def inputs(self, part: SequenceSet) -> list[Any]:
        """Return what the method learns from: tokens or features."""
        return part.tokens if self.reads_tokens else part.features


class FittedModel(NamedTuple):
    """A fitted model, with the setting that was chosen for it and its cost."""

    method: Method
    choice: float
    model: Any
    seconds: float
    """Time of this fit, without that of other choices."""

    @property
    def gap(self) -> float | None:
        """Relative duality gap, where there is one."""
        certificate = getattr(self.model, "certificate_", None)
        return None if certificate is None else float(certificate.relative_gap)

    def error(self, part: SequenceSet) -> float:
        """Return the percentage of wrong labels."""
        return 100 * token_error(part.labels, self.model.predict(self.method.inputs(part)))


def fitted(method: Method, choice: float, train: SequenceSet) -> FittedModel:
    """Fit with a given choice; the limit of iterations raises no warning, because the gap is reported."""
    model = method.make(choice)
    started = perf_counter()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*limit of iterations")
        model.fit(method.inputs(train), train.labels)
    return FittedModel(method, choice, model, perf_counter() - started)


def chosen(method: Method, train: SequenceSet, validation: SequenceSet) -> FittedModel:
    """Fit with every choice; return the model with the fewest wrong labels on the validation part.

    Of equals the first: choices are listed with the one that smooths most at the beginning.
    """
    models = (fitted(method, choice, train) for choice in method.choices)
    if len(method.choices) == 1:
        return next(models)
    return min(models, key=lambda model: model.error(validation))


def largest_gap(models: Sequence[FittedModel]) -> float:
    """Return the largest relative gap of models that have one."""
    return max(model.gap for model in models if model.gap is not None)
