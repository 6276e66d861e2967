"""toulbar2's exact search as a rival, on machines that have it; nothing here installs it."""

from __future__ import annotations

import importlib.util

import numpy as np

from kernelfields.structures import SearchedGraphBatch

DIGITS = 6
"""Costs are whole multiples of 10⁻⁶ there."""


def state() -> str:
    """One word for the report."""
    return "present" if importlib.util.find_spec("pytoulbar2") is not None else "absent"


def best_value(graph: SearchedGraphBatch, scores: dict[str, np.ndarray], seconds: int) -> float | None:
    """The best score that was found for one graph in about that time; None where there is none."""
    import pytoulbar2

    node, edge = scores["node"], np.broadcast_to(scores["edge"], (graph.n_edges, *scores["edge"].shape[-2:]))
    unary, pair = node.max(axis=1), edge.max(axis=(1, 2))
    worst = (unary - node.min(axis=1)).sum() + (pair - edge.min(axis=(1, 2))).sum()
    network = pytoulbar2.CFN(float(1 + worst), DIGITS)
    for v in range(graph.n_vertices):
        network.AddVariable(f"v{v}", range(graph.n_labels))
        network.AddFunction([v], np.round(unary[v] - node[v], DIGITS).tolist())
    for (a, b), most, table in zip(graph.edges.tolist(), pair, edge, strict=True):
        network.AddFunction([a, b], np.round(most - table, DIGITS).ravel().tolist())
    found = network.Solve(timeLimit=seconds)
    return None if found is None else float(unary.sum() + pair.sum() - found[1])
