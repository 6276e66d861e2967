"""Labelled graphs: the shape that all ways of inference over them share."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from ..arrays import Array, offsets_of, rows_of
from ..checks import require_flag, require_ids, require_offsets, require_unmasked, require_whole
from ..errors import InputError
from ._base import Cliques, Scores
from ._labelled_base import MOST_LABELS, EdgeBatch, score_array, sum_cliques
from .words import GRAPHS, Words


class Factors(NamedTuple):
    """Further cliques of a graph, all of one type: edges of another kind, triangles, …"""

    members: Array
    """(C, a): the vertices each joins, counted over the whole batch, instance after instance."""
    shared: bool = True
    """Whether all have one table of scores."""


class GraphBatch(EdgeBatch):
    """A batch of labelled graphs,

        score(y) = Σ_v node[v, y_v] + Σ_e edge[e, y_tail(e), y_head(e)] + Σ_τ Σ_c τ[c, y_c].

    This is the shape only; how to sum and maximise over labellings is what the classes below it add.
    Graphs need not be connected, simple, or of one size; an edge may be given twice, or once in each
    direction, and then counts twice.

    Parameters
    ----------
    offsets : (S + 1,) integers
        Instance s owns the vertices ``offsets[s]`` up to ``offsets[s + 1]``; it may be empty.
    edges : (E, 2) integers
        Tail and head of every edge, counted over the whole batch, instance after instance.
    n_labels : int
        L.
    shared_edges : bool
        Whether all edges share one (L, L) array of scores; else scores are (E, L, L).
    factors : mapping of str to Factors
        Further clique types by name; a clique of a vertices has a table of L^a scores.
    label_sets : (N, L) booleans, optional
        Which labels each vertex can have, from its type; all where it is not given. Labels outside have
        probability zero, and their scores are not looked at.
    """

    words: Words = GRAPHS
    has_ends: ClassVar[bool] = False
    edge_features: Array | None = None
    """(E, D) observations of edges, for models that look at them; of no concern to inference."""

    def __init__(
        self,
        offsets: npt.ArrayLike,
        edges: npt.ArrayLike,
        n_labels: int,
        *,
        shared_edges: bool = True,
        factors: Mapping[str, Factors] | None = None,
        label_sets: npt.ArrayLike | None = None,
    ) -> None:
        self._offsets = require_offsets(offsets)
        self.n_labels = require_whole("n_labels", n_labels, 1, MOST_LABELS)
        self.shared_edges = require_flag("shared_edges", shared_edges)
        self.edges = _require_members("edge", edges, self._offsets, 2)
        self.edge_offsets = _offsets_among(self.edges, self._offsets)
        self.factors = {
            name: Factors(_require_members(name, given.members, self._offsets), given.shared)
            for name, given in (factors or {}).items()
        }
        self.label_sets = _require_sets(label_sets, self.n_vertices, self.n_labels)

    @property
    def named_cliques(self) -> Collection[str]:  # type: ignore[override]  # other structures have none
        """The factors."""
        return self.factors

    @property
    def edge_tails(self) -> Array:
        """The vertex each edge comes from."""
        return self.edges[:, 0]

    @property
    def edge_heads(self) -> Array:
        """The vertex each edge leads to."""
        return self.edges[:, 1]

    @cached_property
    def sources(self) -> Array:
        """Return nothing: the vertices of a graph have no beginning."""
        return np.empty(0, dtype=np.int64)

    @cached_property
    def sinks(self) -> Array:
        """Return nothing: the vertices of a graph have no end."""
        return np.empty(0, dtype=np.int64)

    @cached_property
    def cliques(self) -> dict[str, Cliques]:
        """Vertices, edges, and further factors."""
        L = self.n_labels
        more = {
            name: Cliques(_offsets_among(members, self._offsets), members, (L,) * members.shape[1], shared)
            for name, (members, shared) in self.factors.items()
        }
        return {**self._pairwise(), **more}

    @property
    def observations(self) -> Mapping[str, Array]:
        """Return the features of edges, where there are some."""
        return {} if self.edge_features is None else {"edge": self.edge_features}

    def take(self, ids: npt.ArrayLike) -> Self:
        """Graphs of some instances only."""
        ids = require_ids(ids, self.n_instances)
        lengths = np.diff(self._offsets)[ids]
        offsets = offsets_of(lengths)
        shift = offsets[:-1] - self._offsets[ids]

        def moved(cliques: Cliques) -> Array:
            counts = np.diff(cliques.offsets)[ids]
            return np.asarray(
                cliques.members[rows_of(cliques.offsets, ids)] + np.repeat(shift, counts)[:, None]
            )

        taken = self._named_like(
            offsets,
            moved(self.cliques["edge"]),
            shared_edges=self.shared_edges,
            factors={name: Factors(moved(self.cliques[name]), f.shared) for name, f in self.factors.items()},
            label_sets=None if self.label_sets is None else self.label_sets[rows_of(self._offsets, ids)],
        )
        if self.edge_features is not None:
            taken.edge_features = self.edge_features[rows_of(self.edge_offsets, ids)]
        return taken

    def score(self, scores: Scores, outputs: Array) -> Array:
        """⟨θ, parts(y)⟩ for every instance; −inf also where a vertex cannot have its label."""
        result = super().score(scores, outputs)
        if self.label_sets is not None:
            outside = ~self.label_sets[np.arange(self.n_vertices), outputs]
            result[sum_cliques(outside.astype(np.float64), self._offsets) > 0] = -np.inf
        return result

    def _untied(self, names: list[str]) -> Self:
        factors = {
            name: Factors(f.members, f.shared and name not in names) for name, f in self.factors.items()
        }
        shared = self.shared_edges and "edge" not in names
        each = self._named_like(
            self._offsets, self.edges, shared_edges=shared, factors=factors, label_sets=self.label_sets
        )
        each.edge_features = self.edge_features
        return each

    def _named_like(self, offsets: Array, edges: Array, **shape: Any) -> Self:
        """Return other graphs, which messages call what they call these."""
        other = self._like(offsets, edges, **shape)
        other.words = self.words
        return other

    def _like(self, offsets: Array, edges: Array, **shape: Any) -> Self:
        """Return other graphs with the settings of this one; classes with more settings pass them on."""
        return type(self)(offsets, edges, self.n_labels, **shape)

    def _tables(self, scores: Scores) -> list[Array]:
        """Scores of all clique types as the core wants them, single or double precision, shapes checked."""
        shapes = self.shapes
        node = score_array(scores, "node", shapes["node"], None)
        return [
            node,
            *(score_array(scores, name, shapes[name], node.dtype) for name in shapes if name != "node"),
        ]


def _require_members(name: str, given: npt.ArrayLike, offsets: Array, size: int | None = None) -> Array:
    """Return the members of cliques as (C, a) int64: different vertices of one instance, in its turn."""
    require_unmasked(given, f"The list of {name} members", "leave out those that there are not")
    members = np.asarray(given)
    if members.size == 0 and members.ndim < 2:
        members = np.empty((0, size or 1), dtype=np.int64)
    if members.ndim != 2 or members.dtype.kind not in "iu" or (size and members.shape[1] != size):
        raise InputError(
            f"{name} members are {members.dtype} of shape {members.shape}, expected rows of vertices."
        )
    members = np.ascontiguousarray(members, dtype=np.int64)
    odd = _rows_with((members < 0) | (members >= offsets[-1]))
    if len(odd):
        raise InputError(
            f"{name} {odd[0]} joins {members[odd[0]].tolist()}, expected vertices below {offsets[-1]}."
        )
    owner = np.searchsorted(offsets, members, side="right") - 1
    odd = _rows_with(owner[:, 1:] != owner[:, :1])
    if len(odd):
        raise InputError(
            f"{name} {odd[0]} joins vertices of different instances: {members[odd[0]].tolist()}."
        )
    ordered = np.sort(members, axis=1)
    odd = _rows_with(ordered[:, 1:] == ordered[:, :-1])
    if len(odd):
        raise InputError(f"{name} {odd[0]} joins a vertex to itself: {members[odd[0]].tolist()}.")
    odd = np.flatnonzero(np.diff(owner[:, 0]) < 0)
    if len(odd):
        raise InputError(f"{name} {odd[0] + 1} belongs to an earlier instance than the one before it.")
    return members


def _rows_with(odd: Array) -> Array:
    """Return rows with anything odd; looking at all of them at once is faster, and there are rarely any."""
    return np.flatnonzero(odd.any(axis=1)) if odd.any() else np.empty(0, dtype=np.int64)


def _offsets_among(members: Array, offsets: Array) -> Array:
    """Return where the cliques of each instance start."""
    owner = np.searchsorted(offsets, members[:, 0], side="right") - 1
    return offsets_of(np.bincount(owner, minlength=len(offsets) - 1))


def _require_sets(given: npt.ArrayLike | None, vertices: int, labels: int) -> Array | None:
    """Return which labels each vertex can have, at least one of them."""
    if given is None:
        return None
    require_unmasked(given, "The table of label_sets", "write False for labels that a vertex cannot have")
    sets = np.asarray(given)
    if sets.shape != (vertices, labels) or sets.dtype != bool:
        raise InputError(
            f"label_sets are {sets.dtype} of shape {sets.shape}, expected booleans ({vertices}, {labels})."
        )
    none = np.flatnonzero(~sets.any(axis=1))
    if len(none):
        raise InputError(f"Vertex {none[0]} can have no label.")
    return sets
