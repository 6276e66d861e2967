"""The parts that a model has unless it is told otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ...structures import EdgeBatch, StructureBatch
from ._base import Part
from .free import FreeScores
from .linear import LinearScores

FACTOR = "factor "
"""Before the name of a further clique type of graphs, the name of the part that scores it."""
FREE_NAMES: Mapping[str, str] = {
    "edge": "edges",
    "triple": "second_order",
    "duration": "durations",
    "rule": "rules",
}
"""Names of the free parts of clique types; those of others are the clique types themselves."""
FEATURES = "_features"
"""Behind the name of a clique type, the name of the part that looks at features of these cliques."""


class Penalties(NamedTuple):
    """λ of each part."""

    node: float
    edge: float
    second_order: float

    @classmethod
    def of(cls, node: float, edge: float | None, second_order: float | None = None) -> Penalties:
        """Return them: edges default to the penalty of vertices, triples to that of edges."""
        edge = float(node) if edge is None else float(edge)
        return cls(float(node), edge, edge if second_order is None else float(second_order))


def free_parts(
    batch: StructureBatch,
    penalties: Penalties,
    *,
    bias: bool = True,
    boundaries: bool = True,
    edges: bool = True,
) -> dict[str, Part]:
    """Return the scores of labels alone: a part for every clique type, in a fixed order.

    Those of single labels everywhere (``bias``), and at sources and sinks (``boundaries``); of label pairs,
    triples, lengths of runs, rules, factors of graphs, and whatever else a structure has. Without ``edges``
    those of label triples only.
    """
    parts: dict[str, Part] = {"bias": FreeScores(penalty=penalties.node)} if bias else {}
    if boundaries and isinstance(batch, EdgeBatch) and batch.has_ends:
        parts["boundaries"] = FreeScores(penalty=penalties.node, where="ends")
    given = {batch.answer, *batch.featured, *batch.known_scores()}  # what is scored otherwise, or known
    others = [name for name in batch.cliques if name not in given]
    for name in sorted(others, key=_place):
        if name == "edge" and batch.factors and batch.cliques["edge"].count == 0:
            continue  # a graph of factors alone
        penalty = penalties.second_order if name == "triple" else penalties.edge
        if edges or name == "triple":
            parts[free_name(batch, name)] = FreeScores(on=name, penalty=penalty)
    return parts


def free_name(batch: StructureBatch, clique: str) -> str:
    """Return the name of the part with free scores of a clique type."""
    if clique in batch.factors:
        return FACTOR + clique
    return FREE_NAMES.get(clique, clique)


def feature_parts(batch: StructureBatch, penalties: Penalties, *, edges: bool) -> dict[str, Part]:
    """Return linear functions of what cliques other than answers see.

    Those of edges if asked for; of every other clique type that has features, or says nothing without.
    """
    seen = [name for name in batch.cliques if name in batch.observations or name in batch.featured]
    parts: dict[str, Part] = {}
    if edges:
        parts["edge" + FEATURES] = LinearScores(on="edge", penalty=penalties.edge)
    parts |= {
        name + FEATURES: LinearScores(on=name, penalty=penalties.node) for name in seen if name != "edge"
    }
    return parts


def _place(clique: str) -> int:
    """Return the place of a clique type among free parts; factors and others come last, as they are."""
    return list(FREE_NAMES).index(clique) if clique in FREE_NAMES else len(FREE_NAMES)
