"""Graphs as a setting: labels depend on those of their neighbours, whatever these are."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from ..arrays import Array
from ..checks import Check, as_list, optional, require_flag, require_unmasked, require_whole, shown, whole
from ..errors import InputError
from .graph import GraphBatch
from .graph_edges import FORMS, EdgeList, GraphItem, read_edges, read_item, read_members
from .graph_links import GraphLinks, engine_of, graph_batch, together
from .settings import Structure
from .words import GRAPHS, Words

TAKEN = ("node", "edge", "triple", "features", "bias", "boundaries", "edges", "edge_features", "kernel")
"""Names that parts of models have already."""


@dataclass(frozen=True)
class Graph(Structure):
    """Graphs: a label depends on those of all vertices that an edge joins it to.

    An item of X is a pair (features, edges), a triple (features, edges, edge_features), a dictionary with
    these names and perhaps ``types`` and ``factors``, a graph of networkx, or anything with ``x`` and
    ``edge_index``. Features are those of every vertex, as for a chain; edges are rows of two vertices,
    counted within the item, or a scipy-sparse adjacency matrix. Graphs may be of any shape and size;
    vertices without edges, and graphs without vertices, are fine. No vertex is first or last: models have
    no scores, and rules no say, for those.

    Parameters
    ----------
    inference : "exact" or settings of another way
        How to sum over labellings. Exact sums take time and memory exponential in the treewidth of a
        graph, and are refused where that is too much.
    directed : bool
        Whether edges have a direction, so that the label pair (a, b) from tail to head may score
        otherwise than (b, a). If not, an edge that is listed in both directions counts once.
    edge_types : list of str, optional
        Names of edge types, each with label-pair scores of its own: the edges of an item are then a
        dictionary of them.
    label_sets : mapping, optional
        Which labels vertices can have, by their types: the ``types`` of an item are then one name for
        every vertex.
    factors : mapping of str to int, optional
        Further cliques by name, and how many vertices each joins: the ``factors`` of an item are then
        a dictionary of rows of vertices.
    unused : list of str
        Names of edge types and factors that items of X may have and the model leaves out: what
        `StructureLearner` may add.
    attribute : str
        Where graphs of networkx keep the features of vertices, and those of edges if these have some.
    classes, n_edge_features : tuple and int, optional
        All labels in order, and how many features edges have; estimators fill them in.
    """

    inference: Any = "exact"
    directed: bool = False
    edge_types: Sequence[str] | None = None
    label_sets: Mapping[Hashable, Sequence[Hashable]] | None = None
    factors: Mapping[str, int] | None = None
    unused: Sequence[str] = ()
    attribute: str = "x"
    classes: tuple[Hashable, ...] | None = field(default=None, repr=False, compare=False)
    n_edge_features: int | None = field(default=None, repr=False, compare=False)

    linked: ClassVar[bool] = True
    words: ClassVar[Words] = GRAPHS
    _checks: ClassVar[Mapping[str, Check]] = {"directed": require_flag, "n_edge_features": optional(whole(0))}

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        super().__post_init__()
        engine_of(self.inference)
        if not isinstance(self.attribute, str):
            raise InputError(f"attribute is {shown(self.attribute)}; it must be a name.")
        _require_names("edge_types", self.edge_types)
        _require_names("factors", self.factors)
        _require_names("unused", self.unused)
        _require_known("The structure", "unused clique type", self.unused, self._further)
        for name, size in (self.factors or {}).items():
            require_whole(f"factors[{name!r}]", size, 1, 8)
        _require_label_sets(self.label_sets)

    def split(self, X: Any, lengths: Any = None) -> tuple[Any, Any]:
        """Return the features of the vertices of every item, and the rest of it."""
        if lengths is not None:
            raise InputError(f"lengths= is for sequences; an item of X is {FORMS}.")
        X = as_list(X)
        if isinstance(X, str | bytes) or not isinstance(X, Sequence):
            raise InputError(f"X must be a list; an item of it is {FORMS}.")
        items = [read_item(item, f"Graph {s} of X", self.attribute) for s, item in enumerate(X)]
        return [item.features for item in items], items

    def links(self, parts: Any, offsets: Array) -> GraphLinks:
        """Return edges, factors and types of vertices, counted over the whole batch."""
        counts = np.diff(offsets).tolist()
        edges = [self._edges(s, item, counts[s]) for s, item in enumerate(parts)]
        further = {
            name: [self._members(s, item, name, counts[s]).ends for s, item in enumerate(parts)]
            for name in self._further
            if name not in self.unused
        }
        types = None
        if self.label_sets is not None:
            known = {kind: k for k, kind in enumerate(self.label_sets)}
            every = [_types(s, item.types, counts[s], known) for s, item in enumerate(parts)]
            types = np.concatenate([np.empty(0, np.int64), *every])
        return GraphLinks(
            together([one.ends for one in edges], offsets, 2),
            _edge_features(edges, self.n_edge_features),
            types,
            {name: together(members, offsets, self.size_of(name)) for name, members in further.items()},
        )

    def emptied(self, item: Any) -> GraphItem:
        """Return a graph without vertices, with the same types of edges and factors."""
        given = read_item(item, "An item of X", self.attribute)
        edges: Any = {kind: [] for kind in given.edges} if isinstance(given.edges, Mapping) else []
        features = None if given.edge_features is None else given.edge_features[:0]
        types: Any = None if given.types is None else []
        factors: Any = None if given.factors is None else {kind: [] for kind in given.factors}
        return GraphItem([], edges, features, types, factors, given.directed)

    def item(self, features: Any, part: Any) -> GraphItem:
        """Return the same graph with other features of its vertices."""
        return GraphItem(features, *part[1:])

    def with_labels(self, classes: Sequence[Hashable], links: Any) -> Self:
        """Return the same for these labels, and for as many features of edges."""
        features = links.edge_features
        width = 0 if features is None else features.shape[1]
        known = None if self.label_sets is None else tuple(classes)
        return replace(self, classes=known, n_edge_features=width)

    def on(
        self, offsets: Array, links: Any, n_labels: int, *, own: Collection[str] = frozenset()
    ) -> GraphBatch:
        """Return graphs that are summed over in the way of the settings."""
        masks = None if links.types is None else self._masks(n_labels)
        return graph_batch(self.inference, offsets, links, n_labels, words=self.words, own=own, masks=masks)

    @property
    def _further(self) -> tuple[str, ...]:
        """Names of edge types and factors."""
        return *(self.edge_types or ()), *(self.factors or {})

    def size_of(self, name: str) -> int:
        """Return how many vertices an edge type or a factor joins."""
        return (self.factors or {}).get(name, 2)

    def _edges(self, s: int, item: GraphItem, count: int) -> EdgeList:
        """Return the edges that have no type."""
        name = f"Graph {s} of X"
        if item.directed is not None and item.directed != self.directed:
            kind = "directed" if item.directed else "undirected"
            raise InputError(f"{name} is {kind}, but the structure has directed={self.directed}.")
        if (item.types is None) != (self.label_sets is None):
            lacks = "no types" if item.types is None else "types of vertices"
            raise InputError(f"{name} has {lacks}; types go with label_sets of the structure.")
        given = item.edges
        if isinstance(given, Mapping) != (self.edge_types is not None):
            what = "edges by type" if isinstance(given, Mapping) else "edges without a type"
            raise InputError(f"{name} has {what}, but the structure has edge_types={self.edge_types!r}.")
        _require_known(name, "edge type", given if isinstance(given, Mapping) else {}, self.edge_types)
        _require_known(name, "factor", item.factors or {}, self.factors)
        if isinstance(given, Mapping):
            if item.edge_features is not None:
                raise InputError(f"{name} has edge_features, which do not go with edge types.")
            given = ()
        return read_edges(given, count, name, directed=self.directed, features=item.edge_features)

    def _members(self, s: int, item: GraphItem, kind: str, count: int) -> EdgeList:
        """Return the edges of a type, or the vertices of a factor."""
        name = f"Graph {s} of X"
        if kind in (self.factors or {}):
            given = (item.factors or {}).get(kind, ())
            return EdgeList(read_members(given, count, self.size_of(kind), name, kind))
        return read_edges(item.edges.get(kind, ()), count, name, directed=self.directed)

    def _masks(self, n_labels: int) -> Array:
        """Return which labels each vertex type has, (types, L)."""
        assert self.label_sets is not None
        index = {label: k for k, label in enumerate(self.classes or ())}
        masks = np.zeros((len(self.label_sets), n_labels), dtype=bool)
        for t, labels in enumerate(self.label_sets.values()):
            masks[t, [index[label] for label in labels if label in index]] = True
        return masks


def _require_names(setting: str, given: Any) -> None:
    """Refuse names of clique types that are none, or taken."""
    if given is None:
        return
    if (
        isinstance(given, str)
        or not isinstance(given, Iterable)
        or not all(isinstance(n, str) for n in given)
    ):
        raise InputError(f"{setting} is {shown(given)}; it must hold names.")
    names = list(given)
    for name in names:
        if name in TAKEN or names.count(name) > 1:
            reason = "which models have already" if name in TAKEN else "twice"
            raise InputError(f"{setting} has {name!r}, {reason}.")


def _require_label_sets(given: Any) -> None:
    if given is None:
        return
    if not isinstance(given, Mapping) or not given:
        raise InputError(f"label_sets is {shown(given)}; it must map types of vertices to lists of labels.")
    for kind, labels in given.items():
        if isinstance(labels, str) or not isinstance(labels, Iterable) or not list(labels):
            raise InputError(f"label_sets[{kind!r}] is {shown(labels)}; it must be a list of labels.")


def _require_known(name: str, what: str, given: Any, known: Any) -> None:
    """Refuse names that the structure has not."""
    for kind in given:
        if kind not in (known or ()):
            names = ", ".join(map(repr, known or ())) or "none"
            raise InputError(f"{name} has the {what} {kind!r}, but the structure has {names}.")


def _types(s: int, given: Any, count: int, known: Mapping[Hashable, int]) -> Array:
    """Return the numbers of the types of one graph's vertices."""
    require_unmasked(given, f"Graph {s} of X: the list of types")
    named = list(given)
    if len(named) != count:
        raise InputError(f"Graph {s} of X has {count} vertices and {len(named)} types.")
    for v, kind in enumerate(named):
        if kind not in known:
            names = ", ".join(map(repr, known))
            raise InputError(f"Graph {s} of X: vertex {v} has the type {kind!r}, expected {names}.")
    return np.array([known[kind] for kind in named], dtype=np.int64)


def _edge_features(edges: list[EdgeList], width: int | None) -> Array | None:
    """Return the features of all edges, as many as those of the first or of a fitted model; None for none."""
    rows = [(s, one.features) for s, one in enumerate(edges) if len(one.ends)]
    if width is None:
        width = next((features.shape[1] for _, features in rows if features is not None), 0)
    for s, features in rows:
        found = 0 if features is None else features.shape[1]
        if found != width:
            raise InputError(f"Graph {s} of X has {found} features per edge, expected {width}.")
    return np.concatenate([np.empty((0, width)), *(f for _, f in rows if f is not None)]) if width else None
