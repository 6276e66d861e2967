"""What all structures over sequences share: the shape of a ragged batch of paths."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..arrays import Array, offsets_of
from ..checks import require_flag, require_whole
from ._arguments import MOST_LABELS, require_offsets
from ._labelled_base import EdgeBatch
from ._oracles import CovarianceOracle, KBestOracle, MaxOracle, SampleOracle


class SequenceBatch(EdgeBatch, MaxOracle, CovarianceOracle, SampleOracle, KBestOracle):
    """A batch of sequences, an edge between any two neighbours, with every exact oracle."""

    def _set_shape(self, offsets: npt.ArrayLike, n_labels: int, shared_edges: bool) -> None:
        """Take over what a constructor was given."""
        self._offsets = require_offsets(offsets)
        self.n_labels = require_whole("n_labels", n_labels, 1, MOST_LABELS)
        self.shared_edges = require_flag("shared_edges", shared_edges)

    @cached_property
    def edge_offsets(self) -> Array:  # type: ignore[override]  # where the edges of each sequence start
        """Sequence s owns the edges ``edge_offsets[s]`` up to ``edge_offsets[s + 1]``."""
        return offsets_of(np.maximum(np.diff(self._offsets) - 1, 0))

    @cached_property
    def edge_tails(self) -> Array:
        """The position each edge comes from."""
        return self.edge_heads - 1

    @cached_property
    def edge_heads(self) -> Array:
        """The position each edge leads to, the next one."""
        starts = np.zeros(self.n_vertices, dtype=bool)
        starts[self.first_positions] = True
        return np.flatnonzero(~starts)

    @property
    def first_positions(self) -> Array:
        """First position of every sequence that has one."""
        return self._offsets[:-1][np.diff(self._offsets) > 0]

    @property
    def last_positions(self) -> Array:
        """Last position of every sequence that has one."""
        return self._offsets[1:][np.diff(self._offsets) > 0] - 1
