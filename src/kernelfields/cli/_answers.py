"""What a model answers about one sequence."""

from __future__ import annotations

from typing import Any, NamedTuple


class Answer(NamedTuple):
    """A model's predictions for one sequence."""

    labels: list[Any]
    """None where it abstains."""
    probabilities: list[float]
    """Probabilities of the labels, or of the most probable label where the model abstained."""
    marginals: Any
    kbest: list[tuple[list[Any], float]] | None
    entities: list[float] | None = None
    """Probabilities of the entities among the labels, if they were asked for."""
