"""The probability that an entity stands where it was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..metrics.spans import EntityRules, EntitySpan
from ..structures import ApproximateSum, ChainBatch, SumOracle, log_mean

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
