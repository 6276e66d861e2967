"""A loss on pieces of a training set, wherever they are: elements go out, one sum comes back.

    loss(f) = Σ_k loss_k(f),   ∇loss(f) = Σ_k ∇loss_k(f)

Shard k is a loss on some instances, on the coordinates of the element that these instances have seen. Sums
are taken in one order, by eights, and eights of eights, so that they do not depend, to the last bit, on who
computed what; workers may add up what other workers have found.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ._base import DataTerm, EvaluatedLossPoint, SecondDerivatives
from .array_data import ArrayData
from .certificate import Rounding

BRANCHES = 8
"""How many sums a further sum is made of."""


class Partial(NamedTuple):
    """What one shard, or the sum of some shards, says about an element."""

    value: float
    array: Array | None
    """A gradient, or curvatures, on the coordinates of the shard."""
    slack: float = 0.0
    unsettled: int = 0

    def rounded(self, dtype: npt.DTypeLike) -> Partial:
        """Return the same in another precision."""
        return self._replace(array=None if self.array is None else self.array.astype(dtype))


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
        """Return the sum over all shards, in the order of the tree."""
        tree = TreeSum(len(element))
        for place, part in zip(self.places, self.map(what, element, direction), strict=True):
            tree.add(part, place)
        return tree.total().rounded(element.dtype)


class _Sum:
    """Some parts, added up from the left to the right in double."""

    def __init__(self, size: int) -> None:
        self.count = 0
        self._value, self._slack, self._unsettled = 0.0, 0.0, 0
        self._array: Array | None = np.zeros(size)

    def add(self, part: Partial, place: Array | None = None) -> None:
        self.count += 1
        self._value, self._slack = self._value + part.value, self._slack + part.slack
        self._unsettled += part.unsettled
        if part.array is None or self._array is None:
            self._array = None
        elif place is None:
            self._array += part.array
        else:
            self._array[place] += part.array

    def total(self) -> Partial:
        return Partial(self._value, self._array, self._slack, self._unsettled)


def sum_of(parts: Sequence[Partial]) -> Partial:
    """Return the sum of at most ``BRANCHES`` parts."""
    found = _Sum(0 if parts[0].array is None else len(parts[0].array))
    for part in parts:
        found.add(part)
    return found.total()


class TreeSum:
    """A sum of parts as they come: by ``BRANCHES``, sums of these by ``BRANCHES``, and so on.

    It is the sum that workers find who add up what ``BRANCHES`` others found; here, one vector is kept for
    every level.
    """

    def __init__(self, size: int) -> None:
        self._size, self._levels = size, [_Sum(size)]

    def add(self, part: Partial, place: Array | None = None) -> None:
        """Add one part, on some coordinates."""
        self._levels[0].add(part, place)
        for level, found in enumerate(self._levels):
            if found.count < BRANCHES:
                return
            self._carry(level)

    def _carry(self, level: int) -> None:
        """Add the sum of one level to the next, and begin a new one."""
        if level + 1 == len(self._levels):
            self._levels.append(_Sum(self._size))
        self._levels[level + 1].add(self._levels[level].total())
        self._levels[level] = _Sum(self._size)

    def total(self) -> Partial:
        """Return the sum of all."""
        for level in range(len(self._levels) - 1):
            if self._levels[level].count:
                self._carry(level)
        return self._levels[-1].total()


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


class ShardedLossPoint(EvaluatedLossPoint):
    """A sum over shards at one element."""

    def __init__(self, data: ShardedData, element: Array) -> None:
        self._pool, self._element = data.pool, element
        found = data.pool.total("loss", element)
        assert found.array is not None
        super().__init__(found.value, found.array)
        self.slack, self.unsettled = found.slack, found.unsettled

    def variances(self) -> Array | None:
        """Return the sum of those of all shards."""
        return self._pool.total("variances", self._element).array


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
