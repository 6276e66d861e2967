"""What a decoder is: a rule that turns clique scores into labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeVar

from ..structures import Scores, Structure
from ..structures._base import Array

ABSTAINED = -1
"""The label of a vertex for which no answer is given."""

Oracle = TypeVar("Oracle", bound=Structure)


class Decoder(ABC):
    """A decision rule; its settings are its fields."""

    @abstractmethod
    def decode(self, structure: Structure, scores: Scores) -> Array:
        """One label per vertex of the batch."""


def require(structure: Structure, oracle: type[Oracle], decoder: str) -> Oracle:
    """Give the structure as one that offers the oracle; a plain refusal if it does not."""
    if not isinstance(structure, oracle):
        raise TypeError(f"{decoder} needs a {oracle.__name__}, which {type(structure).__name__} is not.")
    return structure
