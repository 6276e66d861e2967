"""How far a model has come that learns sequence by sequence: what `partial_fit` goes on with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from ..arrays import Array
from .linear_problem import LinearWeights


class Trail(NamedTuple):
    """What learning goes on with, besides the weights of the model. Numbers of weights are as in `flat`."""

    sequences: int
    """S: those of the last `fit`, and all that came in pieces since."""
    steps: int
    """How many sequences were learnt from, every epoch counted."""
    averaged: int
    """How many weights the model is the mean of."""
    step: float | None = None
    """η of stochastic descent."""
    last: Array | None = None
    """The last weights, if the model is a mean and came in pieces; else learning goes on from the model's."""
    variance: Array | None = None
    """σ of every weight, for `AROW`."""

    @classmethod
    def guessed(cls, model: Any) -> Self:
        """Say what is known of a model from a file that has no trail."""
        provenance = getattr(model, "provenance_", None)
        sequences = 1 if provenance is None else provenance.sequences
        steps = sequences * max(getattr(model, "n_iter_", None) or 1, 1)
        return cls(sequences, steps, steps + 1)


def flat(weights: LinearWeights) -> Array:
    """All weights one behind the other, L·D of features first, whatever parts a model has."""
    coef = weights.coef.toarray() if hasattr(weights.coef, "toarray") else weights.coef
    parts = [coef, weights.intercept, weights.start, weights.end, weights.transitions]
    if weights.second_order is not None:
        parts.append(weights.second_order)
    if weights.durations is not None:
        parts.append(weights.durations)
    if weights.rules is not None:
        parts.append(weights.rules)
    if weights.sibling_coef is not None:
        parts.append(weights.sibling_coef)
    parts += (weights.factors or {}).values()
    return np.concatenate([np.ravel(part) for part in parts])


def unflat(
    numbers: Array,
    n_labels: int,
    n_features: int,
    factors: Mapping[str, Array] | None = None,
    durations: Array | None = None,
    rules: Array | None = None,
    siblings: Array | None = None,
) -> LinearWeights:
    """Return the weights that `flat` made numbers of; the last four have their shapes."""
    L, D = n_labels, n_features
    coef, intercept, start, end, transitions, more = np.split(numbers, np.cumsum([L * D, L, L, L, L * L]))
    tables, lengths, of_rules, of_siblings = {}, None, None, None
    if durations is not None:
        lengths, more = more[: durations.size].reshape(durations.shape), more[durations.size :]
    if rules is not None:
        of_rules, more = more[: rules.size], more[rules.size :]
    if siblings is not None:
        of_siblings, more = more[: siblings.size], more[siblings.size :]
    for name, table in (factors or {}).items():
        tables[name], more = more[: table.size].reshape(table.shape), more[table.size :]
    second_order = more.reshape(L, L, L) if len(more) else None
    return LinearWeights(
        coef.reshape(L, D),
        intercept,
        start,
        end,
        transitions.reshape(L, L),
        second_order=second_order,
        durations=lengths,
        sibling_coef=of_siblings,
        rules=of_rules,
        factors=tables or None,
    )
