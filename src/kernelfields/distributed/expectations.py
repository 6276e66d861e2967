"""Expectation steps of hidden Markov models on shards: models go out, expected counts come back."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..emissions import Expectations, ObservedSequences
from ..emissions.em import Expect, ExpectHere, HiddenMarkovModel
from .context import SHARING
from .splitting import cuts_of


class SequenceShard(NamedTuple):
    """Some of the sequences."""

    sequences: ObservedSequences
    places: None = None

    def evaluate(self, what: str, model: HiddenMarkovModel, direction: None) -> Expectations | Array:
        """Return what is expected under a model, or log-probabilities alone."""
        here = ExpectHere(self.sequences)
        return here(model) if what == "expectations" else here.log_probability(model)

    def exact(self) -> SequenceShard:
        """Return the same, which is in double."""
        return self


class SharedExpect(Expect):
    """The expectation step on a training set that others share."""

    def __init__(self, pool: Any) -> None:
        self.pool = pool

    def __call__(self, model: HiddenMarkovModel) -> Expectations:
        """Add up what is expected in every shard."""
        parts: list[Expectations] = list(self.pool.map("expectations", model, None))
        return Expectations(
            np.concatenate([part.log_probability for part in parts]),
            sum((part.start for part in parts[1:]), parts[0].start),
            sum((part.transitions for part in parts[1:]), parts[0].transitions),
            reduce(model.emissions.joined, (part.statistics for part in parts)),
        )

    def log_probability(self, model: HiddenMarkovModel) -> Array:
        """Return the log-probabilities of all shards."""
        return np.concatenate(list(self.pool.map("log_probability", model, None)))


def shared_expectations(data: ObservedSequences) -> Expect:
    """Return the expectation step on a training set, by those who share it, if fits are shared out here."""
    here = SHARING.get()
    if here is None:
        return ExpectHere(data)
    ends = cuts_of(data.offsets, here.shards)
    return SharedExpect(here.hand_out([SequenceShard(data.part(a, b)) for a, b in pairwise(ends)]))
