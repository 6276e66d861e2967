"""A loss on pieces of a training set, wherever they are: elements go out, one sum comes back.

    loss(f) = Σ_k loss_k(f),   ∇loss(f) = Σ_k ∇loss_k(f)

Shard k is a loss on some instances, on the coordinates of the element that these instances have seen. Sums
are taken shard by shard in one order, so that they do not depend, to the last bit, on who computed what.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ._base import DataTerm, LossPoint, SecondDerivatives
from .array_data import ArrayData
from .certificate import Rounding


class Partial(NamedTuple):
    """What one shard says about an element."""

    value: float
    array: Array | None
    """A gradient, or curvatures, on the coordinates of the shard."""
    slack: float = 0.0
    unsettled: int = 0


class Shard(NamedTuple):
    """The loss on some instances."""

    data: DataTerm
    places: Array | None = None
    """Which coordinates of elements it has; all if not given."""

    def evaluate(self, what: str, element: Array, direction: Array | None = None) -> Partial:
        """Return the loss with its gradient, variances, or curvature along a direction, as ``what`` says."""
        return EVALUATIONS[what](self.data.at(element), direction)

    def exact(self) -> Shard:
        """Return the same in double."""
        return Shard(self.data.exact(), self.places)


EVALUATIONS: dict[str, Callable[[Any, Array | None], Partial]] = {
    "loss": lambda point, _: Partial(point.value, point.mismatch(), point.slack, point.unsettled),
    "variances": lambda point, _: Partial(0.0, point.variances()),
    "curvature": lambda point, direction: Partial(0.0, point.curvature(direction)),
    "block_curvature": lambda point, direction: Partial(0.0, point.block_curvature(direction)),
}
"""What shards are asked for."""


class ShardPool(ABC):
    """Shards, and those who evaluate them."""

    places: tuple[Array | None, ...]
    """Of every shard."""

    @abstractmethod
    def map(self, what: str, element: Array, direction: Array | None) -> Iterable[Partial]:
        """Evaluate all shards at an element; yield what they say in their order."""

    @abstractmethod
    def exact(self) -> ShardPool:
        """Return the same shards in double."""

    @abstractmethod
    def close(self) -> None:
        """Let go of workers, which nobody will ask again."""

    def cut(self, array: Array) -> list[Array]:
        """Return the part of an element that each shard has seen."""
        return [array if place is None else array[place] for place in self.places]

    def arguments(
        self, what: str, element: Array, direction: Array | None
    ) -> list[tuple[str, Array, Array | None]]:
        """Return what each shard is evaluated with."""
        along = [None] * len(self.places) if direction is None else self.cut(direction)
        return [(what, here, there) for here, there in zip(self.cut(element), along, strict=True)]

    def total(self, what: str, element: Array, direction: Array | None = None) -> Partial:
        """Return the sum over all shards, in their order."""
        value, slack, unsettled = 0.0, 0.0, 0
        result: Array | None = np.zeros(len(element))
        for place, part in zip(self.places, self.map(what, element, direction), strict=True):
            value, slack, unsettled = value + part.value, slack + part.slack, unsettled + part.unsettled
            if part.array is None or result is None:
                result = None
            elif place is None:
                result += part.array
            else:
                result[place] += part.array
        return Partial(value, None if result is None else result.astype(element.dtype), slack, unsettled)


class ShardedData(DataTerm):
    """The loss on all shards of a pool.

    Parameters
    ----------
    whole : DataTerm
        The same loss where nobody shares it out: it knows loss, structure and spaces.
    pool : ShardPool
        Who evaluates its shards.
    certain : Rounding, optional
        What certificates give way by, where the whole has no data: in double.
    """

    def __init__(self, whole: DataTerm, pool: ShardPool, certain: Rounding | None = None) -> None:
        self.whole, self.pool, self._certain = whole, pool, certain
        self.loss, self.structure, self.spaces = whole.loss, whole.structure, whole.spaces
        self.dtype, self.second_order = whole.dtype, whole.second_order
        self.mixes, self.near = whole.mixes, whole.near

    @property
    def certain(self) -> Rounding | None:
        """That of the whole."""
        own = self.whole.certain
        return own if own is None or self._certain is None else self._certain

    def at(self, element: Array) -> ShardedLossPoint:
        """Return the loss at an element, evaluated at once."""
        return (CurvedShardedLossPoint if self.second_order else ShardedLossPoint)(self, element)

    def take(self, ids: npt.ArrayLike) -> DataTerm:
        """Return the loss on some instances, not shared out."""
        return self.whole.take(ids)

    def exact(self) -> ShardedData:
        """Return the same in double."""
        return ShardedData(self.whole.exact(), self.pool.exact(), self._certain)

    @property
    def arrays(self) -> ArrayData:
        """The whole with arrays of scores."""
        return self.whole.arrays


class ShardedLossPoint(LossPoint):
    """A sum over shards at one element."""

    def __init__(self, data: ShardedData, element: Array) -> None:
        self._pool, self._element = data.pool, element
        found = data.pool.total("loss", element)
        assert found.array is not None
        self._value, self._gradient = found.value, found.array
        self.slack, self.unsettled = found.slack, found.unsettled

    @property
    def value(self) -> float:
        """The loss."""
        return self._value

    def mismatch(self) -> Array:
        """Return the gradient."""
        return self._gradient.copy()

    def variances(self) -> Array | None:
        """Return the sum of those of all shards."""
        return self._pool.total("variances", self._element).array

    def along(self, direction: Array) -> None:
        """Return nothing: scores stay with the shards."""


class CurvedShardedLossPoint(ShardedLossPoint, SecondDerivatives):
    """The same where shards know second derivatives."""

    def curvature(self, direction: Array) -> Array:
        """Return the sum of those of all shards."""
        return self._sum("curvature", direction)

    def block_curvature(self, direction: Array) -> Array:
        """Return the sum of those of all shards."""
        return self._sum("block_curvature", direction)

    def _sum(self, what: str, direction: Array) -> Array:
        found = self._pool.total(what, self._element, direction).array
        assert found is not None
        return found
