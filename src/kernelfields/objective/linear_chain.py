"""The loss of a linear chain over sparse features, evaluated in one pass over the data.

What `ArrayData` does with whole arrays of scores and marginals, for any structure, loss and sum of
spaces, is done here a few sequences at a time, in the core, for the case that matters most: a chain of
order one, the log loss, sparse features, and free scores for labels, ends and label pairs. Scores are
not kept; a point of a line is evaluated anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .. import native
from ..arrays import Array
from ..losses import LogLoss
from ..spaces import Boundary, BoundSpace, Free, SparseFeatures, places_of
from ..structures import ChainBatch
from ._base import DataTerm, LossPoint
from .array_data import ArrayData
from .certificate import Rounding
from .geometry import Geometry, Term
from .problem import Problem

Kind = tuple[type, str]
"""The class of a space and the clique type it feeds."""

FEATURES: Kind = (SparseFeatures, "node")
BIAS: Kind = (Free, "node")
BOUNDARIES: Kind = (Boundary, "node")
EDGES: Kind = (Free, "edge")

LONG = 2**25
"""Products of features and weights from which on a pass counts as long."""

PAIRS = 4
"""Of labellings that are drawn for every sequence: of CoNLL-2000, two leave ten iterations, four seven."""


def kind_of(space: BoundSpace) -> Kind | None:
    """Return which part of a linear chain a space is; None if it is not one of them."""
    kind = (type(space), space.clique)
    if isinstance(space, Free):
        whole = space.members is None and (kind == EDGES or space.support is None)
        return kind if whole and kind in (BIAS, EDGES) else None
    return kind if kind in (FEATURES, BOUNDARIES) else None


class Offsets(NamedTuple):
    """Fixed scores, such as −inf for what is forbidden."""

    small: Array
    """(3, L): of every label, of the first and of the last one."""
    edge: Array
    """(L, L): of label pairs."""


class LinearChainData(DataTerm):
    """The loss of a linear chain: the same function as `ArrayData`, in less time and memory.

    Parameters
    ----------
    loss : LogLoss
        Without a cost, on a chain with shared edges.
    spaces : sequence of BoundSpace
        `SparseFeatures` of vertices and any of `Boundary` and `Free` scores of vertices and edges, each at
        most once.
    offsets : Offsets, optional
        Fixed scores.
    dtype : dtype
        Precision of elements and scores; sums are float64.
    """

    loss: LogLoss
    second_order = False
    mixes = False
    near = 0.5

    def __init__(
        self, loss: LogLoss, spaces: Sequence[BoundSpace], offsets: Offsets | None, dtype: npt.DTypeLike
    ) -> None:
        self.loss = loss
        self.structure = loss.structure
        self.spaces = tuple(spaces)
        self.offsets = offsets
        self.dtype = np.dtype(dtype)
        self.size = sum(space.size for space in self.spaces)
        places = places_of(self.spaces)
        self.places: dict[Kind | None, slice] = {
            kind_of(space): place for space, place in zip(self.spaces, places, strict=True)
        }
        self._order = np.argsort(-np.diff(loss.structure.offsets), kind="stable")

    @staticmethod
    def suits(loss: object, terms: list[Term]) -> bool:
        """Whether this is the problem of a linear chain over sparse features."""
        kinds = [kind_of(term.space) for term in terms]
        return (
            isinstance(loss, LogLoss)
            and loss.cost is None
            and isinstance(loss.structure, ChainBatch)
            and loss.structure.shared_edges
            and FEATURES in kinds
            and len(set(kinds)) == len(kinds)
            and None not in kinds
        )

    @cached_property
    def certain(self) -> Rounding | None:
        """Of sums in double: features are widened, whatever they are kept in."""
        fixed = None if self.offsets is None else self.offsets._asdict()
        return Rounding.of(self.loss, fixed) if self.dtype == np.float64 else None

    def at(self, element: Array) -> LinearChainLossPoint:
        """The loss and its gradient, at once."""
        return LinearChainLossPoint(self, element)

    def take(self, ids: npt.ArrayLike) -> LinearChainData:
        """Return the loss on some instances: fixed scores are those of all positions."""
        loss = self.loss.take(ids)
        spaces = [space.take(loss.structure, ids) for space in self.spaces]
        return LinearChainData(loss, spaces, self.offsets, self.dtype)

    def exact(self) -> LinearChainData:
        """Return the same in double."""
        return LinearChainData(self.loss, self.spaces, self.offsets, np.float64)

    @property
    def arrays(self) -> ArrayData:
        """The same with whole arrays of scores, in the precision of the features."""
        kind = self.features.precision
        spaces = self.spaces
        if kind == np.dtype(bool):
            spaces, kind = tuple(space.precise() for space in spaces), np.dtype(np.float64)
        return ArrayData(self.loss, spaces, self._whole_offset(kind), kind)

    def _whole_offset(self, dtype: npt.DTypeLike) -> dict[str, Array] | None:
        """Return fixed scores of every vertex and of label pairs."""
        if self.offsets is None:
            return None
        chain, (small, edge) = self.loss.structure, self.offsets
        assert isinstance(chain, ChainBatch)
        node = np.tile(small[0], (chain.n_vertices, 1)).astype(dtype)
        node[chain.first_positions] += small[1]
        node[chain.last_positions] += small[2]
        return {"node": node, "edge": edge.astype(dtype)}

    @cached_property
    def features(self) -> SparseFeatures:
        """The space of the features."""
        space = self.spaces[0]
        assert isinstance(space, SparseFeatures)
        return space

    @cached_property
    def rows(self) -> tuple[Array, Array, Array | None]:
        """Their rows, ranked, in the precision of the scores."""
        first, index, values = self.features.rows
        return first, index, None if values is None else values.astype(self.dtype, copy=False)

    def sweep(self, element: Array, *, variances: bool) -> tuple[float, Array]:
        """The loss, and the Riesz element of its gradient, or Σ_t μ_t (1 − μ_t) x_t² of every coordinate."""
        first, index, values = self.rows
        squares = None if values is None or not variances else np.square(values)
        small, edge = self.free_scores(element)
        sums = np.empty(self.size, self.dtype)
        small_sums, edge_sums = np.zeros(small.shape), np.zeros(edge.shape)
        pairs, place = self.features.pairs, self.places[FEATURES]
        loss = native.linear_chain(
            first,
            index,
            values,
            pairs.frequent,
            pairs.single,
            pairs.first,
            pairs.label,
            self.loss.structure.offsets,
            self._order,
            self.loss.outputs,
            self.loss.weights,
            element[place],
            small,
            edge,
            sums[place],
            small_sums,
            edge_sums,
            variances,
            squares,
        )
        for kind, part in ((BIAS, small_sums[0]), (BOUNDARIES, small_sums[1:])):
            if kind in self.places:
                sums[self.places[kind]] = part.ravel()
        for space in self.spaces:
            if kind_of(space) == EDGES:
                sums[self.places[EDGES]] = space.adjoint(edge_sums)
        return loss, sums

    def free_scores(self, element: Array) -> tuple[Array, Array]:
        """Scores of labels, first and last labels (3, L), and of label pairs (L, L)."""
        L = self.features.width
        small, edge = np.zeros((3, L), self.dtype), np.zeros((L, L), self.dtype)
        if BIAS in self.places:
            small[0] = element[self.places[BIAS]]
        if BOUNDARIES in self.places:
            small[1:] = element[self.places[BOUNDARIES]].reshape(2, L)
        if EDGES in self.places:
            edge[:] = element[self.places[EDGES]].reshape(L, L)
        if self.offsets is not None:
            small += self.offsets.small
            edge += self.offsets.edge
        return small, edge


class LinearChainLossPoint(LossPoint):
    """A loss at one element, evaluated once; its gradient is handed out once and not kept."""

    def __init__(self, data: LinearChainData, element: Array) -> None:
        self.data = data
        self._element = element
        self._gradient: Array | None
        self._value, self._gradient = data.sweep(element, variances=False)

    @property
    def value(self) -> float:
        """The loss."""
        return self._value

    def mismatch(self) -> Array:
        """Return the gradient."""
        gradient, self._gradient = self._gradient, None
        return self.data.sweep(self._element, variances=False)[1] if gradient is None else gradient

    def along(self, direction: Array) -> None:
        """Return nothing: no scores are kept."""

    def variances(self) -> Array:
        """Σ_t μ_t (1 − μ_t) x_t², by another pass."""
        return self.data.sweep(self._element, variances=True)[1]

    def differences(self, places: Array) -> Any:
        """Those of labellings that are drawn, if a pass over the data costs more than to look at these."""
        from .drawn_differences import drawn_differences  # which imports this

        data = self.data
        if len(data.rows[1]) * data.features.width < LONG:
            return None
        column = np.full(data.size, -1, dtype=np.int32)
        column[places] = np.arange(len(places), dtype=np.int32)
        return drawn_differences(data, self._element, column, PAIRS)


def linear_chain_problem(
    loss: LogLoss, terms: Sequence[Term], offsets: Offsets | None, dtype: npt.DTypeLike
) -> Problem:
    """Return the problem of a linear chain; `LinearChainData.suits` says of which terms."""
    return Problem(Geometry(terms, dtype), LinearChainData(loss, [t.space for t in terms], offsets, dtype))
