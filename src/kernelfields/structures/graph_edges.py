"""Graphs as users list them, checked: items, their edges, each in both directions where it has none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..checks import require_unmasked, shown
from ..errors import InputError


class EdgeList(NamedTuple):
    """The edges of one graph, from tails to heads."""

    ends: Array
    """(E, 2) vertices, counted within the graph."""
    features: Array | None = None
    """(E, D), if edges have some."""


def read_edges(given: Any, count: int, name: str, *, directed: bool, features: Any = None) -> EdgeList:
    """Return the edges of a graph; without directions, each of them forth and back, one behind the other.

    An edge without direction may be listed once, or once each way.

    Parameters
    ----------
    given : (E, 2) integers, or (N, N) scipy-sparse matrix
        Rows of two vertices, or which vertices are joined.
    count : int
        N, the number of vertices.
    name : str
        What to call the graph in messages.
    directed : bool
        Whether edges have a direction.
    features : (E, D) numbers, optional
        Of every edge.
    """
    adjacency = sparse.issparse(given)
    if adjacency and features is not None:
        raise InputError(f"{name} has edge_features, which go with a list of edges, not with a matrix.")
    ends = _of_matrix(given, count, name, directed) if adjacency else _of_list(given, name)
    _require_vertices(ends, count, name)
    rows = None if features is None else _feature_rows(features, len(ends), name)
    _require_once(ends, count, name)
    return EdgeList(ends, rows) if directed else _both_ways(ends, rows, count, name)


def read_members(given: Any, count: int, size: int, name: str, kind: str) -> Array:
    """Return the vertices of factors, (C, size)."""
    require_unmasked(given, f"{name}: the list of {kind!r}", "leave out what there is not")
    members = _whole_rows(given, size)
    if members is None:
        raise InputError(f"{name}: {kind!r} must be rows of {size} vertices.")
    _require_vertices(members, count, name, kind)
    return members


def _of_matrix(matrix: Any, count: int, name: str, directed: bool) -> Array:
    """Return the pairs of vertices that a matrix joins."""
    if matrix.shape != (count, count):
        raise InputError(f"{name} has {count} vertices and an adjacency of shape {matrix.shape}.")
    found = sparse.coo_matrix(matrix)
    found.sum_duplicates()
    found.eliminate_zeros()
    if not (found.data == 1).all():
        raise InputError(f"{name} has an adjacency with other numbers than 0 and 1: give edge_features.")
    ends = np.stack([found.row, found.col], axis=1).astype(np.int64)
    if not directed:
        keys = ends @ [count, 1]
        odd = np.flatnonzero(~np.isin(ends @ [1, count], keys))
        if len(odd):
            a, b = ends[odd[0]]
            raise InputError(
                f"{name} has an adjacency that leads from {a} to {b} and not back, but directed is False."
            )
    return ends[np.lexsort(ends.T[::-1])]


def _of_list(given: Any, name: str) -> Array:
    require_unmasked(given, f"{name}: the list of edges", "leave out edges that there are not")
    ends = _whole_rows(given, 2)
    if ends is None:
        shape = np.shape(given) if hasattr(given, "shape") else ""
        found = f" have shape {shape}, expected (E, 2)" if shape else " are no rows of two whole numbers"
        if len(shape) == 2 and shape[1] == 2:
            found = f" are {given.dtype}, expected whole numbers"
        raise InputError(f"The edges of {name[0].lower()}{name[1:]}{found}.")
    return ends


def _whole_rows(given: Any, size: int) -> Array | None:
    """Return rows of whole numbers; None if they are none."""
    try:
        rows = np.asarray(given)
    except ValueError:
        return None
    if rows.size == 0 and (rows.ndim < 2 or rows.shape[1] in (0, size)):
        return np.empty((0, size), dtype=np.int64)
    if rows.ndim != 2 or rows.shape[1] != size or rows.dtype.kind not in "iu":
        return None
    return rows.astype(np.int64)


def _require_vertices(members: Array, count: int, name: str, kind: str = "edge") -> None:
    """Refuse vertices that are none, and those that are joined to themselves."""
    odd = np.flatnonzero(((members < 0) | (members >= count)).any(axis=1))
    if len(odd):
        joined = " and ".join(map(str, members[odd[0]].tolist()))
        known = f"expected vertices 0 to {count - 1}" if count else "but there are no vertices"
        raise InputError(f"{name}: {kind} {odd[0]} joins {joined}, {known}.")
    odd = np.flatnonzero((np.diff(np.sort(members, axis=1), axis=1) == 0).any(axis=1))
    if len(odd):
        twice = np.sort(members[odd[0]])
        vertex = twice[1:][np.diff(twice) == 0][0]
        raise InputError(f"{name}: {kind} {odd[0]} joins vertex {vertex} to itself.")


def _require_once(ends: Array, count: int, name: str) -> None:
    """Refuse an edge that is listed twice in the same direction."""
    keys = ends @ np.array([count, 1])
    order = np.argsort(keys, kind="stable")
    again = np.flatnonzero(np.diff(keys[order]) == 0)
    if len(again):
        first, second = order[again[0]], order[again[0] + 1]
        a, b = ends[first]
        raise InputError(f"{name}: edges {first} and {second} both lead from {a} to {b}.")


def _feature_rows(features: Any, count: int, name: str) -> Array:
    """Return the features of edges: finite numbers, a row for each."""
    require_unmasked(features, f"{name}: the table of edge_features")
    try:
        rows = np.asarray(features.toarray() if sparse.issparse(features) else features)
        rows = rows.astype(rows.dtype if rows.dtype in (np.float32, np.float64) else np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} has edge_features that are no numbers: {error}.") from error
    if len(rows) != count or rows.ndim not in (1, 2):
        raise InputError(f"{name} has {count} edges and edge_features of shape {rows.shape}.")
    rows = rows.reshape(count, -1) if count else rows.reshape(0, rows.shape[-1] if rows.ndim == 2 else 0)
    bad = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if len(bad):
        raise InputError(f"{name}: the features of edge {bad[0]} hold NaN or infinity.")
    return rows


def _both_ways(ends: Array, features: Array | None, count: int, name: str) -> EdgeList:
    """List each pair of vertices forth and back, in the order in which they were first listed."""
    keys = np.sort(ends, axis=1) @ np.array([count, 1])
    _, first, pair = np.unique(keys, return_index=True, return_inverse=True)
    if features is not None:
        odd = np.flatnonzero((features != features[first[pair]]).any(axis=1))
        if len(odd):
            a, b = ends[odd[0]]
            raise InputError(
                f"{name}: edge {odd[0]} from {a} to {b} has other features than the one back, "
                "but directed is False."
            )
    once = np.sort(first)
    both = np.stack([ends[once], ends[once, ::-1]], axis=1).reshape(-1, 2)
    return EdgeList(both, None if features is None else np.repeat(features[once], 2, axis=0))


FORMS = "(features, edges), (features, edges, edge_features), a dictionary of these, or a graph"


class GraphItem(NamedTuple):
    """One graph, its parts as they were given."""

    features: Any
    """Of vertices, one row each."""
    edges: Any = ()
    """Rows of two vertices, an adjacency matrix, or these by the names of edge types."""
    edge_features: Any = None
    """One row per edge, in the order of the edges."""
    types: Any = None
    """The type of every vertex."""
    factors: Any = None
    """Rows of vertices, by the names of factors."""
    directed: bool | None = None
    """Whether edges have a direction, if the graph itself says so."""


def read_item(item: Any, name: str, attribute: str = "x") -> GraphItem:
    """Recognise one of the forms that graphs come in.

    Parameters
    ----------
    item : tuple, mapping or graph
        What the user gave.
    name : str
        What to call it in messages.
    attribute : str
        Where a graph of networkx has the features of its vertices, and perhaps those of its edges.
    """
    if isinstance(item, GraphItem):
        return item
    if isinstance(item, Mapping):
        return _of_mapping(item, name)
    if hasattr(item, "edge_index") and hasattr(item, "x"):
        return _of_tensors(item, name)
    if all(hasattr(item, part) for part in ("nodes", "edges", "adj", "is_directed")):
        return _of_networkx(item, name, attribute)
    if isinstance(item, tuple | list) and len(item) in (2, 3):
        return GraphItem(*item)
    raise InputError(f"{name} is {shown(item)}; it must be {FORMS}.")


def _of_mapping(item: Mapping[Any, Any], name: str) -> GraphItem:
    """Take the parts by their names."""
    known = GraphItem._fields[:-1]
    for key in item:
        if key not in known:
            raise InputError(f"{name} has {shown(key)}, expected some of {', '.join(known)}.")
    for needed in known[:2]:
        if needed not in item:
            raise InputError(f"{name} is a dictionary without {needed!r}.")
    return GraphItem(**item)


def _of_tensors(item: Any, name: str) -> GraphItem:
    """Take ``x``, ``edge_index`` of shape (2, E), and ``edge_attr`` if there is one."""
    attributes = getattr(item, "edge_attr", None)
    for part, given in (("edge_index", item.edge_index), ("x", item.x), ("edge_attr", attributes)):
        require_unmasked(given, f"{name}: {part}")
    try:
        index = np.asarray(item.edge_index)
        features = item.x if hasattr(item.x, "tocsr") else np.asarray(item.x)
        attributes = None if attributes is None else np.asarray(attributes)
    except (TypeError, ValueError, RuntimeError) as error:  # tensors of another device, say
        raise InputError(f"{name} has arrays that NumPy cannot read: {error}") from error
    if index.ndim != 2 or index.shape[0] != 2:
        raise InputError(f"{name} has an edge_index of shape {index.shape}, expected (2, E).")
    return GraphItem(features, index.T, attributes)


def _of_networkx(graph: Any, name: str, attribute: str) -> GraphItem:
    """Take vertices in their order, and what their attributes say."""
    vertices, rows = list(graph.nodes(data=True)), list(graph.edges(data=True))
    for vertex, known in vertices:
        if attribute not in known:
            raise InputError(f"{name}: vertex {shown(vertex)} has no attribute {attribute!r}.")
    place = {vertex: v for v, (vertex, _) in enumerate(vertices)}
    edges = [(place[a], place[b]) for a, b, _ in rows]
    features = [known[attribute] for *_, known in rows if attribute in known]
    if len(features) not in (0, len(rows)):
        raise InputError(f"{name}: some edges have the attribute {attribute!r}, others have not.")
    types = [known.get("type") for _, known in vertices]
    return GraphItem(
        [known[attribute] for _, known in vertices],
        _by_type(edges, [known.get("type") for *_, known in rows]),
        features or None,
        None if set(types) <= {None} else types,
        directed=bool(graph.is_directed()),
    )


def _by_type(edges: list[tuple[int, int]], types: list[Any]) -> Any:
    """Sort edges by their types, if they have some."""
    if set(types) <= {None}:
        return edges
    result: dict[Any, list[tuple[int, int]]] = {}
    for edge, kind in zip(edges, types, strict=True):
        result.setdefault(kind, []).append(edge)
    return result
