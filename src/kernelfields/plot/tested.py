"""What pictures of a test show: true labels, answers and probabilities."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..metrics.steps import for_sequences, last_step
from ..models.scaling import has_probabilities
from ..report import Evaluation


class TestedLabels(NamedTuple):
    """Labels of a test, side by side."""

    labeller: Any
    """None where the test was made before."""
    inputs: Any
    true: list[list[Hashable]]
    answers: list[list[Hashable]]


def labels_of(model: Any, X: Any, y: Any) -> TestedLabels:
    """Label test items; of an evaluation, take what it has."""
    if isinstance(model, Evaluation):
        _require_nothing(X, y)
        return TestedLabels(None, None, model.sequences.true, model.sequences.answers)
    if X is None or y is None:
        raise InputError("X and y are needed besides a model: items and their true labels.")
    labeller, inputs = labeller_of(model, X)
    answers = [_flat(one) for one in labeller.predict(inputs)]
    true = [_flat(one) for one in y]
    if len(true) != len(answers):
        raise InputError(f"X has {len(answers)} items, but y has {len(true)}.")
    return TestedLabels(labeller, inputs, true, answers)


def labeller_of(model: Any, X: Any) -> tuple[Any, Any]:
    """Return what labels items, behind the steps of a pipeline or in a search, and the items it gets."""
    step, inputs = last_step(model, X)
    labeller = for_sequences(step)
    if not hasattr(labeller, "predict_marginals"):
        raise InputError(f"{type(step).__name__} labels no sequences: it has no predict_marginals.")
    structure = getattr(labeller, "structure_", None)
    if structure is not None and not structure.labelling:
        raise InputError(f"This picture is of labels, which {structure!r} has not; see arcs and links.")
    return labeller, inputs


def probabilities_of(labeller: Any, inputs: Any) -> list[Array]:
    """Return p(y_t|x) of all positions, a (T, L) array per item; refuse models that learnt none."""
    if not has_probabilities(labeller):
        raise InputError(
            f"{type(labeller).__name__} learns no probabilities, which this picture shows: "
            "call recalibrate with held-out data first, or take a model that does."
        )
    found = labeller.predict_marginals(inputs)
    return [np.asarray(one).reshape(-1, np.shape(one)[-1]) for one in found]


def _flat(labels: Any) -> list[Hashable]:
    """Labels of a sequence, or of a grid row by row."""
    return np.ravel(labels).tolist() if isinstance(labels, np.ndarray) else list(labels)


def _require_nothing(X: Any, y: Any) -> None:
    if X is not None or y is not None:
        raise InputError("An evaluation has its test items already: give no X and y with it.")
