"""What a model answers: the label of a position, or an entity."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array, offsets_of
from ..decoders import ABSTAINED
from ..guarantees import JudgedAnswers
from ..metrics.spans import EntityRules, entity_spans
from .span_probabilities import span_probabilities


class AnswerUnits(NamedTuple):
    """Answers to a batch, sequence by sequence, each of them given as a whole or not at all."""

    starts: Array
    """(N,) first position, counted through the batch."""
    stops: Array
    """(N,) position behind the last."""
    confidence: Array
    """(N,) its probability."""
    kinds: Array
    """(N,) index of its label, or of its type."""
    offsets: Array
    """(S + 1,) where each sequence's begin."""

    def judged(self, wrong: Array) -> JudgedAnswers:
        """Return them with what is known to be wrong."""
        return JudgedAnswers(self.confidence, wrong, self.kinds, self.offsets)

    def left_out(self, outputs: Array, given: Array) -> Array:
        """Return labels, `ABSTAINED` throughout the answers that are not given."""
        result = outputs.copy()
        for start, stop in zip(self.starts[~given].tolist(), self.stops[~given].tolist(), strict=True):
            result[start:stop] = ABSTAINED
        return result


def position_units(outputs: Array, marginals: Array, offsets: Array) -> AnswerUnits:
    """Return the labels of positions with their marginals; none where a decoder abstained."""
    places = np.flatnonzero(outputs != ABSTAINED)
    owner = np.searchsorted(offsets, places, side="right") - 1
    counts = np.bincount(owner, minlength=len(offsets) - 1)
    confidence = marginals[places, outputs[places]].astype(np.float64)
    return AnswerUnits(places, places + 1, confidence, outputs[places].astype(np.int64), offsets_of(counts))


def wrong_positions(units: AnswerUnits, outputs: Array, truth: Array) -> Array:
    """Return whether labels differ from the true ones."""
    result: Array = outputs[units.starts] != truth[units.starts]
    return result


def entity_kinds(classes: list[Any]) -> list[str]:
    """Return the types of entities that labels name, in order."""
    rules = EntityRules.of(classes)
    return sorted({rules.kinds[k] for k in range(len(classes)) if rules.begins[-1, k]})


def entity_units(batch: Any, scores: dict[str, Array], outputs: Array, classes: list[Any]) -> AnswerUnits:
    """Return the entities among labels with their exact probabilities."""
    rules, kinds = EntityRules.of(classes), entity_kinds(classes)
    spans = [rules.spans(outputs[a:b]) for a, b in pairwise(batch.offsets)]
    offsets = offsets_of([len(each) for each in spans])
    first = np.repeat(batch.offsets[:-1], np.diff(offsets))
    every = [span for each in spans for span in each]
    starts = first + np.array([span.start for span in every], dtype=np.int64)
    stops = first + np.array([span.stop for span in every], dtype=np.int64)
    confidence = span_probabilities(batch, scores, outputs, spans, rules)
    numbers = np.array([kinds.index(span.kind) for span in every], dtype=np.int64)
    return AnswerUnits(starts, stops, confidence, numbers, offsets)


def wrong_entities(batch: Any, outputs: Array, classes: list[Any], truth: list[list[Hashable]]) -> Array:
    """Return whether predicted entities are missing among the true ones: other ends, or another type."""
    rules = EntityRules.of(classes)
    found = (rules.spans(outputs[a:b]) for a, b in pairwise(batch.offsets))
    pairs = zip(found, map(set, entity_spans(truth)), strict=True)
    return np.array([span not in true for spans, true in pairs for span in spans], dtype=bool)


def true_entity_probabilities(
    probability: Array, offsets: Array, truth: list[list[Hashable]]
) -> tuple[Array, Array]:
    """Return the least probability of the labels of each true entity, and where each sequence's begin."""
    spans = entity_spans(truth)
    least = [
        probability[start + span.start : start + span.stop].min()
        for start, each in zip(offsets[:-1].tolist(), spans, strict=True)
        for span in each
    ]
    return np.array(least, dtype=np.float64), offsets_of([len(each) for each in spans])
