"""Trees: vertices whose labels interact with those of their parents."""

from __future__ import annotations

from typing import Self

import numpy as np
import numpy.typing as npt

from .. import native
from ..arrays import Array, offsets_of, rows_of
from ..checks import require_flag, require_ids, require_offsets, require_weights, require_whole, whole_numbers
from ..errors import InputError
from ._base import Scores, require_feasible
from ._blocks_base import PairwiseBlocks
from ._errors_base import ForestErrors
from ._labelled_base import MOST_LABELS, require_best, require_draws, require_labels
from ._oracles import CovarianceOracle, KBestOracle, Labelling, Labellings, Marginals, MaxOracle, SampleOracle
from .words import TREES, Words


class TreeBatch(PairwiseBlocks, ForestErrors, MaxOracle, CovarianceOracle, SampleOracle, KBestOracle):
    """A batch of rooted forests,

        score(y) = Σ_v node[v, y_v] + Σ_{v not a root} edge[e(v), y_parent(v), y_v].

    Messages from the leaves to the roots, then p(y_v | y_parent(v)) from the roots to the leaves:
    O(N L²) per instance, for the whole ragged batch in one native call on all cores. Vertices of the same
    depth are worked on side by side, with scaled sums, or logarithms where scores range too far for these.
    Scores of −inf forbid a label or a pair. For dependency or phrase trees, hierarchies, image quadtrees.

    Parameters
    ----------
    offsets : (S + 1,) integers
        Instance s owns the vertices ``offsets[s]`` up to ``offsets[s + 1]``; it may be empty.
    parents : (N,) integers
        The parent of each vertex, counted over the whole batch but of the same instance; −1 at roots,
        of which an instance may have several. Parents need not come before their children.
    n_labels : int
        L.
    shared_edges : bool
        Whether all edges share one (L, L) array of scores; else scores are (E, L, L), the edges e(v)
        in the order of their lower ends v. Rows are labels of the parent.

    Examples
    --------
    >>> import numpy as np
    >>> tree = TreeBatch([0, 3], parents=[2, 2, -1], n_labels=2)
    >>> scores = {"node": np.zeros((3, 2)), "edge": np.array([[0.0, -np.inf], [0.0, 0.0]])}
    >>> round(float(np.exp(tree.log_partition(scores)[0])))  # 000, and any leaves below a root 1
    5
    """

    words: Words = TREES

    def __init__(
        self, offsets: npt.ArrayLike, parents: npt.ArrayLike, n_labels: int, shared_edges: bool = True
    ) -> None:
        self._offsets = require_offsets(offsets)
        self.parents = _require_parents(self._offsets, parents)
        self._shape = native.TreeShape(self._offsets, self.parents)  # finds cycles and strangers
        self.n_labels = require_whole("n_labels", n_labels, 1, MOST_LABELS)
        self.shared_edges = require_flag("shared_edges", shared_edges)
        edges_before = offsets_of(self.parents >= 0)
        self.edge_offsets = edges_before[self._offsets]

    @property
    def edge_tails(self) -> Array:
        """The parent each edge comes from."""
        return self.parents[self.edge_heads]

    @property
    def edge_heads(self) -> Array:
        """The child each edge leads to."""
        return np.flatnonzero(self.parents >= 0)

    def take(self, ids: npt.ArrayLike) -> TreeBatch:
        """Forests of some instances only."""
        ids = require_ids(ids, self.n_instances)
        lengths = np.diff(self._offsets)[ids]
        offsets = offsets_of(lengths)
        parents = self.parents[rows_of(self._offsets, ids)]
        moved = parents + np.repeat(offsets[:-1] - self._offsets[ids], lengths)
        return TreeBatch(offsets, np.where(parents >= 0, moved, -1), self.n_labels, self.shared_edges)

    def score(self, scores: Scores, labels: Array) -> Array:
        """⟨θ, parts(y)⟩ for every instance."""
        labels = require_labels(labels, self.n_vertices, self.n_labels)
        return np.asarray(native.tree_score(*self._native(scores), labels))

    def argmax(self, scores: Scores) -> Labelling:
        """Best scores of subtrees from the leaves to the roots, then labels on the way back."""
        labels, value = native.tree_argmax(*self._native(scores))
        require_feasible(value, self.words)
        return Labelling(labels, value)

    def log_partition(self, scores: Scores) -> Array:
        """g(θ), by messages from the leaves to the roots."""
        value = np.asarray(native.tree_log_partition(*self._native(scores)))
        require_feasible(value, self.words)
        return value

    def marginals(self, scores: Scores, weights: Array | None = None) -> Marginals:
        """Messages to the roots, marginals on the way back."""
        value, node, edge = native.tree_marginals(
            *self._native(scores), require_weights(weights, self.n_instances)
        )
        require_feasible(value, self.words)
        return Marginals(value, {"node": node, "edge": edge})

    def entropy(self, scores: Scores) -> Array:
        """H(p) as a sum of entropies given the parent, free of cancellation."""
        value = np.asarray(native.tree_entropy(*self._native(scores)))
        require_feasible(value, self.words)
        return value

    def covariance(self, scores: Scores, direction: Scores, weights: Array | None = None) -> dict[str, Array]:
        """∇²g(θ)·d by differentiating both sweeps."""
        arrays = self._native(scores)
        along = self._arrays(direction, arrays[0].dtype)
        value, node, edge = native.tree_covariance(
            *arrays, *along, require_weights(weights, self.n_instances)
        )
        require_feasible(value, self.words)
        return {"node": node, "edge": edge}

    def sample(self, scores: Scores, count: int, seed: int) -> Array:
        """Messages to the roots, then draws from the roots to the leaves."""
        draws = require_draws(count, seed, self.n_vertices)
        labels, value = native.tree_sample(*self._native(scores), *draws)
        require_feasible(value, self.words)
        return np.asarray(labels)

    def _untied(self, names: list[str]) -> Self:
        return type(self)(self._offsets, self.parents, self.n_labels, shared_edges=False)

    def kbest(self, scores: Scores, k: int) -> Labellings:
        """The k best labellings of every subtree, merged child by child from the leaves to the roots."""
        longest = int(np.diff(self._offsets).max(initial=0))
        k = require_best(k, self.n_vertices, self.n_instances, 3 * longest * self.n_labels)
        arrays = self._native(scores)
        require_feasible(native.tree_argmax(*arrays)[1], self.words)
        return Labellings(*native.tree_kbest(*arrays, k))

    def _above(self) -> Array:
        return self.parents

    def _native(self, scores: Scores) -> tuple[Array, Array, native.TreeShape]:
        return *self._arrays(scores), self._shape


def _require_parents(offsets: Array, parents: npt.ArrayLike) -> Array:
    """Parents of a batch of forests as int64."""
    result = whole_numbers("parents", parents)
    if result.shape != (offsets[-1],):
        raise InputError(f"parents have shape {result.shape}, expected {(int(offsets[-1]),)}.")
    return result
