"""Scores of labelled graphs as tables of factors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import ScoreError
from .graph import GraphBatch


class Layout(NamedTuple):
    """Which factors have which tables, for given weights of factors."""

    of_factor: Array
    first: Array
    """Where tables begin, those of smaller factors first."""
    examples: list[Array]
    """For every size, a factor that has the table."""
    weights: list[Array]
    """For every size, the weight of the factors that have the table."""


class FactorTables(NamedTuple):
    """Scores of a batch of factor graphs, in the order of the core's arguments."""

    node: Array
    """(N, L): scores of vertices; −inf for labels that they cannot have."""
    offsets: Array
    """Where the vertices of each instance start."""
    first_factor: Array
    """Where the factors of each instance start."""
    first_slot: Array
    """Where the members of each factor start."""
    member: Array
    """The vertices of the factors, one factor after the other."""
    table: Array
    """Where in ``tables`` the scores of each factor start; several may share them."""
    tables: Array
    """Tables over the labels of the members, that of the last running fastest; those of pairs first."""
    pair_tables: int
    """How many tables of pairs there are."""


def require_usable(graph: GraphBatch, node: Array, tables: Array) -> None:
    """Refuse scores that are NaN or +inf."""
    odd = np.flatnonzero(~(node < np.inf).all(axis=1))
    if len(odd):
        s = int(np.searchsorted(graph.offsets, odd[0], side="right")) - 1
        raise ScoreError(f"{graph.words.name(s)} has scores that are NaN or +inf.")
    if not (tables < np.inf).all():
        raise ScoreError("Scores of cliques have NaN or +inf.")
