"""A batch with its scores: what a model says about it."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..arrays import Array


class ScoredBatch(NamedTuple):
    """A batch to predict: its shape and its scores."""

    batch: Any
    """With every oracle that a decoder asks for."""
    scores: dict[str, Array]
    inputs: Any = None
    """What was scored."""
