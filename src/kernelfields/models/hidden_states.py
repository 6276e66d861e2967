"""Hidden states of labels: which there are, first guesses of them, and settings of a model of states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array, falls
from ..constraints import OwnedRule
from ..data.labels import encode_outputs, unlabelled_items
from ..data.reading import read_to_fit
from ..data.state_starts import clustered_states, random_states, run_states
from ..data.types import Items, Lengths, Outputs
from ..data.unlabelled import set_aside
from ..errors import InputError
from ..kernels import Weighted
from ..persistence.fields import Field, Sizes
from ..selection import Selection
from ..structures import Chain, Graph, Tree
from ..tables import CONSTRAINTS, choose, structure_of
from .kernel_settings import read_basis
from .parts import AnyPart, FixedScores, KernelScores, Parts
from .vertex_kernels import takes_objects

REFUSED: Mapping[str, str] = {
    "loss": "hidden states have a loss of their own",
    "observed_only": "it needs every state to be observed",
    "kernel": "weights are learnt for losses that are convex",
    "basis": "selections are for losses that are convex",
    "warm_start": "every start is a guess",
    "run__checkpoint": "every start would write to the same file",
}
"""Settings that a model of states cannot have, and why."""
NEUTRAL = (None, False, "log")
"""What they have to be."""


@dataclass(frozen=True)
class StateNumbers(Field):
    """The label of every state, in order, as numbers."""

    large: bool = False

    def objection(self, value: Any, sizes: Sizes) -> str:
        """Say if it is none."""
        if not isinstance(value, np.ndarray) or value.dtype.kind != "i" or value.ndim != 1:
            return "is no array of whole numbers"
        labels = np.arange(sizes["L"])
        sound = np.array_equal(np.unique(value), labels) and not falls(value)
        return "" if sound else "does not give every label its states, in order"


class StateTraining(NamedTuple):
    """A training set, as far as guesses of states look at it."""

    features: Any
    offsets: Array
    labels: Array
    """Of all positions, −1 where there is none."""
    classes: Array
    owners: Array
    missing: frozenset[int]
    """Sequences without labels."""
    in_sequence: bool
    """Whether positions are in order: whether there are runs."""

    def guessed(self, start: str, random: np.random.RandomState) -> list[Any]:
        """Return states to begin with, as y; None for sequences without labels."""
        counts = np.bincount(self.owners, minlength=len(self.classes))
        first = np.concatenate([[0], np.cumsum(counts)[:-1]])
        if start == "run":
            if not self.in_sequence:
                raise InputError("start='run' is for sequences; use start='kmeans' or start='random'.")
            states = run_states(self.labels, self.offsets, first, counts)
        elif start == "random":
            states = random_states(self.labels, first, counts, random)
        else:
            states = clustered_states(self.labels, self.features, first, counts, random)
        named = [None if state < 0 else state for state in states.tolist()]
        each = [named[a:b] for a, b in pairwise(self.offsets.tolist())]
        return [None if s in self.missing else one for s, one in enumerate(each)]


def read_states(estimator: Any, X: Items, y: Outputs, lengths: Lengths, n_states: Any) -> StateTraining:
    """Read a training set to guess states from, changing nothing; refuse what states cannot have."""
    settings = estimator.get_params()
    for name, reason in REFUSED.items():
        given = read_basis(settings.get(name)) if name == "basis" else settings.get(name)
        if name in ("kernel", "basis") and not isinstance(given, Weighted | Selection):
            continue
        if not any(given is neutral or (isinstance(given, str) and given == neutral) for neutral in NEUTRAL):
            raise InputError(f"HiddenStates does not go with {name}={given!r} of estimator: {reason}.")
    structure = structure_of(estimator.structure)
    if not isinstance(structure, Chain | Tree | Graph) or structure.forbidden_pairs:
        raise InputError(
            f"HiddenStates takes sequences, trees and graphs whose labels any may follow, not {structure!r}."
        )
    parts = set_aside(structure, X, y, lengths)
    verbatim = "kernel" in settings and takes_objects(settings["kernel"])
    inputs, _ = read_to_fit(
        structure, settings["features"], parts.labelled.X, parts.labelled.lengths, verbatim=verbatim
    )
    encoded = encode_outputs(structure, parts.y, inputs, None, settings["classes"])
    owners = np.repeat(np.arange(len(encoded.classes)), _counts(n_states, encoded.classes.tolist()))
    missing = frozenset(unlabelled_items(y, X, lengths))
    in_sequence = isinstance(structure, Chain)
    return StateTraining(
        inputs.features, inputs.offsets, encoded.labels, encoded.classes, owners, missing, in_sequence
    )


def _counts(n_states: Any, labels: list[Any]) -> list[int]:
    """Return how many states every label has."""
    if not isinstance(n_states, Mapping):
        return [int(n_states)] * len(labels)
    for label in n_states:
        if label not in labels:
            raise InputError(f"n_states has the unknown label {label!r}.")
    return [int(n_states.get(label, 1)) for label in labels]


def shared_functions(owners: Array, share: float) -> Array:
    """Return the kernel of states whose functions have a part in common: that of their label."""
    return np.asarray(share * (owners[:, None] == owners) + (1.0 - share) * np.eye(len(owners)))


def _of_states(part: AnyPart | None, labels: list[Any]) -> AnyPart | None:
    """Return a part of a model of labels as one of the states that they own."""
    if isinstance(part, KernelScores) and part.labels is not None:
        raise InputError("HiddenStates takes no kernel on labels: share says what states have in common.")
    if not isinstance(part, FixedScores):
        return part
    measure = part.measure
    if not isinstance(measure, Mapping):
        raise InputError("HiddenStates takes FixedScores of a mapping of labels.")
    return FixedScores({s: measure[label] for s, label in enumerate(labels) if label in measure})


def owned_settings(estimator: Any, training: StateTraining, share: float) -> dict[str, Any]:
    """Return the settings of a model of states: those of labels, said of the states they own."""
    labels = [training.classes.tolist()[k] for k in training.owners.tolist()]
    found: dict[str, Any] = {"classes": list(range(len(labels)))}
    if estimator.constraints is not None:
        found["constraints"] = OwnedRule(choose(CONSTRAINTS, estimator.constraints, "constraints"), labels)
    parts = {name: _of_states(part, labels) for name, part in estimator.parts.items()}
    if share:
        if "kernel" in parts:
            raise InputError("share says what states have in common; leave out the part 'kernel'.")
        parts["kernel"] = KernelScores(labels=shared_functions(training.owners, share))
    found["parts"] = Parts(parts)
    if isinstance(getattr(estimator, "kernel", None), Mapping):
        raise InputError("HiddenStates takes one kernel for all labels, not a mapping of labels.")
    return found
