"""Training sequences as the core sees them when it learns from one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..arrays import Array, offsets_of, rows_of
from ..native import OnlineChainDouble, OnlineChainFloat
from ..objective import Offsets, Term
from ..objective.linear_chain import BIAS, BOUNDARIES, EDGES, FEATURES, kind_of
from ..structures import ChainBatch, StructureBatch


class Examples(NamedTuple):
    """Sparse features, labels and which weights there are. Fields as in ``online.hpp``."""

    first: Array
    column: Array
    value: Array | None
    pair_first: Array
    pair_label: Array
    offsets: Array
    labels: Array
    weight: Array | None
    small_offset: Array
    edge_offset: Array
    edge_pairs: Array | None
    bias: bool
    boundaries: bool

    @classmethod
    def of(
        cls,
        chain: StructureBatch,
        terms: Sequence[Term],
        labels: Array,
        weights: Array | None = None,
        fixed: Offsets | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> Examples:
        """Read them off the spaces of a linear chain: features, bias, boundaries and shared edges."""
        if not isinstance(chain, ChainBatch) or not chain.shared_edges:
            raise TypeError("Online rules are for chains whose edges share their scores.")
        spaces: dict[Any, Any] = {kind_of(term.space): term.space for term in terms}
        nodes, edges = spaces.pop(FEATURES, None), spaces.pop(EDGES, None)
        bias, boundaries = spaces.pop(BIAS, None), spaces.pop(BOUNDARIES, None)
        if spaces or nodes is None or edges is None or len(terms) > 4:
            raise TypeError(
                "Online rules know sparse features, bias, boundaries and free edges, nothing else."
            )
        precision = nodes.matrix.dtype if dtype is None else np.dtype(dtype)
        first, column, value = nodes.rows
        L = chain.n_labels
        small, edge = (np.zeros((3, L)), np.zeros((L, L))) if fixed is None else fixed
        return cls(
            first,
            column,
            None if value is None else value.astype(precision, copy=False),
            nodes.pairs.first,
            nodes.pairs.label,
            chain.offsets,
            np.ascontiguousarray(labels, dtype=np.int32),
            weights,
            np.ascontiguousarray(small, dtype=precision),
            np.ascontiguousarray(edge, dtype=precision),
            None if edges.support is None else edges.support.astype(np.uint8),
            bias is not None,
            boundaries is not None,
        )

    @property
    def n_instances(self) -> int:
        """S."""
        return len(self.offsets) - 1

    def core(self) -> OnlineChainFloat | OnlineChainDouble:
        """Return a chain that learns from them, all its weights zero."""
        return (OnlineChainFloat if self.edge_offset.dtype == np.float32 else OnlineChainDouble)(*self)

    def take(self, ids: Array) -> Examples:
        """Return some sequences with those features only that occur in them: small enough for a cache."""
        rows = rows_of(self.offsets, ids)
        entries = rows_of(self.first, rows)
        used, column = np.unique(self.column[entries], return_inverse=True)
        return self._replace(
            first=offsets_of(np.diff(self.first)[rows]),
            column=column.astype(np.int32),
            value=None if self.value is None else self.value[entries],
            pair_first=offsets_of(np.diff(self.pair_first)[used]),
            pair_label=self.pair_label[rows_of(self.pair_first, used)],
            offsets=offsets_of(np.diff(self.offsets)[ids]),
            labels=self.labels[rows],
            weight=None if self.weight is None else self.weight[ids],
        )
