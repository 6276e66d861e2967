"""What a problem is made of besides its geometry: a loss on data, as a function of the element.

A data term knows the spaces, not their penalties: one of them serves every geometry on the same spaces.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..losses import Loss
from ..spaces import BoundSpace
from ..structures import StructureBatch

if TYPE_CHECKING:
    from .array_data import ArrayData
    from .certificate import Rounding


class LossRay(ABC):
    """A loss on a ray f + t d, where some of the work can be shared by all steps."""

    @abstractmethod
    def at(self, step: float) -> LossPoint:
        """Return the loss at f + t d."""

    @abstractmethod
    def slope(self, evaluation: Any) -> float:
        """Return the derivative of the loss along d, at one of its points."""


class LossPoint(ABC):
    """A loss near one element."""

    slack: float = 0.0
    """At most how far the value is too low, because an iteration was stopped."""
    unsettled: int = 0
    """How many instances have sums from an iteration that did not converge."""

    @property
    @abstractmethod
    def value(self) -> float:
        """The loss."""

    @abstractmethod
    def mismatch(self) -> Array:
        """Return the Riesz element of the loss's gradient, expected minus observed features, a new array."""

    @abstractmethod
    def variances(self) -> Array | None:
        """About the curvature of the loss along every coordinate, as if cliques were independent; None if
        unknown.
        """

    def differences(self, places: Array) -> Any:
        """Return rows Z, a CSR matrix, with ZᵀZ about the curvature of the loss at these coordinates.

        None if unknown, or if that would cost more than it could save.
        """
        return None

    @abstractmethod
    def along(self, direction: Array) -> LossRay | None:
        """Return the loss on a ray; None where nothing of this point would be of use there."""


class EvaluatedLossPoint(LossPoint):
    """A loss that was evaluated together with its gradient; no scores are kept."""

    def __init__(self, value: float, gradient: Array) -> None:
        self._value, self._gradient = value, gradient

    @property
    def value(self) -> float:
        """The loss."""
        return self._value

    def mismatch(self) -> Array:
        """Return the gradient."""
        return self._gradient.copy()

    def along(self, direction: Array) -> None:
        """Return nothing: there are no scores to share."""


class SecondDerivatives(ABC):
    """Part of an evaluation that knows second derivatives."""

    @abstractmethod
    def curvature(self, direction: Array) -> Array:
        """Return the Riesz element of the derivative of the loss's gradient along a direction."""

    @abstractmethod
    def block_curvature(self, direction: Array) -> Array:
        """Return the same with covariances inside single cliques only."""


class DataTerm(ABC):
    """A loss on a batch of instances, as a function of the element."""

    loss: Loss
    structure: StructureBatch
    spaces: tuple[BoundSpace, ...]
    """In the order in which elements hold them."""
    dtype: np.dtype[Any]
    """Precision of the scores."""
    second_order: bool
    """Whether evaluations know second derivatives (`SecondDerivatives`)."""
    mixes: bool
    """Whether points keep their mismatch, so that those of several can be mixed into one bound: it takes as
    much memory as a gradient."""
    near: float
    """Share of R that a step divided by curvatures may promise at most, for them to help a search although
    features are alike; 0 where they do not."""

    @property
    @abstractmethod
    def certain(self) -> Rounding | None:
        """What certificates give way by; None where something is in single precision, and nothing certain."""

    @abstractmethod
    def at(self, element: Array) -> LossPoint:
        """Return the loss at an element."""

    @abstractmethod
    def take(self, ids: npt.ArrayLike) -> DataTerm:
        """Return the loss on some instances only."""

    @abstractmethod
    def exact(self) -> DataTerm:
        """Return the same in double."""

    @property
    @abstractmethod
    def arrays(self) -> ArrayData:
        """The same with whole arrays of scores, for what needs them."""
