"""Items of a field that has no observations: constants at vertices, or which vertex and edge each is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..checks import is_list, shown
from ..errors import InputError
from ..persistence.fields import Field, Sizes
from ..structures import Chain, Graph, Grid, Structure, Tree

Shape = tuple[int, ...]
"""Of an item: its number of vertices, or height and width."""


@dataclass(frozen=True)
class FieldLayout:
    """What items are made of, if X does not say it.

    With constants of 1 for features a linear model has one table for all vertices and one for all edges; with
    unit vectors, e_v at vertex v and e_e at edge e, it has tables for each.
    """

    links: Array | None = None
    """Edges (E, 2) of the graph that all items have, or parents (T,) of their tree."""
    own: bool = False
    """Whether vertices and edges have tables of their own."""
    shape: Shape | None = None
    """Of all items that it was fitted to; None if they differ."""
    covariates: bool = False
    """Whether the field was fitted with X, and needs it."""

    def item(self, structure: Structure, shape: Shape) -> Any:
        """Return an item of X of this shape."""
        count = int(np.prod(shape))
        if isinstance(structure, Grid):
            return np.ones((*shape, 1))
        if self.own:
            edges = np.asarray(self.links)
            return _unit_vectors(count), edges, np.eye(len(edges))
        features = np.ones((count, 1))
        if isinstance(structure, Chain):
            return features
        if self.links is None:
            kind = type(structure).__name__
            raise InputError(f"{kind} needs links=, those of all items, or X, with the links of each.")
        return features, self.links

    def require_shape(self, shape: Any, structure: Structure) -> Shape:
        """Return the shape of an item, by default that of all training items."""
        if shape is None:
            if self.shape is None:
                raise InputError("Training items have different shapes: say which with shape=.")
            return self.shape
        found = tuple(shape) if is_list(shape) else (shape,)
        axes = 2 if isinstance(structure, Grid) else 1
        if len(found) != axes or not all(isinstance(n, int | np.integer) and n >= 0 for n in found):
            wanted = "(height, width)" if axes == 2 else "a number of vertices"
            raise InputError(f"shape is {shown(shape)}; it must be {wanted}.")
        return tuple(int(n) for n in found)


@dataclass(frozen=True)
class Layouts(Field):
    """A layout as files hold it."""

    def objection(self, value: Any, sizes: Sizes) -> str:
        """Describe what does not fit."""
        if not isinstance(value, FieldLayout):
            return f"is of type {type(value).__name__}"
        links, shape = value.links, value.shape
        if (value.own or links is not None) and not (
            isinstance(links, np.ndarray) and links.dtype.kind == "i" and links.ndim in (1, 2)
        ):
            return "has links that are none"
        known = shape is None or (type(shape) is tuple and all(type(n) is int and n >= 0 for n in shape))
        return "" if known else "has a shape that is none"


def _unit_vectors(count: int) -> Any:
    return sparse.identity(count, format="csr")


def require_structure(structure: Structure) -> None:
    """Refuse structures that are about something else than labels of vertices by themselves."""
    if not isinstance(structure, Chain | Tree | Graph | Grid):
        raise InputError(f"MarkovField is for Chain, Tree, Graph and Grid, not {type(structure).__name__}.")


def rows_of_frame(Z: Any) -> Any:
    """Return the rows of a data frame, one labelling each; others as they are."""
    return Z.to_numpy() if getattr(Z, "columns", None) is not None else Z


def require_links(structure: Structure, links: Any) -> None:
    """Refuse links where the structure says itself what joins vertices."""
    if links is not None and isinstance(structure, Chain | Grid):
        raise InputError(
            f"links is for trees and graphs; {type(structure).__name__} says itself what it joins."
        )


def shape_of(z: Any, s: int, structure: Structure) -> Shape:
    """Return the shape of the labels of one item."""
    name = structure.words.name(s, "Z")
    if not is_list(z):
        raise InputError(f"{name} is {shown(z)}; it must be a list of labels.")
    if not isinstance(structure, Grid):
        return (len(z),)
    if len(z) and not is_list(z[0]):
        raise InputError(f"{name} is {shown(z)}; it must be rows of labels.")
    return len(z), len(z[0]) if len(z) else 0


def own_tables(structure: Structure, links: Any, shapes: Sequence[Shape]) -> tuple[Structure, Array]:
    """Return the graph in which every vertex and edge is told from all others, and its edges."""
    if isinstance(structure, Grid) or (isinstance(structure, Chain) and structure.order > 1):
        raise InputError(
            "tables='own' is for chains of order 1, trees and graphs; write the edges of others as a graph."
        )
    if len(set(shapes)) != 1:
        raise InputError(
            f"tables='own' needs items of one size; Z has {len(set(shapes))} sizes, {min(shapes)[0]} to "
            f"{max(shapes)[0]} vertices."
        )
    (count,) = shapes[0]
    if isinstance(structure, Graph):
        return replace(structure, directed=True), _edges(links, structure)
    return Graph(directed=True), _path(count) if isinstance(structure, Chain) else _below(links)


def _edges(links: Any, structure: Graph) -> Array:
    if structure.edge_types is not None or structure.factors is not None:
        raise InputError("tables='own' is for graphs of one type of edges, without factors.")
    if links is None:
        raise InputError("Graph needs links=, the edges of all items, for tables='own'.")
    edges = np.asarray(links)
    return edges.reshape(-1, 2) if edges.size == 0 else edges


def _path(count: int) -> Array:
    return np.column_stack([np.arange(count - 1), np.arange(1, count)]) if count else np.empty((0, 2), int)


def _below(links: Any) -> Array:
    """Return the edges of a tree, from parents to children."""
    if links is None:
        raise InputError("Tree needs links=, the parents of all items, for tables='own'.")
    parents = np.asarray(links)
    children = np.flatnonzero(parents >= 0)
    return np.column_stack([parents[children], children])
