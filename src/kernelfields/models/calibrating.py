"""How a calibration set is made of a model's answers and the true labels."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array, offsets_of, rows_of
from ..data.labels import UNOBSERVED
from ..decoders import Decoder
from ..errors import InputError, warn_user
from ..guarantees import MeanTest, Missed
from .answer_units import (
    AnswerUnits,
    entity_units,
    position_units,
    true_entity_probabilities,
    wrong_entities,
    wrong_positions,
)
from .calibration import ENTITIES, Calibration


class LabelledAnswers(NamedTuple):
    """What a model says about a batch."""

    batch: Any
    scores: dict[str, Array]
    outputs: Array
    """(N,) labels."""
    marginals: Array
    """(N, L) probabilities, as users see them."""
    classes: list[Any]

    def units(self, units: str) -> AnswerUnits:
        """Return the answers, labels or entities."""
        if units == ENTITIES:
            return entity_units(self.batch, self.scores, self.outputs, self.classes)
        return position_units(self.outputs, self.marginals, self.batch.offsets)

    def wrong(self, units: str, truth: Array, named: list[list[Hashable]] | None) -> Array:
        """Return which of them are wrong."""
        if units == ENTITIES:
            assert named is not None
            return wrong_entities(self.batch, self.outputs, self.classes, named)
        return wrong_positions(self.units(units), self.outputs, truth)


class CalibrationSettings(NamedTuple):
    """How a model was calibrated."""

    units: str
    per_label: bool
    test: MeanTest
    decoder: Decoder


def calibration_of(
    seen: LabelledAnswers, truth: Array, named: list[list[Hashable]] | None, settings: CalibrationSettings
) -> Calibration:
    """Return what is kept of a calibration set.

    Parameters
    ----------
    seen : LabelledAnswers
        What the model says.
    truth : (N,) array
        True labels as numbers; negative where they are not observed, or not known to the model.
    named : list of label sequences, optional
        True labels by name, where they may name entities.
    settings : CalibrationSettings
        What an answer is, and how means are tested.
    """
    offsets = seen.batch.offsets
    whole = _fully_observed(truth, offsets)
    found = seen.units(settings.units).judged(seen.wrong(settings.units, truth, named))
    probability = np.where(truth >= 0, seen.marginals[np.arange(len(truth)), truth], 0.0)
    entities = None
    if named is not None:
        entities = _some(Missed(*true_entity_probabilities(probability, offsets, named)), whole)
    kinds = truth[rows_of(offsets, whole)].astype(np.int64)
    return Calibration(
        found.take(whole), _some(Missed(probability, offsets), whole), kinds, entities, *settings
    )


def _fully_observed(truth: Array, offsets: Array) -> Array:
    """Return the sequences whose labels are all observed; the others are a warning."""
    n = len(offsets) - 1
    owner = np.repeat(np.arange(n), np.diff(offsets))
    partly = np.isin(np.arange(n), owner[truth == UNOBSERVED])
    if partly.all():
        raise InputError("There is nothing to calibrate with: no sequence has all of its labels.")
    if partly.any():
        warn_user(
            f"{int(partly.sum())} of {n} sequences have labels that are not observed: they are left out.",
            UserWarning,
        )
    return np.flatnonzero(~partly)


def _some(missed: Missed, ids: Array) -> Missed:
    sizes = np.diff(missed.offsets)[ids]
    return Missed(missed.probability[rows_of(missed.offsets, ids)], offsets_of(sizes))
