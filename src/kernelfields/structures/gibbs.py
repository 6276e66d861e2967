"""Blocked Gibbs sampling of labelled graphs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from .. import native
from ..arrays import Array
from ..checks import Check, Checked, whole
from ..errors import InfeasibleError
from ._base import Scores, require_feasible
from ._inferred_base import InferredGraphBatch
from ._labelled_base import require_draws
from ._search_base import MaxSearch, require_search
from .merged_cliques import MergedCliques
from .reweighted_max import TreeReweightedMax


@dataclass(frozen=True)
class Gibbs(Checked):
    """Draws from labelled graphs by blocked Gibbs sampling, approximate and dependent on each other.

    In every sweep a forest of vertices, chosen at random, is drawn at once given all others, and then these
    one by one. Where scores forbid pairs, a search finds the labelling to begin with; labellings that single
    forests cannot lead to are never drawn.

    Parameters
    ----------
    burn_in : int
        Sweeps before the first draw.
    thin : int
        Sweeps from one draw to the next.
    search : MaxSearch
        How to look for best labellings.
    """

    burn_in: int = 100
    thin: int = 5
    search: MaxSearch = field(default_factory=TreeReweightedMax)
    _checks: ClassVar[Mapping[str, Check]] = {"burn_in": whole(0), "thin": whole(1), "search": require_search}

    def on(self, offsets: npt.ArrayLike, edges: npt.ArrayLike, n_labels: int, **shape: Any) -> GibbsBatch:
        """Return the batch with these settings."""
        return GibbsBatch(offsets, edges, n_labels, inference=self, **shape)

    def draw(self, merged: MergedCliques, scores: Scores, count: int, seed: int) -> Array:
        """Return draws, one flat labelling per row."""
        graph, layout = merged.graph, merged.layout
        draws = require_draws(count, seed, graph.n_vertices)
        labels, value = native.graph_gibbs(
            *merged.scored(scores, layout),
            graph.offsets,
            merged.factor_offsets,
            merged.slot_first,
            merged.members,
            layout.of_factor,
            layout.first,
            draws[0],
            self.burn_in,
            self.thin,
            draws[1],
        )
        stuck = np.flatnonzero(np.asarray(value) == -np.inf)
        if len(stuck):
            name = graph.words.name(int(stuck[0]))
            raise InfeasibleError(f"{name} has no allowed labelling that a search could find.")
        require_feasible(np.asarray(value), graph.words)
        return np.asarray(labels)


class GibbsBatch(InferredGraphBatch):
    """A batch of labelled graphs that are sampled; see `GraphBatch` for their shape.

    Parameters
    ----------
    offsets, edges, n_labels, **shape
        As in `GraphBatch`.
    inference : Gibbs
        How many sweeps.

    Examples
    --------
    >>> import numpy as np
    >>> ring = Gibbs().on([0, 3], [[0, 1], [1, 2], [2, 0]], 2)
    >>> scores = {"node": np.array([[0.0, -np.inf], [0.0, 0.0], [0.0, 0.0]]), "edge": np.zeros((2, 2))}
    >>> draws = ring.approximate_sample(scores, 100, seed=0)
    >>> np.unique(draws, axis=0).tolist()  # the first vertex cannot have label 1
    [[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 1]]
    """

    inference: Gibbs

    def __repr__(self) -> str:
        """Return how large it is, and that its draws are approximate."""
        return f"<{self.n_instances} graphs of {self.n_vertices} vertices, draws by {self.inference}>"

    def approximate_sample(self, scores: Scores, count: int, seed: int) -> Array:
        """Return draws, one flat labelling per row, the same for the same seed."""
        return self.inference.draw(self._merged, scores, count, seed)
