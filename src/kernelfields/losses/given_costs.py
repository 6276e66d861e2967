"""Task costs as users give them: names, weights of labels, tables of labels and of label pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array, index_of
from ..checks import require_unmasked, unknown_name
from ..errors import InputError
from .costs import PairCost, edge_cost, hamming_cost, pair_cost, vertex_cost

COSTS = ("hamming", "zero-one")


def cost_scores(batch: Any, labels: Array, classes: Array, cost: Any) -> dict[str, Array]:
    """Return a cost that adds up over cliques, as scores."""
    if isinstance(cost, str):
        if cost != "hamming":
            raise unknown_name("cost", cost, COSTS, ", a dictionary, a table or a function")
        return hamming_cost(batch, labels)
    if isinstance(cost, PairCost):
        return pair_cost(batch, labels, cost)
    if isinstance(cost, dict):
        weight = np.ones(len(classes))
        index = index_of(classes)
        for label, value in cost.items():
            if label not in index:
                raise InputError(f"cost has the unknown label {label!r}.")
            weight[index[label]] = value
        return vertex_cost(batch, labels, weight[:, None] * (1 - np.eye(len(weight))))
    require_unmasked(cost, "cost", "write 0 for what costs nothing")
    table = np.asarray(cost, dtype=np.float64)
    return edge_cost(batch, labels, table) if table.ndim == 4 else vertex_cost(batch, labels, table)
