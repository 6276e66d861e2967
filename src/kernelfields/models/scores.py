"""A batch with its scores: what a model says about it."""

from __future__ import annotations

from typing import NamedTuple

from ..arrays import Array
from ..structures import SequenceBatch


class ScoredBatch(NamedTuple):
    """A batch to predict: its shape and its scores."""

    chain: SequenceBatch
    scores: dict[str, Array]
