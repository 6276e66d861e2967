"""What a loss sees of the search for its minimum."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

from ..arrays import Array

if TYPE_CHECKING:
    from ._base import Loss


class SearchEnd(Protocol):
    """Where a search ended."""

    @property
    def element(self) -> Array:
        """The weights, in the precision in which they were found."""

    @property
    def iterations(self) -> int:
        """How many iterations it took."""

    @property
    def value(self) -> float:
        """The objective there."""

    def add_rounds(self, iterations: int, path: tuple[float, ...] = ()) -> Self:
        """Return the same with earlier iterations counted, and the objective before each step of EM."""


End = TypeVar("End", bound=SearchEnd)


class Minimiser(ABC, Generic[End]):
    """Minimises the objective of a fit, and the same with another loss in the place of its own.

    Handed to `Loss.search`. Other losses must be bound to the same structure.
    """

    iterations: int
    """Most iterations of one search."""
    tolerance: float
    """The norm of the gradient, relative to that at the start, at which a search ends."""

    @abstractmethod
    def minimise(self, loss: Loss, start: Array) -> End:
        """Search to the end, with a certificate where the loss has one; ending early is a warning."""

    @abstractmethod
    def advance(self, loss: Loss, start: Array, count: int) -> tuple[Array, int]:
        """Return the element after a few iterations, and their number."""

    @abstractmethod
    def scores(self, element: Array) -> dict[str, Array]:
        """Return θ, fixed scores included."""

    @abstractmethod
    def refresh(self, element: Array) -> Array:
        """Return an element whose images are computed again, free of the rounding of sums."""

    @abstractmethod
    def at(self, element: Array) -> Any:
        """Return the objective at an element: ``value``, and what `slope` needs."""

    @abstractmethod
    def slope(self, point: Any) -> float:
        """Return the norm of the gradient at a point of `at`."""
