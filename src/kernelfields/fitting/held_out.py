"""Sequences that no fit learns from: they say when to stop, or what to keep."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import losses
from ..arrays import Array
from ..data.inputs import Inputs
from ..data.labels import UNKNOWN, UNOBSERVED, known_outputs, lookup, read_outputs
from ..data.reading import read_to_predict
from ..data.rules import require_possible, require_respected
from ..data.training import Training
from ..data.types import Items, Outputs
from ..errors import InputError, warn_user
from ..losses import observed_log
from ..structures import Structure, StructureBatch


class HeldOutSet(NamedTuple):
    """Held-out sequences, read as the training set was."""

    inputs: Inputs
    labels: Array
    """Index into the classes; −1 where a label is missing, or one that training did not have."""
    batch: StructureBatch
    loss: losses.Loss
    """−log p of the labels that count; what takes its place where the training loss has no sums."""

    def loss_of(self, model: Any) -> float:
        """Return the loss of a model that could be: −log p of the labels, by its rules."""
        return self.loss.at(model.scores(self.inputs, self.batch).scores).value


def read_held_out(model: Any, training: Training, X: Items | None, y: Outputs | None) -> HeldOutSet:
    """Read held-out sequences and their labels."""
    require_both(X, y)
    features = training.inputs.features
    width = features.shape[1] if features.ndim == 2 else 1
    inputs = read_to_predict(
        training.structure,
        training.extractor,
        X,
        None,
        width,
        training.inputs.names,
        missing=model._missing or training.missing,
    )
    labels = held_out_labels(training.structure, y, inputs, training.encoded.classes)
    batch = training.batch_of(inputs)
    require_possible(batch, labels, training.encoded.classes, "y_dev")
    if training.forbidden is not None:
        require_respected(training.forbidden, batch, labels, training.encoded.classes, "X_dev")
    # What was trained without sums over labellings may have none to be judged by.
    judge = training.loss.judge(batch, labels)
    return HeldOutSet(inputs, labels, batch, observed_log(batch, labels) if judge is None else judge)


def require_both(X: Items | None, y: Outputs | None) -> bool:
    """Whether there are held-out sequences; sequences without labels, and the reverse, are refused."""
    if (X is None) != (y is None):
        given, lacking = ("X_dev", "y_dev") if y is None else ("y_dev", "X_dev")
        raise InputError(f"{given} comes without {lacking}: held-out data need both.")
    return X is not None


def held_out_labels(structure: Structure, y: Any, inputs: Inputs, classes: Array) -> Array:
    """Read held-out labels; those that training did not have count as missing, and are warned of."""
    if not structure.labelling:
        return known_outputs(structure, y, inputs, "y_dev")
    labels = lookup(read_outputs(structure, y, inputs, "y_dev"), classes)
    new = int((labels == UNKNOWN).sum())
    if new:
        warn_user(f"{new} labels of y_dev do not occur in y; they are left out.", UserWarning)
    labels[labels == UNKNOWN] = UNOBSERVED
    if not (labels != UNOBSERVED).any():
        raise InputError(f"X_dev and y_dev hold no {structure.words.place} with a label that training has.")
    return labels
