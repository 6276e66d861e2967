"""Graphs as users bring them: pairs, dictionaries, networkx, anything with ``x`` and ``edge_index``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..checks import require_unmasked, shown
from ..errors import InputError

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
