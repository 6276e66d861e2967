"""What a model answers: the label of a position, or an entity."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array, offsets_of
from ..decoders import ABSTAINED
from ..errors import InputError
from ..guarantees import JudgedAnswers
from ..metrics.spans import EntityRules, EntitySpan, entity_spans
from ..structures import ApproximateSum, ChainBatch, SumOracle, log_mean


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


BLOCK = 2_000_000
"""Scores of vertices that are kept at a time."""


def span_probabilities(
    batch: Any,
    scores: dict[str, Array],
    labels: Array,
    spans: Sequence[Sequence[EntitySpan]],
    rules: EntityRules,
) -> Array:
    """Return p(labels of the entity, which begins and ends there | x) for all entities, one after the other.

    The entity from a to b stands there if its positions have the labels that were found and, by the rules of
    labels, it begins after the label before a, and ends before that after b. It is the quotient of two
    sums over labellings, those that fulfil this and all: exact wherever sums are. Of several functions drawn
    from a posterior it is the mean of their probabilities.

    Parameters
    ----------
    batch, scores : StructureBatch, dict
        A batch of sequences with its clique scores.
    labels : (N,) array
        Labels that were found.
    spans : list of lists of EntitySpan
        The entities of every sequence, as `EntityRules.spans` gives them.
    rules : EntityRules
        Those of the labels.
    """
    if not isinstance(batch, SumOracle | ApproximateSum):
        raise InputError(f"Probabilities of entities need a SumOracle, which {type(batch).__name__} is not.")
    if isinstance(batch, ChainBatch) and isinstance(batch, SumOracle):
        return _in_one_sweep(batch, scores, labels, spans, rules)
    counts = [len(each) for each in spans]
    owner = np.repeat(np.arange(len(spans)), counts)
    if len(owner) == 0:
        return np.zeros(0)
    every = [span for each in spans for span in each]
    size = max(1, BLOCK // max(1, int(np.diff(batch.offsets).max()) * scores["node"].shape[1]))

    def log_probability(one: Mapping[str, Array]) -> Array:
        parts = [
            _constrained(batch, one, labels, owner[a : a + size], every[a : a + size], rules)
            for a in range(0, len(owner), size)
        ]
        result: Array = np.concatenate(parts) - batch.log_partition(one)[owner]
        return result

    return np.exp(np.minimum(log_mean(scores, log_probability), 0.0))


def _in_one_sweep(
    batch: ChainBatch,
    scores: Mapping[str, Array],
    labels: Array,
    spans: Sequence[Sequence[EntitySpan]],
    rules: EntityRules,
) -> Array:
    """Return the probabilities of all entities of chains from one forward-backward pass.

    Labels are a Markov chain given x: p(y_a … y_b) = p(y_a) Π_t p(y_t, y_{t+1}) / p(y_t), and so for the
    labels before and after. All of them are marginals of vertices and pairs: the time is that of one
    pass plus the lengths of the entities, however long the sequence is.
    """
    wide = batch.untied(["edge"])
    places = [
        (int(batch.offsets[s]), int(batch.offsets[s + 1]), start, stop)
        for s, each in enumerate(spans)
        for start, stop, _ in each
    ]

    def log_probability(one: Mapping[str, Array]) -> Array:
        parts = wide.marginals(wide.spread(one)).parts
        node, edge = parts["node"], parts["edge"]
        return np.array([_log_of_span(node, edge, wide, labels, place, rules) for place in places])

    return np.exp(np.minimum(log_mean(scores, log_probability), 0.0)) if places else np.zeros(0)


def _log_of_span(
    node: Array,
    edge: Array,
    wide: ChainBatch,
    labels: Array,
    place: tuple[int, int, int, int],
    rules: EntityRules,
) -> float:
    """Return log p of one entity at (first, last) of its sequence, (start, stop) in it."""
    first, last, start, stop = place
    a, b = first + start, first + stop
    found = labels[a:b]
    shift = int(wide.edge_offsets[np.searchsorted(wide.offsets, first, side="right") - 1]) - first
    own = node[np.arange(a, b), found]
    together = [edge[a + shift : b - 1 + shift][np.arange(b - 1 - a), found[:-1], found[1:]]]
    given = [own[:-1]]
    if start > 0:
        together.append(edge[a - 1 + shift, rules.begins[:-1, found[0]], found[0]].sum(keepdims=True))
        given.append(own[:1])
    if b < last:
        together.append(edge[b - 1 + shift, found[-1], rules.ends[found[-1], :-1]].sum(keepdims=True))
        given.append(own[-1:])
    pairs = np.concatenate(together)
    if (own <= 0).any() or (pairs <= 0).any():
        return -np.inf
    return float(np.log(own[0]) + np.log(pairs).sum() - np.log(np.concatenate(given)).sum())


def _constrained(
    batch: Any,
    scores: Mapping[str, Array],
    labels: Array,
    owner: Array,
    spans: list[EntitySpan],
    rules: EntityRules,
) -> Array:
    """Return log of the sum over labellings that have the entity, one instance per entity."""
    part, within = batch.take(owner), batch.cut(scores, owner)
    node = np.array(within["node"])
    every = np.arange(node.shape[1])
    for n, (start, stop, _) in enumerate(spans):
        here, there = int(part.offsets[n]), int(batch.offsets[owner[n]])
        last = int(part.offsets[n + 1]) - here
        found = labels[there + start : there + stop]
        node[here + start : here + stop][found[:, None] != every] = -np.inf
        if start > 0:
            node[here + start - 1, ~rules.begins[:-1, found[0]]] = -np.inf
        if stop < last:
            node[here + stop, ~rules.ends[found[-1], :-1]] = -np.inf
    result: Array = part.log_partition({**within, "node": node})
    return result
