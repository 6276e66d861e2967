"""What is served, seen from a request: the form of its positions, and the operation it asks for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .served import ServedModel


class Form(ABC):
    """How positions are written in JSON."""

    name: str
    """For people."""

    @abstractmethod
    def read(self, tokens: list[Any]) -> Any:
        """Return what models take; an `InputError` begins with the position."""

    @abstractmethod
    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of one position."""


class Operation(ABC):
    """What is asked of a model; equal ones are answered together."""

    k: int = 0
    """Best labellings of every input; 0 where none are asked for."""

    @abstractmethod
    def answers(self, served: ServedModel, inputs: list[Any]) -> dict[str, list[Any]]:
        """Return the answers, each a list with one entry for every input."""

    @abstractmethod
    def numbers(self, served: ServedModel, positions: int) -> int:
        """Return how many labels or probabilities the answer has."""

    def common(self, served: ServedModel) -> dict[str, Any]:
        """Return what is the same for all inputs."""
        del served
        return {}

    def is_ready(self, served: ServedModel) -> bool:
        """Return whether nothing has to be computed first that takes long."""
        del served
        return True
