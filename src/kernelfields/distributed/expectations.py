"""Expectation steps of hidden Markov models on shards: models go out, expected counts come back."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..emissions import Expectations, ObservedSequences
from ..emissions.em import Expect, HiddenMarkovModel, expectations_of
from .context import SHARING
from .splitting import cuts_of


class SequenceShard(NamedTuple):
    """Some of the sequences."""

    sequences: ObservedSequences
    places: None = None

    def evaluate(self, what: str, model: HiddenMarkovModel, direction: None) -> Expectations:
        """Return what is expected under a model."""
        return expectations_of(self.sequences)(model)

    def exact(self) -> SequenceShard:
        """Return the same, which is in double."""
        return self


def shared_expectations(data: ObservedSequences) -> Expect:
    """Return the expectation step on a training set, by those who share it, if fits are shared out here."""
    here = SHARING.get()
    if here is None:
        return expectations_of(data)
    ends = cuts_of(data.offsets, here.shards)
    pool: Any = here.hand_out([SequenceShard(data.part(a, b)) for a, b in pairwise(ends)])

    def expect(model: HiddenMarkovModel) -> Expectations:
        parts: list[Expectations] = list(pool.map("expectations", model, None))
        return Expectations(
            np.concatenate([part.log_probability for part in parts]),
            sum((part.start for part in parts[1:]), parts[0].start),
            sum((part.transitions for part in parts[1:]), parts[0].transitions),
            reduce(model.emissions.joined, (part.statistics for part in parts)),
        )

    return expect
