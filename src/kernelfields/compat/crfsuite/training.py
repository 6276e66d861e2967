"""Training sequences gathered one by one, and what is made of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...arrays import Array, offsets_of
from ...estimators import CRF
from ...native import AttributePool
from .algorithms import ALGORITHMS
from .items import ItemError, plain
from .models import model_of
from .report import Clock, Report, Say
from .training_set import CRFsuiteTraining, FeatureSettings, HoldoutGroup, Instances


class _Batch(NamedTuple):
    """Some sequences, read."""

    lengths: Array
    """Number of attributes of every position."""
    attributes: Array
    values: Array
    sizes: Array
    """Number of positions of every sequence."""
    labels: Array
    group: int


class InstanceList:
    """All sequences of a training, attributes and labels numbered as they come."""

    def __init__(self) -> None:
        self.pool = AttributePool()
        self.labels: dict[str, int] = {}
        self.parts: list[_Batch] = []

    def add(self, X: Iterable[Any], y: Iterable[Iterable[Any]], group: int) -> None:
        """Take some sequences."""
        sequences = [plain(xseq) for xseq in X]
        names = [[_label(label) for label in yseq] for yseq in y]
        for items, labels in zip(sequences, names, strict=True):
            if len(items) != len(labels):
                raise ValueError(
                    f"The numbers of items and labels differ: |x| = {len(items)}, |y| = {len(labels)}"
                )
        try:
            first, attributes, values, offsets = self.pool.grow(sequences)
        except ValueError as error:
            raise ItemError(str(error)) from None
        numbers = [self.labels.setdefault(name, len(self.labels)) for labels in names for name in labels]
        encoded = np.array(numbers, dtype=np.int32)
        self.parts.append(_Batch(np.diff(first), attributes, values, np.diff(offsets), encoded, group))

    def data(self) -> tuple[Instances, Array]:
        """Return all of them, and their groups."""
        first = offsets_of(np.concatenate([part.lengths for part in self.parts]))
        columns = np.concatenate([part.attributes for part in self.parts])
        values = np.concatenate([part.values for part in self.parts])
        matrix = sparse.csr_matrix((values, columns, first), shape=(len(first) - 1, len(self.pool)))
        matrix.sum_duplicates()
        offsets = offsets_of(np.concatenate([part.sizes for part in self.parts]))
        labels = np.concatenate([part.labels for part in self.parts])
        groups = np.repeat([part.group for part in self.parts], [len(part.sizes) for part in self.parts])
        return Instances(matrix, offsets, labels), groups


def _label(label: Any) -> str:
    if isinstance(label, bytes):
        return label.decode()
    if not isinstance(label, str):
        raise TypeError(f"expected bytes, {type(label).__name__} found")
    return str(label)


def trained(
    gathered: InstanceList, algorithm: str, settings: dict[str, Any], holdout: int, say: Say
) -> CRF | None:
    """Train; return the model, or None if there is nothing to learn from."""
    if not gathered.labels:
        return None
    data, groups = gathered.data()
    if holdout >= 0:
        say(f"Holdout group: {holdout + 1}\n")
        say("\n")
    clock = Clock()
    features = FeatureSettings(
        settings["feature.minfreq"],
        settings["feature.possible_states"],
        settings["feature.possible_transitions"],
    )
    _announce(features, say)
    training = CRFsuiteTraining(data.take(np.flatnonzero(groups != holdout)), len(gathered.labels), features)
    for mark in "0....1....2....3....4....5....6....7....8....9....":
        say(mark)
    for line in ("10", "\n", f"Number of features: {training.n_weights}\n"):
        say(line)
    say(f"Seconds required: {clock.lap():.3f}\n")
    say("\n")
    held_out = HoldoutGroup(training, data.take(np.flatnonzero(groups == holdout))) if holdout >= 0 else None
    labels = list(gathered.labels)
    element = ALGORITHMS[algorithm](training, settings, Report(say, labels, held_out))
    states, transitions = training.tables(element)
    names = gathered.pool.names()
    model = model_of(
        labels,
        [names[a] for a in training.columns.tolist()],
        states,
        transitions,
        penalty=2 * settings.get("c2", 0.0),
        l1=settings.get("c1", 0.0),
    )
    _count(training, model, len(names), say)
    return model


def _announce(features: FeatureSettings, say: Say) -> None:
    say("Feature generation\n")
    say("type: CRF1d\n")
    say(f"feature.minfreq: {features.minfreq:f}\n")
    say(f"feature.possible_states: {features.possible_states:d}\n")
    say(f"feature.possible_transitions: {features.possible_transitions:d}\n")


def _count(training: CRFsuiteTraining, model: CRF, n_attributes: int, say: Say) -> None:
    """Say what will be stored."""
    L, coef = len(model.classes_), model.coef_
    active = coef.nnz + np.count_nonzero(model.transitions_)
    say("Storing the model\n")
    say(f"Number of active features: {active} ({training.n_weights})\n")
    say(f"Number of active attributes: {model.n_features_in_} ({n_attributes})\n")
    say(f"Number of active labels: {L} ({L})\n")
    say("Writing labels\n")
    say("Writing attributes\n")
    say("Writing feature references for transitions\n")
    say("Writing feature references for attributes\n")
