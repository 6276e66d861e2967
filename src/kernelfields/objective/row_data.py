"""The loss of rows that have no neighbours: logistic regression, in one pass over dense rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse

from .. import native
from ..arrays import Array
from ..losses import LogLoss
from ..spaces import BoundSpace, LinearFeatures, places_of
from ..structures import ChainBatch
from ._base import DataTerm, EvaluatedLossPoint
from .array_data import ArrayData
from .certificate import Rounding
from .geometry import Term
from .linear_chain import BIAS, BOUNDARIES, kind_of

MOST_LABELS = 64
"""For more, products by BLAS are as fast as one pass."""


class RowData(DataTerm):
    """The log-loss of chains of one vertex each: the same function as `ArrayData`, in less time and memory.

    Parameters
    ----------
    loss : LogLoss
        Without a cost, on chains of one vertex each.
    spaces : sequence of BoundSpace
        Dense `LinearFeatures` of vertices first, then any of `Boundary` and `Free` scores of vertices and
        edges.
    dtype : dtype
        Precision of elements; products are in that of the features.
    """

    loss: LogLoss
    second_order = False
    mixes = True
    near = 0.0

    def __init__(self, loss: LogLoss, spaces: Sequence[BoundSpace], dtype: npt.DTypeLike) -> None:
        self.loss, self.structure = loss, loss.structure
        self.spaces, self.dtype = tuple(spaces), np.dtype(dtype)
        self._places = places_of(self.spaces)
        self.size = sum(space.size for space in self.spaces)

    @staticmethod
    def suits(loss: object, terms: list[Term]) -> bool:
        """Whether this is the problem of rows without neighbours."""
        first = terms[0].space
        if (
            not isinstance(loss, LogLoss)
            or loss.cost is not None
            or not isinstance(loss.structure, ChainBatch)
        ):
            return False
        chain = loss.structure
        return (
            isinstance(first, LinearFeatures)
            and first.clique == "node"
            and not sparse.issparse(first.features.matrix)
            and chain.n_vertices == chain.n_instances
            and chain.n_labels <= MOST_LABELS
            and bool((np.diff(chain.offsets) == 1).all())
            and all(kind_of(term.space) is not None for term in terms[1:])
        )

    @cached_property
    def certain(self) -> Rounding | None:
        """Of sums in double."""
        return self.arrays.certain

    def at(self, element: Array) -> RowLossPoint:
        """Return the loss and its gradient, at once."""
        return RowLossPoint(self, element)

    def swept(self, element: Array) -> tuple[float, Array]:
        """Return the loss, and the Riesz element of its gradient."""
        features, L = self._features, self._features.width
        constant = np.zeros(L)
        for space, place in zip(self.spaces[1:], self._places[1:], strict=True):
            if kind_of(space) in (BIAS, BOUNDARIES):  # a vertex alone is the first and the last one
                constant += element[place].reshape(-1, L).sum(axis=0, dtype=np.float64)
        table = np.ascontiguousarray(features.table(element[self._places[0]]), features.precision)
        value, table, sums = native.dense_rows_loss(
            features.features.matrix, table, constant, self.loss.outputs, self.loss.weights
        )
        result = np.zeros(self.size, self.dtype)
        result[self._places[0]] = table.ravel()
        for space, place in zip(self.spaces[1:], self._places[1:], strict=True):
            if kind_of(space) in (BIAS, BOUNDARIES):
                result[place] = np.tile(sums, space.size // L)
        return value, result

    @property
    def _features(self) -> LinearFeatures:
        space = self.spaces[0]
        assert isinstance(space, LinearFeatures)
        return space

    def take(self, ids: npt.ArrayLike) -> RowData:
        """Return the loss on some instances."""
        loss = self.loss.take(ids)
        return RowData(loss, [space.take(loss.structure, ids) for space in self.spaces], self.dtype)

    def exact(self) -> RowData:
        """Return the same in double."""
        return RowData(self.loss, [space.precise() for space in self.spaces], np.float64)

    @cached_property
    def arrays(self) -> ArrayData:
        """The same with whole arrays of scores."""
        return ArrayData(self.loss, self.spaces, None, self._features.precision)


class RowLossPoint(EvaluatedLossPoint):
    """A loss of rows at one element."""

    def __init__(self, data: RowData, element: Array) -> None:
        super().__init__(*data.swept(element))
        self._data, self._element = data, element

    def variances(self) -> Array | None:
        """Return those of arrays of scores, which are asked for once."""
        return self._data.arrays.at(self._element).variances()
